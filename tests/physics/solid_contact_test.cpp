#include <gtest/gtest.h>

#include <cstring>

#include "solid_world.h"

/// \file
/// Contact of hybrid solids: what it keeps, where bodies come to rest, how they slide and stick, and what must not
/// touch. Cubes of 0.2 m with elements of 0.05 m on kinematic slabs, as in experiments_solids.

namespace tribo::TRIBO_BACKEND::test {
namespace {

constexpr double h = 0.05;
constexpr double g = 9.81;
constexpr double slope = 20;  ///< [degrees]

/// A cube at rest on a slab or on a collider, with gravity of a slope along `ahead`; the whole scene turned by `turned`
/// degrees against the grid.
struct BlockOnSlab {
  SolidWorld w;
  Vec3 up, ahead;
  int block = 0;
  double dt = 0;

  BlockOnSlab(double dx, double friction, double degrees, double turned, bool on_collider) {
    const Mat3 R = rotation(2, turned);
    up = R * Vec3{{0, 1, 0}};
    ahead = R * Vec3{{1, 0, 0}};
    const double a = degrees * 3.14159265358979323846 / 180;
    w.gravity = g * (std::sin(a) * ahead - std::cos(a) * up);
    const Stuff stuff{.friction = friction};
    block = w.add(cube(0.2, 4).shift({{-0.1, 0.1 + (on_collider ? 0 : 0.5 * dx), 0.0123}}).turn(R), stuff);
    if (on_collider) {
      w.add_collider(HalfSpace<double>{up}, friction);
    } else {
      w.add(box({{0.8, 0.1, 0.4}}, {16, 2, 8}).shift({{0.1, -0.05, 0}}).turn(R),
            {.friction = friction, .kinematic = true});
    }
    w.begin(dx);
    dt = w.stable_dt();
  }
  double speed() const { return dot(w.velocity(block), ahead); }
  /// Mean over the time from 0.15 s on, when the first shake is over.
  double acceleration(double end) {
    w.run(0.15, dt);
    const double before = speed(), before_up = dot(w.velocity(block), up);
    w.run(end - 0.15, dt);
    // Normal speed gained is friction lost: it swings, and would be there in a short time's mean.
    const double sunk = dot(w.velocity(block), up) - before_up;
    return (speed() - before + w.seed.bodies[0].friction * sunk) / (end - 0.15);
  }
  double gap() const {
    double sum = 0;
    int count = 0;
    const double bottom = w.seed.rest.empty() ? 0 : lowest_rest();
    w.each(block, [&](std::int32_t p) {
      if (dot(w.seed.rest[static_cast<std::size_t>(p)], up) > bottom + 1e-6) return;
      sum += dot(w.x(p), up);
      ++count;
    });
    return sum / count;
  }
  double lowest_rest() const {
    double r = 1e300;
    w.each(block, [&](std::int32_t p) { r = std::min(r, dot(w.seed.rest[static_cast<std::size_t>(p)], up)); });
    return r;
  }
};
double exact_acceleration(double friction) {
  const double a = slope * 3.14159265358979323846 / 180;
  return g * (std::sin(a) - friction * std::cos(a));
}

TEST(SolidContact, BlockSlidesDownASlabWithCoulombsFriction) {
  for (const double friction : {0.0, 0.2}) {
    BlockOnSlab scene(h, friction, slope, 13, false);
    EXPECT_NEAR(scene.acceleration(0.4), exact_acceleration(friction), 0.03 * exact_acceleration(friction));
  }
}
TEST(SolidContact, BlockSticksToASlab) {
  BlockOnSlab scene(h, 0.4, slope, 13, false);
  scene.w.run(0.4, scene.dt);
  const double from = dot(scene.w.center(scene.block), scene.ahead);
  scene.w.run(0.2, scene.dt);
  EXPECT_LT(std::abs(dot(scene.w.center(scene.block), scene.ahead) - from), 0.001 * 0.2);
}
/// What friction holds does not depend on the step: something fast elsewhere in a scene shortens it for a while.
TEST(SolidContact, BlockSticksWhateverTheStepIs) {
  BlockOnSlab scene(h, 0.4, slope, 13, false);
  scene.w.run(0.3, scene.dt);
  const double from = dot(scene.w.center(scene.block), scene.ahead);
  for (int i = 0; i < 5; ++i) {
    scene.w.run(0.002, scene.dt / 10);
    scene.w.run(0.038, scene.dt);
  }
  EXPECT_LT(std::abs(dot(scene.w.center(scene.block), scene.ahead) - from), 0.0005);
}
TEST(SolidContact, BlockSlidesDownACollider) {
  for (const double friction : {0.0, 0.2}) {
    BlockOnSlab scene(h, friction, slope, 13, true);
    EXPECT_NEAR(scene.acceleration(0.4), exact_acceleration(friction), 0.03 * exact_acceleration(friction));
    EXPECT_GT(scene.gap(), -0.02 * h);
  }
}
TEST(SolidContact, BlockSticksToAColliderAndDoesNotSink) {
  BlockOnSlab scene(h, 0.4, slope, 13, true);
  scene.w.run(0.4, scene.dt);
  EXPECT_LT(std::abs(scene.speed()), 0.005);
  EXPECT_GT(scene.w.lowest(scene.block, scene.up), -0.02 * h);
}

TEST(SolidContact, BodiesRestHalfACellApart) {
  for (const double dx : {h, 0.5 * h}) {
    BlockOnSlab scene(dx, 0.3, 0, 0, false);
    scene.w.run(0.3, scene.dt);
    EXPECT_NEAR(scene.gap(), 0.5 * dx, 0.05 * dx);
    EXPECT_LT(length(scene.w.velocity(scene.block)), 0.02);
  }
}

/// As printed, faces that move along a slab are braked by it (experiments_solids Q2): kept for comparison.
TEST(SolidContact, AsPrintedASlidingBlockIsBrakedWithoutFriction) {
  SolidWorld w;
  w.seed.contact.form = ContactSpec::Form::paper;
  w.seed.contact.samples_per_cell = 2;
  const double a = slope * 3.14159265358979323846 / 180;
  w.gravity = {{g * std::sin(a), -g * std::cos(a), 0}};
  const int block = w.add(cube(0.2, 4).shift({{-0.1, 0.1 + h, 0.0123}}), {});
  w.add(box({{0.8, 0.1, 0.4}}, {16, 2, 8}).shift({{0.1, -0.05, 0}}), {.kinematic = true});
  w.begin(h);
  w.run(0.3, w.stable_dt());
  EXPECT_GT(w.lowest(block, {{0, 1, 0}}), 0.3 * h);
  EXPECT_LT(w.velocity(block)[0], 0.3 * exact_acceleration(0) * 0.3);
}

/// Two cubes, askew, that meet off their centers.
struct Collision {
  SolidWorld w;
  int a, b;
  Vec3 P, L, before;
  double energy;

  explicit Collision(double mass_ratio, int threads = 1) : w(threads) {
    const Stuff stuff{.damping = 0, .friction = 0.3};
    Stuff other = stuff;
    other.density *= mass_ratio;
    other.stiffness *= mass_ratio;
    a = w.add(cube(0.2, 4).turn(rotation(2, 20)).turn(rotation(0, 10)), stuff, {{1, 0, 0}});
    b = w.add(cube(0.2, 4).turn(rotation(1, 35)).turn(rotation(0, -15)).shift({{0.30, 0.06, 0.03}}), other,
              {{-1, 0, 0}});
    w.begin(h);
    P = w.momentum(a) + w.momentum(b);
    L = w.angular_momentum(a) + w.angular_momentum(b);
    before = w.momentum(a);
    energy = w.kinetic(a) + w.kinetic(b);
  }
  double exchanged() const { return length(w.momentum(a) - before); }
};

TEST(SolidContact, CollisionKeepsMomenta) {
  for (const double ratio : {1.0, 1e-3}) {
    Collision c(ratio);
    c.w.run(0.2, c.w.stable_dt());
    const double exchanged = c.exchanged();
    EXPECT_GT(exchanged, 0.5 * std::min(c.w.mass(c.a), c.w.mass(c.b)));
    EXPECT_LT(length(c.w.momentum(c.a) + c.w.momentum(c.b) - c.P), 1e-11 * exchanged);
    EXPECT_LT(length(c.w.angular_momentum(c.a) + c.w.angular_momentum(c.b) - c.L), 0.03 * 0.2 * exchanged);
    EXPECT_LT(c.w.kinetic(c.a) + c.w.kinetic(c.b), 1.001 * c.energy);
    EXPECT_GT((c.w.velocity(c.b) - c.w.velocity(c.a))[0], 0);  // they have parted
  }
}

TEST(SolidContact, SameBytesForAnyNumberOfThreads) {
  Collision one(1), many(1, 5);
  const double dt = one.w.stable_dt();
  one.w.run(0.08, dt);
  many.w.run(0.08, dt);
  EXPECT_GT(one.w.counts.bodies, 0);
  for (int k = 0; k < 3; ++k)
    EXPECT_EQ(0, std::memcmp(one.w.state.v.c[k].data(), many.w.state.v.c[k].data(),
                             sizeof(double) * static_cast<std::size_t>(one.w.state.count)));
}

TEST(SolidContact, AFreeBodyTouchesNothing) {
  for (const double thick : {0.5, 4.0}) {
    SolidWorld w;
    const int body =
        w.add(box({{0.3, thick * h, 0.2}}, {6, std::max(1, static_cast<int>(thick)), 4}), {.self_contact = true});
    w.begin(h);
    w.each(body, [&](std::int32_t p) { w.set_velocity(p, cross({{3, 2, 5}}, w.x(p)) + Vec3{{1, 2, 3}}); });
    const double dt = w.stable_dt();
    int contacts = 0;
    for (int i = 0; i < 150; ++i) {
      w.step(dt);
      contacts += w.counts.bodies + w.counts.self;
    }
    EXPECT_EQ(contacts, 0) << thick;
  }
}

TEST(SolidContact, NothingHoldsWhatLeaves) {
  SolidWorld w;
  const int block = w.add(cube(0.2, 4).shift({{0, 0.1 + 0.5 * h, 0.01}}), {.friction = 0.5}, {{0, 0.2, 0}});
  w.add(box({{0.5, 0.1, 0.5}}, {10, 2, 10}).shift({{0, -0.05, 0}}), {.friction = 0.5, .kinematic = true});
  w.begin(h);
  w.run(0.05, w.stable_dt());
  EXPECT_NEAR(w.velocity(block)[1], 0.2, 1e-12);
}

TEST(SolidContact, NothingPassesASlab) {
  // elements from a quarter to four cells
  for (const auto& [n, dx] : std::vector<std::pair<int, double>>{{4, 4 * h}, {4, h}, {2, 0.5 * h}}) {
    SolidWorld w;
    const int block = w.add(cube(0.2, n).shift({{0.003, 0.1 + 0.8 * dx, 0.01}}), {.friction = 0.3}, {{0, -3, 0}});
    w.add(box({{0.6, 0.2, 0.6}}, {12, 4, 12}).shift({{0, -0.1, 0}}), {.friction = 0.3, .kinematic = true});
    w.begin(dx);
    const double dt = std::min(w.stable_dt(), 0.6 * dx / 3);
    double lowest = 1e300;
    for (double t = 0; t < 0.12 + dx / 3; t += dt) {
      w.step(dt);
      lowest = std::min(lowest, w.lowest(block, {{0, 1, 0}}));
    }
    EXPECT_GT(lowest, -0.8 * std::min(dx, h)) << n << " " << dx;
    EXPECT_GT(w.velocity(block)[1], 0) << n << " " << dx;
  }
}

/// Vertices that are held carry any weight: a block a hundred times denser rests on a sheet, held all over or at its
/// rim, as on a kinematic one. With the sheet's own mass in the law it would sink through.
TEST(SolidContact, PinsCarryWhatLiesOnThem) {
  for (const bool rim : {false, true}) {
    SolidWorld w;
    w.gravity = {{0, -g, 0}};
    const int block = w.add(cube(0.2, 4).shift({{0, 0.1 + 0.5 * h, 0.0123}}),
                            {.density = 1e5, .stiffness = 2.5e7, .damping = 5000, .friction = 0.3});
    const int sheet =
        w.add(box({{0.4, rim ? 2 * h : h, 0.4}}, {8, rim ? 2 : 1, 8}).shift({{0, rim ? -h : -0.5 * h, 0}}),
              {.stiffness = rim ? 2e7 : 2.5e5, .friction = 0.3});
    w.pin(sheet, [&](const Vec3& x) { return !rim || std::max(std::abs(x[0]), std::abs(x[2])) > 0.14; });
    w.begin(h);
    w.run(0.15, w.stable_dt());
    EXPECT_GT(w.lowest(block, {{0, 1, 0}}), (rim ? 0.1 : 0.4) * h) << rim;  // the sheet bends by 5 mm
    EXPECT_LT(std::sqrt(2 * w.kinetic(block) / w.mass(block)), 0.05) << rim;
    w.each(sheet, [&](std::int32_t p) {
      if (w.held[static_cast<std::size_t>(p)]) EXPECT_EQ(length(w.v(p)), 0);
    });
  }
}

/// One body of two cubes: its parts rest on each other as bodies do.
TEST(SolidContact, ABodyTouchesItself) {
  SolidWorld w;
  w.gravity = {{0, -g, 0}};
  const Lump lower = cube(0.2, 4).shift({{0, 0.1, 0}});
  Lump both = lower;
  both.add(cube(0.2, 4).shift({{0, 0.3 + 0.5 * h, 0}}));
  w.add(both, {.friction = 0.5, .self_contact = true});
  w.add_collider(HalfSpace<double>{}, 0.5);
  w.begin(h);
  w.run(0.3, w.stable_dt());
  double top = 0, bottom = 0;
  int tops = 0, bottoms = 0;
  const auto n = static_cast<std::int32_t>(lower.vertices.size());
  for (std::int32_t p = 0; p < 2 * n; ++p) {
    const double y = w.seed.rest[static_cast<std::size_t>(p)][1];
    if (p < n && y > 0.2 - 1e-9) top += w.x(p)[1], ++tops;
    if (p >= n && y < 0.2 + 0.5 * h + 1e-9) bottom += w.x(p)[1], ++bottoms;
  }
  const double gap = bottom / bottoms - top / tops;
  EXPECT_GT(gap, 0.35 * h);
  EXPECT_LT(gap, 0.55 * h);
  EXPECT_GT(w.counts.self, 0);
}

/// A thin sheet in pleats that is thrown together: its parts are near several sides of it at once, and what contact gives
/// back to one must not be more than another lost. Undamped, so that all energy there is shows; 1.5 times that of the
/// start where what is pressed is pushed back as fast.
TEST(SolidContact, ACrumpledSheetGainsNoEnergy) {
  constexpr double length_along = 0.4, wave = 0.16, steepest = 1.9;
  SolidWorld w;
  const int sheet = w.add(box({{length_along, 0.02, 0.2}}, {40, 2, 2}), {.damping = 0, .self_contact = true});
  w.begin(0.02);
  // Its middle keeps its length and has the angle `steepest` sin(2 pi s / wave) at the arc length s.
  constexpr int pieces = 4000;
  std::vector<Vec3> middle = {Vec3::zero()};
  const auto angle = [&](double s) { return steepest * std::sin(2 * 3.14159265358979323846 * s / wave); };
  for (int i = 0; i < pieces; ++i) {
    const double a = angle(length_along * (i + 0.5) / pieces);
    middle.push_back(middle.back() + (length_along / pieces) * Vec3{{std::cos(a), std::sin(a), 0}});
  }
  w.each(sheet, [&](std::int32_t p) {
    const Vec3 rest = w.x(p);
    const double s = rest[0] + 0.5 * length_along, a = angle(s);
    const Vec3 x = middle[static_cast<std::size_t>(std::lround(s / length_along * pieces))] - 0.5 * middle.back() +
                   Vec3{{-std::sin(a) * rest[1], std::cos(a) * rest[1], rest[2]}};
    w.set_position(p, x);
    w.set_velocity(p, {{-100 * x[0], 0, -30 * x[2]}});
  });
  const double start = w.kinetic(sheet) + w.elastic_energy(sheet), dt = 0.5 * w.stable_dt();
  double most = 0;
  Index touching = 0;
  for (int i = 0; i < 5; ++i) {
    w.run(0.002, dt);
    most = std::max(most, w.kinetic(sheet) + w.elastic_energy(sheet));
    touching = std::max(touching, w.counts.self);
  }
  RecordProperty("energy", std::to_string(most / start));
  EXPECT_GT(touching, 100);
  EXPECT_LT(most, 1.01 * start);
}

/// A block on four tiles: in the cells around the corner that they share, each does its part of what one slab would.
TEST(SolidContact, TilesHoldWhatOneSlabHolds) {
  SolidWorld w;
  w.gravity = {{0, -g, 0}};
  const int block = w.add(cube(0.2, 4).shift({{0, 0.3 + 0.5 * h, 0}}), {.friction = 0.3});
  for (int i = 0; i < 4; ++i)
    w.add(cube(0.2, 4).shift({{i % 2 == 0 ? -0.1125 : 0.1125, 0.1, i / 2 == 0 ? -0.1125 : 0.1125}}),
          {.friction = 0.3, .kinematic = true});
  w.begin(h);
  w.run(0.3, w.stable_dt());
  EXPECT_NEAR(w.lowest(block, {{0, 1, 0}}), 0.2 + 0.45 * h, 0.15 * h);
  EXPECT_LT(std::sqrt(2 * w.kinetic(block) / w.mass(block)), 0.02);
  EXPECT_LT(std::abs(w.center(block)[0]), 0.002);
}

/// What a second grid needs: fields that hold the mass of each boundary, and changes of node velocities that arrive
/// with their momentum and, though they act elsewhere then, their torque.
TEST(SolidContact, FieldsHoldTheBoundaryAndHandChangesBack) {
  Collision c(3);
  SolidWorld& w = c.w;
  list_contacts(w.ex, w.mesh, w.constants, 1e-4, w.state, w.work);
  const std::vector<Index> all(static_cast<std::size_t>(w.work.bodies.block_count), 0);
  Array<Index> found;
  copy_to_device(w.ex, all.data(), found, w.work.bodies.block_count);
  make_body_fields(w.ex, w.mesh, w.constants, &found, w.state, w.work);
  const ContactFields<double>& f = w.work.bodies;
  double mass[2] = {0, 0}, boundary[2] = {0, 0};
  Array<Vec<double, 3>> change;
  change.resize_discard(Size{f.patch_count} * ContactBlock::nodes);
  Vec3 given = Vec3::zero(), torque = Vec3::zero();
  for (Index p = 0; p < f.patch_count; ++p)
    for (int i = 0; i < ContactBlock::nodes; ++i) {
      const Cell<3> block = f.blocks.data()[f.patches.data()[p].block];
      const Cell<3> node = unflatten<3>(i, ContactBlock::side);
      Vec3 x;
      for (int k = 0; k < 3; ++k) x[k] = w.constants.dx * (ContactBlock::side * block[k] + node[k]);
      const Size at = Size{p} * ContactBlock::nodes + i;
      const double m = f.nodes.data()[at].sum[0];
      mass[f.patches.data()[p].field] += m;
      change.data()[at] = {{0.1 * std::sin(0.1 * i), 0.2, f.patches.data()[p].field == 0 ? 0.3 : -0.4}};
      given += m * change.data()[at];
      torque += cross(x, m * change.data()[at]);
    }
  for (const ContactSample& q : w.seed.samples) boundary[q.triangle < w.seed.bodies[0].triangles.end ? 0 : 1] += q.mass;
  for (int b = 0; b < 2; ++b) EXPECT_NEAR(mass[b], boundary[b], 1e-12 * boundary[b]);
  hand_to_vertices(w.ex, w.mesh, w.constants, change, CouplingPass::first, w.state, w.work);
  std::fill_n(change.data(), change.size(), Vec3::zero());
  hand_to_vertices(w.ex, w.mesh, w.constants, change, CouplingPass::last, w.state, w.work);
  const Vec3 got = w.momentum(c.a) + w.momentum(c.b) - c.P;
  EXPECT_LT(length(got - given), 1e-12 * length(given) + 1e-12 * c.w.mass(c.b));
  const Vec3 turned = w.angular_momentum(c.a) + w.angular_momentum(c.b) - c.L;
  EXPECT_LT(length(turned - torque), 1e-7 * length(torque));
}

}  // namespace
}  // namespace tribo::TRIBO_BACKEND::test

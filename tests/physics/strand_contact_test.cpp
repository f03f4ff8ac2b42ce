#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "strand_world.h"

/// \file
/// Contact between strands (theory E.11, E.12; experiments_hair).

namespace tribo::TRIBO_BACKEND::test {
namespace {

/// A strand thrown down at 100 cm/s onto one across, which is held at its ends.
template <class Real>
struct TwoStrands : ContactWorldOf<Real> {
  TwoStrands(double offset, bool fail_safe) {
    this->rules.fail_safe = fail_safe;
    this->add({straight_line({{-3.2, 0.16 * offset, 0}}, {{3.2, 0.16 * offset, 0}}, 40)}, Held::at_ends, 0.3);
    this->add({straight_line({{0.16 * 0.61 * offset, -3.2, 0.1}}, {{0.16 * 0.61 * offset, 3.2, 0.1}}, 40)},
              Held::nowhere, 0.3, {{0, 0, -100}});
    this->load();
  }
  /// Where their projections cross, the thrown one is above.
  bool above() {
    bool above = true;
    for (Index i = 0; i < 40; ++i)
      for (Index j = 41; j < 81; ++j) {
        const Vec3 p = this->x(i), d = this->x(i + 1) - p, q = this->x(j), e = this->x(j + 1) - q, r = q - p;
        const double det = d[0] * e[1] - d[1] * e[0];
        if (det == 0) continue;
        const double s = (r[0] * e[1] - r[1] * e[0]) / det, t = (r[0] * d[1] - r[1] * d[0]) / det;
        if (s < 0 || s > 1 || t < 0 || t > 1) continue;
        above = above && q[2] + t * e[2] > p[2] + s * d[2];
      }
    return above;
  }
};

template <class Real>
void expect_no_passing(bool fail_safe) {
  for (const double dt : {2.5e-4, 5e-4, 1e-3}) {
    int passed = 0;
    Size missed = 0;
    for (int k = 0; k < 20; ++k) {
      TwoStrands<Real> world(k / 20.0, fail_safe);
      bool above = true;
      while (world.time < 0.02) {
        world.step(dt);
        above = above && world.above();
      }
      passed += above ? 0 : 1;
      missed += world.missed;
      EXPECT_GT(world.pairs, 0);
    }
    EXPECT_EQ(passed, 0) << "dt " << dt;
    EXPECT_EQ(missed, 0) << "dt " << dt;
  }
}

// Strands that meet at any place of a segment, at steps in which they move by many radii, stay on their sides:
// gap-aware impulses alone see to it.
TEST(StrandContact, CrossingStrandsDoNotPass) { expect_no_passing<double>(false); }
TEST(StrandContact, CrossingStrandsDoNotPassInFloats) { expect_no_passing<float>(false); }
TEST(StrandContact, CrossingStrandsDoNotPassWithFailSafe) { expect_no_passing<double>(true); }

// Without impulses the same strands pass, and the count says so: once for each pair that met.
TEST(StrandContact, CountsStrandsThatPass) {
  for (int k = 0; k < 5; ++k) {
    TwoStrands<double> world(k / 5.0 + 0.03, false);
    world.rules.iterations = 0;
    while (world.time < 0.004) world.step(5e-4);
    EXPECT_FALSE(world.above());
    EXPECT_EQ(world.missed, 1);
  }
}

// The fail-safe alone, with no pairs from proximity, keeps strands apart too.
TEST(StrandContact, FailSafeNeedsNoPairs) {
  for (const double dt : {2.5e-4, 1e-3}) {
    Size before = 0;
    for (int k = 0; k < 5; ++k) {
      TwoStrands<double> world(k / 5.0 + 0.03, true);
      world.rules.proximity.delta = 1e-9;
      while (world.time < 0.02) world.step(dt);
      EXPECT_TRUE(world.above());
      EXPECT_EQ(world.pairs, 0);
      EXPECT_TRUE(world.clean);
      EXPECT_EQ(world.missed, 0);
      before += world.missed_pairs;
    }
    EXPECT_GT(before, 0);
  }
}

// The fail-safe goes on with strands that would cross, not with all: others keep the velocities that impulses left
// them.
TEST(StrandContact, FailSafeLeavesOthersAlone) {
  ContactWorld world;
  world.rules.iterations = 0;
  const auto cross_at = [&](double x, double gap, double speed) {
    world.add({straight_line({{x - 0.4, 0.02, 0}}, {{x + 0.4, 0.02, 0}}, 5)}, Held::at_ends, 0);
    world.add({straight_line({{x + 0.03, -0.4, gap}}, {{x + 0.03, 0.4, gap}}, 5)}, Held::nowhere, 0, {{0, 0, -speed}});
  };
  cross_at(0, 0.01, 100);
  cross_at(5, dmin + 0.0005, 4);  // comes too near, but does not cross
  world.load();
  world.step(2.5e-4);
  EXPECT_EQ(world.missed_pairs, 1);
  EXPECT_EQ(world.missed, 0);
  EXPECT_GE(world.pairs, 2);
  const Index each = 6;
  double hit = 0;
  for (Index i = 0; i < each; ++i) {
    hit = std::max(hit, world.v(each + i)[2] + 100);
    EXPECT_NEAR(world.v(3 * each + i)[2], -4, 1e-9);
  }
  EXPECT_GT(hit, 10);
}

/// Layers of strands across each other, each touching the next, all thrown at the lowest one, which is held. Returns
/// the largest speed at which two still approach after some iterations.
double approach_in_layers(int layers, int iterations, bool accelerated) {
  ContactWorld world;
  for (int k = 0; k < layers; ++k) {
    const double z = dmin * k;
    const bool along_x = k % 2 == 0;
    world.add({along_x ? straight_line({{-0.4, 0.01, z}}, {{0.4, 0.01, z}}, 5)
                       : straight_line({{0.01, -0.4, z}}, {{0.01, 0.4, z}}, 5)},
              k == 0 ? Held::everywhere : Held::nowhere, 0, {{0, 0, k == 0 ? 0.0 : -100.0}});
  }
  world.load();
  const double dt = 1e-4;
  StrandContactWork<double>& work = world.collisions.work;
  begin_rods(world.ex, world.state, world.work);
  rod_step(world.ex, world.constants, world.mesh, 0, dt, world.state, world.work);
  segment_compliance(world.ex, world.mesh, world.work);
  work.pair_count = find_proximity(world.ex, {}, world.mesh, world.state, dt, work.pads, work.pairs);
  EXPECT_GE(work.pair_count, layers - 1);
  prepare_pairs(world.ex, world.mesh, world.work, work);
  if (accelerated)
    settle_impulses<double>(world.ex, iterations, true, world.mesh, world.state, world.work, work, nullptr);
  else
    apply_impulses(world.ex, ImpulseForm::accumulated, iterations, world.mesh, world.state, world.work, work);
  double worst = 0;
  for (Index k = 0; k < work.pair_count; ++k) {
    const StrandPair<double>& p = work.pairs.data()[k];
    const Vec3 vr = (1 - p.a) * world.v(p.first) + p.a * world.v(p.first + 1) - (1 - p.b) * world.v(p.second) -
                    p.b * world.v(p.second + 1);
    worst = std::max(worst, p.target - dot(vr, p.n));
  }
  return worst;
}
// What is pressed together in many layers comes to rest by accelerated iterations far sooner than by others: these pass
// a push on by a layer in each, and back.
TEST(StrandContact, LayersSettle) {
  for (const int layers : {4, 10}) {
    const int iterations = 5 * layers;
    EXPECT_GT(approach_in_layers(layers, iterations, false), 10) << layers << " layers";
    EXPECT_LT(approach_in_layers(layers, iterations, true), 0.3) << layers << " layers";
  }
}

struct Slide {
  double speed, way;
};
/// Down an incline of 20 degrees for 0.1 s: a strand that lies across two rails, or along over two bars. Its joints
/// pass over the bars, for which it must be too stiff to sag.
Slide slide(double friction, bool across, double dt) {
  ContactWorld world;
  const double a = pi / 9;
  if (across) {
    world.add({straight_line({{-1, -0.5, 0}}, {{3, -0.5, 0}}, 8), straight_line({{-1, 0.5, 0}}, {{3, 0.5, 0}}, 8)},
              Held::everywhere, 1);
    world.add({straight_line({{0, -0.8, dmin}}, {{0, 0.8, dmin}}, 10)}, Held::nowhere, friction);
  } else {
    world.material.youngs_modulus *= 1e3;
    world.material.stretch_scale *= 1e-3;
    world.add({straight_line({{-1, -0.5, 0}}, {{-1, 0.5, 0}}, 4), straight_line({{1, -0.5, 0}}, {{1, 0.5, 0}}, 4)},
              Held::everywhere, 1);
    world.add({straight_line({{-4, 0, dmin}}, {{3, 0, dmin}}, 44)}, Held::nowhere, friction);
  }
  world.load();
  world.set_gravity({{gravity * std::sin(a), 0, -gravity * std::cos(a)}});
  const ObjectSums before = world.sums(1);
  const int steps = int(std::lround(0.1 / dt));
  for (int k = 0; k < steps; ++k) world.step(dt);
  const ObjectSums after = world.sums(1);
  return {after.momentum[0] / after.mass, (after.mass_position[0] - before.mass_position[0]) / after.mass};
}

void expect_coulomb(bool across, double dt, double tolerance) {
  const double a = pi / 9;
  for (const double mu : {0.0, 0.1, 0.2, 0.3}) {
    const double expected = gravity * (std::sin(a) - mu * std::cos(a)) * 0.1;
    EXPECT_NEAR(slide(mu, across, dt).speed, expected, tolerance * expected) << "mu " << mu << ", dt " << dt;
  }
  const double without_friction = 0.5 * gravity * std::sin(a) * 0.1 * 0.1;
  EXPECT_LT(std::abs(slide(0.5, across, dt).way), 0.01 * without_friction) << "sticks";
}

// v = g (sin a - mu cos a) t where mu < tan a = 0.364; rest above (Coulomb).
TEST(StrandContact, SlidesDownAnInclineAsCoulombSays) {
  expect_coulomb(true, 1e-3, 0.01);
  expect_coulomb(true, 2.5e-4, 0.01);
}

// A polygon slides like the curve it stands for: its joints are no bumps, though the segment behind a joint is near
// before it is under way.
TEST(StrandContact, JointsAreNoBumps) {
  expect_coulomb(false, 1e-3, 0.03);
  expect_coulomb(false, 2.5e-4, 0.03);
}

// Impulses between strands are equal and opposite, and the strands' matrix passes them on without loss: momentum stays
// to rounding, friction and fail-safe included.
TEST(StrandContact, ConservesMomentum) {
  Bundles<double> world(3, 12, Held::nowhere, 0.3);
  const Vec3 before = world.momentum();
  for (int k = 0; k < 40; ++k) world.step(5e-4);
  EXPECT_GT(world.pairs, 1000);
  EXPECT_LT(length(world.momentum() - before), 1e-11 * length(before));
}

// Contact is inelastic, friction too: energy never rises above that of the start, and no strand passes another.
TEST(StrandContact, GainsNoEnergy) {
  Bundles<double> world(4, 24, Held::at_ends, 0.3);
  const double before = world.energy();
  double most = 0;
  for (int k = 0; k < 120; ++k) {
    world.step(2.5e-4);
    most = std::max(most, world.energy() / before);
  }
  EXPECT_LT(most, 1.005);
  EXPECT_LT(world.energy(), 0.9 * before);
  EXPECT_EQ(world.missed, 0);
  EXPECT_TRUE(world.clean);
}

template <class Real>
std::vector<Real> bytes_after(int threads, ImpulseForm form) {
  Bundles<Real> world(8, 40, Held::at_ends, 0.3, threads);
  world.rules.form = form;
  for (int k = 0; k < 8; ++k) world.step(5e-4);
  EXPECT_GT(world.pairs, 10000);
  std::vector<Real> all;
  for (const auto* field : {&world.state.x, &world.state.v})
    for (int k = 0; k < 3; ++k) all.insert(all.end(), field->c[k].data(), field->c[k].data() + world.mesh.vertices);
  return all;
}
/// Bundles that are thrown at each other with a fail-safe that has far too few iterations: what it cannot keep apart
/// goes on as one piece. Nothing passes, and in no step comes energy from that, also where strands are as stiff as hair
/// is. Of the momentum of strands that nothing holds little is lost: impulses of a knot add up to nothing as far as each
/// of its vertices is by itself.
template <class Real>
void expect_knots_to_hold() {
  for (const double stretch_scale : {1e-3, 1.0})
    for (const Held lower : {Held::at_ends, Held::nowhere}) {
      Bundles<Real> world(3, 12, lower, 0.3, 1, stretch_scale);
      world.rules.iterations = 1;
      world.rules.rounds.rounds = 1;
      world.rules.rounds.iterations = 1;
      double before = world.energy();
      const double whole = before;
      const Vec3 momentum = world.momentum();
      for (int i = 0; i < 200; ++i) {
        world.step(3e-4);               // a fifth of a segment
        world.state.pressed.count = 0;  // one iteration could not take back what is remembered
        EXPECT_LE(world.energy(), before + 1e-3 * whole) << i << " stretch_scale " << stretch_scale;
        before = world.energy();
      }
      EXPECT_EQ(world.missed, 0);
      if (lower == Held::at_ends)
        EXPECT_GT(world.tied, 0) << "the case is too easy";
      else
        EXPECT_LT(squared_norm(world.momentum() - momentum), 1e-4 * squared_norm(momentum));
    }
}
TEST(StrandContact, KnotsKeepApartWhatImpulsesDoNot) { expect_knots_to_hold<double>(); }
TEST(StrandContact, KnotsKeepApartWhatImpulsesDoNotInFloats) { expect_knots_to_hold<float>(); }

/// Two strands across each other that fly and spin as one, tied for a quarter of a turn: lengths stay, where velocities
/// of the start would lengthen them by half of (w dt)^2 in each step, and energy and momentum with them.
TEST(StrandContact, KnotsTurnAndKeepTheirLength) {
  ContactWorld world;
  world.add({straight_line({{-0.02, 0, 0}}, {{0.02, 0, 0}}, 1), straight_line({{0, -0.02, 1e-6}}, {{0, 0.02, 1e-6}}, 1)},
            Held::nowhere, 0.3);
  world.load();
  const double dt = 1e-3, spin = 100;  // a tenth of a radian
  const auto length = [&](Index i) { return std::sqrt(squared_norm(world.x(i + 1) - world.x(i))); };
  for (int k = 0; k < 16; ++k) {
    for (Index i = 0; i < 4; ++i) {
      const Vec3 x = world.x(i), v = cross(Vec3{{0, 0, spin}}, x) + Vec3{{5, 0, i < 2 ? 1.0 : -1.0}};
      for (int c = 0; c < 3; ++c) world.state.v.c[c].data()[i] = v[c];
    }
    begin_rods(world.ex, world.state, world.work);
    rod_step(world.ex, world.constants, world.mesh, world.time, dt, world.state, world.work);
    StrandCollisions<double>& to = world.collisions;
    const CrossingCount found = find_crossings(world.ex, world.mesh, world.state, dt, to.work.pads, to.crossings);
    ASSERT_EQ(found.pairs, 1) << k;
    const Vec3 momentum = world.momentum();
    const KnotReport knots = tie_knots(world.ex, world.mesh, dt, world.state, world.work, to.work.pads, to.knots,
                                       to.crossings, found);
    EXPECT_EQ(knots.left.pairs, 0);
    EXPECT_EQ(knots.tied, 1);
    EXPECT_LT(squared_norm(world.momentum() - momentum), 1e-6 * squared_norm(momentum));
    move_rods(world.ex, world.mesh, dt, world.state, world.work);
  }
  EXPECT_NEAR(length(0), 0.04, 1e-4 * 0.04);  // 1.08 without
  EXPECT_NEAR(length(2), 0.04, 1e-4 * 0.04);
}

// The same bytes whatever the number of threads, so that a run can be repeated anywhere.
TEST(StrandContact, SameBytesForAnyNumberOfThreads) {
  for (const ImpulseForm form : {ImpulseForm::plain, ImpulseForm::accumulated}) {
    const std::vector<float> one = bytes_after<float>(1, form), two = bytes_after<float>(2, form);
    ASSERT_EQ(one.size(), two.size());
    EXPECT_EQ(std::memcmp(one.data(), two.data(), one.size() * sizeof(float)), 0);
  }
}

// Pads lose no pair and see none twice: against all pairs, of segments of all lengths and speeds.
TEST(StrandContact, PadsFindAllPairs) {
  ContactWorld world;
  std::mt19937 random(3);
  std::uniform_real_distribution<double> any(-1, 1);
  const auto point = [&] { return Vec3{{any(random), any(random), any(random)}}; };
  std::vector<std::vector<Vec3>> lines;
  for (int s = 0; s < 60; ++s) {
    std::vector<Vec3> line{2.0 * point()};
    const double step = s % 7 == 0 ? 1.5 : 0.2;
    for (int k = 0; k < 7; ++k) line.push_back(line.back() + step * point());
    lines.push_back(line);
  }
  world.add(lines, Held::nowhere, 0.3);
  for (Vec3& v : world.seed.v) v = 3.0 * point();
  world.load();
  const double dt = 0.2;

  Index near = 0, crossing = 0;
  const Index n = world.mesh.vertices;
  for (Index i = 0; i < n; ++i)
    for (Index j = i + 1; j < n; ++j) {
      if (i % 8 == 7 || j % 8 == 7 || (i / 8 == j / 8 && j - i <= 2)) continue;
      MovingSegments m;
      const Index at[4] = {i, i + 1, j, j + 1};
      for (int k = 0; k < 4; ++k) {
        m.x[k] = world.x(at[k]);
        m.move[k] = dt * world.v(at[k]);
      }
      crossing += m.hits().count > 0 ? 1 : 0;
      double fastest = 0;
      for (int a = 0; a < 2; ++a)
        for (int b = 2; b < 4; ++b) fastest = std::max(fastest, length(m.move[a] - m.move[b]));
      const ClosestPoints<double> c = closest_points(m.x[0], m.x[1] - m.x[0], m.x[2], m.x[3] - m.x[2]);
      // inside of both segments, where no other rule decides
      if (c.a > 0 && c.a < 1 && c.b > 0 && c.b < 1 && length(c.gap) <= dmin + fastest) ++near;
    }
  StrandContactWork<double>& work = world.collisions.work;
  EXPECT_EQ(find_crossings(world.ex, world.mesh, world.state, dt, work.pads, world.collisions.crossings).pairs,
            crossing);
  EXPECT_GT(crossing, 50);
  const Index pairs = find_proximity(world.ex, ProximityRules{}, world.mesh, world.state, dt, work.pads, work.pairs);
  Index inside = 0;
  for (Index k = 0; k < pairs; ++k) {
    const StrandPair<double>& p = work.pairs.data()[k];
    if (p.a > 0 && p.a < 1 && p.b > 0 && p.b < 1) ++inside;
  }
  EXPECT_EQ(inside, near);
  EXPECT_GT(near, 50);
}

using Pairs = std::vector<std::pair<Index, Index>>;

template <class Item>
Pairs sorted_pairs(const Item* items, Index count) {
  Pairs pairs;
  for (Index k = 0; k < count; ++k) pairs.emplace_back(items[k].first, items[k].second);
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

/// Strands in a crowd, at all angles: most segments short, some of them long or fast.
template <class Real>
struct Crowd : ContactWorldOf<Real> {
  static constexpr Index edges = 7;
  std::mt19937 random{7};
  std::vector<std::vector<Vec3>> lines;

  double any() { return std::uniform_real_distribution<double>(-1, 1)(random); }
  Vec3 point() { return {{any(), any(), any()}}; }
  void add_strand(const Vec3& at, double step) {
    std::vector<Vec3> line{at};
    for (Index k = 0; k < edges; ++k) line.push_back(line.back() + step * point());
    lines.push_back(line);
  }
  void finish(double speed) {
    this->add(lines, Held::nowhere, 0.3);
    for (Vec3& v : this->seed.v) v = Vec3{{40, -30, 20}} + speed * point();  // all of it drifts
    this->load();
  }
  bool listed(Index i, Index j) const {
    const Index row = edges + 1;
    return i % row != edges && j % row != edges && (i / row != j / row || j - i > 2);
  }
  bool finite(Index i) {
    for (Index k = i; k < i + 2; ++k)
      if (!std::isfinite(squared_norm(this->x(k)) + squared_norm(this->v(k)))) return false;
    return true;
  }
  MovingSegments moving(Index i, Index j, double dt) {
    MovingSegments m;
    const Index at[4] = {i, i + 1, j, j + 1};
    for (int k = 0; k < 4; ++k) {
      m.x[k] = this->x(at[k]) + this->read(this->state.x_tail, at[k]) - this->x(i);
      m.move[k] = dt * this->v(at[k]);
    }
    return m;
  }

  /// Against all pairs there are: those that could touch within dt, at whatever place of the segments, are listed, none
  /// twice; and those that cross are found.
  void expect_all_found(double dt, Index least_near, Index least_crossing) {
    SegmentPads<Real>& pads = this->collisions.work.pads;
    list_near(this->ex, this->mesh, this->state, dt, pads);
    const Pairs near = sorted_pairs(pads.near.data(), pads.near_count);
    EXPECT_TRUE(std::adjacent_find(near.begin(), near.end()) == near.end()) << "a pair is listed twice";
    const Index count =
        find_proximity(this->ex, ProximityRules{}, this->mesh, this->state, dt, pads, this->collisions.work.pairs);
    const Pairs touching = sorted_pairs(this->collisions.work.pairs.data(), count);
    Pairs expected_inside, expected_crossing;
    Index could_touch = 0, lost = 0, strange = 0;
    for (const auto& [i, j] : near) strange += i < j && listed(i, j) && finite(i) && finite(j) ? 0 : 1;
    for (Index i = 0; i < this->mesh.vertices; ++i)
      for (Index j = i + 1; j < this->mesh.vertices; ++j) {
        if (!listed(i, j) || !finite(i) || !finite(j)) continue;
        const MovingSegments m = moving(i, j, dt);
        if (m.hits().count > 0) expected_crossing.emplace_back(i, j);
        double fastest = 0;
        for (int a = 0; a < 2; ++a)
          for (int b = 2; b < 4; ++b) fastest = std::max(fastest, length(m.move[a] - m.move[b]));
        const ClosestPoints<double> c = closest_points(m.x[0], m.x[1] - m.x[0], m.x[2], m.x[3] - m.x[2]);
        if (length(c.gap) > dmin + fastest) continue;
        ++could_touch;
        lost += std::binary_search(near.begin(), near.end(), std::pair{i, j}) ? 0 : 1;
        if (c.a > 0 && c.a < 1 && c.b > 0 && c.b < 1) expected_inside.emplace_back(i, j);
      }
    EXPECT_EQ(lost, 0) << "of " << could_touch;
    EXPECT_EQ(strange, 0) << "of " << near.size();
    EXPECT_GE(could_touch, least_near);
    EXPECT_TRUE(std::includes(touching.begin(), touching.end(), expected_inside.begin(), expected_inside.end()));
    EXPECT_EQ(crossing_pairs(dt, pads), expected_crossing);
    SegmentPads<Real> fresh;
    EXPECT_EQ(crossing_pairs(dt, fresh), expected_crossing) << "with a list of its own";
    EXPECT_GE(static_cast<Index>(expected_crossing.size()), least_crossing);
  }
  Pairs crossing_pairs(double dt, SegmentPads<Real>& pads) {
    const Index count = find_crossings(this->ex, this->mesh, this->state, dt, pads, this->collisions.crossings).pairs;
    std::vector<StrandPair<Real>> crossing;
    for (Index k = 0; k < count; ++k) crossing.push_back(this->collisions.crossings.data()[k].pair);
    return sorted_pairs(crossing.data(), count);
  }
};

template <class Real>
void expect_search_of_all_kinds() {
  const auto crowd = [](double reach, double step, int long_ones, int fast_ones, int lost_ones) {
    Crowd<Real> world;
    for (int s = 0; s < 90; ++s) world.add_strand(reach * world.point(), s < long_ones ? 8 * step : step);
    world.finish(1);
    for (int s = 0; s < fast_ones; ++s) world.state.v.c[s % 3].data()[8 * (30 + 3 * s) + s % 8] += Real(2000);
    if (lost_ones > 0) world.state.v.c[1].data()[8 * 70 + 4] = std::numeric_limits<Real>::quiet_NaN();
    for (int s = 0; s < lost_ones; ++s)
      world.state.x.c[s % 3].data()[8 * (50 + 2 * s) + s] =
          s % 2 == 0 ? std::numeric_limits<Real>::quiet_NaN() : std::numeric_limits<Real>::infinity();
    return world;
  };
  {
    SCOPED_TRACE("all alike");
    crowd(0.5, 0.2, 0, 0, 0).expect_all_found(0.02, 300, 10);
  }
  {
    SCOPED_TRACE("a few far longer than the others");
    crowd(0.5, 0.2, 5, 0, 0).expect_all_found(0.02, 300, 10);
  }
  {
    SCOPED_TRACE("many longer than the others");
    crowd(1, 0.2, 40, 0, 0).expect_all_found(0.02, 100, 10);
  }
  {
    SCOPED_TRACE("some fly");
    crowd(0.5, 0.2, 2, 8, 0).expect_all_found(0.02, 100, 10);
  }
  {
    SCOPED_TRACE("some are not finite");
    crowd(0.5, 0.2, 2, 2, 3).expect_all_found(0.02, 100, 10);
  }
  {
    SCOPED_TRACE("all at one place");
    crowd(0, 0.05, 0, 0, 0).expect_all_found(0.02, 10000, 100);
  }
  {
    SCOPED_TRACE("far from each other");
    crowd(1e5, 0.2, 0, 0, 0).expect_all_found(0.02, 0, 0);
  }
}
// The search loses no pair of segments and lists none twice, whatever their lengths and speeds: against all pairs.
TEST(StrandContact, SearchFindsWhatAllPairsDo) { expect_search_of_all_kinds<double>(); }
TEST(StrandContact, SearchFindsWhatAllPairsDoInFloats) { expect_search_of_all_kinds<float>(); }

// Crossings are looked for among pairs listed before the impulses as long as segments stay within their boxes: those
// are then all there are; where they do not, the list is made anew.
TEST(StrandContact, CrossingsNeedNoListOfTheirOwn) {
  Crowd<double> world;
  for (int s = 0; s < 90; ++s) world.add_strand(0.5 * world.point(), 0.2);
  world.finish(3);
  const double dt = 0.02;
  SegmentPads<double>& pads = world.collisions.work.pads;
  list_near(world.ex, world.mesh, world.state, dt, pads);
  for (const double change : {-1.5, -0.5, 0.0, 0.5}) {  // of the velocities, off the mean
    SCOPED_TRACE(change);
    for (Index i = 0; i < world.mesh.vertices; ++i)
      for (int k = 0; k < 3; ++k) {
        const double mean = k == 0 ? 40 : k == 1 ? -30 : 20;
        world.state.v.c[k].data()[i] = mean + (1 + change) * (world.seed.v[std::size_t(i)][k] - mean);
      }
    EXPECT_EQ(lists_motion(world.ex, world.mesh, world.state, dt, pads), change < 0.1);
    SegmentPads<double> fresh;
    const Pairs expected = world.crossing_pairs(dt, fresh);
    EXPECT_EQ(world.crossing_pairs(dt, pads), expected);
    EXPECT_GT(expected.size(), 10u);
  }
}

}  // namespace
}  // namespace tribo::TRIBO_BACKEND::test

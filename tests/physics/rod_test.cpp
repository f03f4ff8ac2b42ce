#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <string>

#include "rod_world.h"
#include "tribo/core/errors.h"
#include "tribo/models/rod/joint.h"

/// \file
/// Discrete elastic rods (theory E): energies and their gradients, invariants, the banded solve, frames.

namespace tribo::TRIBO_BACKEND::test {
namespace {

Vec3 unit(const Vec3& a) { return (1 / length(a)) * a; }
Vec3 rotated(const Vec3& u, const Vec3& axis, double angle) {
  return std::cos(angle) * u + std::sin(angle) * cross(axis, u) + ((1 - std::cos(angle)) * dot(axis, u)) * axis;
}

/// A strand that is bent, twisted, stretched, of elliptic section and curled at rest: nothing about it is special.
struct AnyRod {
  std::vector<Vec3> rest, bent;
  StrandRules rules;

  AnyRod() {
    std::mt19937 random(7);
    std::uniform_real_distribution<double> any(-1, 1);
    rest = helix(0.3, 0.5, 1.2, 12);
    for (const Vec3& p : rest) bent.push_back(p + 0.05 * Vec3{{any(random), any(random), any(random)}});
    rules.material = material_of(0.8, 1.5, 0.2);
    rules.material.aspect = 1.7;
    rules.radius = 0.2;
    rules.clamp_root = false;
  }
  void put_into(RodWorld& world) const {
    add_strands(world.seed, strands_of({rest}), rules);
    world.seed.x = bent;
    const std::vector<Vec3> carried = parallel_directors(bent, {{0, 1, 0}});
    for (std::size_t j = 0; j < carried.size(); ++j) {
      const Vec3 t = unit(bent[j + 1] - bent[j]);
      world.seed.director[j] = rotated(carried[j], t, 0.3 * double(j) + 0.2 * std::sin(double(3 * j)));
    }
    for (std::size_t i = 1; i + 1 < bent.size(); ++i) world.seed.rest_twist[i] = 0.1;
    world.load();
  }
};

/// Energy of the seed's strand with vertices and directors as given, from its definition (theory E.2), with angles of
/// the standard library.
double energy_of(const RodSeed& seed, const std::vector<Vec3>& x, const std::vector<Vec3>& m) {
  double sum = 0;
  for (std::size_t j = 0; j + 1 < x.size(); ++j) {
    const double strain = length(x[j + 1] - x[j]) / seed.length[j] - 1;
    sum += 0.5 * seed.stretch[j] * strain * strain * seed.length[j];
  }
  for (std::size_t i = 1; i + 1 < x.size(); ++i) {
    const Vec3 t0 = unit(x[i] - x[i - 1]), t1 = unit(x[i + 1] - x[i]);
    const Vec3 kb = (2 / (1 + dot(t0, t1))) * cross(t0, t1);
    for (int e = 0; e < 2; ++e) {
      const Vec3 m1 = m[i - 1 + std::size_t(e)], m2 = cross(e == 0 ? t0 : t1, m1);
      const double o1 = dot(kb, m2) - seed.rest_curvature[i][2 * e],
                   o2 = -dot(kb, m1) - seed.rest_curvature[i][2 * e + 1];
      sum += 0.25 * (seed.bend1[i] * o1 * o1 + seed.bend2[i] * o2 * o2) / seed.cell[i];
    }
    const Vec3 axis = cross(t0, t1);
    const double s = length(axis);
    const Vec3 u = s > 0 ? rotated(m[i - 1], (1 / s) * axis, std::atan2(s, dot(t0, t1))) : m[i - 1];
    const double twist = std::atan2(dot(cross(u, m[i]), t1), dot(u, m[i])) - seed.rest_twist[i];
    sum += 0.5 * seed.twist_stiffness[i] * twist * twist / seed.cell[i];
  }
  return sum;
}
/// Directors carried from one shape to another by parallel transport.
std::vector<Vec3> carried(const std::vector<Vec3>& from, const std::vector<Vec3>& to, const std::vector<Vec3>& m) {
  std::vector<Vec3> result = m;
  for (std::size_t j = 0; j + 1 < from.size(); ++j) {
    const Vec3 t0 = unit(from[j + 1] - from[j]), t1 = unit(to[j + 1] - to[j]), axis = cross(t0, t1);
    const double s = length(axis);
    if (s > 0) result[j] = rotated(m[j], (1 / s) * axis, std::atan2(s, dot(t0, t1)));
  }
  return result;
}
std::vector<Vec3> directors_of(RodWorld& world) {
  std::vector<Vec3> m;
  for (Index i = 0; i < world.mesh.vertices; ++i) m.push_back(world.director(i));
  return m;
}

/// Forces on vertices: what an explicit step of one second makes of a strand at rest, times mass.
std::vector<Vec3> forces_of(RodWorld& world) {
  const RodScheme scheme = world.constants.scheme;
  world.constants.scheme = RodScheme::explicit_euler;
  begin_rods(world.ex, world.state, world.work);
  rod_step(world.ex, world.constants, world.mesh, 0, 1, world.state, world.work);
  world.constants.scheme = scheme;
  std::vector<Vec3> f;
  for (Index i = 0; i < world.mesh.vertices; ++i) {
    f.push_back(world.seed.mass[std::size_t(i)] * (world.v(i) - world.seed.v[std::size_t(i)]));
    for (int k = 0; k < 3; ++k) world.state.v.c[k].data()[i] = world.seed.v[std::size_t(i)][k];
  }
  return f;
}

TEST(Rod, ForcesAreGradientsOfTheEnergy) {
  RodWorld world;
  const AnyRod rod;
  rod.put_into(world);
  const std::vector<Vec3> m = directors_of(world), f = forces_of(world);
  double largest = 0;
  for (const Vec3& force : f) largest = std::max(largest, length(force));
  const double h = 1e-6;
  for (std::size_t i = 0; i < rod.bent.size(); ++i)
    for (int k = 0; k < 3; ++k) {
      double E[2];
      for (int side = 0; side < 2; ++side) {
        std::vector<Vec3> x = rod.bent;
        x[i][k] += side == 0 ? -h : h;
        E[side] = energy_of(world.seed, x, carried(rod.bent, x, m));
      }
      EXPECT_NEAR(f[i][k], -(E[1] - E[0]) / (2 * h), 1e-7 * largest) << "vertex " << i << ", axis " << k;
    }
  EXPECT_NEAR(world.sums().elastic, energy_of(world.seed, rod.bent, m), 1e-12 * world.sums().elastic);
}

/// Turning the frame of any edge costs energy, by a second-order amount.
TEST(Rod, AnglesAreAtEquilibrium) {
  RodWorld world;
  const AnyRod rod;
  rod.put_into(world);
  const std::vector<Vec3> m = directors_of(world);
  const double E = energy_of(world.seed, rod.bent, m), h = 1e-4;
  for (std::size_t j = 0; j + 1 < rod.bent.size(); ++j) {
    const Vec3 t = unit(rod.bent[j + 1] - rod.bent[j]);
    double side[2];
    for (int s = 0; s < 2; ++s) {
      std::vector<Vec3> turned = m;
      turned[j] = rotated(m[j], t, s == 0 ? -h : h);
      side[s] = energy_of(world.seed, rod.bent, turned);
      EXPECT_GT(side[s], E);
    }
    EXPECT_NEAR(side[0], side[1], 1e-3 * (side[1] - E)) << "edge " << j;
  }
}

TEST(Rod, ForcesTurnWithTheRod) {
  RodWorld world, turned;
  AnyRod rod;
  rod.put_into(world);
  const Vec3 axis = unit({{1, -2, 0.5}});
  turned.seed = world.seed;
  for (Vec3& x : turned.seed.x) x = rotated(x, axis, 2.1) + Vec3{{3, 1, -4}};
  for (Vec3& m : turned.seed.director) m = rotated(m, axis, 2.1);
  turned.load();
  const std::vector<Vec3> f = forces_of(world), g = forces_of(turned);
  for (std::size_t i = 0; i < f.size(); ++i)
    EXPECT_LT(length(g[i] - rotated(f[i], axis, 2.1)), 1e-9 * (1 + length(f[i]))) << "vertex " << i;
}

/// A free rod that deforms: inner forces push nothing away and turn nothing. Exactly so for explicit steps; implicit
/// ones keep momentum exactly and angular momentum up to the rotation within a step.
TEST(Rod, FreeRodKeepsMomentum) {
  const AnyRod rod;
  const auto drift = [&](RodScheme scheme, double dt, int steps) {
    RodWorld world;
    AnyRod spinning = rod;
    spinning.bent = spinning.rest;
    spinning.put_into(world);
    for (Index i = 0; i < world.mesh.vertices; ++i) {
      const Vec3 x = world.x(i), v = cross(Vec3{{0.5, 1, 2}}, x) + Vec3{{0, 0.3 * x[0] * x[0], x[0] * x[1]}};
      for (int k = 0; k < 3; ++k) world.state.v.c[k].data()[i] = v[k];
    }
    world.constants.scheme = scheme;
    const ObjectSums before = world.sums();
    for (int s = 0; s < steps; ++s) world.step(dt);
    const ObjectSums after = world.sums();
    EXPECT_LT(length(after.momentum - before.momentum), 1e-12);
    return length(after.angular_momentum - before.angular_momentum) / length(before.angular_momentum);
  };
  RodWorld world;
  rod.put_into(world);
  evaluate_rods(world.ex, world.mesh, world.state);
  const double dt = 0.5 * world.state.stable_dt;
  EXPECT_LT(drift(RodScheme::explicit_euler, dt, 400), 1e-6);
  const double coarse = drift(RodScheme::implicit, 8 * dt, 100), fine = drift(RodScheme::implicit, dt, 800);
  EXPECT_LT(fine, coarse / 4);
  EXPECT_LT(fine, 0.02);
}

// ---------------------------------------------------------------------------------------------------------------------

/// Solves a x = b by Gaussian elimination.
std::vector<double> dense_solve(std::vector<std::vector<double>> a, std::vector<double> b) {
  const std::size_t n = b.size();
  for (std::size_t p = 0; p < n; ++p) {
    std::size_t best = p;
    for (std::size_t i = p; i < n; ++i)
      if (std::abs(a[i][p]) > std::abs(a[best][p])) best = i;
    std::swap(a[p], a[best]);
    std::swap(b[p], b[best]);
    for (std::size_t i = p + 1; i < n; ++i) {
      const double l = a[i][p] / a[p][p];
      for (std::size_t j = p; j < n; ++j) a[i][j] -= l * a[p][j];
      b[i] -= l * b[p];
    }
  }
  for (std::size_t p = n; p-- > 0;) {
    for (std::size_t j = p + 1; j < n; ++j) b[p] -= a[p][j] * b[j];
    b[p] /= a[p][p];
  }
  return b;
}

/// Of a straight rod Gauss-Newton is exact: stiffness by differences of forces, stretch and bending one by one, gives
/// the matrix that the step must have solved, roots that move included.
class BandedStep : public testing::Test {
 protected:
  static constexpr int edges = 9;
  static constexpr double dt = 0.05;
  RodWorld world;
  std::size_t n = 3 * (edges + 1);
  std::vector<std::vector<double>> A, K;  // without damping bending, too, is backward Euler's
  std::vector<double> v0;

  void SetUp() override {
    StrandRules rules;
    rules.material = material_of(0.8, 1.5, 0.2);
    rules.radius = 0.2;
    rules.motion = Motion({{0, {{0, 0, 0}}, {}}, {1, {{0.3, 0.2, -0.1}}, {{{0, 0, 1}}, 40}}});
    add_strands(world.seed, strands_of({straight_line({{0, 0, 0}}, {{2, 1, 0.5}}, edges)}), rules);
    K = stiffness(true);
    const auto Kb = stiffness(false);
    A = K;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) {
        K[i][j] += Kb[i][j];
        A[i][j] = dt * dt * K[i][j] + (i == j ? world.seed.mass[i / 3] : 0);
      }
    std::mt19937 random(5);
    std::uniform_real_distribution<double> any(-1, 1);
    for (std::size_t i = 0; i < n; ++i) v0.push_back(any(random));
    for (std::size_t i = 0; i < n; ++i) world.seed.v[i / 3][int(i % 3)] = v0[i];
    world.load();
    world.set_gravity({{0, -2, 0}});
    begin_rods(world.ex, world.state, world.work);
    rod_step(world.ex, world.constants, world.mesh, 0, dt, world.state, world.work);
  }
  std::vector<std::vector<double>> stiffness(bool stretch) const {
    std::vector<std::vector<double>> K(n, std::vector<double>(n));
    const double h = 1e-6;
    for (std::size_t j = 0; j < n; ++j)
      for (const double side : {-1.0, 1.0}) {
        RodWorld copy;
        copy.seed = world.seed;
        copy.seed.drive.assign(copy.seed.drive.size(), -1);
        for (std::size_t i = 0; i < copy.seed.x.size(); ++i) {
          copy.seed.v[i] = Vec3::zero();
          if (stretch)
            copy.seed.bend1[i] = copy.seed.bend2[i] = 0;
          else
            copy.seed.stretch[i] = 0;
        }
        copy.seed.x[j / 3][int(j % 3)] += side * h;
        copy.load();
        const std::vector<Vec3> f = forces_of(copy);
        for (std::size_t i = 0; i < n; ++i) K[i][j] -= side * f[i / 3][int(i % 3)] / (2 * h);
      }
    return K;
  }
  /// A without the rows and columns of what is held: the first two vertices.
  std::vector<double> solve_free(std::vector<double> right) const {
    std::vector<std::vector<double>> a = A;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j)
        if (i < 6 || j < 6) a[i][j] = i == j ? 1 : 0;
    for (std::size_t i = 0; i < 6; ++i) right[i] = 0;
    return dense_solve(a, right);
  }
};

TEST_F(BandedStep, SolvesWhatADenseMatrixDoes) {
  std::vector<double> right(n);
  const std::vector<double> gravity = {0, -2, 0};
  for (std::size_t i = 0; i < n; ++i) {
    right[i] = dt * world.seed.mass[i / 3] * gravity[i % 3];
    for (std::size_t j = 0; j < n; ++j) right[i] -= dt * dt * K[i][j] * v0[j];
  }
  for (std::size_t j = 0; j < 6; ++j) {  // the step moves the root to where its motion goes
    const Pose pose = world.seed.drives[0].motion.pose(dt);
    const Vec3 target = (1 / dt) * (pose.rotation * world.seed.x[j / 3] + pose.at - world.seed.x[j / 3]);
    EXPECT_NEAR(world.v(Index(j / 3))[int(j % 3)], target[int(j % 3)], 1e-12);
    for (std::size_t i = 6; i < n; ++i) right[i] -= A[i][j] * (target[int(j % 3)] - v0[j]);
  }
  const std::vector<double> dv = solve_free(right);
  for (std::size_t i = 6; i < n; ++i) EXPECT_NEAR(world.v(Index(i / 3))[int(i % 3)], v0[i] + dv[i], 1e-6) << i;
}

TEST_F(BandedStep, AnswersImpulsesThroughItsMatrix) {
  Field<double, 3> impulse;
  impulse.resize_discard(world.mesh.vertices);
  std::mt19937 random(6);
  std::uniform_real_distribution<double> any(-1, 1);
  std::vector<double> J;
  for (std::size_t i = 0; i < n; ++i) {
    J.push_back(any(random));
    impulse.c[i % 3].data()[i / 3] = J.back();
  }
  std::vector<Vec3> before;
  for (Index i = 0; i < world.mesh.vertices; ++i) before.push_back(world.v(i));
  solve_strands(world.ex, world.mesh, impulse, nullptr, world.state, world.work);
  const std::vector<double> dv = solve_free(J);
  for (std::size_t i = 0; i < n; ++i)
    EXPECT_NEAR(world.v(Index(i / 3))[int(i % 3)] - before[i / 3][int(i % 3)], i < 6 ? 0 : dv[i], 1e-6) << i;

  // Changing a velocity without the matrix and filtering it then is the impulse m dv.
  Field<double, 3> v_lag;
  v_lag.resize_discard(world.mesh.vertices);
  for (std::size_t i = 0; i < n; ++i) {
    v_lag.c[i % 3].data()[i / 3] = before[i / 3][int(i % 3)];
    if (i >= 6)
      world.state.v.c[i % 3].data()[i / 3] = before[i / 3][int(i % 3)] + J[i] / world.seed.mass[i / 3];
    else
      world.state.v.c[i % 3].data()[i / 3] = before[i / 3][int(i % 3)];
  }
  filter_velocities(world.ex, world.mesh, v_lag, world.state, world.work);
  for (std::size_t i = 0; i < n; ++i)
    EXPECT_NEAR(world.v(Index(i / 3))[int(i % 3)] - before[i / 3][int(i % 3)], i < 6 ? 0 : dv[i], 1e-6) << i;
}

TEST_F(BandedStep, ComplianceIsTheInversesBand) {
  segment_compliance(world.ex, world.mesh, world.work);
  const Array<SegmentCompliance<double>>& compliance = world.work.compliance;
  for (std::size_t j = 0; j < n; ++j) {
    std::vector<double> one(n, 0);
    one[j] = 1;
    const std::vector<double> column = j < 6 ? std::vector<double>(n, 0) : solve_free(one);
    const std::size_t vertex = j / 3;
    const SegmentCompliance<double>& z = compliance.data()[vertex];
    for (int k = 0; k < 3; ++k) {
      const int own = Sym<double, 3>::at(k, int(j % 3));
      EXPECT_NEAR(z.own[own], column[3 * vertex + std::size_t(k)], 1e-6);
      if (vertex + 1 < n / 3) EXPECT_NEAR(z.next[3 * k + int(j % 3)], column[3 * vertex + 3 + std::size_t(k)], 1e-6);
    }
  }
  // A unit impulse shared by the ends of a segment moves the point it acts on by its compliance.
  const Mat<double, 3> S = compliance_at(compliance.data(), Index{5}, 0.3);
  std::vector<double> shared(n, 0);
  shared[15] = 0.7;
  shared[18] = 0.3;
  const std::vector<double> dv = solve_free(shared);
  for (int k = 0; k < 3; ++k) EXPECT_NEAR(S(k, 0), 0.7 * dv[15 + std::size_t(k)] + 0.3 * dv[18 + std::size_t(k)], 1e-6);
}

// ---------------------------------------------------------------------------------------------------------------------

/// The tip of a straight rod, clamped at both ends, is turned three times: the twist spreads evenly, whole turns are
/// not lost, and the middle has turned half as far.
TEST(Rod, TwistPropagates) {
  RodWorld world;
  StrandRules rules;
  rules.material = material_of(1, 1, 0.1, 1e-2);  // so weak in torsion that it does not buckle
  rules.radius = 0.1;
  rules.clamp_tip = true;
  rules.half_cells = false;
  rules.director = {{0, 1, 0}};
  const int edges = 20;
  add_strands(world.seed, strands_of({straight_line({{0, 0, 0}}, {{1, 0, 0}}, edges)}), rules);
  world.seed.drives.push_back(Motion({{0, {{0, 0, 0}}, {}}, {1, {{0, 0, 0}}, {{{1, 0, 0}}, 1080}}}));
  for (std::size_t i : {std::size_t(edges) - 1, std::size_t(edges)}) world.seed.drive[i] = 1;
  world.load();
  for (int s = 0; s < 100; ++s) world.step(0.01);
  for (Index i = 1; i < edges; ++i) EXPECT_NEAR(world.twist(i), 6 * pi / (edges - 1), 1e-6) << "joint " << i;
  const double E = 0.5 * 1e-2 * edges * std::pow(6 * pi / (edges - 1), 2) * (edges - 1);
  EXPECT_NEAR(world.sums().elastic, E, 1e-6 * E);
}

/// A curl follows when its root is turned about its tangent: directors of the root go with it.
TEST(Rod, CurlFollowsItsRootsSpin) {
  RodWorld world;
  StrandRules rules;
  rules.material = material_of(1, 1, 0.05);
  rules.material.drag = 4;
  rules.radius = 0.05;
  std::vector<Vec3> points = {{{-0.1, 0, 0}}};
  for (int i = 0; i <= 16; ++i) points.push_back({{0.5 * std::sin(0.1 * i), 0.5 - 0.5 * std::cos(0.1 * i), 0}});
  rules.motion = Motion({{0, {{0, 0, 0}}, {}}, {0.5, {{0, 0, 0}}, {{{1, 0, 0}}, 90}}});
  add_strands(world.seed, strands_of({points}), rules);
  world.constants.scheme = RodScheme::backward_euler;
  world.load();
  for (int s = 0; s < 1000; ++s) world.step(0.01);
  const Vec3 tip = world.x(Index(points.size()) - 1), start = points.back();
  EXPECT_LT(length(tip - Vec3{{start[0], 0, start[1]}}), 1e-4 * start[1]);
}

/// A root on a skin that moves as keyframes would have it makes the same motion of the strand.
TEST(Rod, RootsFollowASkin) {
  const Motion motion({{0, {{0, 0, 0}}, {}}, {1, {{0.3, 0.2, -0.1}}, {{{1, 2, 1}}, 200}}});
  StrandRules rules;
  rules.material = material_of(1, 1, 0.05);
  rules.radius = 0.05;
  const Strands curls = strands_of({helix(0.2, 0.3, 1, 12), helix(0.3, 0.1, 1, 9)});
  RodWorld keyed, skinned;
  rules.motion = motion;
  add_strands(keyed.seed, curls, rules);
  keyed.load();
  rules.motion = Motion();
  rules.skin = {motion.pose(0), motion.pose(0)};
  add_strands(skinned.seed, curls, rules);
  skinned.seed.v = keyed.seed.v;  // before the first step nothing is known of a skin's velocity
  skinned.load();
  const double dt = 0.01;
  for (int s = 0; s < 50; ++s) {
    const RodDriveStep drive = drive_to(motion.pose(skinned.time + dt));
    const RodDriveStep both[2] = {drive, drive};
    copy_to_device(skinned.ex, both, skinned.work.skin, 2);
    skinned.step(dt);
    keyed.step(dt);
  }
  for (Index i = 0; i < keyed.mesh.vertices; ++i) EXPECT_LT(length(keyed.x(i) - skinned.x(i)), 1e-12) << i;
  EXPECT_GT(length(skinned.x(12) - skinned.seed.x[12]), 0.1);
}

TEST(Rod, StaysAtRest) {
  for (const bool curled : {false, true}) {
    RodWorld world;
    StrandRules rules;
    const auto line = curled ? helix(0.01, 0.02, 3, 60) : straight_line({{0, 0, 0}}, {{0, 0.1, 0}}, 40);
    add_strands(world.seed, strands_of({line}), rules);
    EXPECT_EQ(world.seed.bodies[0].twisted, curled);
    world.load();
    for (int s = 0; s < 100; ++s) world.step(2e-4);
    for (std::size_t i = 0; i < line.size(); ++i) EXPECT_LT(length(world.x(Index(i)) - line[i]), 1e-10) << i;
  }
}

/// Floats three meters from the origin cannot tell a hair's strain, but what rounding leaves out of positions is kept:
/// hair at rest there trembles by no more than its own rounding allows, and falls as doubles do.
TEST(Rod, FloatsKeepHairFarFromTheOrigin) {
  RodWorldOf<float> world;
  RodWorld exact;
  StrandRules rules;
  rules.radius = 4e-5;
  rules.keeps_shape = false;
  const auto line = straight_line({{3.1, 2.9, -3.3}}, {{3.2, 2.9, -3.3}}, 100);
  add_strands(world.seed, strands_of({line}), rules);
  exact.seed = world.seed;
  world.load();
  exact.load();
  for (int s = 0; s < 200; ++s) world.step(2e-4);
  evaluate_rods(world.ex, world.mesh, world.state);
  EXPECT_LT(world.state.speed, 1e-4);
  world.set_gravity({{0, -9.81, 0}});
  exact.set_gravity({{0, -9.81, 0}});
  for (int s = 0; s < 200; ++s) {
    world.step(2e-4);
    exact.step(2e-4);
  }
  EXPECT_GT(length(exact.x(100) - line[100]), 2e-3);
  EXPECT_LT(length(world.x(100) - exact.x(100)), 2e-2 * length(exact.x(100) - line[100]));
}

/// Lanes, groups and threads are no physics: a strand does the same alone and among others of any length.
TEST(Rod, StrandsDoNotFeelTheirNeighborsInMemory) {
  const std::vector<std::vector<Vec3>> lines = {
      helix(0.02, 0.03, 2, 31), helix(0.02, 0.03, 2, 24), helix(0.01, 0.01, 1, 7), helix(0.02, 0.03, 2, 31),
      helix(0.03, 0.05, 1, 40), helix(0.02, 0.02, 2, 19), helix(0.01, 0.03, 2, 31)};
  StrandRules rules;
  rules.material.aspect = 1.5;
  const auto run = [&](const std::vector<std::vector<Vec3>>& of, int threads) {
    RodWorldOf<float> world(threads);
    for (int copy = 0; copy < (of.size() > 1 ? 5 : 1); ++copy) add_strands(world.seed, strands_of(of), rules);
    world.load();
    world.set_gravity({{0, -9.81, 3}});
    for (int s = 0; s < 30; ++s) world.step(5e-4);
    std::vector<Vec3> x;
    for (Index i = 0; i < world.mesh.vertices; ++i) x.push_back(world.x(i));
    return x;
  };
  const std::vector<Vec3> all = run(lines, 1), threaded = run(lines, 3);
  std::size_t first = 0;
  for (const auto& line : lines) {
    const std::vector<Vec3> alone = run({line}, 1);
    for (std::size_t i = 0; i < line.size(); ++i)
      for (int k = 0; k < 3; ++k) EXPECT_EQ(alone[i][k], all[first + i][k]);
    first += line.size();
  }
  for (std::size_t i = 0; i < all.size(); ++i)
    for (int k = 0; k < 3; ++k) EXPECT_EQ(threaded[i][k], all[i][k]);
}

/// What goes on in time is in the state's columns: copied to a world just loaded, they go on to the same bytes.
TEST(Rod, ResumesFromItsColumns) {
  AnyRod rod;
  rod.rules.clamp_root = true;
  rod.rules.motion = Motion({{0, {{0, 0, 0}}, {}}, {1, {{0, 0.2, 0}}, {{{1, 0, 0}}, 300}}});
  RodWorld whole, half;
  rod.put_into(whole);
  for (int s = 0; s < 40; ++s) whole.step(0.01);
  rod.put_into(half);
  each_column(half.state, [&](const char* name, auto& to) {
    each_column(whole.state, [&](const char* other, auto& from) {
      if constexpr (std::is_same_v<std::decay_t<decltype(from)>, std::decay_t<decltype(to)>>)
        if (std::string(name) == other)
          for (int k = 0; k < std::decay_t<decltype(to)>::components; ++k)
            copy_to_device(half.ex, from.c[k].data(), to.c[k], half.mesh.vertices);
    });
  });
  half.time = whole.time;
  for (int s = 0; s < 40; ++s) {
    whole.step(0.01);
    half.step(0.01);
  }
  for (Index i = 0; i < whole.mesh.vertices; ++i)
    for (int k = 0; k < 3; ++k) {
      EXPECT_EQ(whole.x(i)[k], half.x(i)[k]);
      EXPECT_EQ(whole.director(i)[k], half.director(i)[k]);
    }
}

TEST(Rod, StepsCanBeTakenAgain) {
  const AnyRod rod;
  RodWorld once, again;
  rod.put_into(once);
  rod.put_into(again);
  begin_rods(again.ex, again.state, again.work);
  rod_step(again.ex, again.constants, again.mesh, 0, 0.04, again.state, again.work);
  rod_step(again.ex, again.constants, again.mesh, 0, 0.01, again.state, again.work);
  move_rods(again.ex, again.mesh, 0.01, again.state, again.work);
  once.step(0.01);
  for (Index i = 0; i < once.mesh.vertices; ++i)
    for (int k = 0; k < 3; ++k) EXPECT_EQ(once.x(i)[k], again.x(i)[k]);
}

/// Theory E.7, with its factor of safety of two: stable at the limit, not at 2.5 times it.
TEST(Rod, ExplicitStepsHaveTheLimitOfTheirStiffness) {
  const auto energy_after = [](double scale) {
    RodWorld world;
    StrandRules rules;
    rules.material = material_of(1, 1, 0.02);
    rules.radius = 0.02;
    rules.half_cells = false;
    add_strands(world.seed, strands_of({straight_line({{0, 0, 0}}, {{1, 0, 0}}, 20)}), rules);
    std::mt19937 random(3);
    std::uniform_real_distribution<double> any(-1, 1);
    for (std::size_t i = 2; i < world.seed.v.size(); ++i)
      for (int k = 0; k < 3; ++k) world.seed.v[i][k] = 1e-3 * any(random);
    world.constants.scheme = RodScheme::explicit_euler;
    world.load();
    evaluate_rods(world.ex, world.mesh, world.state);
    const double dt = scale * world.state.stable_dt, before = world.sums().kinetic;
    for (int s = 0; s < 400; ++s) world.step(dt);
    return (world.sums().kinetic + world.sums().elastic) / before;
  };
  EXPECT_LT(energy_after(1), 2);
  EXPECT_FALSE(energy_after(2.5) < 100);
}

/// A twisting moment below that of buckling (8.98 EI/L of clamped ends) does no harm, however much longer steps are
/// than it allows explicitly: 20 times here.
TEST(Rod, TwistedRodsAreStableInLongSteps) {
  RodWorld world;
  StrandRules rules;
  rules.material = material_of(1, 1, 0.01, 1);
  rules.radius = 0.01;
  rules.clamp_tip = true;
  rules.half_cells = false;
  rules.director = {{0, 1, 0}};
  const int edges = 100;
  add_strands(world.seed, strands_of({straight_line({{0, 0, 0}}, {{1, 0, 0}}, edges)}), rules);
  std::mt19937 random(9);
  std::uniform_real_distribution<double> any(-1, 1);
  const double moment = 5;
  for (std::size_t i = 1; i < std::size_t(edges); ++i) {
    const double angle = moment * double(i) / edges;
    world.seed.twist[i] = moment / edges;
    world.seed.director[i] = {{0, std::cos(angle), std::sin(angle)}};
    for (int k = 1; k < 3 && i > 1 && i + 1 < std::size_t(edges); ++k) world.seed.v[i][k] = 1e-2 * any(random);
  }
  world.load();
  // Velocities of short waves as a step would answer a blow, through its matrix; what leapfrogs keep is an energy in
  // which positions are half a step later, so that the sum swings by as much as the motion itself.
  const double dt = 0.01;
  Field<double, 3> none;
  none.resize_discard(world.mesh.vertices);
  for (auto& column : none.c) std::fill(column.data(), column.data() + world.mesh.vertices, 0.0);
  begin_rods(world.ex, world.state, world.work);
  rod_step(world.ex, world.constants, world.mesh, 0, dt, world.state, world.work);
  for (Index i = 0; i <= edges; ++i)
    for (int k = 0; k < 3; ++k) world.state.v.c[k].data()[i] = world.seed.v[std::size_t(i)][k];
  filter_velocities(world.ex, world.mesh, none, world.state, world.work);
  const double start = world.sums().kinetic + world.sums().elastic, swing = world.sums().kinetic;
  for (int s = 0; s < 1000; ++s) {
    world.step(dt);
    ASSERT_LT(world.sums().kinetic + world.sums().elastic - start, 3 * swing) << "step " << s;
  }
}

/// A cantilever rings at 3.516 sqrt(EI / rho A) / L^2; Rayleigh damping beta takes beta omega^2 / 2 of its amplitude in
/// unit time, and no less than backward Euler does, dt omega^2 / 2.
TEST(Rod, RingsAndDecaysAsBeamsDo) {
  const double omega = 3.516, dt = 0.005;
  const auto ring = [&](double beta, double& period) {
    RodWorld world;
    StrandRules rules;
    rules.material = material_of(1, 1, 0.02);
    rules.material.bend_damping = beta;
    rules.radius = 0.02;
    const int edges = 20;
    add_strands(world.seed, strands_of({straight_line({{-1.0 / edges, 0, 0}}, {{1, 0, 0}}, edges + 1)}), rules);
    for (std::size_t i = 2; i < world.seed.v.size(); ++i) {  // its first mode, nearly
      const double s = world.seed.x[i][0];
      world.seed.v[i][1] = 1e-3 * s * s * (6 - 4 * s + s * s) / 3;
    }
    world.load();
    double before = 0, first = 0, last = 0, peak = 0;  // of the last half period
    for (int crossings = 0; crossings < 11;) {
      world.step(dt);
      const double y = world.x(edges + 1)[1];
      if (world.time > dt && (y > 0) != (before > 0)) {
        last = world.time - dt * y / (y - before);
        if (crossings == 0) first = last;
        if (++crossings < 11) peak = 0;
      }
      peak = std::max(peak, std::abs(y));
      before = y;
    }
    period = (last - first) / 5;
    return peak;
  };
  double period, damped_period;
  const double undamped = ring(0, period), little = ring(dt, damped_period), more = ring(2 * dt, damped_period);
  EXPECT_NEAR(period, 2 * pi / omega, 0.01 * 2 * pi / omega);
  const auto rate = [&](double peak, double later) { return std::log(peak / later) / (5.25 * period); };
  const double expected = 0.5 * dt * omega * omega;  // of the peak after ten and a half swings
  EXPECT_NEAR(rate(little, more), expected, 0.03 * expected);
  EXPECT_NEAR(rate(undamped, little), 0, 0.03 * expected);
}

/// A ruler sags when it lies flat and hardly on edge: by q L^4 / (8 EI), with EI of the extent along the load. The
/// first director is that of the section's radius a.
TEST(Rod, RibbonsAreStiffOnEdge) {
  const auto sag = [](const Vec3& director) {
    RodWorld world;
    StrandRules rules;
    rules.radius = 0.02;
    rules.material = material_of(1, 1, rules.radius);
    rules.material.aspect = 3;
    rules.director = director;
    const int edges = 20;
    add_strands(world.seed, strands_of({straight_line({{-1.0 / edges, 0, 0}}, {{1, 0, 0}}, edges + 1)}), rules);
    world.constants.scheme = RodScheme::backward_euler;
    world.load();
    world.set_gravity({{0, -0.01, 0}});
    for (int s = 0; s < 600; ++s) world.step(0.1);
    return -world.x(edges + 1)[1];
  };
  const double on_edge = sag({{0, 1, 0}}), flat = sag({{0, 0, 1}});
  EXPECT_NEAR(on_edge, 0.01 / (8 * 3), 0.01 * 0.01 / (8 * 3));
  EXPECT_NEAR(flat, 0.01 * 3 / 8, 0.01 * 0.01 * 3 / 8);
}

/// An edge without length, one turned about and vertices thrown together by whatever else acts on them: forces stay
/// finite and the strand comes back to its rest shape.
template <class World>
void expect_recovery() {
  for (const bool curled : {false, true}) {
    World world;
    StrandRules rules;
    rules.radius = 0.01;
    rules.material = material_of(1, 1, rules.radius);
    rules.material.stretch_scale = 1e-2;
    rules.material.drag = 2;
    const auto line = curled ? helix(0.2, 0.5, 1.5, 16) : straight_line({{0, 0, 0}}, {{1, 0, 0}}, 16);
    add_strands(world.seed, strands_of({line}), rules);
    world.constants.scheme = RodScheme::backward_euler;
    world.load();
    std::vector<Vec3> broken = line;
    broken[5] = broken[6];
    broken[9] = broken[8] - (line[9] - line[8]) + Vec3{{0, 0.02, 0.01}};
    broken[12] = broken[13] = broken[14];
    world.place(broken);
    for (int s = 0; s < 2000; ++s) {
      world.step(0.01);
      evaluate_rods(world.ex, world.mesh, world.state);
      ASSERT_LT(world.state.speed, 100) << "step " << s;  // a strand's length in a step
    }
    for (std::size_t i = 0; i < line.size(); ++i)
      EXPECT_LT(length(world.x(Index(i)) - line[i]), 1e-3) << (curled ? "curled, vertex " : "straight, vertex ") << i;
  }
}
TEST(Rod, RecoversFromCollapse) {
  expect_recovery<RodWorld>();
  expect_recovery<RodWorldOf<float>>();
}

TEST(Rod, BadStrandsAreNamed) {
  const auto message = [](const std::vector<Vec3>& points) {
    RodSeed seed;
    StrandRules rules;
    rules.name = "wig.ply";
    try {
      add_strands(seed, strands_of({straight_line({{0, 0, 0}}, {{1, 0, 0}}, 4), points}), rules);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::bad_input);
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(message({{{0, 0, 0}}, {{1, 0, 0}}, {{1, 0, 0}}}),
            "wig.ply: strand 2 has no length between points 2 and 3; remove one of them");
  EXPECT_NE(message({{{0, 0, 0}}, {{1, 0, 0}}}).find("wig.ply: strand 2 has 2 points and needs 3"), std::string::npos);
  EXPECT_EQ(message({{{0, 0, 0}}, {{1, 0, 0}}, {{NAN, 0, 0}}}),
            "wig.ply: strand 2 has no finite position at point 3; mend it");
  EXPECT_NE(message({{{0, 0, 0}}, {{1, 0, 0}}, {{0.5, 0, 0}}}).find("folded back on itself at point 2"),
            std::string::npos);
}

/// More strands than arrays by rows have numbers for are refused before anything is made of them, not wrapped around.
TEST(Rod, RefusesMoreRowsThanHaveNumbers) {
  RodWorldOf<float> world;
  RodBody body;
  body.strands.end = 2;
  world.seed.bodies = {body};
  world.seed.start = {0, 170'000'000, 170'000'002};
  try {
    world.load();
    FAIL() << "13 numbers for each of 170 million rows";
  } catch (const DeviceError& error) {
    EXPECT_NE(std::string(error.what()).find("there can be 165191049; ask for fewer strands"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace tribo::TRIBO_BACKEND::test

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>

#include "rod_world.h"
#include "tribo/stages/rod/collide.h"

/// \file
/// Contact between strands (formulas E.11, E.12; experiments_hair.md), without a grid. Lengths are in centimeters and
/// masses in grams, as in the experiments: hair of radius 0.004, 1.3 g/cm^3.

namespace tribo::TRIBO_BACKEND::test {
namespace {

constexpr double gravity = 981, radius = 0.004, dmin = 2 * radius;

RodMaterial hair() {
  RodMaterial material;
  material.density = 1.3;
  material.youngs_modulus = 4e10;
  material.stretch_scale = 1e-3;
  return material;
}

enum class Held { nowhere, at_ends, everywhere };

template <class Real>
struct ContactWorldOf : RodWorldOf<Real> {
  StrandContactRules rules;
  StrandCollisions<Real> collisions;
  Size pairs = 0, missed_pairs = 0, missed = 0, rounds = 0;
  bool clean = true;

  explicit ContactWorldOf(int threads = 1) : RodWorldOf<Real>(threads) {}

  void add(const std::vector<std::vector<Vec3>>& lines, Held held, double friction,
           const Vec3& velocity = Vec3::zero()) {
    StrandRules strand;
    strand.material = hair();
    strand.radius = radius;
    strand.friction = friction;
    strand.clamp_root = strand.clamp_tip = held != Held::nowhere;
    strand.velocity = velocity;
    const std::size_t first = this->seed.x.size();
    add_strands(this->seed, strands_of(lines), strand);
    for (std::size_t i = first; held == Held::everywhere && i < this->seed.x.size(); ++i) {
      this->seed.drive[i] = this->seed.drive[first];
      this->seed.v[i] = Vec3::zero();
    }
  }
  void step(double dt) {
    begin_rods(this->ex, this->state, this->work);
    rod_step(this->ex, this->constants, this->mesh, this->time, dt, this->state, this->work);
    const StrandContactReport report =
        collide_strands(this->ex, rules, this->mesh, dt, this->state, this->work, collisions);
    move_rods(this->ex, this->mesh, dt, this->state, this->work);
    this->time += dt;
    pairs += report.pairs;
    missed_pairs += report.missed_pairs.pairs;
    missed += report.missed.pairs;
    rounds += report.rounds;
    clean = clean && report.clean;
  }
  double energy() {
    double sum = 0;
    for (const ObjectSums& s : measure_rods(this->ex, this->constants, this->mesh, this->state))
      sum += s.kinetic + s.elastic + s.gravity;
    return sum;
  }
  Vec3 momentum() {
    Vec3 sum = Vec3::zero();
    for (Index i = 0; i < this->mesh.vertices; ++i) sum += this->seed.mass[std::size_t(i)] * this->v(i);
    return sum;
  }
};
using ContactWorld = ContactWorldOf<double>;

/// A strand thrown down at 100 cm/s onto one across, which is held at its ends.
template <class Real>
struct TwoStrands : ContactWorldOf<Real> {
  TwoStrands(double offset, bool fail_safe) {
    this->rules.fail_safe = fail_safe;
    this->add({straight_line({{-3.2, 0.16 * offset, 0}}, {{3.2, 0.16 * offset, 0}}, 40)}, Held::at_ends, 0.3);
    this->add({straight_line({{0.16 * 0.61 * offset, -3.2, 0.1}}, {{0.16 * 0.61 * offset, 3.2, 0.1}}, 40)}, Held::nowhere, 0.3,
              {{0, 0, -100}});
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
      world.rules.iterations = 0;
      while (world.time < 0.02) world.step(dt);
      EXPECT_TRUE(world.above());
      EXPECT_TRUE(world.clean);
      EXPECT_EQ(world.missed, 0);
      before += world.missed_pairs;
    }
    EXPECT_GT(before, 0);
  }
}

/// Velocity along an incline of 20 degrees after 0.1 s, of a strand that lies across two rails, or along two bars.
double sliding_speed(double friction, bool across, double dt) {
  ContactWorld world;
  const double a = pi / 9;
  if (across) {
    world.add({straight_line({{-1, -0.5, 0}}, {{3, -0.5, 0}}, 8), straight_line({{-1, 0.5, 0}}, {{3, 0.5, 0}}, 8)},
              Held::everywhere, 1);
    world.add({straight_line({{0, -0.8, dmin}}, {{0, 0.8, dmin}}, 10)}, Held::nowhere, friction);
  } else {
    world.add({straight_line({{-1, -0.5, 0}}, {{-1, 0.5, 0}}, 4), straight_line({{1, -0.5, 0}}, {{1, 0.5, 0}}, 4)},
              Held::everywhere, 1);
    world.add({straight_line({{-4, 0, dmin}}, {{3, 0, dmin}}, 44)}, Held::nowhere, friction);
  }
  world.load();
  world.set_gravity({{gravity * std::sin(a), 0, -gravity * std::cos(a)}});
  const int steps = int(std::lround(0.1 / dt));
  for (int k = 0; k < steps; ++k) world.step(dt);
  Vec3 momentum = Vec3::zero();
  double mass = 0;
  for (std::size_t i = 0; i < world.seed.x.size(); ++i)
    if (world.seed.drive[i] < 0) {
      momentum += world.seed.mass[i] * world.v(Index(i));
      mass += world.seed.mass[i];
    }
  return momentum[0] / mass;
}

// v = g (sin a - mu cos a) t where mu < tan a = 0.364; rest above (Coulomb).
TEST(StrandContact, SlidesDownAnInclineAsCoulombSays) {
  const double a = pi / 9;
  for (const double dt : {1e-3, 2.5e-4})
    for (const double mu : {0.0, 0.1, 0.2, 0.3}) {
      const double expected = gravity * (std::sin(a) - mu * std::cos(a)) * 0.1, v = sliding_speed(mu, true, dt);
      EXPECT_NEAR(v, expected, 0.03 * expected) << "mu " << mu << " dt " << dt;
      RecordProperty("mu_" + std::to_string(mu) + "_dt_" + std::to_string(dt), std::to_string(v / expected));
    }
  EXPECT_LT(std::abs(sliding_speed(0.5, true, 1e-3)), 0.01);
}

}  // namespace
}  // namespace tribo::TRIBO_BACKEND::test

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "precisions.h"
#include "rod_world.h"

/// \file
/// What strands keep where nothing touches and nothing damps them: energy does not come from nowhere, and what spins goes
/// on spinning.

namespace tribo::TRIBO_BACKEND::test {
namespace {

constexpr double strand_length = 0.2;  // [m]
constexpr Vec3 gravity{{0, -9.81, 0}};

struct Kind {
  int segments;
  double radius;  ///< [m]
  double stretch_scale;
  bool curled;
  double dt;  ///< [s]

  std::string name() const {
    return std::to_string(segments) + " segments, radius " + std::to_string(1e6 * radius) + " um, stretch_scale " +
           std::to_string(stretch_scale) + (curled ? ", curled" : ", straight") + ", dt " + std::to_string(1e6 * dt) +
           " us";
  }
};
std::vector<Vec3> shape_of(const Kind& kind) {
  return kind.curled ? helix(0.004, 0.04, 4, kind.segments)
                     : straight_line(Vec3::zero(), {{strand_length, 0, 0}}, kind.segments);
}
template <class Real>
void load(RodWorldOf<Real>& world, const Kind& kind, bool clamped) {
  StrandRules rules;
  rules.radius = kind.radius;
  rules.material.stretch_scale = kind.stretch_scale;
  rules.clamp_root = clamped;
  add_strands(world.seed, strands_of({shape_of(kind)}), rules);
  world.load();
}

template <class Real>
class StrandEnergy : public testing::Test {};
TYPED_TEST_SUITE(StrandEnergy, Precisions, PrecisionName);

/// From coarse to fine, soft to stiff, in short and in long steps.
std::vector<Kind> all_kinds() {
  std::vector<Kind> kinds;
  for (const int segments : {10, 40, 175})
    for (const double radius : {4e-5, 3e-4})
      for (const double stretch_scale : {1e-3, 1.0})
        for (const bool curled : {false, true})
          for (const double dt : {2e-4, 2e-3})
            if (segments < 100 || dt > 1e-3) kinds.push_back({segments, radius, stretch_scale, curled, dt});
  return kinds;
}

/// The most that energy was above what it was at the start.
template <class Real>
double largest_gain(RodWorldOf<Real>& world, const Kind& kind) {
  const auto energy = [&] {
    const ObjectSums now = world.sums();
    return now.kinetic + now.elastic + now.gravity;
  };
  const double start = energy();
  double most = 0;
  const int steps = kind.dt > 1e-3 ? 1500 : 3000;
  for (int s = 0; s < steps; ++s) {
    world.step(kind.dt);
    if (s < 20 || s % 10 == 0) most = std::max(most, energy() - start);
  }
  return most;
}

/// Nothing that is too fast for a step gains from the slow motion of the rest.
TYPED_TEST(StrandEnergy, OfASwingingStrandNeverRises) {
  for (const Kind& kind : all_kinds()) {
    RodWorldOf<TypeParam> world;
    load(world, kind, true);
    world.set_gravity(gravity);
    const double scale = world.sums().mass * 9.81 * strand_length;
    EXPECT_LT(largest_gain(world, kind), 1e-4 * scale) << kind.name();
  }
}

/// Nor from a blow that no segment saw coming: a quarter of the rod moves, and the rest does not yet.
TYPED_TEST(StrandEnergy, OfAStruckRodNeverRises) {
  for (const Kind& kind : all_kinds()) {
    // Real stretching is so stiff that what a segment lengthens by turning, to second order in the way of a step, is
    // more energy than the blow's.
    if (kind.stretch_scale > 0.5) continue;
    RodWorldOf<TypeParam> world;
    load(world, kind, false);
    for (Index i = 0; i < world.mesh.vertices / 4; ++i) world.state.v.c[1].data()[i] = TypeParam(1);
    const double scale = world.sums().kinetic;
    EXPECT_LT(largest_gain(world, kind), 1e-4 * scale) << kind.name();
  }
}

/// Free rods turn on, whatever the step: to a hundredth in a turn, and no faster than before.
TYPED_TEST(StrandEnergy, SpinIsKept) {
  for (const Kind& kind : all_kinds()) {
    RodWorldOf<TypeParam> world;
    load(world, kind, false);
    constexpr double spin = 10, time = 1;
    Vec3 center = Vec3::zero();
    for (Index i = 0; i < world.mesh.vertices; ++i) center += (1.0 / world.mesh.vertices) * world.x(i);
    for (Index i = 0; i < world.mesh.vertices; ++i) {
      const Vec3 v = cross(Vec3{{0, 0, spin}}, world.x(i) - center);
      for (int k = 0; k < 3; ++k) world.state.v.c[k].data()[i] = TypeParam(v[k]);
    }
    const auto about_center = [&] {
      const ObjectSums sums = world.sums();
      return (sums.angular_momentum - cross((1 / sums.mass) * sums.mass_position, sums.momentum))[2];
    };
    const double first = about_center(), turns = spin * time / (2 * pi);
    for (int s = 0; s < int(time / kind.dt); ++s) world.step(kind.dt);
    EXPECT_GT(about_center() / first, std::pow(0.99, turns)) << kind.name();
    EXPECT_LT(about_center() / first, 1 + 1e-4) << kind.name();
  }
}

}  // namespace
}  // namespace tribo::TRIBO_BACKEND::test

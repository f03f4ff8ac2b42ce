#include <gtest/gtest.h>

#include <algorithm>

#include "joint_world.h"

/// \file
/// Joints of rigid bodies against mechanics: a pendulum, a chain, a loop.

namespace tribo::TRIBO_BACKEND::test {
namespace {

const Vec3d z_axis = {{0, 0, 1}};

double distance(const Vec3d& p, const Vec3d& q) { return std::sqrt(squared_norm(p - q)); }

/// Promise: a rod that falls from the horizontal about one end swings with 1.1803 of the period of small swings, within
/// 0.1 %, keeps its energy within w dt of the most it turns, and its end in place.
TEST(RigidJoint, PendulumSwings) {
  for (const double dt : {2e-3, 1e-3}) {
    JointWorld w;
    const double l = 1;
    const Index rod = w.rod(2, {{0, 0, 0}}, {{l, 0, 0}});
    w.join(HingeJoint<double>{}, JointWorld::world, rod, {{0, 0, 0}}, z_axis);
    w.start();
    const double small = 2 * pi * std::sqrt(2 * l / (3 * 9.81)), fastest = std::sqrt(3 * 9.81 / l), energy = w.energy();
    std::vector<double> crossings;
    double before = w.present().value;
    for (int k = 0; k < 40 / dt; ++k) {
      w.step(dt);
      const double now = w.present().value + pi / 2;
      if (before > 0 && now <= 0) crossings.push_back(w.time - dt + dt * before / (before - now));
      before = now;
      EXPECT_LT(distance(w.point(rod, {{0, 0, 0}}), {{0, 0, 0}}), 1e-12);
      EXPECT_NEAR(w.energy(), energy, fastest * dt * 9.81 * l);
    }
    ASSERT_GT(crossings.size(), 10U);
    const double period = (crossings.back() - crossings.front()) / static_cast<double>(crossings.size() - 1);
    EXPECT_NEAR(period / small, 1.18034, 0.001 * 1.18034);
  }
}

/// Promise: a chain of 50 rods between two points stays together within a millionth of its length while it swings from
/// a V, and gains no energy.
TEST(RigidJoint, ChainHangs) {
  JointWorld w;
  const std::size_t n = 50;
  const double length = 5, span = 3, depth = std::sqrt(length * length - span * span) / 2;
  std::vector<Vec3d> p;
  for (std::size_t k = 0; k <= n; ++k) {
    const double s = static_cast<double>(k) / n;
    p.push_back({{span * s, -2 * depth * std::min(s, 1 - s), 0}});
  }
  std::vector<Index> links;
  for (std::size_t k = 0; k < n; ++k) links.push_back(w.rod(0.1, p[k], p[k + 1]));
  w.join(BallJoint<double>{}, JointWorld::world, links[0], p[0]);
  for (std::size_t k = 1; k < n; ++k) w.join(BallJoint<double>{}, links[k - 1], links[k], p[k]);
  w.join(BallJoint<double>{}, links.back(), JointWorld::world, p.back());
  w.start();
  const double energy = w.energy(), scale = 0.1 * n * 9.81 * depth;
  for (int k = 0; k < 3000; ++k) {
    w.step(1e-3);
    if (k % 100 != 99) continue;
    for (std::size_t i = 1; i < n; ++i)
      EXPECT_LT(distance(w.point(links[i], p[i]), w.point(links[i - 1], p[i])), 1e-6 * length);
    EXPECT_LT(w.energy(), energy + 1e-3 * scale);
  }
}

/// Promise: the four joints of a loop hold within 1e-6 m while it turns over and over, and it keeps its energy to a
/// hundredth of what it swings by.
TEST(RigidJoint, FourBar) {
  JointWorld w;
  const Vec3d a{{0, 0, 0}}, b{{0.2, 0.5, 0}}, c{{1.3, 0.9, 0}}, d{{1, 0, 0}};
  const Index i = w.rod(1, a, b), j = w.rod(2, b, c), k = w.rod(1, c, d);
  w.join(HingeJoint<double>{}, -1, i, a, z_axis);
  w.join(HingeJoint<double>{}, i, j, b, z_axis);
  w.join(HingeJoint<double>{}, j, k, c, z_axis);
  w.join(HingeJoint<double>{}, k, -1, d, z_axis);
  w.start();
  const double energy = w.energy(), swing = 4 * 9.81 * 1.0;
  for (int s = 0; s < 10000; ++s) {
    w.step(1e-3);
    EXPECT_LT(std::max({distance(w.point(i, a), a), distance(w.point(i, b), w.point(j, b)),
                        distance(w.point(j, c), w.point(k, c)), distance(w.point(k, d), d)}),
              1e-6);
    EXPECT_NEAR(w.energy(), energy, 0.01 * swing);
  }
}

}  // namespace
}  // namespace tribo::TRIBO_BACKEND::test

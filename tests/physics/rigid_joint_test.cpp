#include <gtest/gtest.h>

#include "joint_world.h"

/// \file
/// Joints of rigid bodies against mechanics: pendulums, chains, loops, motors.

namespace tribo::TRIBO_BACKEND::test {
namespace {

const Vec3d z_axis = {{0, 0, 1}};

TEST(RigidJoint, PendulumSwings) {
  for (const double dt : {2e-3, 1e-3}) {
    JointWorld w;
    const double l = 1;
    const Index rod = w.rod(2, {{0, 0, 0}}, {{l, 0, 0}});
    w.join(HingeJoint<double>{}, JointWorld::world, rod, {{0, 0, 0}}, z_axis);
    w.start();
    const double T0 = 2 * pi * std::sqrt(2 * l / (3 * 9.81));
    std::vector<double> crossings;
    double before = w.present().value, least = 1e9, most = -1e9, off = 0;
    double e0 = w.energy();
    Vec3d v0 = w.v(rod), w0 = w.w(rod);
    for (int k = 0; k < 40 / dt; ++k) {
      w.step(dt);
      const double now = w.present().value + pi / 2;
      if (before > 0 && now <= 0) crossings.push_back(w.time - dt + dt * before / (before - now));
      before = now;
      off = std::max(off, std::sqrt(squared_norm(w.point(rod, {{0, 0, 0}}))));
      const double e = w.energy();
      least = std::min(least, e);
      most = std::max(most, e);
    }
    const double period = (crossings.back() - crossings.front()) / (double(crossings.size()) - 1);
    printf("dt %g period/T0 %.6f first %.6f last %.6f  energy %g .. %g (scale %g) off %g\n", dt, period / T0,
           (crossings[1] - crossings[0]) / T0, (crossings.back() - crossings[crossings.size() - 2]) / T0, least - e0,
           most - e0, 2 * 9.81 * 0.5 * l, off);
    EXPECT_NEAR(period / T0, 1.18034, 0.001 * 1.18034);
  }
}

TEST(RigidJoint, ChainHangs) {
  JointWorld w;
  const int n = 50;
  const double length = 5, span = 3, h = length / n;
  // begins as a zigzag-free V: two straight halves
  const double depth = std::sqrt(length * length - span * span) / 2;
  std::vector<Vec3d> p;
  for (int k = 0; k <= n; ++k) {
    const double s = double(k) / n;
    p.push_back({{span * s, -2 * depth * std::min(s, 1 - s), 0}});
  }
  std::vector<Index> links;
  for (int k = 0; k < n; ++k) links.push_back(w.rod(0.1, p[std::size_t(k)], p[std::size_t(k) + 1]));
  w.join(BallJoint<double>{}, JointWorld::world, links[0], p[0]);
  for (int k = 1; k < n; ++k)
    w.join(BallJoint<double>{}, links[std::size_t(k) - 1], links[std::size_t(k)], p[std::size_t(k)]);
  w.join(BallJoint<double>{}, links.back(), JointWorld::world, p.back());
  w.start();
  (void)h;
  for (int k = 0; k < 3000; ++k) {
    w.step(1e-3);
    if (k % 500 == 499) {
      double gap = 0;
      for (int i = 1; i < n; ++i)
        gap = std::max(gap, std::sqrt(squared_norm(w.point(links[std::size_t(i)], p[std::size_t(i)]) -
                                                   w.point(links[std::size_t(i) - 1], p[std::size_t(i)]))));
      printf("t %g energy %g middle %g gap %g\n", w.time, w.energy(), w.point(links[n / 2], p[n / 2])[1], gap);
    }
  }
}

TEST(RigidJoint, FourBar) {
  JointWorld w;
  const Vec3d a{{0, 0, 0}}, b{{0.2, 0.5, 0}}, c{{1.3, 0.9, 0}}, d{{1, 0, 0}};
  const Index i = w.rod(1, a, b), j = w.rod(2, b, c), k = w.rod(1, c, d);
  w.join(HingeJoint<double>{}, -1, i, a, z_axis);
  w.join(HingeJoint<double>{}, i, j, b, z_axis);
  w.join(HingeJoint<double>{}, j, k, c, z_axis);
  w.join(HingeJoint<double>{}, k, -1, d, z_axis);
  w.start();
  double gap = 0, e0 = w.energy();
  for (int s = 0; s < 10000; ++s) {
    w.step(1e-3);
    const auto dist = [&](const Vec3d& p, const Vec3d& q) { return std::sqrt(squared_norm(p - q)); };
    gap = std::max({gap, dist(w.point(i, a), a), dist(w.point(i, b), w.point(j, b)), dist(w.point(j, c), w.point(k, c)),
                    dist(w.point(k, d), d)});
    if (s % 2000 == 1999) printf("t %g gap %g energy %g\n", w.time, gap, w.energy() - e0);
  }
}

}  // namespace
}  // namespace tribo::TRIBO_BACKEND::test

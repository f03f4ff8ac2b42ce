#include "tribo/scene/motion.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <vector>

#include "tribo/core/errors.h"

namespace tribo {
namespace {

using Vec3 = Vec<double, 3>;
using Mat3 = Mat<double, 3>;
constexpr double pi = std::numbers::pi;

double norm(const Vec3& v) { return std::sqrt(squared_norm(v)); }

double difference(const Mat3& a, const Mat3& b) {
  double largest = 0;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) largest = std::max(largest, std::abs(a(i, j) - b(i, j)));
  return largest;
}

/// The rotation that a constant angular velocity makes in a time.
Mat3 rotated_by(const Vec3& angular_velocity, double time) {
  const double angle = norm(angular_velocity) * time;
  return rotation_matrix({angular_velocity, angle * 180 / pi});
}

Keyframe turned(double time, const Vec3& axis, double degrees) { return {time, Vec3::zero(), {axis, degrees}}; }

const Vec3 x_axis{{1, 0, 0}}, y_axis{{0, 1, 0}}, z_axis{{0, 0, 1}};

Motion random_motion(unsigned seed) {
  std::mt19937 random(seed);
  const auto number = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  std::vector<Keyframe> keys;
  double time = number(-1, 1);
  for (int i = 0; i < 6; ++i) {
    Keyframe key{time, {{number(-1, 1), number(-1, 1), number(-1, 1)}}, {}};
    key.rotation = {{{number(-1, 1), number(-1, 1), number(-1, 1)}}, number(-400, 400)};
    // Some neighbors share an axis, some keys are not turned.
    if (i > 0 && i % 3 == 1) key.rotation.axis = keys.back().rotation.axis * 2.5;
    if (i % 5 == 3) key.rotation.degrees = 0;
    keys.push_back(key);
    time += number(0.1, 1);
  }
  return Motion(keys);
}

TEST(RotationMatrix, KnownRotations) {
  const Vec3 p = rotation_matrix({z_axis, 30}) * x_axis;
  EXPECT_NEAR(p[0], std::sqrt(3.0) / 2, 1e-15);
  EXPECT_NEAR(p[1], 0.5, 1e-15);
  const Vec3 q = rotation_matrix({{{2, 2, 2}}, 120}) * x_axis;
  EXPECT_NEAR(norm(q - y_axis), 0, 1e-15);
}

TEST(RotationMatrix, QuarterTurnsAreExact) {
  for (const double degrees : {-810.0, -90.0, 90.0, 180.0, 270.0, 360.0, 450.0, 3600.0}) {
    const Vec3 p = rotation_matrix({{{0, 0, 7}}, degrees}) * x_axis;
    EXPECT_EQ(p[0], std::round(std::cos(degrees * pi / 180))) << degrees;
    EXPECT_EQ(p[1], std::round(std::sin(degrees * pi / 180))) << degrees;
    EXPECT_EQ(p[2], 0);
  }
}

TEST(RotationMatrix, IsOrthonormal) {
  const Mat3 r = rotation_matrix({{{0.3, -2, 5}}, 77});
  EXPECT_LT(difference(r * transpose(r), Mat3::identity()), 1e-15);
  EXPECT_NEAR(determinant(r), 1, 1e-15);
}

TEST(Motion, StandsStillByDefault) {
  const Motion motion;
  const RigidMotion m = motion.over(3, 0.1);
  EXPECT_EQ(difference(m.pose.rotation, Mat3::identity()), 0);
  EXPECT_EQ(norm(m.velocity), 0);
  EXPECT_EQ(norm(m.angular_velocity), 0);
  EXPECT_EQ(motion.max_speed(0, 1, 10), 0);
}

TEST(Motion, HoldsBeforeFirstAndAfterLastKey) {
  const Motion motion({{1, {{1, 2, 3}}, {x_axis, 90}}, {2, {{4, 2, 3}}, {x_axis, 180}}});
  for (const double time : {-1.0, 2.0, 5.0}) {
    EXPECT_EQ(norm(motion.over(time, 0.5).velocity), 0);
    EXPECT_EQ(norm(motion.over(time, 0.5).angular_velocity), 0);
    EXPECT_EQ(motion.pose(time).at[0], time < 1 ? 1 : 4);
    EXPECT_EQ(motion.pose(time).rotation(1, 1), time < 1 ? 0 : -1);
  }
}

TEST(Motion, PassesThroughItsKeys) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    const Motion motion = random_motion(seed);
    for (const Keyframe& key : motion.keys()) {
      for (const double time : {key.time - 1e-14, key.time}) {
        EXPECT_LT(norm(motion.pose(time).at - key.at), 1e-12);
        EXPECT_LT(difference(motion.pose(time).rotation, rotation_matrix(key.rotation)), 1e-12);
      }
    }
  }
}

TEST(Motion, TwoTurnsAreTwoTurns) {
  const Motion motion({turned(0, z_axis, 0), turned(2, z_axis, 720)});
  EXPECT_NEAR(motion.pose(0.25).rotation(1, 0), 1, 1e-14);
  EXPECT_NEAR(motion.pose(0.75).rotation(1, 0), -1, 1e-14);
  // Also over steps of more than half a turn, and of whole turns.
  for (const double dt : {0.0, 1e-12, 0.01, 0.5, 0.7, 1.0, 1.75}) {
    EXPECT_NEAR(motion.over(0.25, dt).angular_velocity[2], 2 * pi, 1e-13) << dt;
  }
  EXPECT_EQ(motion.over(1e-3, 1e-20).angular_velocity[2], motion.over(1e-3, 0.5).angular_velocity[2]);
}

TEST(Motion, TurnsAboutOneAxisAddUpAcrossKeys) {
  const Motion motion({turned(0, z_axis, 0), turned(1, z_axis * 3.0, 360), turned(2, -z_axis, -1080)});
  EXPECT_NEAR(motion.over(0.5, 1).angular_velocity[2], pi + 2 * pi, 1e-13);
  EXPECT_NEAR(motion.over(-1, 4).angular_velocity[2], 6 * pi / 4, 1e-13);
}

TEST(Motion, KeyOfZeroDegreesTurnsAboutItsNeighborsAxis) {
  const Motion motion({turned(0, z_axis, 0), turned(1, x_axis, 400), turned(2, {{0, 0, 0}}, 0), turned(3, y_axis, 90)});
  EXPECT_NEAR(norm(motion.over(0.5, 0.1).angular_velocity - x_axis * (400 * pi / 180)), 0, 1e-13);
  EXPECT_NEAR(norm(motion.over(1.5, 0.1).angular_velocity + x_axis * (400 * pi / 180)), 0, 1e-13);
  EXPECT_NEAR(norm(motion.over(2.5, 0.1).angular_velocity - y_axis * (pi / 2)), 0, 1e-13);
}

TEST(Motion, GoesTheShortestWayBetweenAxes) {
  const Motion motion({turned(0, x_axis, 90), turned(1, y_axis, 90)});
  // The quaternion of the turn between them has a scalar part of 1/2: 120 degrees.
  for (const double time : {0.0, 0.3, 0.8}) {
    EXPECT_NEAR(norm(motion.over(time, 0.1).angular_velocity), 2 * pi / 3, 1e-13);
  }
  const Motion far({turned(0, x_axis, 350), turned(1, y_axis, -10)});
  EXPECT_LT(norm(far.over(0, 0.1).angular_velocity), 20 * pi / 180);
}

TEST(Motion, HalfTurnBetweenAxesIsFinite) {
  const Motion motion({turned(0, x_axis, 180), turned(1, y_axis, 180)});
  EXPECT_NEAR(std::abs(motion.over(0.2, 0.1).angular_velocity[2]), pi, 1e-13);
  EXPECT_LT(difference(motion.pose(1 - 1e-15).rotation, rotation_matrix({y_axis, 180})), 1e-13);
}

TEST(Motion, VelocitiesCarryThePoseToTheEndOfTheStep) {
  std::mt19937 random(5);
  for (unsigned seed = 0; seed < 50; ++seed) {
    const Motion motion = random_motion(seed);
    for (int k = 0; k < 50; ++k) {
      const double time = std::uniform_real_distribution<double>(-1.5, 5)(random);
      const double dt = std::pow(10, std::uniform_real_distribution<double>(-6, 0.3)(random));
      const RigidMotion m = motion.over(time, dt);
      const Pose end = motion.pose(time + dt);
      EXPECT_LT(norm(m.pose.at + m.velocity * dt - end.at), 1e-13);
      EXPECT_LT(difference(rotated_by(m.angular_velocity, dt) * m.pose.rotation, end.rotation), 1e-12);
    }
  }
}

TEST(Motion, SmallStepsComposeToThePose) {
  const Motion motion = random_motion(3);
  const double start = -2, end = 5;
  constexpr int step_count = 7000;
  Pose pose = motion.pose(start);
  for (int k = 0; k < step_count; ++k) {
    const double time = start + (end - start) * k / step_count, dt = (end - start) / step_count;
    const RigidMotion m = motion.over(time, dt);
    pose.at += m.velocity * dt;
    pose.rotation = rotated_by(m.angular_velocity, dt) * pose.rotation;
  }
  EXPECT_LT(norm(pose.at - motion.pose(end).at), 1e-11);
  EXPECT_LT(difference(pose.rotation, motion.pose(end).rotation), 1e-11);
}

TEST(Motion, StepOfNoLengthGivesTheVelocityToCome) {
  const Motion motion({{0, Vec3::zero(), {}}, {1, {{2, 0, 0}}, {z_axis, 90}}, {2, {{2, 3, 0}}, {z_axis, 0}}});
  EXPECT_EQ(motion.over(-0.1, 0).velocity[0], 0);
  EXPECT_EQ(motion.over(0, 0).velocity[0], 2);
  EXPECT_EQ(motion.over(1, 0).velocity[0], 0);
  EXPECT_EQ(motion.over(1, 0).velocity[1], 3);
  EXPECT_NEAR(motion.over(1, 0).angular_velocity[2], -pi / 2, 1e-15);
  EXPECT_EQ(motion.over(2, 0).velocity[1], 0);
}

TEST(Motion, TinyStepAcrossAKeyKeepsItsPrecision) {
  const Motion motion({turned(0, x_axis, 0), turned(1, x_axis, 90), turned(2, y_axis, 90)});
  const double dt = 0x1p-40;
  const Vec3 before = motion.over(0.5, 0).angular_velocity, after = motion.over(1.5, 0).angular_velocity;
  const Vec3 mean = (before + after) * 0.5;
  EXPECT_NEAR(norm(motion.over(1 - dt / 2, dt).angular_velocity - mean), 0, 1e-10);
}

TEST(Motion, MaxSpeedIsReachedAndNotPassed) {
  std::mt19937 random(9);
  for (unsigned seed = 0; seed < 20; ++seed) {
    const Motion motion = random_motion(seed);
    const double time = -1, dt = 5, radius = 0.7;
    const double bound = motion.max_speed(time, dt, radius);
    double fastest = 0;
    for (int k = 0; k < 20000; ++k) {
      const RigidMotion m = motion.over(time + dt * std::uniform_real_distribution<double>(0, 1)(random), 0);
      std::normal_distribution<double> normal;
      Vec3 arm{{normal(random), normal(random), normal(random)}};
      arm = arm * (radius / norm(arm));
      fastest = std::max(fastest, norm(m.velocity + cross(m.angular_velocity, arm)));
    }
    EXPECT_LE(fastest, bound * (1 + 1e-12));
    EXPECT_GE(fastest, bound * 0.97);
  }
}

TEST(Motion, RefusesBadKeys) {
  EXPECT_THROW(Motion(std::vector<Keyframe>{}), Error);
  EXPECT_THROW(Motion({turned(1, x_axis, 0), turned(1, x_axis, 10)}), Error);
  EXPECT_THROW(Motion({turned(1, x_axis, 0), turned(0, x_axis, 10)}), Error);
  EXPECT_THROW(Motion({turned(0, Vec3::zero(), 10)}), Error);
}

}  // namespace
}  // namespace tribo

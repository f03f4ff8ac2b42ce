#include "tribo/matter/rigid/contact/points.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>

/// \file
/// One rigid body against many points by itself: laws of contact, momentum and energy, at any ratio of masses.

namespace tribo::TRIBO_BACKEND {
namespace {

using Points = std::vector<RigidPoint>;

PlacedBody ellipsoid_body() {
  PlacedBody body{};
  body.x = {{0.3, -0.2, 0.1}};
  body.rotation = Mat<double, 3>::identity();
  body.inverse_mass = 1;
  body.inverse_inertia = Sym<double, 3>::isotropic(0);
  body.inverse_inertia(0, 0) = 1 / (0.2 * 1.0);
  body.inverse_inertia(1, 1) = 1 / (0.2 * 1.64);
  body.inverse_inertia(2, 2) = 1 / (0.2 * 1.36);
  return body;
}

/// Around a body of half axes 1, 0.6 and 0.8, or below it, with `ratio` times its mass in all, spread over three powers
/// of ten.
Points around(const PlacedBody& body, Index number, int count, double ratio, double friction, bool both_sides,
              std::mt19937& random) {
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> exponent(-3, 0);
  const Vec3d axes{{1, 0.6, 0.8}};
  Points points;
  std::vector<double> mass;
  double sum = 0;
  for (int i = 0; i < count; ++i) {
    Vec3d d{{normal(random), normal(random), normal(random)}};
    if (!both_sides) d[1] = -std::abs(d[1]);
    d = (1 / std::sqrt(squared_norm(d))) * d;
    RigidPoint p{};
    p.body = number;
    for (int k = 0; k < 3; ++k) {
      p.at[k] = body.x[k] + d[k] * axes[k];
      p.n[k] = d[k] / axes[k];
    }
    p.n = (1 / std::sqrt(squared_norm(p.n))) * p.n;
    p.v = 0.5 * Vec3d{{normal(random), normal(random), normal(random)}};
    p.friction = friction;
    mass.push_back(std::pow(10, exponent(random)));
    sum += mass.back();
    points.push_back(p);
  }
  for (std::size_t i = 0; i < points.size(); ++i) points[i].inverse_mass = sum / (ratio * mass[i]);
  return points;
}

struct World {
  Exec ex;
  RigidWork work;
  RigidPoints points;
  std::vector<Index> untouched;

  World(const std::vector<PlacedBody>& bodies, const Points& all, int threads = 1)
      : ex(threads), untouched(bodies.size(), 0) {
    const auto n = static_cast<Index>(bodies.size());
    copy_to_device(ex, bodies.data(), work.body, n);
    copy_to_device(ex, untouched.data(), work.touched, n);
    points.count = static_cast<Index>(all.size());
    copy_to_device(ex, all.data(), points.point, points.count);
    list_points(ex, work, points);
  }
  const PlacedBody& body(int i) const { return work.body.data()[i]; }
};

Vec3d times(const Sym<double, 3>& inverse, const Vec3d& w) {  // a diagonal one
  return {{w[0] / inverse(0, 0), w[1] / inverse(1, 1), w[2] / inverse(2, 2)}};
}
double kinetic(const PlacedBody& b) {
  return 0.5 * squared_norm(b.v) / b.inverse_mass + 0.5 * dot(b.w, times(b.inverse_inertia, b.w));
}
Vec3d spin(const PlacedBody& b) { return (1 / b.inverse_mass) * cross(b.x, b.v) + times(b.inverse_inertia, b.w); }
double length(const Vec3d& a) { return std::sqrt(squared_norm(a)); }

struct Outcome {
  double momentum = 0, spin = 0;  ///< kept, of what has been exchanged
  double energy = 0;              ///< after over before
  double law = 0;                 ///< largest error of a velocity that the laws give [m/s]
};
Outcome judge(const World& world, const PlacedBody& before, const Points& points) {
  const PlacedBody& after = world.body(0);
  Vec3d momentum = (1 / before.inverse_mass) * (after.v - before.v), turn = spin(after) - spin(before);
  double exchanged = 1e-300, e0 = kinetic(before), e1 = kinetic(after);
  Outcome r;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const RigidPoint& p = points[i];
    const Vec3d& push = world.points.impulse.data()[i];
    momentum += push;
    turn += cross(p.at, push);
    exchanged += length(push);
    const Vec3d v = p.v + p.inverse_mass * push;
    e0 += 0.5 * squared_norm(p.v) / p.inverse_mass;
    e1 += 0.5 * squared_norm(v) / p.inverse_mass;
    const Vec3d relative = v - after.velocity_at(p.at);
    const double normal = dot(push, p.n), leaving = dot(relative, p.n) + p.allowed;
    const Vec3d slip = relative - dot(relative, p.n) * p.n, across = push - normal * p.n;
    // no approach, no pull, one of them 0; in the cone, and against the slip where that is not 0
    r.law = std::max({r.law, -leaving, -normal * p.inverse_mass, normal > 0 ? std::abs(leaving) : 0.0,
                      (length(across) - p.friction * normal) * p.inverse_mass});
    if (normal > 0 && length(slip) > 1e-6)
      r.law = std::max(r.law, p.inverse_mass * length(across + (p.friction * normal / length(slip)) * slip));
  }
  r.momentum = length(momentum) / exchanged;
  r.spin = length(turn) / exchanged;
  r.energy = e1 / e0;
  return r;
}

TEST(RigidPoints, LawsHoldAtAllRatiosOfMass) {
  std::mt19937 random(1);
  for (const double ratio : {1e-3, 1.0, 1e2, 1e4})
    for (const double friction : {0.0, 0.5, 1.5})
      for (const bool both_sides : {false, true}) {
        SCOPED_TRACE(testing::Message() << "ratio " << ratio << " friction " << friction << " sides " << both_sides);
        PlacedBody body = ellipsoid_body();
        body.v = {{0.3, -2, 0.1}};
        body.w = {{0.4, -1, 0.7}};
        Points points = around(body, 0, 2000, ratio, friction, both_sides, random);
        for (std::size_t i = 0; i < points.size(); i += 3) points[i].allowed = 0.1;
        World world({body}, points);
        const PointReport report = solve_points(world.ex, world.work, world.points);
        EXPECT_EQ(report.bodies, 1);
        EXPECT_EQ(report.unsettled, 0);
        const Outcome o = judge(world, body, points);
        EXPECT_LT(o.momentum, 1e-12);
        EXPECT_LT(o.spin, 1e-12);
        EXPECT_LE(o.energy, 1);
        // The body's velocity is right to 1e-8 of its change; what slips slower than the tenfold may as well stick.
        EXPECT_LT(o.law, 1e-5);
      }
}

TEST(RigidPoints, FewHeavyRoughPointsGainNoEnergy) {
  std::mt19937 random(2);
  Index unsettled = 0;
  for (int k = 0; k < 60; ++k) {
    PlacedBody body = ellipsoid_body();
    body.v = {{0.3, -2, 0.1}};
    body.w = {{1.4, -1, 0.7}};
    const Points points = around(body, 0, 50, 1e4, k % 2 ? 0.5 : 1.5, k % 4 < 2, random);
    World world({body}, points);
    unsettled += solve_points(world.ex, world.work, world.points).unsettled;
    const Outcome o = judge(world, body, points);
    EXPECT_LT(o.momentum, 1e-12) << k;
    EXPECT_LT(o.spin, 1e-12) << k;
    EXPECT_LE(o.energy, 1 + 1e-12) << k;
  }
  EXPECT_LE(unsettled, 9);
  RecordProperty("unsettled", unsettled);
  std::printf("unsettled %d of 60\n", unsettled);
}

/// What solving again finds does not depend on the impulses that were there before.
TEST(RigidPoints, SecondRoundTakesBackTheFirst) {
  std::mt19937 random(3);
  PlacedBody body = ellipsoid_body();
  body.v = {{0.3, -2, 0.1}};
  const Points points = around(body, 0, 300, 10, 0.3, false, random);
  World once({body}, points), twice({body}, points);
  const Vec3d kick{{0, 1.5, 0.4}};
  once.work.body.data()[0].v += kick;
  solve_points(once.ex, once.work, once.points);
  solve_points(twice.ex, twice.work, twice.points);
  twice.work.body.data()[0].v += kick;
  solve_points(twice.ex, twice.work, twice.points);
  EXPECT_LT(length(once.body(0).v - twice.body(0).v), 1e-6);
  EXPECT_LT(length(once.body(0).w - twice.body(0).w), 1e-6);
}

TEST(RigidPoints, WhatFollowsKeyframesPushesAndDoesNotYield) {
  std::mt19937 random(4);
  PlacedBody body = ellipsoid_body();
  body.inverse_mass = 0;
  body.inverse_inertia = Sym<double, 3>::isotropic(0);
  body.v = {{0, -1, 0}};
  const Points points = around(body, 0, 200, 1, 0.2, true, random);
  World world({body}, points);
  EXPECT_EQ(solve_points(world.ex, world.work, world.points).unsettled, 0);
  EXPECT_EQ(length(world.body(0).v - body.v), 0);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const RigidPoint& p = points[i];
    const Vec3d v = p.v + p.inverse_mass * world.points.impulse.data()[i];
    EXPECT_GT(dot(v - body.v, p.n), -1e-12);
  }
}

TEST(RigidPoints, SameBytesForAnyNumberOfThreads) {
  std::vector<std::uint64_t> bits[3];
  const int threads[] = {1, 2, 5};
  for (int t = 0; t < 3; ++t) {
    std::mt19937 random(5);
    std::vector<PlacedBody> bodies(7, ellipsoid_body());
    Points points;
    for (Index b = 0; b < 7; ++b) {
      bodies[static_cast<std::size_t>(b)].v = {{0.1 * b, -1, 0.2}};
      if (b == 3) continue;  // touches nothing
      const Points own = around(bodies[0], b, 37 + 400 * b, std::pow(10, b - 3), 0.4, b % 2 == 0, random);
      points.insert(points.end(), own.begin(), own.end());
    }
    World world(bodies, points, threads[t]);
    EXPECT_EQ(solve_points(world.ex, world.work, world.points).bodies, 6);
    for (int b = 0; b < 7; ++b)
      for (int k = 0; k < 3; ++k) {
        bits[t].push_back(std::bit_cast<std::uint64_t>(world.body(b).v[k]));
        bits[t].push_back(std::bit_cast<std::uint64_t>(world.body(b).w[k]));
      }
    EXPECT_EQ(world.body(3).v[0], 0.1 * 3);
  }
  EXPECT_EQ(bits[0], bits[1]);
  EXPECT_EQ(bits[0], bits[2]);
}

}  // namespace
}  // namespace tribo::TRIBO_BACKEND

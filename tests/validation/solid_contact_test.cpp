#include <gtest/gtest.h>

#include "../physics/solid_world.h"

/// \file
/// Contact of hybrid solids over longer times: rolling, stacks, unlike masses, thin plates.

namespace tribo::TRIBO_BACKEND::test {
namespace {

constexpr double h = 0.05;
constexpr double g = 9.81;

void add_floor(SolidWorld& w, double width, double friction) {
  w.add(box({{width, 0.1, 0.4}}, {static_cast<int>(width / h), 2, 8}).shift({{0, -0.05, 0}}),
        {.friction = friction, .kinematic = true});
}

/// A solid ball rolls without slipping at 5/7 of what a frictionless block gains.
TEST(SolidContact, BallRolls) {
  for (const bool on_collider : {false, true}) {
    SolidWorld w;
    const double a = 20 * 3.14159265358979323846 / 180, radius = 0.15;
    w.gravity = {{g * std::sin(a), -g * std::cos(a), 0}};
    const int body =
        w.add(ball(radius, 2, 2).shift({{-0.4, radius + (on_collider ? 0 : 0.5 * h), 0}}), {.friction = 0.5});
    if (on_collider) {
      w.add_collider(HalfSpace<double>{}, 0.5);
    } else {
      add_floor(w, 1.6, 0.5);
    }
    w.begin(h);
    const double dt = w.stable_dt();
    w.run(0.2, dt);
    const double before = w.velocity(body)[0];
    w.run(0.4, dt);
    const double exact = 5.0 / 7 * g * std::sin(a);
    EXPECT_NEAR((w.velocity(body)[0] - before) / 0.4, exact, 0.05 * exact);
    const double spin = -w.angular_momentum(body, w.center(body))[2] / (0.4 * w.mass(body) * radius);
    EXPECT_NEAR(spin, w.velocity(body)[0], 0.05 * w.velocity(body)[0]);
  }
}

/// Blocks that stand on each other, not quite flush, stay; the gaps do not close. Soft blocks would buckle.
TEST(SolidContact, StackOfThreeStands) {
  SolidWorld w;
  w.gravity = {{0, -g, 0}};
  std::vector<int> blocks;
  for (int k = 0; k < 3; ++k)
    blocks.push_back(w.add(cube(0.2, 4).shift({{0.01 * k, 0.1 + 0.5 * h + k * (0.2 + 0.5 * h), 0.007 * k}}),
                           {.stiffness = 1e6, .friction = 0.5}));
  add_floor(w, 0.6, 0.5);
  w.begin(h);
  const double dt = w.stable_dt();
  w.run(0.8, dt);
  std::vector<Vec3> before;
  for (const int b : blocks) before.push_back(w.center(b));
  w.run(0.4, dt);
  for (std::size_t k = 0; k < blocks.size(); ++k) {
    EXPECT_LT(length(w.center(blocks[k]) - before[k]), 0.1 * h) << k;
    EXPECT_GT(w.lowest(blocks[k], {{0, 1, 0}}),
              0.2 * static_cast<double>(k) + (0.3 + 0.25 * static_cast<double>(k)) * h);
  }
}

/// A light block on a heavy one lies still; a heavy one does not press through a light one.
TEST(SolidContact, UnlikeMassesStack) {
  for (const double ratio : {1e-3, 1e3}) {
    SolidWorld w;
    w.gravity = {{0, -g, 0}};
    const Stuff lower{.stiffness = ratio > 1 ? 2e7 : 2.5e5, .damping = ratio > 1 ? 500.0 : 50, .friction = 0.5};
    Stuff upper = lower;
    upper.density *= ratio;
    upper.stiffness *= ratio;
    upper.damping *= ratio;
    w.add(cube(0.2, 4).shift({{0, 0.1 + 0.5 * h, 0}}), lower);
    const int top = w.add(cube(0.2, 4).shift({{0.01, 0.3 + h, 0.007}}), upper);
    add_floor(w, 0.6, 0.5);
    w.begin(h);
    w.run(0.25, w.stable_dt());
    EXPECT_GT(w.center(top)[1], 0.3 + 0.4 * h) << ratio;
    EXPECT_LT(std::sqrt(2 * w.kinetic(top) / w.mass(top)), ratio > 1 ? 0.5 : 0.05) << ratio;
  }
}

/// The back of a plate is in reach of the grid, too, and must not spoil the distance to its front.
TEST(SolidContact, BlocksRestOnThinPlates) {
  for (const double thick : {0.25, 0.5, 1.0}) {
    SolidWorld w;
    w.gravity = {{0, -g, 0}};
    const int block = w.add(cube(0.2, 4).shift({{0, 0.1 + 0.5 * h, 0.0123}}), {.friction = 0.3});
    w.add(box({{0.6, thick * h, 0.4}}, {12, 1, 8}).shift({{0, -0.5 * thick * h, 0}}),
          {.friction = 0.3, .kinematic = true});
    w.begin(h);
    w.run(0.5, w.stable_dt());
    EXPECT_GT(w.lowest(block, {{0, 1, 0}}), 0.4 * h) << thick;
    EXPECT_LT(w.lowest(block, {{0, 1, 0}}), 0.7 * h) << thick;
    EXPECT_LT(std::sqrt(2 * w.kinetic(block) / w.mass(block)), 0.05) << thick;
  }
}

}  // namespace
}  // namespace tribo::TRIBO_BACKEND::test

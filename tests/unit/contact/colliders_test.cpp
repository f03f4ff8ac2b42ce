#include "tribo/contact/colliders.h"

#include <gtest/gtest.h>

/// \file
/// Particles beyond a collider are put back to the depth that is allowed, and no further.

namespace tribo::TRIBO_BACKEND {
namespace {

/// Where a particle at x is put by a collider of this shape.
Vec<double, 3> pushed(const Shape<double>& shape, bool inside, const Vec<double, 3>& x) {
  Exec ex(1);
  Colliders<double, 3> colliders;
  std::vector<ColliderSpec> specs(1);
  specs[0].shape = shape;
  specs[0].inside = inside;
  colliders.load(ex, specs, {});
  return colliders.place(ex, specs, 0, 1e-3, {}).pushed_out(x, 0.1, 1);
}
void expect_near(const Vec<double, 3>& a, const Vec<double, 3>& b) {
  for (int k = 0; k < 3; ++k) EXPECT_NEAR(a[k], b[k], 1e-12);
}

TEST(PushedOut, EachWallOfACornerActs) {
  expect_near(pushed(Box<double>{{{2, 2, 2}}}, true, {{1.3, -1.2, 0.5}}), {{1.1, -1.1, 0.5}});
  expect_near(pushed(Box<double>{{{2, 2, 2}}}, true, {{1.05, -1.2, 0.5}}), {{1.05, -1.1, 0.5}});
}

TEST(PushedOut, PartsThatOverlapActOnce) {
  const SimpleShape slab = Box<double>{{{4, 1, 4}}};
  std::vector<Compound::Part> parts;
  for (int i = 0; i < 6; ++i) parts.push_back({{{{0.1 * i, 0, 0}}}, slab});
  const Compound floor(Operation::unite, 0, parts);
  expect_near(pushed(floor, false, {{0, 0.2, 0}}), {{0, 0.4, 0}});
}

}  // namespace
}  // namespace tribo::TRIBO_BACKEND

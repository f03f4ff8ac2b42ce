#include "tribo/mesh/point_tree.h"

#include <gtest/gtest.h>

#include <random>

namespace tribo {
namespace {

using P = Vec<double, 3>;

std::size_t nearest_of_all(const std::vector<P>& points, const P& p) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < points.size(); ++i)
    if (squared_norm(points[i] - p) < squared_norm(points[best] - p)) best = i;
  return best;
}

/// The same as a look at all of them, also where several are as near: on a lattice, in one plane, in one place.
TEST(PointTree, FindsTheFirstOfTheNearest) {
  std::mt19937 random(3);
  const auto uniform = [&] { return 1e-9 * static_cast<double>(random() % 1000000000); };
  const auto whole = [&] { return static_cast<double>(random() % 6); };
  for (const std::size_t count : {1, 2, 3, 50, 700})
    for (int kind = 0; kind < 4; ++kind) {
      const auto draw = [&]() -> P {
        if (kind == 0) return {{uniform(), uniform(), uniform()}};
        if (kind == 1) return {{whole(), whole(), whole()}};
        if (kind == 2) return {{uniform(), 0.25, whole()}};
        return {{1, 2, 3}};
      };
      std::vector<P> points(count);
      for (P& x : points) x = draw();
      const PointTree tree(points);
      for (int trial = 0; trial < 300; ++trial) {
        const P p = trial % 3 == 0 ? P{{3 * uniform(), -uniform(), uniform()}} : draw();
        ASSERT_EQ(tree.nearest(p), nearest_of_all(points, p)) << count << " points of kind " << kind;
      }
    }
}

}  // namespace
}  // namespace tribo

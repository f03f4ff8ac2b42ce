#include "tribo/colliders/compound.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "tribo/colliders/all.h"
#include "tribo/scene/json_reader.h"
#include "tribo/scene/read_shape.h"

/// \file
/// Promise: unions, intersections and differences are those of the sets of points; away from seams a blend changes
/// nothing; normals are those of the combined distance.

namespace tribo {
namespace {

using P = Vec<double, 3>;

P random_point(std::mt19937& random, double extent) {
  std::uniform_real_distribution<double> place(-extent, extent);
  return {{place(random), place(random), place(random)}};
}
double norm(const P& v) { return std::sqrt(squared_norm(v)); }

Compound::Part part(const SimpleShape& shape, const P& at = P::zero(), const AxisAngle& turn = {}) {
  return {{at, rotation_matrix(turn)}, shape};
}
const SimpleShape box = Box<double>{{{1, 0.8, 0.6}}};
const SimpleShape ball = Sphere<double>{0.5};
const AxisAngle tilt{{{1, 2, 3}}, 40};
const P ball_at{{0.4, 0.3, 0.1}};

double distance(const Compound::Part& p, const P& x) {
  const P local = transpose(p.placement.rotation) * (x - p.placement.at);
  return std::visit([&](const auto& s) { return s.nearest(local).distance; }, std::get<SimpleShape>(p.shape));
}

TEST(Compound, IsTheSetThatItsOperationSays) {
  const Compound::Part a = part(box, {{0.1, 0, 0}}, tilt), b = part(ball, ball_at);
  std::mt19937 random(1);
  for (const Operation operation : {Operation::unite, Operation::intersect, Operation::difference}) {
    const Compound both(operation, 0, {a, b});
    for (int k = 0; k < 5000; ++k) {
      const P p = random_point(random, 1.2);
      const double da = distance(a, p), db = distance(b, p);
      const double expected = operation == Operation::unite       ? std::min(da, db)
                              : operation == Operation::intersect ? std::max(da, db)
                                                                  : std::max(da, -db);
      ASSERT_NEAR(both.nearest(p).distance, expected, 1e-14);
      ASSERT_NEAR(norm(both.nearest(p).normal), 1, 1e-14);
    }
  }
}

/// Brute force: the distance is exact outside of a union and nowhere too large.
TEST(Compound, DistanceIsNeverTooLarge) {
  const Compound::Part a = part(box, {{0.1, 0, 0}}, tilt), b = part(ball, ball_at), c = part(Torus<double>{0.6, 0.2});
  std::mt19937 random(2);
  for (const double blend : {0.0, 0.2})
    for (const Operation operation : {Operation::unite, Operation::intersect, Operation::difference}) {
      const Compound all(operation, blend, {a, b, c});
      const SurfaceMesh surface = all.surface();
      ASSERT_GT(surface.vertices.size(), 1000u);
      for (int k = 0; k < 200; ++k) {
        const P p = random_point(random, 1.5);
        double nearest = 1e300;
        for (const P& v : surface.vertices) nearest = std::min(nearest, norm(v - p));
        const double d = all.nearest(p).distance;
        ASSERT_LE(std::abs(d), nearest + 1e-9);
        if (operation == Operation::unite && blend == 0 && d > 0) ASSERT_NEAR(d, nearest, 0.02);  // vertices' spacing
      }
    }
}

TEST(Compound, BlendActsOnlyNearTheSeamAndSmoothly) {
  const Compound::Part a = part(box), b = part(ball, ball_at);
  const double blend = 0.15;
  std::mt19937 random(3);
  for (const Operation operation : {Operation::unite, Operation::intersect, Operation::difference}) {
    const Compound sharp(operation, 0, {a, b}), soft(operation, blend, {a, b});
    int changed = 0;
    for (int k = 0; k < 20000; ++k) {
      const P p = random_point(random, 1);
      const double da = distance(a, p), db = (operation == Operation::difference ? -1 : 1) * distance(b, p);
      const double gap = soft.nearest(p).distance - sharp.nearest(p).distance;
      if (std::abs(da - db) >= blend) {
        ASSERT_NEAR(gap, 0, 1e-15);
        continue;
      }
      ++changed;
      const double sign = operation == Operation::unite ? -1 : 1;  // fills a union's seam, takes from the others
      ASSERT_GE(sign * gap, 0);
      ASSERT_LE(sign * gap, blend / 4 + 1e-15);
    }
    EXPECT_GT(changed, 1000);
  }
}

TEST(Compound, NormalIsTheDirectionOfTheGradient) {
  const Compound inner(Operation::difference, 0.1, {part(box, P::zero(), tilt), part(ball, ball_at)});
  const Compound outer(Operation::unite, 0.2,
                       {Compound::Part{{{{-0.2, 0.1, 0}}, rotation_matrix({{{0, 1, 0}}, 25})}, inner},
                        part(Capsule<double>{0.2, 0.8}, {{0, 0.3, 0.4}})});
  std::mt19937 random(4);
  int compared = 0;
  for (int k = 0; k < 4000; ++k) {
    const P p = random_point(random, 1);
    constexpr double step = 1e-6;
    P gradient;
    double bend = 0;
    const P normal = outer.nearest(p).normal;
    for (int i = 0; i < 3; ++i) {
      P high = p, low = p;
      high[i] += step;
      low[i] -= step;
      gradient[i] = (outer.nearest(high).distance - outer.nearest(low).distance) / (2 * step);
      bend = std::max(bend, norm(outer.nearest(high).normal - normal));
    }
    if (bend > 1e-3 || norm(gradient) < 0.2) continue;  // across an edge of a part, or where sides balance
    ++compared;
    ASSERT_LE(norm(gradient), 1 + 1e-8);
    ASSERT_LT(norm((1 / norm(gradient)) * gradient - normal), 1e-4);
  }
  EXPECT_GT(compared, 3500);
}

TEST(Compound, NestedPartsMoveWithTheWhole) {
  const Compound inner(Operation::difference, 0, {part(box, {{0.2, 0, 0}}, tilt), part(ball, ball_at)});
  const Compound::Placement placement{{{0.5, -0.3, 0.2}}, rotation_matrix({{{3, 1, 0}}, 70})};
  const Compound outer(Operation::unite, 0, {Compound::Part{placement, inner}, part(ball, {{-2, 0, 0}})});
  std::mt19937 random(5);
  for (int k = 0; k < 2000; ++k) {
    const P p = random_point(random, 0.8);
    const P world = placement.rotation * p + placement.at;
    const double alone = inner.nearest(p).distance;
    ASSERT_NEAR(outer.nearest(world).distance, std::min(alone, norm(world + P{{2, 0, 0}}) - 0.5), 1e-13);
  }
}

TEST(Compound, VolumeAndBounds) {
  // Two halves of a box make the box; a ball in the middle of it leaves the rest.
  const SimpleShape half = Box<double>{{{0.5, 0.8, 0.6}}};
  const Compound whole(Operation::unite, 0, {part(half, {{-0.25, 0, 0}}), part(half, {{0.25, 0, 0}})});
  EXPECT_NEAR(whole.volume(3), 0.48, 1e-3);
  EXPECT_NEAR(whole.volume(2), 0.8, 1e-3);
  EXPECT_NEAR(whole.bounds().low[0], -0.5, 1e-15);
  EXPECT_NEAR(whole.bounds().high[1], 0.4, 1e-15);
  const Compound drilled(Operation::difference, 0, {part(box), part(Sphere<double>{0.2}, P::zero(), tilt)});
  EXPECT_NEAR(drilled.volume(3), 0.48 - Sphere<double>{0.2}.volume(3), 2e-4);
  const Compound lens(Operation::intersect, 0, {part(ball, {{0.3, 0, 0}}), part(ball, {{-0.3, 0, 0}})});
  const double cap = 0.2;  // height of each half of the lens
  EXPECT_NEAR(lens.volume(3), 2 * 3.14159265358979 * cap * cap * (0.5 - cap / 3), 2e-4);
  EXPECT_NEAR(lens.bounds().high[0], 0.2, 1e-15);
  const Compound crater(Operation::difference, 0, {part(HalfSpace<double>{}), part(ball)});
  EXPECT_FALSE(crater.bounds().bounded);
  EXPECT_TRUE(std::isinf(crater.volume(3)));
  const Compound soft(Operation::unite, 0.4, {part(ball), part(ball, {{0.2, 0, 0}})});
  std::mt19937 random(6);
  for (int k = 0; k < 20000; ++k) {
    const P p = random_point(random, 1.2);
    if (soft.nearest(p).distance > 0) continue;
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(p[i] >= soft.bounds().low[i] && p[i] <= soft.bounds().high[i]);
  }
}

std::vector<SurfacePoint<double, 3>> contacts(const Compound& shape, const P& p, bool inside) {
  std::vector<SurfacePoint<double, 3>> found;
  shape.each_contact(p, inside, 0.0, [&](const SurfacePoint<double, 3>& s) { found.push_back(s); });
  return found;
}

TEST(Compound, MaterialMeetsTheWallsOneByOne) {
  const Compound::Part floor = part(HalfSpace<double>{}), wall = part(Box<double>{{{0.2, 2, 2}}}, {{0.5, 0, 0}});
  const Compound corner(Operation::unite, 0, {floor, wall});
  const auto found = contacts(corner, {{0.45, -0.1, 0}}, false);  // in the floor and in the wall
  ASSERT_EQ(found.size(), 2u);
  EXPECT_NEAR(found[0].normal[1], 1, 1e-15);
  EXPECT_NEAR(found[1].normal[0], -1, 1e-15);
  EXPECT_EQ(contacts(corner, {{0.45, 0.1, 0}}, false).size(), 1u);
  EXPECT_TRUE(contacts(corner, {{0, 0.1, 0}}, false).empty());
  const Compound rounded(Operation::unite, 0.1, {floor, wall});  // one smooth surface
  EXPECT_EQ(contacts(rounded, {{0.45, -0.1, 0}}, false).size(), 1u);

  // A room with a pillar, from inside: beyond the walls, or in the pillar.
  const Compound room(Operation::difference, 0, {part(Cylinder<double>{1, 2}), part(Cylinder<double>{0.2, 3})});
  const auto pillar = contacts(room, {{0.1, 0, 0}}, true);
  ASSERT_EQ(pillar.size(), 1u);
  EXPECT_NEAR(pillar[0].normal[0], 1, 1e-15);
  EXPECT_NEAR(pillar[0].distance, -0.1, 1e-15);
  const auto outside = contacts(room, {{1.5, 0, 0}}, true);
  ASSERT_EQ(outside.size(), 1u);
  EXPECT_NEAR(outside[0].normal[0], -1, 1e-15);
  EXPECT_TRUE(contacts(room, {{0.5, 0, 0}}, true).empty());
  // From outside it is one solid, whose hole is open.
  EXPECT_TRUE(contacts(room, {{0.1, 0, 0}}, false).empty());
  EXPECT_EQ(contacts(room, {{0.5, 0, 0}}, false).size(), 1u);
}

/// Behind a corner every wall is felt by itself, as in a plain box (each_wall_of_box).
TEST(Compound, MaterialMeetsTheWallsOfEachPart) {
  const auto floor_and_side = [](const std::vector<SurfacePoint<double, 3>>& found) {
    ASSERT_EQ(found.size(), 2u);
    EXPECT_NEAR(found[0].normal[0], -1, 1e-15);
    EXPECT_NEAR(found[0].distance, -0.1, 1e-15);
    EXPECT_NEAR(found[1].normal[1], 1, 1e-15);
    EXPECT_NEAR(found[1].distance, -0.2, 1e-15);
  };
  const P beyond{{0.6, -0.7, 0}};
  const SimpleShape cavity = Box<double>{{{1, 1, 1}}};
  const Compound tub(Operation::difference, 0, {part(Box<double>{{{2, 2, 2}}}, {{0, -0.5, 0}}), part(cavity)});
  floor_and_side(contacts(tub, beyond, false));
  EXPECT_EQ(contacts(tub, {{0.6, 0.3, 0}}, false).size(), 1u);  // in a side wall
  const Compound rooms(Operation::unite, 0, {part(cavity), part(ball, {{-1, 0, 0}})});
  floor_and_side(contacts(rooms, beyond, true));
  const Compound room(Operation::intersect, 0, {part(cavity), part(Box<double>{{{3, 3, 3}}})});
  floor_and_side(contacts(room, beyond, true));
  EXPECT_EQ(
      contacts(Compound(Operation::difference, 0.3, {part(Box<double>{{{2, 2, 2}}}), part(cavity)}), beyond, false)
          .size(),
      1u);  // rounded: one surface

  // A basin of two boxes: where one of them ends, the floor goes on.
  const Compound basin(Operation::difference, 0,
                       {part(Box<double>{{{6, 2, 2}}}, {{0, -0.5, 0}}), part(cavity), part(cavity, {{0.5, 0, 0}})});
  for (const P& p : {P{{0.5, -0.6, 0}}, P{{0.5, -0.5, 0}}, P{{0, -0.6, 0}}}) {
    const auto found = contacts(basin, p, false);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_NEAR(found[0].normal[1], 1, 1e-15);
  }
  EXPECT_EQ(contacts(basin, {{1.1, -0.6, 0}}, false).size(), 2u);
}

TEST(Compound, ContactIsWhereTheDistanceSays) {
  const Compound inner(Operation::intersect, 0, {part(ball), part(box, {{0.2, 0, 0}}, tilt)});
  std::mt19937 random(7);
  for (const double blend : {0.0, 0.1})
    for (const Operation operation : {Operation::unite, Operation::intersect, Operation::difference}) {
      const Compound all(operation, blend,
                         {Compound::Part{{}, inner}, part(Capsule<double>{0.3, 0.5}), part(ball, ball_at)});
      for (int k = 0; k < 3000; ++k) {
        const P p = random_point(random, 1);
        const double d = all.nearest(p).distance;
        ASSERT_EQ(!contacts(all, p, false).empty(), d <= 0);
        ASSERT_EQ(!contacts(all, p, true).empty(), d >= 0);
        for (const bool inside : {false, true})
          for (const auto& s : contacts(all, p, inside)) {
            ASSERT_LE(s.distance, 0);
            ASSERT_NEAR(norm(s.normal), 1, 1e-12);
          }
      }
    }
}

TEST(Compound, SurfaceIsThatOfTheShapeWithItsCreases) {
  const Compound drilled(Operation::difference, 0, {part(box, P::zero(), tilt), part(ball, ball_at)});
  const SurfaceMesh mesh = drilled.surface();
  double largest = 0;
  int facing = 0;
  for (const P& v : mesh.vertices) largest = std::max(largest, std::abs(drilled.nearest(v).distance));
  EXPECT_LT(largest, 1e-3);
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    const P center = (1.0 / 3) * (mesh.corner(t, 0) + mesh.corner(t, 1) + mesh.corner(t, 2));
    facing += dot(drilled.nearest(center).normal, mesh.area(t)) > 0.8 * norm(mesh.area(t)) ? 1 : 0;
  }
  EXPECT_GT(facing, 0.98 * static_cast<double>(mesh.triangles.size()));
  EXPECT_NEAR(signed_volume(mesh, P::zero()), drilled.volume(3), 2e-3);
}

TEST(Compound, NestingDeeperThanKernelsFollowIsRefused) {
  Compound nested(Operation::unite, 0, {part(ball), part(box)});
  for (int depth = 2; depth < CompoundView<double, SimpleShape>::stack_size; ++depth)
    nested = Compound(Operation::unite, 0, {part(ball), Compound::Part{{}, nested}});
  EXPECT_NEAR(nested.nearest(P{{0, 2, 0}}).distance, 1.5, 1e-15);  // to the limit it works
  EXPECT_THROW(Compound(Operation::unite, 0, {part(ball), Compound::Part{{}, nested}}), Error);
  EXPECT_NO_THROW(Compound(Operation::unite, 0, {Compound::Part{{}, nested}, part(ball)}));  // the nested one first
}

Shape<double> read(const std::string& json) {
  Shape<double> shape;
  read_params(json, [&](ParamReader& in) { read_shape(in, shape, "a shape"); });
  return shape;
}

TEST(Compound, IsReadAndNests) {
  const Shape<double> shape = read(R"({"shape": {"difference": {"blend": 0.02, "shapes": [
    {"shape": {"box": [1, 1, 1]}, "at": [0, 0.5, 0]},
    {"shape": {"union": {"shapes": [{"shape": {"sphere": 0.3}}, {"shape": {"torus": {"radius": 0.4, "tube": 0.1}},
      "rotation": {"axis": [1, 0, 0], "degrees": 90}}]}}}]}}})");
  const auto* compound = std::get_if<Compound>(&shape);
  ASSERT_NE(compound, nullptr);
  int shapes = 0;
  compound->each_shape([&](const SimpleShape&, const Compound::Placement&) { ++shapes; });
  EXPECT_EQ(shapes, 3);
  EXPECT_LT(compound->nearest(P{{0.2, 0.8, 0.2}}).distance, 0);
  EXPECT_GT(compound->nearest(P{{0, 0.1, 0}}).distance, 0);     // in the ball
  EXPECT_GT(compound->nearest(P{{0, 0.4, 0.01}}).distance, 0);  // in the ring, which stands upright
}

TEST(Compound, MistakesAreReported) {
  const auto said = [](const std::string& json) {
    try {
      read(json);
    } catch (const SceneError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(said(R"({"shape": {"union": {"shapes": [{"shape": {"sphere": 1}}]}}})").find("expected two shapes or more"),
            std::string::npos);
  EXPECT_NE(said(R"({"shape": {"union": {"shapes": [{"shape": {"sphere": -1}}, {"shape": {"spere": 1}}]}}})")
                .find("did you mean \"sphere\"?"),
            std::string::npos);
  EXPECT_NE(said(R"({"shape": {"union": {"blend": -1, "shapes": []}}})").find("/shape/union/blend"), std::string::npos);
  EXPECT_NE(said(R"({"shape": {"union": {}}})").find("/shape/union/shapes: required key is missing"),
            std::string::npos);
}

}  // namespace
}  // namespace tribo

#include "tribo/matter/rigid/mass.h"

#include <gtest/gtest.h>

#include <numbers>

#include "tribo/mesh/solid.h"
#include "tribo/scene/motion.h"

/// \file
/// Promise: masses, centers and inertias are those of the integrals over the shapes: in closed form, exact for meshes
/// and for what is put together of parts that do not overlap, and to 1e-5 where parts cut into each other.

namespace tribo {
namespace {

using Vec3 = Vec<double, 3>;
constexpr double pi = std::numbers::pi;
constexpr double rounding = 1e-13;  ///< of some hundred operations

/// Largest difference of two, relative to the volume and powers of the size of what they are about.
double difference(const Moments& a, const Moments& b) {
  const double size2 = trace(b.second) / b.volume;
  double worst = std::abs(a.volume - b.volume) / b.volume;
  for (int k = 0; k < 3; ++k)
    worst = std::max(worst, std::abs(a.first[k] - b.first[k]) / (b.volume * std::sqrt(size2)));
  for (int k = 0; k < 6; ++k) worst = std::max(worst, std::abs(a.second.s[k] - b.second.s[k]) / (b.volume * size2));
  return worst;
}

const Pose somewhere{{{0.7, -0.2, 0.4}}, rotation_matrix({{{1, 2, -1}}, 50})};

SurfaceMesh placed(SurfaceMesh mesh, const Pose& pose) {
  for (Vec3& x : mesh.vertices) x = pose.rotation * x + pose.at;
  return mesh;
}

Compound compound(Operation operation, const std::vector<Compound::Part>& parts, double blend = 0) {
  return {operation, blend, parts};
}
Compound::Part part(const SimpleShape& shape, const Pose& pose = {}) { return {{pose.at, pose.rotation}, shape}; }

TEST(RigidMass, OfATetrahedronIsExact) {
  SurfaceMesh mesh;
  mesh.vertices = {Vec3::zero(), {{1, 0, 0}}, {{0, 1, 0}}, {{0, 0, 1}}};
  mesh.triangles = {{{0, 2, 1}}, {{0, 1, 3}}, {{0, 3, 2}}, {{1, 2, 3}}};
  Moments exact;
  exact.volume = 1.0 / 6;
  exact.first = Vec3::filled(1.0 / 24);
  for (int i = 0; i < 3; ++i)
    for (int j = i; j < 3; ++j) exact.second(i, j) = i == j ? 1.0 / 60 : 1.0 / 120;
  EXPECT_LT(difference(moments_of(mesh), exact), rounding);
}

TEST(RigidMass, OfABoxOfTrianglesIsThatOfTheBoxWhereverItIs) {
  const Box<double> box{{{0.3, 1.1, 0.7}}};
  const Moments exact = placed(moments_of(box), somewhere.rotation, somewhere.at);
  EXPECT_LT(difference(moments_of(placed(box.surface(), somewhere)), exact), rounding);
  const Sym<double, 3> inertia = moments_of(box).inertia();
  EXPECT_NEAR(inertia(1, 1), 0.231 * (0.09 + 0.49) / 12, 1e-15);
}

/// Far from the origin nothing is lost but what coordinates there cannot tell.
TEST(RigidMass, OfAMeshFarAwayKeepsItsDigits) {
  const Box<double> box{{{0.3, 1.1, 0.7}}};
  const Pose far{{{1000, -2000, 500}}, somewhere.rotation};
  const Moments m = moments_of(placed(box.surface(), far));
  const Sym<double, 3> inertia = m.inertia(), near = placed(moments_of(box), far.rotation, Vec3::zero()).inertia();
  EXPECT_NEAR(m.volume, 0.231, 1e-11);
  for (int k = 0; k < 6; ++k) EXPECT_NEAR(inertia.s[k], near.s[k], 1e-8 * trace(near));  // 2000^2 roundings
}

/// Inscribed polygons of n corners miss 2 pi^2 / 3 n^2 of a circle's area: a quarter with twice as many.
template <class Shape, class Profile>
void expect_convergence(const Shape& shape, const Profile& profile) {
  const Moments exact = moments_of(tribo::Shape<double>(shape));
  const double coarse = difference(moments_of(revolved_surface(profile(24), 48)), exact);
  const double fine = difference(moments_of(revolved_surface(profile(48), 96)), exact);
  EXPECT_LT(fine, 0.01) << shape.name;
  EXPECT_NEAR(coarse / fine, 4, 0.1) << shape.name;
}

TEST(RigidMass, OfRoundMeshesConvergesToClosedForms) {
  constexpr double pole = pi / 2;
  expect_convergence(Sphere<double>{0.6}, [](int n) { return std::vector<ProfilePiece>{arc(0.6, 0, pole, -pole, n)}; });
  expect_convergence(Capsule<double>{0.3, 0.8}, [](int n) {
    return std::vector<ProfilePiece>{arc(0.3, 0.4, pole, 0, n / 2), ProfilePiece{{{0.3, 0.4}}, {{0.3, -0.4}}},
                       arc(0.3, -0.4, 0, -pole, n / 2)};
  });
  expect_convergence(Cylinder<double>{0.3, 0.8}, [](int) {
    return std::vector<ProfilePiece>{{{{0, 0.4}}, {{0.3, 0.4}}}, {{{0.3, 0.4}}, {{0.3, -0.4}}}, {{{0.3, -0.4}}, {{0, -0.4}}}};
  });
  expect_convergence(Torus<double>{0.5, 0.2}, [](int n) {
    ProfilePiece profile;
    for (int i = 0; i <= n; ++i) {
      const double angle = -2 * pi * (i % n) / n;
      profile.push_back({{0.5 + 0.2 * std::cos(angle), 0.2 * std::sin(angle)}});
    }
    return std::vector<ProfilePiece>{profile};
  });
}

TEST(RigidMass, OfPartsThatDoNotOverlapIsTheirSum) {
  const Cylinder<double> handle{0.02, 0.4};
  const Box<double> head{{{0.06, 0.08, 0.16}}};
  const Pose on_top{{{0, 0.24, 0}}};  // they touch
  Moments sum = moments_of(handle);
  sum += placed(moments_of(head), on_top.rotation, on_top.at);
  EXPECT_LT(difference(moments_of(compound(Operation::unite, {part(handle), part(head, on_top)})), sum), rounding);
  // Also where they are far thinner than what surfaces are extracted with.
  const Box<double> sheet{{{1, 0.001, 1}}};
  sum = moments_of(sheet);
  sum += placed(moments_of(head), Mat<double, 3>::identity(), {{0, 0.5, 0}});
  EXPECT_LT(difference(moments_of(compound(Operation::unite, {part(sheet), part(head, {{{0, 0.5, 0}}})})), sum), rounding);
}

TEST(RigidMass, OfBoxesThatOverlapCountsWhatTheyShareOnce) {
  // An L of two bars that share a cube, as one box and what is beside it.
  const Compound l = compound(
      Operation::unite, {part(Box<double>{{{0.6, 0.2, 0.2}}}), part(Box<double>{{{0.2, 0.6, 0.2}}}, {{{-0.2, 0.2, 0}}})});
  Moments sum = moments_of(Box<double>{{{0.6, 0.2, 0.2}}});
  sum += placed(moments_of(Box<double>{{{0.2, 0.4, 0.2}}}), Mat<double, 3>::identity(), {{-0.2, 0.3, 0}});
  EXPECT_LT(difference(moments_of(l), sum), 1e-6);
  // Glued with a film that no cell of the whole would see.
  const Compound slabs = compound(
      Operation::unite, {part(Box<double>{{{1, 0.1, 1}}}), part(Box<double>{{{1, 0.1, 1}}}, {{{0, 0.0999, 0}}})});
  sum = placed(moments_of(Box<double>{{{1, 0.1999, 1}}}), Mat<double, 3>::identity(), {{0, 0.04995, 0}});
  EXPECT_LT(difference(moments_of(slabs), sum), 1e-5);
}

TEST(RigidMass, OfABoxWithABoreIsBoxWithoutCylinder) {
  const Box<double> block{{{0.4, 0.2, 0.4}}};
  const Cylinder<double> drill{0.1, 1}, bore{0.1, 0.2};
  const Pose beside{{{0.05, 0, 0}}};
  Moments rest = moments_of(block);
  rest -= placed(moments_of(bore), Mat<double, 3>::identity(), beside.at);
  EXPECT_LT(difference(moments_of(compound(Operation::difference, {part(block), part(drill, beside)})), rest), 1e-6);
  // A plate thinner than the cells of what is cut out of it.
  const Box<double> plate{{{0.4, 0.004, 0.4}}};
  rest = moments_of(plate);
  rest -= placed(moments_of(Cylinder<double>{0.1, 0.004}), Mat<double, 3>::identity(), beside.at);
  EXPECT_LT(difference(moments_of(compound(Operation::difference, {part(plate), part(drill, beside)})), rest), 1e-5);
}

TEST(RigidMass, OfALensAndHalfABallAreTheirClosedForms) {
  // Caps of height h of a ball: pi h^2 (3 r - h) / 3.
  const Sphere<double> ball{0.5};
  const Compound lens = compound(Operation::intersect, {part(ball, {{{0, 0.3, 0}}}), part(ball, {{{0, -0.3, 0}}})});
  EXPECT_NEAR(moments_of(lens).volume / (2 * pi * 0.04 * (1.5 - 0.2) / 3), 1, 1e-5);
  const Compound half = compound(Operation::intersect, {part(ball), part(HalfSpace<double>{})});
  const Moments m = moments_of(half);
  EXPECT_NEAR(m.volume / (0.5 * ball.volume(3)), 1, 1e-5);
  EXPECT_NEAR(m.center()[1], -0.375 * 0.5, 1e-5);
  EXPECT_NEAR(m.inertia()(1, 1) / (0.4 * m.volume * 0.25), 1, 1e-5);
  const Compound without = compound(Operation::difference, {part(ball), part(HalfSpace<double>{{{0, -1, 0}}})});
  EXPECT_LT(difference(moments_of(without), m), 1e-5);
}

TEST(RigidMass, OfNestedShapesFollowsTheirNesting) {
  // A cup: a cylinder without a smaller one, with a ball on its rim that touches nothing.
  const Compound cup = compound(Operation::difference,
                                {part(Cylinder<double>{0.1, 0.2}), part(Cylinder<double>{0.09, 0.2}, {{{0, 0.02, 0}}})});
  const Compound whole = compound(Operation::unite, {{{}, cup}, part(Sphere<double>{0.05}, {{{0.3, 0, 0}}})});
  Moments sum = moments_of(Cylinder<double>{0.1, 0.2});
  sum -= placed(moments_of(Cylinder<double>{0.09, 0.18}), Mat<double, 3>::identity(), {{0, 0.01, 0}});
  EXPECT_LT(difference(moments_of(cup), sum), 2e-5);  // 4e-6 of each of two that nearly cancel
  sum += placed(moments_of(Sphere<double>{0.05}), Mat<double, 3>::identity(), {{0.3, 0, 0}});
  EXPECT_LT(difference(moments_of(whole), sum), 2e-5);
}

}  // namespace
}  // namespace tribo

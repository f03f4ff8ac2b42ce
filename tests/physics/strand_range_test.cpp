#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

#include "precisions.h"
#include "rod_world.h"

/// \file
/// Strands over the range of what people make of them, from baby hair to cables, coarse and fine, in short and in long
/// steps, in both precisions: what mechanics says of them does not depend on any of it.

namespace tribo::TRIBO_BACKEND::test {
namespace {

constexpr double strand_length = 0.1;  // [m]

struct Kind {
  int segments;
  double radius;  ///< [m]
  double stretch_scale;
  bool curled, oblique;
};
std::vector<Kind> all_kinds() {
  std::vector<Kind> kinds;
  for (const int segments : {5, 20, 80, 200, 400})
    for (const double radius : {1e-5, 4e-5, 3e-4, 2e-3})
      for (const double stretch_scale : {1e-3, 0.03, 1.0})
        for (const bool curled : {false, true})
          for (const bool oblique : {false, true}) kinds.push_back({segments, radius, stretch_scale, curled, oblique});
  return kinds;
}
std::string name_of(const Kind& kind, double dt) {
  return std::to_string(kind.segments) + " segments, radius " + std::to_string(1e6 * kind.radius) +
         " um, stretch_scale " + std::to_string(kind.stretch_scale) + (kind.curled ? ", curled" : ", straight") +
         (kind.oblique ? ", oblique" : "") + ", dt " + std::to_string(1e6 * dt) + " us";
}
std::vector<Vec3> shape_of(const Kind& kind) {
  std::vector<Vec3> points = kind.curled ? helix(0.004, 0.02, 4, kind.segments)
                                         : straight_line(Vec3::zero(), {{strand_length, 0, 0}}, kind.segments);
  if (kind.oblique)
    for (Vec3& p : points) {
      const Vec3 axis = (1 / std::sqrt(14.0)) * Vec3{{1, 2, 3}};
      p = std::cos(0.7) * p + std::sin(0.7) * cross(axis, p) + ((1 - std::cos(0.7)) * dot(axis, p)) * axis;
    }
  return points;
}
/// Hair with the scene format's damping.
StrandRules rules_of(const Kind& kind, bool clamped) {
  StrandRules rules;
  rules.radius = kind.radius;
  rules.material.stretch_scale = kind.stretch_scale;
  rules.material.bend_damping = rules.material.stretch_damping = 1e-3;
  rules.clamp_root = clamped;
  return rules;
}
/// A body for each kind.
template <class Real>
void add_all(RodWorldOf<Real>& world, const std::vector<Kind>& kinds, bool clamped) {
  for (const Kind& kind : kinds) add_strands(world.seed, strands_of({shape_of(kind)}), rules_of(kind, clamped));
  world.load();
}

template <class Real>
class StrandRange : public testing::Test {};
TYPED_TEST_SUITE(StrandRange, Precisions, PrecisionName);

/// What moves by less than an atom's width in a minute does not move, however fast its root turns: strands that are
/// held by a floor and moved at one end have velocities that fall by decades from vertex to vertex, down to where their
/// squares are no numbers. (Theta' followed such velocities by a factor without bounds: a strand lying still got no
/// number as its velocity.)
TYPED_TEST(StrandRange, TinyVelocitiesAreNone) {
  constexpr int segments = 12, least = 13, most = 40;
  for (const double dt : {1e-5, 2e-3}) {
    RodWorldOf<TypeParam> world;
    for (int decade = least; decade <= most; ++decade) {
      StrandRules rules = rules_of({segments, 4e-5, 0.03, false, false}, true);
      rules.director = {{0, 1, 0}};
      rules.material.aspect = 1.5;
      rules.motion = Motion({{0, {{0, 0, 0}}, {}}, {1, {{0, 0, 0}}, {{{1, 0, 0}}, 2000}}});
      const std::size_t first = world.seed.v.size();
      add_strands(world.seed, strands_of({shape_of({segments, 4e-5, 0.03, false, false})}), rules);
      for (std::size_t i = first + 2; i < world.seed.v.size(); ++i)
        world.seed.v[i] = {{0, decade == most ? 0 : (i % 2 == 0 ? 1 : -1) * std::pow(10.0, -decade), 0}};
    }
    world.load();
    world.set_gravity({{0, -9.81, 0}});
    world.step(dt);
    constexpr Index each = segments + 1;
    for (Index b = 0; b < most - least; ++b)
      for (Index i = 0; i < each; ++i) {
        const Vec3 v = world.v(b * each + i), at_rest = world.v((most - least) * each + i);
        EXPECT_LT(length(v - at_rest), 1e-5 * 9.81 * dt) << "1e-" << least + b << " m/s, vertex " << i << ", dt " << dt;
      }
  }
}

/// However stiff its parts are against each other, a strand that touches nothing falls with g. (A matrix in which
/// stiffness and mass are added has no digits left for the mass in floats: 0.46 g, by 200 segments.)
TYPED_TEST(StrandRange, FallsWithG) {
  const std::vector<Kind> kinds = all_kinds();
  for (const double dt : {1e-5, 1e-4, 2e-3}) {
    RodWorldOf<TypeParam> world;
    add_all(world, kinds, false);
    world.set_gravity({{0, -9.81, 0}});
    constexpr int steps = 20;
    for (int s = 0; s < steps; ++s) world.step(dt);
    const std::vector<ObjectSums> measured = measure_rods(world.ex, world.constants, world.mesh, world.state);
    for (std::size_t b = 0; b < kinds.size(); ++b) {
      const ObjectSums& sums = measured[b];
      const double wanted = -9.81 * steps * dt;
      EXPECT_NEAR(sums.momentum[1] / sums.mass / wanted, 1, 1e-4) << name_of(kinds[b], dt);
      // As a whole: nothing of it moves against the rest.
      const Run vertices = world.mesh.body[b].vertices;
      const std::vector<Vec3> shape = shape_of(kinds[b]);
      const Vec3 tip = world.x(vertices.end - 1) - world.x(vertices.begin);
      EXPECT_LT(length(tip - (shape.back() - shape.front())), 1e-4 * strand_length) << name_of(kinds[b], dt);
    }
  }
}

/// An impulse on a free strand is all of the momentum it then has, and floats answer as doubles do.
TYPED_TEST(StrandRange, AnswersImpulsesWithTheirMomentum) {
  const std::vector<Kind> kinds = all_kinds();
  for (const double dt : {1e-5, 1e-4, 2e-3}) {
    RodWorldOf<TypeParam> world;
    RodWorld reference;
    add_all(world, kinds, false);
    add_all(reference, kinds, false);
    const auto answer = [&]<class Real>(RodWorldOf<Real>& of) {
      of.step(dt);  // leaves the matrix
      for (int k = 0; k < 3; ++k) std::fill_n(of.state.v.c[k].data(), of.mesh.vertices, Real(0));
      Field<Real, 3> impulse;
      impulse.resize_discard(of.mesh.vertices);
      for (int k = 0; k < 3; ++k) std::fill_n(impulse.c[k].data(), of.mesh.vertices, Real(0));
      for (const RodBody& body : of.mesh.body) {
        const Index at = (body.vertices.begin + 2 * body.vertices.end) / 3;
        for (int k = 0; k < 3; ++k)
          impulse.c[k].data()[at] = Real(0.01 * (k + 1) * of.seed.mass[std::size_t(body.vertices.begin + 1)]);
      }
      solve_strands(of.ex, of.mesh, impulse, nullptr, of.state, of.work);
    };
    answer(world);
    answer(reference);
    const std::vector<ObjectSums> measured = measure_rods(world.ex, world.constants, world.mesh, world.state);
    for (std::size_t b = 0; b < kinds.size(); ++b) {
      const Run vertices = world.mesh.body[b].vertices;
      const double m = world.seed.mass[std::size_t(vertices.begin + 1)];
      const Vec3 given = 0.01 * m * Vec3{{1, 2, 3}};
      EXPECT_LT(length(measured[b].momentum - given), 1e-4 * length(given)) << name_of(kinds[b], dt);
      double most = 0, off = 0;
      for (Index i = vertices.begin; i < vertices.end; ++i) {
        most = std::max(most, length(reference.v(i)));
        off = std::max(off, length(world.v(i) - reference.v(i)));
      }
      // A float knows a strain to four roundings: that much tension, as it comes, resists motion across in one and not
      // in the other.
      const RodBody& body = world.mesh.body[b];
      const double l = world.seed.length[std::size_t(vertices.begin)];
      const double noise =
          2.4e-7 * world.seed.stretch[std::size_t(vertices.begin)] * dt * (dt + body.stretch_damping) / (l * m);
      EXPECT_LT(off, (1e-4 + noise) * most) << name_of(kinds[b], dt);
    }
  }
}

/// What contact asks of a matrix, its inverse next to the diagonal, is what impulses find.
TYPED_TEST(StrandRange, KnowsItsCompliance) {
  const std::vector<Kind> kinds = all_kinds();
  for (const double dt : {1e-5, 2e-3}) {
    RodWorldOf<TypeParam> world;
    add_all(world, kinds, true);
    world.step(dt);
    segment_compliance(world.ex, world.mesh, world.work);
    Field<TypeParam, 3> impulse;
    impulse.resize_discard(world.mesh.vertices);
    for (int k = 0; k < 3; ++k) {
      std::fill_n(world.state.v.c[k].data(), world.mesh.vertices, TypeParam(0));
      std::fill_n(impulse.c[k].data(), world.mesh.vertices, TypeParam(0));
    }
    const auto place = [](const RodBody& body) { return (body.vertices.begin + body.vertices.end) / 2 + 1; };
    for (const RodBody& body : world.mesh.body) impulse.c[1].data()[place(body)] = TypeParam(1);
    solve_strands(world.ex, world.mesh, impulse, nullptr, world.state, world.work);
    for (std::size_t b = 0; b < kinds.size(); ++b) {
      const Index i = place(world.mesh.body[b]);
      const SegmentCompliance<TypeParam>& z = world.work.compliance.data()[i];
      const Vec3 own = world.v(i), next = world.v(i + 1);
      for (int k = 0; k < 3; ++k) {
        EXPECT_NEAR(double(z.own[Sym<double, 3>::at(k, 1)]), own[k], 1e-4 * length(own)) << name_of(kinds[b], dt);
        if (i + 1 < world.mesh.body[b].vertices.end) {
          EXPECT_NEAR(double(z.next[3 * k + 1]), next[k], 1e-4 * length(own)) << name_of(kinds[b], dt);
        }
      }
    }
  }
}

/// Strands that hang from a clamp come to where doubles have them.
TYPED_TEST(StrandRange, BendsUnderItsWeight) {
  std::vector<Kind> kinds;
  for (const int segments : {20, 175, 400})
    for (const double stretch_scale : {1e-3, 1.0})
      for (const bool curled : {false, true}) kinds.push_back({segments, 4e-5, stretch_scale, curled, true});
  RodWorldOf<TypeParam> world;
  RodWorld reference;
  const auto run = [&]<class Real>(RodWorldOf<Real>& of) {
    add_all(of, kinds, true);
    of.set_gravity({{0, -9.81, 0}});
    for (int s = 0; s < 300; ++s) of.step(1e-3);
  };
  run(world);
  run(reference);
  for (std::size_t b = 0; b < kinds.size(); ++b) {
    const Index tip = world.mesh.body[b].vertices.end - 1;
    EXPECT_LT(length(world.x(tip) - reference.x(tip)), 1e-3 * strand_length) << name_of(kinds[b], 1e-3);
  }
}

}  // namespace
}  // namespace tribo::TRIBO_BACKEND::test

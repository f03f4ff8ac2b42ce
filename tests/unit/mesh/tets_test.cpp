#include <gtest/gtest.h>
#include <oneapi/tbb/global_control.h>

#include <array>
#include <cmath>
#include <cstring>
#include <map>
#include <random>
#include <set>

#include "make_mesh.h"
#include "tribo/core/errors.h"
#include "tribo/matter/solids/tets.h"
#include "tribo/mesh/stuffing.h"
#include "tribo/mesh/tet_mesh.h"
#include "tribo/scene/json_reader.h"
#include "tribo/scene/motion.h"
#include "tribo/scene/read_shape.h"

/// \file
/// Promises: tets fill the shape and nothing else, with a closed boundary on its surface; none is so flat that it ruins
/// the time step; the same shape gives the same bytes.

namespace tribo {
namespace {

using P = Vec<double, 3>;

double norm(const P& v) { return std::sqrt(squared_norm(v)); }

TetMesh one_tet() {
  TetMesh mesh;
  mesh.vertices = {{{0, 0, 0}}, {{1, 0, 0}}, {{0, 1, 0}}, {{0, 0, 1}}};
  mesh.tets = {{{0, 1, 2, 3}}};
  return mesh;
}

/// How many triangles walk each edge from its first to its second vertex.
std::map<std::pair<int, int>, int> directed_edges(const TetBoundary& boundary) {
  std::map<std::pair<int, int>, int> edges;
  for (const auto& t : boundary.triangles)
    for (int k = 0; k < 3; ++k) ++edges[{t[k], t[(k + 1) % 3]}];
  return edges;
}

/// Vertices less edges and triangles: twice the number of closed parts without handles.
int expect_closed(const TetBoundary& boundary) {
  std::set<int> vertices;
  for (const auto& t : boundary.triangles)
    for (int k = 0; k < 3; ++k) vertices.insert(t[k]);
  const auto edges = directed_edges(boundary);
  int bad = 0;
  for (const auto& [edge, count] : edges) {
    const auto back = edges.find({edge.second, edge.first});
    bad += count != 1 || back == edges.end() || back->second != 1 ? 1 : 0;
  }
  EXPECT_EQ(bad, 0) << "edges that do not have two triangles, one each way";
  return static_cast<int>(vertices.size()) - static_cast<int>(edges.size() / 2) +
         static_cast<int>(boundary.triangles.size());
}

/// By the divergence theorem: wrong where a triangle looks inward.
double enclosed(const TetMesh& mesh, const TetBoundary& boundary) {
  SurfaceMesh surface{mesh.vertices, boundary.triangles};
  return signed_volume(surface, P::zero());
}

double farthest(const TetMesh& mesh, const TetBoundary& boundary, const Distance& distance) {
  double worst = 0;
  for (const auto& t : boundary.triangles)
    for (int k = 0; k < 3; ++k)
      worst = std::max(worst, std::abs(distance(mesh.vertices[static_cast<std::size_t>(t[k])])));
  return worst;
}

TEST(TetMesh, BoundaryOfOneTetIsItsFourFacesOutward) {
  const TetMesh mesh = one_tet();
  const TetBoundary boundary = boundary_of(mesh);
  ASSERT_EQ(boundary.triangles.size(), 4u);
  EXPECT_EQ(expect_closed(boundary), 2);
  EXPECT_NEAR(enclosed(mesh, boundary), 1.0 / 6, 1e-15);
  for (const std::int32_t t : boundary.tet) EXPECT_EQ(t, 0);
}

TEST(TetMesh, InnerFacesAreNotOnTheBoundary) {
  TetMesh mesh = one_tet();
  mesh.vertices.push_back({{1, 1, 1}});
  mesh.tets.push_back({{1, 2, 3, 4}});  // on the face across from the origin
  const TetBoundary boundary = boundary_of(mesh);
  EXPECT_EQ(boundary.triangles.size(), 6u);
  EXPECT_EQ(expect_closed(boundary), 2);
  EXPECT_TRUE(std::is_sorted(boundary.tet.begin(), boundary.tet.end()));
  EXPECT_NEAR(enclosed(mesh, boundary), mesh.volume(0) + mesh.volume(1), 1e-15);
  mesh.vertices.push_back({{2, 2, 2}});
  mesh.tets.push_back({{1, 2, 3, 5}});  // a third tet at the same face: on nobody's boundary
  const std::vector<std::int64_t> mates = mates_of_faces(mesh);
  EXPECT_EQ(std::count(mates.begin(), mates.end(), many_mates), 3);
  EXPECT_EQ(std::count(mates.begin(), mates.end(), no_mate), 9);
}

TEST(TetMesh, QualityOfKnownTets) {
  const TetQuality corner = quality_of(one_tet());
  EXPECT_NEAR(corner.volume, 1.0 / 6, 1e-15);
  EXPECT_NEAR(corner.largest_angle, 90, 1e-12);
  EXPECT_NEAR(corner.smallest_angle, std::acos(1 / std::sqrt(3.0)) * 180 / M_PI, 1e-12);
  EXPECT_NEAR(corner.smallest_altitude, 1 / std::sqrt(3.0), 1e-15);
  TetMesh regular = one_tet();
  regular.vertices = {{{1, 1, 1}}, {{-1, 1, -1}}, {{1, -1, -1}}, {{-1, -1, 1}}};
  const TetQuality q = quality_of(regular);
  EXPECT_NEAR(q.smallest_angle, std::acos(1.0 / 3) * 180 / M_PI, 1e-12);
  EXPECT_NEAR(q.largest_angle, q.smallest_angle, 1e-12);
  EXPECT_NEAR(q.smallest_altitude, 4 / std::sqrt(3.0), 1e-14);
}

TEST(TetMesh, BoxKeepsItsCornersAndFlatFaces) {
  const P edges{{1, 0.6, 0.25}};
  const TetMesh mesh = tets_of(Box<double>{edges}, 0.1, false);
  const TetBoundary boundary = boundary_of(mesh);
  EXPECT_EQ(mesh.vertices.size(), 11u * 7 * 4);  // 0.25 m are three cells, rounded from 2.5
  EXPECT_EQ(mesh.tets.size(), 6u * 10 * 6 * 3);
  EXPECT_EQ(expect_closed(boundary), 2);
  EXPECT_NEAR(enclosed(mesh, boundary), 0.15, 1e-15);
  EXPECT_NEAR(quality_of(mesh).volume, 0.15, 1e-14);
  EXPECT_GT(quality_of(mesh).smallest_volume, 0);
  int corners = 0;
  for (const P& v : mesh.vertices) {
    int extreme = 0;
    for (int k = 0; k < 3; ++k) extreme += std::abs(v[k]) == edges[k] / 2 ? 1 : 0;
    corners += extreme == 3 ? 1 : 0;
  }
  EXPECT_EQ(corners, 8);
  for (const auto& t : boundary.triangles) {  // in one of the six planes
    bool flat = false;
    for (int k = 0; k < 3; ++k) {
      const auto at = [&](int i) { return mesh.vertices[static_cast<std::size_t>(t[i])][k]; };
      flat = flat || (at(0) == at(1) && at(1) == at(2) && std::abs(at(0)) == edges[k] / 2);
    }
    ASSERT_TRUE(flat);
  }
}

/// A box that slides straight ahead must not drift because of its mesh.
TEST(TetMesh, BoxOfEvenCellsIsSymmetric) {
  const TetMesh mesh = tetrahedralized_box({{1, 1, 1}}, 0.25);
  using Key = std::array<std::array<double, 3>, 4>;
  const auto keys = [&](const P& mirror) {
    std::set<Key> all;
    for (std::size_t t = 0; t < mesh.tets.size(); ++t) {
      Key key;
      for (int i = 0; i < 4; ++i)
        for (int k = 0; k < 3; ++k)
          key[static_cast<std::size_t>(i)][static_cast<std::size_t>(k)] = mirror[k] * mesh.corner(t, i)[k] + 0.0;
      std::sort(key.begin(), key.end());
      all.insert(key);
    }
    return all;
  };
  const std::set<Key> plain = keys({{1, 1, 1}});
  EXPECT_EQ(plain.size(), mesh.tets.size());
  EXPECT_EQ(keys({{-1, 1, 1}}), plain);
  EXPECT_EQ(keys({{1, -1, 1}}), plain);
  EXPECT_EQ(keys({{1, 1, -1}}), plain);
}

TEST(Stuffing, BallConvergesWithTheSquareOfTheSize) {
  const double exact = 4.0 / 3 * M_PI * 0.125;
  double last = 0;
  for (const double size : {0.16, 0.08, 0.04}) {
    const TetMesh mesh = tets_of(Sphere<double>{0.5}, size, false);
    const double error = 1 - quality_of(mesh).volume / exact;
    EXPECT_GT(error, 0);
    if (last > 0) {
      EXPECT_GT(last / error, 3);
      EXPECT_LT(last / error, 5.5);
    }
    last = error;
  }
  EXPECT_LT(last, 0.003);
}

struct Solids {
  const char* name;
  SimpleShape shape;
  int euler;
};
std::vector<Solids> zoo() {
  return {{"ball", Sphere<double>{0.5}, 2},
          {"slab", Box<double>{{{1, 0.7, 0.4}}}, 2},
          {"ring", Torus<double>{0.4, 0.17}, 0},
          {"can", Cylinder<double>{0.4, 0.6}, 2},
          {"pill", Capsule<double>{0.25, 0.6}, 2},
          {"surface file", Mesh(solid_from(test::make_ball(0.5, 3).polygons(), 1, "ball"), 0.02), 2}};
}

/// Every shape in random poses, so that the surface meets the lattice in every way.
TEST(Stuffing, AnglesAreBoundedAndTheBoundaryLiesOnTheSurface) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> any(-1, 1);
  for (const bool graded : {false, true})
    for (const Solids& solid : zoo())
      for (int k = 0; k < 2; ++k) {
        const AxisAngle turn{{{any(random), any(random), any(random)}}, 180 * any(random)};
        const P at{{any(random), any(random), any(random)}};
        const Compound placed(Operation::unite, 0, {{{at, rotation_matrix(turn)}, solid.shape}});
        const double size = 0.06 + 0.02 * any(random);
        SCOPED_TRACE(std::string(solid.name) + (graded ? ", graded" : ""));
        const Distance distance = [&](const P& p) { return placed.nearest(p).distance; };
        const TetMesh mesh = tetrahedralize(distance, placed.bounds().low, placed.bounds().high, {size, graded});
        const TetBoundary boundary = boundary_of(mesh);
        const TetQuality q = quality_of(mesh);
        EXPECT_GT(q.smallest_angle, 11);
        EXPECT_LT(q.largest_angle, 160);
        EXPECT_GT(q.smallest_altitude, 0.08 * size);
        EXPECT_EQ(expect_closed(boundary), solid.euler);
        EXPECT_NEAR(enclosed(mesh, boundary), q.volume, 1e-12);
        // A distance that is interpolated has jumps; its surface is found to rounding all the same.
        EXPECT_LT(farthest(mesh, boundary, distance), 1e-9);
        // Edges are rounded: a prism of size^2 / 2 at most along each of a box's, 8.4 m long.
        const double exact = std::visit([](const auto& s) { return s.volume(3); }, solid.shape);
        EXPECT_NEAR(q.volume, exact, 0.5 * size * size * 8.4);
        EXPECT_LT(q.volume, 1.002 * exact);
      }
}

/// A surface with features of the size of the lattice and smaller: the bound must not depend on what is meshed.
TEST(Stuffing, NoiseCannotMakeBadTets) {
  constexpr double size = 0.1;
  for (unsigned seed = 0; seed < 12; ++seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> any(-1, 1);
    std::array<P, 12> wave;
    std::array<double, 12> phase;
    const double rate = (1.0 + seed % 6) / size;
    for (std::size_t i = 0; i < 12; ++i) {
      wave[i] = {{rate * any(random), rate * any(random), rate * any(random)}};
      phase[i] = 10 * any(random);
    }
    const Distance distance = [&](const P& p) {
      double sum = 0.2;
      for (std::size_t i = 0; i < 12; ++i) sum += std::sin(dot(wave[i], p) + phase[i]);
      return std::max(0.1 * size * sum, norm(p) - 0.6);
    };
    const TetMesh mesh = tetrahedralize(distance, P::filled(-0.6), P::filled(0.6), {size, false});
    const TetQuality q = quality_of(mesh);
    EXPECT_GT(q.smallest_angle, 10.5);
    EXPECT_LT(q.largest_angle, 162);
    EXPECT_GT(q.smallest_volume, 1e-3 * size * size * size);
    // No gap or overlap between tets: what the boundary encloses is what they hold.
    EXPECT_NEAR(enclosed(mesh, boundary_of(mesh)), q.volume, 1e-12);
    const std::vector<std::int64_t> mates = mates_of_faces(mesh);
    EXPECT_EQ(std::count(mates.begin(), mates.end(), many_mates), 0);
  }
}

TEST(Stuffing, GradingKeepsTheSurfaceAndSavesTetsInside) {
  const Sphere<double> ball{0.5};
  const TetMesh uniform = tets_of(ball, 0.03, false), graded = tets_of(ball, 0.03, true);
  EXPECT_LT(graded.tets.size(), 0.75 * static_cast<double>(uniform.tets.size()));
  EXPECT_EQ(boundary_of(graded).triangles.size(), boundary_of(uniform).triangles.size());
  EXPECT_NEAR(quality_of(graded).volume, quality_of(uniform).volume, 1e-12);
}

TEST(Stuffing, SameBytesForAnyNumberOfThreads) {
  const Compound two(Operation::unite, 0.1,
                     {{{}, SimpleShape(Sphere<double>{0.4})}, {{{{0.5, 0, 0}}}, SimpleShape(Sphere<double>{0.3})}});
  for (const bool graded : {false, true}) {
    const TetMesh a = tets_of(two, 0.05, graded);
    const tbb::global_control one_thread(tbb::global_control::max_allowed_parallelism, 1);
    const TetMesh b = tets_of(two, 0.05, graded);
    ASSERT_EQ(a.vertices.size(), b.vertices.size());
    ASSERT_EQ(a.tets.size(), b.tets.size());
    EXPECT_EQ(std::memcmp(a.vertices.data(), b.vertices.data(), a.vertices.size() * sizeof(P)), 0);
    EXPECT_EQ(std::memcmp(a.tets.data(), b.tets.data(), a.tets.size() * sizeof(a.tets[0])), 0);
  }
}

/// A sitting rabbit that looks along x: 0.67 m up to its ears, 0.55 m long.
constexpr const char* rabbit = R"({"shape": {"union": {"blend": 0.05, "shapes": [
  {"shape": {"capsule": {"radius": 0.14, "height": 0.12}}, "at": [-0.03, 0.2, 0],
   "rotation": {"axis": [0, 0, 1], "degrees": -40}},
  {"shape": {"sphere": 0.1}, "at": [0.14, 0.41, 0]},
  {"shape": {"sphere": 0.06}, "at": [0.22, 0.38, 0]},
  {"shape": {"sphere": 0.12}, "at": [-0.08, 0.13, 0.09]},
  {"shape": {"sphere": 0.12}, "at": [-0.08, 0.13, -0.09]},
  {"shape": {"capsule": {"radius": 0.045, "height": 0.12}}, "at": [-0.06, 0.045, 0.12],
   "rotation": {"axis": [0, 0, 1], "degrees": 90}},
  {"shape": {"capsule": {"radius": 0.045, "height": 0.12}}, "at": [-0.06, 0.045, -0.12],
   "rotation": {"axis": [0, 0, 1], "degrees": 90}},
  {"shape": {"capsule": {"radius": 0.042, "height": 0.18}}, "at": [0.13, 0.13, 0.06]},
  {"shape": {"capsule": {"radius": 0.042, "height": 0.18}}, "at": [0.13, 0.13, -0.06]},
  {"shape": {"capsule": {"radius": 0.035, "height": 0.16}}, "at": [0.08, 0.56, 0.06],
   "rotation": {"axis": [1, 0, 0.6], "degrees": 18}},
  {"shape": {"capsule": {"radius": 0.035, "height": 0.16}}, "at": [0.08, 0.56, -0.06],
   "rotation": {"axis": [-1, 0, 0.6], "degrees": 18}},
  {"shape": {"sphere": 0.055}, "at": [-0.22, 0.11, 0]}]}}})";

TEST(Stuffing, AnimalOfBlendedShapes) {
  Shape<double> shape;
  read_params(rabbit, [&](ParamReader& in) { read_shape(in, shape, "a rabbit"); });
  const auto& animal = std::get<Compound>(shape);
  for (const bool graded : {false, true}) {
    const TetMesh mesh = tets_of(shape, 0.02, graded);
    const TetBoundary boundary = boundary_of(mesh);
    const TetQuality q = quality_of(mesh);
    EXPECT_EQ(expect_closed(boundary), 2);  // in one piece, without handles
    EXPECT_GT(q.smallest_angle, 13);
    EXPECT_LT(q.largest_angle, 155);
    EXPECT_NEAR(q.volume, animal.volume(3), 0.02 * animal.volume(3));
    EXPECT_LT(farthest(mesh, boundary, [&](const P& p) { return animal.nearest(p).distance; }), 1e-9);
  }
}

std::string complaint(const Shape<double>& shape, double size) {
  try {
    tets_of(shape, size, false);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::bad_input);
    return error.what();
  }
  return "";
}

TEST(Stuffing, WhatCannotBeFilledIsSaidWithTheRemedy) {
  EXPECT_EQ(complaint(HalfSpace<double>{}, 0.1),
            "a shape without bounds cannot be filled with tets; intersect it with a box");
  EXPECT_EQ(complaint(Torus<double>{0.5, 0.01}, 0.2).substr(0, 8), "nothing ");
  EXPECT_EQ(complaint(Torus<double>{0.5, 0.1}, 0.14).substr(0, 20), "tets of 0.14 m fill ");
  EXPECT_NE(complaint(Torus<double>{0.5, 0.01}, 0.2).find("choose a smaller size"), std::string::npos);
  EXPECT_NE(complaint(Sphere<double>{0.5}, 1e-6).find("choose a larger size"), std::string::npos);
  EXPECT_NE(complaint(Box<double>{{{1, 1, 1}}}, 1e-6).find("choose a larger size"), std::string::npos);
  EXPECT_NE(complaint(Sphere<double>{0.5}, 0).find("above 0"), std::string::npos);
}

}  // namespace
}  // namespace tribo

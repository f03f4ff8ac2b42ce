#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "tribo/matter/solids/stages/system.h"
#include "tribo/scene/reader.h"
#include "tribo/setup/model.h"

/// \file
/// Forces of tet meshes, straight from the stages, in double: they are the derivative of the energy, have neither sum
/// nor moment, and what is meant to damp changes of shape leaves rotations alone.

namespace tribo::TRIBO_BACKEND {
namespace {

using Points = std::vector<Vec<double, 3>>;

/// A box of tets with its vertices where the test wants them.
class TestMesh {
 public:
  explicit TestMesh(const std::string& law, double damping)
      : scene_(
            parse_scene(R"({"tribo": 1, "duration": 1, "gravity": [0, 0, 0], "precision": "double", "grid": {"dx": 0.5},
               "materials": {"m": {"model": ")" +
                            law + R"(", "density": 100, "youngs_modulus": 100, "poisson_ratio": 0.3}},
               "objects": [{"type": "solid", "shape": {"box": [1, 1.5, 0.5]}, "element_size": 0.5, "material": "m",
                            "damping": )" +
                            std::to_string(damping) + "}]}",
                        "test.json")),
        model_(build_model(scene_)),
        seed_(sample_solids(scene_)),
        ex_(1),
        system_(ex_, model_, {}) {
    system_.load_meshes(seed_);
  }

  const Points& rest() const { return seed_.rest; }
  const std::vector<double>& mass() const { return seed_.mass; }
  const SolidSeed& seed() const { return seed_; }

  void place(const Points& x, const Points& v) {
    std::vector<double> column(x.size());
    for (int k = 0; k < 3; ++k) {
      for (std::size_t i = 0; i < x.size(); ++i) column[i] = x[i][k];
      copy_to_device(ex_, column.data(), system_.state.x.c[k], static_cast<Index>(x.size()));
      for (std::size_t i = 0; i < x.size(); ++i) column[i] = v[i][k];
      copy_to_device(ex_, column.data(), system_.state.v.c[k], static_cast<Index>(x.size()));
    }
  }
  double energy(const Points& x) {
    place(x, x);
    return measure_solids(ex_, system_.constants, system_.mesh, system_.state)[0].elastic;
  }
  Points forces(const Points& x, const Points& v) {
    place(x, v);
    evaluate_elastic(ex_, system_.constants, system_.mesh, false, system_.state, system_.work);
    begin_solids(ex_, system_.state, system_.work);
    elastic_step(ex_, system_.constants, system_.mesh, 0, 1, system_.state, system_.work);
    Points f(x.size());
    for (std::size_t i = 0; i < x.size(); ++i)
      for (int k = 0; k < 3; ++k) f[i][k] = (system_.state.v.c[k].data()[i] - v[i][k]) * seed_.mass[i];
    return f;
  }
  Points forces(const Points& x) { return forces(x, Points(x.size(), Vec<double, 3>::zero())); }

 private:
  Scene scene_;
  Model model_;
  SolidSeed seed_;
  Exec ex_;
  SolidSystem<double> system_;
};

Points random_points(std::size_t n, std::mt19937_64& random, double size) {
  std::normal_distribution<double> normal;
  Points r(n);
  for (auto& p : r)
    for (int k = 0; k < 3; ++k) p[k] = size * normal(random);
  return r;
}
Points sum(const Points& a, const Points& b, double scale = 1) {
  Points r = a;
  for (std::size_t i = 0; i < a.size(); ++i) r[i] += scale * b[i];
  return r;
}
double inner(const Points& a, const Points& b) {
  double s = 0;
  for (std::size_t i = 0; i < a.size(); ++i) s += dot(a[i], b[i]);
  return s;
}
double size_of(const Points& a) { return std::sqrt(inner(a, a)); }
Points turned(const Points& a, const Mat<double, 3>& R, const Vec<double, 3>& shift) {
  Points r;
  for (const auto& p : a) r.push_back(R * p + shift);
  return r;
}
const Mat<double, 3> rotation = rotation_matrix({{{1, 2, -0.5}}, 77});

/// Shapes from small strains to hopeless ones.
std::vector<Points> shapes_of(const TestMesh& mesh, std::mt19937_64& random) {
  const Points& rest = mesh.rest();
  std::vector<Points> all;
  for (const double size : {0.01, 0.1, 0.3, 1.0})
    for (int k = 0; k < 3; ++k)
      all.push_back(turned(sum(rest, random_points(rest.size(), random, size)), rotation, {{0.2, 0, 1}}));
  Points mirrored = rest, flat = rest, line = rest;
  for (auto& p : mirrored) p[1] = -p[1];
  for (auto& p : flat) p[0] = 0.01 * p[0];
  for (auto& p : line) p[0] = 0.01 * p[0], p[2] = -0.02 * p[2];
  for (Points* p : {&mirrored, &flat, &line}) all.push_back(sum(*p, random_points(rest.size(), random, 0.003)));
  return all;
}

class ElasticForces : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Laws, ElasticForces,
                         ::testing::Values("fixed_corotated", "neo_hookean", "st_venant_kirchhoff"),
                         [](const auto& test) { return std::string(test.param); });

TEST_P(ElasticForces, AreTheDerivativeOfTheEnergy) {
  TestMesh mesh(GetParam(), 0);
  std::mt19937_64 random(5);
  for (const Points& x : shapes_of(mesh, random)) {
    const Points f = mesh.forces(x);
    for (int k = 0; k < 10; ++k) {
      Points d = random_points(x.size(), random, 1);
      const double h = 1e-6 / size_of(d);
      const double slope = (mesh.energy(sum(x, d, h)) - mesh.energy(sum(x, d, -h))) / (2 * h);
      // Where two stretches have opposite sizes the force of an inverted tet jumps; a step of 1e-6 seldom meets that.
      EXPECT_NEAR(slope, -inner(f, d), 1e-5 * (size_of(f) + 1) * size_of(d));
    }
  }
}

/// Whatever the shape and the motion: exact to rounding, not merely small.
TEST_P(ElasticForces, HaveNeitherSumNorMoment) {
  TestMesh mesh(GetParam(), 3);
  std::mt19937_64 random(6);
  for (const Points& x : shapes_of(mesh, random)) {
    const Points f = mesh.forces(x, random_points(x.size(), random, 1));
    auto force = Vec<double, 3>::zero(), moment = force;
    double scale = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      force += f[i];
      moment += cross(x[i], f[i]);
      scale += std::sqrt(squared_norm(f[i])) * (1 + std::sqrt(squared_norm(x[i])));
    }
    for (int k = 0; k < 3; ++k) {
      EXPECT_NEAR(force[k], 0, 1e-13 * scale);
      EXPECT_NEAR(moment[k], 0, 1e-13 * scale);
    }
  }
}

TEST_P(ElasticForces, VanishInABodyMovedAsAWhole) {
  TestMesh mesh(GetParam(), 0);
  const Points f = mesh.forces(turned(mesh.rest(), rotation, {{3, -1, 2}}));
  EXPECT_LT(size_of(f), 1e-11);  // of some hundred Pa on a quarter of a square meter
}

/// However deformed the body is: rigid motion feels no damping.
TEST_P(ElasticForces, DampingLeavesRigidMotionAlone) {
  TestMesh plain(GetParam(), 0), damped(GetParam(), 5);
  std::mt19937_64 random(7);
  for (const Points& x : shapes_of(plain, random)) {
    Points v;
    for (const auto& p : x) v.push_back(cross(Vec<double, 3>{{1, -2, 0.5}}, p) + Vec<double, 3>{{3, 1, 0}});
    const Points without = plain.forces(x, v), with = damped.forces(x, v);
    EXPECT_LT(size_of(sum(with, without, -1)), 1e-11 * (1 + size_of(v)) * 50);
  }
}

TEST_P(ElasticForces, DampingTakesEnergyFromEverythingElse) {
  TestMesh plain(GetParam(), 0), damped(GetParam(), 5);
  std::mt19937_64 random(8);
  for (const Points& x : shapes_of(plain, random))
    for (int k = 0; k < 5; ++k) {
      const Points v = random_points(x.size(), random, 1);
      const Points drag = sum(damped.forces(x, v), plain.forces(x, v), -1);
      EXPECT_LT(inner(drag, v), -0.1 * 5) << "out of 2 eta |grad v|^2 of the volume";
    }
}

/// At small strain it is Kelvin's and Voigt's: a bar whose ends part at the rate r loses 2 eta r^2 a volume.
TEST(ElasticForces, DampingIsThatOfAViscousSolid) {
  TestMesh plain("fixed_corotated", 0), damped("fixed_corotated", 5);
  const Points& x = plain.rest();
  Points v = x;
  for (auto& p : v) p = {{0.3 * p[0], 0, 0}};
  const Points drag = sum(damped.forces(x, v), plain.forces(x, v), -1);
  EXPECT_NEAR(inner(drag, v), -2 * 5 * 0.3 * 0.3 * (1 * 1.5 * 0.5), 1e-9);
  for (std::size_t i = 0; i < x.size(); ++i) v[i] = {{0, 0.3 * x[i][2], 0}};  // shear: sym has half of it, twice
  EXPECT_NEAR(inner(sum(damped.forces(x, v), plain.forces(x, v), -1), v), -5 * 0.3 * 0.3 * 0.75, 1e-9);
}

TEST(SolidSeed, MassesAreThoseOfTheShape) {
  TestMesh mesh("fixed_corotated", 0);
  double sum = 0;
  for (const double m : mesh.mass()) sum += m;
  EXPECT_NEAR(sum, 100 * 1 * 1.5 * 0.5, 1e-9);
  EXPECT_EQ(mesh.seed().bodies.size(), 1u);
  EXPECT_EQ(mesh.seed().triangles.size(), mesh.seed().triangle_tet.size());
}

}  // namespace
}  // namespace tribo::TRIBO_BACKEND

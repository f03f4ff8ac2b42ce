#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "tribo/core/cast_numbers.h"
#include "tribo/math/spline.h"
#include "tribo/models/all.h"
#include "tribo/simulation.h"
#include "tribo/transfer/kernels.h"
#include "tribo/transfer/modes.h"

/// \file
/// Sums over objects against the definition, particle by particle and node by node.

namespace tribo {
namespace {

/// Three objects of two materials in one another, so that every piece of the list of particles holds several; one far
/// away, and one without a particle between them. A few steps, so that all columns are in use.
Simulation some_simulation(int dimension, const std::string& precision, const std::string& grid, int threads = 2) {
  Scene scene =
      parse_scene(fmt::format(R"({{"tribo": 1, "dimension": {}, "precision": "{}", "fps": 100, "duration": 0.1,
      "gravity": [1, -9.8, 0], "grid": {{"dx": 0.05, {}}},
      "materials": {{
        "soft": {{"model": "fixed_corotated", "density": 1000, "youngs_modulus": 1e4, "poisson_ratio": 0.3}},
        "hard": {{"model": "neo_hookean", "density": 700, "youngs_modulus": 5e4, "poisson_ratio": 0.2}}}},
      "objects": [
        {{"type": "particles", "shape": {{"box": [0.6, 0.6, 0.4]}}, "at": [0.3, 0.2, 0], "material": "hard",
          "velocity": [1, 0.5, 0]}},
        {{"type": "particles", "shape": {{"box": [0.6, 0.5, 0.4]}}, "at": [0.31, 0.22, 0], "material": "soft",
          "angular_velocity": [0, 0, 6]}},
        {{"type": "emitter", "shape": {{"box": [0.1, 0.1, 0.1]}}, "at": [0.3, 3, 0], "material": "soft",
          "velocity": [0, -1, 0], "from": 0.09}},
        {{"type": "particles", "shape": {{"box": [0.5, 0.6, 0.4]}}, "at": [0.29, 0.21, 0], "material": "hard",
          "velocity": [0, 2, 0]}},
        {{"type": "particles", "shape": {{"sphere": 0.1}}, "at": [-40, 7, 0], "material": "soft"}}]}})",
                              dimension, precision, grid),
                  "test.json", {});
  SimulationOptions options;
  options.threads = threads;
  options.isa = available_isas().back();  // as this file is compiled, so that laws give the same bits
  Simulation simulation(std::move(scene), options);
  simulation.advance_frame();
  return simulation;
}

/// What a particle is to the nodes: they have the weights w and the velocities v + C (x_i - x) + higher modes. Sums
/// over the nodes are the definition of all the sums over particles that involve velocities.
template <class Real, int D>
std::vector<ObjectSums> plain_sums(Simulation& simulation) {
  const Container state = simulation.checkpoint();
  const auto columns = [&](const char* name) {
    std::vector<std::span<const Real>> all;
    while (const NamedArray* array = state.find(fmt::format("{}.{}", name, all.size())))
      all.push_back(array->template as<Real>());
    return all;
  };
  const auto xs = columns("x"), vs = columns("v"), Cs = columns("C"), Fs = columns("F"), histories = columns("history"),
             masses = columns("m"), polys = columns("poly");
  const auto at = [](const std::vector<std::span<const Real>>& column, int k, std::size_t i) {
    return static_cast<double>(column[static_cast<std::size_t>(k)][i]);
  };
  const auto objects = state.find("object.0")->as<std::int32_t>();
  const Scene& scene = simulation.scene();
  const double dx = scene.grid.dx;
  const int nodes = kernel_nodes(scene.grid.kernel);
  std::vector<ObjectSums> sums(scene.objects.size());
  for (std::size_t i = 0; i < objects.size(); ++i) {
    const auto o = static_cast<std::size_t>(objects[i]);
    const MaterialSpec& material = scene.materials[static_cast<std::size_t>(scene.objects[o].material)];
    ObjectSums one;
    one.particles = 1;
    one.mass = at(masses, 0, i);
    Vec<double, 3> x = Vec<double, 3>::zero();
    double weights[3][4] = {{1}, {1}, {1}};  // in 2D, one node along z
    double modes[3][4][3] = {};
    double first[3] = {};
    for (int k = 0; k < D; ++k) {
      x[k] = at(xs, k, i);
      first[k] = std::floor(x[k] / dx - kernel_shift(nodes));
      const double offset = x[k] / dx - first[k];
      const SplineWeights<double, 2> linear(offset);
      const SplineWeights<double, 3> quadratic(offset);
      const SplineWeights<double, 4> cubic(offset);
      std::copy_n(nodes == 2 ? linear.w : nodes == 3 ? quadratic.w : cubic.w, nodes, weights[k]);
      const AxisModes<double> axis(offset, quadratic.w, 2);
      std::memcpy(modes[k], axis.at_node, sizeof(axis.at_node));
    }
    for (int a = 0; a < nodes; ++a)
      for (int b = 0; b < nodes; ++b)
        for (int c = 0; c < (D == 3 ? nodes : 1); ++c) {
          const int node[3] = {a, b, c};
          const double w = one.mass * weights[0][a] * weights[1][b] * weights[2][c];
          Vec<double, 3> place = Vec<double, 3>::zero();
          Vec<double, 3> velocity = Vec<double, 3>::zero();
          for (int k = 0; k < D; ++k) place[k] = dx * (first[k] + node[k]);
          for (int k = 0; k < D; ++k) {
            velocity[k] = at(vs, k, i);
            for (int j = 0; j < D; ++j) velocity[k] += at(Cs, D * k + j, i) * (place[j] - x[j]);
          }
          for (int mode = 0, next = 0; !polys.empty() && mode < (D == 3 ? 27 : 9); ++mode) {
            if (!beyond_affine<D>(mode)) continue;
            double value = 1;
            for (int k = D - 1, rest = mode; k >= 0; --k, rest /= 3) value *= modes[k][node[k]][rest % 3];
            for (int k = 0; k < D; ++k, ++next) velocity[k] += value * at(polys, next, i);
          }
          one.momentum += w * velocity;
          one.angular_momentum += w * cross(place, velocity);
          one.kinetic += 0.5 * w * squared_norm(velocity);
        }
    one.mass_position = one.mass * x;
    for (int a = 0; a < 3; ++a)
      for (int b = a; b < 3; ++b) one.second_moment(a, b) = one.mass * x[a] * x[b];
    Strain<Real, D> strain;
    for (int k = 0; k < D * D; ++k) (&strain.F.m[0][0])[k] = Fs[static_cast<std::size_t>(k)][i];
    for (int k = 0; k < 2; ++k) strain.history[k] = histories[static_cast<std::size_t>(k)][i];
    const auto psi = std::visit([&](const auto& law) { return static_cast<double>(law.energy(strain)); },
                                cast_variant<Real>(*material.law));
    one.elastic = one.mass / material.density * psi;
    one.gravity = -one.mass * dot(scene.gravity, x);
    one.low = one.high = x;
    sums[o].add(one);
  }
  return sums;
}

template <class Real, int D>
void check(const std::string& precision, const std::string& grid) {
  SCOPED_TRACE(fmt::format("{}D, {}, {}", D, precision, grid));
  Simulation simulation = some_simulation(D, precision, grid);
  const std::vector<ObjectSums> measured = simulation.measure();
  const std::vector<ObjectSums> expected = plain_sums<Real, D>(simulation);
  ASSERT_EQ(measured.size(), expected.size());
  EXPECT_EQ(measured[2].particles, 0);
  EXPECT_EQ(measured[2].mass, 0);
  EXPECT_GT(measured[0].particles + measured[1].particles, 1024);
  EXPECT_GT(measured[0].elastic, 0);
  for (std::size_t o = 0; o < measured.size(); ++o) {
    SCOPED_TRACE(fmt::format("object {}", o));
    const ObjectSums &a = measured[o], &b = expected[o];
    EXPECT_EQ(a.particles, b.particles);
    if (b.particles == 0) continue;
    // Rounding of sums of some thousand terms, none of which is larger than these.
    constexpr double tolerance = 1e-11;
    const double far = std::sqrt(std::max(squared_norm(b.low), squared_norm(b.high)));
    const double momentum = std::sqrt(2 * b.kinetic * b.mass);
    EXPECT_NEAR(a.mass, b.mass, tolerance * b.mass);
    for (int k = 0; k < 3; ++k) {
      EXPECT_NEAR(a.mass_position[k], b.mass_position[k], tolerance * b.mass * far);
      EXPECT_NEAR(a.momentum[k], b.momentum[k], tolerance * momentum);
      EXPECT_NEAR(a.angular_momentum[k], b.angular_momentum[k], tolerance * momentum * far);
      EXPECT_EQ(a.low[k], b.low[k]);
      EXPECT_EQ(a.high[k], b.high[k]);
    }
    for (int k = 0; k < Sym<double, 3>::size; ++k)
      EXPECT_NEAR(a.second_moment.s[k], b.second_moment.s[k], tolerance * b.mass * far * far);
    EXPECT_GT(b.kinetic, 0);
    EXPECT_NEAR(a.kinetic, b.kinetic, tolerance * b.kinetic);
    EXPECT_NEAR(a.elastic, b.elastic, tolerance * std::abs(b.elastic));
    EXPECT_NEAR(a.gravity, b.gravity, tolerance * b.mass * far * 10);
  }
}

template <int D>
void check_dimension() {
  for (const char* grid : {R"("transfer": "apic")", R"("transfer": "polypic")", R"("kernel": "cubic")",
                           R"("kernel": "linear", "force": "gradient")"}) {
    check<float, D>("float", grid);
    check<double, D>("double", grid);
  }
}

TEST(Measure, AddsUpInterleavedObjects2D) { check_dimension<2>(); }
TEST(Measure, AddsUpInterleavedObjects3D) { check_dimension<3>(); }

TEST(Measure, DoesNotDependOnTheNumberOfThreads) {
  const std::vector<ObjectSums> one = some_simulation(3, "float", R"("transfer": "apic")", 1).measure();
  for (const int threads : {2, 5}) {
    const std::vector<ObjectSums> several = some_simulation(3, "float", R"("transfer": "apic")", threads).measure();
    ASSERT_EQ(several.size(), one.size());
    EXPECT_EQ(std::memcmp(several.data(), one.data(), one.size() * sizeof(ObjectSums)), 0) << threads;
  }
}

}  // namespace
}  // namespace tribo

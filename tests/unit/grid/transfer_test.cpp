#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "cloud.h"
#include "tribo/engine/solver.h"
#include "tribo/grid/stages.h"
#include "tribo/grid/stencil.h"
#include "tribo/transfer/all.h"

/// \file
/// Transfers between particles and grid: what they conserve (theory A.6), what they reproduce, and node by node
/// against the definition (theory A.2, A.5).

namespace tribo::TRIBO_BACKEND {
namespace {

using test::Cloud;
using test::Particle;
using test::random_particles;
using test::uniform;

template <class Real>
constexpr double tol(double in_double, double in_float) {
  return std::is_same_v<Real, double> ? in_double : in_float;
}

/// Mass and momenta, and the sums of their magnitudes as a scale for errors.
struct Sums {
  double mass = 0;
  Vec<double, 3> linear = Vec<double, 3>::zero();
  Vec<double, 3> angular = Vec<double, 3>::zero();
  double linear_scale = 0;
  double angular_scale = 0;

  void add(const Vec<double, 3>& x, double m, const Vec<double, 3>& momentum) {
    mass += m;
    linear += momentum;
    angular += cross(x, momentum);
    linear_scale += std::sqrt(squared_norm(momentum));
    angular_scale += std::sqrt(squared_norm(momentum) * squared_norm(x));
  }
};

/// Theory A.6: the affine part B = C dx^2/4 carries angular momentum of its own.
template <class Real>
Sums particle_sums(Cloud<Real>& cloud) {
  Sums sums;
  for (Index i = 0; i < cloud.state.count; ++i) {
    const Particle p = cloud.at(i);
    sums.add(p.x, p.m, p.v * p.m);
    const double b = 0.25 * Cloud<Real>::dx * Cloud<Real>::dx * p.m;
    sums.angular +=
        Vec<double, 3>{{b * (p.C(2, 1) - p.C(1, 2)), b * (p.C(0, 2) - p.C(2, 0)), b * (p.C(1, 0) - p.C(0, 1))}};
  }
  return sums;
}

using NodeKey = std::array<int, 3>;
/// Momentum and mass of every node that has any.
using Nodes = std::map<NodeKey, std::array<double, 4>>;

/// Sum of all arenas.
template <class Real>
Nodes arena_nodes(Cloud<Real>& cloud) {
  using Shape = BlockShape<3>;
  Nodes nodes;
  for (Index b = 0; b < cloud.state.bin_count; ++b)
    for (int i = 0; i < Shape::arena_nodes; ++i) {
      const NodePack<Real> pack = cloud.work.arenas.data()[Size{b} * Shape::arena_nodes + i];
      if (pack[3] == 0) continue;
      const Cell<3> at = unflatten<3>(i, Shape::arena_side);
      NodeKey key;
      for (int k = 0; k < 3; ++k) key[std::size_t(k)] = 4 * cloud.state.bins.data()[b].block[k] - Shape::margin + at[k];
      for (int k = 0; k < 4; ++k) nodes[key][std::size_t(k)] += double(pack[k]);
    }
  return nodes;
}
/// What update_grid left: velocities, given back as momenta.
template <class Real>
Nodes grid_nodes(Cloud<Real>& cloud) {
  using Shape = BlockShape<3>;
  Nodes nodes;
  for (Index g = 0; g < cloud.work.block_count; ++g)
    for (int i = 0; i < Shape::nodes; ++i) {
      const NodePack<Real> pack = cloud.work.grid.data()[Size{g} * Shape::nodes + i];
      if (pack[3] == 0) continue;
      const Cell<3> at = unflatten<3>(i, Shape::side);
      NodeKey key;
      for (int k = 0; k < 3; ++k) key[std::size_t(k)] = 4 * cloud.work.blocks.data()[g][k] + at[k];
      std::array<double, 4>& node = nodes[key];
      node[3] = double(pack[3]);
      for (int k = 0; k < 3; ++k) node[std::size_t(k)] = double(pack[k]) * double(pack[3]);
    }
  return nodes;
}
Sums node_sums(const Nodes& nodes, double dx) {
  Sums sums;
  for (const auto& [key, value] : nodes)
    sums.add({{dx * key[0], dx * key[1], dx * key[2]}}, value[3], {{value[0], value[1], value[2]}});
  return sums;
}

double spline(double u) {
  u = std::abs(u);
  return u < 0.5 ? 0.75 - u * u : u < 1.5 ? 0.5 * (1.5 - u) * (1.5 - u) : 0;
}
/// P2G by its definition, in double, over a generous neighborhood.
template <class Real>
Nodes reference_nodes(Cloud<Real>& cloud, double dt) {
  const double dx = Cloud<Real>::dx;
  Nodes nodes;
  for (Index i = 0; i < cloud.state.count; ++i) {
    const Particle p = cloud.at(i);
    const double volume = p.m / cloud.constants.densities[std::size_t(cloud.work.object_group.data()[p.object])];
    int center[3];
    for (int k = 0; k < 3; ++k) center[k] = static_cast<int>(std::floor(p.x[k] / dx));
    for (int s = 0; s < 125; ++s) {
      const Cell<3> offset = unflatten<3>(s, 5);
      NodeKey key;
      double w = 1;
      Vec<double, 3> r;
      for (int k = 0; k < 3; ++k) {
        key[std::size_t(k)] = center[k] + offset[k] - 2;
        r[k] = dx * key[std::size_t(k)] - p.x[k];
        w *= spline(r[k] / dx);
      }
      if (w == 0) continue;
      std::array<double, 4>& node = nodes[key];
      node[3] += w * p.m;
      for (int k = 0; k < 3; ++k) {
        double momentum = p.m * p.v[k];
        for (int j = 0; j < 3; ++j) momentum += (p.m * p.C(k, j) - dt * volume * 4 / (dx * dx) * p.tau(k, j)) * r[j];
        node[std::size_t(k)] += w * momentum;
      }
    }
  }
  return nodes;
}

void expect_same_sums(const Sums& a, const Sums& b, double tolerance) {
  EXPECT_NEAR(a.mass, b.mass, tolerance * a.mass);
  for (int k = 0; k < 3; ++k) {
    EXPECT_NEAR(a.linear[k], b.linear[k], tolerance * a.linear_scale);
    EXPECT_NEAR(a.angular[k], b.angular[k], tolerance * a.angular_scale);
  }
}

/// Particles within a few blocks of the origin with random symmetric stress.
std::vector<Particle> stressed_particles(unsigned seed) {
  std::vector<Particle> particles = random_particles(seed, 600, false);
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  for (Particle& p : particles)
    for (double& s : p.tau.s) s = 1e4 * normal(random);
  return particles;
}

template <class Real>
class TransferOf : public ::testing::Test {};
using Reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(TransferOf, Reals);

TYPED_TEST(TransferOf, ParticlesToGridConserves) {
  // Stress is symmetric, so that its impulses conserve both momenta, too.
  for (const double dt : {0.0, 1e-3}) {
    Cloud<TypeParam> cloud(stressed_particles(1));
    cloud.sort();
    const Sums before = particle_sums(cloud);
    ASSERT_GT(before.angular_scale, 1);
    p2g(cloud.ex, cloud.constants, cloud.state, dt, cloud.work);
    const double tolerance = tol<TypeParam>(1e-12, 1e-5);
    expect_same_sums(before, node_sums(arena_nodes(cloud), cloud.dx), tolerance);
    EXPECT_TRUE(std::isfinite(update_grid(cloud.ex, cloud.constants, {}, dt, cloud.work)));
    expect_same_sums(before, node_sums(grid_nodes(cloud), cloud.dx), tolerance);
  }
}

/// One full step without gravity and colliders, of a material without and with stiffness.
TYPED_TEST(TransferOf, StepConserves) {
  for (const double stiffness : {0.0, 1e4}) {
    Cloud<TypeParam> cloud(random_particles(2, 600, false), 2, stiffness, stiffness);
    cloud.sort();
    // Four steps: those after the first feel the stress of the strain so far, and drift without being sorted.
    for (int step = 0; step < 4; ++step) {
      const Sums before = particle_sums(cloud);
      p2g(cloud.ex, cloud.constants, cloud.state, 1e-3, cloud.work);
      update_grid(cloud.ex, cloud.constants, {}, 1e-3, cloud.work);
      ASSERT_EQ(g2p(cloud.ex, cloud.constants, 1e-3, cloud.state, cloud.work), (Workspace<TypeParam, 3>::none));
      expect_same_sums(before, particle_sums(cloud), tol<TypeParam>(1e-12, 1e-5));
    }
    double largest = 0;
    for (Index i = 0; i < cloud.state.count; ++i)
      for (const double s : cloud.at(i).tau.s) largest = std::max(largest, std::abs(s));
    EXPECT_EQ(largest > 0, stiffness > 0);
    EXPECT_GT(cloud.state.speed, 0);
    EXPECT_EQ(cloud.state.wave_speed2 > 0, stiffness > 0);
  }
}

TYPED_TEST(TransferOf, GravityAddsItsImpulse) {
  Cloud<TypeParam> cloud(random_particles(3, 300, false));
  cloud.constants.gravity = {{TypeParam(1), TypeParam(-9.81), TypeParam(0.5)}};
  cloud.sort();
  const Sums before = particle_sums(cloud);
  p2g(cloud.ex, cloud.constants, cloud.state, 1e-2, cloud.work);
  update_grid(cloud.ex, cloud.constants, {}, 1e-2, cloud.work);
  g2p(cloud.ex, cloud.constants, 1e-2, cloud.state, cloud.work);
  const Sums after = particle_sums(cloud);
  const double gravity[] = {1, -9.81, 0.5};
  for (int k = 0; k < 3; ++k)
    EXPECT_NEAR(after.linear[k] - before.linear[k], 1e-2 * gravity[k] * before.mass,
                tol<TypeParam>(1e-12, 1e-5) * before.linear_scale);
}

/// v = a + B x on particles, with C = B, comes back unchanged, and moves and deforms them exactly.
TYPED_TEST(TransferOf, AffineMotionIsReproduced) {
  const Vec<double, 3> a{{0.3, -1.2, 0.7}};
  const Mat<double, 3> B{{{0.5, -2, 1}, {1.5, 0.25, -0.75}, {-1, 0.1, -0.6}}};
  std::vector<Particle> particles = random_particles(4, 500, false);
  for (Particle& p : particles) {
    p.v = a + B * p.x;
    p.C = B;
  }
  Cloud<TypeParam> cloud(particles);
  cloud.sort();
  std::vector<Vec<double, 3>> start(std::size_t(cloud.state.count));
  for (Index i = 0; i < cloud.state.count; ++i) start[std::size_t(i)] = cloud.at(i).x;
  const double dt = 1e-2, tolerance = tol<TypeParam>(1e-12, 2e-5);
  p2g(cloud.ex, cloud.constants, cloud.state, dt, cloud.work);
  update_grid(cloud.ex, cloud.constants, {}, dt, cloud.work);
  for (const auto& [key, value] : grid_nodes(cloud)) {
    const Vec<double, 3> x{{cloud.dx * key[0], cloud.dx * key[1], cloud.dx * key[2]}};
    const Vec<double, 3> v = a + B * x;
    for (int k = 0; k < 3; ++k) ASSERT_NEAR(value[std::size_t(k)] / value[3], v[k], 10 * tolerance);
  }
  g2p(cloud.ex, cloud.constants, dt, cloud.state, cloud.work);
  for (Index i = 0; i < cloud.state.count; ++i) {
    const Particle p = cloud.at(i);
    const Vec<double, 3> v = a + B * start[std::size_t(i)];
    for (int k = 0; k < 3; ++k) {
      ASSERT_NEAR(p.v[k], v[k], 10 * tolerance);
      ASSERT_NEAR(p.x[k], start[std::size_t(i)][k] + dt * v[k], tolerance);
      for (int j = 0; j < 3; ++j) {
        ASSERT_NEAR(p.C(k, j), B(k, j), 40 * tolerance);  // rounding errors of v over dx / 4
        ASSERT_NEAR(cloud.particles().F[3 * k + j][i], (k == j ? 1 : 0) + dt * B(k, j), tolerance);
      }
    }
  }
}

template <class Real>
void expect_nodes(const Nodes& found, const Nodes& expected, double tolerance) {
  std::array<double, 4> scale{};
  for (const auto& [key, value] : expected)
    for (std::size_t k = 0; k < 4; ++k) scale[k] = std::max(scale[k], std::abs(value[k]));
  for (const auto& [key, value] : expected) {
    const auto at = found.find(key);
    // In float a node may get so little that it is rounded away.
    for (std::size_t k = 0; k < 4; ++k)
      ASSERT_NEAR(at == found.end() ? 0 : at->second[k], value[k], tolerance * scale[k])
          << key[0] << " " << key[1] << " " << key[2];
  }
  for (const auto& [key, value] : found) {
    if (expected.count(key) == 0) {
      ASSERT_LE(value[3], tolerance * scale[3]);
    }
  }
}

TYPED_TEST(TransferOf, ParticlesToGridMatchesTheDefinition) {
  Cloud<TypeParam> cloud(stressed_particles(5));
  cloud.sort();
  p2g(cloud.ex, cloud.constants, cloud.state, 1e-3, cloud.work);
  expect_nodes<TypeParam>(arena_nodes(cloud), reference_nodes(cloud, 1e-3), tol<TypeParam>(1e-13, 2e-6));
}

/// Particles that have moved by almost a cell since they were sorted still reach their own nodes, both ways.
TYPED_TEST(TransferOf, DriftedParticlesMatchTheDefinition) {
  Cloud<TypeParam> cloud(stressed_particles(6));
  cloud.sort();
  std::mt19937_64 random(6);
  int left_block = 0;
  for (Index b = 0; b < cloud.state.bin_count; ++b) {
    const Bin<3>& bin = cloud.state.bins.data()[b];
    for (Index i = bin.begin; i < bin.end; ++i) {
      for (int k = 0; k < 3; ++k)
        cloud.particles().x[k][i] += TypeParam(cloud.dx * (random() % 2 == 0   ? uniform(random, -0.98, 0.98)
                                                           : random() % 2 == 0 ? 0.98
                                                                               : -0.98));
      const Cell<3> base = cloud.base(i);
      for (int k = 0; k < 3; ++k) left_block += base[k] >> 2 != bin.block[k];
    }
  }
  ASSERT_GT(left_block, 100);
  const Sums before = particle_sums(cloud);
  p2g(cloud.ex, cloud.constants, cloud.state, 1e-3, cloud.work);
  const Nodes expected = reference_nodes(cloud, 1e-3);
  expect_nodes<TypeParam>(arena_nodes(cloud), expected, tol<TypeParam>(1e-13, 2e-6));
  update_grid(cloud.ex, cloud.constants, {}, 1e-3, cloud.work);
  expect_nodes<TypeParam>(grid_nodes(cloud), expected, tol<TypeParam>(1e-13, 4e-6));
  expect_same_sums(before, node_sums(grid_nodes(cloud), cloud.dx), tol<TypeParam>(1e-12, 1e-5));

  // Back to the particles: v = sum w v_i, C = 4/dx^2 sum w v_i (x_i - x_p)^T.
  const Nodes nodes = grid_nodes(cloud);
  std::vector<Particle> start(std::size_t(cloud.state.count));
  for (Index i = 0; i < cloud.state.count; ++i) start[std::size_t(i)] = cloud.at(i);
  g2p(cloud.ex, cloud.constants, 0.0, cloud.state, cloud.work);
  for (Index i = 0; i < cloud.state.count; ++i) {
    Vec<double, 3> v = Vec<double, 3>::zero();
    Mat<double, 3> C = Mat<double, 3>::zero();
    double scale = 0;
    for (int s = 0; s < 125; ++s) {
      const Cell<3> offset = unflatten<3>(s, 5);
      NodeKey key;
      double w = 1;
      Vec<double, 3> r;
      for (int k = 0; k < 3; ++k) {
        const double x = start[std::size_t(i)].x[k];
        key[std::size_t(k)] = static_cast<int>(std::floor(x / cloud.dx)) + offset[k] - 2;
        r[k] = cloud.dx * key[std::size_t(k)] - x;
        w *= spline(r[k] / cloud.dx);
      }
      const auto node = nodes.find(key);
      if (node == nodes.end()) continue;
      for (int k = 0; k < 3; ++k) {
        const double velocity = node->second[std::size_t(k)] / node->second[3];
        scale += w * std::abs(velocity);
        v[k] += w * velocity;
        for (int j = 0; j < 3; ++j) C(k, j) += 4 / (cloud.dx * cloud.dx) * w * velocity * r[j];
      }
    }
    const Particle p = cloud.at(i);
    for (int k = 0; k < 3; ++k) {
      ASSERT_NEAR(p.v[k], v[k], tol<TypeParam>(1e-12, 5e-6) * scale);
      for (int j = 0; j < 3; ++j) ASSERT_NEAR(p.C(k, j), C(k, j), tol<TypeParam>(1e-11, 1e-4) * scale);
    }
  }
}

TYPED_TEST(TransferOf, StepsHaveTheSameBitsForAnyThreadCount) {
  const auto run = [](int threads) {
    Cloud<TypeParam> cloud(random_particles(7, 3000, false), threads, 1e4, 1e4);
    cloud.sort();
    for (int step = 0; step < 3; ++step) {
      p2g(cloud.ex, cloud.constants, cloud.state, 1e-3, cloud.work);
      update_grid(cloud.ex, cloud.constants, {}, 1e-3, cloud.work);
      g2p(cloud.ex, cloud.constants, 1e-3, cloud.state, cloud.work);
    }
    std::string bytes;
    each_column(cloud.state.particles, [&](const char*, auto& field) {
      for (const auto& array : field.c)
        bytes.append(reinterpret_cast<const char*>(array.data()),
                     std::size_t(cloud.state.count) * sizeof(array.data()[0]));
    });
    return bytes;
  };
  const std::string one = run(1);
  for (const int threads : {2, 3, 5}) EXPECT_TRUE(run(threads) == one) << threads << " threads";
}

/// A number that is not finite anywhere is seen, and the first particle concerned is named.
TYPED_TEST(TransferOf, BadParticlesAreFound) {
  Cloud<TypeParam> cloud(random_particles(8, 300, false));
  cloud.sort();
  cloud.particles().v[1][77] = std::numeric_limits<TypeParam>::quiet_NaN();
  p2g(cloud.ex, cloud.constants, cloud.state, 1e-3, cloud.work);
  EXPECT_TRUE(std::isnan(update_grid(cloud.ex, cloud.constants, {}, 1e-3, cloud.work)));
  const Index bad = g2p(cloud.ex, cloud.constants, 1e-3, cloud.state, cloud.work);
  Index first = 0;
  while (first < cloud.state.count && std::isfinite(cloud.particles().v[1][first])) ++first;
  ASSERT_LE(first, 77);
  EXPECT_EQ(bad, first);
}

/// Between sorts no particle may leave the arena of its bin. Far from the origin a float moves in steps of its last
/// digit, and a particle can travel almost twice the way its velocity says: rounding must count as drift.
TYPED_TEST(TransferOf, ParticlesStayInTheirArenas) {
  std::vector<Particle> particles = random_particles(9, 30, false);
  const double far = 8192 * Cloud<TypeParam>::dx;
  const double last_digit = std::numeric_limits<TypeParam>::epsilon() * far;
  const double dt = 1e-3;
  const bool single = std::is_same_v<TypeParam, float>;
  for (Particle& p : particles) {
    p.x[0] += far + 2;
    p.v = {{single ? 0.51 * last_digit / dt : 100 * Cloud<TypeParam>::dx, 0, 0}};
    p.C = Mat<double, 3>::zero();
  }
  Cloud<TypeParam> cloud(particles);
  Model model;
  model.dx = Cloud<TypeParam>::dx;
  int sorts = 0;
  Kinds<TypeParam, 3> kinds(cloud.ex, model);  // nothing but particles
  kinds.particles().constants = cloud.constants;
  std::swap(kinds.particles().work, cloud.work);
  ContactSums sums;
  for (int step = 0; step < (single ? 5000 : 1000); ++step) {
    const double before = cloud.state.drift;
    StepReport report;
    std::swap(kinds.particles().state, cloud.state);
    advance(cloud.ex, model, dt, kinds, sums, report);
    std::swap(kinds.particles().state, cloud.state);
    sorts += cloud.state.drift < before;
    if (step % 10 != 0) continue;
    for (Index b = 0; b < cloud.state.bin_count; ++b) {
      const Bin<3>& bin = cloud.state.bins.data()[b];
      for (Index i = bin.begin; i < bin.end; ++i)
        for (int k = 0; k < 3; ++k) {
          const int within = cloud.base(i)[k] - 4 * bin.block[k];
          if (cloud.state.drift > 0.99) continue;  // will be sorted before anything is read
          ASSERT_GE(within, -BlockShape<3>::margin) << "step " << step;
          ASSERT_LT(within, 4 + BlockShape<3>::margin) << "step " << step;
        }
    }
  }
  EXPECT_GT(sorts, 0);
}

// ---------------------------------------------------------------------------------------------------------------------
// The stencil itself, in both dimensions: no stage is built for two yet.

template <class R, int Dim>
struct StencilCase {
  using Real = R;
  static constexpr int D = Dim;
};
template <class C>
class StencilOf : public ::testing::Test {};
using StencilCases =
    ::testing::Types<StencilCase<float, 2>, StencilCase<double, 2>, StencilCase<float, 3>, StencilCase<double, 3>>;
struct StencilName {
  template <class C>
  static std::string GetName(int) {
    return std::to_string(C::D) + (std::is_same_v<typename C::Real, double> ? "D_double" : "D_float");
  }
};
TYPED_TEST_SUITE(StencilOf, StencilCases, StencilName);

/// A pack of particles in and around one block.
template <class Real, int D>
struct RandomPack {
  using T = ParticlePack<Real>;
  static constexpr int W = pack_width<Real>;
  T x[D];
  Cell<D> block;

  explicit RandomPack(std::mt19937_64& random) {
    for (int k = 0; k < D; ++k) {
      block[k] = static_cast<int>(random() % 9) - 4;
      for (int l = 0; l < W; ++l) x[k].set(l, Real(4 * block[k] + 0.5 + uniform(random, -0.98, 4.98)));
    }
  }
};

TYPED_TEST(StencilOf, WeightsAreThoseOfTheSpline) {
  using Real = typename TypeParam::Real;
  constexpr int D = TypeParam::D;
  std::mt19937_64 random(1);
  for (int trial = 0; trial < 500; ++trial) {
    const RandomPack<Real, D> pack(random);
    const PackStencil<Real, D> stencil(pack.x, Real(1), pack.block);
    for (int l = 0; l < pack.W; ++l) {
      const int flat = static_cast<int>(stencil.cell[l]);
      ASSERT_GE(flat, 0);
      const Cell<D> at = unflatten<D>(flat, BlockShape<D>::arena_side);
      for (int k = 0; k < D; ++k) {
        ASSERT_LE(at[k] + 2, BlockShape<D>::arena_side - 1);
        const int base = 4 * pack.block[k] - BlockShape<D>::margin + at[k];
        ASSERT_NEAR(pack.x[k][l] - base, stencil.offset[k][l], tol<Real>(1e-15, 1e-6));
        for (int j = 0; j < 3; ++j)
          ASSERT_NEAR(stencil.weight[k][j][l], spline(pack.x[k][l] - base - j), tol<Real>(1e-14, 2e-6));
      }
    }
  }
}

TYPED_TEST(StencilOf, OffsetsFollowTheArena) {
  constexpr int D = TypeParam::D;
  for (int s = 0; s < BlockShape<D>::stencil; ++s)
    EXPECT_EQ(stencil_offset<D>(s), flatten(unflatten<D>(s, 3), BlockShape<D>::arena_side));
}

TYPED_TEST(StencilOf, ScatterConservesAndGatherReproducesAffineFields) {
  using Real = typename TypeParam::Real;
  using Pack = NodePack<Real>;
  using Shape = BlockShape<TypeParam::D>;
  constexpr int D = TypeParam::D;
  const double tolerance = tol<Real>(1e-13, 1e-5);
  std::mt19937_64 random(2);
  std::normal_distribution<double> normal;
  for (int trial = 0; trial < 300; ++trial) {
    const RandomPack<Real, D> pack(random);
    const PackStencil<Real, D> stencil(pack.x, Real(1), pack.block);
    std::vector<Pack> arena(Shape::arena_nodes, Pack(Real(0)));
    double mass = 0;
    Vec<double, D> linear = Vec<double, D>::zero();
    Mat<double, D> moment = Mat<double, D>::zero();  // sum x p^T: its skew part is the angular momentum
    for (int l = 0; l < pack.W; ++l) {
      Mat<double, D> A;
      Vec<double, D> momentum;
      const double m = uniform(random, 0.5, 2);
      MomentumPacket<Real, D> packet;
      Real at_base[4] = {0, 0, 0, Real(m)}, slope[D][4] = {};
      for (int k = 0; k < D; ++k) {
        momentum[k] = normal(random);
        at_base[k] = Real(momentum[k]);
        for (int j = 0; j < D; ++j) {
          A(k, j) = normal(random);
          slope[j][k] = Real(A(k, j));
          at_base[k] -= Real(A(k, j)) * stencil.offset[j][l];
        }
        for (int j = 0; j < 3; ++j) packet.weight[k][j] = stencil.weight[k][j][l];
      }
      packet.at_base = Pack::load(at_base);
      for (int k = 0; k < D; ++k) packet.slope[k] = Pack::load(slope[k]);
      std::vector<Pack> acc(Shape::stencil, Pack(Real(0)));
      accumulate(packet, acc.data());
      for (int s = 0; s < Shape::stencil; ++s) {
        Pack& node = arena[std::size_t(static_cast<int>(stencil.cell[l]) + stencil_offset<D>(s))];
        node = node + acc[std::size_t(s)];
      }
      mass += m;
      linear += momentum;
      // sum w x_i (p + A (x_i - x_p))^T = x_p p^T + D A^T, D = 1/4 in units of the spacing.
      for (int a = 0; a < D; ++a)
        for (int b = 0; b < D; ++b) moment(a, b) += double(pack.x[a][l]) * momentum[b] + 0.25 * A(b, a);
    }
    double found_mass = 0;
    Vec<double, D> found_linear = Vec<double, D>::zero();
    Mat<double, D> found_moment = Mat<double, D>::zero();
    for (int i = 0; i < Shape::arena_nodes; ++i) {
      const Cell<D> at = unflatten<D>(i, Shape::arena_side);
      const Pack& node = arena[std::size_t(i)];
      found_mass += double(node[3]);
      for (int b = 0; b < D; ++b) {
        found_linear[b] += double(node[b]);
        for (int a = 0; a < D; ++a)
          found_moment(a, b) += double(4 * pack.block[a] - Shape::margin + at[a]) * double(node[b]);
      }
      for (int b = D; b < 3; ++b) ASSERT_EQ(node[b], 0);
    }
    ASSERT_NEAR(found_mass, mass, tolerance * mass);
    for (int a = 0; a < D; ++a) {
      ASSERT_NEAR(found_linear[a], linear[a], 10 * tolerance);
      for (int b = 0; b < D; ++b) ASSERT_NEAR(found_moment(a, b), moment(a, b), 200 * tolerance);
    }

    // v_i = a + B x_i on the nodes: a particle finds v(x_p), and the moment B / 4.
    Vec<double, D> shift;
    Mat<double, D> B;
    for (int k = 0; k < D; ++k) {
      shift[k] = normal(random);
      for (int j = 0; j < D; ++j) B(k, j) = normal(random);
    }
    for (int i = 0; i < Shape::arena_nodes; ++i) {
      const Cell<D> at = unflatten<D>(i, Shape::arena_side);
      for (int k = 0; k < D; ++k) {
        double v = shift[k];
        for (int j = 0; j < D; ++j) v += B(k, j) * (4 * pack.block[j] - Shape::margin + at[j]);
        arena[std::size_t(i)].set(k, Real(v));
      }
    }
    for (int l = 0; l < pack.W; ++l) {
      Real w[D][3], offset[D];
      for (int k = 0; k < D; ++k) {
        offset[k] = stencil.offset[k][l];
        for (int j = 0; j < 3; ++j) w[k][j] = stencil.weight[k][j][l];
      }
      const GridSample<Real, D> sample = gather(arena.data() + static_cast<int>(stencil.cell[l]), w, offset);
      for (int k = 0; k < D; ++k) {
        double v = shift[k];
        for (int j = 0; j < D; ++j) v += B(k, j) * double(pack.x[j][l]);
        ASSERT_NEAR(sample.velocity[k], v, 100 * tolerance);
        for (int j = 0; j < D; ++j) ASSERT_NEAR(sample.moment[j][k], 0.25 * B(k, j), 100 * tolerance);
      }
    }
  }
}

/// Theory A.5: the slope is m C dx - dt V 4/dx tau, the affine velocity 4/dx times the moment.
template <int D>
void check_apic() {
  std::mt19937_64 random(3);
  Mat<double, D> C;
  Sym<double, D> tau;
  for (int i = 0; i < D; ++i)
    for (int j = 0; j < D; ++j) C(i, j) = uniform(random, -1, 1);
  for (double& s : tau.s) s = uniform(random, -1, 1);
  const double m = 1.5, volume = 0.3, dx = 0.2, dt = 0.01;
  const Mat<double, D> A = momentum_slope(m, C, volume, tau, dx, dt);
  const Mat<double, D> back = velocity_gradient(C, dx);
  for (int i = 0; i < D; ++i)
    for (int j = 0; j < D; ++j) {
      EXPECT_NEAR(A(i, j), m * C(i, j) * dx - dt * volume * 4 / dx * tau(i, j), 1e-15);
      EXPECT_NEAR(back(i, j), 4 / dx * C(i, j), 1e-13);
    }
}
TEST(Apic, SlopesAndMoments) {
  check_apic<2>();
  check_apic<3>();
}

}  // namespace
}  // namespace tribo::TRIBO_BACKEND

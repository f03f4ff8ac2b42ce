#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>
#include <vector>

#include "cloud.h"
#include "tribo/transfer/all.h"
#include "tribo/transfer/kernels.h"
#include "tribo/transfer/modes.h"

/// \file
/// Transfers for every kernel, scheme and form of forces (theory A): against their definitions, what they conserve,
/// and the general kernels against the fast ones.

namespace tribo::TRIBO_BACKEND {
namespace {

using test::Cloud;
using test::Particle;
using test::random_particles;

/// N(u) and N'(u) as theory A.1 prints them.
double weight(int nodes, double u) {
  const double a = std::abs(u);
  if (nodes == 2) return a < 1 ? 1 - a : 0;
  if (nodes == 3) return a < 0.5 ? 0.75 - a * a : a < 1.5 ? 0.5 * (1.5 - a) * (1.5 - a) : 0;
  return a < 1 ? 0.5 * a * a * a - a * a + 2.0 / 3 : a < 2 ? (2 - a) * (2 - a) * (2 - a) / 6 : 0;
}
double weight_slope(int nodes, double u) {
  const double a = std::abs(u), sign = u < 0 ? -1 : 1;
  if (nodes == 2) return a < 1 ? -sign : 0;
  if (nodes == 3) return a < 0.5 ? -2 * u : a < 1.5 ? sign * (a - 1.5) : 0;
  return a < 1 ? sign * (1.5 * a * a - 2 * a) : a < 2 ? -sign * 0.5 * (2 - a) * (2 - a) : 0;
}

/// A scheme on a kernel with a form of forces.
struct Setting {
  std::string name;
  int kernel = 3;
  bool gradient_forces = false;
  TransferRule<double> rule;
};
std::vector<Setting> every_setting() {
  std::vector<Setting> all;
  const auto add = [&]<class Scheme>(const Scheme& scheme) {
    for (const KernelInfo& kernel : kernel_list)
      for (const bool gradient : {false, true}) {
        const TransferRule<double> rule = scheme.rule();
        if ((kernel.nodes == 2 && !gradient) || (rule.poly_degree > 0 && kernel.nodes != 3)) continue;
        if (kernel.nodes == 2 && std::is_same_v<Scheme, Rpic>) continue;  // refused
        all.push_back({std::string(Scheme::name) + "_" + kernel.name + (gradient ? "_gradient" : "_mls"), kernel.nodes,
                       gradient, rule});
      }
  };
  [&]<class... Scheme>(const std::variant<Scheme...>*) { (add(Scheme{}), ...); }(static_cast<const Transfer*>(nullptr));
  all.push_back({"polypic_multilinear", 3, false, PolyPic{1}.rule()});
  return all;
}

/// A cloud with random motion, stress and, for PolyPIC, higher modes.
Cloud<double> make_cloud(const Setting& setting, unsigned seed = 7) {
  std::vector<Particle> particles = random_particles(seed, 500, false);
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  const TransferRule<double>& rule = setting.rule;
  for (Particle& p : particles) {
    for (double& s : p.tau.s) s = 1e4 * normal(random);
    p.C = rule.kept(p.C);
  }
  Cloud<double> cloud(particles);
  cloud.constants.transfer = rule;
  cloud.constants.kernel = setting.kernel;
  cloud.constants.gradient_forces = setting.gradient_forces;
  auto& poly = cloud.state.particles.poly;
  poly.used = rule.poly_degree > 0;
  poly.resize_discard(cloud.state.count);
  if (poly.used)
    for (auto& column : poly.c)
      for (Index i = 0; i < cloud.state.count; ++i) column.data()[i] = normal(random);
  if (poly.used && rule.poly_degree == 1) {  // only products of linear modes
    int next = 0;
    for (int mode = 0; mode < 27; ++mode) {
      if (!beyond_affine<3>(mode)) continue;
      const Cell<3> powers = unflatten<3>(mode, 3);
      for (int k = 0; k < 3; ++k, ++next)
        if (powers[0] == 2 || powers[1] == 2 || powers[2] == 2)
          std::fill_n(poly.c[next].data(), cloud.state.count, 0.0);
    }
  }
  cloud.sort();
  return cloud;
}

using Nodes = std::map<std::array<int, 3>, std::array<double, 4>>;

/// Momentum and mass of all grid nodes as update_grid leaves them.
Nodes grid_nodes(Cloud<double>& cloud) {
  Nodes nodes;
  for (Index g = 0; g < cloud.work.block_count; ++g)
    for (int i = 0; i < BlockShape<3>::nodes; ++i) {
      const NodePack<double> pack = cloud.work.grid.data()[Size{g} * BlockShape<3>::nodes + i];
      if (pack[3] == 0) continue;
      const Cell<3> c = unflatten<3>(i, 4) + 4 * cloud.work.blocks.data()[g];
      nodes[{c[0], c[1], c[2]}] = {pack[0] * pack[3], pack[1] * pack[3], pack[2] * pack[3], pack[3]};
    }
  return nodes;
}

/// visit(node, w, grad w, x_i - x_p) over the nodes around a particle.
template <class Visit>
void around(const Vec<double, 3>& x, int kernel, const Visit& visit) {
  const double dx = Cloud<double>::dx;
  for (int s = 0; s < 125; ++s) {
    const Cell<3> c = unflatten<3>(s, 5);
    std::array<int, 3> node;
    Vec<double, 3> r, gradient;
    double w[3], d[3];
    for (int k = 0; k < 3; ++k) {
      node[std::size_t(k)] = static_cast<int>(std::floor(x[k] / dx)) + c[k] - 2;
      r[k] = dx * node[std::size_t(k)] - x[k];
      w[k] = weight(kernel, -r[k] / dx);
      d[k] = weight_slope(kernel, -r[k] / dx) / dx;
    }
    const double all = w[0] * w[1] * w[2];
    gradient = {{d[0] * w[1] * w[2], w[0] * d[1] * w[2], w[0] * w[1] * d[2]}};
    if (all != 0 || squared_norm(gradient) != 0) visit(node, all, gradient, r);
  }
}

struct Momenta {
  double mass = 0;
  Vec<double, 3> linear = Vec<double, 3>::zero(), angular = Vec<double, 3>::zero();
};
Momenta of_nodes(const Nodes& nodes) {
  Momenta sum;
  for (const auto& [key, value] : nodes) {
    const Vec<double, 3> p{{value[0], value[1], value[2]}};
    sum.mass += value[3];
    sum.linear += p;
    sum.angular += cross(Cloud<double>::dx * Vec<double, 3>{{double(key[0]), double(key[1]), double(key[2])}}, p);
  }
  return sum;
}
/// With the part of angular momentum that the affine motion carries, eps : (C D) (theory A.6).
Momenta of_particles(Cloud<double>& cloud) {
  Momenta sum;
  for (Index i = 0; i < cloud.state.count; ++i) {
    const Particle p = cloud.at(i);
    sum.mass += p.m;
    sum.linear += p.m * p.v;
    Mat<double, 3> B = p.C;
    for (int b = 0; b < 3; ++b) {
      double inertia = 0;
      const double dx = Cloud<double>::dx, base = std::floor(p.x[b] / dx);
      for (double n = base - 2; n <= base + 3; ++n)
        inertia += weight(cloud.constants.kernel, p.x[b] / dx - n) * (n * dx - p.x[b]) * (n * dx - p.x[b]);
      for (int a = 0; a < 3; ++a) B(a, b) *= inertia;
    }
    sum.angular += p.m * (cross(p.x, p.v) + Vec<double, 3>{{B(2, 1) - B(1, 2), B(0, 2) - B(2, 0), B(1, 0) - B(0, 1)}});
  }
  return sum;
}
void expect_same(const Momenta& a, const Momenta& b, double scale) {
  EXPECT_NEAR(a.mass, b.mass, 1e-10 * a.mass);
  for (int k = 0; k < 3; ++k) {
    EXPECT_NEAR(a.linear[k], b.linear[k], 1e-10 * scale);
    EXPECT_NEAR(a.angular[k], b.angular[k], 1e-10 * scale);
  }
}

class EverySetting : public ::testing::TestWithParam<Setting> {};

TEST_P(EverySetting, ParticlesToGridMatchesTheDefinition) {
  Cloud<double> cloud = make_cloud(GetParam());
  const double dt = 1e-3, dx = Cloud<double>::dx;
  const double inverse_inertia = 1 / (kernel_inertia(GetParam().kernel) * dx * dx);
  Nodes expected;
  for (Index i = 0; i < cloud.state.count; ++i) {
    const Particle p = cloud.at(i);
    const double volume = p.m / cloud.constants.densities[std::size_t(cloud.work.object_group.data()[p.object])];
    around(p.x, GetParam().kernel,
           [&](const std::array<int, 3>& key, double w, Vec<double, 3> gradient, Vec<double, 3> r) {
             std::array<double, 4>& node = expected[key];
             node[3] += w * p.m;
             Vec<double, 3> velocity = p.v + p.C * r;
             if (cloud.state.particles.poly.used) {
               // S_r as theory A.4 prints them.
               double s[3][3];
               for (int k = 0; k < 3; ++k) {
                 const double z = r[k] / dx, delta = p.x[k] / dx - std::floor(p.x[k] / dx + 0.5);
                 s[k][0] = 1;
                 s[k][1] = z;
                 s[k][2] = z * z - delta * (1 - 4 * delta * delta) * z - 0.25;
               }
               int next = 0;
               for (int mode = 0; mode < 27; ++mode) {
                 const Cell<3> q = unflatten<3>(mode, 3);
                 if (q[0] + q[1] + q[2] < 2) continue;
                 for (int k = 0; k < 3; ++k, ++next)
                   velocity[k] += s[0][q[0]] * s[1][q[1]] * s[2][q[2]] * cloud.particles().poly[next][i];
               }
             }
             for (int k = 0; k < 3; ++k) {
               node[std::size_t(k)] += w * p.m * velocity[k];
               for (int j = 0; j < 3; ++j)
                 node[std::size_t(k)] -= dt * volume * p.tau(k, j) *
                                         (GetParam().gradient_forces ? gradient[j] : w * inverse_inertia * r[j]);
             }
           });
  }
  p2g(cloud.ex, cloud.constants, cloud.state, dt, cloud.work);
  update_grid(cloud.ex, cloud.constants, {}, dt, cloud.work);
  const Nodes found = grid_nodes(cloud);
  for (const auto& [key, value] : expected) {
    if (value[3] < 1e-9) continue;
    ASSERT_TRUE(found.contains(key));
    for (std::size_t k = 0; k < 4; ++k) ASSERT_NEAR(found.at(key)[k], value[k], 1e-11 * (1 + std::abs(value[k])));
  }
}

/// Theory A.6: every scheme conserves mass and momenta towards the grid, and linear momentum back. The affine ones
/// keep angular momentum too.
TEST_P(EverySetting, ConservesWhatItPromises) {
  Cloud<double> cloud = make_cloud(GetParam());
  const Momenta before = of_particles(cloud);
  const double scale = 3e3;
  p2g(cloud.ex, cloud.constants, cloud.state, 1e-3, cloud.work);
  update_grid(cloud.ex, cloud.constants, {}, 1e-3, cloud.work);
  const Momenta on_grid = of_nodes(grid_nodes(cloud));
  expect_same(before, on_grid, scale);
  ASSERT_EQ(g2p(cloud.ex, cloud.constants, 0, cloud.state, cloud.work), (Workspace<double, 3>::none));
  Momenta after = of_particles(cloud);
  if (GetParam().rule.keep_skew < 1) after.angular = on_grid.angular;
  expect_same(on_grid, after, scale);
}

/// v = a + B x, with C = B where kept, comes back and deforms particles exactly, by either form of the gradient.
TEST_P(EverySetting, AffineMotionOnTheGridIsSeenExactly) {
  Cloud<double> cloud = make_cloud(GetParam());
  const Vec<double, 3> a{{0.3, -1.2, 0.7}};
  const Mat<double, 3> B{{{0.5, -2, 1}, {1.5, 0.25, -0.75}, {-1, 0.1, -0.6}}};
  p2g(cloud.ex, cloud.constants, cloud.state, 0, cloud.work);
  update_grid(cloud.ex, cloud.constants, {}, 0, cloud.work);
  for (Index g = 0; g < cloud.work.block_count; ++g)
    for (int i = 0; i < 64; ++i) {
      const Cell<3> c = unflatten<3>(i, 4) + 4 * cloud.work.blocks.data()[g];
      const Vec<double, 3> v = a + B * (Cloud<double>::dx * Vec<double, 3>{{double(c[0]), double(c[1]), double(c[2])}});
      NodePack<double>& node = cloud.work.grid.data()[Size{g} * 64 + i];
      node = node_pack<double>(v[0], v[1], v[2], node[3]);
      if (cloud.work.grid_before.size() > 0)
        cloud.work.grid_before.data()[Size{g} * 64 + i] = node_pack<double>(0, 0, 0, node[3]);
    }
  std::vector<Particle> start(std::size_t(cloud.state.count));
  for (Index i = 0; i < cloud.state.count; ++i) start[std::size_t(i)] = cloud.at(i);
  const double dt = 1e-2;
  g2p(cloud.ex, cloud.constants, dt, cloud.state, cloud.work);
  const Mat<double, 3> kept = GetParam().rule.kept(B);
  for (Index i = 0; i < cloud.state.count; ++i) {
    const Particle p = cloud.at(i);
    const Vec<double, 3> v = a + B * start[std::size_t(i)].x;
    for (int k = 0; k < 3; ++k) {
      ASSERT_NEAR(p.v[k], v[k] + GetParam().rule.flip * start[std::size_t(i)].v[k], 1e-11);
      ASSERT_NEAR(p.x[k], start[std::size_t(i)].x[k] + dt * v[k], 1e-11);
      for (int j = 0; j < 3; ++j) {
        ASSERT_NEAR(p.C(k, j), kept(k, j), 1e-10);
        ASSERT_NEAR(cloud.particles().F[3 * k + j][i], (k == j ? 1 : 0) + dt * B(k, j), 1e-11);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Transfers, EverySetting, ::testing::ValuesIn(every_setting()),
                         [](const auto& setting) { return setting.param.name; });

/// Where the fast kernels can do it, the general ones do the same.
TEST(GeneralTransfer, AgreesWithTheFastKernels) {
  int compared = 0;
  for (const Setting& setting : every_setting()) {
    Cloud<double> fast = make_cloud(setting), general = make_cloud(setting);
    if (!fast.constants.fast()) continue;
    ++compared;
    general.work.gradient.used = true;
    general.work.gradient.resize_discard(general.state.count);
    p2g(fast.ex, fast.constants, fast.state, 1e-3, fast.work);
    scatter_any(general.ex, general.constants, general.state, 1e-3, general.work.arenas, general.work);
    if (setting.rule.flip > 0)
      scatter_any(general.ex, general.constants, general.state, 0, general.work.arenas_before, general.work);
    update_grid(fast.ex, fast.constants, {}, 1e-3, fast.work);
    update_grid(general.ex, general.constants, {}, 1e-3, general.work);
    const Nodes a = grid_nodes(fast), b = grid_nodes(general);
    for (const auto& [key, value] : a)
      for (std::size_t k = 0; k < 4; ++k)
        ASSERT_NEAR(value[k], b.at(key)[k], 1e-12 * (1 + std::abs(value[k]))) << setting.name;
    g2p(fast.ex, fast.constants, 1e-3, fast.state, fast.work);
    gather_any(general.ex, general.constants, 1e-3, general.state, general.work);
    deform(general.ex, general.constants, 1e-3, general.state, general.work);
    EXPECT_NEAR(fast.state.speed, general.state.speed, 1e-9 * fast.state.speed);
    for (Index i = 0; i < fast.state.count; ++i) {
      const Particle p = fast.at(i), q = general.at(i);
      for (int k = 0; k < 3; ++k) {
        ASSERT_NEAR(p.x[k], q.x[k], 1e-12) << setting.name;
        ASSERT_NEAR(p.v[k], q.v[k], 1e-10) << setting.name;
        for (int j = 0; j < 3; ++j) ASSERT_NEAR(p.C(k, j), q.C(k, j), 1e-8) << setting.name;
      }
    }
  }
  EXPECT_EQ(compared, 4);
}

/// Theory A.4: the modes are orthogonal under the weights with the printed norms, and three modes hold three nodes.
TEST(PolyPicModes, AreOrthogonalAndComplete) {
  for (double offset = 0.51; offset < 1.49; offset += 0.02) {
    const SplineWeights<double, 3> w(offset);
    const AxisModes<double> modes(offset, w.w, 2);
    for (int a = 0; a < 3; ++a)
      for (int b = 0; b < 3; ++b) {
        double inner = 0, back = 0;
        for (int j = 0; j < 3; ++j) {
          inner += w.w[j] * modes.at_node[j][a] * modes.at_node[j][b];
          back += modes.from_node[a][j] * modes.at_node[j][b];
        }
        EXPECT_NEAR(inner, a == b ? modes.norm[a] : 0, 1e-14);
        EXPECT_NEAR(back, a == b ? 1 : 0, 1e-12);
        // The projection under the weights.
        double projected = 0;
        for (int j = 0; j < 3; ++j) projected += w.w[j] * modes.at_node[j][a] * modes.at_node[j][b] / modes.norm[a];
        EXPECT_NEAR(projected, back, 1e-9);
      }
  }
}

TEST(PolyPicModes, TransformAxesIsTheTensorProduct) {
  const double x[3][3] = {{1, 2, -1}, {0.5, 0, 3}, {2, -2, 1}}, y[3][3] = {{0, 1, 1}, {-1, 2, 0}, {4, 1, 0.25}};
  double values[9], expected[9] = {};
  for (int i = 0; i < 9; ++i) values[i] = i * i - 3.0 * i + 1;
  for (int i = 0; i < 9; ++i)
    for (int j = 0; j < 9; ++j) expected[i] += x[i / 3][j / 3] * y[i % 3][j % 3] * values[j];
  const double(*const table[2])[3] = {x, y};
  transform_axes<2>(table, values);
  for (int i = 0; i < 9; ++i) EXPECT_NEAR(values[i], expected[i], 1e-12);
}

}  // namespace
}  // namespace tribo::TRIBO_BACKEND

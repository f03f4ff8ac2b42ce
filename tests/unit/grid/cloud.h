#pragma once

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include "tribo/grid/law_stages.h"
#include "tribo/models/all.h"

namespace tribo::TRIBO_BACKEND::test {

/// One particle as a test gives it.
struct Particle {
  Vec<double, 3> x;
  Vec<double, 3> v = Vec<double, 3>::zero();
  Mat<double, 3> C = Mat<double, 3>::zero();
  Sym<double, 3> tau = Sym<double, 3>::isotropic(0);
  double m = 1;
  Index object = 0;
};

inline double uniform(std::mt19937_64& random, double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(random);
}

/// Particles and all that the stages need, without a scene. Objects 0, 1, 2 are of materials 1, 0, 1, so that neither
/// the order of materials nor that of objects is the order of particles.
template <class Real>
struct Cloud {
  static constexpr double dx = 0.25;

  Exec ex;
  Constants<Real, 3> constants;
  State<Real, 3> state;
  Workspace<Real, 3> work;

  explicit Cloud(const std::vector<Particle>& particles, int threads = 2, double mu = 0, double lambda = 0)
      : ex(threads) {
    constants.dx = Real(dx);
    state.particles.poly.used = false;
    constants.gravity = Vec<Real, 3>::zero();
    constants.laws.assign(2, stages_of_any<Real, 3>(FixedCorotated<double>{mu, lambda, 0}));
    constants.densities = {1000, 500};
    const std::vector<Real> inverse_density = {Real(1) / 1000, Real(1) / 500};
    copy_to_device(ex, inverse_density.data(), work.inverse_density, 2);
    const std::vector<Index> group = {1, 0, 1};
    copy_to_device(ex, group.data(), work.object_group, 3);

    const auto n = static_cast<Index>(particles.size());
    state.count = n;
    each_column(state.particles, [&](const char*, auto& field) { field.resize_discard(n); });
    const ParticlesView<Real, 3> p = view(state.particles);
    for (Index i = 0; i < n; ++i) {
      const Particle& from = particles[static_cast<std::size_t>(i)];
      for (int k = 0; k < 3; ++k) {
        p.x[k][i] = Real(from.x[k]);
        p.v[k][i] = Real(from.v[k]);
        for (int j = 0; j < 3; ++j) {
          p.C[3 * k + j][i] = Real(from.C(k, j));
          p.F[3 * k + j][i] = Real(k == j ? 1 : 0);
        }
      }
      for (int k = 0; k < 2; ++k) p.history[k][i] = Real(0);
      for (int k = 0; k < 6; ++k) p.tau[k][i] = Real(from.tau.s[k]);
      p.m[0][i] = Real(from.m);
      p.id[0][i] = i;
      p.object[0][i] = from.object;
    }
  }

  void sort() {
    sort_particles(ex, constants, state, work);
    build_grid(ex, constants, state, work);
  }
  ParticlesView<Real, 3> particles() { return view(state.particles); }
  /// Particle i, in the precision of the cloud.
  Particle at(Index i) {
    const ParticlesView<Real, 3> p = particles();
    Particle r;
    for (int k = 0; k < 3; ++k) {
      r.x[k] = p.x[k][i];
      r.v[k] = p.v[k][i];
      for (int j = 0; j < 3; ++j) r.C(k, j) = p.C[3 * k + j][i];
    }
    for (int k = 0; k < 6; ++k) r.tau.s[k] = p.tau[k][i];
    r.m = p.m[0][i];
    r.object = p.object[0][i];
    return r;
  }
  /// Base node of particle i, by the standard library.
  Cell<3> base(Index i) {
    Cell<3> cell;
    for (int k = 0; k < 3; ++k)
      cell[k] = static_cast<std::int32_t>(std::floor(particles().x[k][i] * (Real(1) / constants.dx) - Real(0.5)));
    return cell;
  }
};

/// Particles of all objects in clusters that lie far apart, on both sides of the origin, with random motion.
inline std::vector<Particle> random_particles(unsigned seed, int per_cluster = 400, bool far = true) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  const Vec<double, 3> centers[] = {{{0, 0, 0}}, {{3, -2, 1}}, {{-500, 70, 3}}, {{40, 41, -900}}};
  std::vector<Particle> all;
  for (int c = 0; c < (far ? 4 : 2); ++c)
    for (int i = 0; i < per_cluster; ++i) {
      Particle p;
      for (int k = 0; k < 3; ++k) {
        p.x[k] = centers[c][k] + uniform(random, -1.3, 1.3);
        p.v[k] = normal(random);
        for (int j = 0; j < 3; ++j) p.C(k, j) = normal(random);
      }
      p.m = uniform(random, 0.5, 2);
      p.object = static_cast<Index>(random() % 3);
      all.push_back(p);
    }
  // Neighbors in the list are strangers in space.
  std::shuffle(all.begin(), all.end(), random);
  return all;
}

}  // namespace tribo::TRIBO_BACKEND::test

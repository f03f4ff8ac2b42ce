#pragma once

#include "tribo/grid/stages.h"
#include "tribo/grid/stencil.h"
#include "tribo/models/law.h"

/// \file
/// What kernels that run a material's law share: a pack's step, and what it means for the next time step.

namespace tribo::TRIBO_BACKEND {

template <class Real, int D>
using BinResult = typename Workspace<Real, D>::BinResult;

/// Largest speed and stiffness of the particles one thread has seen, and its first bad one. T is a pack or one number.
template <class Real, int D, class T = ParticlePack<Real>>
struct Extremes {
  T speed = T(Real(0));
  T stiffness = T(Real(0));
  Index first_bad = Workspace<Real, D>::none;

  TRIBO_HD void add(Index i, int n, const Vec<T, D>& v, const Mat<T, D>& C, const T& dx,
                    const Response<T, D>& response) {
    T squares = T(Real(0));
    for (int a = 0; a < D; ++a)
      for (int b = 0; b < D; ++b) squares = fma(C(a, b), C(a, b), squares);
    // Theory J: the affine part moves nodes around the particle too.
    const T bound = fma(dx, sqrt(squares), sqrt(squared_norm(v)));
    speed = max(speed, bound);
    stiffness = max(stiffness, response.stiffness);
    // A NaN or infinity anywhere in v, C or tau makes this sum fail the test; in F it shows in tau.
    T stress = T(Real(0));
    for (int k = 0; k < Sym<T, D>::size; ++k) stress = stress + abs(response.tau.s[k]);
    const T all = bound + stress + response.stiffness;
    constexpr Real huge = Real(1e30);
    const auto fine = all < T(huge);
    if (tribo::all(fine)) return;
    for (int l = n - 1; l >= 0; --l)
      if (!(lane(all, l) < huge) && i + l < first_bad) first_bad = i + l;
  }
};

template <class Real, int D, class T>
TRIBO_HD void join_results(const Team& team, const Extremes<Real, D, T>& mine, BinResult<Real, D>* shared,
                           BinResult<Real, D>& out) {
  shared[team.rank()] = {horizontal_max(mine.speed), horizontal_max(mine.stiffness), mine.first_bad};
  team.barrier();
  if (team.rank() != 0) return;
  BinResult<Real, D> r = shared[0];
  for (int i = 1; i < Team::size; ++i) {
    r.speed = max(r.speed, shared[i].speed);
    r.stiffness = max(r.stiffness, shared[i].stiffness);
    r.first_bad = shared[i].first_bad < r.first_bad ? shared[i].first_bad : r.first_bad;
  }
  out = r;
}

/// Stress after a step with velocity gradient L, and the strain there.
template <class Law, class T, int D>
TRIBO_HD Response<T, D> step_law(const Law& law, const Mat<T, D>& L, const T& dt, Strain<T, D>& strain) {
  Response<T, D> response = advance_law(law, L * dt, strain, dt);
  if constexpr (Viscous<Law>) {
    const Sym<T, D> viscous = law.viscous_stress(L, strain);
    for (int k = 0; k < Sym<T, D>::size; ++k) response.tau.s[k] = response.tau.s[k] + viscous.s[k];
  }
  return response;
}

/// What a bin's results say about time steps: speed, wave speed squared (of the bin's own material), bad particle.
struct StepBounds {
  double speed;
  double wave_speed2;
  Index first_bad;
};
template <class Real, int D>
struct LoadBounds {
  const BinResult<Real, D>* results;
  const Bin<D>* bins;
  const Real* inverse_density;
  TRIBO_HD StepBounds operator()(Index i) const {
    const BinResult<Real, D> r = results[i];
    return {static_cast<double>(r.speed),
            static_cast<double>(r.stiffness) * static_cast<double>(inverse_density[bins[i].group]), r.first_bad};
  }
};
struct JoinBounds {
  TRIBO_HD StepBounds operator()(const StepBounds& a, const StepBounds& b) const {
    return {a.speed > b.speed ? a.speed : b.speed, a.wave_speed2 > b.wave_speed2 ? a.wave_speed2 : b.wave_speed2,
            a.first_bad < b.first_bad ? a.first_bad : b.first_bad};
  }
};

template <class Real, int D>
Index take_bounds(Exec& ex, const char* label, State<Real, D>& state, Workspace<Real, D>& work) {
  const StepBounds bounds = reduce(
      ex, label, state.bin_count, StepBounds{0, 0, Workspace<Real, D>::none},
      LoadBounds<Real, D>{work.bin_results.data(), state.bins.data(), work.inverse_density.data()}, JoinBounds{});
  state.speed = bounds.speed;
  state.wave_speed2 = bounds.wave_speed2;
  return bounds.first_bad;
}

}  // namespace tribo::TRIBO_BACKEND

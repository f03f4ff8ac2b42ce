#pragma once

#include "tribo/grid/per_material.h"

/// \file
/// Strain and stress of particles beside the transfers: after a gather of any kind, before the first step, for output.

namespace tribo::TRIBO_BACKEND {

template <class Real, int D>
struct ResultScratch {
  BinResult<Real, D> result[Team::size];
};

/// The response of a law as it is compiled once, for packs.
template <class Law, class T, int D>
TRIBO_OUTLINED Response<T, D> respond(const Law& law, const Strain<T, D>& strain) {
  return law.response(strain);
}

/// Strain and stress of one bin's particles after a step whose velocity gradients are known.
template <class Real, int D, class Law>
struct DeformBin {
  using T = ParticlePack<Real>;
  static constexpr int W = pack_width<Real>;

  ParticlesView<Real, D> p;
  FieldView<Real, D * D> gradient;
  const Bin<D>* bins;
  Law law;
  Real dx;
  Real dt;
  Index first_bin;
  BinResult<Real, D>* results;

  TRIBO_HD void operator()(const Team& team, Index item, ResultScratch<Real, D>& scratch) const {
    const Index b = first_bin + item;
    Extremes<Real, D> extremes;
    for (Index i = bins[b].begin + team.rank() * W; i < bins[b].end; i += Team::size * W) {
      const int n = bins[b].end - i < W ? static_cast<int>(bins[b].end - i) : W;
      Vec<T, D> v;
      Mat<T, D> L;
      Strain<T, D> strain;
      load_columns(p.v, i, n, v.c);
      load_columns(gradient, i, n, &L.m[0][0]);
      load_columns(p.F, i, n, &strain.F.m[0][0]);
      load_columns(p.history, i, n, strain.history.c);
      const Response<T, D> response = step_law(law, L, T(dt), strain);
      extremes.add(i, n, v, L, T(dx), response);
      for (int k = 0; k < D * D; ++k) store_pack<Real>(p.F[k] + i, (&strain.F.m[0][0])[k], n);
      for (int k = 0; k < 2; ++k) store_pack<Real>(p.history[k] + i, strain.history[k], n);
      for (int k = 0; k < Sym<T, D>::size; ++k) store_pack<Real>(p.tau[k] + i, response.tau.s[k], n);
    }
    join_results(team, extremes, scratch.result, results[b]);
  }
};

/// Stress of particles that have not moved: the first step's.
template <class Real, int D, class Law>
struct StressBin {
  using T = ParticlePack<Real>;
  static constexpr int W = pack_width<Real>;

  ParticlesView<Real, D> p;
  const Bin<D>* bins;
  Law law;
  Real dx;
  Index first_bin;
  BinResult<Real, D>* results;

  TRIBO_HD void operator()(const Team& team, Index item, ResultScratch<Real, D>& scratch) const {
    const Index b = first_bin + item;
    Extremes<Real, D> extremes;
    for (Index i = bins[b].begin + team.rank() * W; i < bins[b].end; i += Team::size * W) {
      const int n = bins[b].end - i < W ? static_cast<int>(bins[b].end - i) : W;
      Vec<T, D> v;
      Mat<T, D> C;
      Strain<T, D> strain;
      load_columns(p.v, i, n, v.c);
      load_columns(p.C, i, n, &C.m[0][0]);
      load_columns(p.F, i, n, &strain.F.m[0][0]);
      load_columns(p.history, i, n, strain.history.c);
      const Response<T, D> response = respond(law, strain);
      extremes.add(i, n, v, C, T(dx), response);
      for (int k = 0; k < Sym<T, D>::size; ++k) store_pack<Real>(p.tau[k] + i, response.tau.s[k], n);
    }
    join_results(team, extremes, scratch.result, results[b]);
  }
};

/// Energy density and volume ratio, for output.
template <class Real, int D, class Law>
struct ObserveParticle {
  ParticlesView<Real, D> p;
  Law law;
  Index first;
  Real* energy_density;
  Real* volume_ratio;
  Real* strain_norm;

  TRIBO_HD void operator()(Index item) const {
    const Index i = first + item;
    Strain<Real, D> strain;
    for (int k = 0; k < D * D; ++k) (&strain.F.m[0][0])[k] = p.F[k][i];
    for (int k = 0; k < 2; ++k) strain.history[k] = p.history[k][i];
    energy_density[i] = law.energy(strain);
    volume_ratio[i] = law.volume_ratio(strain);
    Vec<Real, D> squared_stretches;
    Mat<Real, D> directions;
    symmetric_eigen(times_own_transpose(strain.F), squared_stretches, directions);
    Real sum = 0;
    for (int k = 0; k < D; ++k) {
      const Real e = Real(0.5) * log(max(squared_stretches[k], Real(1e-30)));  // a crushed element: large, yet finite
      sum = fma(e, e, sum);
    }
    strain_norm[i] = sqrt(sum);
  }
};

}  // namespace tribo::TRIBO_BACKEND

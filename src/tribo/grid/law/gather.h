#pragma once

#include "tribo/grid/arena.h"
#include "tribo/grid/per_material.h"

namespace tribo::TRIBO_BACKEND {

template <class Real, int D>
struct GatherScratch : Arena<Real, D> {
  BinResult<Real, D> result[Team::size];
};

/// Moves one bin's particles by the grid (theory A.2, A.5): velocities of the block and its neighbors are laid into
/// an arena, then each pack of particles gathers, moves, deforms and computes its next stress.
template <class Real, int D, class Law>
struct GatherBin {
  using T = ParticlePack<Real>;
  using Pack = NodePack<Real>;
  using Shape = BlockShape<D>;
  static constexpr int W = pack_width<Real>;

  ParticlesView<Real, D> p;
  const Bin<D>* bins;
  const Index* bin_blocks;
  const Pack* grid;
  const Pack* grid_before;
  TransferRule<Real> rule;
  Law law;
  Real dx;
  Real dt;
  Index first_bin;
  BinResult<Real, D>* results;

  TRIBO_HD void operator()(const Team& team, Index item, GatherScratch<Real, D>& scratch) const {
    const Index b = first_bin + item;
    const Bin<D> bin = bins[b];
    const Index* const blocks = bin_blocks + Size{b} * Shape::neighbors;
    if (rule.flip > Real(0)) {
      fill_arena<D, 3>(team, blocks, grid_before, scratch.node);
      team.barrier();
      for (Index i = bin.begin + team.rank() * W; i < bin.end; i += Team::size * W) {
        const int n = bin.end - i < W ? static_cast<int>(bin.end - i) : W;
        keep_own_part(bin, i, n, scratch.node);
      }
      team.barrier();
    }
    fill_arena<D, 3>(team, blocks, grid, scratch.node);
    team.barrier();
    Extremes<Real, D> extremes;
    for (Index i = bin.begin + team.rank() * W; i < bin.end; i += Team::size * W) {
      const int n = bin.end - i < W ? static_cast<int>(bin.end - i) : W;
      move(bin, i, n, scratch.node, extremes);
    }
    join_results(team, extremes, scratch.result, results[b]);
  }

 private:
  TRIBO_HD PackSample<Real, D> sample(const Bin<D>& bin, const T* x, int n, const Pack* node) const {
    return sample_pack(PackStencil<Real, D>(x, T(Real(1) / dx), bin.block), n, node);
  }

  /// What of its own velocity the grid did not see before the step, flip (v_p - sum w v_i), stays with the particle.
  TRIBO_HD void keep_own_part(const Bin<D>& bin, Index i, int n, const Pack* node) const {
    T x[D], v[D];
    load_columns(p.x, i, n, x);
    load_columns(p.v, i, n, v);
    const PackSample<Real, D> seen = sample(bin, x, n, node);
    for (int k = 0; k < D; ++k) store_pack<Real>(p.v[k] + i, T(rule.flip) * (v[k] - seen.v[k]), n);
  }

  TRIBO_HD void move(const Bin<D>& bin, Index i, int n, const Pack* node, Extremes<Real, D>& extremes) const {
    T x[D];
    load_columns(p.x, i, n, x);
    const PackSample<Real, D> seen = sample(bin, x, n, node);
    const Mat<T, D> L = velocity_gradient(seen.moment, T(dx));
    Vec<T, D> v = seen.v;
    if (rule.flip > Real(0)) {
      T own[D];
      load_columns(p.v, i, n, own);
      for (int k = 0; k < D; ++k) v[k] = v[k] + own[k];
    }
    Strain<T, D> strain;
    load_columns(p.F, i, n, &strain.F.m[0][0]);
    load_columns(p.history, i, n, strain.history.c);
    const Response<T, D> response = step_law(law, L, T(dt), strain);
    extremes.add(i, n, v, L, T(dx), response);

    const Mat<T, D> C = rule.kept(L);
    for (int k = 0; k < D; ++k) {
      store_pack<Real>(p.x[k] + i, fma(T(dt), seen.v[k], x[k]), n);
      store_pack<Real>(p.v[k] + i, v[k], n);
    }
    for (int k = 0; k < D * D; ++k) {
      store_pack<Real>(p.C[k] + i, (&C.m[0][0])[k], n);
      store_pack<Real>(p.F[k] + i, (&strain.F.m[0][0])[k], n);
    }
    for (int k = 0; k < 2; ++k) store_pack<Real>(p.history[k] + i, strain.history[k], n);
    for (int k = 0; k < Sym<T, D>::size; ++k) store_pack<Real>(p.tau[k] + i, response.tau.s[k], n);
  }
};

}  // namespace tribo::TRIBO_BACKEND

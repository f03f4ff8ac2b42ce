#pragma once

#include "tribo/grid/arena.h"
#include "tribo/grid/stages.h"
#include "tribo/models/step_force.h"

/// \file
/// Implicit steps, the part over particles: forces for velocities, and changes of forces for changes of velocities.

namespace tribo::TRIBO_BACKEND::implicit {

/// What all kernels over particles need.
template <class Real, int D>
struct ParticleAccess {
  ParticlesView<Real, D> p;
  FieldView<Real, Sym<Real, D * D>::size> tangent;
  const Bin<D>* bins;
  const Index* bin_blocks;
  const Real* inverse_density;
  Real dx;
  Real dt;
  NodePack<Real>* arenas;
};

template <class Real, int D>
ParticleAccess<Real, D> particle_access(const Constants<Real, D>& constants, double dt, State<Real, D>& state,
                                        Workspace<Real, D>& work) {
  return {view(state.particles),  view(work.implicit.tangent), state.bins.data(),
          work.bin_blocks.data(), work.inverse_density.data(), constants.dx,
          static_cast<Real>(dt),  work.arenas.data()};
}

template <class Real, int D>
struct TwoArenas {
  NodePack<Real> in[BlockShape<D>::arena_nodes];
  NodePack<Real> out[BlockShape<D>::arena_nodes];
};

/// Of n particles from i, for step gradients.
template <class Real, int D>
using ForceOfPack = Mat<ParticlePack<Real>, D>(Index i, int n, const Mat<ParticlePack<Real>, D>& G);

/// Lays `nodes` into an arena, lets `force(i, n, G)` answer the step gradients G = dt grad v of each pack of particles,
/// and sums V dt D^-1 force w (x_i - x_p) into the bin's own arena, run by run as in p2g.
template <class Real, int D, class Force>
TRIBO_OUTLINED void exchange(const Team& team, Index b, const ParticleAccess<Real, D>& access,
                             const NodePack<Real>* nodes, TwoArenas<Real, D>& scratch, const Force& force) {
  using T = ParticlePack<Real>;
  using Pack = NodePack<Real>;
  using Shape = BlockShape<D>;
  fill_arena<D, 3>(team, access.bin_blocks + Size{b} * Shape::neighbors, nodes, scratch.in);
  for (int i = team.rank(); i < Shape::arena_nodes; i += Team::size) scratch.out[i] = Pack(Real(0));
  team.barrier();

  const Bin<D> bin = access.bins[b];
  const Real scale = access.inverse_density[bin.group] * access.dt * Real(4) / access.dx;
  scatter_bin<Real, D>(team, access.p.x, access.dx, bin, scratch.out, [&](Index i, int n, ScatterRows<Real, D>& rows) {
    T x[D], m;
    load_columns(access.p.x, i, n, x);
    load_columns(access.p.m, i, n, &m);
    const PackStencil<Real, D> stencil(x, T(Real(1) / access.dx), bin.block);
    const PackSample<Real, D> seen = sample_pack(stencil, n, scratch.in);
    const Mat<T, D> slope = force(i, n, velocity_gradient(seen.moment, T(access.dx)) * T(access.dt)) * (m * T(scale));
    rows.set(stencil, Vec<T, D>::zero(), slope, T(Real(0)));
  });
  Pack* const out = access.arenas + Size{b} * Shape::arena_nodes;
  for (int i = team.rank(); i < Shape::arena_nodes; i += Team::size) out[i] = scratch.out[i];
}

/// Forces of one bin at the velocities `grid`, and their tangents for the linear systems to come.
template <class Real, int D, class Law>
struct LinearizeBin {
  ParticleAccess<Real, D> access;
  const NodePack<Real>* grid;
  Law law;
  Index first_bin;

  TRIBO_HD void operator()(const Team& team, Index item, TwoArenas<Real, D>& scratch) const {
    using T = ParticlePack<Real>;
    const auto answer = [&](Index i, int n, const Mat<T, D>& G) {
      Strain<T, D> strain;
      load_columns(access.p.F, i, n, &strain.F.m[0][0]);
      load_columns(access.p.history, i, n, strain.history.c);
      const StepForce<T, D> force = step_force(law, G, strain, T(access.dt));
      for (int k = 0; k < Sym<T, D * D>::size; ++k) store_pack<Real>(access.tangent[k] + i, force.K.s[k], n);
      return force.S;
    };
    exchange(team, first_bin + item, access, grid, scratch, shared_call<ForceOfPack<Real, D>>(answer));
  }
};

/// Changes of the forces for changes of velocity.
template <class Real, int D>
struct ApplyTangent {
  ParticleAccess<Real, D> access;
  const NodePack<Real>* direction;

  TRIBO_HD void operator()(const Team& team, Index b, TwoArenas<Real, D>& scratch) const {
    using T = ParticlePack<Real>;
    exchange(team, b, access, direction, scratch, [&](Index i, int n, const Mat<T, D>& G) {
      Sym<T, D * D> K;
      load_columns(access.tangent, i, n, K.s);
      const T* const g = &G.m[0][0];
      Mat<T, D> S;
      for (int r = 0; r < D * D; ++r) {
        T sum = K(r, 0) * g[0];
        for (int c = 1; c < D * D; ++c) sum = fma(K(r, c), g[c], sum);
        (&S.m[0][0])[r] = sum;
      }
      return S;
    });
  }
};

/// Largest velocity component of a bin's particles. Not of nodes: light ones at the rim of a body may fly, since their
/// motion hardly strains or moves any particle.
template <class Real, int D>
struct SpeedOfBin {
  ParticleAccess<Real, D> access;
  const NodePack<Real>* grid;
  Real* speed;

  struct Scratch {
    NodePack<Real> node[BlockShape<D>::arena_nodes];
    Real speed[Team::size];
  };
  TRIBO_HD void operator()(const Team& team, Index b, Scratch& scratch) const {
    using T = ParticlePack<Real>;
    constexpr int W = pack_width<Real>;
    fill_arena<D, 3>(team, access.bin_blocks + Size{b} * BlockShape<D>::neighbors, grid, scratch.node);
    team.barrier();
    const Bin<D> bin = access.bins[b];
    Real fastest = Real(0);
    for (Index i = bin.begin + team.rank() * W; i < bin.end; i += Team::size * W) {
      const int n = bin.end - i < W ? static_cast<int>(bin.end - i) : W;
      T x[D];
      load_columns(access.p.x, i, n, x);
      const PackStencil<Real, D> stencil(x, T(Real(1) / access.dx), bin.block);
      const PackSample<Real, D> seen = sample_pack(stencil, n, scratch.node);
      for (int k = 0; k < D; ++k) {
        Real each[W];
        spill<Real>(abs(seen.v[k]), each);
        for (int l = 0; l < n; ++l) fastest = LargerOrNan<Real>{}(fastest, each[l]);
      }
    }
    scratch.speed[team.rank()] = fastest;
    team.barrier();
    if (team.rank() != 0) return;
    for (int i = 1; i < Team::size; ++i) fastest = LargerOrNan<Real>{}(fastest, scratch.speed[i]);
    speed[b] = fastest;
  }
};
template <class Real>
struct LoadSpeed {
  const Real* speed;
  TRIBO_HD Real operator()(Index i) const { return speed[i]; }
};

}  // namespace tribo::TRIBO_BACKEND::implicit

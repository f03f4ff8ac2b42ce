#include "tribo/stages/stages.h"
#include "tribo/stages/stencil.h"

namespace tribo::TRIBO_BACKEND {
namespace {

template <class Real, int D>
using BinResult = typename Workspace<Real, D>::BinResult;

/// Largest speed and stiffness of the particles one thread has seen, and its first bad one.
template <class Real, int D>
struct Extremes {
  using T = ParticlePack<Real>;
  T speed = T(Real(0));
  T stiffness = T(Real(0));
  Index first_bad = Workspace<Real, D>::none;

  TRIBO_HD void add(Index i, int n, const Vec<T, D>& v, const Mat<T, D>& C, const T& dx,
                    const Response<T, D>& response) {
    T squares = T(Real(0));
    for (int a = 0; a < D; ++a)
      for (int b = 0; b < D; ++b) squares = fma(C(a, b), C(a, b), squares);
    // Formulas J: the affine part moves nodes around the particle too.
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
    Real each[pack_width<Real>];
    spill<Real>(all, each);
    for (int l = n - 1; l >= 0; --l)
      if (!(each[l] < huge) && i + l < first_bad) first_bad = i + l;
  }
};

template <class Real, int D>
struct GatherScratch {
  NodePack<Real> node[BlockShape<D>::arena_nodes];
  BinResult<Real, D> result[Team::size];
};

template <class Real, int D>
TRIBO_HD void join_results(const Team& team, const Extremes<Real, D>& mine, BinResult<Real, D>* shared,
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

/// Moves one bin's particles by the grid (formulas A.2, A.5): velocities of the block and its neighbors are laid into
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
    if (rule.flip > Real(0)) {
      stage_velocities(team, b, grid_before, scratch.node);
      team.barrier();
      for (Index i = bin.begin + team.rank() * W; i < bin.end; i += Team::size * W) {
        const int n = bin.end - i < W ? static_cast<int>(bin.end - i) : W;
        keep_own_part(bin, i, n, scratch.node);
      }
      team.barrier();
    }
    stage_velocities(team, b, grid, scratch.node);
    team.barrier();
    Extremes<Real, D> extremes;
    for (Index i = bin.begin + team.rank() * W; i < bin.end; i += Team::size * W) {
      const int n = bin.end - i < W ? static_cast<int>(bin.end - i) : W;
      move(bin, i, n, scratch.node, extremes);
    }
    join_results(team, extremes, scratch.result, results[b]);
  }

 private:
  TRIBO_HD void stage_velocities(const Team& team, Index b, const Pack* velocities, Pack* node) const {
    const Index* const block = bin_blocks + Size{b} * Shape::neighbors;
    // Rows of the last axis are contiguous in both places; a row crosses up to three blocks.
    constexpr int rows = power(Shape::arena_side, D - 1);
    for (int r = team.rank(); r < rows; r += Team::size) {
      const Cell<D - 1> at = unflatten<D - 1>(r, Shape::arena_side);
      Cell<D - 1> neighbor, within;
      for (int k = 0; k < D - 1; ++k) {
        const int local = at[k] - Shape::margin;
        neighbor[k] = (local >> 2) - Shape::first_neighbor;
        within[k] = local & 3;
      }
      const int block_row = flatten(neighbor, Shape::neighbor_side) * Shape::neighbor_side;
      const int node_row = flatten(within, Shape::side) * Shape::side;
      for (int z = 0; z < Shape::arena_side; ++z) {
        const int local = z - Shape::margin;
        const Index source = block[block_row + (local >> 2) - Shape::first_neighbor];
        node[r * Shape::arena_side + z] = velocities[Size{source} * Shape::nodes + node_row + (local & 3)];
      }
    }
  }

  /// Velocity and its first moment at each particle of a pack.
  struct Sampled {
    Vec<T, D> v;
    Mat<T, D> moment;  ///< sum w v_i ((x_i - x_p)/dx)^T
  };
  TRIBO_HD Sampled sample(const Bin<D>& bin, const T* x, int n, const Pack* node) const {
    const PackStencil<Real, D> stencil(x, T(Real(1) / dx), bin.block);
    Real weights[D][3][W], offsets[D][W], cells[W];
    for (int k = 0; k < D; ++k) {
      for (int j = 0; j < 3; ++j) spill<Real>(stencil.weight[k][j], weights[k][j]);
      spill<Real>(stencil.offset[k], offsets[k]);
    }
    spill<Real>(stencil.cell, cells);
    Real sample[D * (D + 1)][W];
    for (int l = 0; l < n; ++l) {
      Real w[D][3], offset[D];
      for (int k = 0; k < D; ++k) {
        offset[k] = offsets[k][l];
        for (int j = 0; j < 3; ++j) w[k][j] = weights[k][j][l];
      }
      const GridSample<Real, D> s = gather(node + static_cast<int>(cells[l]), w, offset);
      for (int k = 0; k < D; ++k) {
        sample[k][l] = s.velocity[k];
        for (int a = 0; a < D; ++a) sample[D + D * k + a][l] = s.moment[a][k];
      }
    }
    for (int l = n; l < W; ++l)
      for (int k = 0; k < D * (D + 1); ++k) sample[k][l] = sample[k][n - 1];
    Sampled r;
    for (int k = 0; k < D; ++k) {
      r.v[k] = load_pack<Real>(sample[k], W);
      for (int a = 0; a < D; ++a) r.moment(k, a) = load_pack<Real>(sample[D + D * k + a], W);
    }
    return r;
  }

  /// What of its own velocity the grid did not see before the step, flip (v_p - sum w v_i), stays with the particle.
  TRIBO_HD void keep_own_part(const Bin<D>& bin, Index i, int n, const Pack* node) const {
    T x[D], v[D];
    load_columns(p.x, i, n, x);
    load_columns(p.v, i, n, v);
    const Sampled seen = sample(bin, x, n, node);
    for (int k = 0; k < D; ++k) store_pack<Real>(p.v[k] + i, T(rule.flip) * (v[k] - seen.v[k]), n);
  }

  TRIBO_HD void move(const Bin<D>& bin, Index i, int n, const Pack* node, Extremes<Real, D>& extremes) const {
    T x[D];
    load_columns(p.x, i, n, x);
    const Sampled seen = sample(bin, x, n, node);
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
    Response<T, D> response = advance_law(law, L * T(dt), strain, T(dt));
    if constexpr (Viscous<Law>) {
      const Sym<T, D> viscous = law.viscous_stress(L, strain);
      for (int k = 0; k < Sym<T, D>::size; ++k) response.tau.s[k] = response.tau.s[k] + viscous.s[k];
    }
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

  struct Scratch {
    BinResult<Real, D> result[Team::size];
  };

  TRIBO_HD void operator()(const Team& team, Index item, Scratch& scratch) const {
    const Index b = first_bin + item;
    const Bin<D> bin = bins[b];
    Extremes<Real, D> extremes;
    for (Index i = bin.begin + team.rank() * W; i < bin.end; i += Team::size * W) {
      const int n = bin.end - i < W ? static_cast<int>(bin.end - i) : W;
      Vec<T, D> v;
      Mat<T, D> C;
      Strain<T, D> strain;
      load_columns(p.v, i, n, v.c);
      load_columns(p.C, i, n, &C.m[0][0]);
      load_columns(p.F, i, n, &strain.F.m[0][0]);
      load_columns(p.history, i, n, strain.history.c);
      const Response<T, D> response = law.response(strain);
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

/// work(law, first bin, bin count) for each material that has particles: kernels are compiled for one concrete law.
template <class Real, int D, class Work>
void each_material(const Constants<Real, D>& constants, const Workspace<Real, D>& workspace, const Work& work) {
  for (std::size_t g = 0; g < constants.laws.size(); ++g) {
    const Index first = workspace.group_bins[g];
    const Index count = workspace.group_bins[g + 1] - first;
    if (count > 0) std::visit([&](const auto& law) { work(law, first, count); }, constants.laws[g]);
  }
}

}  // namespace

template <class Real, int D>
Index g2p(Exec& ex, const Constants<Real, D>& constants, double dt, State<Real, D>& state, Workspace<Real, D>& work) {
  each_material(constants, work, [&](const auto& law, Index first, Index count) {
    for_each_team<GatherScratch<Real, D>>(
        ex, "g2p", count,
        GatherBin<Real, D, std::decay_t<decltype(law)>>{
            view(state.particles), state.bins.data(), work.bin_blocks.data(), work.grid.data(), work.grid_before.data(),
            constants.transfer, law, constants.dx, static_cast<Real>(dt), first, work.bin_results.data()});
  });
  return take_bounds(ex, "g2p", state, work);
}

template <class Real, int D>
void evaluate_stress(Exec& ex, const Constants<Real, D>& constants, State<Real, D>& state, Workspace<Real, D>& work) {
  each_material(constants, work, [&](const auto& law, Index first, Index count) {
    using Kernel = StressBin<Real, D, std::decay_t<decltype(law)>>;
    for_each_team<typename Kernel::Scratch>(
        ex, "stress", count,
        Kernel{view(state.particles), state.bins.data(), law, constants.dx, first, work.bin_results.data()});
  });
  take_bounds(ex, "stress", state, work);
}

template <class Real, int D>
void observe_strain(Exec& ex, const Constants<Real, D>& constants, State<Real, D>& state, Workspace<Real, D>& work,
                    Array<Real>& energy_density, Array<Real>& volume_ratio, Array<Real>& strain_norm) {
  energy_density.resize_discard(state.count);
  strain_norm.resize_discard(state.count);
  volume_ratio.resize_discard(state.count);
  each_material(constants, work, [&](const auto& law, Index first, Index count) {
    const auto& bins = work.host_bins;
    const Index begin = bins[static_cast<std::size_t>(first)].begin;
    const Index end = bins[static_cast<std::size_t>(first + count - 1)].end;
    parallel_for(
        ex, "observe", end - begin,
        ObserveParticle<Real, D, std::decay_t<decltype(law)>>{view(state.particles), law, begin, energy_density.data(),
                                                              volume_ratio.data(), strain_norm.data()});
  });
}

#define TRIBO_INSTANTIATE(Real, D)                                                                                   \
  template Index g2p(Exec&, const Constants<Real, D>&, double, State<Real, D>&, Workspace<Real, D>&);                \
  template void evaluate_stress(Exec&, const Constants<Real, D>&, State<Real, D>&, Workspace<Real, D>&);             \
  template void observe_strain(Exec&, const Constants<Real, D>&, State<Real, D>&, Workspace<Real, D>&, Array<Real>&, \
                               Array<Real>&, Array<Real>&);
TRIBO_FOR_EACH_INSTANCE(TRIBO_INSTANTIATE)
#undef TRIBO_INSTANTIATE

}  // namespace tribo::TRIBO_BACKEND

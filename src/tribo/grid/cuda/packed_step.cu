#include <cmath>
#include <limits>
#include <utility>

#include "tribo/grid/arena.h"
#include "tribo/grid/cuda/packed_access.cuh"
#include "tribo/grid/cuda/transfer.cuh"
#include "tribo/grid/node_memory.h"

namespace tribo::TRIBO_BACKEND {
namespace {

/// Columns of the state to records, in the same order.
template <class Real, int D>
struct PackParticle {
  ParticlesView<Real, D> from;
  PackedView<Real, D> to, other;
  bool with_poly;
  Index* id;
  Index* object;
  Index* order;

  __device__ void operator()(Index i) const {
    using Layout = PackedLayout<D>;
    PackedParticle<Real, D> particle;
    for (int k = 0; k < 4 * Layout::quads; ++k) particle.number[k] = Real(0);
    for (int k = 0; k < D; ++k) {
      particle.number[Layout::x + k] = from.x[k][i];
      particle.number[Layout::v + k] = from.v[k][i];
    }
    for (int k = 0; k < D * D; ++k) {
      particle.number[Layout::C + k] = from.C[k][i];
      particle.number[Layout::F(k)] = from.F[k][i];
    }
    // What a law does not use is never moved, and is the same for all particles of the material.
    for (int k = 0; k < 2; ++k) to.history[k][i] = other.history[k][i] = from.history[k][i];
    for (int k = 0; k < Sym<Real, D>::size; ++k) particle.number[Layout::tau + k] = from.tau[k][i];
    particle.number[Layout::m] = from.m[0][i];
    particle.number[Layout::home] = bits_as(i, Real(0));
    id[i] = from.id[0][i];
    object[i] = from.object[0][i];
    particle.store(to, i);
    if (with_poly)
      for (int q = 0; q < poly_quads<D>; ++q) {
        Quad<Real> quad(Real(0));
        for (int k = 0; k < 4 && 4 * q + k < poly_numbers<D>; ++k) quad.v[k] = from.poly[4 * q + k][i];
        to.poly[q][i] = quad;
      }
    order[i] = i;
  }
};

/// Records to columns, sorted; without an order as they lie.
template <class Real, int D>
struct UnpackParticle {
  PackedView<Real, D> from;
  bool with_poly;
  const Index* id;
  const Index* object;
  const Index* order;
  ParticlesView<Real, D> to;

  __device__ void operator()(Index i) const {
    using Layout = PackedLayout<D>;
    PackedParticle<Real, D> particle;
    const Index slot = order != nullptr ? order[i] : i;
    particle.template load<0, Layout::quads>(from, slot);
    for (int k = 0; k < D; ++k) {
      to.x[k][i] = particle.number[Layout::x + k];
      to.v[k][i] = particle.number[Layout::v + k];
    }
    for (int k = 0; k < D * D; ++k) {
      to.C[k][i] = particle.number[Layout::C + k];
      to.F[k][i] = particle.number[Layout::F(k)];
    }
    for (int k = 0; k < 2; ++k) to.history[k][i] = from.history[k][slot];
    for (int k = 0; k < Sym<Real, D>::size; ++k) to.tau[k][i] = particle.number[Layout::tau + k];
    to.m[0][i] = particle.number[Layout::m];
    if (with_poly)
      for (int q = 0; q < poly_quads<D>; ++q) {
        const Quad<Real> quad = from.poly[q][slot];
        for (int k = 0; k < 4 && 4 * q + k < poly_numbers<D>; ++k) to.poly[4 * q + k][i] = quad.v[k];
      }
    const Index home = index_from(particle.number[Layout::home]);
    to.id[0][i] = id[home];
    to.object[0][i] = object[home];
  }
};

template <class Real, int D, int Kernel>
struct BeginCell {
  FieldView<Real, D> x;
  Real inverse_dx;
  const Bin<D>* bins;
  Index* cell_begin;
  __device__ void operator()(Index i) const {
    const Bin<D> bin = bins[i / BlockShape<D>::nodes];
    cell_begin[i] = first_of_cell<Kernel>(x, inverse_dx, bin, i % BlockShape<D>::nodes) - bin.begin;
  }
};

/// What else has acted on the grid counts as its speed, too: a step that is too long is then abandoned as any other.
struct RaiseSpeed {
  StepTally* tally;
  unsigned long long bits;
  __device__ void operator()(Index) const { raise_to(&tally->grid_speed, bits); }
};

/// While it exists, particles are those that G2P has written.
class Landing {
 public:
  explicit Landing(bool& landing) : landing_(landing) { landing_ = true; }
  Landing(const Landing&) = delete;
  Landing& operator=(const Landing&) = delete;
  ~Landing() { landing_ = false; }

 private:
  bool& landing_;
};

/// Gives the memory of stages back that packed steps do without. Most scenes sort in full but once.
template <class Real, int D>
void drop_scratch(Workspace<Real, D>& work) {
  const auto drop = [](auto&... arrays) { (std::decay_t<decltype(arrays)>().swap(arrays), ...); };
  drop(work.keys, work.order, work.flags, work.spare_real, work.touch, work.bin_blocks, work.arenas, work.grid,
       work.arenas_before, work.grid_before);
  work.sorter = RadixSorter();
  work.grid_valid = false;
}

/// The state's sorted columns as the packed state.
template <class Real, int D>
void pack(Exec& ex, const Constants<Real, D>& constants, State<Real, D>& state, Workspace<Real, D>& work) {
  if (work.packed == nullptr) work.packed = std::make_unique<PackedParticles<Real, D>>();
  PackedParticles<Real, D>& p = packed_of(work);
  const Index n = state.count;
  const bool poly = state.particles.poly.used;
  p.groups = static_cast<int>(constants.laws.size());
  p.count = n;
  adopt_bins(ex, state.bins, state.bin_count, p);
  if (p.now.quad[0].size() == 0) drop_scratch(work);
  p.now.resize(n, poly);
  p.next.resize(n, poly);
  p.gradient.used = !constants.fast();
  p.gradient.resize_discard(n);
  p.id.resize_discard(n);
  p.object.resize_discard(n);
  p.order.resize_discard(n);
  p.moved_to.resize_discard(n);
  parallel_for(ex, "pack", n,
               PackParticle<Real, D>{view(state.particles), p.now.view(), p.next.view(), poly, p.id.data(),
                                     p.object.data(), p.order.data()});
  with_kernel(constants.kernel, [&]<int Kernel>(std::integral_constant<int, Kernel>) {
    parallel_for(ex, "pack", state.bin_count * BlockShape<D>::nodes,
                 BeginCell<Real, D, Kernel>{view(state.particles.x), Real(1) / constants.dx, p.table.bins.data(),
                                            p.table.cell_begin.data()});
  });
  p.group_bins.resize(static_cast<std::size_t>(p.groups) + 1);
  for (std::size_t g = 0; g < p.group_bins.size(); ++g) p.group_bins[g] = p.group_begin[g];
  p.group_particles = work.group_particles;
  work.group_bins = p.group_bins;
  work.block_count = p.table.block_count;
  p.active = true;
  p.columns_valid = true;
}

/// Columns from records that are not sorted; they are the state now.
template <class Real, int D>
void give_up_order(Exec& ex, State<Real, D>& state, Workspace<Real, D>& work) {
  PackedParticles<Real, D>& p = packed_of(work);
  p.await_reader();
  parallel_for(ex, "pack", p.count,
               UnpackParticle<Real, D>{p.now.view(), state.particles.poly.used, p.id.data(), p.object.data(), nullptr,
                                       view(state.particles)});
  state.bin_count = 0;
  work.grid_valid = false;
  p.active = false;
}

}  // namespace

template <class Real, int D>
void unpack_columns(Exec& ex, State<Real, D>& state, Workspace<Real, D>& work) {
  if (work.packed == nullptr) return;
  PackedParticles<Real, D>& p = packed_of(work);
  if (!p.active || p.columns_valid) return;
  p.await_reader();
  parallel_for(ex, "pack", p.count,
               UnpackParticle<Real, D>{p.now.view(), state.particles.poly.used, p.id.data(), p.object.data(),
                                       p.order.data(), view(state.particles)});
  state.bin_count = p.table.bin_count;
  state.bins.resize_discard(state.bin_count);
  check(cudaMemcpyAsync(state.bins.data(), p.table.bins.data(),
                        static_cast<std::size_t>(state.bin_count) * sizeof(Bin<D>), cudaMemcpyDeviceToDevice,
                        ex.stream()),
        "pack");
  work.group_bins = p.group_bins;
  work.grid_valid = false;
  p.columns_valid = true;
}

template <class Real, int D>
bool pack_state(Exec& ex, const Constants<Real, D>& constants, State<Real, D>& state, Workspace<Real, D>& work) {
  const bool active = work.packed != nullptr && work.packed->active;
  // Sinks take what they hold when particles are sorted in full.
  const bool drains = work.sinks.count > 0 && state.sink_drift > 0.99;
  if (active && !drains) return true;
  if (active) {
    take_columns(ex, state, work);
    state.bin_count = 0;
  }
  if (state.bin_count == 0 || state.drift > 0) sort_particles(ex, constants, state, work);
  if (state.count == 0) return false;
  pack(ex, constants, state, work);
  return true;
}

template <class Real, int D>
PackedOutcome packed_step(Exec& ex, const Constants<Real, D>& constants, const StepColliders<Real, D>& colliders,
                          double speed_limit, const GridAction<Real, D>& act, const std::function<void()>& land,
                          State<Real, D>& state, Workspace<Real, D>& work) {
  PackedParticles<Real, D>& p = packed_of(work);
  const double dt = colliders.dt;
  // When memory runs out here, nothing has happened yet.
  const int arena_nodes = with_kernel(constants.kernel, []<int Kernel>(std::integral_constant<int, Kernel>) {
    return BlockShape<D, Kernel>::arena_nodes;
  });
  fit_nodes<Real>(ex, Size{p.table.bin_count} * arena_nodes, Size{p.table.block_count} * BlockShape<D>::nodes,
                  p.table.block_count, constants.transfer.flip > 0, p.arenas, p.grid, p.arenas_before, p.grid_before);
  clear_next_sets(ex, p);
  packed_p2g(ex, constants, dt, work.inverse_density, p);
  packed_grid(ex, constants, colliders.during(), dt, p);
  const double acted = act ? act({p.table.blocks.data(), p.table.block_count, p.grid.data()}) : 0;
  if (acted > 0) parallel_for(ex, "grid", 1, RaiseSpeed{p.tally.data(), ordered_bits(acted)});
  const bool confines = !colliders.specs.empty();
  packed_g2p(ex, constants, dt, speed_limit, confines, p);
  if (confines) packed_confine(ex, constants, colliders.after(), speed_limit, p);
  if (first_landing_bin(constants, p) < p.table.bin_count) {
    const Landing landing(p.landing);
    land();
    count_landed(ex, constants, speed_limit, p);
  }
  rebin(ex, speed_limit, p);
  check(cudaEventSynchronize(p.told), "step");

  const StepOutcome outcome = p.outcome[0];
  PackedOutcome result;
  result.grid_speed = from_ordered_bits(outcome.tally.grid_speed);
  if (result.grid_speed > speed_limit) return result;
  result.taken = true;
  result.bad = outcome.tally.first_bad;
  state.speed = from_ordered_bits(outcome.tally.speed);
  state.wave_speed2 = 0;
  for (std::size_t g = 0; g < constants.densities.size(); ++g)
    state.wave_speed2 = std::fmax(state.wave_speed2, from_ordered_bits(p.stiffness_out[g]) / constants.densities[g]);

  const bool sortable = outcome.tally.astray == 0 && result.bad == Workspace<Real, D>::none;
  const bool fits = outcome.tally.left_tiles == 0 && outcome.bins <= p.next_table.bins.size() &&
                    outcome.blocks <= p.next_table.blocks.size();
  p.columns_valid = false;
  bool sorted = sortable && fits;
  if (sortable && !fits) {
    try {
      rebin_with_room(ex, p);
      sorted = true;
    } catch (const DeviceError&) {  // the step is taken; the sort before the next one will say what it lacks
    }
  }
  std::swap(p.now, p.next);
  if (!sorted) {
    give_up_order(ex, state, work);
    return result;
  }
  std::swap(p.table, p.next_table);
  p.table.bin_count = p.outcome[0].bins;
  p.table.block_count = p.outcome[0].blocks;
  for (std::size_t g = 0; g < p.group_bins.size(); ++g) p.group_bins[g] = p.group_begin[g];
  work.block_count = p.table.block_count;
  return result;
}

#define TRIBO_INSTANTIATE(Real, D)                                                                              \
  template void unpack_columns(Exec&, State<Real, D>&, Workspace<Real, D>&);                                    \
  template bool pack_state(Exec&, const Constants<Real, D>&, State<Real, D>&, Workspace<Real, D>&);             \
  template PackedOutcome packed_step(Exec&, const Constants<Real, D>&, const StepColliders<Real, D>&, double,   \
                                     const GridAction<Real, D>&, const std::function<void()>&, State<Real, D>&, \
                                     Workspace<Real, D>&);
TRIBO_FOR_EACH_INSTANCE(TRIBO_INSTANTIATE)
#undef TRIBO_INSTANTIATE

}  // namespace tribo::TRIBO_BACKEND

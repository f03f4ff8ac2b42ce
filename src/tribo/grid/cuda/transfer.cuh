#pragma once

#include "tribo/grid/cuda/rebin.cuh"
#include "tribo/grid/stages.h"

/// \file
/// The stages of a packed step. What they compute is what grid/p2g.cpp, grid.cpp, g2p.cpp and confine.cpp compute;
/// tests hold both to agree.

namespace tribo::TRIBO_BACKEND {

template <class Real, int D>
void packed_p2g(Exec& ex, const Constants<Real, D>& constants, double dt, const Array<Real>& inverse_density,
                PackedParticles<Real, D>& p);

/// Also lists the bins that `packed_confine` must look at.
template <class Real, int D>
void packed_grid(Exec& ex, const Constants<Real, D>& constants, const typename Colliders<Real, D>::View& colliders,
                 double dt, PackedParticles<Real, D>& p);

/// Leaves everything as it was when a node is faster than `speed_limit`. Particles of bins that `confine` will look at
/// are counted there, and those that land after that.
template <class Real, int D>
void packed_g2p(Exec& ex, const Constants<Real, D>& constants, double dt, double speed_limit, bool confines,
                PackedParticles<Real, D>& p);

/// P2G and G2P for any kernel, modes and force; laws have a kernel of their own then, so that not each of them is
/// compiled for each scheme.
template <class Real, int D>
void scatter_packed_any(Exec& ex, const Constants<Real, D>& constants, double dt, const Array<Real>& inverse_density,
                        Array<Quad<Real>>& arenas, PackedParticles<Real, D>& p);
template <class Real, int D>
void gather_packed_any(Exec& ex, const Constants<Real, D>& constants, double dt, double speed_limit, bool confines,
                       PackedParticles<Real, D>& p);
template <class Real, int D>
void deform_packed(Exec& ex, const Constants<Real, D>& constants, double dt, double speed_limit,
                   PackedParticles<Real, D>& p);

/// The way back of particles beyond colliders.
template <class Real, int D>
void packed_confine(Exec& ex, const Constants<Real, D>& constants, const typename Colliders<Real, D>::View& colliders,
                    double speed_limit, PackedParticles<Real, D>& p);

/// Bins from here on hold particles that land before they are counted, which `count_landed` does.
template <class Real, int D>
Index first_landing_bin(const Constants<Real, D>& constants, const PackedParticles<Real, D>& p) {
  return constants.first_landing < p.groups ? p.group_bins[static_cast<std::size_t>(constants.first_landing)]
                                            : p.table.bin_count;
}

/// Bins whose particles are not yet where they will be when G2P has moved them: they are counted after that.
struct LaterBins {
  Index landing;             ///< all from here on
  const std::uint8_t* near;  ///< those that `confine` looks at; null: none
  __device__ __forceinline__ bool has(Index b) const { return b >= landing || (near != nullptr && near[b] != 0); }
};
template <class Real, int D>
LaterBins later_bins(const Constants<Real, D>& constants, bool confines, const PackedParticles<Real, D>& p) {
  return {first_landing_bin(constants, p), confines ? p.near.data() : nullptr};
}
template <class Real, int D>
void count_landed(Exec& ex, const Constants<Real, D>& constants, double speed_limit, PackedParticles<Real, D>& p);

template <class Real, int D>
Marker<D> next_marker(PackedParticles<Real, D>& p) {
  return {p.next_table.bin_index.view(p.tiles.view()), p.next_table.grid_index.view(p.tiles.view()), p.tally.data()};
}

__device__ __forceinline__ bool is_cancelled(const StepTally* tally, double speed_limit) {
  return __longlong_as_double(static_cast<long long>(tally->grid_speed)) > speed_limit;
}

/// Velocities of a bin's block and the blocks above it, into its arena. By a CTA of so many threads.
template <int D, int Kernel, int Threads, class Real>
__device__ __forceinline__ void stage_nodes(const Index* source, const Quad<Real>* grid, Quad<Real>* node) {
  using Shape = BlockShape<D, Kernel>;
  for (int i = static_cast<int>(threadIdx.x); i < Shape::arena_nodes; i += Threads) {
    const Cell<D> c = unflatten<D>(i, Shape::arena_side);
    int corner = 0;
    int at = 0;
#pragma unroll
    for (int k = 0; k < D; ++k) {
      corner = 2 * corner + (c[k] >= Shape::side ? 1 : 0);
      at = at * Shape::side + (c[k] & (Shape::side - 1));
    }
    node[i] = grid[Size{source[corner]} * Shape::nodes + at];
  }
}

}  // namespace tribo::TRIBO_BACKEND

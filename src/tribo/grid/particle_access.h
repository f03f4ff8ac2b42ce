#pragma once

#include "tribo/grid/state.h"
#if defined(TRIBO_BACKEND_CUDA)
#include "tribo/grid/cuda/packed_access.cuh"
#endif

/// \file
/// Single particles where they are, whether steps run on columns or on a packed copy: for kinds of matter whose items
/// are particles (passengers). They know theirs by id and ask for the places after every sort. A kernel takes the
/// access as a type, so that there is one source for both layouts.

namespace tribo::TRIBO_BACKEND {

template <class Real, int D>
struct ColumnAccess {
  ParticlesView<Real, D> p;

  TRIBO_HD Index id(Index i) const { return p.id[0][i]; }
  TRIBO_HD Real mass(Index i) const { return p.m[0][i]; }
  TRIBO_HD Vec<Real, D> x(Index i) const { return vector(p.x, i); }
  TRIBO_HD Vec<Real, D> v(Index i) const { return vector(p.v, i); }
  TRIBO_HD Mat<Real, D> C(Index i) const { return matrix(p.C, i); }
  TRIBO_HD Mat<Real, D> F(Index i) const { return matrix(p.F, i); }
  TRIBO_HD void put_x(Index i, const Vec<Real, D>& value) const { put(p.x, i, value.c); }
  TRIBO_HD void put_v(Index i, const Vec<Real, D>& value) const { put(p.v, i, value.c); }
  TRIBO_HD void put_C(Index i, const Mat<Real, D>& value) const { put(p.C, i, &value.m[0][0]); }
  TRIBO_HD void put_F(Index i, const Mat<Real, D>& value) const { put(p.F, i, &value.m[0][0]); }

 private:
  TRIBO_HD static Vec<Real, D> vector(const FieldView<Real, D>& column, Index i) {
    Vec<Real, D> r;
    TRIBO_UNROLL
    for (int k = 0; k < D; ++k) r[k] = column[k][i];
    return r;
  }
  TRIBO_HD static Mat<Real, D> matrix(const FieldView<Real, D * D>& column, Index i) {
    Mat<Real, D> r;
    TRIBO_UNROLL
    for (int k = 0; k < D * D; ++k) (&r.m[0][0])[k] = column[k][i];
    return r;
  }
  template <int N>
  TRIBO_HD static void put(const FieldView<Real, N>& column, Index i, const Real* value) {
    TRIBO_UNROLL
    for (int k = 0; k < N; ++k) column[k][i] = value[k];
  }
};

/// Particles of one material: a run of places, since they are sorted by it. All of them where they are not sorted.
struct PlaceRange {
  Index begin, end;
};

template <class Real, int D>
bool is_packed(const Workspace<Real, D>& work) {
  return steps_packed && work.packed != nullptr && work.packed->active;
}

template <class Real, int D>
PlaceRange places_of(const State<Real, D>& state, const Workspace<Real, D>& work, Index group) {
  if (!is_packed(work) && state.bin_count == 0) return {0, state.count};
  return {work.group_particles[static_cast<std::size_t>(group)],
          work.group_particles[static_cast<std::size_t>(group) + 1]};
}

/// Bins of particles as a step begins, and the blocks of the grid.
template <int D>
struct BinnedParticles {
  const Bin<D>* bins;
  Index bin_count;
  const Index* order;  ///< places of a bin's particles; null: as they are numbered
  const Cell<D>* blocks;
  Index block_count;
};
template <class Real, int D>
BinnedParticles<D> binned_particles(const State<Real, D>& state, Workspace<Real, D>& work) {
#if defined(TRIBO_BACKEND_CUDA)
  if (is_packed(work)) {
    const PackedParticles<Real, D>& p = packed_of(work);
    return {p.table.bins.data(), p.table.bin_count, p.order.data(), p.table.blocks.data(), p.table.block_count};
  }
#endif
  return {state.bins.data(), state.bin_count, nullptr, work.blocks.data(), work.block_count};
}

/// do_it(access), on what steps run on.
template <class Real, int D, class Do>
void read_particles(State<Real, D>& state, [[maybe_unused]] Workspace<Real, D>& work, const Do& do_it) {
#if defined(TRIBO_BACKEND_CUDA)
  if (is_packed(work)) return do_it(access_of(packed_of(work)));
#endif
  do_it(ColumnAccess<Real, D>{view(state.particles)});
}
/// The same for what changes them: columns beside a packed copy are then out of date.
template <class Real, int D, class Do>
void change_particles(State<Real, D>& state, Workspace<Real, D>& work, const Do& do_it) {
#if defined(TRIBO_BACKEND_CUDA)
  if (is_packed(work)) packed_of(work).columns_valid = false;
#endif
  read_particles(state, work, do_it);
}

template <class Access>
struct FindPlace {
  Access particles;
  Index begin, first_id, count;
  Index* place;
  TRIBO_HD void operator()(Index i) const {
    const Index item = particles.id(begin + i) - first_id;
    if (item >= 0 && item < count) place[item] = begin + i;
  }
};
/// Places of the particles of a material whose ids go from `first_id` on.
template <class Real, int D>
void find_places(Exec& ex, const char* label, Index group, Index first_id, Index count, State<Real, D>& state,
                 Workspace<Real, D>& work, Array<Index>& place) {
  place.resize_discard(count);
  const PlaceRange range = places_of(state, work, group);
  read_particles(state, work, [&](const auto& particles) {
    using Access = std::decay_t<decltype(particles)>;
    parallel_for(ex, label, range.end - range.begin,
                 FindPlace<Access>{particles, range.begin, first_id, count, place.data()});
  });
}

}  // namespace tribo::TRIBO_BACKEND

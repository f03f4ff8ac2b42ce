#pragma once

#include "tribo/grid/cuda/packed.cuh"
#include "tribo/grid/state.h"

namespace tribo::TRIBO_BACKEND {

/// Particles in their records, as grid/particle_access.h wants them. A place is a slot.
template <class Real, int D>
struct PackedAccess {
  using Layout = PackedLayout<D>;
  PackedView<Real, D> p;
  const Quad<Real>* home;  ///< of `now`; what is not moved yet may hold anything if the step is not taken
  const Index* order;      ///< slots there; null: the same
  const Index* ids;

  TRIBO_HD Index id(Index i) const {
    const Index slot = order != nullptr ? order[i] : i;
    return ids[index_from(home[slot].v[Layout::home % 4])];
  }
  TRIBO_HD Real mass(Index i) const { return number(i, Layout::m); }
  TRIBO_HD Vec<Real, D> x(Index i) const { return vector(i, Layout::x); }
  TRIBO_HD Vec<Real, D> v(Index i) const { return vector(i, Layout::v); }
  TRIBO_HD Mat<Real, D> C(Index i) const {
    Mat<Real, D> r;
    TRIBO_UNROLL
    for (int k = 0; k < D * D; ++k) (&r.m[0][0])[k] = number(i, Layout::C + k);
    return r;
  }
  TRIBO_HD Mat<Real, D> F(Index i) const {
    Mat<Real, D> r;
    TRIBO_UNROLL
    for (int k = 0; k < D * D; ++k) (&r.m[0][0])[k] = number(i, Layout::F(k));
    return r;
  }
  TRIBO_HD void put_x(Index i, const Vec<Real, D>& value) const { put(i, Layout::x, value); }
  TRIBO_HD void put_v(Index i, const Vec<Real, D>& value) const { put(i, Layout::v, value); }
  TRIBO_HD void put_C(Index i, const Mat<Real, D>& value) const {
    TRIBO_UNROLL
    for (int k = 0; k < D * D; ++k) number(i, Layout::C + k) = (&value.m[0][0])[k];
  }
  TRIBO_HD void put_F(Index i, const Mat<Real, D>& value) const {
    TRIBO_UNROLL
    for (int k = 0; k < D * D; ++k) number(i, Layout::F(k)) = (&value.m[0][0])[k];
  }

 private:
  TRIBO_HD Real& number(Index i, int n) const { return p.quad[n / 4][i].v[n % 4]; }
  TRIBO_HD Vec<Real, D> vector(Index i, int first) const {
    Vec<Real, D> r;
    TRIBO_UNROLL
    for (int k = 0; k < D; ++k) r[k] = number(i, first + k);
    return r;
  }
  TRIBO_HD void put(Index i, int first, const Vec<Real, D>& value) const {
    TRIBO_UNROLL
    for (int k = 0; k < D; ++k) number(i, first + k) = value[k];
  }
};

template <class Real, int D>
PackedParticles<Real, D>& packed_of(Workspace<Real, D>& work) {
  return static_cast<PackedParticles<Real, D>&>(*work.packed);
}

/// The records that steps begin with; while particles land, those that G2P has just written.
template <class Real, int D>
PackedAccess<Real, D> access_of(PackedParticles<Real, D>& p) {
  return {p.landing ? p.next.view() : p.now.view(), p.now.quad[PackedLayout<D>::home / 4].data(),
          p.landing ? p.order.data() : nullptr, p.id.data()};
}

}  // namespace tribo::TRIBO_BACKEND

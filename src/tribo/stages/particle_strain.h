#pragma once

#include "tribo/stages/per_material.h"

namespace tribo::TRIBO_BACKEND {

template <class Real, int D>
struct ResultScratch {
  BinResult<Real, D> result[Team::size];
};

/// One particle's numbers. Kernels that use these serve the first step, frames and the general transfers, which take
/// particles one by one too: compiling every law for packs a second time would not pay.
template <class Real, int D>
TRIBO_HD Strain<Real, D> strain_of(const ParticlesView<Real, D>& p, Index i) {
  Strain<Real, D> strain;
  for (int k = 0; k < D * D; ++k) (&strain.F.m[0][0])[k] = p.F[k][i];
  for (int k = 0; k < 2; ++k) strain.history[k] = p.history[k][i];
  return strain;
}
template <class Real, int D>
TRIBO_HD Vec<Real, D> velocity_of(const ParticlesView<Real, D>& p, Index i) {
  Vec<Real, D> v;
  for (int k = 0; k < D; ++k) v[k] = p.v[k][i];
  return v;
}
template <class Real, int D>
TRIBO_HD Mat<Real, D> matrix_of(const FieldView<Real, D * D>& column, Index i) {
  Mat<Real, D> m;
  for (int k = 0; k < D * D; ++k) (&m.m[0][0])[k] = column[k][i];
  return m;
}

}  // namespace tribo::TRIBO_BACKEND

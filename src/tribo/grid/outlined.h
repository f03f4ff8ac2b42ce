#pragma once

#include "tribo/grid/arena.h"
#include "tribo/grid/implicit_particles.h"
#include "tribo/math/svd.h"
#include "tribo/models/step_force.h"

/// \file
/// Functions that kernels of all laws call, `TRIBO_OUTLINED`: on the CPU they are compiled once, in outlined.cpp, for
/// the scalars and packs that stages use.

#define TRIBO_OUTLINED_MATH(keyword, T, D)                                                               \
  keyword template void symmetric_eigen(const Sym<T, D>&, Vec<T, D>&, Mat<T, D>&);                       \
  keyword template void polar_svd(const Mat<T, D>&, Mat<T, D>&, Vec<T, D>&, Mat<T, D>&);                 \
  keyword template void left_svd(const Mat<T, D>&, Mat<T, D>&, Vec<T, D>&);                              \
  keyword template void principal_modes(const PrincipalForce<T, D>&, const Vec<T, D>&, const Mat<T, D>&, \
                                        const Mat<T, D>&, StepForce<T, D>&);

#define TRIBO_OUTLINED_STAGE(keyword, Real, D)                                                               \
  keyword template void fill_arena<D, 3>(const Team&, const Index*, const NodePack<Real>*, NodePack<Real>*); \
  keyword template void implicit::exchange(const Team&, Index, const implicit::ParticleAccess<Real, D>&,     \
                                           const NodePack<Real>*, implicit::TwoArenas<Real, D>&,             \
                                           const SharedCall<implicit::ForceOfPack<Real, D>>&);

#define TRIBO_OUTLINED_ALL(keyword)                                    \
  namespace tribo {                                                    \
  TRIBO_OUTLINED_MATH(keyword, TRIBO_BACKEND::ParticlePack<float>, 2)  \
  TRIBO_OUTLINED_MATH(keyword, TRIBO_BACKEND::ParticlePack<float>, 3)  \
  TRIBO_OUTLINED_MATH(keyword, TRIBO_BACKEND::ParticlePack<double>, 2) \
  TRIBO_OUTLINED_MATH(keyword, TRIBO_BACKEND::ParticlePack<double>, 3) \
  TRIBO_OUTLINED_MATH(keyword, float, 2)                               \
  TRIBO_OUTLINED_MATH(keyword, float, 3)                               \
  TRIBO_OUTLINED_MATH(keyword, double, 2)                              \
  TRIBO_OUTLINED_MATH(keyword, double, 3)                              \
  namespace TRIBO_BACKEND {                                            \
  TRIBO_OUTLINED_STAGE(keyword, float, 2)                              \
  TRIBO_OUTLINED_STAGE(keyword, float, 3)                              \
  TRIBO_OUTLINED_STAGE(keyword, double, 2)                             \
  TRIBO_OUTLINED_STAGE(keyword, double, 3)                             \
  }                                                                    \
  }

#if !defined(TRIBO_BACKEND_CUDA)
TRIBO_OUTLINED_ALL(extern)
#endif

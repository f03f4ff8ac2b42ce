#pragma once

#include "tribo/exec/backend.h"

/// \file
/// The copy of the particles that a backend steps on, where it has one of its own.

#if defined(TRIBO_BACKEND_CUDA)
#include "tribo/stages/cuda/packed.cuh"
#else
namespace tribo::TRIBO_BACKEND {

template <class Real, int D>
struct PackedParticles {
  std::size_t bytes() const { return 0; }
};

}  // namespace tribo::TRIBO_BACKEND
#endif

#pragma once

#include <memory>

#include "tribo/engine/engine.h"

/// \file
/// The one function each backend exports; everything else in it is private to it.

#define TRIBO_DECLARE_BACKEND(backend)                                                                               \
  namespace tribo::backend {                                                                                         \
  std::unique_ptr<Engine> make_backend_engine(const EngineOptions& options, const Model& model, const Seeds& seeds); \
  }

TRIBO_DECLARE_BACKEND(cpu_generic)
TRIBO_DECLARE_BACKEND(cpu_avx2)
TRIBO_DECLARE_BACKEND(cpu_avx512)
TRIBO_DECLARE_BACKEND(cuda)

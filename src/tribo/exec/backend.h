#pragma once

/// \file
/// Stages and the engine are built once per backend: for each CPU instruction set as C++, for CUDA by nvcc. The build
/// names the namespace in TRIBO_BACKEND, so that one binary carries them all; nothing outside exec/ knows more.

#ifndef TRIBO_BACKEND
#error "TRIBO_BACKEND names the namespace this file is built into; see src/tribo/CMakeLists.txt"
#endif

#if defined(TRIBO_BACKEND_CUDA)
#include "tribo/exec/cuda.cuh"
#else
#include "tribo/exec/tbb.h"
#endif
#include "tribo/exec/joins.h"

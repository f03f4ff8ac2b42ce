#pragma once

/// \file
/// The marks functions of the physics carry. `TRIBO_HD` makes a function callable from kernels on every
/// device; it is forced inline because kernels are compiled once per instruction set and per device, and an
/// out-of-line copy would be shared between them by the linker. `TRIBO_UNROLL` before a short loop keeps what it
/// indexes in registers.

#if defined(__CUDACC__)
#define TRIBO_HD __host__ __device__ __forceinline__
#define TRIBO_UNROLL _Pragma("unroll")
#else
#define TRIBO_HD inline __attribute__((always_inline))
#define TRIBO_UNROLL _Pragma("GCC unroll 32")
#endif

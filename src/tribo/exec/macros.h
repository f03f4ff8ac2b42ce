#pragma once

/// \file
/// The marks functions of the physics carry. `TRIBO_HD` makes a function callable from kernels on every
/// device; it is forced inline because kernels are compiled once per instruction set and per device, and an
/// out-of-line copy would be shared between them by the linker. What is compiled without optimizing, to see that it
/// compiles or to run for a moment, may do without, which takes as little as a sixth of the time
/// (`TRIBO_PLAIN_INLINE`). `TRIBO_OUTLINED` is for large functions that many kernels share, the SVD for one: on the CPU
/// a call costs nothing beside their work, and inlined they were half of all compile time; a GPU passes arguments through
/// memory, so there they are inlined like others. `TRIBO_CALLED` is the opposite: what a GPU seldom comes to, and has to
/// compile for each kernel that may, is one function there. `TRIBO_UNROLL` before a short loop keeps what it indexes in registers.

#if defined(__CUDACC__)
#if defined(TRIBO_PLAIN_INLINE)
#define TRIBO_HD __host__ __device__ inline
#else
#define TRIBO_HD __host__ __device__ __forceinline__
#endif
#define TRIBO_OUTLINED TRIBO_HD
#define TRIBO_CALLED __host__ __device__ __noinline__
#define TRIBO_UNROLL _Pragma("unroll")
#else
#if defined(TRIBO_PLAIN_INLINE)
#define TRIBO_HD inline
#else
#define TRIBO_HD inline __attribute__((always_inline))
#endif
#define TRIBO_OUTLINED __attribute__((noinline))
#define TRIBO_CALLED TRIBO_HD
#define TRIBO_UNROLL _Pragma("GCC unroll 32")
#endif

/// Around functions that are `TRIBO_OUTLINED` but not in the backend's namespace: every backend keeps its own copy, since
/// one that was compiled for another instruction set may not run here, and rounds otherwise where that has no fma.
#define TRIBO_JOIN_NAMES(a, b) a##b
#define TRIBO_OWN_NAME(backend) TRIBO_JOIN_NAMES(own_, backend)
#if defined(TRIBO_BACKEND)
#define TRIBO_OWN_COPY inline namespace TRIBO_OWN_NAME(TRIBO_BACKEND)
#else
#define TRIBO_OWN_COPY inline namespace own_plain
#endif

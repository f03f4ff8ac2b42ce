#include "tribo/exec/gpu_memory.h"

#if defined(TRIBO_HAS_CUDA)
#include <cuda_runtime_api.h>
#endif

namespace tribo {

std::optional<GpuMemory> gpu_memory() {
#if defined(TRIBO_HAS_CUDA)
  GpuMemory memory;
  if (cudaMemGetInfo(&memory.free, &memory.total) == cudaSuccess) return memory;
  cudaGetLastError();  // the next call must not be told of it again
#endif
  return {};
}

}  // namespace tribo

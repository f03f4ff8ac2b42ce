#pragma once

#include <cstddef>
#include <optional>

namespace tribo {

struct GpuMemory {
  std::size_t free = 0;   ///< [bytes]
  std::size_t total = 0;  ///< [bytes]
};

/// Of the GPU that `--device cuda` takes; nothing where there is none, or no CUDA in this binary.
std::optional<GpuMemory> gpu_memory();

}  // namespace tribo

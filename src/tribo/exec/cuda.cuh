#pragma once

#include <cuda_runtime.h>

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <cub/device/device_for.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <string>
#include <type_traits>
#include <utility>

#include "tribo/core/errors.h"
#include "tribo/core/timers.h"
#include "tribo/core/types.h"
#include "tribo/exec/macros.h"
#include "tribo/math/lanes.h"

/// \file
/// The GPU's side of the exec layer, on CUB. The same vocabulary as tbb.h; no float is ever added by an atomic, so a
/// run gives the same bytes every time on one GPU.

namespace tribo::TRIBO_BACKEND {

inline constexpr const char* device_name = "cuda";

/// Particles are sorted every step, so none ever leaves its cell's run and arenas stay as small as they can be.
inline constexpr int drift_cells = 0;

/// One thread handles one particle.
template <class Real>
using ParticlePack = Real;

inline void check(cudaError_t status, const char* label) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // an error that is not sticky must not be reported again by the next call
  throw DeviceError(std::string("CUDA failed in ") + label + ": " + cudaGetErrorString(status));
}

inline std::size_t free_device_memory() {
  std::size_t free = 0;
  std::size_t total = 0;
  check(cudaMemGetInfo(&free, &total), "memory query");
  return free;
}

/// Growing device buffer of plain data.
template <class T>
class Array {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Array() = default;
  Array(Array&& other) noexcept { swap(other); }
  Array& operator=(Array&& other) noexcept {
    swap(other);
    return *this;
  }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  ~Array() { cudaFree(data_); }

  Size size() const { return size_; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  std::size_t bytes() const { return capacity_ * sizeof(T); }

  void resize_discard(Size n) {
    if (static_cast<std::size_t>(n) > capacity_) {
      const auto wanted = static_cast<std::size_t>(n);
      cudaFree(data_);
      data_ = nullptr;
      capacity_ = 0;
      const std::size_t grown = size_ == 0 ? wanted : wanted + wanted / 4;
      const std::size_t byte_count = (grown + 32) * sizeof(T);
      if (cudaMalloc(&data_, byte_count) != cudaSuccess) {
        cudaGetLastError();
        data_ = nullptr;
        throw DeviceError("out of GPU memory: asked for " + std::to_string(byte_count >> 20) + " MiB, " +
                          std::to_string(free_device_memory() >> 20) +
                          " MiB are free; use a larger grid spacing or fewer particles, or --device cpu");
      }
      capacity_ = grown;
    }
    size_ = n;
  }

  void swap(Array& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

 private:
  T* data_ = nullptr;
  Size size_ = 0;
  std::size_t capacity_ = 0;
};

/// Owner of a stream, of scratch memory for CUB and of the times its work took.
class Exec {
 public:
  /// Throws DeviceError when there is no usable GPU.
  explicit Exec(int /*threads*/) {
    int count = 0;
    const cudaError_t status = cudaGetDeviceCount(&count);
    if (status != cudaSuccess || count == 0) {
      cudaGetLastError();
      throw DeviceError(std::string("--device cuda: no usable NVIDIA GPU on this machine (") +
                        (status == cudaSuccess ? "none found" : cudaGetErrorString(status)) +
                        "); use --device cpu, or install the NVIDIA driver");
    }
    check(cudaStreamCreate(&stream_), "stream creation");
  }
  Exec(const Exec&) = delete;
  Exec& operator=(const Exec&) = delete;
  ~Exec() { cudaStreamDestroy(stream_); }

  int threads() const { return 1; }
  Timers& timers() { return timers_; }
  cudaStream_t stream() const { return stream_; }

  template <class Work>
  void run(const char* label, const Work& work) {
    const ScopedTimer timer(timers_, label);
    work();
    check(cudaStreamSynchronize(stream_), label);
  }

  /// Calls a CUB algorithm twice, as CUB wants: once for its scratch size, once to do the work.
  template <class Algorithm>
  void run_cub(const char* label, const Algorithm& algorithm) {
    run(label, [&] {
      std::size_t bytes = 0;
      check(algorithm(nullptr, bytes), label);
      scratch_.resize_discard(static_cast<Size>((bytes + 15) / 16 + 1));
      check(algorithm(scratch_.data(), bytes), label);
    });
  }
  template <class T>
  T* result_slot() {
    static_assert(sizeof(T) <= 256);
    result_.resize_discard(32);
    return reinterpret_cast<T*>(result_.data());
  }

 private:
  cudaStream_t stream_ = nullptr;
  Timers timers_;
  struct alignas(16) Chunk {
    char bytes[16];
  };
  Array<Chunk> scratch_;
  Array<Chunk> result_;
};

template <class T>
void copy_to_device(Exec& ex, const T* from, Array<T>& to, Index n) {
  to.resize_discard(n);
  const std::size_t bytes = static_cast<std::size_t>(n) * sizeof(T);
  if (n == 0) return;
  check(cudaMemcpyAsync(to.data(), from, bytes, cudaMemcpyHostToDevice, ex.stream()), "copy to device");
  check(cudaStreamSynchronize(ex.stream()), "copy to device");
}
/// `n` items from item `first` on.
template <class T>
void copy_to_host(Exec& ex, const Array<T>& from, T* to, Index n, Size first = 0) {
  const std::size_t bytes = static_cast<std::size_t>(n) * sizeof(T);
  if (n == 0) return;
  check(cudaMemcpyAsync(to, from.data() + first, bytes, cudaMemcpyDeviceToHost, ex.stream()), "copy to host");
  check(cudaStreamSynchronize(ex.stream()), "copy to host");
}

/// Sets the size and keeps the contents; grows by a quarter more than asked.
template <class T>
void resize_keep(Exec& ex, Array<T>& array, Size n) {
  if (static_cast<std::size_t>(n) * sizeof(T) > array.bytes()) {
    Array<T> larger;
    larger.resize_discard(n + n / 4);
    const std::size_t bytes = static_cast<std::size_t>(array.size()) * sizeof(T);
    if (bytes > 0)
      check(cudaMemcpyAsync(larger.data(), array.data(), bytes, cudaMemcpyDeviceToDevice, ex.stream()), "growth");
    check(cudaStreamSynchronize(ex.stream()), "growth");
    array.swap(larger);
  }
  array.resize_discard(n);
}

template <class Kernel>
void parallel_for(Exec& ex, const char* label, Index n, const Kernel& kernel) {
  if (n == 0) return;
  ex.run(label, [&] { check(cub::DeviceFor::Bulk(n, kernel, ex.stream()), label); });
}

template <class T, class Map, class Join>
T reduce(Exec& ex, const char* label, Index n, const T& identity, const Map& map, const Join& join) {
  T result = identity;
  if (n == 0) return result;
  const auto items = thrust::make_transform_iterator(thrust::make_counting_iterator(Index{0}), map);
  T* const slot = ex.result_slot<T>();
  ex.run_cub(label, [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceReduce::Reduce(scratch, bytes, items, slot, n, join, identity, ex.stream());
  });
  check(cudaMemcpy(&result, slot, sizeof(T), cudaMemcpyDeviceToHost), label);
  return result;
}

inline Index exclusive_scan(Exec& ex, const char* label, const Array<Index>& in, Array<Index>& out, Index n) {
  if (n == 0) return 0;
  Index last = 0;
  Index before = 0;
  check(cudaMemcpy(&last, in.data() + n - 1, sizeof(Index), cudaMemcpyDeviceToHost), label);
  ex.run_cub(label, [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceScan::ExclusiveSum(scratch, bytes, in.data(), out.data(), n, ex.stream());
  });
  check(cudaMemcpy(&before, out.data() + n - 1, sizeof(Index), cudaMemcpyDeviceToHost), label);
  return before + last;
}

class RadixSorter {
 public:
  void sort(Exec& ex, const char* label, Array<std::uint64_t>& keys, Array<Index>& values, Index n, int bits) {
    if (n == 0) return;
    keys_.resize_discard(n);
    values_.resize_discard(n);
    ex.run_cub(label, [&](void* scratch, std::size_t& bytes) {
      return cub::DeviceRadixSort::SortPairs(scratch, bytes, keys.data(), keys_.data(), values.data(), values_.data(),
                                             n, 0, bits, ex.stream());
    });
    keys.swap(keys_);
    values.swap(values_);
  }
  std::size_t bytes() const { return keys_.bytes() + values_.bytes(); }

 private:
  Array<std::uint64_t> keys_;
  Array<Index> values_;
};

/// The threads of one CUDA block share one item. 64: one per base cell of a grid block in three dimensions.
struct Team {
  static constexpr int size = 64;
  TRIBO_HD static int rank() {
#if defined(__CUDA_ARCH__)
    return static_cast<int>(threadIdx.x);
#else
    return 0;  // never runs: team kernels are launched, not called
#endif
  }
  TRIBO_HD static void barrier() {
#if defined(__CUDA_ARCH__)
    __syncthreads();
#endif
  }
};

template <class Scratch, class Kernel>
__global__ void __launch_bounds__(Team::size) team_kernel(const Kernel kernel) {
  __shared__ alignas(16) unsigned char memory[sizeof(Scratch)];
  kernel(Team{}, static_cast<Index>(blockIdx.x), *reinterpret_cast<Scratch*>(memory));
}

template <class Scratch, class Kernel>
void for_each_team(Exec& ex, const char* label, Index n, const Kernel& kernel) {
  if (n == 0) return;
  ex.run(label, [&] {
    team_kernel<Scratch><<<static_cast<unsigned>(n), Team::size, 0, ex.stream()>>>(kernel);
    check(cudaGetLastError(), label);
  });
}

inline std::size_t available_memory(Exec&) { return free_device_memory(); }

}  // namespace tribo::TRIBO_BACKEND

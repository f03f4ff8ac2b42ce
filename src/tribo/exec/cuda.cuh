#pragma once

#include <cuda_runtime.h>

#include <cstring>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tribo/core/errors.h"
#include "tribo/core/timers.h"
#include "tribo/core/types.h"
#include "tribo/exec/macros.h"
#include "tribo/math/lanes.h"

/// \file
/// The GPU's side of the exec layer. The same vocabulary as tbb.h; no float is ever added by an atomic, so a run gives
/// the same bytes every time on one GPU. Sorts and sums of integers are CUB's, in cuda.cu: its headers take longer to
/// compile than most stages.

namespace tribo::TRIBO_BACKEND {

inline constexpr const char* device_name = "cuda";

/// Particles are sorted every step, so none ever leaves its cell's run and arenas stay as small as they can be.
inline constexpr int drift_cells = 0;

/// Steps of the common schemes run on a packed copy of the particles (grid/cuda/).
inline constexpr bool steps_packed = true;

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
      const std::size_t grown = std::exchange(size_, 0) == 0 ? wanted : wanted + wanted / 4;
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

/// Small pieces of host memory on their way to the device, and results on their way back. Page-locked, so that the copy
/// need not wait for the stream.
class Staging {
 public:
  Staging() { check(cudaMallocHost(&memory_, size + result_size), "allocation of page-locked memory"); }
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;
  ~Staging() { cudaFreeHost(memory_); }

  static constexpr std::size_t largest = 1 << 16;
  static constexpr std::size_t result_size = 256;
  char* result() { return memory_ + size; }

  void send(cudaStream_t stream, const void* from, void* to, std::size_t bytes) {
    if (used_ + bytes > size) {  // what is there may still be under way
      check(cudaStreamSynchronize(stream), "copy to device");
      used_ = 0;
    }
    std::memcpy(memory_ + used_, from, bytes);
    check(cudaMemcpyAsync(to, memory_ + used_, bytes, cudaMemcpyHostToDevice, stream), "copy to device");
    used_ += (bytes + 63) / 64 * 64;
  }

 private:
  static constexpr std::size_t size = 1 << 21;
  char* memory_ = nullptr;
  std::size_t used_ = 0;
};

/// What stages take on the device, by events in the stream: nothing waits for the host's clock. Steps are many and
/// alike, so only some are timed and stand for all; what happens between steps is timed always.
class StageClock {
 public:
  StageClock() = default;
  StageClock(const StageClock&) = delete;
  StageClock& operator=(const StageClock&) = delete;
  ~StageClock() {
    for (const Span& span : spans_) destroy(span);
    for (const Span& span : spare_) destroy(span);
  }

  void begin_step() {
    in_step_ = true;
    timed_ = steps_++ % stride == 0;
    if (timed_) ++timed_steps_;
  }
  void end_step() { in_step_ = false; }

  template <class Work>
  void time(cudaStream_t stream, const char* label, const Work& work) {
    if (in_step_ && !timed_) return work();
    if (spans_.size() == most_spans) collect();
    if (spare_.empty()) spare_.push_back(create());
    Span span = spare_.back();
    spare_.pop_back();
    span.label = label;
    span.in_step = in_step_;
    check(cudaEventRecord(span.begin, stream), label);
    work();
    check(cudaEventRecord(span.end, stream), label);
    spans_.push_back(span);
  }

  const std::vector<std::pair<const char*, double>>& entries() {
    collect();
    total_.clear();
    const double weight = timed_steps_ > 0 ? static_cast<double>(steps_) / static_cast<double>(timed_steps_) : 1;
    for (const auto& [label, seconds] : in_steps_.entries()) total_.add(label, seconds * weight);
    for (const auto& [label, seconds] : between_.entries()) total_.add(label, seconds);
    return total_.entries();
  }
  void clear() {
    collect();
    in_steps_.clear();
    between_.clear();
    steps_ = timed_steps_ = 0;
  }

 private:
  static constexpr std::int64_t stride = 16;
  static constexpr std::size_t most_spans = 512;
  struct Span {
    cudaEvent_t begin, end;
    const char* label;
    bool in_step;
  };
  static Span create() {
    Span span{};
    check(cudaEventCreate(&span.begin), "event creation");
    check(cudaEventCreate(&span.end), "event creation");
    return span;
  }
  static void destroy(const Span& span) {
    cudaEventDestroy(span.begin);
    cudaEventDestroy(span.end);
  }
  void collect() {
    for (const Span& span : spans_) {
      check(cudaEventSynchronize(span.end), span.label);
      float milliseconds = 0;
      check(cudaEventElapsedTime(&milliseconds, span.begin, span.end), span.label);
      (span.in_step ? in_steps_ : between_).add(span.label, 1e-3 * static_cast<double>(milliseconds));
      spare_.push_back(span);
    }
    spans_.clear();
  }

  std::vector<Span> spans_, spare_;
  Timers in_steps_, between_, total_;
  std::int64_t steps_ = 0, timed_steps_ = 0;
  bool in_step_ = false, timed_ = false;
};

inline void require_gpu() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaSuccess && count > 0) return;
  cudaGetLastError();
  throw DeviceError(std::string("--device cuda: no usable NVIDIA GPU on this machine (") +
                    (status == cudaSuccess ? "none found" : cudaGetErrorString(status)) +
                    "); use --device cpu, or install the NVIDIA driver");
}

/// Owner of a stream, of scratch memory and of the times its work took. Work is put into the stream and not
/// waited for; whoever needs a result does.
class Exec {
 public:
  /// Throws DeviceError when there is no usable GPU.
  explicit Exec(int /*threads*/) {
    require_gpu();
    check(cudaStreamCreate(&stream_), "stream creation");
    staging_ = std::make_unique<Staging>();
  }
  Exec(const Exec&) = delete;
  Exec& operator=(const Exec&) = delete;
  ~Exec() { cudaStreamDestroy(stream_); }

  int threads() const { return 1; }
  StageClock& timers() { return clock_; }
  void begin_step() { clock_.begin_step(); }
  void end_step() { clock_.end_step(); }
  cudaStream_t stream() const { return stream_; }
  Staging& staging() { return *staging_; }

  template <class Work>
  void run(const char* label, const Work& work) {
    clock_.time(stream_, label, work);
  }

  /// Memory until the next call.
  template <class T>
  T* scratch(std::size_t count) {
    scratch_.resize_discard(static_cast<Size>((count * sizeof(T) + sizeof(Chunk) - 1) / sizeof(Chunk) + 1));
    return reinterpret_cast<T*>(scratch_.data());
  }
  /// Page-locked memory of the host, to which kernels write what the host waits for.
  template <class T>
  T* result_slot() {
    static_assert(sizeof(T) <= Staging::result_size);
    return reinterpret_cast<T*>(staging_->result());
  }

 private:
  cudaStream_t stream_ = nullptr;
  StageClock clock_;
  std::unique_ptr<Staging> staging_;
  struct alignas(16) Chunk {
    char bytes[16];
  };
  Array<Chunk> scratch_;
};

template <class T>
void copy_to_device(Exec& ex, const T* from, Array<T>& to, Index n) {
  to.resize_discard(n);
  const std::size_t bytes = static_cast<std::size_t>(n) * sizeof(T);
  if (n == 0) return;
  if (bytes <= Staging::largest) return ex.staging().send(ex.stream(), from, to.data(), bytes);
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

/// Copies to the host by any thread, of arrays as they are now, while the stream goes on; nothing may write to them
/// until then.
class Courier {
 public:
  explicit Courier(Exec& ex) {
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "stream creation");
    check(cudaEventCreateWithFlags(&now_, cudaEventDisableTiming), "event creation");
    check(cudaEventRecord(now_, ex.stream()), "copy to host");
    check(cudaStreamWaitEvent(stream_, now_), "copy to host");
  }
  Courier(const Courier&) = delete;
  Courier& operator=(const Courier&) = delete;
  ~Courier() {
    cudaStreamDestroy(stream_);
    cudaEventDestroy(now_);
  }
  template <class T>
  void fetch(const Array<T>& from, T* to, Index n) const {
    const std::size_t bytes = static_cast<std::size_t>(n) * sizeof(T);
    if (n == 0) return;
    check(cudaMemcpyAsync(to, from.data(), bytes, cudaMemcpyDeviceToHost, stream_), "copy to host");
    check(cudaStreamSynchronize(stream_), "copy to host");
  }

 private:
  cudaStream_t stream_ = nullptr;
  cudaEvent_t now_ = nullptr;
};

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
__global__ void for_kernel(Index n, const Kernel kernel) {
  const Index i = static_cast<Index>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) kernel(i);
}

/// `grain` is for the CPU.
inline constexpr Index usual_grain = 0;
template <class Kernel>
void parallel_for(Exec& ex, const char* label, Index n, const Kernel& kernel, [[maybe_unused]] Index grain = usual_grain) {
  if (n == 0) return;
  // Few items, which then are large ones like strands, go to as many multiprocessors as there are warps; small blocks,
  // since kernels of laws have so many registers that only a few of them fit.
  constexpr Index few = 1 << 14;
  const unsigned threads = n <= few ? 32 : 128, count = static_cast<unsigned>(n);
  ex.run(label, [&] {
    for_kernel<<<(count + threads - 1) / threads, threads, 0, ex.stream()>>>(n, kernel);
    check(cudaGetLastError(), label);
  });
}

inline constexpr int reduce_threads = 128;

/// Each block joins every (gridDim.x)th run of items, in an order that depends on n alone.
template <class T, class Map, class Join>
__global__ void __launch_bounds__(reduce_threads)
    reduce_kernel(Index n, const T identity, const Map map, const Join join, T* out) {
  __shared__ alignas(16) unsigned char memory[reduce_threads * sizeof(T)];
  T* const shared = reinterpret_cast<T*>(memory);
  const unsigned me = threadIdx.x, count = static_cast<unsigned>(n);
  T sum = identity;
  for (unsigned i = blockIdx.x * reduce_threads + me; i < count; i += gridDim.x * reduce_threads)
    sum = join(sum, map(static_cast<Index>(i)));
  shared[me] = sum;
  for (unsigned half = reduce_threads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (me < half) shared[me] = join(shared[me], shared[me + half]);
  }
  if (me == 0) out[blockIdx.x] = shared[0];
}
template <class T>
struct LoadPartial {
  const T* partial;
  TRIBO_HD T operator()(Index i) const { return partial[i]; }
};

template <class T, class Map, class Join>
T reduce(Exec& ex, const char* label, Index n, const T& identity, const Map& map, const Join& join) {
  static_assert(reduce_threads * sizeof(T) <= 48 << 10);
  if (n == 0) return identity;
  constexpr unsigned most_blocks = 1024, items_each = 4 * reduce_threads;
  const unsigned wanted = (static_cast<unsigned>(n) + items_each - 1) / items_each;
  const unsigned blocks = wanted < most_blocks ? wanted : most_blocks;
  T* const slot = ex.result_slot<T>();
  ex.run(label, [&] {
    T* const out = blocks == 1 ? slot : ex.scratch<T>(blocks);
    reduce_kernel<<<blocks, reduce_threads, 0, ex.stream()>>>(n, identity, map, join, out);
    if (blocks > 1)
      reduce_kernel<<<1, reduce_threads, 0, ex.stream()>>>(static_cast<Index>(blocks), identity, LoadPartial<T>{out},
                                                           join, slot);
    check(cudaGetLastError(), label);
  });
  check(cudaStreamSynchronize(ex.stream()), label);
  return *slot;
}

/// Sums of the items before each; returns the sum of all. `in` and `out` may be the same.
Index exclusive_scan(Exec& ex, const char* label, const Array<Index>& in, Array<Index>& out, Index n);

class RadixSorter {
 public:
  /// By the lowest bits of the keys.
  void sort(Exec& ex, const char* label, Array<std::uint64_t>& keys, Array<Index>& values, Index n, int bits);
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

TRIBO_HD int lowest_bit(std::uint64_t bits) {
#if defined(__CUDA_ARCH__)
  return __ffsll(static_cast<long long>(bits)) - 1;
#else
  return __builtin_ctzll(bits);
#endif
}

/// Numbers may be fetched into a team's memory long before they are used.
inline constexpr bool fetches_ahead = true;

/// Begins to copy 16 bytes to memory of the team while its thread goes on. What a thread begins comes in batches, which
/// arrive in order.
template <class T>
TRIBO_HD void begin_copy(T* to, const T* from) {
  static_assert(sizeof(T) == 16);
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(static_cast<unsigned>(__cvta_generic_to_shared(to))),
               "l"(from), "n"(sizeof(T))
               : "memory");
#else
  *to = *from;
#endif
}
TRIBO_HD void end_batch() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
/// For all batches of this thread but the last `Later`.
template <int Later>
TRIBO_HD void await_batches() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(Later) : "memory");
#endif
}
/// What this thread has stored may be copied from now on.
TRIBO_HD void finish_stores() {
#if defined(__CUDA_ARCH__)
  __threadfence();
#endif
}

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

/// The function itself; see tbb.h.
template <class Signature, class Function>
TRIBO_HD const Function& shared_call(const Function& function) {
  return function;
}

}  // namespace tribo::TRIBO_BACKEND

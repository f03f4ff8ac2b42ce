#pragma once

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/parallel_reduce.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "tribo/core/errors.h"
#include "tribo/core/memory.h"
#include "tribo/core/timers.h"
#include "tribo/core/types.h"
#include "tribo/exec/macros.h"
#include "tribo/math/lanes.h"

/// \file
/// The CPU's side of the exec layer, on oneTBB. Work is cut into pieces whose size does not depend on the number of
/// threads, and nothing is summed in an order that does: results have the same bytes for any thread count.

namespace tribo::TRIBO_BACKEND {

inline constexpr const char* device_name = "cpu";

/// Cells a particle may drift from the block it was sorted into before particles must be sorted again. One cell costs
/// a wider arena and saves most sorts (kernels measured both; sorting every step costs a quarter of the speed).
inline constexpr int drift_cells = 1;

/// Steps run on the particles' columns as they are.
inline constexpr bool steps_packed = false;

/// Particles handled together by one kernel iteration, as SIMD lanes.
template <class Real>
using ParticlePack = default_lanes<Real>;

/// Flushes denormal numbers to zero while alive. Rotations in Jacobi sweeps shrink off-diagonals to denormals, which
/// cost up to three times the time; restored on leaving because the caller's threads may want them.
class FlushDenormals {
 public:
#if defined(__SSE2__)
  FlushDenormals() : saved_(_mm_getcsr()) { _mm_setcsr(saved_ | 0x8040u); }
  ~FlushDenormals() { _mm_setcsr(saved_); }

 private:
  unsigned saved_;
#else
  FlushDenormals() {}
  ~FlushDenormals() {}

 public:
#endif
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;
};

/// Owner of a set of threads and of the times their work took.
class Exec {
 public:
  /// 0 threads means all the machine has.
  explicit Exec(int threads)
      : threads_(threads > 0 ? threads : tbb::this_task_arena::max_concurrency()), arena_(threads_) {
    // TBB makes no more threads than the machine has cores; more must be asked for, so that any count can be tested.
    // The limit is the process's, hence only then.
    if (threads_ > tbb::this_task_arena::max_concurrency())
      limit_.emplace(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads_));
  }

  int threads() const { return threads_; }
  Timers& timers() { return timers_; }
  void begin_step() {}
  void end_step() {}

  template <class Work>
  void run(const char* label, const Work& work) {
    const ScopedTimer timer(timers_, label);
    arena_.execute(work);
  }

 private:
  int threads_;
  std::optional<tbb::global_control> limit_;
  tbb::task_arena arena_;
  Timers timers_;
};

/// Growing array of plain data, aligned for SIMD and padded so that a whole pack may be read at its end. Contents are
/// indeterminate until written.
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
  ~Array() { std::free(data_); }

  Size size() const { return size_; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  std::size_t bytes() const { return capacity_ * sizeof(T); }

  /// Sets the size without keeping the contents; grows by a quarter more than asked so that a slowly growing need
  /// does not allocate every time.
  void resize_discard(Size n) {
    if (static_cast<std::size_t>(n) > capacity_) {
      const auto wanted = static_cast<std::size_t>(n);
      std::free(data_);
      data_ = nullptr;
      capacity_ = 0;
      const std::size_t grown = std::exchange(size_, 0) == 0 ? wanted : wanted + wanted / 4;
      const std::size_t byte_count = ((grown * sizeof(T) + 64) / 64 + 1) * 64;
      data_ = static_cast<T*>(std::aligned_alloc(64, byte_count));
      if (data_ == nullptr)
        throw DeviceError("out of memory: could not get " + std::to_string(byte_count >> 20) +
                          " MiB on the CPU; use a larger grid spacing or fewer particles");
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

template <class T>
void copy_to_device(Exec&, const T* from, Array<T>& to, Index n) {
  to.resize_discard(n);
  if (n > 0) std::memcpy(to.data(), from, static_cast<std::size_t>(n) * sizeof(T));
}
/// `n` items from item `first` on.
template <class T>
void copy_to_host(Exec&, const Array<T>& from, T* to, Index n, Size first = 0) {
  if (n > 0) std::memcpy(to, from.data() + first, static_cast<std::size_t>(n) * sizeof(T));
}

/// Copies by any thread, of arrays that nothing writes to until then.
class Courier {
 public:
  explicit Courier(Exec&) {}
  template <class T>
  void fetch(const Array<T>& from, T* to, Index n) const {
    if (n > 0) std::memcpy(to, from.data(), static_cast<std::size_t>(n) * sizeof(T));
  }
};

/// Sets the size and keeps the contents; grows by a quarter more than asked.
template <class T>
void resize_keep(Exec&, Array<T>& array, Size n) {
  if (static_cast<std::size_t>(n) * sizeof(T) > array.bytes()) {
    Array<T> larger;
    larger.resize_discard(n + n / 4);
    if (array.size() > 0) std::memcpy(larger.data(), array.data(), static_cast<std::size_t>(array.size()) * sizeof(T));
    array.swap(larger);
  }
  array.resize_discard(n);
}

/// Items of a loop that are worth a task of their own, where each is little work.
inline constexpr Index usual_grain = 4096;

/// kernel(i) for every i in [0, n), in any order.
template <class Kernel>
void parallel_for(Exec& ex, const char* label, Index n, const Kernel& kernel, Index grain = usual_grain) {
  ex.run(label, [&] {
    tbb::parallel_for(tbb::blocked_range<Index>(0, n, grain), [&](const tbb::blocked_range<Index>& r) {
      const FlushDenormals flush;
      for (Index i = r.begin(); i != r.end(); ++i) kernel(i);
    });
  });
}

/// join over map(i), i in [0, n); the tree of joins is fixed by n alone.
template <class T, class Map, class Join>
T reduce(Exec& ex, const char* label, Index n, const T& identity, const Map& map, const Join& join) {
  constexpr Index grain = 1024;
  T result = identity;
  ex.run(label, [&] {
    result = tbb::parallel_deterministic_reduce(
        tbb::blocked_range<Index>(0, n, grain), identity,
        [&](const tbb::blocked_range<Index>& r, T sum) {
          const FlushDenormals flush;
          for (Index i = r.begin(); i != r.end(); ++i) sum = join(sum, map(i));
          return sum;
        },
        [&](const T& a, const T& b) { return join(a, b); });
  });
  return result;
}

/// out[i] = in[0] + ... + in[i-1]; returns the sum of all. `in` and `out` may be the same array.
inline Index exclusive_scan(Exec& ex, const char* label, const Array<Index>& in, Array<Index>& out, Index n) {
  constexpr Index chunk_size = 65536;
  const Index chunks = (n + chunk_size - 1) / chunk_size;
  std::vector<Index> before(static_cast<std::size_t>(chunks) + 1, 0);  // sum of all earlier chunks
  ex.run(label, [&] {
    tbb::parallel_for(Index{0}, chunks, [&](Index c) {
      const Index* const first = in.data() + Size{c} * chunk_size;
      before[static_cast<std::size_t>(c) + 1] =
          std::accumulate(first, first + std::min(chunk_size, n - c * chunk_size), 0);
    });
    for (std::size_t c = 1; c < before.size(); ++c) before[c] += before[c - 1];
    tbb::parallel_for(Index{0}, chunks, [&](Index c) {
      Index sum = before[static_cast<std::size_t>(c)];
      const Index end = std::min(n, (c + 1) * chunk_size);
      for (Index i = c * chunk_size; i < end; ++i) {
        const Index value = in.data()[i];
        out.data()[i] = sum;
        sum += value;
      }
    });
  });
  return before.back();
}

/// Stable sort of (key, value) pairs by the lowest `bits` bits of the key. Least significant digit first, with the
/// counts of fixed chunks added in chunk order: the outcome of a stable sort is unique, so threads cannot show in it.
class RadixSorter {
 public:
  void sort(Exec& ex, const char* label, Array<std::uint64_t>& keys, Array<Index>& values, Index n, int bits) {
    if (n == 0) return;
    keys_.resize_discard(n);
    values_.resize_discard(n);
    const Index chunks = (n + chunk_size - 1) / chunk_size;
    counts_.resize(static_cast<std::size_t>(chunks) * radix);
    ex.run(label, [&] {
      for (int shift = 0; shift < bits; shift += digit_bits) {
        mask_ = (std::uint64_t{1} << std::min(digit_bits, bits - shift)) - 1;
        count(keys, n, chunks, shift);
        if (!offsets(chunks, n)) continue;
        scatter(keys, values, n, chunks, shift);
        keys.swap(keys_);
        values.swap(values_);
      }
    });
  }
  std::size_t bytes() const { return keys_.bytes() + values_.bytes(); }

 private:
  static constexpr int digit_bits = 8;
  static constexpr Index radix = 1 << digit_bits;
  static constexpr Index chunk_size = 32768;

  Index digit(std::uint64_t key, int shift) const { return static_cast<Index>((key >> shift) & mask_); }

  void count(const Array<std::uint64_t>& keys, Index n, Index chunks, int shift) {
    tbb::parallel_for(Index{0}, chunks, [&](Index chunk) {
      Index* const counts = counts_.data() + static_cast<std::size_t>(chunk) * radix;
      std::fill(counts, counts + radix, 0);
      const Index end = std::min(n, (chunk + 1) * chunk_size);
      for (Index i = chunk * chunk_size; i < end; ++i) ++counts[digit(keys.data()[i], shift)];
    });
  }
  /// Counts become first positions; false when every key has the same digit and the pass can be skipped.
  bool offsets(Index chunks, Index n) {
    Index position = 0;
    for (Index d = 0; d < radix; ++d) {
      const Index before = position;
      for (Index chunk = 0; chunk < chunks; ++chunk) {
        Index& entry = counts_[static_cast<std::size_t>(chunk) * radix + static_cast<std::size_t>(d)];
        const Index here = entry;
        entry = position;
        position += here;
      }
      if (position - before == n) return false;
    }
    return true;
  }
  void scatter(const Array<std::uint64_t>& keys, const Array<Index>& values, Index n, Index chunks, int shift) {
    tbb::parallel_for(Index{0}, chunks, [&](Index chunk) {
      Index* const position = counts_.data() + static_cast<std::size_t>(chunk) * radix;
      const Index end = std::min(n, (chunk + 1) * chunk_size);
      for (Index i = chunk * chunk_size; i < end; ++i) {
        const Index to = position[digit(keys.data()[i], shift)]++;
        keys_.data()[to] = keys.data()[i];
        values_.data()[to] = values.data()[i];
      }
    });
  }

  Array<std::uint64_t> keys_;
  Array<Index> values_;
  std::vector<Index> counts_;
  std::uint64_t mask_ = 0;  ///< of the present digit; the last one may be narrower
};

/// The threads that share one item of `for_each_team`: on the CPU one thread does the whole item.
struct Team {
  static constexpr int size = 1;
  static constexpr int rank() { return 0; }
  static void barrier() {}
};

/// The CPU sees by itself what a loop will read next: nothing need be fetched into a team's memory before it is used.
inline constexpr bool fetches_ahead = false;

/// Number of the lowest bit that is set; one must be.
TRIBO_HD int lowest_bit(std::uint64_t bits) { return __builtin_ctzll(bits); }

TRIBO_HD void end_batch() {}
template <int Later>
TRIBO_HD void await_batches() {}
TRIBO_HD void finish_stores() {}

/// kernel(team, item, scratch) for every item in [0, n). `Scratch` is plain memory private to the team and
/// uninitialised; it stays in the first-level cache (the GPU's shared memory).
template <class Scratch, class Kernel>
void for_each_team(Exec& ex, const char* label, Index n, const Kernel& kernel) {
  ex.run(label, [&] {
    tbb::parallel_for(tbb::blocked_range<Index>(0, n, 4), [&](const tbb::blocked_range<Index>& r) {
      const FlushDenormals flush;
      alignas(64) Scratch scratch;
      for (Index i = r.begin(); i != r.end(); ++i) kernel(Team{}, i, scratch);
    });
  });
}

template <class Signature>
class SharedCall;
template <class Result, class... Arguments>
class SharedCall<Result(Arguments...)> {
 public:
  template <class Function>
  explicit SharedCall(const Function& function)
      : function_(&function), call_([](const void* f, Arguments... arguments) -> Result {
          return (*static_cast<const Function*>(f))(arguments...);
        }) {}
  Result operator()(Arguments... arguments) const { return call_(function_, arguments...); }

 private:
  const void* function_;
  Result (*call_)(const void*, Arguments...);
};
/// A function of any type as one type, so that one compiled copy of what calls it serves all; `function` must outlive
/// it. A GPU, on which such calls cost more than the copies, gets the function itself.
template <class Signature, class Function>
SharedCall<Signature> shared_call(const Function& function) {
  return SharedCall<Signature>(function);
}

/// Bytes that may still be allocated.
inline std::size_t available_memory(Exec&) { return available_host_memory(); }

}  // namespace tribo::TRIBO_BACKEND

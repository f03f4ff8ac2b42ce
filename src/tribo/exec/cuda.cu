#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

#include "tribo/exec/backend.h"

namespace tribo::TRIBO_BACKEND {
namespace {

/// Calls a CUB algorithm twice, as CUB wants: once for its scratch size, once to do the work.
template <class Algorithm>
void run_cub(Exec& ex, const char* label, const Algorithm& algorithm) {
  std::size_t bytes = 0;
  check(algorithm(nullptr, bytes), label);
  check(algorithm(ex.scratch<char>(bytes + 1), bytes), label);
}

__global__ void keep_last(const Index* last, Index* sum) { *sum = *last; }
__global__ void add_last(const Index* last, Index* sum) { *sum += *last; }

}  // namespace

Index exclusive_scan(Exec& ex, const char* label, const Array<Index>& in, Array<Index>& out, Index n) {
  if (n == 0) return 0;
  Index* const sum = ex.result_slot<Index>();
  ex.run(label, [&] {
    keep_last<<<1, 1, 0, ex.stream()>>>(in.data() + (n - 1), sum);
    run_cub(ex, label, [&](void* scratch, std::size_t& bytes) {
      return cub::DeviceScan::ExclusiveSum(scratch, bytes, in.data(), out.data(), n, ex.stream());
    });
    add_last<<<1, 1, 0, ex.stream()>>>(out.data() + (n - 1), sum);
    check(cudaGetLastError(), label);
  });
  check(cudaStreamSynchronize(ex.stream()), label);
  return *sum;
}

void RadixSorter::sort(Exec& ex, const char* label, Array<std::uint64_t>& keys, Array<Index>& values, Index n,
                       int bits) {
  if (n == 0) return;
  keys_.resize_discard(n);
  values_.resize_discard(n);
  ex.run(label, [&] {
    run_cub(ex, label, [&](void* scratch, std::size_t& bytes) {
      return cub::DeviceRadixSort::SortPairs(scratch, bytes, keys.data(), keys_.data(), values.data(), values_.data(),
                                             n, 0, bits, ex.stream());
    });
  });
  keys.swap(keys_);
  values.swap(values_);
}

}  // namespace tribo::TRIBO_BACKEND

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "tribo/exec/backend.h"

/// \file
/// The exec layer: work reaches every item, and nothing depends on the number of threads.

namespace tribo::TRIBO_BACKEND {
namespace {

const int thread_counts[] = {1, 2, 3, 5};

template <class T>
Array<T> upload(Exec& ex, const std::vector<T>& from) {
  Array<T> to;
  copy_to_device(ex, from.data(), to, static_cast<Index>(from.size()));
  return to;
}
template <class T>
std::vector<T> download(Exec& ex, const Array<T>& from) {
  std::vector<T> to(static_cast<std::size_t>(from.size()));
  copy_to_host(ex, from, to.data(), static_cast<Index>(from.size()));
  return to;
}

TEST(Exec, HasTheThreadsItWasAskedFor) {
  for (const int threads : thread_counts) EXPECT_EQ(Exec(threads).threads(), threads);
  EXPECT_GE(Exec(0).threads(), 1);
}

TEST(Exec, TimesWorkUnderItsLabel) {
  Exec ex(1);
  parallel_for(ex, "first", 1, [](Index) {});
  parallel_for(ex, "second", 1, [](Index) {});
  parallel_for(ex, "first", 1, [](Index) {});
  ASSERT_EQ(ex.timers().entries().size(), 2u);
  EXPECT_STREQ(ex.timers().entries()[0].first, "first");
  EXPECT_STREQ(ex.timers().entries()[1].first, "second");
}

TEST(ParallelFor, VisitsEveryIndexOnce) {
  for (const int threads : thread_counts) {
    Exec ex(threads);
    for (const Index n : {0, 1, 2, 4095, 4096, 4097, 100000}) {
      std::vector<std::atomic<int>> visits(static_cast<std::size_t>(n));
      parallel_for(ex, "test", n, [&](Index i) { ++visits.at(static_cast<std::size_t>(i)); });
      for (const auto& count : visits) ASSERT_EQ(count.load(), 1);
    }
  }
}

TEST(Reduce, FloatSumHasTheSameBitsForAnyThreadCount) {
  std::mt19937 random(1);
  std::vector<float> numbers(300001);
  for (float& x : numbers) x = std::uniform_real_distribution<float>(-1, 1)(random) * std::exp2f(random() % 40);
  for (const Index n : {0, 1, 1023, 1025, 77777, 300001}) {
    std::uint32_t expected = 0;
    for (const int threads : thread_counts) {
      for (int repeat = 0; repeat < 3; ++repeat) {
        Exec ex(threads);
        // Slow enough that other threads come and take a part.
        const auto slowly = [&](Index i) {
          volatile float x = numbers[static_cast<std::size_t>(i)];
          for (int k = 0; k < 10; ++k) x = std::copysign(std::sqrt(x * x), x);
          return static_cast<float>(x);
        };
        const float sum = reduce(ex, "test", n, 0.0f, slowly, [](float a, float b) { return a + b; });
        if (threads == 1 && repeat == 0) expected = std::bit_cast<std::uint32_t>(sum);
        ASSERT_EQ(std::bit_cast<std::uint32_t>(sum), expected) << n << " numbers, " << threads << " threads";
      }
    }
    const double exact = std::accumulate(numbers.begin(), numbers.begin() + n, 0.0);
    const double magnitude =
        std::accumulate(numbers.begin(), numbers.begin() + n, 0.0, [](double a, float b) { return a + std::fabs(b); });
    EXPECT_NEAR(std::bit_cast<float>(expected), exact, 1e-4 * magnitude);
  }
}

TEST(Reduce, EmptyIsTheIdentity) {
  Exec ex(2);
  EXPECT_EQ(reduce(
                ex, "test", 0, 42, [](Index) { return 1; }, [](int a, int b) { return std::max(a, b); }),
            42);
}

/// Joins are in order of the index, so that a join need not commute: this one keeps the last item.
TEST(Reduce, KeepsTheOrderOfItems) {
  for (const int threads : thread_counts) {
    Exec ex(threads);
    const Index last = reduce(
        ex, "test", 50000, Index{-1}, [](Index i) { return i; }, [](Index a, Index b) { return b < 0 ? a : b; });
    EXPECT_EQ(last, 49999);
  }
}

TEST(ExclusiveScan, SumsWhatIsBefore) {
  Exec ex(2);
  std::mt19937 random(2);
  for (const Index n : {0, 1, 2, 1000, 100003}) {
    std::vector<Index> numbers(static_cast<std::size_t>(n));
    for (Index& x : numbers) x = static_cast<Index>(random() % 7);
    std::vector<Index> expected(numbers.size());
    std::exclusive_scan(numbers.begin(), numbers.end(), expected.begin(), Index{0});
    const Index total = std::accumulate(numbers.begin(), numbers.end(), Index{0});

    Array<Index> in = upload(ex, numbers);
    Array<Index> out;
    out.resize_discard(n);
    EXPECT_EQ(exclusive_scan(ex, "test", in, out, n), total);
    EXPECT_EQ(download(ex, out), expected);
    EXPECT_EQ(download(ex, in), numbers);

    EXPECT_EQ(exclusive_scan(ex, "test", in, in, n), total);  // in place
    EXPECT_EQ(download(ex, in), expected);
  }
}

TEST(RadixSorter, IsAStableSort) {
  std::mt19937_64 random(3);
  for (const int threads : {1, 3}) {
    Exec ex(threads);
    RadixSorter sorter;  // one for all: its buffers shrink and grow between calls
    for (const Index n : {100000, 0, 1, 2, 1000, 32768, 32769})
      for (const int bits : {0, 1, 7, 8, 9, 16, 20, 31, 33, 48, 60, 63, 64}) {
        // Half of the cases have few different keys, so that stability shows.
        const std::uint64_t mask = bits == 64 ? ~0ull : (1ull << bits) - 1;
        const std::uint64_t few = random() % 2 == 0 ? ~0ull : 0x8100000000010003ull;
        std::vector<std::pair<std::uint64_t, Index>> pairs(static_cast<std::size_t>(n));
        for (auto& [key, value] : pairs) {
          key = random() & few & mask;
          value = static_cast<Index>(random() >> 33);
        }
        std::vector<std::uint64_t> host_keys;
        std::vector<Index> host_values;
        for (const auto& [key, value] : pairs) {
          host_keys.push_back(key);
          host_values.push_back(value);
        }
        Array<std::uint64_t> keys = upload(ex, host_keys);
        Array<Index> values = upload(ex, host_values);
        sorter.sort(ex, "test", keys, values, n, bits);

        std::stable_sort(pairs.begin(), pairs.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
        const auto sorted_keys = download(ex, keys);
        const auto sorted_values = download(ex, values);
        ASSERT_EQ(sorted_keys.size(), pairs.size());
        for (std::size_t i = 0; i < pairs.size(); ++i) {
          ASSERT_EQ(sorted_keys[i], pairs[i].first) << n << " pairs, " << bits << " bits";
          ASSERT_EQ(sorted_values[i], pairs[i].second) << n << " pairs, " << bits << " bits";
        }
      }
  }
}

TEST(LowestBit, IsTheFirstThatIsSet) {
  for (int bit = 0; bit < 64; ++bit) {
    EXPECT_EQ(lowest_bit(std::uint64_t{1} << bit), bit);
    EXPECT_EQ(lowest_bit(~std::uint64_t{0} << bit), bit);
  }
}

TEST(Array, GrowsAndKeepsItsMemory) {
  Array<double> a;
  EXPECT_EQ(a.size(), 0);
  EXPECT_EQ(a.bytes(), 0u);
  a.resize_discard(100);
  EXPECT_EQ(a.size(), 100);
  EXPECT_GE(a.bytes(), 800u);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a.data()) % 64, 0u);
  const double* const before = a.data();
  a.resize_discard(10);
  EXPECT_EQ(a.size(), 10);
  EXPECT_EQ(a.data(), before);
  a.resize_discard(100);
  EXPECT_EQ(a.data(), before);  // still there
  a.resize_discard(101);
  EXPECT_GE(a.bytes(), 120u * sizeof(double));
  const double* const grown = a.data();
  a.resize_discard(120);  // the reserve is enough
  EXPECT_EQ(a.data(), grown);
  a.resize_discard(0);
  EXPECT_EQ(a.size(), 0);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // these end a program that asks for too much
/// Promise: where there is no memory this is told, and the array is an empty one that can be used again.
TEST(Array, IsEmptyAfterAFailedAllocation) {
  constexpr Size absurd = Size{1} << 45;  // 256 TiB, more than there are addresses
  Array<double> a;
  a.resize_discard(100);
  EXPECT_THROW(a.resize_discard(absurd), DeviceError);
  EXPECT_EQ(a.size(), 0);
  EXPECT_EQ(a.bytes(), 0u);
  a.resize_discard(10);
  ASSERT_NE(a.data(), nullptr);
  EXPECT_EQ(a.size(), 10);
  std::fill(a.data(), a.data() + 10, 1.0);

  Exec ex(1);
  EXPECT_THROW(resize_keep(ex, a, absurd), DeviceError);
  EXPECT_EQ(a.size(), 10);
  EXPECT_EQ(a.data()[9], 1.0) << "what is to be kept is given away only once there is more room";
}
#endif

/// Kernels read a whole pack at the end of a column.
TEST(Array, IsPaddedForOnePack) {
  for (const Size n : {1, 7, 8, 15, 16, 17, 100}) {
    Array<float> a;
    a.resize_discard(n);
    std::memset(a.data(), 0, static_cast<std::size_t>(n) * sizeof(float) + 60);  // checked by the address sanitizer
    EXPECT_EQ(a.data()[n + 14], 0);
  }
}

TEST(Array, SwapAndMoveHandOver) {
  Array<int> a, b;
  a.resize_discard(3);
  a.data()[0] = 7;
  b.resize_discard(5);
  b.data()[0] = 9;
  a.swap(b);
  EXPECT_EQ(a.size(), 5);
  EXPECT_EQ(a.data()[0], 9);
  EXPECT_EQ(b.size(), 3);
  EXPECT_EQ(b.data()[0], 7);
  Array<int> c(std::move(a));
  EXPECT_EQ(c.size(), 5);
  EXPECT_EQ(c.data()[0], 9);
  b = std::move(c);
  EXPECT_EQ(b.size(), 5);
  EXPECT_EQ(b.data()[0], 9);
}

TEST(Array, CopiesInAndOut) {
  Exec ex(1);
  std::vector<int> numbers(100);
  std::iota(numbers.begin(), numbers.end(), 0);
  const Array<int> a = upload(ex, numbers);
  EXPECT_EQ(download(ex, a), numbers);
  std::vector<int> part(10);
  copy_to_host(ex, a, part.data(), 10, 30);
  EXPECT_EQ(part.front(), 30);
  EXPECT_EQ(part.back(), 39);
}

#if defined(__SSE2__)
TEST(FlushDenormals, FlushesWhileAliveAndRestores) {
  const unsigned before = _mm_getcsr();
  volatile float smallest_normal = 0x1p-126f;
  {
    const FlushDenormals flush;
    EXPECT_EQ(smallest_normal * 0.5f, 0.0f);
    {
      const FlushDenormals nested;
      EXPECT_EQ(smallest_normal * 0.5f, 0.0f);
    }
    EXPECT_EQ(smallest_normal * 0.5f, 0.0f);
  }
  EXPECT_GT(smallest_normal * 0.5f, 0.0f);
  // The lowest six bits are flags of what has happened, not modes.
  EXPECT_EQ(_mm_getcsr() & ~0x3fu, before & ~0x3fu);
}

TEST(FlushDenormals, HoldsInKernelsAndNotAfterThem) {
  Exec ex(2);
  volatile float smallest_normal = 0x1p-126f;
  std::atomic<int> denormal{0};
  const auto look = [&] {
    if (smallest_normal * 0.5f != 0) ++denormal;
  };
  parallel_for(ex, "test", 10000, [&](Index) { look(); });
  for_each_team<int>(ex, "test", 100, [&](const Team&, Index, int&) { look(); });
  EXPECT_EQ(denormal.load(), 0);
  EXPECT_GT(smallest_normal * 0.5f, 0.0f);
}
#endif

TEST(ForEachTeam, RunsEveryItemWithItsOwnScratch) {
  struct Scratch {
    Index owner;
    double numbers[100];
  };
  for (const int threads : thread_counts) {
    Exec ex(threads);
    for (const Index n : {0, 1, 3, 4, 5, 1000}) {
      std::vector<std::atomic<int>> visits(static_cast<std::size_t>(n));
      std::atomic<int> disturbed{0}, misaligned{0};
      for_each_team<Scratch>(ex, "test", n, [&](const Team& team, Index item, Scratch& scratch) {
        if (reinterpret_cast<std::uintptr_t>(&scratch) % 64 != 0) ++misaligned;
        scratch.owner = item;
        for (double& x : scratch.numbers) x = item;
        team.barrier();
        double sum = 0;
        for (const double x : scratch.numbers) sum += x;
        if (scratch.owner != item || sum != 100.0 * item) ++disturbed;
        if (team.rank() == 0) ++visits.at(static_cast<std::size_t>(item));
      });
      for (const auto& count : visits) ASSERT_EQ(count.load(), 1);
      EXPECT_EQ(disturbed.load(), 0);
      EXPECT_EQ(misaligned.load(), 0);
    }
  }
}

}  // namespace
}  // namespace tribo::TRIBO_BACKEND

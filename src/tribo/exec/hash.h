#pragma once

#include <cstdint>

#include "tribo/exec/backend.h"

/// \file
/// A hash of arrays where they are: a sum over their items, each mixed with its place, so that it does not matter who
/// adds first and nothing has to come back but the sum.

namespace tribo::TRIBO_BACKEND {

/// Every bit of the result depends on every bit of x: the finalizer of SplitMix64.
TRIBO_HD std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ x >> 27) * 0x94d049bb133111ebull;
  return x ^ x >> 31;
}

template <class T>
struct HashItem {
  const T* items;
  std::uint64_t salt;

  TRIBO_HD std::uint64_t operator()(Index i) const {
    std::uint64_t bits;
    if constexpr (sizeof(T) == 4)
      bits = __builtin_bit_cast(std::uint32_t, items[i]);
    else
      bits = __builtin_bit_cast(std::uint64_t, items[i]);
    return mixed(bits ^ mixed(salt + static_cast<std::uint64_t>(i)));
  }
};
struct AddHashes {
  TRIBO_HD std::uint64_t operator()(std::uint64_t a, std::uint64_t b) const { return a + b; }
};

/// Hash of n items after those of hash `before`.
template <class T>
std::uint64_t hash_items(Exec& ex, const T* items, Index n, std::uint64_t before) {
  const std::uint64_t salt = mixed(before + 0x9e3779b97f4a7c15ull * (static_cast<std::uint64_t>(n) + 1));
  return mixed(salt + reduce(ex, "hash", n, std::uint64_t{0}, HashItem<T>{items, salt}, AddHashes{}));
}

}  // namespace tribo::TRIBO_BACKEND

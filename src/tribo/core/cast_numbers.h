#pragma once

#include <cstddef>
#include <cstring>
#include <type_traits>
#include <variant>

namespace tribo {

/// A plain struct of numbers in another precision: laws and shapes hold nothing but numbers of their scalar type, so
/// `Law<double>` becomes `Law<float>` number by number and no law needs a conversion of its own.
template <template <class> class S, class To, class From>
S<To> cast_numbers(const S<From>& from) {
  constexpr std::size_t n = sizeof(S<From>) / sizeof(From);
  static_assert(std::is_trivially_copyable_v<S<From>> && sizeof(S<From>) == n * sizeof(From));
  static_assert(sizeof(S<To>) == n * sizeof(To));
  From in[n];
  To out[n];
  std::memcpy(in, &from, sizeof(in));
  for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<To>(in[i]);
  S<To> to;
  std::memcpy(static_cast<void*>(&to), out, sizeof(out));
  return to;
}

/// The same for a variant over such structs.
template <class To, class From, template <class> class... S>
std::variant<S<To>...> cast_variant(const std::variant<S<From>...>& from) {
  std::variant<S<To>...> to;
  const auto take = [&]<template <class> class One>(const One<From>& value) {
    to = cast_numbers<One, To, From>(value);
  };
  std::visit([&](const auto& value) { take(value); }, from);
  return to;
}

}  // namespace tribo

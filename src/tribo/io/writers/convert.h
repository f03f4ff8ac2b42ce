#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "tribo/io/container.h"

namespace tribo {

/// Calls `visit` with a value of the type that `type` stores.
template <class Visit>
auto visit_type(DType type, const Visit& visit) {
  switch (type) {
    case DType::f32:
      return visit(float{});
    case DType::f64:
      return visit(double{});
    case DType::i32:
      return visit(std::int32_t{});
    case DType::i64:
      return visit(std::int64_t{});
    case DType::u32:
      return visit(std::uint32_t{});
    case DType::u64:
      return visit(std::uint64_t{});
    case DType::u8:
      break;
  }
  return visit(std::uint8_t{});
}

/// Calls `use` with the numbers of an array as a span of their own type.
template <class Use>
decltype(auto) with_numbers(const NamedArray& array, Use&& use) {
  return visit_type(array.type, [&]<class T>(T) { return use(array.as<T>()); });
}

/// Whether every number of an array of integers is one of type Integer.
template <class Integer>
bool all_fit(const NamedArray& array) {
  return with_numbers(array, [](const auto numbers) {
    using Number = std::remove_cvref_t<decltype(numbers[0])>;
    if constexpr (std::is_integral_v<Number>) {
      return std::all_of(numbers.begin(), numbers.end(), [](Number n) { return std::in_range<Integer>(n); });
    } else {
      return false;
    }
  });
}

/// Rows [begin, begin + rows) as To, `width` numbers a row; components the array does not have become 0.
template <class To>
void convert_rows(const NamedArray& array, std::uint64_t begin, std::uint64_t rows, std::uint32_t width, To* to) {
  with_numbers(array, [&](const auto numbers) {
    const std::uint32_t shared = std::min(array.components, width);
    for (std::uint64_t row = begin; row < begin + rows; ++row, to += width) {
      for (std::uint32_t k = 0; k < shared; ++k) to[k] = static_cast<To>(numbers[row * array.components + k]);
      std::fill(to + shared, to + width, To(0));
    }
  });
}

}  // namespace tribo

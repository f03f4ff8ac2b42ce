#pragma once

#include <bit>
#include <cstdint>

namespace tribo {

/// How many bits keys up to `largest` have, for whoever sorts by them.
constexpr int key_bits(std::uint64_t largest) { return static_cast<int>(std::bit_width(largest | 1)); }

}  // namespace tribo

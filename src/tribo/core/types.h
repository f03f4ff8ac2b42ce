#pragma once

#include <cstddef>
#include <cstdint>

namespace tribo {

/// Index of a particle, block, node or object. 32 bits: half the memory traffic of 64, and two thousand million
/// particles are beyond any machine's memory.
using Index = std::int32_t;

/// None, where the lowest index of some kind is looked for: higher than any.
inline constexpr Index no_index = 0x7fffffff;

/// Number of items in an array. Nodes of all arenas can outnumber what Index counts.
using Size = std::int64_t;

}  // namespace tribo

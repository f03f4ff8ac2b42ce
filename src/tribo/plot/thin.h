#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace tribo {

/// Indices, ascending, of at most `most` (>= 8) values that draw the same curve as all of them: of every stretch the
/// least and the greatest, so that spikes survive, and one that is not finite where there is any, so that gaps do. The
/// first and the last are always among them.
std::vector<std::size_t> thin(std::span<const double> values, std::size_t most);

}  // namespace tribo

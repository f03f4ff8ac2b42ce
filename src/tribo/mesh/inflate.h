#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace tribo {

/// What a zlib stream (RFC 1950, RFC 1951) holds; none when it is damaged or does not hold exactly `size` bytes. For
/// compressed files of VTK; not fast.
std::optional<std::string> inflate(std::string_view stream, std::size_t size);

}  // namespace tribo

#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tribo {

/// A finished picture: 8-bit sRGB, rows from the top.
struct Picture {
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> rgb;
};

/// Writes a PNG file that appears whole or not at all; `texts` become its text entries. Throws IoError.
void write_png(const std::string& path, const Picture& picture,
               const std::vector<std::pair<std::string, std::string>>& texts = {});

}  // namespace tribo

#include "tribo/render/area.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace tribo {

Skin fill_area(const std::function<double(const Vec<double, 2>&)>& distance, const Vec<double, 2>& low,
               const Vec<double, 2>& high, int cells) {
  const double step = std::max(high[0] - low[0], high[1] - low[1]) / cells;
  const auto columns = static_cast<std::size_t>(std::ceil((high[0] - low[0]) / step));
  const auto rows = static_cast<std::size_t>(std::ceil((high[1] - low[1]) / step));
  const auto place = [&](std::size_t i, std::size_t j) {
    return Vec<double, 2>{{low[0] + step * static_cast<double>(i), low[1] + step * static_cast<double>(j)}};
  };
  std::vector<double> values((columns + 1) * (rows + 1));
  for (std::size_t i = 0; i <= columns; ++i)
    for (std::size_t j = 0; j <= rows; ++j) values[i * (rows + 1) + j] = distance(place(i, j));

  Skin area;
  for (std::size_t i = 0; i < columns; ++i)
    for (std::size_t j = 0; j < rows; ++j) {
      // Counterclockwise around the square: corners inside, and where its edges cross the border.
      constexpr std::array<std::array<std::size_t, 2>, 4> around{{{0, 0}, {1, 0}, {1, 1}, {0, 1}}};
      const auto first = static_cast<std::uint32_t>(area.vertices.size());
      for (std::size_t k = 0; k < 4; ++k) {
        const auto [i0, j0] = around[k];
        const auto [i1, j1] = around[(k + 1) % 4];
        const Vec<double, 2> a = place(i + i0, j + j0), b = place(i + i1, j + j1);
        const double at_a = values[(i + i0) * (rows + 1) + j + j0], at_b = values[(i + i1) * (rows + 1) + j + j1];
        const auto add = [&](const Vec<double, 2>& p) {
          area.vertices.push_back({{static_cast<float>(p[0]), static_cast<float>(p[1]), 0}});
        };
        if (at_a < 0) add(a);
        if ((at_a < 0) != (at_b < 0)) add(a + (at_a / (at_a - at_b)) * (b - a));
      }
      for (auto v = first + 2; v < area.vertices.size(); ++v) area.triangles.push_back({{first, v - 1, v}});
    }
  return area;
}

}  // namespace tribo

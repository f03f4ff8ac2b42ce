#pragma once

#include <string_view>

namespace tribo {

/// An interpolation kernel that a scene can name in `grid.kernel`; math/spline.h has the weights.
struct KernelInfo {
  const char* name;
  const char* doc;
  int nodes;  ///< along each axis
};
inline constexpr KernelInfo kernel_list[] = {
    {"quadratic", "3 nodes along each axis: smooth, and by far the fastest here", 3},
    {"linear", "2 nodes: the sharpest, with noise whenever a particle crosses a cell; for materials without viscosity",
     2},
    {"cubic", "4 nodes: smoother still", 4},
};

constexpr int kernel_nodes(std::string_view name) {
  for (const KernelInfo& kernel : kernel_list)
    if (name == kernel.name) return kernel.nodes;
  return 3;
}

}  // namespace tribo

#pragma once

#include <array>
#include <utility>

#include "tribo/math/small.h"

/// \file
/// Surface nets (Gibson 1998): of a function sampled on a grid, the surface where it vanishes, with one vertex in each
/// cube of eight nodes that the surface passes through.

namespace tribo {

/// Calls visit(place) for every edge of a cube that the surface crosses, with the place in units of the edge. Corner i
/// is at (i >> 2, i >> 1 & 1, i & 1).
template <class T, class Visit>
void each_crossing(const std::array<T, 8>& value, const Visit& visit) {
  for (int i = 0; i < 8; ++i)
    for (int axis = 0; axis < 3; ++axis) {
      const int bit = 4 >> axis;
      if ((i & bit) != 0) continue;
      const T a = value[static_cast<std::size_t>(i)], b = value[static_cast<std::size_t>(i | bit)];
      if ((a < 0) == (b < 0)) continue;
      Vec<T, 3> p{{static_cast<T>(i >> 2), static_cast<T>(i >> 1 & 1), static_cast<T>(i & 1)}};
      p[axis] = a / (a - b);
      visit(p);
    }
}

/// The mean of the crossings; false when there are none.
template <class T>
bool net_vertex(const std::array<T, 8>& value, Vec<T, 3>& mean) {
  Vec<T, 3> sum = Vec<T, 3>::zero();
  int crossings = 0;
  each_crossing(value, [&](const Vec<T, 3>& p) {
    sum += p;
    ++crossings;
  });
  if (crossings == 0) return false;
  mean = (T(1) / static_cast<T>(crossings)) * sum;
  return true;
}

/// Two triangles around a grid edge that the surface crosses, which begins at `node` and goes along `axis`, from the
/// four cubes that share it. vertex_at(cube) gives the vertex of a cube, or `none`. `inside` tells whether the node is.
template <class Index, class VertexAt, class Add>
void net_quad(const Vec<int, 3>& node, int axis, bool inside, Index none, const VertexAt& vertex_at, const Add& add) {
  const int u = (axis + 1) % 3, v = (axis + 2) % 3;
  std::array<Index, 4> corners;
  constexpr std::array<std::array<int, 2>, 4> around{{{-1, -1}, {0, -1}, {0, 0}, {-1, 0}}};
  for (std::size_t i = 0; i < 4; ++i) {
    Vec<int, 3> cube = node;
    cube[u] += around[i][0];
    cube[v] += around[i][1];
    corners[i] = vertex_at(cube);
    if (corners[i] == none) return;
  }
  if (!inside) std::swap(corners[1], corners[3]);
  add(Vec<Index, 3>{{corners[0], corners[1], corners[2]}});
  add(Vec<Index, 3>{{corners[0], corners[2], corners[3]}});
}

}  // namespace tribo

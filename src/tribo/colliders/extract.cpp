#include "tribo/colliders/extract.h"

#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include "tribo/mesh/surface_net.h"

namespace tribo {
namespace {

using P = Vec<double, 3>;
using Nearest = std::function<SurfacePoint<double, 3>(const P&)>;
constexpr int cells_across = 128;

class Extractor {
 public:
  Extractor(const Nearest& nearest, const Bounds& bounds) : nearest_(nearest) {
    const P size = bounds.high - bounds.low;
    const double largest = std::max({size[0], size[1], size[2], 1e-300});
    step_ = largest / (cells_across - 4);
    for (int k = 0; k < 3; ++k) {
      // Two cells beyond the bounds, and off whole numbers of cells, so that flat faces do not fall onto nodes.
      count_[k] = std::max(1, static_cast<int>(std::ceil(size[k] / step_))) + 4;
      low_[k] = 0.5 * (bounds.low[k] + bounds.high[k]) - 0.5 * (count_[k] + 0.137 * (k + 1)) * step_;
    }
    sample();
    place_vertices();
    join();
  }
  SurfaceMesh take() { return with_creases(mesh_); }

 private:
  P position(double x, double y, double z) const { return low_ + P{{step_ * x, step_ * y, step_ * z}}; }
  std::size_t node(int x, int y, int z) const {
    return (static_cast<std::size_t>(x) * static_cast<std::size_t>(count_[1] + 1) + static_cast<std::size_t>(y)) *
               static_cast<std::size_t>(count_[2] + 1) +
           static_cast<std::size_t>(z);
  }
  template <class Work>
  void each_slice(int slices, const Work& work) const {
    tbb::parallel_for(0, slices, work);
  }

  void sample() {
    value_.resize(node(count_[0], count_[1], count_[2]) + 1);
    each_slice(count_[0] + 1, [&](int x) {
      for (int y = 0; y <= count_[1]; ++y)
        for (int z = 0; z <= count_[2];) {
          const double d = nearest_(position(x, y, z)).distance;
          // So far from the surface the next nodes are on the same side; a distance that is interpolated may change
          // somewhat faster than one for one.
          int same = std::max(1, static_cast<int>(std::min(0.7 * std::abs(d) / step_, 1e6)));
          for (; same > 0 && z <= count_[2]; --same, ++z) value_[node(x, y, z)] = d;
        }
    });
  }

  void place_vertices() {
    vertex_of_.assign(value_.size(), none);
    std::vector<std::vector<P>> made(static_cast<std::size_t>(count_[0]));
    each_slice(count_[0], [&](int x) {
      for (int y = 0; y < count_[1]; ++y)
        for (int z = 0; z < count_[2]; ++z) {
          std::array<double, 8> value;
          for (int i = 0; i < 8; ++i)
            value[static_cast<std::size_t>(i)] = value_[node(x + (i >> 2), y + (i >> 1 & 1), z + (i & 1))];
          P mean;
          if (!net_vertex(value, mean)) continue;
          std::vector<P>& slice = made[static_cast<std::size_t>(x)];
          vertex_of_[node(x, y, z)] = static_cast<std::int32_t>(slice.size());
          slice.push_back(on_features(value, mean, {{double(x), double(y), double(z)}}));
        }
    });
    std::vector<std::int32_t> first;
    for (const std::vector<P>& slice : made) {
      first.push_back(static_cast<std::int32_t>(mesh_.vertices.size()));
      mesh_.vertices.insert(mesh_.vertices.end(), slice.begin(), slice.end());
    }
    each_slice(count_[0], [&](int x) {
      for (int y = 0; y < count_[1]; ++y)
        for (int z = 0; z < count_[2]; ++z)
          if (std::int32_t& v = vertex_of_[node(x, y, z)]; v != none) v += first[static_cast<std::size_t>(x)];
    });
  }

  /// Where the tangent planes at the crossings meet, as near as may be: on edges and corners, which the mean of the
  /// crossings cuts off (the idea of dual contouring, Ju 2002). Approached by steps toward all planes at once, which
  /// needs no matrix to be inverted and stays put where planes are parallel.
  P on_features(const std::array<double, 8>& value, const P& mean, const P& cube) const {
    P points[12], normals[12];
    int count = 0;
    each_crossing(value, [&](const P& p) {
      P at = position(cube[0] + p[0], cube[1] + p[1], cube[2] + p[2]);
      const auto s = nearest_(at);
      points[count] = at - s.distance * s.normal;
      normals[count++] = s.normal;
    });
    const P low = position(cube[0], cube[1], cube[2]);
    P at = low + step_ * mean;
    for (int round = 0; round < 30; ++round) {
      P move = P::zero();
      for (int i = 0; i < count; ++i) move += dot(normals[i], points[i] - at) * normals[i];
      at += (1.5 / count) * move;
      for (int k = 0; k < 3; ++k) at[k] = std::clamp(at[k], low[k], low[k] + step_);
    }
    const auto s = nearest_(at);
    return at - s.distance * s.normal;
  }

  void join() {
    std::vector<std::vector<Vec<std::int32_t, 3>>> made(static_cast<std::size_t>(count_[0]));
    each_slice(count_[0], [&](int x) {
      const auto vertex_at = [&](const Vec<int, 3>& cube) {
        for (int k = 0; k < 3; ++k)
          if (cube[k] < 0 || cube[k] >= count_[k]) return none;
        return vertex_of_[node(cube[0], cube[1], cube[2])];
      };
      for (int y = 0; y < count_[1]; ++y)
        for (int z = 0; z < count_[2]; ++z)
          for (int axis = 0; axis < 3; ++axis) {
            const bool inside = value_[node(x, y, z)] < 0;
            if (inside == (value_[node(x + (axis == 0), y + (axis == 1), z + (axis == 2))] < 0)) continue;
            net_quad(Vec<int, 3>{{x, y, z}}, axis, inside, none, vertex_at,
                     [&](const Vec<std::int32_t, 3>& t) { made[static_cast<std::size_t>(x)].push_back(t); });
          }
    });
    for (const auto& triangles : made)
      mesh_.triangles.insert(mesh_.triangles.end(), triangles.begin(), triangles.end());
  }

  static constexpr std::int32_t none = -1;
  const Nearest& nearest_;
  double step_ = 0;
  Vec<int, 3> count_;  ///< cubes along each axis
  P low_;
  std::vector<double> value_;
  std::vector<std::int32_t> vertex_of_;  ///< of the cube that begins at each node
  SurfaceMesh mesh_;
};

}  // namespace

SurfaceMesh extract_surface(const Nearest& nearest, const Bounds& bounds) {
  SurfaceMesh mesh;
  tbb::this_task_arena::isolate([&] { mesh = Extractor(nearest, bounds).take(); });
  return mesh;
}

}  // namespace tribo

#include "tribo/matter/particles/sampling.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <variant>

#include "tribo/colliders/silhouette.h"
#include "tribo/core/errors.h"
#include "tribo/setup/random.h"

namespace tribo {

namespace {

template <int D>
using Point = Vec<double, D>;

/// Lattice cells along an edge. The small surplus decides ties, so that the last bit of a cube root, which differs
/// between platforms, does not.
std::int64_t cells_along(double edge, double spacing) {
  return static_cast<std::int64_t>(std::floor(edge / spacing + 0.5 + 1e-9));
}

/// One point in each cell of a lattice over the shape's bounds, stretched to a whole number of cells per axis, kept
/// when inside. Each point stays within the middle half of its cell: enough to break up the lattice, while no two
/// come closer than half a spacing.
template <int D, class AnyShape>
std::vector<Point<D>> jittered_points(const AnyShape& shape, const Bounds& bounds, double spacing, std::int64_t seed) {
  constexpr double jitter = 0.5;
  std::array<std::int64_t, 3> count = {1, 1, 1};
  Point<D> step;
  for (int i = 0; i < D; ++i) {
    const double edge = bounds.high[i] - bounds.low[i];
    count[std::size_t(i)] = cells_along(edge, spacing);
    step[i] = edge / static_cast<double>(count[std::size_t(i)]);
  }
  const Random random(seed);
  std::vector<Point<D>> points;
  std::array<std::int64_t, 3> cell;
  std::uint64_t drawn = 0;
  for (cell[0] = 0; cell[0] < count[0]; ++cell[0]) {
    for (cell[1] = 0; cell[1] < count[1]; ++cell[1]) {
      for (cell[2] = 0; cell[2] < count[2]; ++cell[2]) {
        Point<D> p;
        for (int i = 0; i < D; ++i) {
          const double offset = 0.5 + jitter * (random.at(drawn++) - 0.5);
          p[i] = bounds.low[i] + (static_cast<double>(cell[std::size_t(i)]) + offset) * step[i];
        }
        if (shape.nearest(p).distance < 0) points.push_back(p);
      }
    }
  }
  return points;
}

/// How densely PoissonDisk packs points. Measured on squares of edge L = 8 to 128 radii and cubes of 8 to 50: the
/// mean number of points over many seeds is density (L / radius + 2 inset)^D within 0.5 %. The surplus near the
/// surface, where points have neighbors on one side only, is as if the shape were thicker by `inset` radii all
/// around; kept that far inside, the points have the wanted density whatever the shape's size.
template <int D>
struct PoissonPacking;
template <>
struct PoissonPacking<2> {
  static constexpr double density = 0.615;
  static constexpr double inset = 0.238;
};
template <>
struct PoissonPacking<3> {
  static constexpr double density = 0.577;
  static constexpr double inset = 0.194;
};

/// Bridson, Fast Poisson disk sampling in arbitrary dimensions (2007): grow the set from its active points, each of
/// which gets 30 chances to place a neighbor at radius to 2 radius from it. A background grid with cells of diagonal
/// `radius` holds at most one point each, so that a candidate meets a bounded number of cells and the whole is linear
/// in the number of points.
template <int D, class AnyShape>
class PoissonDisk {
 public:
  PoissonDisk(const AnyShape& shape, const Bounds& bounds, double radius, std::int64_t seed)
      : shape_(shape), bounds_(bounds), radius_(radius), random_(seed) {
    std::size_t total = 1;
    for (int i = 0; i < D; ++i) {
      count_[i] = static_cast<std::int64_t>((bounds.high[i] - bounds.low[i]) / cell_edge()) + 1;
      total *= static_cast<std::size_t>(count_[i]);
    }
    grid_.assign(total, empty);
  }

  std::vector<Point<D>> fill(double inset) {
    if (!place_first(inset)) return {};
    grow();
    // A shape of several pieces: what lies out of reach of every point begins anew.
    each_cell([&](std::size_t index, const Point<D>& center) {
      if (grid_[index] == empty && shape_.nearest(center).distance < -inset_ && is_free(center, 2 * radius_)) {
        place(center);
        grow();
      }
    });
    return std::move(points_);
  }

 private:
  static constexpr int chances = 30;
  static constexpr std::int32_t empty = -1;

  /// From the last point placed until no active point finds room for a neighbor.
  void grow() {
    std::vector<std::int32_t> active = {std::int32_t(points_.size()) - 1};
    while (!active.empty()) {
      const std::size_t pick =
          std::min(static_cast<std::size_t>(random_.next() * static_cast<double>(active.size())), active.size() - 1);
      if (place_near(points_[std::size_t(active[pick])])) {
        active.push_back(std::int32_t(points_.size()) - 1);
      } else {
        active[pick] = active.back();
        active.pop_back();
      }
    }
  }

  /// visit(index, center) for all cells of the background grid.
  template <class Visit>
  void each_cell(const Visit& visit) const {
    Vec<std::int64_t, D> cell = Vec<std::int64_t, D>::zero();
    for (std::size_t index = 0; index < grid_.size(); ++index) {
      Point<D> center;
      for (int i = 0; i < D; ++i) center[i] = bounds_.low[i] + (double(cell[i]) + 0.5) * cell_edge();
      visit(index, center);
      for (int axis = D - 1; axis >= 0 && ++cell[axis] == count_[axis]; --axis) cell[axis] = 0;
    }
  }

  double cell_edge() const { return radius_ / std::sqrt(double(D)); }

  std::int64_t cell_along(double x, int axis) const {
    return std::clamp(static_cast<std::int64_t>((x - bounds_.low[axis]) / cell_edge()), std::int64_t(0),
                      count_[axis] - 1);
  }

  std::size_t cell_index(const Vec<std::int64_t, D>& cell) const {
    std::size_t index = 0;
    for (int i = 0; i < D; ++i) index = index * std::size_t(count_[i]) + std::size_t(cell[i]);
    return index;
  }

  void place(const Point<D>& p) {
    Vec<std::int64_t, D> cell;
    for (int i = 0; i < D; ++i) cell[i] = cell_along(p[i], i);
    grid_[cell_index(cell)] = std::int32_t(points_.size());
    points_.push_back(p);
  }

  /// Starts from the deepest of some random points, or of all cells when the shape fills so little of its bounds that
  /// none is inside. In a shape that is hardly thicker than the inset, the inset gives way.
  bool place_first(double inset) {
    Point<D> deepest = Point<D>::zero();
    double depth = 0;
    const auto look_at = [&](const Point<D>& p) {
      const double here = -shape_.nearest(p).distance;
      if (here > depth) {
        depth = here;
        deepest = p;
      }
    };
    for (int attempt = 0; attempt < 256; ++attempt) {
      Point<D> p;
      for (int i = 0; i < D; ++i) p[i] = bounds_.low[i] + random_.next() * (bounds_.high[i] - bounds_.low[i]);
      look_at(p);
    }
    if (depth <= 0) each_cell([&](std::size_t, const Point<D>& center) { look_at(center); });
    if (depth <= 0) return false;
    inset_ = std::min(inset, 0.9 * depth);
    place(deepest);
    return true;
  }

  bool place_near(Point<D> center) {  // by value: `place` moves the points
    for (int chance = 0; chance < chances; ++chance) {
      const Point<D> p = center + offset();
      if (is_free(p, radius_) && shape_.nearest(p).distance < -inset_) {
        place(p);
        return true;
      }
    }
    return false;
  }

  /// Uniform in the shell from radius to 2 radius, by rejection from a cube.
  Point<D> offset() {
    for (;;) {
      Point<D> v;
      for (int i = 0; i < D; ++i) v[i] = 4 * random_.next() - 2;
      const double square = squared_norm(v);
      if (square >= 1 && square < 4) return v * radius_;
    }
  }

  /// Whether p is within the bounds and no point is nearer to it than `distance`.
  bool is_free(const Point<D>& p, double distance) const {
    Vec<std::int64_t, D> low, high;
    for (int i = 0; i < D; ++i) {
      if (p[i] < bounds_.low[i] || p[i] > bounds_.high[i]) return false;
      low[i] = cell_along(p[i] - distance, i);
      high[i] = cell_along(p[i] + distance, i);
    }
    Vec<std::int64_t, D> cell = low;
    for (;;) {
      // The last axis is contiguous in the grid.
      const std::size_t row = cell_index(cell);
      for (std::int64_t k = 0; k <= high[D - 1] - low[D - 1]; ++k) {
        const std::int32_t other = grid_[row + std::size_t(k)];
        if (other != empty && squared_norm(points_[std::size_t(other)] - p) < distance * distance) return false;
      }
      int axis = D - 2;
      while (axis >= 0 && ++cell[axis] > high[axis]) {
        cell[axis] = low[axis];
        --axis;
      }
      if (axis < 0) return true;
    }
  }

  const AnyShape& shape_;
  Bounds bounds_;
  double radius_;
  double inset_ = 0;
  Random random_;
  Vec<std::int64_t, D> count_;
  std::vector<std::int32_t> grid_;
  std::vector<Point<D>> points_;
};

template <int D, class AnyShape>
std::vector<Point<D>> points_in(const AnyShape& shape, double dx, double particles_per_cell, Sampling sampling,
                                std::int64_t seed) {
  const Bounds bounds = shape.bounds();
  if (!bounds.bounded) {
    throw Error(ExitCode::bad_input, std::string("a ") + AnyShape::name + " has no end and cannot be filled");
  }
  const double spacing = lattice_spacing(dx, particles_per_cell, D);
  for (int i = 0; i < D; ++i) {
    if (cells_along(bounds.high[i] - bounds.low[i], spacing) < 1) return {};
  }
  if (sampling == Sampling::jittered) return jittered_points<D>(shape, bounds, spacing, seed);

  using Packing = PoissonPacking<D>;
  const double relative = D == 2 ? std::sqrt(Packing::density) : std::cbrt(Packing::density);
  // Rounded to float, because the last bit of a cube root differs between platforms.
  const double radius = double(float(relative * spacing));
  return PoissonDisk<D, AnyShape>(shape, bounds, radius, seed).fill(Packing::inset * radius);
}

/// What an outline sweeps when it moves along its direction: a prism, in the outline's coordinates.
template <int D>
struct SweptOutline {
  static constexpr const char* name = "jet";
  const Silhouette<D>& outline;
  double length;

  Bounds bounds() const {
    Bounds r{true};
    for (int k = 0; k < D; ++k) {
      r.low[k] = k < D - 1 ? outline.low()[k] : 0;
      r.high[k] = k < D - 1 ? outline.high()[k] : length;
    }
    return r;
  }
  SurfacePoint<double, D> nearest(const Point<D>& p) const {
    const double ends = std::max(-p[D - 1], p[D - 1] - length);
    return {std::max(ends, -outline.meet(p).depth), Point<D>::zero()};
  }
};

template <int D>
std::vector<Vec<double, 3>> in_world(const std::vector<Point<D>>& points, const Pose& pose) {
  std::vector<Vec<double, 3>> positions;
  positions.reserve(points.size());
  for (const Point<D>& p : points) {
    auto local = Vec<double, 3>::zero();
    for (int i = 0; i < D; ++i) local[i] = p[i];
    positions.push_back(pose.rotation * local + pose.at);
  }
  return positions;
}

}  // namespace

double lattice_spacing(double dx, double particles_per_cell, int dimension) {
  return dx / (dimension == 2 ? std::sqrt(particles_per_cell) : std::cbrt(particles_per_cell));
}

double expected_count(const Shape<double>& shape, double dx, double particles_per_cell, int dimension) {
  const double volume = std::visit([&](const auto& s) { return s.volume(dimension); }, shape);
  return volume / std::pow(dx, dimension) * particles_per_cell;
}

Samples sample_shape(const Shape<double>& shape, const Pose& pose, double dx, double particles_per_cell,
                     Sampling sampling, std::int64_t seed, int dimension) {
  Samples samples;
  std::visit(
      [&](const auto& s) {
        if (dimension == 2) {
          samples.positions = in_world(points_in<2>(s, dx, particles_per_cell, sampling, seed), pose);
        } else {
          samples.positions = in_world(points_in<3>(s, dx, particles_per_cell, sampling, seed), pose);
        }
        if (!samples.positions.empty()) {
          samples.volume_each = s.volume(dimension) / static_cast<double>(samples.positions.size());
        }
      },
      shape);
  return samples;
}

template <int D>
std::vector<Vec<double, D>> sample_swept(const Silhouette<D>& outline, double length, double dx,
                                         double particles_per_cell, Sampling sampling, std::int64_t seed) {
  return points_in<D>(SweptOutline<D>{outline, length}, dx, particles_per_cell, sampling, seed);
}
template std::vector<Vec<double, 2>> sample_swept(const Silhouette<2>&, double, double, double, Sampling, std::int64_t);
template std::vector<Vec<double, 3>> sample_swept(const Silhouette<3>&, double, double, double, Sampling, std::int64_t);

}  // namespace tribo

#pragma once

#include <algorithm>
#include <cmath>
#include <variant>

#include "tribo/colliders/all.h"

namespace tribo {

/// A bounded shape as seen along a direction: which straight lines meet it, and where they enter. Coordinates are
/// D - 1 across the direction and, last, the distance along it, all in the shape's own frame turned to the direction.
template <int D>
class Silhouette {
 public:
  using Point = Vec<double, D>;

  /// `direction` has unit length.
  Silhouette(const Shape<double>& shape, const Point& direction) : shape_(shape) {
    axis_[D - 1] = direction;
    if constexpr (D == 2) {
      axis_[0] = {{direction[1], -direction[0]}};
    } else {
      // The coordinate axis farthest from the direction first: seen along an axis, a box keeps its edges.
      int least = 0;
      for (int k = 1; k < D; ++k)
        if (std::abs(direction[k]) < std::abs(direction[least])) least = k;
      const Point start = axis_direction<double, D>(least, false);
      axis_[0] = length_and_direction(start - direction * direction[least]).normal;
      axis_[1] = cross(direction, axis_[0]);
    }
    const Bounds bounds = std::visit([](const auto& s) { return s.bounds(); }, shape);
    low_ = Point::filled(1e300);
    high_ = Point::filled(-1e300);
    for (int corner = 0; corner < 1 << D; ++corner) {
      Point p;
      for (int k = 0; k < D; ++k) p[k] = (corner >> k & 1) != 0 ? bounds.high[k] : bounds.low[k];
      for (int k = 0; k < D; ++k) {
        low_[k] = std::min(low_[k], dot(p, axis_[k]));
        high_[k] = std::max(high_[k], dot(p, axis_[k]));
      }
    }
    tolerance_ = 0;
    for (int k = 0; k < D; ++k) tolerance_ = std::max(tolerance_, (high_[k] - low_[k]) / 1024);
  }

  const Point& low() const { return low_; }
  const Point& high() const { return high_; }
  Point in_shape_frame(const Point& p) const {
    Point r = Point::zero();
    for (int k = 0; k < D; ++k) r += axis_[k] * p[k];
    return r;
  }

  /// What becomes of the line along the direction through p.
  struct Meeting {
    bool meets = false;
    double entry = 0;       ///< where along the direction it enters [m]
    double depth = -1e300;  ///< how deep it gets; negative: how far off it stays
  };
  /// Walks along the line by the distance to the surface, which is never too far, or by a thousandth of the shape.
  Meeting meet(Point p) const {
    Meeting m;
    std::visit(
        [&](const auto& shape) {
          for (p[D - 1] = low_[D - 1]; p[D - 1] <= high_[D - 1] + tolerance_;) {
            const double distance = shape.nearest(in_shape_frame(p)).distance;
            if (distance < 0 && !m.meets) {
              m.meets = true;
              m.entry = entry_before(shape, p);
            }
            m.depth = std::max(m.depth, -distance);
            p[D - 1] += std::max(std::abs(distance), tolerance_);
          }
        },
        shape_);
    return m;
  }

  /// Area of the outline [m^2]; in two dimensions its width [m]. Exact for a box seen along an axis, else within a
  /// thousandth; with fewer `cuts`, within some hundredths.
  double area(int cuts = D == 2 ? 12 : 8) const { return covered(low_, high_ - low_, cuts); }

 private:
  /// Where the line of p, which is inside, has come in since the last step of the walk.
  template <class One>
  double entry_before(const One& shape, Point p) const {
    double inside = p[D - 1], outside = inside - tolerance_;
    for (int i = 0; i < 24; ++i) {
      p[D - 1] = 0.5 * (inside + outside);
      (shape.nearest(in_shape_frame(p)).distance < 0 ? inside : outside) = p[D - 1];
    }
    return inside;
  }

  /// Area of the outline in a rectangle across the direction: cut in halves until it is all inside or all outside,
  /// which the distance to the outline tells, or as small as wanted. Walking past a line may miss up to half of how
  /// near it came.
  double covered(const Point& corner, const Point& edges, int cuts) const {
    double whole = 1, half_diagonal = 0;
    Point center = corner;
    for (int k = 0; k < D - 1; ++k) {
      whole *= edges[k];
      half_diagonal += 0.25 * edges[k] * edges[k];
      center[k] += 0.5 * edges[k];
    }
    half_diagonal = std::sqrt(half_diagonal);
    const Meeting m = meet(center);
    if (m.depth < -2 * half_diagonal - tolerance_) return 0;
    if (cuts == 0 || m.depth > half_diagonal) return m.meets ? whole : 0;
    double sum = 0;
    for (int part = 0; part < 1 << (D - 1); ++part) {
      Point part_corner = corner;
      for (int k = 0; k < D - 1; ++k)
        if ((part >> k & 1) != 0) part_corner[k] = center[k];
      sum += covered(part_corner, edges * 0.5, cuts - 1);
    }
    return sum;
  }

  Shape<double> shape_;
  Point axis_[D];
  Point low_, high_;
  double tolerance_;
};

}  // namespace tribo

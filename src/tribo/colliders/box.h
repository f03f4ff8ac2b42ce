#pragma once

#include "tribo/colliders/contact.h"
#include "tribo/colliders/surface.h"
#include "tribo/core/params.h"

namespace tribo {

/// Box centered at the origin, edges along the axes. In two dimensions, a rectangle.
template <class Real>
struct Box {
  static constexpr const char* name = "box";
  static constexpr const char* doc = "a box centered at the origin; a rectangle in two dimensions";
  static constexpr const char* shorthand = "size";

  Vec<Real, 3> size{{Real(1), Real(1), Real(1)}};  ///< edge lengths [m]; the third is unused in two dimensions

  static Box read(ParamReader& in) {
    return {cast<Real>(in.vector("size", "m", above(0), "edge lengths along x, y and z"))};
  }

  template <int D>
  TRIBO_HD Vec<Real, D> half() const {
    Vec<Real, D> r;
    for (int i = 0; i < D; ++i) r[i] = Real(0.5) * size[i];
    return r;
  }

  template <int D>
  TRIBO_HD SurfacePoint<Real, D> nearest(const Vec<Real, D>& p) const {
    return nearest_of_box(half<D>(), p);
  }

  template <int D, class Visit>
  TRIBO_HD void each_contact(const Vec<Real, D>& p, bool inside, Real slack, const Visit& visit) const {
    if (inside) {
      each_wall_of_box(half<D>(), p, slack, visit);
    } else {
      visit_nearest(*this, p, inside, slack, visit);
    }
  }

  Bounds bounds() const {
    const Vec<double, 3> h = 0.5 * cast<double>(size);
    return {true, -h, h};
  }
  SurfaceMesh surface() const { return box_surface(0.5 * cast<double>(size)); }
  double volume(int dimension) const {
    const double area = double(size[0]) * double(size[1]);
    return dimension == 2 ? area : area * double(size[2]);
  }
};

}  // namespace tribo

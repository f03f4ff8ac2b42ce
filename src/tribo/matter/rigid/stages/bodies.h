#pragma once

#include <memory>
#include <tuple>
#include <variant>

#include "tribo/contact/shape_store.h"
#include "tribo/exec/columns.h"
#include "tribo/math/rotation.h"
#include "tribo/matter/rigid/seed.h"
#include "tribo/matter/rigid/solid_triangles.h"

/// \file
/// Rigid bodies as others meet them during a step: where they are, how they move, how far away their surfaces are, and
/// how much they yield. All in double in every precision: they are few, and stacks need the digits.

namespace tribo::TRIBO_BACKEND {

using Vec3d = Vec<double, 3>;

/// A body in place; impulses change its velocities.
struct PlacedBody {
  Vec3d x;                         ///< center of mass [m]
  Mat<double, 3> rotation;         ///< body to world
  Vec3d v, w;                      ///< [m/s], [rad/s]
  double inverse_mass;             ///< 0 of what follows keyframes [1/kg]
  Sym<double, 3> inverse_inertia;  ///< in the world [1/(kg m^2)]
  Index form, group;

  TRIBO_HD Vec3d velocity_at(const Vec3d& at) const { return v + cross(w, at - x); }
  /// Change of the velocity at x + r by an impulse there.
  TRIBO_HD Vec3d yields(const Vec3d& r, const Vec3d& impulse) const {
    return inverse_mass * impulse + cross(inverse_inertia * cross(r, impulse), r);
  }
  TRIBO_HD void push(const Vec3d& r, const Vec3d& impulse) {
    v += inverse_mass * impulse;
    w += inverse_inertia * cross(r, impulse);
  }
};

/// The distance of a body's surface.
struct RigidSurface {
  double distance;  ///< negative inside [m]
  Vec3d normal;     ///< outward
  bool flat;        ///< whether what is nearest may be the inside of a flat face
};

/// All shapes of one type.
template <class One>
struct RigidShapeSpan {
  const One* data = nullptr;
};

/// The shapes of bodies, on the device.
template <class Shapes>
class RigidShapesOf;
template <class... S>
class RigidShapesOf<std::variant<S...>> {
 public:
  /// Where that of a form is.
  struct Place {
    Index type, slot;
    Vec3d center;          ///< of mass, in the frame of the shape
    Index node, triangle;  ///< the first of SolidTriangles; node -1: none
  };
  struct View : RigidShapeSpan<DeviceForm<double, S>>... {
    const Place* place = nullptr;
    SolidTriangles triangles;  ///< of all

    /// From a point in the body's frame.
    TRIBO_OUTLINED RigidSurface nearest(Index form, const Vec3d& p) const {
      RigidSurface surface{1e300, Vec3d::zero(), false};
      const Place& at = place[form];
      Index type = 0;
      const SolidTriangles own{at.node >= 0 ? triangles.node + at.node : nullptr, triangles.triangle + at.triangle};
      (look(static_cast<const RigidShapeSpan<DeviceForm<double, S>>&>(*this), type++, at, own, p + at.center, surface),
       ...);
      return surface;
    }
    /// In the world.
    TRIBO_HD RigidSurface nearest(const PlacedBody& body, const Vec3d& x) const {
      RigidSurface surface = nearest(body.form, transpose(body.rotation) * (x - body.x));
      surface.normal = body.rotation * surface.normal;
      return surface;
    }

   private:
    template <class One>
    TRIBO_HD static void look(const RigidShapeSpan<One>& span, Index type, const Place& at,
                              const SolidTriangles& triangles, const Vec3d& p, RigidSurface& surface) {
      if (at.type != type) return;
      SurfacePoint<double, 3> nearest = span.data[at.slot].nearest(p);
      look_closely(span.data[at.slot], triangles, p, nearest);
      surface = {nearest.distance, nearest.normal, is_flat(span.data[at.slot], nearest.normal)};
    }
    template <class One>
    TRIBO_HD static void look_closely(const One&, const SolidTriangles&, const Vec3d&, SurfacePoint<double, 3>&) {}
    /// Near the surface of a mesh, where its samples are good to one spacing.
    TRIBO_HD static void look_closely(const DistanceGrid<double>& grid, const SolidTriangles& triangles, const Vec3d& p,
                                      SurfacePoint<double, 3>& nearest) {
      const double sampled = nearest.distance, far = abs(sampled);
      if (triangles.node == nullptr || !(far < 3 * grid.spacing)) return;
      SurfacePoint<double, 3> exact;
      if (!triangles.nearest(p, far + grid.spacing, exact)) return;
      if (exact.distance * sampled < 0 && far > 0.5 * grid.spacing) return;  // holes that the winding number has closed
      nearest = exact;
    }

    template <class One>
    TRIBO_HD static bool is_flat(const One&, const Vec3d&) {
      return true;
    }
    TRIBO_HD static bool is_flat(const Sphere<double>&, const Vec3d&) { return false; }
    TRIBO_HD static bool is_flat(const Capsule<double>&, const Vec3d&) { return false; }
    TRIBO_HD static bool is_flat(const Torus<double>&, const Vec3d&) { return false; }
    TRIBO_HD static bool is_flat(const Cylinder<double>&, const Vec3d& normal) {
      return normal[1] > 0.9999 || normal[1] < -0.9999;
    }
  };

  void load(Exec& ex, const RigidSeed& seed) {
    std::tuple<std::vector<DeviceForm<double, S>>...> forms;
    std::vector<Place> places;
    SolidTriangleLists triangles;
    for (const RigidForm& form : seed.forms) {
      const auto node = static_cast<Index>(triangles.nodes.size()),
                 first = static_cast<Index>(triangles.triangles.size());
      const auto* const mesh = std::get_if<Mesh>(&form.shape);
      const bool exact = mesh != nullptr && triangles.add(*mesh);
      std::visit(
          [&]<class One>(const One& shape) {
            auto& all = std::get<std::vector<One>>(forms);
            places.push_back({static_cast<Index>(form.shape.index()), static_cast<Index>(all.size()), form.center,
                              exact ? node : -1, exact ? first : 0});
            all.push_back(shape);
          },
          store_.load(ex, form.shape));
    }
    copy_to_device(ex, triangles.nodes.data(), nodes_, static_cast<Index>(triangles.nodes.size()));
    copy_to_device(ex, triangles.triangles.data(), triangles_, static_cast<Index>(triangles.triangles.size()));
    view_.triangles = {nodes_.data(), triangles_.data()};
    (send(ex, std::get<std::vector<DeviceForm<double, S>>>(forms), std::get<Array<DeviceForm<double, S>>>(forms_),
          static_cast<RigidShapeSpan<DeviceForm<double, S>>&>(view_)),
     ...);
    copy_to_device(ex, places.data(), places_, static_cast<Index>(places.size()));
    view_.place = places_.data();
  }
  const View& view() const { return view_; }
  std::size_t bytes() const {
    return store_.bytes() + places_.bytes() + nodes_.bytes() + triangles_.bytes() +
           (std::get<Array<DeviceForm<double, S>>>(forms_).bytes() + ...);
  }

 private:
  template <class One>
  static void send(Exec& ex, const std::vector<One>& from, Array<One>& to, RigidShapeSpan<One>& span) {
    copy_to_device(ex, from.data(), to, static_cast<Index>(from.size()));
    span.data = to.data();
  }

  ShapeStore<double> store_;
  Array<Place> places_;
  Array<TriangleNode> nodes_;
  Array<SolidTriangle> triangles_;
  std::tuple<Array<DeviceForm<double, S>>...> forms_;
  View view_;
};
using RigidShapes = RigidShapesOf<Shape<double>>;

/// What kernels need of bodies.
struct RigidView {
  Index count = 0;
  PlacedBody* body = nullptr;
  RigidShapes::View shapes{};
};

}  // namespace tribo::TRIBO_BACKEND

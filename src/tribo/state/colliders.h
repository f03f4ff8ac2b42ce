#pragma once

#include <tuple>
#include <variant>
#include <vector>

#include "tribo/colliders/all.h"
#include "tribo/core/cast_numbers.h"
#include "tribo/exec/backend.h"
#include "tribo/math/small.h"
#include "tribo/scene/scene.h"

namespace tribo::TRIBO_BACKEND {

/// A collider where it is during one step.
template <class Real, int D, class S>
struct PlacedCollider {
  S shape;
  Vec<Real, D> at;                ///< [m]
  Mat<Real, D> rotation;          ///< local to world
  Vec<Real, D> velocity;          ///< of `at` [m/s]
  Vec<Real, 3> angular_velocity;  ///< [rad/s]; in two dimensions only the last component acts
  Real friction;
  Boundary boundary;
  bool inside;

  /// Velocity of the collider's material at world point x.
  TRIBO_HD Vec<Real, D> velocity_at(const Vec<Real, D>& x) const {
    const Vec<Real, D> r = x - at;
    if constexpr (D == 3) {
      return velocity + cross(angular_velocity, r);
    } else {
      return velocity + Vec<Real, D>{{-angular_velocity[2] * r[1], angular_velocity[2] * r[0]}};
    }
  }

  /// Velocity a grid node at x may have after contact, with Coulomb friction |dv_t| <= mu |dv_n| on `separate`. A node
  /// closer than `slack` counts as on the surface.
  TRIBO_HD Vec<Real, D> constrain(const Vec<Real, D>& x, Vec<Real, D> v, Real slack) const {
    shape.each_contact(transpose(rotation) * (x - at), inside, slack, [&](const SurfacePoint<Real, D>& surface) {
      const Vec<Real, D> own = velocity_at(x);
      if (boundary == Boundary::sticky) {
        v = own;
        return;
      }
      const Vec<Real, D> n = rotation * surface.normal;
      const Vec<Real, D> relative = v - own;
      const Real vn = dot(relative, n);
      if (boundary == Boundary::separate && vn >= Real(0)) return;
      Vec<Real, D> tangential = relative - vn * n;
      if (boundary == Boundary::separate && friction > Real(0)) {
        const Real speed = sqrt(squared_norm(tangential));
        const Real loss = -friction * vn;
        tangential = tangential * (speed > loss ? Real(1) - loss / speed : Real(0));
      }
      v = tangential + own;
    });
    return v;
  }

  /// Whether a ball around x may touch what is forbidden to material that does not stick.
  TRIBO_HD bool reaches(const Vec<Real, D>& x, Real radius) const {
    bool r = false;
    if (boundary != Boundary::sticky)
      shape.each_contact(transpose(rotation) * (x - at), inside, radius,
                         [&](const SurfacePoint<Real, D>&) { r = true; });
    return r;
  }

  /// x brought back to the depth `allowed` beyond the surface, if it is deeper. What is deeper than `lost` was put
  /// there by the scene and stays; so does what a sticky collider holds.
  TRIBO_HD Vec<Real, D> pushed_out(Vec<Real, D> x, Real allowed, Real lost) const {
    if (boundary == Boundary::sticky) return x;
    shape.each_contact(transpose(rotation) * (x - at), inside, -allowed, [&](const SurfacePoint<Real, D>& surface) {
      if (surface.distance > -lost) x = x - (surface.distance + allowed) * (rotation * surface.normal);
    });
    return x;
  }
};

/// The inside of an emitter at work: material there moves with the emitter's velocity, while the shape stays.
struct Nozzle {
  Shape<double> shape;
  Pose pose;
  Vec<double, 3> velocity;  ///< [m/s]
};

/// All colliders of one shape.
template <class Real, int D, class S>
struct ColliderSpan {
  const PlacedCollider<Real, D, S>* data = nullptr;
  Index count = 0;

  TRIBO_HD Vec<Real, D> constrain(const Vec<Real, D>& x, Vec<Real, D> v, Real slack) const {
    for (Index i = 0; i < count; ++i) v = data[i].constrain(x, v, slack);
    return v;
  }
  TRIBO_HD bool reaches(const Vec<Real, D>& x, Real radius) const {
    for (Index i = 0; i < count; ++i)
      if (data[i].reaches(x, radius)) return true;
    return false;
  }
  TRIBO_HD Vec<Real, D> pushed_out(Vec<Real, D> x, Real allowed, Real lost) const {
    for (Index i = 0; i < count; ++i) x = data[i].pushed_out(x, allowed, lost);
    return x;
  }
};

/// All colliders, kept apart by shape so that kernels call each shape's own code without a switch.
template <class Real, int D, class Shapes>
struct CollidersOf;
template <class Real, int D, class... S>
struct CollidersOf<Real, D, std::variant<S...>> {
  struct View : ColliderSpan<Real, D, S>... {
    TRIBO_HD Vec<Real, D> constrain(const Vec<Real, D>& x, Vec<Real, D> v, Real slack) const {
      ((v = ColliderSpan<Real, D, S>::constrain(x, v, slack)), ...);
      return v;
    }
    TRIBO_HD bool reaches(const Vec<Real, D>& x, Real radius) const {
      return (ColliderSpan<Real, D, S>::reaches(x, radius) || ...);
    }
    TRIBO_HD Vec<Real, D> pushed_out(Vec<Real, D> x, Real allowed, Real lost) const {
      ((x = ColliderSpan<Real, D, S>::pushed_out(x, allowed, lost)), ...);
      return x;
    }
  };
  template <class Each>
  struct Storage {
    std::vector<PlacedCollider<Real, D, Each>> host;
    Array<PlacedCollider<Real, D, Each>> device;
  };
  std::tuple<Storage<S>...> all;

  /// Poses and velocities for the step from `time` to `time + dt`.
  View place(Exec& ex, const std::vector<ColliderSpec>& specs, double time, double dt,
             const std::vector<Nozzle>& nozzles = {}) {
    (std::get<Storage<S>>(all).host.clear(), ...);
    const auto add = [&](const Shape<double>& any_shape, const RigidMotion& motion, double friction, Boundary boundary,
                         bool inside) {
      std::visit(
          [&]<class One>(const One& shape) {
            PlacedCollider<Real, D, One> placed;
            placed.shape = shape;
            for (int i = 0; i < D; ++i) {
              placed.at[i] = static_cast<Real>(motion.pose.at[i]);
              placed.velocity[i] = static_cast<Real>(motion.velocity[i]);
              for (int j = 0; j < D; ++j) placed.rotation(i, j) = static_cast<Real>(motion.pose.rotation(i, j));
            }
            placed.angular_velocity = cast<Real>(motion.angular_velocity);
            placed.friction = static_cast<Real>(friction);
            placed.boundary = boundary;
            placed.inside = inside;
            std::get<Storage<One>>(all).host.push_back(placed);
          },
          cast_variant<Real>(any_shape));
    };
    for (const ColliderSpec& spec : specs)
      add(spec.shape, spec.motion.over(time, dt), spec.friction, spec.boundary, spec.inside);
    for (const Nozzle& nozzle : nozzles)
      add(nozzle.shape, {nozzle.pose, nozzle.velocity, Vec<double, 3>::zero()}, 0, Boundary::sticky, false);
    View view;
    (upload(ex, std::get<Storage<S>>(all), static_cast<ColliderSpan<Real, D, S>&>(view)), ...);
    return view;
  }

 private:
  template <class Each>
  static void upload(Exec& ex, Storage<Each>& storage, ColliderSpan<Real, D, Each>& span) {
    const auto count = static_cast<Index>(storage.host.size());
    copy_to_device(ex, storage.host.data(), storage.device, count);
    span.data = storage.device.data();
    span.count = count;
  }
};

template <class Real, int D>
using Colliders = CollidersOf<Real, D, Shape<Real>>;

}  // namespace tribo::TRIBO_BACKEND

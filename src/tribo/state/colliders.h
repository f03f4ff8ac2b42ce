#pragma once

#include <limits>
#include <memory>
#include <tuple>
#include <variant>
#include <vector>

#include "tribo/colliders/all.h"
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
  Vec<Real, D> low, high;         ///< no point outside of these is in contact [m]
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
    bool near = true;
    for (int k = 0; k < D; ++k) near = near && x[k] >= low[k] - slack && x[k] <= high[k] + slack;
    if (!near) return v;
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
};

/// All colliders, kept apart by shape so that kernels call each shape's own code without a switch.
template <class Real, int D, class Shapes>
struct CollidersOf;
template <class Real, int D, class... S>
struct CollidersOf<Real, D, std::variant<S...>> {
  struct View : ColliderSpan<Real, D, DeviceForm<Real, S>>... {
    TRIBO_HD Vec<Real, D> constrain(const Vec<Real, D>& x, Vec<Real, D> v, Real slack) const {
      ((v = ColliderSpan<Real, D, DeviceForm<Real, S>>::constrain(x, v, slack)), ...);
      return v;
    }
  };
  using Form = std::variant<DeviceForm<Real, S>...>;
  template <class Each>
  struct Storage {
    std::vector<PlacedCollider<Real, D, Each>> host;
    Array<PlacedCollider<Real, D, Each>> device;
  };
  std::tuple<Storage<DeviceForm<Real, S>>...> all;
  std::vector<Form> forms;                  ///< of each collider
  std::vector<std::shared_ptr<void>> kept;  ///< what forms refer to, on the device for good
  std::size_t kept_bytes = 0;

  /// Brings what the shapes refer to onto the device. Once, before the first `place`.
  void load(Exec& ex, const std::vector<ColliderSpec>& specs) {
    const auto store = [&](const auto& values) {
      using Item = typename std::decay_t<decltype(values)>::value_type;
      auto array = std::make_shared<Array<Item>>();
      copy_to_device(ex, values.data(), *array, static_cast<Index>(values.size()));
      const Item* const address = array->data();
      kept_bytes += array->bytes();
      kept.push_back(std::move(array));
      return address;
    };
    for (const ColliderSpec& spec : specs)
      std::visit([&](const auto& shape) { forms.push_back(device_form<Real>(shape, store)); }, spec.shape);
  }

  /// Poses and velocities for the step from `time` to `time + dt`.
  View place(Exec& ex, const std::vector<ColliderSpec>& specs, double time, double dt) {
    (std::get<Storage<DeviceForm<Real, S>>>(all).host.clear(), ...);
    for (std::size_t i = 0; i < specs.size(); ++i) {
      const ColliderSpec& spec = specs[i];
      const RigidMotion motion = spec.motion.over(time, dt);
      std::visit(
          [&]<class One>(const One& shape) {
            PlacedCollider<Real, D, One> placed;
            placed.shape = shape;
            for (int k = 0; k < D; ++k) {
              placed.at[k] = static_cast<Real>(motion.pose.at[k]);
              placed.velocity[k] = static_cast<Real>(motion.velocity[k]);
              for (int j = 0; j < D; ++j) placed.rotation(k, j) = static_cast<Real>(motion.pose.rotation(k, j));
            }
            placed.angular_velocity = cast<Real>(motion.angular_velocity);
            set_reach(spec, motion.pose, placed);
            placed.friction = static_cast<Real>(spec.friction);
            placed.boundary = spec.boundary;
            placed.inside = spec.inside;
            std::get<Storage<One>>(all).host.push_back(placed);
          },
          forms[i]);
    }
    View view;
    (upload(ex, std::get<Storage<DeviceForm<Real, S>>>(all),
            static_cast<ColliderSpan<Real, D, DeviceForm<Real, S>>&>(view)),
     ...);
    return view;
  }

 private:
  /// Bounds in the world, a little wider so that rounding decides nothing. Whoever is kept inside meets the collider
  /// everywhere else.
  template <class One>
  static void set_reach(const ColliderSpec& spec, const Pose& pose, PlacedCollider<Real, D, One>& placed) {
    const Bounds bounds =
        turned(std::visit([](const auto& s) { return s.bounds(); }, spec.shape), pose.rotation, pose.at);
    for (int k = 0; k < D; ++k) {
      const bool bounded = bounds.bounded && !spec.inside;
      const double margin =
          1e-5 * (bounds.high[k] - bounds.low[k] + std::abs(bounds.low[k]) + std::abs(bounds.high[k]));
      placed.low[k] = bounded ? static_cast<Real>(bounds.low[k] - margin) : std::numeric_limits<Real>::lowest();
      placed.high[k] = bounded ? static_cast<Real>(bounds.high[k] + margin) : std::numeric_limits<Real>::max();
    }
  }

  template <class Each>
  static void upload(Exec& ex, Storage<Each>& storage, ColliderSpan<Real, D, Each>& span) {
    const auto count = static_cast<Index>(storage.host.size());
    copy_to_device(ex, storage.host.data(), storage.device, count);
    span.data = storage.device.data();
    span.count = count;
  }
};

template <class Real, int D>
using Colliders = CollidersOf<Real, D, Shape<double>>;

}  // namespace tribo::TRIBO_BACKEND

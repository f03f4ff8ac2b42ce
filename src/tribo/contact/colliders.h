#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <variant>
#include <vector>

#include "tribo/colliders/all.h"
#include "tribo/contact/coulomb.h"
#include "tribo/contact/shape_store.h"
#include "tribo/contact/sums.h"
#include "tribo/exec/backend.h"
#include "tribo/math/small.h"
#include "tribo/scene/scene.h"
#include "tribo/setup/emitter.h"

namespace tribo::TRIBO_BACKEND {

/// Cells from a surface within which a grid node counts as on it.
inline constexpr double contact_slack = 1e-3;

/// In place of a collider's number: an emitter at work, which carries particles and nothing else.
inline constexpr Index nozzle = -1;

/// The surface of a collider as a grid node meets it.
template <class Real, int D>
struct Contact {
  Vec<Real, D> normal;    ///< to the allowed side
  Vec<Real, D> velocity;  ///< of the collider's material there [m/s]
  Real friction;
  Boundary boundary;
  Real distance;   ///< negative beyond the surface [m]
  Index collider;  ///< its number in the scene, or `nozzle`

  /// Velocity after contact, with Coulomb friction |dv_t| <= mu |dv_n| on `separate`.
  TRIBO_HD Vec<Real, D> constrain(const Vec<Real, D>& v) const {
    if (boundary == Boundary::sticky) return velocity;
    const Vec<Real, D> relative = v - velocity;
    const Real vn = dot(relative, normal);
    if (boundary == Boundary::separate && vn >= Real(0)) return v;
    Vec<Real, D> tangential = relative - vn * normal;
    if (boundary == Boundary::separate && friction > Real(0)) {
      const Real speed = sqrt(squared_norm(tangential));
      tangential = tangential * slip_left(speed, friction_limit(friction, -vn));
    }
    return tangential + velocity;
  }
};

/// In three dimensions, in double.
template <class Real, int D>
TRIBO_HD Vec<double, 3> in_space(const Vec<Real, D>& a) {
  Vec<double, 3> r = Vec<double, 3>::zero();
  for (int k = 0; k < D; ++k) r[k] = static_cast<double>(a[k]);
  return r;
}

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
  Index collider;  ///< its number in the scene, or `nozzle`
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

  TRIBO_HD bool is_near(const Vec<Real, D>& x, Real margin) const {
    bool near = true;
    for (int k = 0; k < D; ++k) near = near && x[k] >= low[k] - margin && x[k] <= high[k] + margin;
    return near;
  }

  /// visit(Contact) for each surface that x is beyond; closer than `slack` counts as beyond.
  template <class Visit>
  TRIBO_HD void each_contact(const Vec<Real, D>& x, Real slack, const Visit& visit) const {
    if (!is_near(x, slack)) return;
    shape.each_contact(transpose(rotation) * (x - at), inside, slack, [&](const SurfacePoint<Real, D>& surface) {
      visit(
          Contact<Real, D>{rotation * surface.normal, velocity_at(x), friction, boundary, surface.distance, collider});
    });
  }

  /// The same for what moves with v: closer than `reach` and twice what it comes nearer in dt counts as beyond.
  template <class Visit>
  TRIBO_HD void each_ahead(const Vec<Real, D>& x, const Vec<Real, D>& v, Real dt, Real reach,
                           const Visit& visit) const {
    each_contact(x, reach + Real(2) * dt * sqrt(squared_norm(v - velocity_at(x))), visit);
  }

  /// Whether a ball around x may touch what is forbidden to material, and to material that does not stick.
  TRIBO_HD bool reaches(const Vec<Real, D>& x, Real radius) const {
    return boundary != Boundary::sticky && meets(x, radius);
  }
  TRIBO_HD bool meets(const Vec<Real, D>& x, Real radius) const {
    if (!is_near(x, radius)) return false;
    const Real distance = shape.nearest(transpose(rotation) * (x - at)).distance;
    return (inside ? -distance : distance) < radius;
  }

  /// x brought back to the depth `allowed` beyond the surface, if it is deeper. What is deeper than `lost` was put
  /// there by the scene and stays; so does what a sticky collider holds.
  TRIBO_HD Vec<Real, D> pushed_out(Vec<Real, D> x, Real allowed, Real lost) const {
    if (boundary == Boundary::sticky || !is_near(x, Real(0))) return x;
    const Vec<Real, D> from = x;
    shape.each_contact(transpose(rotation) * (x - at), inside, -allowed, [&](const SurfacePoint<Real, D>& surface) {
      // Parts that overlap may tell of the same wall more than once: what has been done for one is done for all.
      const Vec<Real, D> normal = rotation * surface.normal;
      const Real left = -(surface.distance + allowed) - dot(x - from, normal);
      if (surface.distance > -lost && left > Real(0)) x = x + left * normal;
    });
    return x;
  }
};

/// Friction of bodies with colliders, where a scene gives them that of each pair.
template <class Real>
struct ColliderFriction {
  const Real* of_pairs;  ///< [body * colliders + collider]; null: the colliders' own
  Index colliders;

  template <int D>
  TRIBO_HD Real operator()(Index body, const Contact<Real, D>& contact) const {
    return of_pairs != nullptr ? of_pairs[body * colliders + contact.collider] : contact.friction;
  }
};
template <class Real>
ColliderFriction<Real> collider_friction(const Array<Real>& of_pairs, Index bodies) {
  if (of_pairs.size() == 0) return {nullptr, 0};
  return {of_pairs.data(), static_cast<Index>(of_pairs.size()) / bodies};
}

/// The inside of an emitter at work: material there moves with the emitter's velocity, while the shape stays.
struct Nozzle {
  std::size_t emitter;
  Pose pose;
  Vec<double, 3> velocity;  ///< [m/s]
};

/// All colliders of one shape.
template <class Real, int D, class S>
struct ColliderSpan {
  const PlacedCollider<Real, D, S>* data = nullptr;
  Index count = 0;

  template <class Visit>
  TRIBO_HD void each_contact(const Vec<Real, D>& x, Real slack, const Visit& visit) const {
    for (Index i = 0; i < count; ++i) data[i].each_contact(x, slack, visit);
  }
  template <class Visit>
  TRIBO_HD void each_ahead(const Vec<Real, D>& x, const Vec<Real, D>& v, Real dt, Real reach,
                           const Visit& visit) const {
    for (Index i = 0; i < count; ++i) data[i].each_ahead(x, v, dt, reach, visit);
  }
  TRIBO_HD bool reaches(const Vec<Real, D>& x, Real radius) const {
    for (Index i = 0; i < count; ++i)
      if (data[i].reaches(x, radius)) return true;
    return false;
  }
  TRIBO_HD bool meets(const Vec<Real, D>& x, Real radius) const {
    for (Index i = 0; i < count; ++i)
      if (data[i].meets(x, radius)) return true;
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
  struct View : ColliderSpan<Real, D, DeviceForm<Real, S>>... {
    ContactTally tally;  ///< where to tell impulses on colliders

    template <class Visit>
    TRIBO_HD void each_contact(const Vec<Real, D>& x, Real slack, const Visit& visit) const {
      (at_once<S>([&](const auto& span) { span.each_contact(x, slack, visit); }), ...);
      if (has_others()) visit_others(x, slack, shared_call<void(const Contact<Real, D>&)>(visit));
    }
    template <class Visit>
    TRIBO_HD void each_ahead(const Vec<Real, D>& x, const Vec<Real, D>& v, Real dt, Real reach,
                             const Visit& visit) const {
      (at_once<S>([&](const auto& span) { span.each_ahead(x, v, dt, reach, visit); }), ...);
      if (has_others()) visit_ahead(x, v, dt, reach, shared_call<void(const Contact<Real, D>&)>(visit));
    }
    /// Velocity a grid node at x may have after its contacts, one after the other; tells impulses on colliders.
    template <class Run>
    TRIBO_HD Vec<Real, D> constrain(const Vec<Real, D>& x, Vec<Real, D> v, Real mass, Real slack, Run& run) const {
      each_contact(x, slack, [&](const Contact<Real, D>& contact) {
        const Vec<Real, D> before = v;
        v = contact.constrain(v);
        run.add(contact.collider, in_space(x), static_cast<double>(mass) * in_space(before - v));
      });
      return v;
    }
    TRIBO_HD bool reaches(const Vec<Real, D>& x, Real radius) const {
      bool result = false;
      (at_once<S>([&](const auto& span) { result = result || span.reaches(x, radius); }), ...);
      return result || (has_others() && others_reach(x, radius));
    }
    TRIBO_HD bool meets(const Vec<Real, D>& x, Real radius) const {
      bool result = false;
      (at_once<S>([&](const auto& span) { result = result || span.meets(x, radius); }), ...);
      return result || (has_others() && others_meet(x, radius));
    }
    bool empty() const { return ((ColliderSpan<Real, D, DeviceForm<Real, S>>::count == 0) && ...); }
    TRIBO_HD Vec<Real, D> pushed_out(Vec<Real, D> x, Real allowed, Real lost) const {
      (at_once<S>([&](const auto& span) { x = span.pushed_out(x, allowed, lost); }), ...);
      return has_others() ? pushed_out_of_others(x, allowed, lost) : x;
    }

    /// All shapes are much code. Those that most scenes have, and that are little, are asked where they are needed; the
    /// others on the CPU in one copy of the code that serves whoever asks. The order of contacts is that of the list.
    template <class Visit>
    TRIBO_OUTLINED void visit_others(const Vec<Real, D>& x, Real slack, const Visit& visit) const {
      (later<S>([&](const auto& span) { span.each_contact(x, slack, visit); }), ...);
    }
    template <class Visit>
    TRIBO_OUTLINED void visit_ahead(const Vec<Real, D>& x, const Vec<Real, D>& v, Real dt, Real reach,
                                    const Visit& visit) const {
      (later<S>([&](const auto& span) { span.each_ahead(x, v, dt, reach, visit); }), ...);
    }
    TRIBO_OUTLINED bool others_reach(const Vec<Real, D>& x, Real radius) const {
      bool result = false;
      (later<S>([&](const auto& span) { result = result || span.reaches(x, radius); }), ...);
      return result;
    }
    TRIBO_OUTLINED bool others_meet(const Vec<Real, D>& x, Real radius) const {
      bool result = false;
      (later<S>([&](const auto& span) { result = result || span.meets(x, radius); }), ...);
      return result;
    }
    TRIBO_OUTLINED Vec<Real, D> pushed_out_of_others(Vec<Real, D> x, Real allowed, Real lost) const {
      (later<S>([&](const auto& span) { x = span.pushed_out(x, allowed, lost); }), ...);
      return x;
    }

   private:
    template <class One>
    static constexpr bool little = std::is_same_v<One, HalfSpace<double>>;
    static_assert(little<std::variant_alternative_t<0, std::variant<S...>>>,
                  "what is asked first is first in the list");

    template <class One, class Ask>
    TRIBO_HD void at_once(const Ask& ask) const {
      if constexpr (little<One>) ask(static_cast<const ColliderSpan<Real, D, DeviceForm<Real, One>>&>(*this));
    }
    template <class One, class Ask>
    TRIBO_HD void later(const Ask& ask) const {
      if constexpr (!little<One>) ask(static_cast<const ColliderSpan<Real, D, DeviceForm<Real, One>>&>(*this));
    }
    TRIBO_HD bool has_others() const {
      return ((!little<S> && ColliderSpan<Real, D, DeviceForm<Real, S>>::count > 0) || ...);
    }
  };
  template <class Each>
  struct Storage {
    std::vector<PlacedCollider<Real, D, Each>> host;
    Array<PlacedCollider<Real, D, Each>> device;
  };
  std::tuple<Storage<DeviceForm<Real, S>>...> all;

  /// Brings what the shapes refer to onto the device. Once, before the first `place`.
  void load(Exec& ex, const std::vector<ColliderSpec>& specs, const std::vector<EmitterModel>& emitters) {
    for (const ColliderSpec& spec : specs) {
      colliders_.push_back(load(ex, spec.shape));
      moving_ = moving_ || spec.motion.keys().size() > 1;
    }
    for (const EmitterModel& emitter : emitters) emitters_.push_back(load(ex, emitter.shape));
  }
  std::size_t kept_bytes() const { return store_.bytes(); }

  /// Poses and velocities for the step from `time` to `time + dt`.
  View place(Exec& ex, const std::vector<ColliderSpec>& specs, double time, double dt,
             const std::vector<Nozzle>& nozzles) {
    if (placed_ && !moving_ && same_nozzles(nozzles)) return view_;
    (std::get<Storage<DeviceForm<Real, S>>>(all).host.clear(), ...);
    for (std::size_t i = 0; i < specs.size(); ++i)
      add(colliders_[i], specs[i].motion.over(time, dt), specs[i].friction, specs[i].boundary, specs[i].inside,
          static_cast<Index>(i));
    for (const Nozzle& one : nozzles)
      add(emitters_[one.emitter], {one.pose, one.velocity, Vec<double, 3>::zero()}, 0, Boundary::sticky, false, nozzle);
    (upload(ex, std::get<Storage<DeviceForm<Real, S>>>(all),
            static_cast<ColliderSpan<Real, D, DeviceForm<Real, S>>&>(view_)),
     ...);
    placed_ = true;
    open_.clear();
    for (const Nozzle& one : nozzles) open_.push_back(one.emitter);
    return view_;
  }

 private:
  struct Loaded {
    typename ShapeStore<Real>::Form form;
    Bounds bounds;
  };
  Loaded load(Exec& ex, const Shape<double>& shape) {
    return {store_.load(ex, shape), std::visit([](const auto& s) { return s.bounds(); }, shape)};
  }

  void add(const Loaded& loaded, const RigidMotion& motion, double friction, Boundary boundary, bool inside,
           Index collider) {
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
          placed.friction = static_cast<Real>(friction);
          placed.boundary = boundary;
          placed.inside = inside;
          placed.collider = collider;
          set_reach(turned(loaded.bounds, motion.pose.rotation, motion.pose.at), placed);
          std::get<Storage<One>>(all).host.push_back(placed);
        },
        loaded.form);
  }

  /// Bounds in the world, a little wider so that rounding decides nothing. Whoever is kept inside meets the collider
  /// everywhere else.
  template <class One>
  static void set_reach(const Bounds& bounds, PlacedCollider<Real, D, One>& placed) {
    for (int k = 0; k < D; ++k) {
      const bool bounded = bounds.bounded && !placed.inside;
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

  /// Emitters themselves do not move.
  bool same_nozzles(const std::vector<Nozzle>& nozzles) const {
    return std::equal(nozzles.begin(), nozzles.end(), open_.begin(), open_.end(),
                      [](const Nozzle& one, std::size_t emitter) { return one.emitter == emitter; });
  }

  ShapeStore<Real> store_;
  std::vector<Loaded> colliders_, emitters_;
  bool moving_ = false;
  bool placed_ = false;
  View view_;                      ///< as placed last
  std::vector<std::size_t> open_;  ///< nozzles then
};

template <class Real, int D>
using Colliders = CollidersOf<Real, D, Shape<double>>;

#if !defined(TRIBO_BACKEND_CUDA)
#define TRIBO_OUTLINED_COLLIDERS(keyword, Real, D)                                                                  \
  keyword template bool Colliders<Real, D>::View::others_reach(const Vec<Real, D>&, Real) const;                    \
  keyword template bool Colliders<Real, D>::View::others_meet(const Vec<Real, D>&, Real) const;                     \
  keyword template Vec<Real, D> Colliders<Real, D>::View::pushed_out_of_others(Vec<Real, D>, Real, Real) const;     \
  keyword template void Colliders<Real, D>::View::visit_others(                                                     \
      const Vec<Real, D>&, Real, const SharedCall<void(const Contact<Real, D>&)>&) const;                           \
  keyword template void Colliders<Real, D>::View::visit_ahead(const Vec<Real, D>&, const Vec<Real, D>&, Real, Real, \
                                                              const SharedCall<void(const Contact<Real, D>&)>&) const;
TRIBO_OUTLINED_COLLIDERS(extern, float, 2)
TRIBO_OUTLINED_COLLIDERS(extern, float, 3)
TRIBO_OUTLINED_COLLIDERS(extern, double, 2)
TRIBO_OUTLINED_COLLIDERS(extern, double, 3)
#endif

}  // namespace tribo::TRIBO_BACKEND

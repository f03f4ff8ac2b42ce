#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <variant>

#include "tribo/colliders/contact.h"
#include "tribo/colliders/device_form.h"

namespace tribo {

/// How shapes are combined. `difference` takes all others away from the first.
enum class Operation : std::int32_t { unite, intersect, difference };

/// Distances and gradients joined: the smaller one, or with blend k > 0 the quadratic smooth minimum
///   m = s a + (1 - s) b - k s (1 - s),  s = (1 + (b - a) / k) / 2 within [0, 1],
/// which differs from the smaller one only where |a - b| < k, by k/4 at most. Its gradient is s grad a + (1 - s) grad
/// b.
template <class Real, int D>
TRIBO_HD SurfacePoint<Real, D> smaller(const SurfacePoint<Real, D>& a, const SurfacePoint<Real, D>& b, Real k) {
  const Real over = b.distance - a.distance;
  if (!(std::abs(over) < k)) return over < Real(0) ? b : a;
  const Real s = Real(0.5) + Real(0.5) * over / k, rest = Real(1) - s;
  return {s * a.distance + rest * b.distance - k * s * rest, s * a.normal + rest * b.normal};
}

template <class Real, int D>
TRIBO_HD SurfacePoint<Real, D> complement(const SurfacePoint<Real, D>& s) {
  return {-s.distance, -s.normal};
}

template <class Real, int D>
TRIBO_HD SurfacePoint<Real, D> combined(Operation operation, const SurfacePoint<Real, D>& a,
                                        const SurfacePoint<Real, D>& b, Real blend) {
  if (operation == Operation::unite) return smaller(a, b, blend);
  const SurfacePoint<Real, D> other = operation == Operation::intersect ? complement(b) : b;
  return complement(smaller(complement(a), other, blend));
}

/// Any one of the simple shapes, as kernels see them.
template <class Real, class Simple>
struct AnyShape;
template <class Real, class... S>
struct AnyShape<Real, std::variant<S...>> {
  static constexpr std::size_t bytes = std::max({sizeof(DeviceForm<Real, S>)...});
  std::int32_t kind = 0;
  alignas(8) unsigned char storage[bytes] = {};

  template <class Form>
  void set(std::int32_t index, const Form& form) {
    static_assert(std::is_trivially_copyable_v<Form> && alignof(Form) <= 8);
    kind = index;
    std::memcpy(storage, &form, sizeof(Form));
  }
  template <int D>
  TRIBO_CALLED SurfacePoint<Real, D> nearest(const Vec<Real, D>& p) const {
    SurfacePoint<Real, D> result{};
    std::int32_t index = 0;
    const auto attempt = [&]<class Form>(const Form* form) {
      if (kind == index++) result = form->nearest(p);
    };
    (attempt(reinterpret_cast<const DeviceForm<Real, S>*>(storage)), ...);
    return result;
  }
  template <int D, class Visit>
  TRIBO_HD void each_contact(const Vec<Real, D>& p, bool inside, Real slack, const Visit& visit) const {
    std::int32_t index = 0;
    const auto attempt = [&]<class Form>(const Form* form) {
      if (kind == index++) form->each_contact(p, inside, slack, visit);
    };
    (attempt(reinterpret_cast<const DeviceForm<Real, S>*>(storage)), ...);
  }
};

/// What a value on the way means for a collider as a whole.
enum class Sense : std::int32_t { none, stay_outside, stay_inside };

/// One step of the evaluation of a compound shape: put a shape's distance on the stack, or combine the two on top.
template <class Real, class Simple>
struct CompoundStep {
  AnyShape<Real, Simple> shape;
  Vec<Real, 3> at;        ///< of the shape in the compound's frame [m]
  Mat<Real, 3> rotation;  ///< of the shape to that frame
  Real blend;             ///< [m]
  Operation operation;
  std::int32_t is_shape;
  Sense obstacle;   ///< of the result, when material is outside of the compound
  Sense container;  ///< and when it is inside

  template <int D>
  TRIBO_HD Vec<Real, D> to_local(const Vec<Real, D>& p) const {
    Vec<Real, D> r = Vec<Real, D>::zero();
    for (int j = 0; j < D; ++j)
      for (int k = 0; k < D; ++k) r[k] = r[k] + rotation(j, k) * (p[j] - at[j]);
    return r;
  }
  template <int D>
  TRIBO_HD SurfacePoint<Real, D> from_local(const SurfacePoint<Real, D>& s) const {
    SurfacePoint<Real, D> r{s.distance, Vec<Real, D>::zero()};
    for (int j = 0; j < D; ++j)
      for (int k = 0; k < D; ++k) r.normal[j] = r.normal[j] + rotation(j, k) * s.normal[k];
    return r;
  }
};

/// A compound shape as kernels see it: shapes and operations in postfix order.
template <class Real, class Simple>
struct CompoundView {
  static constexpr int stack_size = 16;
  const CompoundStep<Real, Simple>* steps;
  std::int32_t count;

  template <int D>
  TRIBO_HD SurfacePoint<Real, D> nearest(const Vec<Real, D>& p) const {
    const auto join = [](const Step& step, const Value<D>& a, const Value<D>& b) { return joined(step, a, b); };
    const SurfacePoint<Real, D> s = evaluate(p, join, [](const Step&, const Value<D>&) {});
    return {s.distance, length_and_direction(s.normal).normal};
  }

  /// Material outside of a union, or inside an intersection or difference, has to respect each shape by itself, as if
  /// they were separate colliders. All else is one surface, that of the shape which is nearest. Of each shape the walls
  /// count one by one: see each_wall_of_box. Only blends have a surface of their own.
  template <int D, class Visit>
  TRIBO_HD void each_contact(const Vec<Real, D>& p, bool inside, Real slack, const Visit& visit) const {
    const auto join = [&](const Step& step, const Value<D>& a, const Value<D>& b) {
      Value<D> r = joined(step, a, b);
      if (r.shape != blended && a.shape != blended && b.shape != blended) choose_at_seam(step, a, b, p, slack, r);
      return r;
    };
    evaluate(p, join, [&](const Step& step, const Value<D>& value) {
      const Sense sense = inside ? step.container : step.obstacle;
      if (sense == Sense::none) return;
      const bool within = sense == Sense::stay_inside;
      if (!(within ? value.surface.distance >= -slack : value.surface.distance <= slack)) return;
      if (value.shape != blended) {
        each_wall(value.shape, p, within != value.outside, slack, visit);
        return;
      }
      const SurfacePoint<Real, D> s{value.surface.distance, length_and_direction(value.surface.normal).normal};
      visit(within ? complement(s) : s);
    });
  }

 private:
  using Step = CompoundStep<Real, Simple>;
  static constexpr std::int32_t blended = -1;

  /// A distance on the way and the shape it is of.
  template <int D>
  struct Value {
    SurfacePoint<Real, D> surface;
    std::int32_t shape;  ///< index of its step, or `blended`
    bool outside;        ///< whether the distance is that of the shape's outside
  };

  /// visit(SurfacePoint) for each wall of one shape.
  template <int D, class Visit>
  TRIBO_HD void each_wall(std::int32_t shape, const Vec<Real, D>& p, bool inside, Real slack,
                          const Visit& visit) const {
    const Step& step = steps[shape];
    step.shape.each_contact(step.to_local(p), inside, slack,
                            [&](const SurfacePoint<Real, D>& s) { visit(step.from_local(s)); });
  }

  /// By how much b is the larger one, as the operation sees it.
  template <int D>
  TRIBO_HD static Real gap(const Step& step, const Value<D>& a, const Value<D>& b) {
    const Real distance = b.surface.distance;
    return (step.operation == Operation::difference ? -distance : distance) - a.surface.distance;
  }
  /// The result of an operation with the shape of one of its operands.
  template <int D>
  TRIBO_HD static void take_shape(const Step& step, const Value<D>& a, const Value<D>& b, bool first, Value<D>& r) {
    r.shape = first ? a.shape : b.shape;
    r.outside = first ? a.outside : b.outside != (step.operation == Operation::difference);
  }
  template <int D>
  TRIBO_HD static Value<D> joined(const Step& step, const Value<D>& a, const Value<D>& b) {
    Value<D> r{combined(step.operation, a.surface, b.surface, step.blend), blended, false};
    if (step.blend > Real(0)) return r;
    const Real over = gap(step, a, b);
    take_shape(step, a, b, step.operation == Operation::unite ? over >= Real(0) : over <= Real(0), r);
    return r;
  }

  /// Where one shape ends on a wall that another continues, both are as near, and the end is no wall: the shape with
  /// fewer walls is the one to meet. That is of interest to whoever may be in either of the shapes: inside a union,
  /// or in what an intersection leaves out.
  template <int D>
  TRIBO_CALLED void choose_at_seam(const Step& step, const Value<D>& a, const Value<D>& b, const Vec<Real, D>& p,
                                   Real slack, Value<D>& r) const {
    if (!(std::abs(gap(step, a, b)) <= (slack > Real(0) ? slack : Real(0)))) return;
    const bool within = step.operation == Operation::unite;
    int walls[2] = {0, 0};
    for (int i = 0; i < 2; ++i) {
      Value<D> one = r;
      take_shape(step, a, b, i == 0, one);
      each_wall(one.shape, p, within != one.outside, slack, [&](const SurfacePoint<Real, D>&) { ++walls[i]; });
    }
    if (walls[0] > 0 && walls[1] > 0 && walls[0] != walls[1]) take_shape(step, a, b, walls[0] < walls[1], r);
  }

  template <int D, class Join, class Each>
  TRIBO_HD SurfacePoint<Real, D> evaluate(const Vec<Real, D>& p, const Join& join, const Each& each) const {
    Value<D> stack[stack_size];
    int top = 0;
    for (std::int32_t i = 0; i < count; ++i) {
      const Step& step = steps[i];
      if (step.is_shape != 0) {
        stack[top++] = {step.from_local(step.shape.nearest(step.to_local(p))), i, false};
      } else {
        --top;
        stack[top - 1] = join(step, stack[top - 1], stack[top]);
      }
      each(step, stack[top - 1]);
    }
    return stack[0].surface;
  }
};

}  // namespace tribo

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
  TRIBO_HD SurfacePoint<Real, D> nearest(const Vec<Real, D>& p) const {
    SurfacePoint<Real, D> result{};
    std::int32_t index = 0;
    const auto attempt = [&]<class Form>(const Form* form) {
      if (kind == index++) result = form->nearest(p);
    };
    (attempt(reinterpret_cast<const DeviceForm<Real, S>*>(storage)), ...);
    return result;
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
};

/// A compound shape as kernels see it: shapes and operations in postfix order.
template <class Real, class Simple>
struct CompoundView {
  static constexpr int stack_size = 16;
  const CompoundStep<Real, Simple>* steps;
  std::int32_t count;

  template <int D>
  TRIBO_HD SurfacePoint<Real, D> nearest(const Vec<Real, D>& p) const {
    const SurfacePoint<Real, D> s = evaluate(p, [](const CompoundStep<Real, Simple>&, const SurfacePoint<Real, D>&) {});
    return {s.distance, length_and_direction(s.normal).normal};
  }

  /// Material outside of a union, or inside an intersection or difference, has to respect each shape by itself, as if
  /// they were separate colliders: see each_wall_of_box. All else, and every blend, is one surface.
  template <int D, class Visit>
  TRIBO_HD void each_contact(const Vec<Real, D>& p, bool inside, Real slack, const Visit& visit) const {
    evaluate(p, [&](const CompoundStep<Real, Simple>& step, const SurfacePoint<Real, D>& s) {
      const Sense sense = inside ? step.container : step.obstacle;
      if (sense == Sense::none) return;
      const bool within = sense == Sense::stay_inside;
      if (within ? s.distance >= -slack : s.distance <= slack) {
        const Vec<Real, D> normal = length_and_direction(s.normal).normal;
        visit(within ? SurfacePoint<Real, D>{-s.distance, -normal} : SurfacePoint<Real, D>{s.distance, normal});
      }
    });
  }

 private:
  template <int D, class Each>
  TRIBO_HD SurfacePoint<Real, D> evaluate(const Vec<Real, D>& p, const Each& each) const {
    SurfacePoint<Real, D> stack[stack_size];
    int top = 0;
    for (std::int32_t i = 0; i < count; ++i) {
      const CompoundStep<Real, Simple>& step = steps[i];
      if (step.is_shape != 0) {
        Vec<Real, D> local = Vec<Real, D>::zero();
        for (int j = 0; j < D; ++j)
          for (int k = 0; k < D; ++k) local[k] = local[k] + step.rotation(j, k) * (p[j] - step.at[j]);
        const SurfacePoint<Real, D> s = step.shape.nearest(local);
        SurfacePoint<Real, D>& out = stack[top++];
        out.distance = s.distance;
        for (int j = 0; j < D; ++j) {
          out.normal[j] = Real(0);
          for (int k = 0; k < D; ++k) out.normal[j] = out.normal[j] + step.rotation(j, k) * s.normal[k];
        }
      } else {
        --top;
        stack[top - 1] = combined(step.operation, stack[top - 1], stack[top], step.blend);
      }
      each(step, stack[top - 1]);
    }
    return stack[0];
  }
};

}  // namespace tribo

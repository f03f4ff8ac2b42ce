#pragma once

#include <optional>

#include "tribo/scene/scene.h"

namespace tribo {

/// How a body of particles moves at the start: as a whole, turning about a point, and by a field.
struct InitialMotion {
  Vec<double, 3> velocity = Vec<double, 3>::zero();  ///< [m/s]
  Vec<double, 3> spin = Vec<double, 3>::zero();      ///< [rad/s]
  Vec<double, 3> about = Vec<double, 3>::zero();     ///< point the spin turns about [m]
  std::optional<FieldSpec> field;

  Vec<double, 3> velocity_at(const Vec<double, 3>& x) const {
    Vec<double, 3> v = velocity + cross(spin, x - about);
    if (field) v += std::visit([&](const auto& f) { return f.velocity(x - field->center); }, field->field);
    return v;
  }
  /// Of v = spin x r the gradient is [spin]_x.
  Mat<double, 3> gradient_at(const Vec<double, 3>& x) const {
    Mat<double, 3> G{{{0, -spin[2], spin[1]}, {spin[2], 0, -spin[0]}, {-spin[1], spin[0], 0}}};
    if (field) G = G + std::visit([&](const auto& f) { return f.gradient(x - field->center); }, field->field);
    return G;
  }
};

inline InitialMotion motion_of(const ObjectSpec& object) {
  return {object.velocity, object.angular_velocity, object.placement.at, object.velocity_field};
}

}  // namespace tribo

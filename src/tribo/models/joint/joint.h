#pragma once

#include "tribo/core/params.h"
#include "tribo/math/small.h"

/// \file
/// A joint is a value: numbers, and pure functions that say what it holds. The solver knows rows only.

namespace tribo {

/// The two sides of a joint in the world: where it is fixed to them, and its axes (columns) as they carry them. The axis
/// of a joint is z.
template <class Real>
struct JointPlace {
  Vec<Real, 3> at_a, at_b;        ///< [m]
  Mat<Real, 3> frame_a, frame_b;  ///< joint to world

  TRIBO_HD static Vec<Real, 3> axis(const Mat<Real, 3>& frame, int k) {
    return {{frame(0, k), frame(1, k), frame(2, k)}};
  }
};

/// One coordinate of b against a, and what it is held to. Its rate is (v_b - v_a at the joint) . direction, or
/// (w_b - w_a) . direction where it turns.
template <class Real>
struct JointRow {
  Vec<Real, 3> direction;  ///< of length 1, in the world
  bool turns;
  Real value;         ///< [m], or [rad]
  Real low, high;     ///< within these; equal: held there
  Real stiffness;     ///< [N/m], or [N m/rad]; 0: rigid
  Real damping;       ///< [N s/m], or [N m s/rad]
};

/// The two places are one.
template <class Real, class Visit>
TRIBO_HD void hold_point(const JointPlace<Real>& place, const Visit& visit) {
  for (int k = 0; k < 3; ++k) {
    Vec<Real, 3> direction = Vec<Real, 3>::zero();
    direction[k] = Real(1);
    visit(JointRow<Real>{direction, false, place.at_b[k] - place.at_a[k], Real(0), Real(0), Real(0), Real(0)});
  }
}

/// The two frames have the same axes: to first order b is turned against a by half the sum of a_k x b_k.
template <class Real, class Visit>
TRIBO_HD void hold_turn(const JointPlace<Real>& place, const Visit& visit) {
  Vec<Real, 3> turn = Vec<Real, 3>::zero();
  for (int k = 0; k < 3; ++k) turn += Real(0.5) * cross(place.axis(place.frame_a, k), place.axis(place.frame_b, k));
  for (int k = 0; k < 3; ++k) {
    Vec<Real, 3> direction = Vec<Real, 3>::zero();
    direction[k] = Real(1);
    visit(JointRow<Real>{direction, true, turn[k], Real(0), Real(0), Real(0), Real(0)});
  }
}

/// What a scene asks of the coordinate that a joint leaves free.
template <class Real>
struct JointRule {
  bool limited = false;
  Real low = 0, high = 0;  ///< [m], or [rad]
  Real friction = 0;       ///< force or torque that it takes to move it [N], or [N m]
  enum class Motor : int { none, speed, position } motor = Motor::none;
  Real target = 0;     ///< [m/s], [rad/s], [m] or [rad]
  Real most = 0;       ///< force or torque of the motor at most [N], or [N m]
  Real stiffness = 0;  ///< of a motor to a position [N/m], or [N m/rad]; 0: as stiff as it can be
  Real damping = 0;    ///< likewise
};

}  // namespace tribo

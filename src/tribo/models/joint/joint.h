#pragma once

#include "tribo/core/params.h"
#include "tribo/math/angle.h"
#include "tribo/math/small.h"

/// \file
/// A joint is a value: numbers, and pure functions that say what it holds. The solver knows rows only.

namespace tribo {

/// The two sides of a joint in the world: where it is fixed to them, and its axes (columns) as they carry them. The
/// axis of a joint is z.
template <class Real>
struct JointPlace {
  Vec<Real, 3> at_a, at_b;        ///< [m]
  Mat<Real, 3> frame_a, frame_b;  ///< joint to world

  TRIBO_HD static Vec<Real, 3> axis(const Mat<Real, 3>& frame, int k) {
    return {{frame(0, k), frame(1, k), frame(2, k)}};
  }
};

/// One coordinate of b against a, and what it is held to. Its rate is (v_b - v_a at the joint's place on b) .
/// direction, or (w_b - w_a) . direction where it turns: exactly where everything else that the joint holds is as it
/// should be.
template <class Real>
struct JointRow {
  Vec<Real, 3> direction;  ///< of length 1, in the world
  bool turns;
  Real value;          ///< [m], or [rad]
  Real low, high;      ///< within these; equal: held there
  Real stiffness = 0;  ///< [N/m], or [N m/rad]; 0: rigid
  Real damping = 0;    ///< [N s/m], or [N m s/rad]
};

/// b is held where it is on a along an axis of the joint as a carries it.
template <class Real>
TRIBO_HD JointRow<Real> held_along(const JointPlace<Real>& place, int k) {
  const Vec<Real, 3> axis = place.axis(place.frame_a, k);
  return {axis, false, dot(axis, place.at_b - place.at_a), Real(0), Real(0)};
}

/// The two places are one.
template <class Real, class Visit>
TRIBO_HD void hold_point(const JointPlace<Real>& place, const Visit& visit) {
  for (int k = 0; k < 3; ++k) visit(held_along(place, k));
}

/// b is not turned against a about an axis of the joint as a carries it: to first order it is by half the sum of
/// a_k x b_k.
template <class Real>
TRIBO_HD JointRow<Real> held_about(const JointPlace<Real>& place, int k) {
  Vec<Real, 3> turn = Vec<Real, 3>::zero();
  for (int i = 0; i < 3; ++i) turn += Real(0.5) * cross(place.axis(place.frame_a, i), place.axis(place.frame_b, i));
  const Vec<Real, 3> axis = place.axis(place.frame_a, k);
  return {axis, true, dot(axis, turn), Real(0), Real(0)};
}

/// The two frames have the same axes.
template <class Real, class Visit>
TRIBO_HD void hold_turn(const JointPlace<Real>& place, const Visit& visit) {
  for (int k = 0; k < 3; ++k) visit(held_about(place, k));
}

/// The distance of the two places, along the line between them; along the axis where they are one.
template <class Real>
TRIBO_HD JointRow<Real> along_line(const JointPlace<Real>& place) {
  const Vec<Real, 3> line = place.at_b - place.at_a;
  const Real length = sqrt(squared_norm(line));
  if (!(length > Real(0))) return {place.axis(place.frame_a, 2), false, Real(0), Real(0), Real(0)};
  return {(Real(1) / length) * line, false, length, Real(0), Real(0)};
}

/// What a scene asks of the coordinate that a joint leaves free.
template <class Real>
struct JointRule {
  bool limited = false;
  Real low = 0, high = 0;  ///< [m], or [rad]
  Real friction = 0;       ///< force or torque that it takes to move it [N], or [N m]
  enum class Motor : int { none, speed, position } motor = Motor::none;
  Real target = 0;     ///< [m/s], [rad/s], [m] or [rad]
  Real most = 0;       ///< force or torque of the motor at most [N], or [N m]; 0: as much as it takes
  Real fastest = 0;    ///< of a rigid motor to a position [m/s], or [rad/s]
  Real stiffness = 0;  ///< of a motor to a position [N/m], or [N m/rad]; 0: rigid
  Real damping = 0;    ///< likewise
};

}  // namespace tribo

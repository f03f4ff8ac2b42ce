#pragma once

#include <cstddef>
#include <vector>

#include "tribo/math/small.h"

namespace tribo {

/// Where a rigid frame is and how it is turned: world = rotation * local + at.
struct Pose {
  Vec<double, 3> at = Vec<double, 3>::zero();  ///< [m]
  Mat<double, 3> rotation = Mat<double, 3>::identity();
};

/// Rotation about an axis by an angle, kept as such (not as a quaternion) so that two keyframes of 0 and 720 degrees
/// about one axis mean two turns.
struct AxisAngle {
  Vec<double, 3> axis{{0, 0, 1}};  ///< need not be unit length, must not be zero
  double degrees = 0;
};
Mat<double, 3> rotation_matrix(const AxisAngle& r);

/// A pose at a time [s].
struct Keyframe {
  double time = 0;
  Vec<double, 3> at = Vec<double, 3>::zero();
  AxisAngle rotation;
};

/// How a rigid frame moves over one step: pose at its start and the constant velocities that carry it to the pose at
/// its end, so that grid and geometry agree to rounding.
struct RigidMotion {
  Pose pose;
  Vec<double, 3> velocity = Vec<double, 3>::zero();          ///< of the frame's origin [m/s]
  Vec<double, 3> angular_velocity = Vec<double, 3>::zero();  ///< [rad/s]
};

/// Keyframed motion with constant velocities between keys; at rest before the first and after the last key.
///
/// Between two keys that turn about one axis the angle grows linearly, through as many turns as it takes; a key of 0
/// degrees turns about its neighbor's axis. Otherwise the orientation goes the shortest way (slerp).
class Motion {
 public:
  Motion() : Motion(std::vector<Keyframe>(1)) {}
  /// Throws Error unless there is a key, times strictly increase, and every turned key has an axis.
  explicit Motion(std::vector<Keyframe> keys);

  Pose pose(double time) const;
  /// dt = 0 gives the velocities just after `time`.
  RigidMotion over(double time, double dt) const;
  /// Largest speed of any point within `radius` of the frame's origin during [time, time + dt]: for the CFL bound
  /// [m/s].
  double max_speed(double time, double dt, double radius) const;
  /// The same at any time.
  double max_speed(double radius) const;
  const std::vector<Keyframe>& keys() const { return keys_; }

 private:
  /// The time between two keys, or before the first, or after the last.
  struct Piece {
    Vec<double, 3> velocity = Vec<double, 3>::zero();
    Vec<double, 3> angular_velocity = Vec<double, 3>::zero();
  };
  std::size_t next_key(double time) const;
  template <class Visit>
  void each_piece(double time, double dt, const Visit& visit) const;

  std::vector<Keyframe> keys_;
  std::vector<Piece> pieces_;  ///< pieces_[i] ends at keys_[i]; the last one never ends
};

}  // namespace tribo

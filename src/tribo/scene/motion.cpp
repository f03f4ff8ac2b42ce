#include "tribo/scene/motion.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>

#include "tribo/core/errors.h"

namespace tribo {

namespace {

constexpr double radians_per_degree = std::numbers::pi / 180;

/// Sines of the angle between two axes below this count as one axis: axes are given in decimals and normalized here.
constexpr double same_axis = 1e-12;

double length(const Vec<double, 3>& a) { return std::sqrt(squared_norm(a)); }

/// Unit quaternion, w + (x, y, z). Products of small rotations keep their relative precision in it, which matrices,
/// being 1 plus something small, do not.
struct Quaternion {
  double w = 1;
  Vec<double, 3> v = Vec<double, 3>::zero();
};

Quaternion operator*(const Quaternion& a, const Quaternion& b) {
  return {a.w * b.w - dot(a.v, b.v), a.w * b.v + b.w * a.v + cross(a.v, b.v)};
}

Quaternion conjugate(const Quaternion& q) { return {q.w, -q.v}; }

/// The rotation about `turn` by |turn| radians.
Quaternion exponential(const Vec<double, 3>& turn) {
  const double angle = length(turn);
  return {std::cos(angle / 2), turn * (angle > 0 ? std::sin(angle / 2) / angle : 0.5)};
}

/// Inverse of `exponential`, of length at most pi. The arc tangent is exact near no turn and near half a turn alike.
Vec<double, 3> logarithm(const Quaternion& q) {
  const double sine = length(q.v);
  const double sign = q.w < 0 ? -1 : 1;  // q and -q are one rotation; take the shorter way
  return q.v * (sine > 0 ? sign * 2 * std::atan2(sine, std::abs(q.w)) / sine : 2);
}

Vec<double, 3> unit_axis(const AxisAngle& r) {
  const double n = length(r.axis);
  return {{r.axis[0] / n, r.axis[1] / n, r.axis[2] / n}};
}

Quaternion quaternion(const AxisAngle& r) {
  if (r.degrees == 0) return {};
  return exponential(unit_axis(r) * (std::remainder(r.degrees, 360) * radians_per_degree));
}

/// The turn from orientation a to orientation b, as axis times angle [rad].
Vec<double, 3> turn_between(const AxisAngle& a, const AxisAngle& b) {
  if (a.degrees == 0 && b.degrees == 0) return Vec<double, 3>::zero();
  const Vec<double, 3> axis_a = unit_axis(a.degrees != 0 ? a : b);
  const Vec<double, 3> axis_b = unit_axis(b.degrees != 0 ? b : a);
  if (length(cross(axis_a, axis_b)) > same_axis) return logarithm(quaternion(b) * conjugate(quaternion(a)));
  const double sign = dot(axis_a, axis_b) < 0 ? -1 : 1;
  return axis_a * ((sign * b.degrees - a.degrees) * radians_per_degree);
}

void check_keys(const std::vector<Keyframe>& keys) {
  if (keys.empty()) throw Error(ExitCode::bad_input, "a motion needs at least one keyframe");
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (i > 0 && !(keys[i].time > keys[i - 1].time)) {
      throw Error(ExitCode::bad_input, "keyframe " + std::to_string(i) + " is not later than the one before it");
    }
    if (keys[i].rotation.degrees != 0 && !(length(keys[i].rotation.axis) > 0)) {
      throw Error(ExitCode::bad_input, "keyframe " + std::to_string(i) + " turns about an axis of length 0");
    }
  }
}

}  // namespace

/// R = I + sin(a) K + (1 - cos(a)) K^2 with K the cross product by the unit axis (Rodrigues). Quarter turns about a
/// coordinate axis come out exact, so that a turned box still has its faces exactly where they are drawn.
Mat<double, 3> rotation_matrix(const AxisAngle& r) {
  if (r.degrees == 0) return Mat<double, 3>::identity();
  int quarters = 0;
  const double rest = std::remquo(r.degrees, 90, &quarters) * radians_per_degree;
  const double quarter_cosine[4] = {1, 0, -1, 0};
  const double cosine_0 = quarter_cosine[quarters & 3], sine_0 = quarter_cosine[(quarters + 3) & 3];
  const double cosine = cosine_0 * std::cos(rest) - sine_0 * std::sin(rest);
  const double sine = sine_0 * std::cos(rest) + cosine_0 * std::sin(rest);

  const Vec<double, 3> n = unit_axis(r);
  const Mat<double, 3> k{{{0, -n[2], n[1]}, {n[2], 0, -n[0]}, {-n[1], n[0], 0}}};
  return Mat<double, 3>::identity() + k * sine + (k * k) * (1 - cosine);
}

Motion::Motion(std::vector<Keyframe> keys) : keys_(std::move(keys)) {
  check_keys(keys_);
  pieces_.resize(keys_.size() + 1);
  for (std::size_t i = 1; i < keys_.size(); ++i) {
    const Keyframe &from = keys_[i - 1], &to = keys_[i];
    const double rate = 1 / (to.time - from.time);
    pieces_[i] = {(to.at - from.at) * rate, turn_between(from.rotation, to.rotation) * rate};
  }
}

/// Index of the first key later than `time`, which is also the index of the piece that `time` lies in.
std::size_t Motion::next_key(double time) const {
  const auto later = [](double t, const Keyframe& key) { return t < key.time; };
  return std::size_t(std::upper_bound(keys_.begin(), keys_.end(), time, later) - keys_.begin());
}

/// Calls visit(piece, duration) for every piece that [time, time + dt) meets, and at least once.
template <class Visit>
void Motion::each_piece(double time, double dt, const Visit& visit) const {
  const double end = time + dt;
  std::size_t i = next_key(time);
  for (; i < keys_.size() && keys_[i].time < end; ++i) {
    visit(pieces_[i], keys_[i].time - time);
    time = keys_[i].time;
  }
  visit(pieces_[i], end - time);
}

Pose Motion::pose(double time) const {
  const std::size_t next = next_key(time);
  const Keyframe& key = keys_[next > 0 ? next - 1 : 0];
  if (next == 0 || next == keys_.size()) return {key.at, rotation_matrix(key.rotation)};
  const Vec<double, 3> turn = pieces_[next].angular_velocity * (time - key.time);
  return {key.at + pieces_[next].velocity * (time - key.time),
          rotation_matrix({turn, length(turn) / radians_per_degree}) * rotation_matrix(key.rotation)};
}

RigidMotion Motion::over(double time, double dt) const {
  Piece first;
  int piece_count = 0;
  bool one_axis = true;
  Vec<double, 3> shift = Vec<double, 3>::zero();
  Vec<double, 3> turn_sum = Vec<double, 3>::zero();
  Quaternion turn;
  each_piece(time, dt, [&](const Piece& piece, double duration) {
    if (++piece_count == 1) first = piece;
    const Vec<double, 3> part = piece.angular_velocity * duration;
    one_axis = one_axis && length(cross(turn_sum, part)) <= same_axis * length(turn_sum) * length(part);
    shift += piece.velocity * duration;
    turn_sum += part;
    turn = exponential(part) * turn;
  });
  if (piece_count == 1) return {pose(time), first.velocity, first.angular_velocity};
  // About one axis the angles add up, also beyond the half turn that two orientations alone can tell.
  return {pose(time), shift * (1 / dt), (one_axis ? turn_sum : logarithm(turn)) * (1 / dt)};
}

double Motion::max_speed(double time, double dt, double radius) const {
  double fastest = 0;
  each_piece(time, dt, [&](const Piece& piece, double) {
    // The spin adds a velocity of at most |w| radius, in any direction at right angles to w.
    const double spin = length(piece.angular_velocity);
    const double along = spin > 0 ? dot(piece.velocity, piece.angular_velocity) / spin : 0;
    const double across = std::sqrt(std::max(0.0, squared_norm(piece.velocity) - along * along));
    fastest = std::max(fastest, std::hypot(along, across + spin * radius));
  });
  return fastest;
}

double Motion::max_speed(double radius) const {
  return max_speed(keys_.front().time, keys_.back().time - keys_.front().time, radius);
}

}  // namespace tribo

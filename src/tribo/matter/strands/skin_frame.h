#pragma once

#include "tribo/math/small.h"
#include "tribo/matter/strands/seed.h"

/// \file
/// How a triangle, or a rigid body, carries the root of a strand along: shared by setup, which finds its place, and the
/// solver.

namespace tribo {

/// Edge, across and normal of a triangle, as columns; the unit matrix where it has no area.
TRIBO_HD Mat<double, 3> triangle_frame(const Vec<double, 3>* corner) {
  Vec<double, 3> along = corner[1] - corner[0];
  Vec<double, 3> normal = cross(along, corner[2] - corner[0]);
  const double length = sqrt(squared_norm(along)), area = sqrt(squared_norm(normal));
  if (!(length > 0) || !(area > 0)) return Mat<double, 3>::identity();
  along = (1 / length) * along;
  normal = (1 / area) * normal;
  const Vec<double, 3> across = cross(normal, along);
  Mat<double, 3> frame;
  for (int k = 0; k < 3; ++k) {
    frame(k, 0) = along[k];
    frame(k, 1) = across[k];
    frame(k, 2) = normal[k];
  }
  return frame;
}

/// Where a root is and how it has turned since time 0, by the corners of its triangle.
TRIBO_HD Pose pose_on_skin(const SkinRoot& root, const Vec<double, 3>* corner) {
  const Mat<double, 3> frame = triangle_frame(corner);
  Pose pose;
  pose.at = root.weight[0] * corner[0] + root.weight[1] * corner[1] + root.weight[2] * corner[2] + frame * root.off;
  pose.rotation = frame * transpose(root.frame);
  return pose;
}

/// Likewise of one on a rigid body, by its center and how it is turned.
TRIBO_HD Pose pose_on_body(const SkinRoot& root, const Vec<double, 3>& center, const Mat<double, 3>& rotation) {
  return {center + rotation * root.off, rotation * transpose(root.frame)};
}

/// How a triangle moves the clamp of a root as it is now, and what impulses on the clamp are to its corners. The frame
/// of `triangle_frame` turns with omega = sum Omega_c q_c: about its normal and across with the first edge, about that
/// edge with the third corner. A rigid body has instead of corners the velocity of its center and how it turns, and
/// gets an impulse and a torque about it.
struct SkinClamp {
  Vec<double, 3> weight, t, c, n;
  double per_length, per_height, skew;  ///< 1 / length of the first edge, 1 / height, t . second edge
  Vec<double, 3> arm[2];                ///< of both vertices, from the root's place in the triangle, or from the center
  bool rigid = false;

  TRIBO_HD SkinClamp(const Vec<double, 3>& center, const Vec<double, 3>& first, const Vec<double, 3>& second)
      : weight(Vec<double, 3>::zero()), t(weight), c(weight), n(weight), per_length(0), per_height(0), skew(0) {
    arm[0] = first - center;
    arm[1] = second - center;
    rigid = true;
  }

  TRIBO_HD SkinClamp(const SkinRoot& root, const Vec<double, 3>* corner, const Vec<double, 3>& first,
                     const Vec<double, 3>& second)
      : weight(root.weight) {
    Vec<double, 3> middle = Vec<double, 3>::zero();
    for (int k = 0; k < 3; ++k) middle += weight[k] * corner[k];
    arm[0] = first - middle;
    arm[1] = second - middle;
    const Vec<double, 3> along = corner[1] - corner[0], other = corner[2] - corner[0];
    const double length = sqrt(squared_norm(along)), area = sqrt(squared_norm(cross(along, other)));
    const bool turns = length > 0 && area > 0;  // as triangle_frame does
    const Mat<double, 3> frame = triangle_frame(corner);
    for (int k = 0; k < 3; ++k) {
      t[k] = frame(k, 0);
      c[k] = frame(k, 1);
      n[k] = frame(k, 2);
    }
    per_length = turns ? 1 / length : 0;
    per_height = turns ? length / area : 0;
    skew = dot(t, other);
  }

  /// Velocities of both vertices by those of the corners.
  TRIBO_HD void move(const Vec<double, 3>* corner, Vec<double, 3>* vertex) const {
    if (rigid) {
      for (int i = 0; i < 2; ++i) vertex[i] = corner[0] + cross(corner[1], arm[i]);
      return;
    }
    const Vec<double, 3> first = corner[1] - corner[0], second = corner[2] - corner[0];
    const double across = -dot(n, first) * per_length;
    const double omega[3] = {(dot(n, second) + across * skew) * per_height, across, dot(c, first) * per_length};
    const Vec<double, 3> spin = omega[0] * t + omega[1] * c + omega[2] * n;
    const Vec<double, 3> place = weight[0] * corner[0] + weight[1] * corner[1] + weight[2] * corner[2];
    for (int i = 0; i < 2; ++i) vertex[i] = place + cross(spin, arm[i]);
  }
  /// What impulses on the vertices, and a moment besides, are to the corners.
  TRIBO_HD void pass(const Vec<double, 3>* impulse, const Vec<double, 3>& moment, Vec<double, 3>* corner) const {
    const Vec<double, 3> torque = moment + cross(arm[0], impulse[0]) + cross(arm[1], impulse[1]),
                         all = impulse[0] + impulse[1];
    if (rigid) {
      corner[0] = all;
      corner[1] = torque;
      corner[2] = Vec<double, 3>::zero();
      return;
    }
    const double along = dot(torque, t) * per_height;
    const Vec<double, 3> second = along * n;
    const Vec<double, 3> first = per_length * (dot(torque, n) * c - (dot(torque, c) + along * skew) * n);
    corner[0] = weight[0] * all - first - second;
    corner[1] = weight[1] * all + first;
    corner[2] = weight[2] * all + second;
  }
};

}  // namespace tribo

#pragma once

#include "tribo/math/small.h"
#include "tribo/matter/strands/seed.h"

/// \file
/// How a triangle carries the root of a strand along: shared by setup, which finds its place, and the solver.

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

}  // namespace tribo

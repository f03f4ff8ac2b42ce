#pragma once

#include <span>
#include <vector>

#include "scene_text.h"
#include "tribo/math/svd.h"
#include "tribo/matter/solids/seed.h"

/// \file
/// Meshes in simulations: their vertices, and what is left of a deformation when rigid motion is taken away.

namespace tribo::test {

using Points = std::vector<Vec<double, 3>>;

/// A column of vectors of the state, by the name it has in checkpoints.
inline Points state_column(Simulation& simulation, const std::string& name) {
  const Container checkpoint = simulation.checkpoint();
  Points points;
  for (int k = 0; k < 3; ++k) {
    const NamedArray* array = checkpoint.find(name + "." + std::to_string(k));
    points.resize(array->count);
    for (std::size_t i = 0; i < points.size(); ++i)
      points[i][k] = array->type == DType::f64 ? array->as<double>()[i] : static_cast<double>(array->as<float>()[i]);
  }
  return points;
}
inline Points vertices(Simulation& simulation) { return state_column(simulation, "solid.x"); }

/// Largest distance of a point from where it would be had the rest shape moved as a whole: the best rotation is that of
/// the polar decomposition of sum x X^T.
inline double shape_error(const Points& x, const Points& rest) {
  Vec<double, 3> middle = Vec<double, 3>::zero(), rest_middle = middle;
  for (std::size_t i = 0; i < x.size(); ++i) {
    middle += x[i] * (1.0 / static_cast<double>(x.size()));
    rest_middle += rest[i] * (1.0 / static_cast<double>(x.size()));
  }
  Mat<double, 3> covariance = Mat<double, 3>::zero();
  for (std::size_t i = 0; i < x.size(); ++i)
    for (int a = 0; a < 3; ++a)
      for (int b = 0; b < 3; ++b) covariance(a, b) += (x[i] - middle)[a] * (rest[i] - rest_middle)[b];
  const Mat<double, 3> R = polar_rotation(covariance);
  double largest = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    largest = std::max(largest, norm(x[i] - middle - R * (rest[i] - rest_middle)));
  return largest;
}

inline double energy(const ObjectSums& sums) { return sums.kinetic + sums.elastic + sums.gravity; }

}  // namespace tribo::test

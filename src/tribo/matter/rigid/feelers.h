#pragma once

#include <cmath>
#include <numbers>
#include <vector>

#include "tribo/matter/rigid/seed.h"

namespace tribo {

/// Of a mesh, or of a seam between parts of a compound.
inline constexpr int most_feelers = 20000;

/// The feelers of a bounded shape, in its frame; those within flat faces come last. `spacing` is how far apart they
/// may be along edges and on faces [m]: what is smaller and has feelers of its own is felt by these.
std::vector<RigidSample> feelers_of(const Shape<double>& shape, double spacing);

/// Calls visit(center, radius) for balls that stand for a feeler.
template <class Visit>
void each_ball_of(const RigidSample& sample, const Visit& visit) {
  if (sample.feeler != Feeler::ring) return visit(sample.x, sample.radius);
  int least = std::abs(sample.n[1]) < std::abs(sample.n[0]) ? 1 : 0;
  if (std::abs(sample.n[2]) < std::abs(sample.n[least])) least = 2;
  const Vec<double, 3> u = length_and_direction(cross(sample.n, axis_direction<double, 3>(least, false))).normal;
  const Vec<double, 3> v = cross(sample.n, u);
  constexpr int around = 24;
  for (int i = 0; i < around; ++i) {
    const double angle = 2 * std::numbers::pi * i / around;
    visit(sample.x + sample.ring * (std::cos(angle) * u + std::sin(angle) * v), sample.radius);
  }
}

}  // namespace tribo

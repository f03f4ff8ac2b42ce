#pragma once

#include <cstdint>

#include "tribo/math/small.h"

namespace tribo {

/// Sums over the particles of one object.
struct ObjectSums {
  std::int64_t particles = 0;
  double mass = 0;                                              ///< [kg]
  Vec<double, 3> mass_position = Vec<double, 3>::zero();        ///< sum m x [kg m]
  Vec<double, 3> momentum = Vec<double, 3>::zero();             ///< [kg m/s]
  Vec<double, 3> angular_momentum = Vec<double, 3>::zero();     ///< about the origin, affine part included
  Sym<double, 3> second_moment = Sym<double, 3>::isotropic(0);  ///< sum m x x^T [kg m^2]
  double kinetic = 0;                                           ///< [J], affine part included
  double elastic = 0;                                           ///< [J]
  double gravity = 0;                                           ///< [J], zero at the origin
  Vec<double, 3> low = Vec<double, 3>::filled(1e300);           ///< bounds [m]
  Vec<double, 3> high = Vec<double, 3>::filled(-1e300);

  /// A mass at a point.
  TRIBO_HD void add(double m, const Vec<double, 3>& position, const Vec<double, 3>& velocity) {
    for (int k = 0; k < 3; ++k) {
      low[k] = position[k] < low[k] ? position[k] : low[k];
      high[k] = position[k] > high[k] ? position[k] : high[k];
    }
    particles += 1;
    mass += m;
    mass_position += m * position;
    momentum += m * velocity;
    angular_momentum += m * cross(position, velocity);
    for (int a = 0; a < 3; ++a)
      for (int b = a; b < 3; ++b) second_moment(a, b) += m * position[a] * position[b];
    kinetic += 0.5 * m * squared_norm(velocity);
  }
  TRIBO_HD void add(const ObjectSums& other) {
    particles += other.particles;
    mass += other.mass;
    mass_position += other.mass_position;
    momentum += other.momentum;
    angular_momentum += other.angular_momentum;
    for (int k = 0; k < Sym<double, 3>::size; ++k) second_moment.s[k] += other.second_moment.s[k];
    kinetic += other.kinetic;
    elastic += other.elastic;
    gravity += other.gravity;
    for (int k = 0; k < 3; ++k) {
      low[k] = other.low[k] < low[k] ? other.low[k] : low[k];
      high[k] = high[k] < other.high[k] ? other.high[k] : high[k];
    }
  }
};

}  // namespace tribo

#pragma once

#include <cstdint>
#include <vector>

#include "tribo/math/small.h"

namespace tribo {

/// An object whose particles leave stress to another kind of matter, which has made them its own.
struct StressElsewhere {
  int object = 0;
  bool strain = false;  ///< the grid carries F along for it
};

/// Particles at time 0, in order of id.
struct ParticleSeed {
  std::vector<Vec<double, 3>> x;  ///< [m]
  std::vector<Vec<double, 3>> v;  ///< [m/s]
  std::vector<double> m;          ///< [kg]
  std::vector<std::int32_t> object;
  std::vector<Mat<double, 3>> F;  ///< deformation gradients; empty when undeformed
  std::vector<StressElsewhere> stress_elsewhere;

  void add(const Vec<double, 3>& place, const Vec<double, 3>& velocity, double mass, std::int32_t of) {
    x.push_back(place);
    v.push_back(velocity);
    m.push_back(mass);
    object.push_back(of);
  }
};

}  // namespace tribo

#pragma once

#include <cmath>
#include <numbers>

#include "tribo/core/params.h"
#include "tribo/math/small.h"

namespace tribo {

/// Cells of alternating swirl, free of divergence (Taylor and Green 1937), with k = 2 pi / wavelength:
///   v = U ( sin kx cos ky cos kz, -cos kx sin ky cos kz, 0 )
/// In the plane z = 0 this is the vortex lattice of the two-dimensional tests.
struct TaylorGreenField {
  static constexpr const char* name = "taylor_green";
  static constexpr const char* doc = "cells of alternating swirl, four to a wavelength squared; free of divergence";

  double speed = 0;       ///< largest [m/s]
  double wavelength = 1;  ///< [m]

  static TaylorGreenField read(ParamReader& in) {
    const double speed = in.number("speed", "m/s", anything(), "largest speed");
    const double wavelength = in.number("wavelength", "m", above(0), "distance after which the pattern repeats");
    return {speed, wavelength};
  }

  double wave_number() const { return 2 * std::numbers::pi / wavelength; }

  Vec<double, 3> velocity(const Vec<double, 3>& r) const {
    const double k = wave_number();
    const double U = speed * std::cos(k * r[2]);
    return {{U * std::sin(k * r[0]) * std::cos(k * r[1]), -U * std::cos(k * r[0]) * std::sin(k * r[1]), 0}};
  }
  Mat<double, 3> gradient(const Vec<double, 3>& r) const {
    const double k = wave_number();
    const double s[3] = {std::sin(k * r[0]), std::sin(k * r[1]), std::sin(k * r[2])};
    const double c[3] = {std::cos(k * r[0]), std::cos(k * r[1]), std::cos(k * r[2])};
    const double U = k * speed;
    Mat<double, 3> G = Mat<double, 3>::zero();
    G(0, 0) = U * c[0] * c[1] * c[2];
    G(0, 1) = -U * s[0] * s[1] * c[2];
    G(0, 2) = -U * s[0] * c[1] * s[2];
    G(1, 0) = U * s[0] * s[1] * c[2];
    G(1, 1) = -U * c[0] * c[1] * c[2];
    G(1, 2) = U * c[0] * s[1] * s[2];
    return G;
  }
};

}  // namespace tribo

#pragma once

#include "tribo/core/params.h"
#include "tribo/math/small.h"

namespace tribo {

/// v = G r: simple shear, stretching, squeezing, turning.
struct LinearField {
  static constexpr const char* name = "linear";
  static constexpr const char* doc = "grows in proportion to the distance: shear, stretching, turning";

  Mat<double, 3> G = Mat<double, 3>::zero();  ///< [1/s]

  static LinearField read(ParamReader& in) {
    const char* const keys[3] = {"x", "y", "z"};
    const char* const docs[3] = {"how the velocity along x grows along x, y and z",
                                 "how the velocity along y grows along x, y and z",
                                 "how the velocity along z grows along x, y and z"};
    LinearField field;
    for (int i = 0; i < 3; ++i) {
      const Vec<double, 3> row = in.vector(keys[i], "1/s", anything(), docs[i], Vec<double, 3>::zero());
      for (int j = 0; j < 3; ++j) field.G(i, j) = row[j];
    }
    return field;
  }

  Vec<double, 3> velocity(const Vec<double, 3>& r) const { return G * r; }
  Mat<double, 3> gradient(const Vec<double, 3>& /*r*/) const { return G; }
};

}  // namespace tribo

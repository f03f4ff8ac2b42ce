#pragma once

#include "tribo/core/params.h"
#include "tribo/transfer/rule.h"

namespace tribo {

/// Polynomial particle-in-cell [Fu 2017; theory A.4]: particles keep every velocity mode that the grid around them
/// can tell apart, not only the affine ones. Conserves mass, linear and angular momentum; with all 3^d modes of the
/// quadratic kernel nothing is lost on the way from the grid. Costs 276 more bytes a particle in 3D (float).
struct PolyPic {
  static constexpr const char* name = "polypic";
  static constexpr const char* doc = "particles keep higher velocity modes too: loses the least; quadratic kernel only";

  int degree = 2;

  static PolyPic read(ParamReader& in) {
    static const std::vector<Choice> modes{
        {"quadratic", "all 3^d modes of the quadratic kernel: lossless from the grid"},
        {"multilinear", "products of linear modes, 2^d: smoother"}};
    const std::string kept =
        in.choice("polypic_modes", modes, "with transfer \"polypic\": modes that particles keep", modes.front().name);
    return {kept == "quadratic" ? 2 : 1};
  }
  TransferRule<double> rule() const { return {1, 1, 0, degree}; }
};

}  // namespace tribo

#pragma once

#include "tribo/core/params.h"
#include "tribo/models/law.h"

namespace tribo {

/// The parameters that elastic solids with Kelvin-Voigt viscosity have in common, as such a law: {mu, lambda, eta}.
template <class Law>
Law read_damped_elastic(ParamReader& in) {
  const double E = in.number("youngs_modulus", "Pa", above(0), "stiffness in tension");
  const double nu = in.number("poisson_ratio", "1", between(-1, 0.5), "lateral contraction; 0.5 is incompressible");
  const double eta = in.number("viscosity", "Pa s", at_least(0), "damping: resistance to the rate of strain", 0);
  using Real = decltype(Law::mu);
  return {Real(shear_modulus(E, nu)), Real(lame_lambda(E, nu)), Real(eta)};
}

}  // namespace tribo

#include "tribo/models/any_law.h"

#include "tribo/models/all.h"

namespace tribo {

AnyLaw<double> no_law() {
  return WeaklyCompressible<double>{.bulk_modulus = 0, .gamma = 2, .tension = 0, .viscosity = 0};
}

AnyLaw<double> no_law_but_strain() { return FixedCorotated<double>{.mu = 0, .lambda = 0, .viscosity = 0}; }

AnyLaw<double> dry_grains(double mu, double lambda, double sine_of_friction) {
  DruckerPrager<double> law{};
  law.mu = mu;
  law.lambda = lambda;
  law.friction = sine_of_friction;
  law.volume_correction = 1;
  law.cohesion = 0;
  return law;
}

const char* name_of(const AnyLaw<double>& any_law) {
  return std::visit([](const auto& law) { return law.name; }, *any_law);
}

double viscosity_of(const AnyLaw<double>& any_law) {
  return std::visit(
      []<class Law>(const Law& law) -> double {
        if constexpr (Viscous<Law>) return law.viscosity;
        return 0;
      },
      *any_law);
}

}  // namespace tribo

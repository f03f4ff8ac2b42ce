#pragma once

#include <concepts>
#include <memory>

namespace tribo {

/// A law of any kind, held without knowing which there are: what only keeps or passes on a law need not be compiled
/// again when one of them changes. models/all.h makes and opens it. Laws never change, so copies share one.
template <class Real>
class AnyLaw {
 public:
  AnyLaw() = default;
  template <class Law>
  requires(!std::same_as<Law, AnyLaw>) AnyLaw(const Law& law);  // NOLINT: a law is any law

  /// The variant over all laws.
  const auto& operator*() const;

 private:
  std::shared_ptr<const void> law_;
};

/// Of particles whose stress comes from elsewhere, a mesh or a curve; the second kind keeps the F that the grid gives
/// it.
AnyLaw<double> no_law();
AnyLaw<double> no_law_but_strain();

/// Dry grains [Pa, Pa, 1].
AnyLaw<double> dry_grains(double mu, double lambda, double sine_of_friction);

/// As scenes call it.
const char* name_of(const AnyLaw<double>& law);

/// [Pa s]; 0 of laws that have none.
double viscosity_of(const AnyLaw<double>& law);

}  // namespace tribo

#pragma once

#include <variant>

#include "tribo/models/elastic/fixed_corotated.h"
#include "tribo/models/elastic/hencky.h"
#include "tribo/models/elastic/neo_hookean.h"
#include "tribo/models/elastic/st_venant_kirchhoff.h"
#include "tribo/models/elastic/viscoelastic.h"
#include "tribo/models/fluid/weakly_compressible.h"
#include "tribo/models/plastic/drucker_prager.h"
#include "tribo/models/plastic/herschel_bulkley.h"
#include "tribo/models/plastic/mohr_coulomb.h"
#include "tribo/models/plastic/snow.h"
#include "tribo/models/plastic/von_mises.h"

namespace tribo {

/// Every law a particle material can follow. Listing a law here gives it a scene key, a place in the schema and the
/// manual, the law tests, and kernels on every device.
template <class Real>
using ParticleLaw = std::variant<FixedCorotated<Real>, NeoHookean<Real>, StVenantKirchhoff<Real>, Hencky<Real>,
                                 Viscoelastic<Real>, DruckerPrager<Real>, MohrCoulomb<Real>, Snow<Real>, VonMises<Real>,
                                 HerschelBulkley<Real>, WeaklyCompressible<Real>>;

/// [Pa s]; 0 of laws that have none.
template <class Real>
double viscosity_of(const ParticleLaw<Real>& any_law) {
  return std::visit(
      []<class Law>(const Law& law) -> double {
        if constexpr (Viscous<Law>) return law.viscosity;
        return 0;
      },
      any_law);
}

}  // namespace tribo

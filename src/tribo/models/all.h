#pragma once

#include <variant>

#include "tribo/models/any_law.h"
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
/// manual, the law tests, and kernels on every device; these are compiled law by law, from the includes above
/// (cmake/law_files.cmake): law.h holds Law.
template <class Real>
using ParticleLaw = std::variant<FixedCorotated<Real>, NeoHookean<Real>, StVenantKirchhoff<Real>, Hencky<Real>,
                                 Viscoelastic<Real>, DruckerPrager<Real>, MohrCoulomb<Real>, Snow<Real>, VonMises<Real>,
                                 HerschelBulkley<Real>, WeaklyCompressible<Real>>;

template <class Real>
template <class Law>
requires(!std::same_as<Law, AnyLaw<Real>>) AnyLaw<Real>::AnyLaw(const Law& law)
    : law_(std::make_shared<const ParticleLaw<Real>>(law)) {}

/// As a scene has it that names none: the first.
template <class Real>
const auto& AnyLaw<Real>::operator*() const {
  static const ParticleLaw<Real> first;
  return law_ ? *static_cast<const ParticleLaw<Real>*>(law_.get()) : first;
}

}  // namespace tribo

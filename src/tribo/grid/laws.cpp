#include "tribo/core/cast_numbers.h"
#include "tribo/grid/law_stages.h"
#include "tribo/models/all.h"

namespace tribo::TRIBO_BACKEND {

template <class Real, int D>
std::shared_ptr<const LawStages<Real, D>> stages_of_any(const AnyLaw<double>& law) {
  return std::visit(
      [](const auto& one) {
        auto stages = stages_of<Real, D>(one);
        stages->law = one;
        return stages;
      },
      cast_variant<Real>(*law));
}

#define TRIBO_INSTANTIATE(Real, D) \
  template std::shared_ptr<const LawStages<Real, D>> stages_of_any(const AnyLaw<double>&);
TRIBO_FOR_EACH_INSTANCE(TRIBO_INSTANTIATE)
#undef TRIBO_INSTANTIATE

}  // namespace tribo::TRIBO_BACKEND

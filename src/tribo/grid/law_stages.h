#pragma once

#include "tribo/grid/stages.h"
#include "tribo/models/any_law.h"
#include "tribo/models/law.h"

/// \file
/// The part of the stages that depends on a material's law. Kernels are compiled for one concrete law each, every law
/// in a file of its own on the CPU, several together for CUDA (cmake/law_files.cmake writes these from models/all.h),
/// so that changing one compiles its own.

namespace tribo::TRIBO_BACKEND {

/// A law with the kernels that were compiled for it.
template <class Real, int D>
class LawStages {
 public:
  virtual ~LawStages() = default;
  /// The bins that have it, in a stage.
  struct Bins {
    Exec& ex;
    const Constants<Real, D>& constants;
    State<Real, D>& state;
    Workspace<Real, D>& work;
    Index first;
    Index count;
  };
  virtual void g2p(const Bins& bins, double dt) const = 0;
  /// Nothing where steps run on packed particles, which have kernels of their own.
  virtual void deform(const Bins& bins, double dt) const = 0;
  virtual void stress(const Bins& bins) const = 0;
  /// Forces and their tangents for an implicit step, at the velocities of the grid.
  virtual void linearize(const Bins& bins, double dt) const = 0;
  /// Of particles from `begin` to `end`, as `observe_strain` says.
  virtual void observe(Exec& ex, const ParticlesView<Real, D>& particles, Index begin, Index end, Real* energy_density,
                       Real* volume_ratio, Real* strain_norm) const = 0;
  /// Of a particle that nothing has strained yet.
  virtual Vec<double, 2> initial_history() const = 0;
  virtual Response<Real, D> response(const Strain<Real, D>& strain) const = 0;

  AnyLaw<Real> law;  ///< for kernels that are compiled for all laws in one file
};

/// Those of a law as scenes have it.
template <class Real, int D>
std::shared_ptr<const LawStages<Real, D>> stages_of_any(const AnyLaw<double>& law);

/// The same, in the file of the law.
template <class Real, int D, class Law>
std::shared_ptr<LawStages<Real, D>> stages_of(const Law& law);

/// work(law, its bins) for each material that has particles.
template <class Real, int D, class Work>
void each_material(Exec& ex, const Constants<Real, D>& constants, State<Real, D>& state, Workspace<Real, D>& workspace,
                   const Work& work) {
  for (std::size_t g = 0; g < constants.laws.size(); ++g) {
    const Index first = workspace.group_bins[g];
    const Index count = workspace.group_bins[g + 1] - first;
    if (count > 0) work(*constants.laws[g], {ex, constants, state, workspace, first, count});
  }
}

}  // namespace tribo::TRIBO_BACKEND

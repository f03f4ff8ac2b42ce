#include <cmath>
#include <optional>

#include "tribo/grid/implicit_nodes.h"
#include "tribo/grid/implicit_norm.h"
#include "tribo/grid/implicit_particles.h"
#include "tribo/grid/law_stages.h"
#include "tribo/linear/error_window.h"
#include "tribo/linear/newton.h"
#include "tribo/linear/slope_search.h"

/// \file
/// Backward Euler on the grid. With v* the velocities after gravity, the new ones are where
///   M (v - v*) + dt sum_p V_p S_p(dt grad v) D^-1 w_ip (x_i - x_p) = impulses of colliders,   D = dx^2 / 4
/// which is M (v - v*) = dt f at the end of the step, in the form of MLS-MPM (theory A.5, C.6; S in
/// models/step_force.h): force and gradient are transposes of each other, so the derivative is symmetric.
///
/// Newton's method [Gast 2015], its linear systems by conjugate gradients without a matrix, a line search along the
/// slope d . gradient (linear/). The masses are the preconditioner. Measured against them the spectrum has a bound that
/// no layout of particles can exceed (theory J), and is never below 1; and since forces within a body have no sum, nor
/// have directions made of forces over masses: every body keeps its momentum to rounding, however early iterations end.
///
/// All norms are of momentum over mass: |w|^2 = sum m w^2, [kg m^2/s^2].

namespace tribo::TRIBO_BACKEND {
namespace {

using namespace implicit;

/// Iterates in which contacts may let go; after these, sets that keep changing without an end must settle.
constexpr int settling = 8;

constexpr const char* implicit_label = "implicit";

/// One step's solve: Newton's problem, and its linear systems.
template <class Real, int D>
class ImplicitSolve {
 public:
  using Shape = BlockShape<D>;
  using Pack = NodePack<Real>;

  ImplicitSolve(Exec& ex, const Constants<Real, D>& constants, const ImplicitSpec& settings, double dt,
                State<Real, D>& state, Workspace<Real, D>& work)
      : ex_(ex),
        constants_(constants),
        settings_(settings),
        dt_(dt),
        state_(state),
        work_(work),
        own_(work.implicit),
        on_(ex, implicit_label, {static_cast<Index>(Size{work.block_count} * Shape::nodes)}) {}

  ImplicitReport run(const typename Colliders<Real, D>::View& colliders) {
    own_.resize(state_.count, space().count);
    on_.copy(work_.grid.data(), own_.star.data());
    const double gravity = dt_ * std::sqrt(static_cast<double>(squared_norm(constants_.gravity)));
    norm_.emplace(ex_, implicit_label, space().count, own_.star.data(), gravity);
    if (norm_->mass() == 0) return {.converged = true, .near = true};  // no particles yet, or none left
    slow_ = static_cast<Real>(1e-3 * norm_->scale());
    find_contacts(colliders);
    const linear::NewtonReport report = linear::newton(*this, settings_.newton_iterations);
    tell_contacts(colliders);
    return report_of(report, particle_speed());
  }

  double target() const { return norm_->target(settings_.tolerance, work_.grid.data()); }
  double error() const { return norm_->of(own_.step.data()); }
  void move(double share) { on_.add(share, own_.step.data(), work_.grid.data()); }
  bool search(double before) { return linear::search_slope(*this, before); }
  double slope() const {
    return on_.sum(Slope<Real, D>{work_.grid.data(), own_.gradient.data(), own_.step.data(), contact()});
  }

  /// Gradient and tangents at the present velocities.
  void evaluate() {
    using Law = LawStages<Real, D>;
    each_material(ex_, constants_, state_, work_,
                  [&](const Law& law, const typename Law::Bins& bins) { law.linearize(bins, dt_); });
    for_each_team<BlockNodes<Real, D>>(ex_, "linearize", work_.block_count,
                                       GradientBlock<Real, D>{touches(), work_.arenas.data(), own_.star.data(),
                                                              work_.grid.data(), own_.gradient.data()});
  }

  double solve(double target, std::int64_t& iterations) {
    on_.each(BeginLinear<Real, D>{work_.grid.data(), own_.gradient.data(), contact(), own_.residual.data(),
                                  own_.step.data()});
    linear::BoundedErrorWindow stop(norm_->mass() * target * target);
    const linear::CgReport report = linear::conjugate_gradients(
        ex_, implicit_label, *this,
        {own_.step.data(), own_.residual.data(), own_.direction.data(), own_.product.data()}, stop,
        settings_.linear_iterations);
    iterations += report.iterations;
    return -report.energy;
  }

  NodeSpace<Real, D> space() const { return on_.space(); }
  InverseMass<Real, D> precondition(const Pack*) const { return {work_.grid.data()}; }
  void apply(const Pack* direction, Pack* product) {
    for_each_team<TwoArenas<Real, D>>(ex_, "apply", state_.bin_count, ApplyTangent<Real, D>{access(), direction});
    for_each_team<BlockNodes<Real, D>>(
        ex_, "apply", work_.block_count,
        ProductBlock<Real, D>{touches(), work_.arenas.data(), work_.grid.data(), direction, contact(), product});
  }

  bool constrained() const { return own_.contact_count > 0; }
  /// Friction goes by the normal impulses of the iterate before: where something rubs there are two at least.
  bool settle(int iterate) {
    if (!constrained()) return true;
    work_.flags.resize_discard(own_.contact_count);
    parallel_for(ex_, implicit_label, own_.contact_count,
                 UpdateContact<Real, D>{own_.gradient.data(), slow_, iterate >= settling, own_.contacts.data(),
                                        work_.grid.data(), work_.flags.data()});
    const Index found =
        reduce(ex_, implicit_label, own_.contact_count, Index{0}, LoadFlags{work_.flags.data()}, OrFlags{});
    const bool moved = (found & 1) != 0, changed = (found & 2) != 0, rubs = (found & 4) != 0;
    if (moved) evaluate();
    return !changed && (iterate > 0 || !rubs);
  }

 private:
  ParticleAccess<Real, D> access() { return particle_access(constants_, dt_, state_, work_); }
  ContactAccess<Real, D> contact() const { return {own_.contact_of.data(), own_.contacts.data(), slow_}; }
  TouchView touches() const { return {work_.touch.data(), work_.touch_start.data()}; }

  double particle_speed() {
    own_.bin_speed.resize_discard(state_.bin_count);
    for_each_team<typename SpeedOfBin<Real, D>::Scratch>(
        ex_, implicit_label, state_.bin_count, SpeedOfBin<Real, D>{access(), work_.grid.data(), own_.bin_speed.data()});
    return static_cast<double>(reduce(ex_, implicit_label, state_.bin_count, Real(0),
                                      LoadSpeed<Real>{own_.bin_speed.data()}, LargerOrNan<Real>{}));
  }

  void find_contacts(const typename Colliders<Real, D>::View& colliders) {
    work_.flags.resize_discard(space().count);
    const FindContact<Real, D> find{work_.blocks.data(), work_.grid.data(), colliders, constants_.dx,
                                    own_.contact_of.data()};
    on_.each(find);
    own_.contact_count = exclusive_scan(ex_, implicit_label, own_.contact_of, work_.flags, space().count);
    own_.contacts.resize_discard(own_.contact_count);
    on_.each(WriteContact<Real, D>{find, work_.flags.data(), own_.contacts.data(), work_.grid.data()});
  }

  void tell_contacts(const typename Colliders<Real, D>::View& colliders) {
    tell_each(ex_, implicit_label, colliders.tally, own_.contact_count,
              TellContact<Real, D>{{work_.blocks.data(), work_.grid.data(), colliders, constants_.dx, nullptr},
                                   own_.gradient.data(),
                                   own_.contacts.data()});
  }

  Exec& ex_;
  const Constants<Real, D>& constants_;
  const ImplicitSpec& settings_;
  double dt_;
  State<Real, D>& state_;
  Workspace<Real, D>& work_;
  ImplicitWorkspace<Real, D>& own_;
  linear::Vectors<NodeSpace<Real, D>> on_;
  std::optional<VelocityNorm<Real, D>> norm_;  ///< once v* is known
  Real slow_ = 0;
};

}  // namespace

template <class Real, int D>
ImplicitReport solve_implicit(Exec& ex, const Constants<Real, D>& constants,
                              const typename Colliders<Real, D>::View& colliders, const ImplicitSpec& settings,
                              double dt, State<Real, D>& state, Workspace<Real, D>& work) {
  return ImplicitSolve<Real, D>(ex, constants, settings, dt, state, work).run(colliders);
}

#define TRIBO_INSTANTIATE(Real, D)                                                                                   \
  template ImplicitReport solve_implicit(Exec&, const Constants<Real, D>&, const typename Colliders<Real, D>::View&, \
                                         const ImplicitSpec&, double, State<Real, D>&, Workspace<Real, D>&);
TRIBO_FOR_EACH_INSTANCE(TRIBO_INSTANTIATE)
#undef TRIBO_INSTANTIATE

}  // namespace tribo::TRIBO_BACKEND

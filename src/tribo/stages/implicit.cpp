#include <algorithm>
#include <array>
#include <cmath>

#include "tribo/stages/implicit_nodes.h"
#include "tribo/stages/implicit_particles.h"
#include "tribo/stages/law_stages.h"

/// \file
/// Backward Euler on the grid. With v* the velocities after gravity, the new ones are where
///   M (v - v*) + dt sum_p V_p S_p(dt grad v) D^-1 w_ip (x_i - x_p) = impulses of colliders,   D = dx^2 / 4
/// which is M (v - v*) = dt f at the end of the step, in the form of MLS-MPM (theory A.5, C.6; S in
/// models/step_force.h): force and gradient are transposes of each other, so the derivative is symmetric.
///
/// Newton's method [Gast 2015], its linear systems by conjugate gradients without a matrix, a line search along the
/// slope d . gradient instead of the energy, whose differences vanish in the rounding of floats [Matthies 1979].
/// The masses are the preconditioner. Measured against them the spectrum has a bound that no layout of
/// particles can exceed (theory J), and since forces within a body have no sum, nor have directions made of forces
/// over masses: every body keeps its momentum to rounding, however early iterations end.
///
/// All norms are of momentum over mass: |w|^2 = sum m w^2, [kg m^2/s^2].

namespace tribo::TRIBO_BACKEND {
namespace {

using namespace implicit;

/// Share of the remaining error a linear solve may leave to the next iterate.
constexpr double forcing = 0.05;
/// Iterations over which the progress of conjugate gradients is judged.
constexpr int window = 6;
/// Iterates in which contacts may let go; after these, sets that keep changing without an end must settle.
constexpr int settling = 8;

/// Times the tolerance within which a solve is kept that has run out of iterates.
constexpr double kept_within = 5;

/// One step's solve.
template <class Real, int D>
class ImplicitSolve {
 public:
  using Shape = BlockShape<D>;

  ImplicitSolve(Exec& ex, const Constants<Real, D>& constants, const ImplicitSpec& settings, double dt,
                State<Real, D>& state, Workspace<Real, D>& work)
      : ex_(ex),
        constants_(constants),
        settings_(settings),
        dt_(dt),
        state_(state),
        work_(work),
        own_(work.implicit),
        nodes_(static_cast<Index>(Size{work.block_count} * Shape::nodes)) {}

  ImplicitReport run(const typename Colliders<Real, D>::View& colliders) {
    own_.resize(state_.count, nodes_);
    parallel_for(ex_, "implicit", nodes_, CopyNodes<Real>{work_.grid.data(), own_.star.data()});
    const double mass = sum(Mass<Real>{work_.grid.data()});
    if (mass == 0) return {.converged = true, .near = true};  // no particles yet, or none left
    const double gravity = dt_ * std::sqrt(static_cast<double>(squared_norm(constants_.gravity)));
    const double speed = std::sqrt(sum(TimesMass<Real, D>{work_.grid.data(), own_.star.data()}) / mass);
    slow_ = static_cast<Real>(1e-3 * (gravity + speed));
    find_contacts(colliders);
    bool rubs = own_.contact_count > 0;

    ImplicitReport report;
    evaluate();
    for (int k = 0; k < settings_.newton_iterations; ++k) {
      ++report.newton;
      const double change = std::sqrt(sum(ChangeTimesMass<Real, D>{work_.grid.data(), own_.star.data()}) / mass);
      double target = settings_.tolerance * (gravity + change + 0.01 * speed);
      const double slope = -solve_linear(mass * target * target, report.linear);
      if (!std::isfinite(slope)) break;
      report.error = std::sqrt(sum(TimesMass<Real, D>{work_.grid.data(), own_.step.data()}) / mass);
      move(1);
      if (k == 0) {  // v* itself says nothing yet about how much the step changes
        const double after = std::sqrt(sum(ChangeTimesMass<Real, D>{work_.grid.data(), own_.star.data()}) / mass);
        target = settings_.tolerance * (gravity + after + 0.01 * speed);
      }
      const bool close = report.error <= target;
      report.near = report.error <= kept_within * target;
      if (close && own_.contact_count == 0) {
        report.converged = true;
        break;
      }
      evaluate();
      if (!close && !search(slope)) break;
      bool changed = false;
      if (own_.contact_count > 0) changed = update_contacts(k >= settling, rubs);
      if (close && !changed && (k > 0 || !rubs)) {
        report.converged = true;
        break;
      }
    }
    report.speed = particle_speed();
    report.converged = (report.converged || report.near) && std::isfinite(report.speed);
    return report;
  }

 private:
  template <class Map>
  double sum(const Map& map) {
    return reduce(ex_, "implicit", nodes_, 0.0, map, Add{});
  }
  ParticleAccess<Real, D> access() { return particle_access(constants_, dt_, state_, work_); }
  ContactAccess<Real, D> contact() const { return {own_.contact_of.data(), own_.contacts.data(), slow_}; }
  TouchView touches() const { return {work_.touch.data(), work_.touch_start.data()}; }

  double particle_speed() {
    own_.bin_speed.resize_discard(state_.bin_count);
    for_each_team<typename SpeedOfBin<Real, D>::Scratch>(
        ex_, "implicit", state_.bin_count, SpeedOfBin<Real, D>{access(), work_.grid.data(), own_.bin_speed.data()});
    return static_cast<double>(reduce(ex_, "implicit", state_.bin_count, Real(0),
                                      LoadSpeed<Real>{own_.bin_speed.data()}, LargerOrNan<Real>{}));
  }

  void find_contacts(const typename Colliders<Real, D>::View& colliders) {
    work_.flags.resize_discard(nodes_);
    const FindContact<Real, D> find{work_.blocks.data(), work_.grid.data(), colliders, constants_.dx,
                                    own_.contact_of.data()};
    parallel_for(ex_, "implicit", nodes_, find);
    own_.contact_count = exclusive_scan(ex_, "implicit", own_.contact_of, work_.flags, nodes_);
    own_.contacts.resize_discard(own_.contact_count);
    parallel_for(ex_, "implicit", nodes_,
                 WriteContact<Real, D>{find, work_.flags.data(), own_.contacts.data(), work_.grid.data()});
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

  /// Conjugate gradients for the Newton step. The error left, measured by the system itself, is what later iterations
  /// would still add: a window of them, or at most the residual over mass [Hestenes 1952]. It may be a share of the
  /// whole, or a fifth of what is asked of velocities. Returns residual . step.
  double solve_linear(double target, std::int64_t& iterations) {
    parallel_for(ex_, "implicit", nodes_,
                 BeginLinear<Real, D>{work_.grid.data(), own_.gradient.data(), contact(), own_.residual.data(),
                                      own_.direction.data(), own_.step.data()});
    double rz = sum(OverMass<Real, D>{work_.grid.data(), own_.residual.data()});
    if (!std::isfinite(rz)) return rz;
    double whole = 0;
    std::array<double, window> recent{};
    for (int it = 0; it < settings_.linear_iterations && rz > 0; ++it) {
      for_each_team<TwoArenas<Real, D>>(ex_, "apply", state_.bin_count,
                                        ApplyTangent<Real, D>{access(), own_.direction.data()});
      for_each_team<BlockNodes<Real, D>>(ex_, "apply", work_.block_count,
                                         ProductBlock<Real, D>{touches(), work_.arenas.data(), work_.grid.data(),
                                                               own_.direction.data(), contact(), own_.product.data()});
      const double curvature = sum(Dot<Real, D>{own_.direction.data(), own_.product.data()});
      ++iterations;
      if (!(curvature > 0)) break;  // rounding has eaten the direction
      const double alpha = rz / curvature;
      parallel_for(ex_, "implicit", nodes_,
                   AdvanceLinear<Real>{static_cast<Real>(alpha), own_.direction.data(), own_.product.data(),
                                       own_.step.data(), own_.residual.data()});
      whole += alpha * rz;
      recent[static_cast<std::size_t>(it % window)] = alpha * rz;
      const double next = sum(OverMass<Real, D>{work_.grid.data(), own_.residual.data()});
      double left = 0;
      for (const double part : recent) left += part;
      const double allowed = std::max(forcing * forcing * whole, 0.04 * target);
      if (next <= allowed || (it + 1 >= window && left <= allowed)) break;
      parallel_for(ex_, "implicit", nodes_,
                   TurnDirection<Real>{static_cast<Real>(next / rz), work_.grid.data(), own_.residual.data(),
                                       own_.direction.data()});
      rz = next;
    }
    return whole;
  }

  void move(double share) {
    parallel_for(ex_, "implicit", nodes_,
                 MoveVelocities<Real>{static_cast<Real>(share), own_.step.data(), work_.grid.data()});
  }

  /// Shortens the step until the slope along it is no steeper uphill than it was downhill at the start, where it was
  /// `slope` < 0. False when no length will do.
  bool search(double slope) {
    double taken = 1;
    for (int tries = 0; tries < 12; ++tries) {
      const double there = sum(Slope<Real, D>{work_.grid.data(), own_.gradient.data(), own_.step.data(), contact()});
      if (there <= -0.8 * slope) return true;
      double shorter = std::isfinite(there) ? taken * slope / (slope - there) : 0;
      shorter = std::clamp(shorter, 0.1 * taken, 0.7 * taken);
      move(shorter - taken);
      taken = shorter;
      evaluate();
    }
    return false;
  }

  bool update_contacts(bool settled, bool& rubs) {
    work_.flags.resize_discard(own_.contact_count);
    parallel_for(ex_, "implicit", own_.contact_count,
                 UpdateContact<Real, D>{own_.gradient.data(), slow_, settled, own_.contacts.data(), work_.grid.data(),
                                        work_.flags.data()});
    const Index found = reduce(ex_, "implicit", own_.contact_count, Index{0}, LoadFlags{work_.flags.data()}, OrFlags{});
    if (found & 1) evaluate();
    rubs = (found & 4) != 0;
    return (found & 2) != 0;
  }

  Exec& ex_;
  const Constants<Real, D>& constants_;
  const ImplicitSpec& settings_;
  double dt_;
  State<Real, D>& state_;
  Workspace<Real, D>& work_;
  ImplicitWorkspace<Real, D>& own_;
  Index nodes_;
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

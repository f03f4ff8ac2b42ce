#include <cmath>
#include <limits>

#include "tribo/core/errors.h"
#include "tribo/engine/solver.h"

namespace tribo::TRIBO_BACKEND {
namespace {

/// How often a step that does not converge is tried again with half its length.
constexpr int most_rejections = 5;

/// What remains of a step once it is taken.
template <class Rest>
void finish_taken(const Rest& rest) {
  try {
    rest();
  } catch (const DeviceError& error) {
    throw LostStepError(error.what());
  }
}

/// A try of a step: velocities at its end on which all agree, or none.
template <class Real, int D>
class Attempt {
 public:
  /// `others`: whether anything but particles acts on their grid.
  Attempt(Exec& ex, const Model& model, const StepTry& attempt, bool others, Kinds<Real, D>& kinds, StepReport& report)
      : model_(model),
        attempt_(attempt),
        kinds_(kinds),
        report_(report),
        others_(others),
        colliders_{ex, model.colliders, attempt.around.time, attempt.dt, kinds.particles().work, attempt.tally},
        shortest_(attempt.dt <= model.time.dt_min) {}

  /// The velocities that each kind wants. False where they were not found, or the step is too long for them.
  bool predict() {
    bool converged = true;
    for (const auto& kind : kinds_.all()) {
      const ImplicitReport found = kind->predict(attempt_);
      converged = accept(found) && converged;
      speed_ = std::fmax(speed_, found.speed);
    }
    return converged && short_enough(speed_);
  }

  /// On grids, and without. `particles`: whether there are any that have one.
  bool agree(bool particles) {
    if (!particles) return short_enough(contact());
    std::function<double()> act;
    if (others_) act = [&] { return contact(); };
    const auto outcome = kinds_.particles().advance(attempt_, colliders_, act,
                                                    [&](const ImplicitReport& found) { return accept(found); });
    if (outcome.speed > speed_) speed_ = outcome.speed;
    return outcome.taken;
  }

  void finish(bool particles) {
    finish_taken([&] {
      if (particles) kinds_.particles().move(attempt_, colliders_, speed_);
      for (const auto& kind : kinds_.all()) kind->finish(attempt_, report_);
    });
  }

 private:
  /// Whether a solve is taken as it is.
  bool accept(const ImplicitReport& found) {
    SolveReport& solve = report_.solve;
    const bool taken = found.converged || solve.rejected == most_rejections || shortest_;
    solve.add({found.newton, found.linear, taken ? 0 : 1, taken && !found.converged ? 1 : 0, taken ? found.error : 0});
    return taken;
  }
  bool short_enough(double speed) const { return shortest_ || !(speed * attempt_.dt > model_.dx); }

  /// Every phase on its grid with those before it, and bodies with each; then what is geometric. Returns the largest
  /// velocity component left on grids, or infinity where the step should be shorter.
  double contact() {
    double speed = 0;
    for (const auto& kind : kinds_.all()) {
      speed = std::fmax(speed, kind->scatter(attempt_));
      const Phase<Real, D>* const own = kind->phase();
      if (own == nullptr) continue;
      for (const auto& other : kinds_.all()) {
        if (other == kind) break;
        if (const Phase<Real, D>* const earlier = other->phase()) speed = std::fmax(speed, kind->couple(*earlier));
      }
      for (const auto& other : kinds_.all()) speed = std::fmax(speed, other->meet(*own, attempt_.dt));
    }
    for (const auto& kind : kinds_.all()) speed = std::fmax(speed, kind->gather(attempt_));
    if (!short_enough(speed)) return speed;
    const auto view = colliders_.during();
    bool clean = true;
    for (const auto& kind : kinds_.all()) clean = kind->collide(attempt_, view) && clean;
    if (!clean) ++report_.strands.retries;
    return clean || shortest_ ? speed : std::numeric_limits<double>::infinity();
  }

  const Model& model_;
  StepTry attempt_;
  Kinds<Real, D>& kinds_;
  StepReport& report_;
  bool others_;
  StepColliders<Real, D> colliders_;
  bool shortest_;     ///< dt cannot be less
  double speed_ = 0;  ///< of the fastest of all
};

}  // namespace

/// Nothing has moved before all agree, so that a step that is too long for anybody can be taken again, shorter.
template <class Real, int D>
double advance(Exec& ex, const Model& model, double dt, Kinds<Real, D>& kinds, ContactSums& sums, StepReport& report) {
  bool others = false;
  for (const auto& kind : kinds.all())
    others = others || (kind.get() != &kinds.particles() && !kind->empty() && kind->passengers() == 0);
  const bool particles = kinds.particles().prepare(others);
  const Surroundings around = kinds.surroundings();  // packing sorts, and a sink may have taken the last particle
  for (const auto& kind : kinds.all()) kind->begin();
  for (;; dt *= 0.5) {
    Attempt<Real, D> attempt(
        ex, model, {around, dt, report.strands.retries, report.least_for_strands, sums.begin_try(ex)}, others, kinds,
        report);
    if (!attempt.predict() || !attempt.agree(particles)) continue;
    attempt.finish(particles);
    sums.take();
    return dt;
  }
}

#define TRIBO_INSTANTIATE(Real, D) \
  template double advance(Exec&, const Model&, double, Kinds<Real, D>&, ContactSums&, StepReport&);
TRIBO_FOR_EACH_INSTANCE(TRIBO_INSTANTIATE)
#undef TRIBO_INSTANTIATE

}  // namespace tribo::TRIBO_BACKEND

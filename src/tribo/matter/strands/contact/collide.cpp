#include "tribo/matter/strands/contact/collide.h"

namespace tribo::TRIBO_BACKEND {

template <class Real>
StrandContactReport collide_strands(Exec& ex, const StrandContactRules& rules, const RodMesh<Real>& mesh, double dt,
                                    RodState<Real>& state, RodWorkspace<Real>& rods, StrandCollisions<Real>& collisions,
                                    StrandHolder<Real>* holder) {
  StrandContactReport report;
  if (mesh.vertices == 0) return report;
  StrandContactWork<Real>& work = collisions.work;
  if (rules.count_grid) report.missed_grid = find_crossings(ex, mesh, state, dt, work.pads, collisions.crossings);
  work.pair_count = 0;
  work.all_chosen = true;
  if (rules.form != ImpulseForm::none) {
    segment_compliance(ex, mesh, rods);
    work.pair_count = find_proximity(ex, rules.proximity, mesh, state, dt, work.pads, work.pairs);
  }
  report.pairs = work.pair_count;
  if (report.pairs > 0) {
    report.closing = closing_speed(ex, work.pairs, work.pair_count, rods.v_start);
    prepare_pairs(ex, mesh, rods, work);
    apply_impulses(ex, rules.form, rules.iterations, mesh, state, rods, work);
  }
  if (holder != nullptr) holder->hold();
  const bool safe_guarded = rules.fail_safe && rules.form != ImpulseForm::none;
  if (!safe_guarded && !rules.count_missed) return report;
  FailSafeRules rounds = rules.rounds;
  if (!safe_guarded) rounds.rounds = 0;
  // Accumulated impulses would give again what they have in the step before.
  rounds.recalls = rules.form == ImpulseForm::plain;
  const FailSafeReport safe = prevent_crossings(ex, rounds, mesh, dt, state, rods, work, collisions.crossings, holder);
  report.missed_pairs = safe.before;
  report.missed = safe.after;
  report.rounds = safe.rounds;
  if (safe_guarded && !safe.clean()) {
    const KnotReport knots =
        tie_knots(ex, mesh, dt, state, rods, work.pads, collisions.knots, collisions.crossings, safe.after);
    report.tied = knots.tied;
    report.missed = knots.left;
  }
  report.clean = !safe_guarded || report.missed.pairs == 0;
  return report;
}

#define TRIBO_INSTANTIATE(Real)                                                                                \
  template StrandContactReport collide_strands(Exec&, const StrandContactRules&, const RodMesh<Real>&, double, \
                                               RodState<Real>&, RodWorkspace<Real>&, StrandCollisions<Real>&,  \
                                               StrandHolder<Real>*);
TRIBO_FOR_EACH_ROD_REAL(TRIBO_INSTANTIATE)
#undef TRIBO_INSTANTIATE

}  // namespace tribo::TRIBO_BACKEND

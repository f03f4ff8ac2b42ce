#include "tribo/matter/strands/contact/pressed.h"

#include "tribo/contact/coulomb.h"

namespace tribo::TRIBO_BACKEND {
namespace {

constexpr const char* pressed_label = "strand impulses";

/// Where a pair is among those that are kept, or would be.
struct FindPressed {
  FieldView<const Index, 2> segments;
  Index count;
  TRIBO_HD Index operator()(Index first, Index second) const {
    Index low = 0, high = count;
    while (low < high) {
      const Index middle = low + (high - low) / 2;
      const bool below = segments[0][middle] < first || (segments[0][middle] == first && segments[1][middle] < second);
      if (below)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }
};

/// Normals turn from step to step; what presses is what is left of the force along that of now.
template <class Real>
struct RecallPair {
  FindPressed find;
  FieldView<const Real, 3> force;
  Real dt;
  const StrandPair<Real>* pairs;
  PairImpulse<Real>* impulse;
  Index* mark;

  TRIBO_HD void operator()(Index k) const {
    const StrandPair<Real>& p = pairs[k];
    Vec<Real, 3> J = Vec<Real, 3>::zero();
    for (Index e = find(p.first, p.second);
         e < find.count && find.segments[0][e] == p.first && find.segments[1][e] == p.second; ++e)
      J += dt * vector_at(force, e);
    const Real normal = dot(J, p.n);
    const bool presses = normal > Real(0) && p.normal_mass > Real(0);
    mark[k] = presses ? 1 : 0;
    if (!presses) return;
    const Vec<Real, 3> along = J - normal * p.n;
    const Vec<Real, 3> tangential = part_in_cone(sqrt(squared_norm(along)), friction_limit(p.friction, normal)) * along;
    impulse[k] = {};
    impulse[k].J = normal * p.n + tangential;
    impulse[k].normal = normal;
    impulse[k].tangential = tangential;
  }
};

template <class Real>
struct MarkPressed {
  const Index* chosen;
  const PairImpulse<Real>* impulse;
  Index* mark;
  TRIBO_HD void operator()(Index c) const { mark[c] = impulse[chosen[c]].normal > Real(0) ? 1 : 0; }
};
template <class Real>
struct KeyOfPressed {
  const Index *which, *chosen;
  const StrandPair<Real>* pairs;
  int bits;
  std::uint64_t* key;
  Index* pair;
  TRIBO_HD void operator()(Index e) const {
    const Index k = chosen[which[e]];
    key[e] = (static_cast<std::uint64_t>(pairs[k].first) << bits) | static_cast<std::uint64_t>(pairs[k].second);
    pair[e] = k;
  }
};
template <class Real>
struct KeepPressed {
  const Index* pair;
  const StrandPair<Real>* pairs;
  const PairImpulse<Real>* impulse;
  Real per_time;
  FieldView<Index, 2> segments;
  FieldView<Real, 3> force;
  TRIBO_HD void operator()(Index e) const {
    const StrandPair<Real>& p = pairs[pair[e]];
    const PairImpulse<Real>& sum = impulse[pair[e]];
    segments[0][e] = p.first;
    segments[1][e] = p.second;
    const Vec<Real, 3> F = per_time * (sum.normal * p.n + sum.tangential);
    for (int k = 0; k < 3; ++k) force[k][e] = F[k];
  }
};

}  // namespace

template <class Real>
Index recall_pressed(Exec& ex, const RodMesh<Real>& mesh, double dt, RodState<Real>& state, RodWorkspace<Real>& rods,
                     StrandContactWork<Real>& work) {
  const PressedPairs<Real>& pressed = state.pressed;
  if (pressed.count == 0 || work.pair_count == 0) return 0;
  work.active.resize_discard(work.pair_count);
  parallel_for(ex, pressed_label, work.pair_count,
               RecallPair<Real>{{view(pressed.segments), pressed.count},
                                view(pressed.force),
                                static_cast<Real>(dt),
                                work.pairs.data(),
                                work.impulse.data(),
                                work.active.data()});
  work.pinched_count = list_marked(ex, pressed_label, work.active, work.pair_count, work.pinched);
  if (work.pinched_count == 0) return 0;
  prepare_added_pairs(ex, mesh, rods, work.pair_count, work);
  give_impulses(ex, mesh, state, rods, work);
  return work.pinched_count;
}

template <class Real>
void keep_pressed(Exec& ex, const RodMesh<Real>& mesh, double dt, StrandContactWork<Real>& work,
                  PressedPairs<Real>& pressed) {
  pressed.count = 0;
  if (work.all_chosen || work.chosen_count == 0) return;
  work.active.resize_discard(work.chosen_count);
  parallel_for(ex, pressed_label, work.chosen_count,
               MarkPressed<Real>{work.chosen.data(), work.impulse.data(), work.active.data()});
  const Index count = list_marked(ex, pressed_label, work.active, work.chosen_count, work.pinched);
  if (count == 0) return;
  const int bits = bits_of(mesh.vertices);
  work.owner.resize_discard(count);
  work.incident.resize_discard(count);
  parallel_for(ex, pressed_label, count,
               KeyOfPressed<Real>{work.pinched.data(), work.chosen.data(), work.pairs.data(), bits, work.owner.data(),
                                  work.incident.data()});
  work.sorter.sort(ex, pressed_label, work.owner, work.incident, count, 2 * bits);
  pressed.segments.resize_discard(count);
  pressed.force.resize_discard(count);
  parallel_for(ex, pressed_label, count,
               KeepPressed<Real>{work.incident.data(), work.pairs.data(), work.impulse.data(),
                                 static_cast<Real>(1 / dt), view(pressed.segments), view(pressed.force)});
  pressed.count = count;
}

#define TRIBO_INSTANTIATE(Real)                                                                            \
  template Index recall_pressed(Exec&, const RodMesh<Real>&, double, RodState<Real>&, RodWorkspace<Real>&, \
                                StrandContactWork<Real>&);                                                 \
  template void keep_pressed(Exec&, const RodMesh<Real>&, double, StrandContactWork<Real>&, PressedPairs<Real>&);
TRIBO_FOR_EACH_ROD_REAL(TRIBO_INSTANTIATE)
#undef TRIBO_INSTANTIATE

}  // namespace tribo::TRIBO_BACKEND

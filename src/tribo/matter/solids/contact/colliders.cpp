#include <algorithm>

#include "tribo/matter/solids/contact/samples.h"

namespace tribo::TRIBO_BACKEND {
namespace {

/// Of the velocity of a point that meets a collider: the law of bodies with a partner that is kinematic and whose
/// distance is exact. `friction` is that of both.
template <class Real>
TRIBO_HD Vec<Real, 3> change_by(ContactRule<Real> own, Real friction, const Contact<Real, 3>& contact,
                                const Vec<Real, 3>& v) {
  ContactPartner<Real> partner;
  partner.velocity = contact.velocity;
  partner.share = partner.half = Real(1);
  const Vec<Real, 3> n = -contact.normal;
  const bool within = contact.distance <= own.rest_gap;
  if (within && contact.boundary == Boundary::sticky) return contact.velocity - v;
  if (within && contact.boundary == Boundary::slip)
    return (-own.excess(contact.distance, dot(v - contact.velocity, n))) * n;
  own.friction = contact.boundary == Boundary::separate ? friction : Real(0);
  Vec<Real, 3> slip = Vec<Real, 3>::zero();  // vertices take all that they ask for: nothing creeps
  return -contact_impulse(own, partner, v, n, contact.distance, slip);
}

/// A point against every collider: first samples, then the vertices of boundaries, when the samples have brought them
/// what they found. A vertex of an edge has samples on faces that do not touch, which leave a part of its speed, and
/// bodies would creep by that. One kernel for both, since colliders are much code.
template <class Real>
struct TouchColliders {
  SamplesView<Real> samples;
  typename Colliders<Real, 3>::View colliders;
  ColliderFriction<Real> friction;
  const Index* kinematic;
  const Real* restitution;
  const Real* push;
  ContactRule<Real> rule;
  FieldView<Real, 3> impulse;
  Index* touched;
  Index* told;  ///< of each point: the collider it touched first, or -1
  FieldView<Real, 3> told_impulse;  ///< on that
  // of vertices
  bool hold;  ///< vertices, not samples
  const Index* corner_start;
  const Index* vertex_body;
  const Real *mass, *inverse_mass;
  FieldView<Real, 3> v;

  TRIBO_HD void operator()(Index i) const {
    const bool free = hold ? corner_start[i] < corner_start[i + 1] && inverse_mass[i] > Real(0)
                           : kinematic[samples.sample_body[i]] == 0;
    Vec<Real, 3> before = Vec<Real, 3>::zero(), moves = before;
    bool touches = false;
    told[i] = -1;
    if (free) {
      const Index body = hold ? vertex_body[i] : samples.sample_body[i];
      ContactRule<Real> own = rule;
      own.push = push[body];
      own.restitution = hold ? Real(0) : restitution[body];  // of vertices, what rebounds has
      bool known = false;
      colliders.each_contact(place(i), rule.rest_gap + rule.dx,
                             [&](const Contact<Real, 3>& contact) {
                               if (contact.collider == nozzle) return;  // is there for particles
                               if (!known) before = moves = hold ? samples.vertex(samples.v, i) : samples.velocity(i);
                               known = true;
                               const Vec<Real, 3> dv = change_by(own, friction(body, contact), contact, moves);
                               moves += dv;
                               if (!(squared_norm(dv) > Real(0))) return;
                               touches = true;
                               tell(i, contact.collider, dv);
                             });
    }
    if (hold) {
      for (int c = 0; c < 3 && touches; ++c) v[c][i] = moves[c];
      return;
    }
    touched[i] = touches ? 1 : 0;
    for (int c = 0; c < 3; ++c) impulse[c][i] = samples.sample_mass[i] * (moves[c] - before[c]);
  }

  TRIBO_HD Vec<Real, 3> place(Index i) const { return hold ? samples.vertex(samples.x, i) : samples.position(i); }

 private:
  /// The first is left for TellTouch, which puts together what many points give to one collider.
  TRIBO_HD void tell(Index i, Index collider, const Vec<Real, 3>& dv) const {
    if (colliders.tally.entry == nullptr) return;
    const Vec<Real, 3> on_it = -(hold ? mass[i] : samples.sample_mass[i]) * dv;
    if (told[i] < 0) {
      told[i] = collider;
      for (int c = 0; c < 3; ++c) told_impulse[c][i] = on_it[c];
    } else {
      TallyRun run(colliders.tally);
      run.add(collider, in_space(place(i)), in_space(on_it));
      run.end();
    }
  }
};

template <class Real>
struct TellTouch {
  TouchColliders<Real> touch;
  TRIBO_HD void operator()(Index i, TallyRun& run) const {
    if (touch.told[i] < 0) return;
    Vec<double, 3> on_it;
    for (int c = 0; c < 3; ++c) on_it[c] = static_cast<double>(touch.told_impulse[c][i]);
    run.add(touch.told[i], in_space(touch.place(i)), on_it);
  }
};

}  // namespace

template <class Real>
Index touch_colliders(Exec& ex, const SolidMesh<Real>& mesh, const typename Colliders<Real, 3>::View& colliders,
                      ContactRule<Real> rule, SolidState<Real>& state, ContactWorkspace<Real>& work) {
  if (colliders.empty()) return 0;
  rule.rest_gap = Real(0);  // distances are exact
  Array<Index>& touched = work.touched;
  touched.resize_discard(mesh.samples);
  work.impulse.resize_discard(mesh.samples);
  const Index points = std::max(mesh.samples, mesh.vertices);
  work.told.resize_discard(points);
  work.told_impulse.resize_discard(points);
  TouchColliders<Real> touch{samples_of(mesh, state, work),
                             colliders,
                             collider_friction(mesh.collider_friction, mesh.bodies),
                             mesh.kinematic.data(),
                             mesh.restitution.data(),
                             work.push.data(),
                             rule,
                             view(work.impulse),
                             touched.data(),
                             work.told.data(),
                             view(work.told_impulse),
                             false,
                             mesh.sample_corner_start.data(),
                             mesh.vertex_body.data(),
                             mesh.mass.data(),
                             mesh.inverse_mass.data(),
                             view(state.v)};
  parallel_for(ex, "contact", mesh.samples, touch);
  const Index count = count_touched(ex, touched, mesh.samples);
  if (count == 0) return 0;
  tell_each(ex, "contact", colliders.tally, mesh.samples, TellTouch<Real>{touch});
  push_vertices(ex, mesh, nullptr, work.impulse, state);
  touch.hold = true;
  parallel_for(ex, "contact", mesh.vertices, touch);
  tell_each(ex, "contact", colliders.tally, mesh.vertices, TellTouch<Real>{touch});
  return count;
}

#define TRIBO_INSTANTIATE(Real)                                                                                     \
  template Index touch_colliders(Exec&, const SolidMesh<Real>&, const Colliders<Real, 3>::View&, ContactRule<Real>, \
                                 SolidState<Real>&, ContactWorkspace<Real>&);
TRIBO_INSTANTIATE(float)
TRIBO_INSTANTIATE(double)
#undef TRIBO_INSTANTIATE

}  // namespace tribo::TRIBO_BACKEND

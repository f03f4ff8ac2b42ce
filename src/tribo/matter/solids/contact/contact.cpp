#include "tribo/matter/solids/contact/contact.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "tribo/matter/solids/contact/samples.h"

namespace tribo::TRIBO_BACKEND {
namespace {

/// One pass of the balanced form over fields that are made. Returns the samples in contact.
template <class Real>
Index touch_fields(Exec& ex, const SolidMesh<Real>& mesh, const ContactRule<Real>& rule, bool self,
                   ContactFields<Real>& f, SolidState<Real>& state, ContactWorkspace<Real>& work) {
  const Index touched = meet_fields(ex, mesh, rule, self, f, state, work);
  if (touched == 0) return 0;
  take_impulses(ex, f);
  if (self)
    push_without_spin(ex, mesh, state, work);
  else
    push_vertices(ex, mesh, &f.pushed, f.impulse, state);
  return touched;
}

/// Mean length of the edges of a body's boundary.
double boundary_edge(const SolidSeed& seed, const SolidBody& body) {
  double sum = 0;
  for (std::int32_t t = body.triangles.begin; t < body.triangles.end; ++t)
    for (int k = 0; k < 3; ++k) {
      const Vec<std::int32_t, 3>& v = seed.triangles[static_cast<std::size_t>(t)];
      sum += std::sqrt(squared_norm(seed.rest[static_cast<std::size_t>(v[k])] -
                                    seed.rest[static_cast<std::size_t>(v[(k + 1) % 3])]));
    }
  return sum / std::max(1, 3 * (body.triangles.end - body.triangles.begin));
}

/// beta, unless the scene gives it: 0.03 where elements are as large as cells, 0.1 from twice that on
/// (experiments_solids default 5).
double push_of(const SolidSeed& seed, const SolidBody& body, const ContactConstants& constants) {
  if (constants.spec.push > 0) return constants.spec.push;
  const double ratio = boundary_edge(seed, body) / constants.dx;
  return std::clamp(0.03 + 0.07 * (ratio - 1), 0.03, 0.1);
}

}  // namespace

template <class Real>
void load_contact(Exec& ex, const SolidSeed& seed, const ContactConstants& constants, ContactWorkspace<Real>& work) {
  std::vector<Real> push, thickness;
  work.any_self = false;
  for (const SolidBody& body : seed.bodies) {
    push.push_back(static_cast<Real>(push_of(seed, body, constants)));
    work.any_self = work.any_self || (body.self_contact && !body.kinematic);
  }
  for (const ContactSample& sample : seed.samples) thickness.push_back(static_cast<Real>(sample.thickness));
  copy_to_device(ex, push.data(), work.push, static_cast<Index>(push.size()));
  copy_to_device(ex, thickness.data(), work.thickness, static_cast<Index>(thickness.size()));
  load_spin(ex, seed, true, work.spin);
  load_spin(ex, seed, false, work.coupling_spin);
}

template <class Real>
ContactCounts contact_impulses(Exec& ex, const SolidMesh<Real>& mesh, const ContactConstants& constants,
                               const typename Colliders<Real, 3>::View& colliders, double dt, SolidState<Real>& state,
                               ContactWorkspace<Real>& work) {
  ContactRule<Real> rule{};
  rule.dx = Real(constants.dx);
  rule.dt = Real(dt);
  // A step is the time for the push, unless it is much shorter than what gravity moves by a cell in: stiff bodies take
  // short steps, and what overlaps would be thrown. Bodies that are pressed are pushed as fast as they are pressed.
  rule.push_time = Real(std::max(dt, std::sqrt(constants.dx / std::max(constants.gravity, 1.0)) / 80));
  rule.rest_gap = Real(constants.spec.rest_offset * constants.dx);
  rule.bounce_speed = Real(10 * constants.gravity * dt);
  rule.presses = true;
  ContactCounts counts;
  if (constants.spec.form == ContactSpec::Form::paper) {
    counts.bodies = touch_as_printed(ex, mesh, work.bodies);
    push_vertices(ex, mesh, &work.bodies.pushed, work.bodies.impulse, state);
  } else {
    counts.bodies = touch_fields(ex, mesh, rule, false, work.bodies, state, work);
    if (work.any_self) {
      make_fields(ex, mesh, constants, state, work, nullptr, work.self);
      counts.self = touch_fields(ex, mesh, rule, true, work.self, state, work);
    }
  }
  counts.colliders = touch_colliders(ex, mesh, colliders, rule, state, work);
  return counts;
}

template <class Real>
ContactCounts contact_step(Exec& ex, const SolidMesh<Real>& mesh, const ContactConstants& constants,
                           const typename Colliders<Real, 3>::View& colliders, double dt, SolidState<Real>& state,
                           ContactWorkspace<Real>& work) {
  if (mesh.samples == 0) return {};
  list_contacts(ex, mesh, constants, dt, state, work);
  make_body_fields(ex, mesh, constants, nullptr, state, work);
  return contact_impulses(ex, mesh, constants, colliders, dt, state, work);
}

#define TRIBO_INSTANTIATE(Real)                                                                          \
  template void load_contact(Exec&, const SolidSeed&, const ContactConstants&, ContactWorkspace<Real>&); \
  template ContactCounts contact_impulses(Exec&, const SolidMesh<Real>&, const ContactConstants&,        \
                                          const Colliders<Real, 3>::View&, double, SolidState<Real>&,    \
                                          ContactWorkspace<Real>&);                                      \
  template ContactCounts contact_step(Exec&, const SolidMesh<Real>&, const ContactConstants&,            \
                                      const Colliders<Real, 3>::View&, double, SolidState<Real>&,        \
                                      ContactWorkspace<Real>&);
TRIBO_INSTANTIATE(float)
TRIBO_INSTANTIATE(double)
#undef TRIBO_INSTANTIATE

}  // namespace tribo::TRIBO_BACKEND

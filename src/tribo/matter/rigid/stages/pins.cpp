#include "tribo/matter/rigid/stages/pins.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tribo/matter/solids/stages/tets.h"

namespace tribo::TRIBO_BACKEND {
namespace {

constexpr const char* pins_label = "pins on rigid bodies";
constexpr Index run_grain = 8;

/// Of the object that a drive of solids goes with: its first body, or -1.
std::int32_t body_of_drive(const SolidSeed& solids, const RigidSeed& seed, std::size_t drive) {
  if (drive >= solids.drive_object.size() || solids.drive_object[drive] < 0) return -1;
  for (std::size_t b = 0; b < seed.bodies.size(); ++b)
    if (seed.bodies[b].object == solids.drive_object[drive]) return static_cast<std::int32_t>(b);
  return -1;
}

/// Body that moves by itself and that a vertex is pinned to, or -1.
class PinnedTo {
 public:
  PinnedTo(const SolidSeed& solids, const RigidSeed& seed) : solids_(solids) {
    for (std::size_t d = 0; d < solids.drives.size(); ++d) {
      const std::int32_t body = body_of_drive(solids, seed, d);
      const bool moves = body >= 0 && seed.bodies[static_cast<std::size_t>(body)].drive < 0;
      body_.push_back(moves ? body : -1);
    }
  }
  std::int32_t operator()(std::size_t vertex) const {
    return solids_.drive[vertex] < 0 ? -1 : body_[static_cast<std::size_t>(solids_.drive[vertex])];
  }

 private:
  const SolidSeed& solids_;
  std::vector<std::int32_t> body_;  ///< of each drive
};

/// Of a mass at r about the origin.
Sym<double, 3> inertia_at(double mass, const Vec3d& r) {
  Sym<double, 3> a;
  for (int i = 0; i < 3; ++i)
    for (int j = i; j < 3; ++j) a(i, j) = mass * ((i == j ? squared_norm(r) : 0) - r[i] * r[j]);
  return a;
}
void add(const Sym<double, 3>& more, Sym<double, 3>& to) {
  for (int k = 0; k < 6; ++k) to.s[k] += more.s[k];
}

/// A form of the body's own, with its center elsewhere by `by`, in its frame.
void move_center(const Vec3d& by, std::size_t b, RigidSeed& seed) {
  RigidBody& body = seed.bodies[b];
  RigidForm form = seed.forms[static_cast<std::size_t>(body.form)];
  const auto copy = [&]<class Item>(Run& run, std::vector<Item>& items, const auto& move) {
    const auto first = static_cast<std::int32_t>(items.size());
    for (std::int32_t i = run.begin; i < run.end; ++i) {
      Item item = items[static_cast<std::size_t>(i)];
      move(item);
      items.push_back(item);
    }
    run = {first, static_cast<std::int32_t>(items.size())};
  };
  const std::int32_t old_first = form.vertices.begin;
  copy(form.samples, seed.samples, [&](RigidSample& sample) { sample.x = sample.x - by; });
  copy(form.vertices, seed.vertices, [&](Vec3d& x) { x = x - by; });
  copy(form.triangles, seed.triangles, [&](Vec<std::int32_t, 3>& corners) {
    for (int k = 0; k < 3; ++k) corners[k] += form.vertices.begin - old_first;
  });
  form.center = form.center + by;
  form.radius += std::sqrt(squared_norm(by));
  body.form = static_cast<std::int32_t>(seed.forms.size());
  seed.forms.push_back(form);
  for (RigidJoint& joint : seed.joints) {
    if (joint.a == static_cast<std::int32_t>(b)) joint.at_a = joint.at_a - by;
    if (joint.b == static_cast<std::int32_t>(b)) joint.at_b = joint.at_b - by;
  }
}

template <class Real>
struct SumPulls {
  CornerSum<Real> force;
  const Index* vertex;
  const PinRun* run;
  FieldView<const Real, 3> x;
  const PlacedBody* body;
  double dt;
  Wrench* sum;
  TRIBO_HD void operator()(Index r) const {
    Wrench all{Vec3d::zero(), Vec3d::zero()};
    for (Index i = run[r].begin; i < run[r].end; ++i) {
      const NodePack<Real> f = force(vertex[i]);
      const Vec3d impulse = dt * Vec3d{{static_cast<double>(f[0]), static_cast<double>(f[1]),
                                        static_cast<double>(f[2])}};
      all.impulse += impulse;
      all.moment += cross(cast<double>(vector_at(x, vertex[i])) - body[run[r].body].x, impulse);
    }
    sum[r] = all;
  }
};
template <class Real>
struct SumChanges {
  const Index* vertex;
  const PinRun* run;
  FieldView<const Real, 3> x, v, given;
  const Real* mass;
  const PlacedBody* body;
  Wrench* sum;
  TRIBO_HD void operator()(Index r) const {
    Wrench all{Vec3d::zero(), Vec3d::zero()};
    for (Index i = run[r].begin; i < run[r].end; ++i) {
      const Index p = vertex[i];
      const Vec3d impulse = static_cast<double>(mass[p]) *
                            (cast<double>(vector_at(v, p)) - cast<double>(vector_at(given, i)));
      all.impulse += impulse;
      all.moment += cross(cast<double>(vector_at(x, p)) - body[run[r].body].x, impulse);
    }
    sum[r] = all;
  }
};
/// Free flight ends where something is tied to a body.
struct PushPinned {
  const PinnedBody* pinned;
  const Wrench* sum;
  PlacedBody* body;
  Index* touched;
  TRIBO_HD void operator()(Index k) const {
    const PinnedBody& one = pinned[k];
    Wrench all{Vec3d::zero(), Vec3d::zero()};
    for (Index r = one.begin; r < one.end; ++r) {
      all.impulse += sum[r].impulse;
      all.moment += sum[r].moment;
    }
    PlacedBody& to = body[one.body];
    to.v += to.inverse_mass * all.impulse;
    to.w += to.inverse_inertia * all.moment;
    touched[one.body] = 1;
  }
};
template <class Real>
struct FollowBody {
  const Index *vertex, *body_of;
  const PlacedBody* body;
  FieldView<const Real, 3> x;
  FieldView<Real, 3> v, given;
  TRIBO_HD void operator()(Index i) const {
    const Index p = vertex[i];
    const Vec<Real, 3> own = cast<Real>(body[body_of[i]].velocity_at(cast<double>(vector_at(x, p))));
    for (int k = 0; k < 3; ++k) v[k][p] = given[k][i] = own[k];
  }
};

template <class Real>
struct CarryPinned {
  const Index *vertex, *body_of;
  FieldView<const double, 3> anchor, body_x, body_v, L;
  FieldView<const double, 4> q;
  FieldView<const double, 6> inverse_inertia;
  FieldView<Real, 3> x, v;
  TRIBO_HD void operator()(Index i) const {
    const Index b = body_of[i];
    const Mat<double, 3> r = rotation_of(Quaternion<double>{{q[0][b], q[1][b], q[2][b], q[3][b]}});
    Sym<double, 3> inverse;
    for (int k = 0; k < 6; ++k) inverse.s[k] = inverse_inertia[k][b];
    const Vec3d arm = r * vector_at(anchor, i), w = carried(r, inverse) * vector_at(L, b);
    const Vec3d at = vector_at(body_x, b) + arm, velocity = vector_at(body_v, b) + cross(w, arm);
    for (int k = 0; k < 3; ++k) {
      x[k][vertex[i]] = static_cast<Real>(at[k]);
      v[k][vertex[i]] = static_cast<Real>(velocity[k]);
    }
  }
};
template <class Real>
struct LetYield {
  const Index* vertex;
  const Real* mass;
  Real* inverse_mass;
  TRIBO_HD void operator()(Index i) const { inverse_mass[vertex[i]] = Real(1) / mass[vertex[i]]; }
};

template <class Real>
void push_and_follow(Exec& ex, RigidPins<Real>& pins, RigidWork& work, SolidState<Real>& state) {
  parallel_for(ex, pins_label, pins.bodies,
               PushPinned{pins.pinned.data(), pins.sum.data(), work.body.data(), work.touched.data()}, run_grain);
  parallel_for(ex, pins_label, pins.count,
               FollowBody<Real>{pins.vertex.data(), pins.body.data(), work.body.data(),
                                view(std::as_const(state.x)), view(state.v), view(pins.given)});
}

}  // namespace

std::vector<RigidPart> join_pinned(const SolidSeed& solids, RigidSeed& seed) {
  std::vector<RigidPart> parts;
  for (const RigidBody& body : seed.bodies) parts.push_back({body.mass, Vec3d::zero(), body.inertia});
  const PinnedTo pinned_to(solids, seed);
  std::vector<std::vector<std::size_t>> vertices(seed.bodies.size());
  for (std::size_t i = 0; i < solids.drive.size(); ++i)
    if (const std::int32_t b = pinned_to(i); b >= 0) vertices[static_cast<std::size_t>(b)].push_back(i);
  for (std::size_t b = 0; b < vertices.size(); ++b) {
    if (vertices[b].empty()) continue;
    RigidBody& body = seed.bodies[b];
    const auto place = [&](std::size_t i) { return transpose(body.rotation) * (solids.rest[i] - body.x); };
    double mass = body.mass;
    Vec3d center = Vec3d::zero();  // from that of the body alone, in its frame
    for (const std::size_t i : vertices[b]) {
      mass += solids.mass[i];
      center += solids.mass[i] * place(i);
    }
    center = center * (1 / mass);
    Sym<double, 3> inertia = body.inertia;
    add(inertia_at(body.mass, center), inertia);
    for (const std::size_t i : vertices[b]) add(inertia_at(solids.mass[i], place(i) - center), inertia);
    parts[b].at = -center;
    move_center(center, b, seed);
    const Vec3d arm = body.rotation * center;
    body.x += arm;
    body.v += cross(body.w, arm);
    body.mass = mass;
    body.inertia = inertia;
  }
  return parts;
}

std::vector<std::pair<Index, Index>> pinned_pairs(const SolidSeed& solids, const RigidSeed& seed) {
  std::vector<std::pair<Index, Index>> pairs;
  for (std::size_t s = 0; s < solids.bodies.size(); ++s)
    for (auto i = static_cast<std::size_t>(solids.bodies[s].vertices.begin);
         i < static_cast<std::size_t>(solids.bodies[s].vertices.end); ++i) {
      if (solids.drive[i] < 0) continue;
      const std::int32_t b = body_of_drive(solids, seed, static_cast<std::size_t>(solids.drive[i]));
      if (b >= 0) pairs.emplace_back(static_cast<Index>(s), b);
    }
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  return pairs;
}

template <class Real>
void load_pins(Exec& ex, const SolidSeed& solids, const RigidSeed& seed, SolidMesh<Real>& mesh,
               RigidPins<Real>& pins) {
  const PinnedTo pinned_to(solids, seed);
  std::vector<std::pair<Index, Index>> all;  // body, vertex
  for (std::size_t i = 0; i < solids.drive.size(); ++i)
    if (const std::int32_t b = pinned_to(i); b >= 0) all.emplace_back(b, static_cast<Index>(i));
  std::sort(all.begin(), all.end());
  pins.count = static_cast<Index>(all.size());
  if (pins.empty()) return;
  std::vector<Index> vertex, body;
  std::vector<double> anchor[3];
  std::vector<PinRun> runs;
  std::vector<PinnedBody> bodies;
  for (const auto& [b, i] : all) {
    const auto at = static_cast<Index>(vertex.size());
    if (bodies.empty() || bodies.back().body != b) {
      const auto run = static_cast<Index>(runs.size());
      bodies.push_back({b, run, run});
    }
    if (bodies.back().begin == bodies.back().end || runs.back().end - runs.back().begin == PinRun::length) {
      runs.push_back({b, at, at});
      ++bodies.back().end;
    }
    ++runs.back().end;
    vertex.push_back(i);
    body.push_back(b);
    const RigidBody& own = seed.bodies[static_cast<std::size_t>(b)];
    const Vec3d local = transpose(own.rotation) * (solids.rest[static_cast<std::size_t>(i)] - own.x);
    for (int k = 0; k < 3; ++k) anchor[k].push_back(local[k]);
  }
  pins.runs = static_cast<Index>(runs.size());
  pins.bodies = static_cast<Index>(bodies.size());
  copy_to_device(ex, vertex.data(), pins.vertex, pins.count);
  copy_to_device(ex, body.data(), pins.body, pins.count);
  for (int k = 0; k < 3; ++k) copy_to_device(ex, anchor[k].data(), pins.anchor.c[k], pins.count);
  copy_to_device(ex, runs.data(), pins.run, pins.runs);
  copy_to_device(ex, bodies.data(), pins.pinned, pins.bodies);
  pins.sum.resize_discard(pins.runs);
  pins.given.resize_discard(pins.count);
  parallel_for(ex, pins_label, pins.count,
               LetYield<Real>{pins.vertex.data(), mesh.mass.data(), mesh.inverse_mass.data()});
}

template <class Real>
void pull_by_pins(Exec& ex, const SolidMesh<Real>& mesh, const ElasticWorkspace<Real>& elastic, double dt,
                  RigidPins<Real>& pins, RigidWork& work, SolidState<Real>& state) {
  if (pins.empty()) return;
  parallel_for(ex, pins_label, pins.runs,
               SumPulls<Real>{CornerSum<Real>(mesh, elastic), pins.vertex.data(), pins.run.data(),
                              view(std::as_const(state.x)), work.body.data(), dt, pins.sum.data()},
               run_grain);
  push_and_follow(ex, pins, work, state);
}

template <class Real>
void pass_on_by_pins(Exec& ex, const SolidMesh<Real>& mesh, RigidPins<Real>& pins, RigidWork& work,
                     SolidState<Real>& state) {
  if (pins.empty()) return;
  parallel_for(ex, pins_label, pins.runs,
               SumChanges<Real>{pins.vertex.data(), pins.run.data(), view(std::as_const(state.x)),
                                view(std::as_const(state.v)), view(std::as_const(pins.given)), mesh.mass.data(),
                                work.body.data(), pins.sum.data()},
               run_grain);
  push_and_follow(ex, pins, work, state);
}

template <class Real>
void carry_pinned(Exec& ex, const RigidMesh& mesh, const RigidState& bodies, const RigidPins<Real>& pins,
                  SolidState<Real>& state) {
  parallel_for(ex, pins_label, pins.count,
               CarryPinned<Real>{pins.vertex.data(), pins.body.data(), view(pins.anchor), view(bodies.x),
                                 view(bodies.v), view(bodies.L), view(bodies.q), view(mesh.inverse_inertia),
                                 view(state.x), view(state.v)});
}

#define TRIBO_INSTANTIATE(Real)                                                                                      \
  template void load_pins(Exec&, const SolidSeed&, const RigidSeed&, SolidMesh<Real>&, RigidPins<Real>&);            \
  template void pull_by_pins(Exec&, const SolidMesh<Real>&, const ElasticWorkspace<Real>&, double, RigidPins<Real>&, \
                             RigidWork&, SolidState<Real>&);                                                         \
  template void pass_on_by_pins(Exec&, const SolidMesh<Real>&, RigidPins<Real>&, RigidWork&, SolidState<Real>&);     \
  template void carry_pinned(Exec&, const RigidMesh&, const RigidState&, const RigidPins<Real>&, SolidState<Real>&);
TRIBO_FOR_EACH_REAL(TRIBO_INSTANTIATE)
#undef TRIBO_INSTANTIATE

}  // namespace tribo::TRIBO_BACKEND

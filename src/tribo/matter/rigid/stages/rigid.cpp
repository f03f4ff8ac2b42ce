#include "tribo/matter/rigid/stages/rigid.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tribo::TRIBO_BACKEND {
namespace {

constexpr const char* label = "rigid bodies";
/// Bodies are few, and each is some hundred operations.
constexpr Index body_grain = 64;

TRIBO_HD Quaternion<double> quaternion_at(const FieldView<const double, 4>& q, Index i) {
  return {{q[0][i], q[1][i], q[2][i], q[3][i]}};
}
TRIBO_HD Sym<double, 3> tensor_at(const FieldView<const double, 6>& a, Index i) {
  Sym<double, 3> r;
  for (int k = 0; k < 6; ++k) r.s[k] = a[k][i];
  return r;
}
template <int N, class Value>
TRIBO_HD void put(const FieldView<double, N>& field, Index i, const Value& value) {
  for (int k = 0; k < N; ++k) field[k][i] = value[k];
}

struct PutDriven {
  const DrivenBody* driven;
  FieldView<const double, 6> inertia;
  FieldView<double, 3> x, v, L;
  FieldView<double, 4> q;
  TRIBO_HD void operator()(Index i) const {
    const DrivenBody& one = driven[i];
    put(x, one.body, one.x);
    put(v, one.body, one.v);
    put(L, one.body, carried(rotation_of(one.q), tensor_at(inertia, one.body)) * one.w);
    put(q, one.body, one.q);
  }
};

struct PlaceBody {
  FieldView<const double, 3> x, v, L;
  FieldView<const double, 4> q;
  const double* inverse_mass;
  FieldView<const double, 6> inverse_inertia;
  const Index *form, *group;
  Vec3d falls;  ///< change of velocity by gravity
  PlacedBody* body;
  Shift* shift;
  Vec3d* owed;
  Index* touched;
  TRIBO_HD void operator()(Index i) const {
    PlacedBody one;
    one.x = vector_at(x, i);
    one.rotation = rotation_of(quaternion_at(q, i));
    one.inverse_mass = inverse_mass[i];
    one.form = form[i];
    one.group = group[i];
    one.v = vector_at(v, i);
    if (one.inverse_mass > 0) {
      one.inverse_inertia = carried(one.rotation, tensor_at(inverse_inertia, i));
      one.v += falls;
      one.w = one.inverse_inertia * vector_at(L, i);
    } else {
      one.inverse_inertia = Sym<double, 3>::isotropic(0);
      one.w = Vec3d::zero();
    }
    body[i] = one;
    shift[i] = {Vec3d::zero(), Vec3d::zero()};
    owed[i] = Vec3d::zero();
    touched[i] = 0;
  }
};
struct TurnDriven {
  const DrivenBody* driven;
  PlacedBody* body;
  TRIBO_HD void operator()(Index i) const { body[driven[i].body].w = driven[i].w; }
};

struct NoteVelocity {
  const PlacedBody* body;
  Shift* noted;
  TRIBO_HD void operator()(Index i) const { noted[i] = {body[i].v, body[i].w}; }
};
struct ChangeOfVelocity {
  const PlacedBody* body;
  const double* radius;
  const Shift* noted;
  TRIBO_HD double operator()(Index i) const {
    return sqrt(squared_norm(body[i].v - noted[i].v)) +
           radius[body[i].form] * sqrt(squared_norm(body[i].w - noted[i].w));
  }
};
struct KeepVelocity {
  const PlacedBody* body;
  FieldView<const double, 6> inertia;
  FieldView<double, 3> v, L;
  TRIBO_HD void operator()(Index i) const {
    const PlacedBody& one = body[i];
    if (!(one.inverse_mass > 0)) return;
    put(v, i, one.v);
    const Vec3d before = vector_at(L, i);
    put(L, i, before + carried(one.rotation, tensor_at(inertia, i)) * (one.w - one.inverse_inertia * before));
  }
};

/// What has no inertia does not turn.
struct MoveBody {
  const PlacedBody* body;
  const Shift* shift;
  const Vec3d* owed;
  const Index* touched;
  RigidTurns turns;
  Vec3d gravity;
  double dt;
  FieldView<double, 3> x, v, L;
  FieldView<double, 4> q;
  TRIBO_HD void operator()(Index i) const {
    const PlacedBody& one = body[i];
    const Quaternion<double> from = {{q[0][i], q[1][i], q[2][i], q[3][i]}};
    if (!(one.inverse_mass > 0)) {  // by keyframes; they are looked at anew where the next step begins
      put(x, i, one.x + dt * one.v);
      put(q, i, turned_by(from, dt * one.w));
      return;
    }
    // In free flight along its parabola, so that falls and bounces have the right height for any dt; a contact knows the
    // velocity at the end of the step alone.
    Vec3d way = dt * (one.v + shift[i].v + owed[i]);
    if (touched[i] == 0) way += (-0.5 * dt * dt) * gravity;
    put(x, i, one.x + way);
    put(v, i, one.v);
    const Vec3d momentum = turns.momentum(one, i, one.w), middle = turns.middle(one, i, one.w, dt);
    put(L, i, momentum);
    put(q, i, turned_by(turns.begin(i), dt * (middle + shift[i].w)));
  }
};

struct SpeedOf {
  FieldView<const double, 3> v, L;
  FieldView<const double, 4> q;
  FieldView<const double, 6> inverse_inertia;
  const double *inverse_mass, *radius, *thickness;
  const Index* form;

  TRIBO_HD double spin(Index i) const {
    if (!(inverse_mass[i] > 0)) return 0;
    const Mat<double, 3> r = rotation_of(quaternion_at(q, i));
    return sqrt(squared_norm(carried(r, tensor_at(inverse_inertia, i)) * vector_at(L, i)));
  }
  TRIBO_HD RigidSpeeds operator()(Index i) const {
    RigidSpeeds s;
    s.spin = spin(i);
    s.speed = sqrt(squared_norm(vector_at(v, i))) + s.spin * radius[form[i]];
    s.thin = thickness[form[i]] > 0 ? s.speed / thickness[form[i]] : 0;
    return s;
  }
};
struct FasterOf {
  TRIBO_HD RigidSpeeds operator()(const RigidSpeeds& a, const RigidSpeeds& b) const {
    return {max(a.speed, b.speed), max(a.spin, b.spin), max(a.thin, b.thin)};
  }
};

struct BadBody {  ///< counted from the end, so that the largest is the first
  FieldView<const double, 3> x, v, L;
  FieldView<const double, 4> q;
  TRIBO_HD Index operator()(Index i) const {
    double sum = 0;
    for (int k = 0; k < 3; ++k) sum += x[k][i] + v[k][i] + L[k][i];
    for (int k = 0; k < 4; ++k) sum += q[k][i];
    return sum - sum == 0 ? 0 : no_index - i;
  }
};

template <class T, class Make>
void send(Exec& ex, Index n, Array<T>& to, const Make& make) {
  std::vector<T> column;
  for (Index i = 0; i < n; ++i) column.push_back(static_cast<T>(make(static_cast<std::size_t>(i))));
  copy_to_device(ex, column.data(), to, n);
}
template <class T, int N, class Make>
void send(Exec& ex, Index n, Field<T, N>& to, const Make& make) {
  for (int k = 0; k < N; ++k) send(ex, n, to.c[k], [&](std::size_t i) { return make(i)[k]; });
}

struct SymNumbers {
  Sym<double, 3> a;
  double operator[](int k) const { return a.s[k]; }
};

Sym<double, 3> inverse_of(const Sym<double, 3>& a) {
  Mat<double, 3> m = full(a);
  const double det = determinant(m);
  Sym<double, 3> r;
  for (int i = 0; i < 3; ++i)
    for (int j = i; j < 3; ++j) {
      const int i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
      r(i, j) = (m(i1, j1) * m(i2, j2) - m(i1, j2) * m(i2, j1)) / det;
    }
  return r;
}

}  // namespace

void load_bodies(Exec& ex, const RigidSeed& seed, RigidMesh& mesh, RigidState& state) {
  const auto count = static_cast<Index>(seed.bodies.size()), forms = static_cast<Index>(seed.forms.size()),
             samples = static_cast<Index>(seed.samples.size());
  mesh.count = state.count = count;
  mesh.body = seed.bodies;
  mesh.form = seed.forms;
  mesh.drives = seed.drives;
  mesh.groups = seed.groups;
  if (count == 0) return;
  mesh.shapes.load(ex, seed);
  const auto fixed = [&](std::size_t i) { return seed.bodies[i].drive >= 0; };
  for (Index i = 0; i < count; ++i)
    if (fixed(static_cast<std::size_t>(i))) mesh.driven.push_back(i);
  send(ex, count, mesh.inverse_mass, [&](std::size_t i) { return fixed(i) ? 0.0 : 1 / seed.bodies[i].mass; });
  send(ex, count, mesh.mass, [&](std::size_t i) { return seed.bodies[i].mass; });
  send(ex, count, mesh.inertia, [&](std::size_t i) { return SymNumbers{seed.bodies[i].inertia}; });
  send(ex, count, mesh.inverse_inertia, [&](std::size_t i) {
    return SymNumbers{fixed(i) ? Sym<double, 3>::isotropic(0) : inverse_of(seed.bodies[i].inertia)};
  });
  send(ex, count, mesh.form_of, [&](std::size_t i) { return seed.bodies[i].form; });
  send(ex, count, mesh.group, [&](std::size_t i) { return seed.bodies[i].group; });

  const auto bounds = [&](std::size_t f) {
    const RigidForm& form = seed.forms[f];
    Bounds around = std::visit([](const auto& s) { return s.bounds(); }, form.shape);
    around.low = around.low - form.center;
    around.high = around.high - form.center;
    return around;
  };
  send(ex, forms, mesh.low, [&](std::size_t f) { return bounds(f).low; });
  send(ex, forms, mesh.high, [&](std::size_t f) { return bounds(f).high; });
  send(ex, forms, mesh.thickness, [&](std::size_t f) { return seed.forms[f].thickness; });
  mesh.bounces = std::any_of(seed.forms.begin(), seed.forms.end(),
                             [](const RigidForm& form) { return form.restitution > 0; });
  send(ex, forms, mesh.restitution, [&](std::size_t f) { return seed.forms[f].restitution; });
  send(ex, forms, mesh.radius, [&](std::size_t f) { return seed.forms[f].radius; });
  send(ex, forms, mesh.round, [&](std::size_t f) { return seed.forms[f].round ? 1 : 0; });
  send(ex, forms, mesh.sample_begin, [&](std::size_t f) { return seed.forms[f].samples.begin; });
  send(ex, forms, mesh.sample_end, [&](std::size_t f) { return seed.forms[f].samples.end; });
  send(ex, samples, mesh.sample_x, [&](std::size_t s) { return seed.samples[s].x; });
  send(ex, samples, mesh.sample_n, [&](std::size_t s) { return seed.samples[s].n; });
  send(ex, samples, mesh.sample_radius, [&](std::size_t s) { return seed.samples[s].radius; });
  send(ex, samples, mesh.sample_ring, [&](std::size_t s) { return seed.samples[s].ring; });
  send(ex, samples, mesh.sample_facing, [&](std::size_t s) { return seed.samples[s].facing; });
  // Flat faces that touch have corners or edges there, and all else has feelers of its own.
  constexpr double nothing = -1e300;
  send(ex, samples, mesh.sample_extent, [&](std::size_t s) {
    const RigidSample& one = seed.samples[s];
    return one.feeler == Feeler::face ? nothing : one.radius + one.ring;
  });
  send(ex, samples, mesh.sample_ball, [&](std::size_t s) {
    const RigidSample& one = seed.samples[s];
    return one.feeler == Feeler::ball ? one.radius : nothing;
  });
  send(ex, samples, mesh.sample_feeler, [&](std::size_t s) { return static_cast<Index>(seed.samples[s].feeler); });
  const auto table = [&](const std::vector<double>& from, Array<double>& to) {
    copy_to_device(ex, from.data(), to, static_cast<Index>(from.size()));
  };
  table(seed.friction, mesh.friction);
  table(seed.collider_friction, mesh.collider_friction);
  table(seed.particle_friction, mesh.particle_friction);
  table(seed.strand_friction, mesh.strand_friction);
  table(seed.solid_friction, mesh.solid_friction);
  mesh.colliders = seed.groups > 0 ? static_cast<Index>(seed.collider_friction.size()) / seed.groups : 0;
  mesh.solids = seed.groups > 0 ? static_cast<Index>(seed.solid_friction.size()) / seed.groups : 0;

  send(ex, count, state.x, [&](std::size_t i) { return seed.bodies[i].x; });
  send(ex, count, state.v, [&](std::size_t i) { return seed.bodies[i].v; });
  send(ex, count, state.q, [&](std::size_t i) { return quaternion_of(seed.bodies[i].rotation); });
  send(ex, count, state.L, [&](std::size_t i) {
    const RigidBody& body = seed.bodies[i];
    return carried(body.rotation, body.inertia) * body.w;
  });
}

void place_driven(Exec& ex, const RigidMesh& mesh, double time, double dt, RigidState& state, RigidWork& work) {
  work.driven_host.clear();
  for (const Index i : mesh.driven) {
    const RigidBody& body = mesh.body[static_cast<std::size_t>(i)];
    const Vec3d& center = mesh.form[static_cast<std::size_t>(body.form)].center;
    const RigidMotion motion = mesh.drives[static_cast<std::size_t>(body.drive)].over(time, dt);
    const Vec3d arm = motion.pose.rotation * center;
    work.driven_host.push_back({i, motion.pose.at + arm, motion.velocity + cross(motion.angular_velocity, arm),
                                motion.angular_velocity, quaternion_of(motion.pose.rotation)});
  }
  const auto driven = static_cast<Index>(work.driven_host.size());
  copy_to_device(ex, work.driven_host.data(), work.driven, driven);
  parallel_for(ex, label, driven,
               PutDriven{work.driven.data(), view(mesh.inertia), view(state.x), view(state.v), view(state.L),
                         view(state.q)});
}

void place_bodies(Exec& ex, const RigidMesh& mesh, const Vec3d& gravity, double time, double dt, RigidState& state,
                  RigidWork& work) {
  work.body.resize_discard(mesh.count);
  work.shift.resize_discard(mesh.count);
  work.owed.resize_discard(mesh.count);
  work.touched.resize_discard(mesh.count);
  place_driven(ex, mesh, time, dt, state, work);
  parallel_for(ex, label, mesh.count,
               PlaceBody{view(std::as_const(state.x)), view(std::as_const(state.v)), view(std::as_const(state.L)),
                         view(std::as_const(state.q)), mesh.inverse_mass.data(), view(mesh.inverse_inertia),
                         mesh.form_of.data(), mesh.group.data(), dt * gravity, work.body.data(), work.shift.data(),
                         work.owed.data(), work.touched.data()},
               body_grain);
  parallel_for(ex, label, static_cast<Index>(mesh.driven.size()), TurnDriven{work.driven.data(), work.body.data()});
}

void note_velocities(Exec& ex, const RigidMesh& mesh, const RigidWork& work, Array<Shift>& noted) {
  noted.resize_discard(mesh.count);
  parallel_for(ex, label, mesh.count, NoteVelocity{work.body.data(), noted.data()}, body_grain);
}

double changed_velocities(Exec& ex, const RigidMesh& mesh, const RigidWork& work, const Array<Shift>& noted) {
  return reduce(ex, label, mesh.count, 0.0, ChangeOfVelocity{work.body.data(), mesh.radius.data(), noted.data()},
                Larger<double>{});
}

void keep_velocities(Exec& ex, const RigidMesh& mesh, const RigidWork& work, RigidState& state) {
  parallel_for(ex, label, mesh.count,
               KeepVelocity{work.body.data(), view(mesh.inertia), view(state.v), view(state.L)}, body_grain);
}

void move_bodies(Exec& ex, const RigidMesh& mesh, const Vec3d& gravity, double dt, RigidState& state,
                 RigidWork& work) {
  parallel_for(ex, label, mesh.count,
               MoveBody{work.body.data(), work.shift.data(), work.owed.data(), work.touched.data(), turns_of(mesh, state), gravity,
                        dt, view(state.x), view(state.v), view(state.L), view(state.q)},
               body_grain);
}

RigidSpeeds speeds_of(Exec& ex, const RigidMesh& mesh, const RigidState& state) {
  return reduce(ex, label, mesh.count, RigidSpeeds{},
                SpeedOf{view(state.v), view(state.L), view(state.q), view(mesh.inverse_inertia),
                        mesh.inverse_mass.data(), mesh.radius.data(), mesh.thickness.data(), mesh.form_of.data()},
                FasterOf{});
}

std::vector<BodyPlace> places_of(Exec& ex, const RigidMesh& mesh, const RigidState& state) {
  const auto column = [&](const Array<double>& from) {
    std::vector<double> to(static_cast<std::size_t>(mesh.count));
    copy_to_host(ex, from, to.data(), mesh.count);
    return to;
  };
  std::vector<double> x[3], v[3], L[3], q[4];
  for (int k = 0; k < 3; ++k) {
    x[k] = column(state.x.c[k]);
    v[k] = column(state.v.c[k]);
    L[k] = column(state.L.c[k]);
  }
  for (int k = 0; k < 4; ++k) q[k] = column(state.q.c[k]);
  std::vector<BodyPlace> places;
  for (std::size_t i = 0; i < mesh.body.size() && mesh.body[i].object >= 0; ++i) {
    const RigidBody& body = mesh.body[i];
    BodyPlace place;
    place.x = {{x[0][i], x[1][i], x[2][i]}};
    place.rotation = rotation_of(Quaternion<double>{{q[0][i], q[1][i], q[2][i], q[3][i]}});
    place.v = {{v[0][i], v[1][i], v[2][i]}};
    place.w = carried(place.rotation, inverse_of(body.inertia)) * Vec3d{{L[0][i], L[1][i], L[2][i]}};
    places.push_back(place);
  }
  return places;
}

std::vector<ObjectSums> measure_bodies(Exec& ex, const RigidMesh& mesh, const Vec3d& gravity, const RigidState& state) {
  std::vector<ObjectSums> sums;
  const std::vector<BodyPlace> places = places_of(ex, mesh, state);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const RigidBody& body = mesh.body[i];
    const RigidForm& form = mesh.form[static_cast<std::size_t>(body.form)];
    const BodyPlace& place = places[i];
    // without what is pinned to it, which its own object sums up
    const RigidPart own = mesh.part.empty() ? RigidPart{body.mass, Vec3d::zero(), body.inertia} : mesh.part[i];
    const Vec3d arm = place.rotation * own.at, x = place.x + arm;
    const Sym<double, 3> inertia = carried(place.rotation, own.inertia);
    const Vec3d spin = inertia * place.w;
    ObjectSums one;
    one.add(own.mass, x, place.v + cross(place.w, arm));
    one.particles = 0;
    one.angular_momentum += spin;
    one.kinetic += 0.5 * dot(place.w, spin);
    one.gravity -= own.mass * dot(gravity, x);
    // of m x x^T about the center: tr(J)/2 I - J
    const double half = 0.5 * trace(inertia);
    for (int a = 0; a < 3; ++a)
      for (int b = a; b < 3; ++b) one.second_moment(a, b) += (a == b ? half : 0) - inertia(a, b);
    Bounds around = std::visit([](const auto& s) { return s.bounds(); }, form.shape);
    around.low = around.low - form.center;
    around.high = around.high - form.center;
    around = turned(around, place.rotation, place.x);
    one.low = around.low;
    one.high = around.high;
    sums.push_back(one);
  }
  return sums;
}

Index bad_body(Exec& ex, const RigidState& state) {
  return no_index - reduce(ex, label, state.count, Index{0},
                           BadBody{view(state.x), view(state.v), view(state.L), view(state.q)}, Larger<Index>{});
}

}  // namespace tribo::TRIBO_BACKEND

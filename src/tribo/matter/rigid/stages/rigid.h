#pragma once

#include "tribo/core/object_sums.h"
#include "tribo/matter/rigid/stages/state.h"
#include "tribo/search/box.h"

/// \file
/// Rigid bodies by themselves: where they are in a step, and how they move on.

namespace tribo::TRIBO_BACKEND {

/// Where a body that follows keyframes is, and what takes it to its next place.
struct DrivenBody {
  Index body;
  Vec3d x, v, w;
  Quaternion<double> q;
};

/// Velocities that impulses between bodies that are too near each other want, in places alone.
struct Shift {
  Vec3d v, w;
};

/// A body in sweeps: see solve.cpp.
struct alignas(64) SweptBody {
  double velocity[6];    ///< v and w, or those that move places alone
  double mass, inertia;  ///< about its mean axis; 0 of what does not move [kg], [kg m^2]
};

/// Scratch memory.
struct RigidWork {
  Array<PlacedBody> body;
  Array<Shift> shift;        ///< only moves; see solve.h
  Array<Vec3d> owed;         ///< likewise, of impacts within the step; see impacts.h [m/s]
  Array<SweptBody> swept;
  Array<Shift> before, way;  ///< velocities of the sweep before, and where sweeps lead to: see solve.cpp
  Array<Index> touched;      ///< 1: something acts on it beside gravity
  Array<DrivenBody> driven;
  std::vector<DrivenBody> driven_host;

  std::size_t bytes() const {
    return body.bytes() + shift.bytes() + owed.bytes() + swept.bytes() + before.bytes() + way.bytes() + touched.bytes() + driven.bytes();
  }
};

/// Angular velocity in the middle of a step that begins with the orientation `from` and the angular momentum L, by which the
/// body turns in it (theory F.5): implicit midpoint. `inverse`: of the inertia, in the body's frame.
TRIBO_HD Vec3d middle_spin(const Quaternion<double>& from, const Sym<double, 3>& inverse, const Vec3d& L,
                           const Vec3d& begin, double dt) {
  Vec3d middle = begin;
  for (int k = 0; k < 8; ++k) {
    const Vec3d next = carried(rotation_of(turned_by(from, (0.5 * dt) * middle)), inverse) * L;
    const double change = squared_norm(next - middle);
    middle = next;
    if (!(change > 1e-32 * squared_norm(middle))) break;
  }
  return middle;
}

/// How bodies turn in a step (theory F.5): L is kept but for what acts on them, and R follows the velocity in the middle
/// of the step.
struct RigidTurns {
  FieldView<const double, 4> q;
  FieldView<const double, 3> L;
  FieldView<const double, 6> inertia, inverse_inertia;

  TRIBO_HD Sym<double, 3> at(const FieldView<const double, 6>& tensor, Index i) const {
    Sym<double, 3> r;
    for (int k = 0; k < 6; ++k) r.s[k] = tensor[k][i];
    return r;
  }
  TRIBO_HD Quaternion<double> begin(Index i) const { return {{q[0][i], q[1][i], q[2][i], q[3][i]}}; }
  /// At the end of the step, of body `one`, with number i, where it has w then.
  TRIBO_HD Vec3d momentum(const PlacedBody& one, Index i, const Vec3d& w) const {
    const Vec3d before = vector_at(L, i);
    // Without torque L keeps its bits.
    return before + carried(one.rotation, at(inertia, i)) * (w - one.inverse_inertia * before);
  }
  TRIBO_HD Vec3d middle(const PlacedBody& one, Index i, const Vec3d& w, double dt) const {
    if (!(one.inverse_mass > 0)) return w;
    const Vec3d now = momentum(one, i, w);
    return middle_spin(begin(i), at(inverse_inertia, i), now, w, dt);
  }
};
inline RigidTurns turns_of(const RigidMesh& mesh, const RigidState& state) {
  return {view(state.q), view(state.L), view(mesh.inertia), view(mesh.inverse_inertia)};
}

/// Of a point of its surface, at most [m/s].
TRIBO_HD double fastest_of(const PlacedBody& body, double radius) {
  return sqrt(squared_norm(body.v)) + sqrt(squared_norm(body.w)) * radius;
}
/// Of what nothing meets.
TRIBO_HD Box<double> no_box() { return {Vec3d::filled(1), Vec3d::filled(-1)}; }
/// The box around a body whose form is between `low` and `high`, and `more` on all sides.
TRIBO_HD Box<double> box_around(const PlacedBody& body, const FieldView<const double, 3>& low,
                                const FieldView<const double, 3>& high, double more) {
  Box<double> box;
  for (int k = 0; k < 3; ++k) {
    double middle = body.x[k], half = 0;
    for (int j = 0; j < 3; ++j) {
      const double l = low[j][body.form], h = high[j][body.form];
      middle += body.rotation(k, j) * 0.5 * (l + h);
      half += abs(body.rotation(k, j)) * 0.5 * (h - l);
    }
    box.low[k] = middle - half - more;
    box.high[k] = middle + half + more;
    if (!(box.low[k] <= box.high[k]) || !(abs(box.low[k]) < largest_position<double>)) return no_box();
  }
  return box;
}

void load_bodies(Exec& ex, const RigidSeed& seed, RigidMesh& mesh, RigidState& state);

/// Those that follow keyframes where these say, with the velocities that take them to where they are after dt.
void place_driven(Exec& ex, const RigidMesh& mesh, double time, double dt, RigidState& state, RigidWork& work);

/// Bodies where they begin, with the velocities that they would have at the end of a step if nothing touched them.
void place_bodies(Exec& ex, const RigidMesh& mesh, const Vec3d& gravity, double time, double dt, RigidState& state,
                  RigidWork& work);

/// Velocities of placed bodies now, and the largest change of one of a point of their surfaces since [m/s].
void note_velocities(Exec& ex, const RigidMesh& mesh, const RigidWork& work, Array<Shift>& noted);
double changed_velocities(Exec& ex, const RigidMesh& mesh, const RigidWork& work, const Array<Shift>& noted);

/// What impulses between steps have changed of the velocities of placed bodies.
void keep_velocities(Exec& ex, const RigidMesh& mesh, const RigidWork& work, RigidState& state);

/// Moves bodies with the velocities that they have got.
void move_bodies(Exec& ex, const RigidMesh& mesh, const Vec3d& gravity, double dt, RigidState& state, RigidWork& work);

/// Largest speed of a point of a body, and turn of one in a second.
struct RigidSpeeds {
  double speed = 0;  ///< [m/s]
  double spin = 0;   ///< [rad/s]
  double thin = 0;   ///< largest |v| + |w| r over the thickness of a body [1/s]
};
RigidSpeeds speeds_of(Exec& ex, const RigidMesh& mesh, const RigidState& state);

/// A body as observers see it.
struct BodyPlace {
  Vec3d x = Vec3d::zero();  ///< center [m]
  Mat<double, 3> rotation;  ///< body to world
  Vec3d v = Vec3d::zero(), w = Vec3d::zero();
};
/// Bodies of objects.
std::vector<BodyPlace> places_of(Exec& ex, const RigidMesh& mesh, const RigidState& state);

/// By body of objects.
std::vector<ObjectSums> measure_bodies(Exec& ex, const RigidMesh& mesh, const Vec3d& gravity, const RigidState& state);

/// First body that is no longer finite, or no_index.
Index bad_body(Exec& ex, const RigidState& state);

}  // namespace tribo::TRIBO_BACKEND

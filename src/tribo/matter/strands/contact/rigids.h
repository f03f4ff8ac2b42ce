#pragma once

#include "tribo/matter/rigid/contact/mobility.h"
#include "tribo/matter/rigid/contact/solve.h"
#include "tribo/matter/strands/contact/proximity.h"
#include "tribo/matter/strands/stages/rod.h"
#include "tribo/search/box_search.h"

/// \file
/// Rigid bodies as obstacles of strands. What holds a strand out of a body acts on the body at the place of the vertex,
/// so that linear and angular momentum are kept to rounding. A vertex cannot know what others do to a body: it takes it
/// for as light as if all that touch it were pressed as much, which never gives a body more than it takes. What bodies
/// then do, with what joins them and what they lie on, is found out, and vertices go on from that, until they agree.

namespace tribo::TRIBO_BACKEND {

template <class Real>
struct RodObstacle;
template <class Real>
struct RodObstacles;

/// The place on a body's surface that is next to a vertex, or to the middle of a segment.
template <class Real>
struct RigidContact {
  Real distance;          ///< negative inside [m]
  Vec<Real, 3> normal;    ///< outward
  Vec<Real, 3> velocity;  ///< of the body there [m/s]
  Vec3d carried;          ///< the same
  Real friction;
  bool moves;  ///< by impulses
  Index body;
  Index mate;  ///< vertex at the other end of the segment whose middle it is; -1: it is the vertex itself
};

/// Which bodies are near which vertices, by rising vertices and bodies.
template <class Real>
struct NearRigids {
  const std::uint64_t* key;  ///< vertex * bodies + body
  Index entries = 0;
  RigidView rigid{};
  const double *friction, *thickness;  ///< of groups; of forms
  const Real *length, *radius;         ///< of edges; of vertices
  VertexPositions<Real> x;

  /// visit(RigidContact) for each body that vertices with these velocities may touch in dt. A body that fits between
  /// two vertices is felt by the middle of the segment between them, which both of them hold.
  template <class Visit>
  TRIBO_HD void each(Index vertex, const FieldView<const Real, 3>& v, Real dt, const Visit& visit) const {
    if (entries == 0) return;
    const auto bodies = static_cast<std::uint64_t>(rigid.count);
    const auto own = static_cast<std::uint64_t>(vertex);
    for (Index e = first_from(key, entries, 0, own * bodies); e < entries && key[e] / bodies == own; ++e) {
      const auto b = static_cast<Index>(key[e] % bodies);
      const PlacedBody& body = rigid.body[b];
      const Vec3d at = x(vertex);
      const RigidSurface here = rigid.shapes.nearest(body, at);
      offer(vertex, -1, b, at, vertex_velocity(v, vertex), here, dt, visit);
      for (int side = 0; side < 2; ++side) {
        const Index edge = side == 0 ? vertex - 1 : vertex, mate = side == 0 ? vertex - 1 : vertex + 1;
        if (edge < 0 || !(static_cast<double>(length[edge]) > thickness[body.form])) continue;
        const Vec3d there = x(mate), middle = 0.5 * (at + there);
        const RigidSurface between = rigid.shapes.nearest(body, middle);
        if (!(between.distance < here.distance)) continue;
        if (!(between.distance < rigid.shapes.nearest(body, there).distance)) continue;
        offer(vertex, mate, b, middle, 0.5 * (vertex_velocity(v, vertex) + vertex_velocity(v, mate)), between, dt,
              visit);
      }
    }
  }

 private:
  template <class Visit>
  TRIBO_HD void offer(Index vertex, Index mate, Index b, const Vec3d& at, const Vec3d& moves,
                      const RigidSurface& surface, Real dt, const Visit& visit) const {
    const PlacedBody& body = rigid.body[b];
    const Vec3d carried = body.velocity_at(at);
    const double ahead = 2 * static_cast<double>(dt) * sqrt(squared_norm(moves - carried));
    if (!(surface.distance < 2 * static_cast<double>(radius[vertex]) + ahead)) return;
    RigidContact<Real> to;
    to.distance = static_cast<Real>(surface.distance);
    to.normal = cast<Real>(surface.normal);
    to.velocity = cast<Real>(carried);
    to.carried = carried;
    to.friction = static_cast<Real>(friction[body.group]);
    to.moves = body.inverse_mass > 0;
    to.body = b;
    to.mate = mate;
    visit(to);
  }
};

/// What some obstacles have given to a body since it last moved.
struct RigidPush {
  Vec3d impulse, torque;  ///< about its center [N s], [N m s]
  Index count;            ///< of those that have touched it

  TRIBO_HD void add(const RigidPush& other) {
    impulse += other.impulse;
    torque += other.torque;
    count += other.count;
  }
};

struct RigidAnswer {
  double change = 0;     ///< largest of a body's velocity at an obstacle [m/s]
  double misjudged = 0;  ///< likewise, of it less what the obstacle took it for [m/s]
};

/// Rigid bodies beside strands, and scratch memory.
template <class Real>
struct StrandRigids {
  RigidStep bodies;
  Array<Index> own_body;   ///< of strands: what they grow on, or -1
  Array<Index> own_count;  ///< likewise, vertices from the root on that do not meet it
  BoxSearch<Real> search;
  Array<std::uint64_t> key;
  Array<Index> entry;
  Array<RigidMobility> mobility;      ///< of bodies
  Array<Index> flag, found, contact;  ///< obstacles that are a body's: which they are, by vertices and by bodies
  Array<std::uint64_t> contact_body;
  Index contacts = 0;
  Array<Index> start;      ///< of each body among contacts, and their end
  Array<Index> run_start;  ///< of each body: sums of a few contacts each
  Index runs = 0;
  Array<RigidPush> push;      ///< of runs
  Array<Index> pressed;       ///< of bodies: obstacles that have touched them
  Array<RigidAnswer> answer;  ///< of contacts, squared
  RadixSorter sorter;

  NearRigids<Real> view_of(const RodMesh<Real>& strands, const RodState<Real>& rods) const {
    return {key.data(),
            search.near_count,
            {bodies.mesh->count, bodies.work->body.data(), bodies.mesh->shapes.view()},
            bodies.mesh->strand_friction.data(),
            bodies.mesh->thickness.data(),
            strands.length.data(),
            strands.radius.data(),
            {view(rods.x), view(rods.x_tail)}};
  }
  std::size_t bytes() const {
    return own_body.bytes() + own_count.bytes() + search.bytes() + key.bytes() + entry.bytes() + mobility.bytes() +
           flag.bytes() + found.bytes() + contact.bytes() + contact_body.bytes() + start.bytes() + run_start.bytes() +
           push.bytes() + pressed.bytes() + answer.bytes() + sorter.bytes();
  }
};

/// Which bodies vertices may come to in a step, with velocities as they are. Bodies must be placed.
template <class Real>
void list_near_rigids(Exec& ex, const RodMesh<Real>& mesh, const RodState<Real>& state, double dt,
                      StrandRigids<Real>& rigids);

/// How much bodies yield at the obstacles that are theirs; `all`: where all of those are pressed, not only what rests
/// on them.
template <class Real>
void let_rigids_yield(Exec& ex, const RodMesh<Real>& mesh, bool all, const RodState<Real>& state,
                      RodObstacles<Real>& obstacles, StrandRigids<Real>& rigids);

/// Bodies get what obstacles have given since they last did, and then what holds them acts; obstacles know of it.
template <class Real>
RigidAnswer push_rigids(Exec& ex, const RodState<Real>& state, RodObstacles<Real>& obstacles,
                        StrandRigids<Real>& rigids);

}  // namespace tribo::TRIBO_BACKEND

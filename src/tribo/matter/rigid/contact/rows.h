#pragma once

#include "tribo/contact/colliders.h"
#include "tribo/matter/rigid/contact/mobility.h"
#include "tribo/matter/rigid/stages/rigid.h"
#include "tribo/search/box_search.h"

/// \file
/// Who touches whom among rigid bodies and colliders, and where: feelers of one against the signed distance of the
/// other (experiments_rigid "The contact step"), thinned out to the corners of what they span.

namespace tribo::TRIBO_BACKEND {

/// Two bodies that may touch, or a body and what it has around it: colliders without a surface of their own to feel
/// with, as half spaces and containers.
struct RigidPair {
  Index a, b;          ///< b -1: such colliders
  Index first, count;  ///< rows
};

/// A place where two touch, or will before the step ends.
struct RigidRow {
  Vec3d n;         ///< pushes a
  Vec3d ra, rb;    ///< from the centers of mass to the place [m]
  Index a, b;      ///< bodies; b -1: a collider
  Index feature;   ///< which feeler of the pair
  Index collider;  ///< its number, or -1
  Vec3d carried;   ///< velocity of the collider there [m/s]
  double allowed;  ///< approach that closes the gap within the step [m/s]
  double restitution;
  double falls;  ///< acceleration of the approach by gravity [m/s^2]
  double push;   ///< separation that brings what is too near apart [m/s]
  double friction;
  double gives, slips;  ///< change of the velocity along n by an impulse along n, and the most across [1/kg]
  double normal;        ///< impulse so far [N s]
  Vec3d tangential;     ///< likewise
  double shift;         ///< likewise, of the push
  Vec3d impact;         ///< impulse of impacts in this step, beside the others [N s]
  double normal_before, normal_way;  ///< of the sweep before, and where sweeps lead to: see solve.h
  Vec3d tangential_before, tangential_way;
};

/// Distance at which bodies rest, in cells of the grid (experiments_rigid, recommended default 6).
inline constexpr double rest_cells = 0.02;

struct RigidContactRules {
  double rest = 0;                ///< distance at which bodies rest [m]
  double deepest = 0;             ///< of what is pushed apart at once [m]
  Vec3d gravity = Vec3d::zero();  ///< [m/s^2]
};

/// What a feeler has found.
struct RigidTouch {
  Vec3d n, at;
  double gap;
  Vec3d carried;
  Index collider;  ///< -1: a body; -2: nothing
  double friction;
  Index boundary;
  Index kept;  ///< place of what held it in the last step, or -1
};

/// Scratch memory.
struct RigidContacts {
  BoxSearch<double> search;
  Array<Index> beside;  ///< of bodies: 1 where open colliders are near
  Array<Index> lonely;  ///< these bodies
  Array<std::uint64_t> key;
  Array<Index> order;
  RadixSorter sorter;
  Array<RigidPair> pair;
  Array<Index> touch_start, kept_first;  ///< of each pair: in `touch`, and among forces that were kept
  Array<RigidTouch> touch;
  Array<Index> touch_feature, found, chosen, chosen_start;
  Array<RigidRow> row;
  Array<Index> kept_place;
  // of impacts
  Array<RigidMobility> mobility;
  Array<Index> hit;
  Array<Shift> before, kick;
  Index pairs = 0, rows = 0;
  Array<Index> apart;  ///< body and body, by rising pairs: joined, and not to touch
  Index apart_count = 0;

  std::size_t bytes() const {
    return search.bytes() + beside.bytes() + lonely.bytes() + key.bytes() + order.bytes() + sorter.bytes() +
           pair.bytes() + touch_start.bytes() + kept_first.bytes() + touch.bytes() + touch_feature.bytes() +
           found.bytes() + chosen.bytes() + chosen_start.bytes() + row.bytes() + kept_place.bytes() + mobility.bytes() +
           hit.bytes() + before.bytes() + kick.bytes() + apart.bytes();
  }
};

/// All rows of a step, with the impulses of the last one to begin with. Bodies must be placed. `open_number` has the
/// numbers in the scene of the colliders in `open`.
void find_rows(Exec& ex, const RigidMesh& mesh, const RigidContactRules& rules, const Colliders<double, 3>::View& open,
               const Array<Index>& open_number, double dt, const RigidState& state, RigidWork& work,
               RigidContacts& contacts);

/// What impulses held, for the next step.
void keep_forces(Exec& ex, RigidContacts& contacts, double dt, const RigidWork& work, RigidState& state);

}  // namespace tribo::TRIBO_BACKEND

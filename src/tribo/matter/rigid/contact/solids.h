#pragma once

#include <utility>
#include <vector>

#include "tribo/matter/rigid/contact/points.h"
#include "tribo/matter/solids/stages/state.h"
#include "tribo/search/box_search.h"

/// \file
/// Rigid bodies against bodies of tets, both ways (experiments_rigid 5 and recommended default 10). Vertices of the
/// boundary, and samples within its triangles, feel for the signed distance of a body; what is sharp in a body feels for
/// the triangles, or a corner would sink in between them. All impulses act at a point of the boundary, on both sides, so
/// that linear and angular momentum are kept to rounding.
///
/// The points are not independent, as `solve_points` wants them: those of one triangle share its vertices. Of a vertex
/// with mass m each point c has a part, w_c/S m with its share w_c of the vertex and S = sum_c w_c. Pieces that are
/// solved by themselves, each with all of its impulse, and are then one vertex again, with the mean of their velocities,
/// have less energy than they had: the square of a mean is no larger than the mean of squares. The mean is what all
/// impulses together give the whole vertex, so
///   1/m_c = sum_p w_cp S_p / m_p
/// is the mass of a point, and its velocity without its own impulse P_c is v_c - P_c/m_c, where v_c is the velocity of
/// the boundary with the impulses of all. Repeated, that is a descent which ends where no point wants more. Where all
/// points of a face want the same, once is enough.
///
/// Vertices go first, by themselves: they share nothing, so that what lies flat is done at once, and the others ask only
/// for what is left.

namespace tribo::TRIBO_BACKEND {

/// Where a point is on the boundary: vertices of a triangle and their shares, whose sum is 1.
struct SolidPlace {
  Index vertex[3];
  double share[3];
};

/// Points that are solved at once.
struct SolidPoints {
  int corners = 1;  ///< of each: 1 of vertices, 3 of what is within triangles
  RigidPoints points;
  Array<SolidPlace> place;
  Array<double> inverse_mass;  ///< of the boundary at each point; see above
  Array<Vec3d> before;         ///< impulses before the last solve

  Array<std::uint64_t> corner_key;  ///< vertices, rising
  Array<Index> corner;              ///< corners * point + corner

  std::size_t bytes() const {
    return points.bytes() + place.bytes() + inverse_mass.bytes() + before.bytes() + corner_key.bytes() + corner.bytes();
  }
};

/// What is known from the start, and scratch memory.
struct SolidMeeting {
  // of triangles
  Array<Index> solid;                    ///< whose it is
  Array<Index> home;                     ///< bit k: its corner k is listed with it, and with no other
  Array<Index> inner_first, inner_count;  ///< samples within it
  /// Solid and body, by rising pairs: pinned to each other, and not to touch.
  Array<Index> apart;
  Index apart_count = 0;
  double rest = 0;  ///< distance at which they come to rest [m]
  double dx = 0;    ///< [m]

  SolidPoints vertices, others;

  // scratch memory
  BoxSearch<double> search, feeler_search;
  Array<Index> mark, slots;           ///< of what may be a point
  Array<Index> triangle_near, body_near, near_bodies, feeler_start;
  Array<std::uint64_t> key, feeler_key;
  Array<Index> order, feeler_pair, feeler_found;
  Array<double> load;  ///< S of vertices that have points
  Array<Vec3d> velocity;  ///< of bodies before points, twice
  RadixSorter sorter;

  bool any() const { return vertices.points.count + others.points.count > 0; }
  std::size_t bytes() const {
    std::size_t sum = vertices.bytes() + others.bytes() + search.bytes() + feeler_search.bytes() + key.bytes() +
                      feeler_key.bytes() + load.bytes() + velocity.bytes() + sorter.bytes();
    for (const Array<Index>* a :
         {&solid, &home, &inner_first, &inner_count, &apart, &mark, &slots, &triangle_near, &body_near, &near_bodies,
          &feeler_start, &order, &feeler_pair, &feeler_found})
      sum += a->bytes();
    return sum;
  }
};

/// `apart`: solids and bodies that are pinned to each other.
void load_meeting(Exec& ex, const SolidSeed& solids, std::vector<std::pair<Index, Index>> apart, double dx,
                  SolidMeeting& meeting);

/// Finds all points of a step, by velocities as they are; nothing acts yet. Bodies must be placed.
template <class Real>
void find_solid_points(Exec& ex, const RigidMesh& mesh, const SolidMesh<Real>& solids, const SolidState<Real>& state,
                       double gravity, double dt, RigidWork& work, SolidMeeting& meeting);

/// Impulses of all points with velocities as they are, on bodies and vertices. May be asked for again after others have
/// changed velocities. Returns the largest change of the velocity of a point of a body [m/s].
template <class Real>
double push_solids(Exec& ex, const RigidMesh& mesh, const SolidMesh<Real>& solids, RigidWork& work,
                   SolidMeeting& meeting, SolidState<Real>& state);

}  // namespace tribo::TRIBO_BACKEND

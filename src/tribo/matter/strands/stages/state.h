#pragma once

#include <vector>

#include "tribo/exec/columns.h"
#include "tribo/math/small.h"
#include "tribo/matter/strands/seed.h"

/// \file
/// Strands on the device. What changes is in RodState, which a checkpoint holds; what is computed once from the seed is
/// in RodMesh.

namespace tribo::TRIBO_BACKEND {

/// What kept segments apart that are pressed together, by rising pairs; see matter/strands/contact/pressed.h.
template <class Real>
struct PressedPairs {
  Field<Index, 2> segments;
  Field<Real, 3> force;  ///< on the first of them [N]
  Index count = 0;
};

/// Vertices of all strands, in the order of the seed: they are never sorted.
template <class Real>
struct RodState {
  Field<Real, 3> x;         ///< [m]
  Field<Real, 3> x_tail;    ///< what rounding left out of x: x + x_tail is the position. Segments are so much shorter
                            ///< than the scene that floats would lose their strain, and steps their motion [m]
  Field<Real, 3> v;         ///< [m/s]
  Field<Real, 3> director;  ///< m1 of the edge that begins here, with what theta turned it by
  Field<Real, 1> twist;     ///< of the joint here, whole turns included [rad]
  Index count = 0;
  double speed = 0;      ///< largest |v| of a vertex [m/s]
  double turning = 0;    ///< largest |difference of v| / length of a segment [1/s]
  double stable_dt = 0;  ///< of explicit forces at the present shape (theory E.7) [s]
  double pace = 0;       ///< last step but for frames' ends; the next is alike if it may [s]
  double calm = 1e3;     ///< what the last step that contact made shorter came to, and more with every step since [s]
  double closing = 0;    ///< how fast what touched came, less with every step since [m/s]
  PressedPairs<Real> pressed;  ///< in the last step

  static constexpr auto columns() {
    return std::tuple{NamedColumn{"rod.x", &RodState::x}, NamedColumn{"rod.x_tail", &RodState::x_tail},
                      NamedColumn{"rod.v", &RodState::v}, NamedColumn{"rod.director", &RodState::director},
                      NamedColumn{"rod.twist", &RodState::twist}};
  }
};

/// Strands that are worked on together, row by row: row i of a group has the vertices i of its strands side by side. On
/// the CPU a group fills the lanes of one pack; on the GPU its strands are those of one warp, whose memory is then
/// read in whole lines.
struct RodGroup {
  Index first_row;  ///< in arrays by rows
  Index rows;       ///< vertices of the longest strand
  Index first_strand;
  Index strands;
  Index twisted;  ///< 1 or 0
  Index body;
};

/// Numbers of a row that never change.
enum class RodRow { mass, free, length, stretch, bend1, bend2, twist, rest_twist, rest, held = rest + 4, count };

template <class Real>
struct RodMesh {
  static constexpr Index skin_run = 64;
  /// Of a rigid body, how its center moves (0) and how it turns (1).
  TRIBO_HD static Index rigid_part(Index body, int part) { return -1 - (2 * body + part); }

  Index vertices = 0, strands = 0, groups = 0, rows = 0, driven = 0, bodies = 0, loose_count = 0;
  std::vector<RodBody> body;  ///< on the host
  bool twisted = false;       ///< any body is
  double stable_rate = 0;     ///< one over the longest step that stretching and bending allow explicitly [1/s]
  Array<Index> start;         ///< of each strand, and one past the last vertex
  Array<Index> buried;        ///< of each strand, vertices from its root on that no collider acts on; RodSeed::buried
  Array<Index> vertex_strand;
  Array<Index> slot;  ///< of each vertex in arrays by rows: lanes of a group x row + lane
  Array<Index> strand_body;
  Array<Index> body_twisted;  ///< 1 or 0
  Array<Index> loose;         ///< strands none of whose vertices is driven
  Array<RodGroup> group;
  Array<Real> row;                ///< RodRow of every row, each for all strands of the group
  Array<Real> mass;               ///< of vertices [kg]
  Array<Real> inverse_mass;       ///< 0 of driven vertices
  Array<Index> yields;            ///< 1 of those that impulses move: all but driven ones that are no roots on a skin
  Array<Real> radius;             ///< of vertices [m]
  Array<Real> length;             ///< of edges at rest; 0 where none begins [m]
  Array<Real> twist_rate;         ///< of joints: 1 / dt_M^2 of theory E.7, for one radian of twist [1/s^2]
  Array<Real> rest_twist;         ///< of joints
  Array<Real> friction;           ///< Coulomb coefficients of pairs of bodies, bodies x bodies
  Array<Real> collider_friction;  ///< bodies x colliders; empty: the colliders' own
  Array<Index> driven_vertex;
  Array<Index> drive;                         ///< of each driven vertex; those that are skinned: -1 less their number
  Array<Index> holds;                         ///< 1 where the edge that begins there is held, director and all
  Array<SkinRoot> skin;                       ///< of skinned drives
  Index skin_vertices = 0;                    ///< of solids, that roots are clamped to, and parts of rigid bodies
  Array<Index> skin_vertex;                   ///< those, rising; `rigid_part` of a body
  Array<Vec<Index, 3>> skin_corner;           ///< of each skinned drive: where its corners are among them
  Array<Index> skin_strand;                   ///< likewise, the strand whose root it holds; -1: it holds none
  Array<Index> skin_entry_start, skin_entry;  ///< of each of these vertices: 3 drive + corner, rising
  Index skin_runs = 0;                        ///< where a vertex has many entries: of `skin_run` each
  Array<Index> skin_run_begin;                ///< first entry of each run
  Array<Index> skin_run_start;                ///< first run of each of these vertices
  bool has_rigid_skin = false;
  Field<double, 3> anchor;           ///< of each driven vertex, in the frame of its motion [m]
  Field<double, 3> anchor_director;  ///< of the edge that begins there
};

}  // namespace tribo::TRIBO_BACKEND

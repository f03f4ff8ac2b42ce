#pragma once

#include <vector>

#include "tribo/core/object_sums.h"
#include "tribo/matter/strands/stages/state.h"
#include "tribo/scene/motion.h"

/// \file
/// Stages of strands: discrete elastic rods (theory E; experiments_hair). One step: `rod_step` gives every vertex
/// the velocity v_lag that its strand wants (Han 2019, eq. 30); whoever changes it after that does so through the
/// strand's own matrix, by `solve_strands`; `move_rods` carries vertices along and turns their frames.

namespace tribo::TRIBO_BACKEND {

/// What never changes of the strands, on the device; and their state at time 0, angles theta at equilibrium.
template <class Real>
void load_rods(Exec& ex, const RodSeed& seed, RodMesh<Real>& mesh, RodState<Real>& state);

/// Where a drive is at the end of a step: vertices with anchor a go to rotation a + at. In double: floats would make
/// roots tremble.
struct RodDriveStep {
  Mat<double, 3> rotation;
  Vec<double, 3> at;
};
TRIBO_HD RodDriveStep drive_to(const Pose& pose) { return {pose.rotation, pose.at}; }

template <class Real>
struct RodConstants {
  Vec<Real, 3> gravity = Vec<Real, 3>::zero();  ///< zero where the grid adds it [m/s^2]
  RodScheme scheme = RodScheme::implicit;
  std::vector<RodDrive> drives;
};

/// How many times as stiff a crushed segment is, see StretchLaw. Explicit steps are as long as stiffness lets them be,
/// and have the same at any length.
inline double crushed_stiffness(const RodBody& body, RodScheme scheme) {
  return scheme != RodScheme::explicit_euler && body.stretch_scale < 1 ? 1 / body.stretch_scale : 1;
}

/// How much of each stiffness goes into the matrix, and how much of it times velocity to the right-hand side; of one
/// body.
template <class Real>
struct RodWeights {
  Real stretch, stretch_rate;
  Real bend, bend_rate;
  Real drag, drag_rate;  ///< times mass
  Real crushed;          ///< `crushed_stiffness`
};

/// A strand's answer to impulses at the ends of one segment: in-band blocks of A^-1 (default 3). Zero for what is held.
template <class Real>
struct alignas(16) SegmentCompliance {
  Real own[6];   ///< Z_kk of its first vertex, as in Sym
  Real next[9];  ///< Z_lk, l = k + 1, row-major
  Real pad;
};

/// Z between two points of the same segment, that with weight a at its second vertex:
/// (1-a)^2 Z_kk + a^2 Z_ll + a (1-a) (Z_kl + Z_kl^T).
template <class Real>
TRIBO_HD Mat<Real, 3> compliance_at(const SegmentCompliance<Real>* compliance, Index segment, Real a) {
  const SegmentCompliance<Real>&k = compliance[segment], &l = compliance[segment + 1];
  const Real b = Real(1) - a;
  Mat<Real, 3> S;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      const int at = Sym<Real, 3>::at(i, j);
      S(i, j) = b * b * k.own[at] + a * a * l.own[at] + a * b * (k.next[3 * i + j] + k.next[3 * j + i]);
    }
  return S;
}

/// What holds a vertex: an impulse r - S dv, for a change dv of its velocity. In double: S is 1e4 times the most that a
/// vertex weighs in any direction, which is 1e5 to 1e6 times what it weighs across its strand. Of an impulse of that
/// size a float leaves hundreds of times the vertex's momentum to chance, and once nothing holds the vertex, that is
/// its velocity.
struct VertexHold {
  Mat<double, 3> S;
  Vec<double, 3> r;
};

/// Numbers of a row in arrays that a step fills.
inline constexpr int factor_numbers = 24;  ///< of `FactorRow`
inline constexpr int held_numbers = 21;    ///< of a row of `solve_held`
inline constexpr int frame_numbers = 13;   ///< scratch of `move_rods`, and of the rates of theta in `rod_step`

/// What all of a strand behind its clamped root is to that, in `rod_step`: changes c0, c1 of the velocities of the two
/// vertices take the impulses V c1 + X (c0 - c1) - a along both, and X^T c1 + W (c0 - c1) - b along the first for the
/// second, besides their masses. What the edge between them does to them stays within the clamp.
struct RootRest {
  Sym<double, 3> V;
  Mat<double, 3> X;
  Sym<double, 3> W;
  Vec<double, 3> a, b;
};
/// How hard it is to move the clamp of a root, impulses on its two vertices for changes of their velocities: `own` of
/// the first, `other` of the second, `between` of the first for the second [kg]. Zero: it does not yield.
struct RootInertia {
  Mat<double, 3> own, between, other;
};
/// What a strand passes on to what clamps its root [N s].
struct RootPush {
  Vec<double, 3> all;     ///< to both vertices
  Vec<double, 3> first;   ///< of it, to the first
  Vec<double, 3> moment;  ///< besides, by the director that is held [N m s]
};

/// Whether the last `rod_step` guessed where a strand's segments turn (`StretchStep`), and whether it guessed right.
enum class StretchGuess : Index { none, right, wrong };

/// Scratch memory. May be dropped at any step boundary.
template <class Real>
struct RodWorkspace {
  Array<Real> factor;    ///< of A of the last `rod_step`, by rows
  Array<Real> solution;  ///< by rows, 3 numbers
  Array<Real> chain;  ///< the matrix by rows: on the GPU of all strands, else of those that `keep_rows` was asked for
  Array<double> held_rows;   ///< of `solve_held`
  Field<double, 3> held_dv;  ///< likewise, by vertices [m/s]
  Array<Real> frame;
  Field<Real, 3> v_start;       ///< velocities at the start of the step [m/s]
  Field<Real, 3> guess;         ///< of velocities at the end of the step, where a strand has one [m/s]
  Array<StretchGuess> guesses;  ///< of strands
  Field<Real, 3> spin;          ///< of strands as a whole [rad/s]
  Field<Real, 3> x_next, tail_next, director_next;
  Array<RodDriveStep> drives;  ///< by keyframes
  Array<RodDriveStep> skin;    ///< of skinned ones: whoever has the skin sets them before `rod_step`
  Array<RootRest> root_rest;   ///< of strands, by `rod_step`; none where no root is on a skin
  /// Of strands, if any root is on a skin: then rows of roots in the factor are those of vertices that yield, from when
  /// this is known to the next `rod_step`.
  Array<RootInertia> root_inertia;
  Array<RootPush> passed;         ///< of strands, summed over all solves since it was cleared; likewise
  Array<RootPush> passed_before;  ///< in the iteration before, if accelerated
  Array<RodWeights<Real>> weights;
  Array<SegmentCompliance<Real>> compliance;  ///< by vertices, once asked for
  bool compliance_valid = false;              ///< of the factor as it is
  Field<Real, 3> turned;                      ///< what loose strands were turned by as a whole [m/s]
  double dt = 0;                              ///< of the last `rod_step` [s]
  RodScheme scheme = RodScheme::implicit;     ///< likewise

  std::size_t bytes() const {
    return factor.bytes() + solution.bytes() + chain.bytes() + held_rows.bytes() + held_dv.bytes() + frame.bytes() +
           v_start.bytes() + guess.bytes() + guesses.bytes() + spin.bytes() + turned.bytes() + x_next.bytes() +
           tail_next.bytes() + director_next.bytes() + drives.bytes() + skin.bytes() + root_rest.bytes() +
           root_inertia.bytes() + passed.bytes() + passed_before.bytes() + weights.bytes() + compliance.bytes();
  }
};

/// Of a driven vertex, by RodMesh::drive.
TRIBO_HD const RodDriveStep& drive_of(const RodDriveStep* keyed, const RodDriveStep* skinned, Index drive) {
  return drive < 0 ? skinned[-1 - drive] : keyed[drive];
}

/// Poses and velocities of the drives by keyframes in a step, on the device.
template <class Real>
void place_rod_drives(Exec& ex, const RodConstants<Real>& constants, double time, double dt, RodWorkspace<Real>& work);

/// Sets the state's speed, turning and stable dt. Returns the first vertex that is no longer finite, or no_index.
template <class Real>
Index evaluate_rods(Exec& ex, const RodMesh<Real>& mesh, RodState<Real>& state);

/// Keeps the velocities that steps of any length begin with.
template <class Real>
void begin_rods(Exec& ex, const RodState<Real>& state, RodWorkspace<Real>& work);

/// v_lag of free vertices; the velocity of their motion of driven ones. Begins with the velocities that `begin_rods`
/// kept, so that a step can be taken again with another dt. Leaves the factor of A in the workspace.
template <class Real>
void rod_step(Exec& ex, const RodConstants<Real>& constants, const RodMesh<Real>& mesh, double time, double dt,
              RodState<Real>& state, RodWorkspace<Real>& work);

/// v += A^-1 J with the A of the last `rod_step`, for impulses J of vertices [N s]; nothing for driven ones but roots
/// that yield. Strands with `touched` 0 are left out, where it is given: their J must be zero.
template <class Real>
void solve_strands(Exec& ex, const RodMesh<Real>& mesh, const Field<Real, 3>& impulse, const Array<Index>* touched,
                   RodState<Real>& state, RodWorkspace<Real>& work);

/// The same for changes of the velocities of driven vertices, which others follow; zero for these. What that takes of
/// roots is passed on.
template <class Real>
void lead_roots(Exec& ex, const RodMesh<Real>& mesh, const Field<Real, 3>& change, RodState<Real>& state,
                RodWorkspace<Real>& work);

/// Makes rows of A of the last `rod_step` ready for `solve_held`, of strands with `touched` 1; before `move_rods`.
template <class Real>
void keep_rows(Exec& ex, const RodMesh<Real>& mesh, const Array<Index>& touched, const RodState<Real>& state,
               RodWorkspace<Real>& work);

/// Takes back the turn of strands that are touched. It makes up for what the step took from their spin, and that was
/// found without what touches them: a taut strand would leave its support at once.
template <class Real>
void undo_turns(Exec& ex, const RodMesh<Real>& mesh, const Array<Index>& touched, RodState<Real>& state,
                RodWorkspace<Real>& work);

/// (A + S) dv = r for the strands that are touched, S and r by vertices; dv goes to `work.held_dv`. Nothing is held or
/// pushed of vertices that are driven. `passes_on`: to what clamps roots, where somebody asks.
template <class Real>
void solve_held(Exec& ex, const RodMesh<Real>& mesh, const Array<VertexHold>& hold, const Array<Index>& touched,
                bool passes_on, RodWorkspace<Real>& work);

/// v = v_lag + A^-1 M (v_blend - v_lag) (default 3), with v_blend in the state.
template <class Real>
void filter_velocities(Exec& ex, const RodMesh<Real>& mesh, const Field<Real, 3>& v_lag, RodState<Real>& state,
                       RodWorkspace<Real>& work);

/// Blocks of A^-1 next to its diagonal, of the A of the last `rod_step`, in `work.compliance`; computed once for each
/// A.
template <class Real>
void segment_compliance(Exec& ex, const RodMesh<Real>& mesh, RodWorkspace<Real>& work);

/// x += dt v; driven vertices to where their motion has them at the end of the step. Frames follow by parallel
/// transport in time, driven ones with their motion; then the angles theta go to equilibrium (theory E.3, E.5). After
/// `rod_step` of the same step, which placed the drives.
template <class Real>
void move_rods(Exec& ex, const RodMesh<Real>& mesh, double dt, RodState<Real>& state, RodWorkspace<Real>& work);

/// The same in two parts, for vertices whose next places the workspace has, x_next and tail_next: of driven ones they
/// are replaced; then the strands are there.
template <class Real>
void place_driven(Exec& ex, const RodMesh<Real>& mesh, const RodState<Real>& state, RodWorkspace<Real>& work);
template <class Real>
void arrive_rods(Exec& ex, const RodMesh<Real>& mesh, RodState<Real>& state, RodWorkspace<Real>& work);

/// Sums over the strands of each body, for output; `particles` counts vertices. The same bytes for any number of
/// threads.
template <class Real>
std::vector<ObjectSums> measure_rods(Exec& ex, const RodConstants<Real>& constants, const RodMesh<Real>& mesh,
                                     const RodState<Real>& state);

#define TRIBO_FOR_EACH_ROD_REAL(instantiate) instantiate(float) instantiate(double)

}  // namespace tribo::TRIBO_BACKEND

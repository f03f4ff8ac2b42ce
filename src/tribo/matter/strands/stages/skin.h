#pragma once

#include "tribo/grid/state.h"
#include "tribo/matter/rigid/contact/solve.h"
#include "tribo/matter/solids/stages/state.h"
#include "tribo/matter/strands/stages/rod.h"

/// \file
/// Roots on the boundary of hybrid meshes, and on rigid bodies. A triangle carries the clamp of a strand along, by
/// `pose_on_skin`, and gets back what that takes: impulses on the two clamped vertices, and the moment of their
/// director, as a force at the root's place in the triangle and a moment on the frame. This is the transpose of how
/// velocities of corners move the clamp, so that what both do to each other has the same power, linear momentum is kept
/// to rounding, and no torque is lost between the two. (Strands themselves keep angular momentum to first order in dt
/// only, see `rod_step`.)
///
/// Who is heavier does not matter: an implicit strand weighs on its root with all of its mass, at once, and handed over
/// after the fact that would throw a lighter triangle farther in every step. So both are solved for together,
///   (M + sum J^T S J) dq = J^T r,
/// dq the change of the velocities of the triangles' vertices, M their masses, J that way from corners to clamps, S
/// what a strand is to changes of its clamp (`RootRest`: those of A that elimination leaves at the root, at no cost),
/// and r what strands pass on if the clamp goes on as it was. Roots then go with J dq, their strands follow through A,
/// and what has come to the triangle by all of it is taken from the strands' own momentum, however well that was
/// solved.

namespace tribo::TRIBO_BACKEND {

/// What roots are on.
template <class Real>
struct SkinBodies {
  const SolidMesh<Real>& mesh;
  SolidState<Real>& state;
  RigidStep rigid;  ///< bodies are placed
};

/// Scratch memory.
template <class Real>
struct SkinWork {
  using Entry = NodePack<double>;
  Field<double, 3> led;  ///< velocities of RodMesh::skin_vertex that roots go with in this step [m/s]
  Array<Entry> solution, residual, direction, product;
  Array<Sym<double, 3>> corner_block, inverse_block;  ///< preconditioner: by 3 drive + corner, and by vertex
  Array<Vec<double, 3>> corner;                       ///< impulses by 3 drive + corner [N s]
  Array<Vec<double, 3>> run;                          ///< sums of these, and of blocks, over RodMesh::skin_run_begin
  Array<Sym<double, 3>> run_block;
  Field<Real, 3> change;  ///< of velocities of driven vertices, by vertex [m/s]

  std::size_t bytes() const {
    return led.bytes() + solution.bytes() + residual.bytes() + direction.bytes() + product.bytes() +
           corner_block.bytes() + inverse_block.bytes() + corner.bytes() + run.bytes() + run_block.bytes() +
           change.bytes();
  }
};

/// Steps of roots, in `work.skin`: to where the present velocities of the triangle under them carry it in dt. Contact
/// may then move it otherwise; the next step brings roots back to it, so that they are never off it by more than a
/// change of velocity in one step times dt. Roots on rigid bodies are led anew with every push.
template <class Real>
void place_skin_roots(Exec& ex, const RodMesh<Real>& mesh, const SkinBodies<Real>& skin, double dt,
                      RodWorkspace<Real>& work, SkinWork<Real>& on);

/// Nothing has been passed on so far.
template <class Real>
void clear_passed(Exec& ex, const RodMesh<Real>& mesh, RodWorkspace<Real>& work);

/// What strands pass on in `rod_step`, after it.
template <class Real>
void pass_on_step(Exec& ex, const RodConstants<Real>& constants, const RodMesh<Real>& mesh, double dt,
                  const SkinBodies<Real>& skin, const RodState<Real>& state, RodWorkspace<Real>& work);

/// Solves for contact move roots from now on, by what a root has of its triangle; after `rod_step`.
template <class Real>
void let_roots_yield(Exec& ex, const RodMesh<Real>& mesh, const SkinBodies<Real>& skin, const RodState<Real>& state,
                     RodWorkspace<Real>& work);

/// Gives what strands have passed on to the triangles, and clears it. Roots, wherever they have yielded to, and their
/// strands go with these. Returns the largest speed of a vertex under a root [m/s].
template <class Real>
double push_skin(Exec& ex, const RodMesh<Real>& mesh, double dt, const SkinBodies<Real>& skin, RodState<Real>& state,
                 RodWorkspace<Real>& work, SkinWork<Real>& on);

}  // namespace tribo::TRIBO_BACKEND

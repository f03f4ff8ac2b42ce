#pragma once

#include "tribo/grid/stages.h"
#include "tribo/matter/solids/contact/contact.h"

namespace tribo::TRIBO_BACKEND {

/// Vertices of strands that grow on bodies, near enough to their roots not to meet these.
template <class Real>
struct OwnStrands {
  Array<Index> vertex, body;  ///< which vertices of strands, and what they grow on
  Index count = 0;
  const Field<Real, 3>* x = nullptr;  ///< of all vertices of strands [m]
};

/// What `couple` keeps from the grid to the vertices.
template <class Real>
struct CouplingWorkspace {
  Array<Index> found;          ///< block of the particles' grid for each block of the samples', or -1
  Array<Vec<Real, 4>> facing;  ///< normal out of the body, 0 where it has none, and gap in cells, by patch and node
  Array<Vec<Real, 3>> change;  ///< of the velocities of the bodies' fields, by patch and node [m/s]
  Array<Index> own;            ///< 1 where a body's own strands are, by patch and node

  std::size_t bytes() const { return found.bytes() + facing.bytes() + change.bytes() + own.bytes(); }
};

/// Blocks of the samples' lists among those of the particles' grid, in `work.found`.
template <class Real>
void find_particles(Exec& ex, const GridNodes<Real, 3>& grid, const ContactFields<Real>& fields,
                    CouplingWorkspace<Real>& work);

/// Normals and gaps between the bodies' fields and the particles, in `work.facing`. After `find_particles` and
/// `make_body_fields`.
template <class Real>
void face_particles(Exec& ex, const GridNodes<Real, 3>& grid, ContactFields<Real>& fields,
                    CouplingWorkspace<Real>& work);

/// Bodies do not face what is at nodes that their own strands reach next to their roots: those would be pushed away
/// from where they grow. Whatever else comes there meets the strands, and by these the body. After `face_particles`.
template <class Real>
void leave_own_strands(Exec& ex, const OwnStrands<Real>& own, double dx, ContactFields<Real>& fields,
                       CouplingWorkspace<Real>& work);

/// Contact between bodies and particles, node by node (Han 2019, sec. 7, with the corrections of theory G): the
/// particles' grid after its own forces meets the fields of the bodies, one body after the other, where the gap between
/// them is no more than the rest offset of bodies, or would be after this step. Changes the
/// velocities of the particles' grid, and leaves what the bodies get in `work.change`, for `hand_to_vertices`; each
/// pair keeps its momentum. In the paper's form it changes the velocities of its field as printed, and contact among
/// bodies reads them from there (eq. 51). Returns the largest velocity component it leaves on the particles' grid
/// [m/s]. `friction` is that of each body with the particles.
template <class Real>
double couple(Exec& ex, const SolidMesh<Real>& mesh, const Array<Real>& friction, const ContactConstants& constants,
              const GridNodes<Real, 3>& grid, double dt, ContactFields<Real>& fields, CouplingWorkspace<Real>& work);

}  // namespace tribo::TRIBO_BACKEND

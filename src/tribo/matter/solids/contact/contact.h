#pragma once

#include <cstdint>

#include "tribo/contact/colliders.h"
#include "tribo/grid/blocks.h"
#include "tribo/math/spin.h"
#include "tribo/matter/solids/stages/state.h"

/// \file
/// Contact of hybrid solids (Han 2019, sec. 4): samples of boundaries meet through fields on a grid, one for each body,
/// and give the impulses they find to the vertices of their triangles. The balanced form is that of experiments_solids
/// "Contact form C": every sample against the fields of the other bodies, with a gap test, and what it takes is given
/// to the other body through the grid, so that each pair keeps its momentum exactly.
///
/// Most samples are near nothing. Bins know the box that their samples are in, and only those near another field's are
/// summed; a body meets itself only where normals around a bin may oppose each other. What is left out adds nothing.
/// Who may meet whom is listed with a skin around everything, and listed anew when something has moved through it: in
/// most steps nothing is sorted.
///
/// No two kernels add to the same number: each block of a field sums what samples give to its nodes, samples gather
/// from nodes, vertices from samples, each in the order of the sorted samples. Results have the same bytes for any
/// number of threads.

namespace tribo::TRIBO_BACKEND {

struct ContactConstants {
  double dx = 0;       ///< of the contact grid [m]
  double gravity = 0;  ///< |g|, for the speed below which nothing bounces [m/s^2]
  ContactSpec spec;
};

/// Cells that samples may move along an axis while lists hold. A sample is listed in the lowest cell that its base node
/// may then be in, so that its base is that cell or the next one.
inline constexpr double contact_skin = 0.5;

/// Blocks of 4^3 nodes.
struct ContactBlock {
  static constexpr int side = 4;
  static constexpr int nodes = 64;
  static constexpr int cells = 64;  ///< in which samples are listed
  static constexpr int base_side = side + 1;
  static constexpr int bases = base_side * base_side * base_side;  ///< cells in which their bases may be
  static constexpr int neighbors = 8;  ///< blocks that samples of one block touch: itself and those ahead of it
};

/// Where a sample is.
template <class Real>
struct ContactPlace {
  Vec<Real, 3> x;       ///< in cells
  Vec<Real, 3> normal;  ///< outward, of its face
};

/// A sample as the grid takes it: what it adds to a node, but for the weight.
template <class Real>
struct ContactRow {
  static constexpr int sums = 32;  ///< whole registers
  /// Mass, and mass times velocity, normal n, place x in cells from the block's first node, and the symmetric parts of
  /// n x^T and n n^T with their off-diagonals twice, in the order of Sym; then nothing, the mass that driven vertices
  /// have of it, mass times the velocity at the step's begin, and mass times spin, half the curl of velocity.
  Real sum[sums];
  Real weight[3][3];  ///< of the quadratic kernel, per axis
  Index base;         ///< in the block of its bin, flat, with Block::base_side cells along an axis
};

/// Sums over the samples of one field at a node. Places are in cells from the first node of the node's own block.
template <class Real>
struct ContactNodeSums {
  static constexpr int inverse_total = 22;  ///< place of what `SumFields` leaves there [1/kg]
  static constexpr int driven = 23;
  static constexpr int begin = 24;
  static constexpr int spin = 27;
  Real sum[ContactRow<Real>::sums];
};

template <class Real>
struct NormalRange {
  Vec<Real, 3> low = Vec<Real, 3>::filled(Real(1)), high = Vec<Real, 3>::filled(Real(-1));

  TRIBO_HD void add(const Vec<Real, 3>& n) {
    for (int k = 0; k < 3; ++k) {
      low[k] = min(low[k], n[k]);
      high[k] = max(high[k], n[k]);
    }
  }
};

/// What the samples of a bin have in common when they are listed.
template <class Real>
struct ContactBox {
  Cell<3> low, high;    ///< cells, the last one included
  std::uint64_t cells;  ///< bit for each cell of the block that has samples
  NormalRange<Real> normals;
};

/// The nodes of one field in one block.
struct ContactPatch {
  Index field;
  Index block;  ///< into ContactFields::blocks
};

/// Bits for cells that bases of a bin's samples may be in: a word for each plane along the first axis.
struct ContactBases {
  std::uint32_t plane[ContactBlock::base_side];

  TRIBO_HD static ContactBases none() { return {}; }
  TRIBO_HD bool holds(Index base) const {
    constexpr int cells = ContactBlock::base_side * ContactBlock::base_side;
    return (plane[base / cells] >> (base % cells) & 1u) != 0;
  }
};

/// Samples of one bin that may touch another field.
struct ContactMeeting {
  Index bin;
  Index field;
  Index first;                           ///< slot of the bin's first sample
  Index patch[ContactBlock::neighbors];  ///< of the other field in each block the bin touches, or -1
  ContactBases near;                     ///< from which the other field is near
};

/// A list of numbers, and how many there are.
struct ContactList {
  Index count = 0;
  Array<Index> items;
};

/// Samples sorted by block, field and cell, and the fields they make.
template <class Real>
struct ContactFields {
  // listed
  Index count = 0;  ///< samples that take part
  Index bin_count = 0, patch_count = 0, block_count = 0, meeting_count = 0, slot_count = 0;
  Array<std::uint64_t> keys;
  Array<Index> listed;  ///< sample at each place
  Array<Index> bin_of;
  TileWindow<3> window;
  Array<Bin<3>> bins;  ///< group: the field
  Array<ContactBox<Real>> boxes;
  Array<NormalRange<Real>> cell_normals;  ///< of each cell of each bin; of bodies that may touch themselves
  Array<Cell<3>> blocks;
  Array<Index> block_start;  ///< first patch; fields ascend
  Array<ContactPatch> patches;
  Array<Index> touch;          ///< 8 bin + neighbor
  Array<Index> touch_start;    ///< of each patch
  Array<Index> bin_patch;      ///< by 8 bin + neighbor; -1 of blocks that no sample reaches
  Array<Index> meeting_start;  ///< of each bin
  Array<ContactMeeting> meetings;
  Array<Index> needed;                     ///< of each patch: 1 where samples that meet read it
  ContactList summed;                      ///< those patches
  ContactList meeting;                     ///< bins that meet a field
  ContactList adding;                      ///< bins that add to needed patches
  ContactList active;                      ///< places of their samples
  ContactList pushed;                      ///< vertices that these push
  ContactList reacting;                    ///< patches that others react on
  Array<Index> reaction_start, reactions;  ///< of each of these: 8 meeting + neighbor
  Array<Index> change_of;                  ///< of each patch: its place in `reacting`, or -1
  // of each step
  Array<Index> order;       ///< sample at each place: those of a bin in the order of their bases
  Array<Index> base_start;  ///< of each bin, one more than it has bases
  Array<ContactRow<Real>> rows;
  Array<Vec<Real, 9>> gradient;        ///< of velocity in cells times mass, row-major; affine scatter only
  Array<ContactNodeSums<Real>> nodes;  ///< of each patch, and a block of zeros
  Array<Vec<Real, 4>> slots;           ///< impulse a sample gives to the other field, and 1 / Phi
  Array<Index> gives;                  ///< of each meeting: 1 where one of these is not zero
  Array<Vec<Real, 3>> taken;           ///< impulse each sample gets itself [kg m/s]
  Array<Index> touched;                ///< 1 where a sample is in contact
  Array<Vec<Real, 3>> change;          ///< of the velocity of nodes by reactions [m/s]
  Field<Real, 3> impulse;              ///< of each sample [kg m/s]; none of those that are not active
  // scratch memory
  RadixSorter sorter;
  Array<std::uint64_t> pair_keys;
  Array<Index> pairs, flags, starts;

  std::size_t bytes() const {
    std::size_t sum = keys.bytes() + rows.bytes() + gradient.bytes() + bins.bytes() + boxes.bytes() +
                      cell_normals.bytes() + blocks.bytes() + patches.bytes() + nodes.bytes() + meetings.bytes() +
                      slots.bytes() + taken.bytes() + change.bytes() + impulse.bytes() + sorter.bytes() +
                      pair_keys.bytes();
    for (const ContactList* list : {&summed, &meeting, &adding, &active, &pushed, &reacting})
      sum += list->items.bytes();
    for (const Array<Index>* a :
         {&listed, &bin_of, &block_start, &touch, &touch_start, &bin_patch, &meeting_start, &needed, &reaction_start,
          &reactions, &change_of, &order, &base_start, &gives, &touched, &pairs, &flags, &starts})
      sum += a->bytes();
    return sum;
  }
};

/// Some of what follows each other in an array.
struct ContactRun {
  Index begin, end;
};
/// Sums over the samples of bodies, in fixed runs: of samples, of runs, and one for each body.
struct SpinWorkspace {
  static constexpr int levels = 3;
  Index count[levels] = {0, 0, 0};
  Array<ContactRun> runs[levels];
  Array<SpinSums> sums[levels];
  Array<Index> place;  ///< of each body among those that are summed, or -1

  std::size_t bytes() const {
    std::size_t sum = place.bytes();
    for (int k = 0; k < levels; ++k) sum += runs[k].bytes() + sums[k].bytes();
    return sum;
  }
};

/// Scratch memory of contact, and what it computes once from the seed.
template <class Real>
struct ContactWorkspace {
  Array<Real> push;       ///< beta, by body
  Array<Real> thickness;  ///< behind each sample [m]
  bool any_self = false;
  bool listed = false;               ///< the lists are those of the state
  Array<ContactPlace<Real>> places;  ///< of samples when they were listed
  /// Velocities of vertices at the step's begin, by which samples that stick are held in place; null: nothing is held.
  const Field<Real, 3>* begin = nullptr;
  ContactFields<Real> bodies, self;
  SpinWorkspace spin, coupling_spin;
  Field<Real, 3> impulse;  ///< of each sample, from what is no body [kg m/s]
  Field<Real, 3> twist;    ///< of each sample: torque that particles did not give, in this step [kg m^2/s]
  Array<Index> touched;    ///< likewise: 1 where it touches
  Array<Index> told;       ///< of samples, then of vertices: the collider that each touched first, or -1
  Field<Real, 3> told_impulse;  ///< on that [kg m/s]
  Array<Index> needed;     ///< of each patch of bodies in this step, when particles are near
  Array<Index> upright;    ///< 1 for vertices that are no corner of a tet that is inside out; as of the lists

  std::size_t bytes() const {
    return push.bytes() + thickness.bytes() + places.bytes() + bodies.bytes() + self.bytes() + impulse.bytes() +
           twist.bytes() + touched.bytes() + told.bytes() + told_impulse.bytes() + needed.bytes() + upright.bytes() + spin.bytes() + coupling_spin.bytes();
  }
};

/// Samples in contact.
struct ContactCounts {
  Index bodies = 0;  ///< with another body (paper: with anything)
  Index self = 0;    ///< with another part of the same body
  Index colliders = 0;
};

template <class Real>
void load_contact(Exec& ex, const SolidSeed& seed, const ContactConstants& constants, ContactWorkspace<Real>& work);

/// Lists which samples may meet in a step of this length, unless the lists there are hold; what they were made from is
/// in the state, so that a resumed run has the same. Throws DivergedError for a vertex that is nowhere.
template <class Real>
void list_contacts(Exec& ex, const SolidMesh<Real>& mesh, const ContactConstants& constants, double dt,
                   SolidState<Real>& state, ContactWorkspace<Real>& work);

/// Makes the fields of bodies from positions and velocities of vertices: mass, momentum, normal and center of each
/// (body, node) as sums, in `work.bodies`. Nodes that no other body's sample can reach are left out, unless `found`
/// has a number that is not negative for their block.
template <class Real>
void make_body_fields(Exec& ex, const SolidMesh<Real>& mesh, const ContactConstants& constants,
                      const Array<Index>* found, const SolidState<Real>& state, ContactWorkspace<Real>& work);

/// The same again after nothing but velocities has changed.
template <class Real>
void refresh_body_fields(Exec& ex, const SolidMesh<Real>& mesh, const ContactConstants& constants,
                         const SolidState<Real>& state, ContactWorkspace<Real>& work);

/// Gives changes of node velocities of `work.bodies`, by patch and node, to the vertices: dv_q = sum_i w_iq dv_bi, and
/// dv_p = 1/m_p sum_q b_pq m_q dv_q. Keeps sum_i m_bi dv_bi. After `make_body_fields` with `found`; changes of nodes
/// that were left out are not read. What acted at nodes acts at samples now, and its torque is another one: the last
/// pass of a step takes the difference of all its passes from the bodies, as a rotation of each as a whole.
enum class CouplingPass { first, middle, last };
template <class Real>
void hand_to_vertices(Exec& ex, const SolidMesh<Real>& mesh, const ContactConstants& constants,
                      const Array<Vec<Real, 3>>& node_change, CouplingPass pass, SolidState<Real>& state,
                      ContactWorkspace<Real>& work);

/// From the velocities v_lag that meshes want to those that contact allows: bodies with each other, then each with
/// itself, then all with colliders. The first two keep momentum to rounding. Positions are those of the step's begin.
template <class Real>
ContactCounts contact_step(Exec& ex, const SolidMesh<Real>& mesh, const ContactConstants& constants,
                           const typename Colliders<Real, 3>::View& colliders, double dt, SolidState<Real>& state,
                           ContactWorkspace<Real>& work);

/// The same after `make_body_fields`, whose velocities decide; other impulses may have changed vertices since.
template <class Real>
ContactCounts contact_impulses(Exec& ex, const SolidMesh<Real>& mesh, const ContactConstants& constants,
                               const typename Colliders<Real, 3>::View& colliders, double dt, SolidState<Real>& state,
                               ContactWorkspace<Real>& work);

}  // namespace tribo::TRIBO_BACKEND

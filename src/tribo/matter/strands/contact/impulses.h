#pragma once

#include "tribo/exec/list_marked.h"
#include "tribo/matter/strands/contact/holder.h"
#include "tribo/matter/strands/contact/proximity.h"
#include "tribo/scene/contact.h"

/// \file
/// Impulses between strands by Jacobi iterations: all pairs at once, each on the velocities that the iteration before
/// left (Han 2019, 5.3; experiments_hair default 3, default 4, 6). Every change goes through the strands' own
/// matrix, so that a blow at one vertex moves its neighbors as the rod would have it.

namespace tribo::TRIBO_BACKEND {

using ImpulseForm = StrandContactSpec::Form;

template <class Real>
struct PairImpulse {
  Vec<Real, 3> J;  ///< of this iteration [N s]
  Real normal;     ///< sum, if accumulated
  Vec<Real, 3> tangential;
  Real normal_before;  ///< sums of the iteration before, if accelerated
  Vec<Real, 3> tangential_before;
};

/// Scratch memory of contact between strands.
template <class Real>
struct StrandContactWork {
  SegmentPads<Real> pads;
  Array<StrandPair<Real>> pairs;
  Index pair_count = 0;
  Array<PairImpulse<Real>> impulse;  ///< of pairs
  Array<Index> active;               ///< 1 of pairs that push
  Array<Index> chosen;               ///< pairs that are iterated, unless all are
  Index chosen_count = 0;
  bool all_chosen = true;
  bool goes_on = false;  ///< the same are chosen as by the iterations before
  Array<Index> pinched;  ///< pairs that are too near and come nearer
  Index pinched_count = 0;
  Array<Index> open;            ///< of strands: 1 where a pair was added since `prepare_pairs`, or was pinched
  Array<Index> involved;        ///< of strands: 1 where one of the chosen pairs is
  Array<std::uint64_t> owner;   ///< segments of the chosen pairs, rising
  Array<Index> incident;        ///< 2 pair + side, by owner
  Array<Index> incident_start;  ///< of each segment
  Array<Index> segment_active;  ///< pairs that push a segment
  Array<Index> strand_active;
  Array<Real> coupling;  ///< of each segment to the one before it on its strand
  Field<Real, 3> push;   ///< what pairs of a segment want together
  Field<Real, 3> felt;   ///< with what is felt of other segments
  Field<Real, 3> vertex_impulse;
  Field<Real, 3> v_before;  ///< velocities of the iteration before, if accelerated
  double momentum = 0;      ///< t of Nesterov's iterations, 0: none yet
  RadixSorter sorter;

  std::size_t bytes() const {
    return pads.bytes() + pairs.bytes() + impulse.bytes() + active.bytes() + chosen.bytes() + pinched.bytes() +
           open.bytes() + involved.bytes() + owner.bytes() + incident.bytes() + incident_start.bytes() +
           segment_active.bytes() + strand_active.bytes() + coupling.bytes() + push.bytes() + felt.bytes() +
           vertex_impulse.bytes() + v_before.bytes() + sorter.bytes();
  }
};

/// Of keys below `values`.
inline int bits_of(Index values) {
  int bits = 1;
  while (bits < 31 && (Index{1} << bits) < values) ++bits;
  return bits;
}

/// K of all pairs, no impulses of theirs yet, and which pairs each segment has. After `segment_compliance`.
template <class Real>
void prepare_pairs(Exec& ex, const RodMesh<Real>& mesh, const RodWorkspace<Real>& rods, StrandContactWork<Real>& work);
/// The same for pairs from `first_new` on, which were added to those that are prepared. From then on only pairs of
/// strands that have one of the added or of the pinched are iterated: a few strands in trouble are no reason to go on
/// with all.
template <class Real>
void prepare_added_pairs(Exec& ex, const RodMesh<Real>& mesh, const RodWorkspace<Real>& rods, Index first_new,
                         StrandContactWork<Real>& work);

/// What sums of the chosen pairs stand for, on velocities that know nothing of it yet.
template <class Real>
void give_impulses(Exec& ex, const RodMesh<Real>& mesh, RodState<Real>& state, RodWorkspace<Real>& rods,
                   StrandContactWork<Real>& work);

/// Up to `iterations`, fewer where no pair pushes any more; returns how many. Conserves momentum of strands that are
/// free: each pair is divided as a whole, by the most pairs that push one of its free vertices, which other than each
/// vertex's own count keeps impulses opposite (theory E.11); by more where pushes elsewhere on its strands add to its
/// own.
template <class Real>
int apply_impulses(Exec& ex, ImpulseForm form, int iterations, const RodMesh<Real>& mesh, RodState<Real>& state,
                   RodWorkspace<Real>& rods, StrandContactWork<Real>& work);

/// The same with accumulated impulses by accelerated iterations (Nesterov's): each begins where the change of the one
/// before leads to. What is pressed together in n layers needs about n of these, where it needs n^2 of the others.
/// Calls after the first since `prepare_pairs` go on from the one before. Without `part`, nothing has to become faster
/// than to stay as far away as it is. Returns 0 where no pair can push.
/// `holder`, unless null, has the last word in each.
template <class Real>
int settle_impulses(Exec& ex, int iterations, bool part, const RodMesh<Real>& mesh, RodState<Real>& state,
                    RodWorkspace<Real>& rods, StrandContactWork<Real>& work, StrandHolder<Real>* holder);

}  // namespace tribo::TRIBO_BACKEND

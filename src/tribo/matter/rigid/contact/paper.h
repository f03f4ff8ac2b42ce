#pragma once

#include "tribo/contact/colliders.h"
#include "tribo/exec/key_bits.h"
#include "tribo/matter/rigid/stages/rigid.h"

/// \file
/// Contact of rigid bodies with each other and with colliders as it is printed (Han 2019, sec. 6, eqs. 34 to 41, with
/// the corrections of theory F.2 to F.4), to show what it does; for figures. Samples of all surfaces, each with an
/// equal share of its body's mass, share one grid: they leave it their momentum and the stress of a third direction d3
/// that the grid carries along, and each reads back an impulse with its own mass. Only samples that touch answer, and
/// by a part of what gravity gave the whole body, so that bodies sink into what they stand on; and what one body reads
/// another does not, so that momentum is not kept.

namespace tribo::TRIBO_BACKEND {

struct PrintedContact {
  // from the seed: samples of bodies one after the other
  Index count = 0;
  Array<Index> body;          ///< of each
  Array<Index> begin;         ///< of each body, and the end of the last
  Field<double, 3> x, n, t;   ///< place, outward normal and a direction across it, in the body's frame
  Array<double> mass, slide;  ///< of each; friction coefficient [kg]
  Field<double, 3> d3;        ///< the state: elastic third directions, in the world
  double dx = 0;

  // of a step
  Field<double, 3> trial;    ///< d3 as the grid has carried it
  Field<double, 3> impulse;  ///< on the body [N s]
  Field<double, 7> entry;    ///< of each sample and node: mass, momentum, force
  Array<std::uint64_t> key;
  Array<Index> order, node_of, mark, first;
  Field<double, 3> node_v;
  RadixSorter sorter;

  bool empty() const { return count == 0; }
  std::size_t bytes() const {
    return body.bytes() + begin.bytes() + x.bytes() + n.bytes() + t.bytes() + mass.bytes() + slide.bytes() +
           d3.bytes() + trial.bytes() + impulse.bytes() + entry.bytes() + key.bytes() + order.bytes() +
           node_of.bytes() + mark.bytes() + first.bytes() + node_v.bytes() + sorter.bytes();
  }
};

/// Samples on the surfaces of bodies of objects; those of colliders are left to the grid.
void load_printed(Exec& ex, const RigidSeed& seed, double dx, PrintedContact& contact);

/// One step of theory F.4, from the velocities that bodies have without contact. Bodies must be placed.
void push_printed(Exec& ex, const RigidMesh& mesh, const Colliders<double, 3>::View& colliders,
                  const ContactTally& tally, double dt, RigidWork& work, PrintedContact& contact);

/// Bodies have moved: d3 onto Coulomb's cone (theory F.3).
void keep_printed(Exec& ex, const RigidState& state, PrintedContact& contact);

}  // namespace tribo::TRIBO_BACKEND

#pragma once

#include <vector>

#include "tribo/exec/backend.h"
#include "tribo/matter/rigid/seed.h"

/// \file
/// In which order the equations of joints are eliminated, for a factorization
///   [ M  J^T ] = L D L^T
///   [ J  -C  ]
/// of what hangs together: M of the bodies that move, J of the rows, C what is soft. Who is joined to whom never
/// changes, so all of this is found once.
///
/// Bodies form a tree, whose root is the world where that is part of it. They are eliminated from the ends to the root,
/// each with the joint by which it hangs right after it: what hangs there is free but for its own joints, so no row of
/// the joint is at odds with others, and nothing fills in. A joint that closes a loop follows the body where the ways
/// from its two sides meet, when all that it depends on is gone: there rows may be redundant, and only there.

namespace tribo::TRIBO_BACKEND {

struct JointNode {
  Index joint, body;  ///< one of them; the other is -1
  Index at, size;     ///< its scalars in the component
  Index near_begin, near_end;
};
/// A neighbor that is eliminated earlier.
struct JointNear {
  Index joint, body;  ///< of which both are known: that of the node, or of the neighbor
  Index second;       ///< 1: the body is the joint's b
  Index rows;         ///< of the joint
  Index at;           ///< of the neighbor
};
struct JointComponent {
  Index node_begin, node_end;
  Index first, size;  ///< scalars
};
/// An entry of a row of L.
struct JointEntry {
  Index column;  ///< in the component
  Index place;   ///< in `l_row` and `l`
};

struct JointOrder {
  Array<JointComponent> component;
  Array<JointNode> node;
  Array<JointNear> near;
  Array<Index> column_begin, row_begin;  ///< of each scalar, and the end
  Array<JointEntry> entry;
  Array<Index> l_row;
  Array<double> l, d, x, y;
  Array<Index> fresh;  ///< of each component: 1 where l and d are those of its rows' pieces
  Index components = 0;

  std::size_t bytes() const {
    return component.bytes() + node.bytes() + near.bytes() + column_begin.bytes() + row_begin.bytes() + entry.bytes() +
           l_row.bytes() + l.bytes() + d.bytes() + x.bytes() + y.bytes() + fresh.bytes();
  }
};

/// `rows`: of each joint.
void order_joints(Exec& ex, const RigidSeed& seed, const std::vector<Index>& rows, JointOrder& order);

}  // namespace tribo::TRIBO_BACKEND

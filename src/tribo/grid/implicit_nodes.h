#pragma once

#include "tribo/grid/arena.h"
#include "tribo/linear/vectors.h"

/// \file
/// Implicit steps, the part over grid nodes: gradients, products and residuals of Newton's method, and contacts.

namespace tribo::TRIBO_BACKEND::implicit {

template <class Real, int D>
TRIBO_HD Vec<Real, D> vector_of(const NodePack<Real>& pack) {
  Vec<Real, D> r;
  for (int k = 0; k < D; ++k) r[k] = pack[k];
  return r;
}
template <class Real, int D>
TRIBO_HD NodePack<Real> pack_of(const Vec<Real, D>& v, Real last) {
  return node_pack<Real>(v[0], v[1], D == 3 ? v[D - 1] : Real(0), last);
}
/// Vectors over nodes. Their last numbers are 0, where the grid's own have masses.
template <class Real, int D>
using NodeSpace = linear::PackSpace<Real, D>;

/// What kernels over nodes need of contacts.
template <class Real, int D>
struct ContactAccess {
  const Index* of;
  const ContactNode<Real, D>* contacts;
  Real slow;  ///< speed below which slip has no direction of its own

  TRIBO_HD const ContactNode<Real, D>* at(Size node) const {
    const Index c = of[node];
    return c >= 0 ? contacts + c : nullptr;
  }
};

template <class Real, int D>
struct BlockNodes {
  NodePack<Real> node[BlockShape<D>::nodes];
};

/// gradient = M (v - v*) + what the arenas hold
template <class Real, int D>
struct GradientBlock {
  TouchView touches;
  const NodePack<Real>* arenas;
  const NodePack<Real>* star;
  const NodePack<Real>* grid;
  NodePack<Real>* gradient;

  TRIBO_HD void operator()(const Team& team, Index b, BlockNodes<Real, D>& sums) const {
    using Shape = BlockShape<D>;
    sum_arenas<D, 3>(team, b, touches, arenas, sums.node);
    for (int i = team.rank(); i < Shape::nodes; i += Team::size) {
      const Size at = Size{b} * Shape::nodes + i;
      const Real mass = star[at][3];
      Vec<Real, D> r;
      for (int k = 0; k < D; ++k) r[k] = fma(mass, grid[at][k] - star[at][k], sums.node[i][k]);
      gradient[at] = pack_of(r, Real(0));
    }
  }
};

/// product = the derivative of the gradient along `direction`, with friction, where nodes are free
template <class Real, int D>
struct ProductBlock {
  TouchView touches;
  const NodePack<Real>* arenas;
  const NodePack<Real>* grid;
  const NodePack<Real>* direction;
  ContactAccess<Real, D> contact;
  NodePack<Real>* product;

  TRIBO_HD void operator()(const Team& team, Index b, BlockNodes<Real, D>& sums) const {
    using Shape = BlockShape<D>;
    sum_arenas<D, 3>(team, b, touches, arenas, sums.node);
    for (int i = team.rank(); i < Shape::nodes; i += Team::size) {
      const Size at = Size{b} * Shape::nodes + i;
      const Vec<Real, D> w = vector_of<Real, D>(direction[at]);
      Vec<Real, D> r;
      for (int k = 0; k < D; ++k) r[k] = fma(grid[at][3], w[k], sums.node[i][k]);
      if (const auto* c = contact.at(at)) {
        if (c->slips()) r = r + c->drag_change(vector_of<Real, D>(grid[at]), w, contact.slow);
        r = c->free_part(r);
      }
      product[at] = pack_of(r, Real(0));
    }
  }
};

/// The linear system's first residual, -gradient with friction where nodes are free; no step yet.
template <class Real, int D>
struct BeginLinear {
  const NodePack<Real>* grid;
  const NodePack<Real>* gradient;
  ContactAccess<Real, D> contact;
  NodePack<Real>* residual;
  NodePack<Real>* step;

  TRIBO_HD void operator()(Index i) const {
    Vec<Real, D> r = -vector_of<Real, D>(gradient[i]);
    if (const auto* c = contact.at(i)) {
      if (c->slips()) r = r - c->drag(vector_of<Real, D>(grid[i]), contact.slow);
      r = c->free_part(r);
    }
    if (!(grid[i][3] > Real(0))) r = Vec<Real, D>::zero();
    residual[i] = pack_of(r, Real(0));
    step[i] = NodePack<Real>(Real(0));
  }
};

/// r over mass; 0 where there is none.
template <class Real, int D>
struct InverseMass {
  const NodePack<Real>* grid;
  TRIBO_HD NodePack<Real> operator()(Index i, const NodePack<Real>& r) const {
    const Real mass = grid[i][3];
    return r * NodePack<Real>(mass > Real(0) ? Real(1) / mass : Real(0));
  }
  TRIBO_HD double dot(Index i, const NodePack<Real>& r) const {
    return grid[i][3] > Real(0) ? NodeSpace<Real, D>::dot(r, r) / static_cast<double>(grid[i][3]) : 0;
  }
};

/// d . (gradient + friction); d is free of what contacts hold.
template <class Real, int D>
struct Slope {
  const NodePack<Real>* grid;
  const NodePack<Real>* gradient;
  const NodePack<Real>* step;
  ContactAccess<Real, D> contact;
  TRIBO_HD double operator()(Index i) const {
    NodePack<Real> g = gradient[i];
    if (const auto* c = contact.at(i); c != nullptr && c->slips())
      g = pack_of(vector_of<Real, D>(g) + c->drag(vector_of<Real, D>(grid[i]), contact.slow), Real(0));
    return NodeSpace<Real, D>::dot(g, step[i]);
  }
};

/// 1 for nodes that touch colliders.
template <class Real, int D>
struct FindContact {
  const Cell<D>* blocks;
  const NodePack<Real>* grid;
  typename Colliders<Real, D>::View colliders;
  Real dx;
  Index* found;

  TRIBO_HD Vec<Real, D> position(Index i) const {
    const Cell<D> within = unflatten<D>(i % BlockShape<D>::nodes, BlockShape<D>::side);
    const Cell<D> block = blocks[i / BlockShape<D>::nodes];
    Vec<Real, D> x;
    for (int k = 0; k < D; ++k) x[k] = dx * Real(block[k] * BlockShape<D>::side + within[k]);
    return x;
  }
  TRIBO_HD void operator()(Index i) const {
    Index r = 0;
    if (grid[i][3] > Real(0))
      colliders.each_contact(position(i), Real(contact_slack) * dx, [&](const Contact<Real, D>&) { r = 1; });
    found[i] = r;
  }
};
/// Contacts as v* finds them.
template <class Real, int D>
struct WriteContact {
  FindContact<Real, D> find;  ///< its `found` becomes the contact of each node
  const Index* before;        ///< found nodes before each
  ContactNode<Real, D>* contacts;
  NodePack<Real>* grid;

  TRIBO_HD void operator()(Index i) const {
    const Index number = before[i];
    bool any = false;
    ContactNode<Real, D> c;
    c.clear(i);
    if (grid[i][3] > Real(0))
      find.colliders.each_contact(find.position(i), Real(contact_slack) * find.dx,
                                  [&](const Contact<Real, D>& contact) {
                                    c.add(contact);
                                    any = true;
                                  });
    find.found[i] = any ? number : -1;
    if (!any) return;
    const Vec<Real, D> v = vector_of<Real, D>(grid[i]);
    c.begin(v, grid[i][3]);
    contacts[number] = c;
    grid[i] = pack_of(c.constrained(v), grid[i][3]);
  }
};

/// Contacts after an iterate. Flags: 1 a velocity had to change, 2 a contact has, 4 there is friction.
template <class Real, int D>
struct UpdateContact {
  const NodePack<Real>* gradient;
  Real slow;
  bool settled;
  ContactNode<Real, D>* contacts;
  NodePack<Real>* grid;
  Index* flags;

  TRIBO_HD void operator()(Index i) const {
    ContactNode<Real, D>& c = contacts[i];
    const Vec<Real, D> v = vector_of<Real, D>(grid[c.node]);
    const auto change = c.update(vector_of<Real, D>(gradient[c.node]), v, grid[c.node][3], slow, settled);
    if (change.moved) grid[c.node] = pack_of(c.constrained(v), grid[c.node][3]);
    flags[i] = (change.moved ? 1 : 0) + (change.changed ? 2 : 0) + (c.rubs() ? 4 : 0);
  }
};
/// Tells what colliders have got of a contact.
template <class Real, int D>
struct TellContact {
  FindContact<Real, D> find;
  const NodePack<Real>* gradient;
  const ContactNode<Real, D>* contacts;

  TRIBO_HD void operator()(Index i, TallyRun& run) const {
    const ContactNode<Real, D>& c = contacts[i];
    const Vec<double, 3> x = in_space(find.position(c.node));
    c.each_part(vector_of<Real, D>(gradient[c.node]), [&](Index collider, const Vec<Real, D>& impulse) {
      run.add(collider, x, -in_space(impulse));
    });
  }
};
struct LoadFlags {
  const Index* flags;
  TRIBO_HD Index operator()(Index i) const { return flags[i]; }
};
struct OrFlags {
  TRIBO_HD Index operator()(Index a, Index b) const { return a | b; }
};

}  // namespace tribo::TRIBO_BACKEND::implicit

#include "tribo/matter/solids/stages/couple.h"

#include <algorithm>
#include <cmath>

#include "tribo/contact/coulomb.h"
#include "tribo/exec/mark.h"
#include "tribo/grid/find_block.h"
#include "tribo/matter/solids/contact/samples.h"

namespace tribo::TRIBO_BACKEND {
namespace {

struct FindBlock {
  const Cell<3>* blocks;
  Index block_count;
  const Cell<3>* wanted;
  Index* found;
  TRIBO_HD void operator()(Index i) const { found[i] = find_block(blocks, block_count, wanted[i]); }
};

/// Where particles begin that fill what is ahead of a node, in cells from it: from the masses there and a cell ahead,
/// whose ratio neither their density nor an edge beside changes. With the integral G of the quadratic kernel,
///   mass / mass_ahead = G(u) / G(u - 1),   G(u) = 1 - G(-u) = (3/2 - u)^3 / 6 for u > 1/2;
/// between its values at 1, 1/2, 0, -1/2 and -1 it is near enough to lines. Particles that fill less seem nearer to the
/// node, never farther.
template <class Real>
TRIBO_HD Real surface_ahead(Real mass, Real mass_ahead) {
  constexpr Real ratio[] = {Real(0),     Real(0.00135), Real(0.0417), Real(0.2),
                            Real(0.511), Real(0.8333),  Real(0.9792), Real(1)};
  constexpr Real place[] = {Real(1.5), Real(1.3), Real(1), Real(0.5), Real(0), Real(-0.5), Real(-1), Real(-1.5)};
  if (!(mass < mass_ahead)) return place[7];
  const Real r = mass / mass_ahead;
  int k = 0;
  while (k < 6 && r > ratio[k + 1]) ++k;
  return place[k] + (place[k + 1] - place[k]) * (r - ratio[k]) / (ratio[k + 1] - ratio[k]);
}

/// The nodes of both grids, and what stands between them.
template <class Real>
struct TwoGrids {
  using Block = ContactBlock;
  const Cell<3>* grid_blocks;
  Index grid_block_count;
  NodePack<Real>* grid;
  const Index* found;
  const Cell<3>* blocks;
  const Index* block_start;
  const ContactPatch* patches;
  ContactNodeSums<Real>* nodes;

  TRIBO_HD ContactNodeSums<Real>& first(Index patch, int node) const {
    return nodes[Size{patch} * Block::nodes + node];
  }

  /// Out of the body (eq. 45). Where its normals cancel, in a thin sheet or at a sharp edge, the side on which the
  /// particles are decides instead: any direction keeps momentum and energy, and only its quality differs.
  TRIBO_HD bool normal(Index b, int node, const ContactNodeSums<Real>& sums, Vec<Real, 3>& n) const {
    n = {{sums.sum[4], sums.sum[5], sums.sum[6]}};
    const Real length = sqrt(squared_norm(n));
    if (length >= Real(0.3) * sums.sum[0]) {
      n = n * (Real(1) / length);
      return true;
    }
    Real largest = Real(0);
    for (int k = 0; k < 3; ++k) {
      Cell<3> step = {{0, 0, 0}};
      step[k] = 1;
      const Real ahead = mass_beside(b, node, step);
      step[k] = -1;
      const Real behind = mass_beside(b, node, step);
      n[k] = ahead - behind;
      largest = max(largest, max(ahead, behind));
    }
    const Real rise = sqrt(squared_norm(n));
    if (!(rise > Real(1e-3) * largest)) return false;
    n = n * (Real(1) / rise);
    return true;
  }
  /// Mass of the particles at a node some steps away, fewer than a block has.
  TRIBO_HD Real mass_beside(Index b, int node, const Cell<3>& step) const {
    Cell<3> at = unflatten<3>(node, Block::side) + step;
    Cell<3> other = blocks[b];
    bool beyond = false;
    for (int k = 0; k < 3; ++k) {
      const std::int32_t ahead = at[k] < 0 ? -1 : at[k] >= Block::side ? 1 : 0;
      beyond = beyond || ahead != 0;
      other[k] += ahead;
      at[k] -= ahead * Block::side;
    }
    const Index block = beyond ? find_block(grid_blocks, grid_block_count, other) : found[b];
    return block < 0 ? Real(0) : grid[Size{block} * Block::nodes + flatten(at, Block::side)][3];
  }
  /// The same at a distance of at most a cell, between nodes.
  TRIBO_HD Real mass_at(Index b, int node, const Vec<Real, 3>& away) const {
    Cell<3> low;
    Vec<Real, 3> part;
    for (int k = 0; k < 3; ++k) {
      low[k] = away[k] < Real(0) ? -1 : 0;
      part[k] = away[k] - Real(low[k]);
    }
    Real sum = Real(0);
    for (int corner = 0; corner < 8; ++corner) {
      Cell<3> step = low;
      Real w = Real(1);
      for (int k = 0; k < 3; ++k) {
        const int next = corner >> k & 1;
        step[k] += next;
        w *= next != 0 ? part[k] : Real(1) - part[k];
      }
      if (w > Real(0)) sum += w * mass_beside(b, node, step);
    }
    return sum;
  }

  /// Distance between the body and the particles around a node, along n, in cells: from the body's plane to the node,
  /// and from there to where the particles begin.
  TRIBO_HD Real gap(Index b, int node, const ContactNodeSums<Real>& sums, Real mass, const Vec<Real, 3>& n) const {
    return distance(node, sums, n) +
           max(surface_ahead(mass, mass_at(b, node, n)), surface_ahead(mass_at(b, node, n * Real(-1)), mass) - Real(1));
  }
  TRIBO_HD static Real distance(int node, const ContactNodeSums<Real>& sums, const Vec<Real, 3>& n) {
    const Cell<3> at = unflatten<3>(node, Block::side);
    const Real inverse = Real(1) / sums.sum[0];
    ContactPartner<Real> body{};
    for (int k = 0; k < 3; ++k) {
      body.normal[k] = inverse * sums.sum[4 + k];
      body.from[k] = Real(at[k]);
      body.away[k] = inverse * sums.sum[7 + k] - body.from[k];
    }
    for (int k = 0; k < 6; ++k) {
      body.planes.s[k] = inverse * sums.sum[10 + k];
      body.normals.s[k] = inverse * sums.sum[16 + k];
    }
    return contact_gap(body, n * Real(-1));
  }
};

/// When a body and particles touch. Kernels of both sides overlap from three cells on: only the gap tells.
template <class Real>
struct CouplingGap {
  Real rest;          ///< gap at which they do [cells]
  Real step;          ///< speed that closes a cell in this step [m/s]
  Real return_speed;  ///< at which they part, per cell that is missing to the gap [m/s]

  /// What is too much of an approach speed: they may close the gap within the step, and win slowly back what is
  /// missing to it. Vertices pass on less of an impulse than nodes took: by this what is heavy sinks a little and
  /// stays.
  TRIBO_HD Real excess(Real gap, Real approach) const {
    if (gap > rest) return approach - (gap - rest) * step;
    return approach + min(rest - gap, Real(0.25)) * return_speed;
  }
};

/// How each body faces the particles at a node: it is the same in all passes of a step.
template <class Real>
struct FaceNode {
  using Block = ContactBlock;
  TwoGrids<Real> grids;
  Vec<Real, 4>* facing;

  TRIBO_HD void operator()(Index i) const {
    const Index b = i / Block::nodes;
    const int node = static_cast<int>(i % Block::nodes);
    if (grids.found[b] < 0) return;
    const Real m2 = grids.grid[Size{grids.found[b]} * Block::nodes + node][3];
    if (!(m2 > Real(0))) return;
    for (Index patch = grids.block_start[b]; patch < grids.block_start[b + 1]; ++patch) {
      const ContactNodeSums<Real>& first = grids.first(patch, node);
      Vec<Real, 4>& to = facing[Size{patch} * Block::nodes + node];
      Vec<Real, 3> n;
      to = Vec<Real, 4>::zero();
      if (!(first.sum[0] > Real(0)) || !grids.normal(b, node, first, n)) continue;
      to = {{n[0], n[1], n[2], grids.gap(b, node, first, m2, n)}};
    }
  }
};

struct ClearOwn {
  Index* own;
  TRIBO_HD void operator()(Index i) const { own[i] = 0; }
};
/// A vertex of a strand, at all nodes of its kernel.
template <class Real>
struct MarkOwn {
  using Block = ContactBlock;
  const Index *vertex, *body;
  FieldView<const Real, 3> x;
  Real inverse_dx;
  const Cell<3>* blocks;
  Index block_count;
  const Index* block_start;
  const ContactPatch* patches;
  Index* own;

  TRIBO_HD void operator()(Index i) const {
    Cell<3> base;
    for (int k = 0; k < 3; ++k) base[k] = static_cast<std::int32_t>(floor(x[k][vertex[i]] * inverse_dx - Real(0.5)));
    for (int n = 0; n < 27; ++n) {
      const Cell<3> node{{base[0] + n / 9, base[1] + n / 3 % 3, base[2] + n % 3}};
      Cell<3> block, at;
      for (int k = 0; k < 3; ++k) {
        block[k] = node[k] >> 2;
        at[k] = node[k] & 3;
      }
      const Index b = find_block(blocks, block_count, block);
      for (Index patch = b < 0 ? 0 : block_start[b]; b >= 0 && patch < block_start[b + 1]; ++patch)
        if (patches[patch].field == body[i]) mark_one(own + (Size{patch} * Block::nodes + flatten(at, Block::side)));
    }
  }
};
template <class Real>
struct LeaveOwn {
  const Index* own;
  Vec<Real, 4>* facing;
  TRIBO_HD void operator()(Index i) const {
    if (own[i] != 0) facing[i] = Vec<Real, 4>::zero();
  }
};

/// One node of the samples' blocks: all bodies that are there, one after the other, against the particles.
template <class Real>
struct CoupleNode {
  using Block = ContactBlock;
  TwoGrids<Real> grids;
  const Vec<Real, 4>* facing;
  const Real* friction;  ///< of each body
  const Index* kinematic;
  CouplingGap<Real> touching;
  bool printed;
  Vec<Real, 3>* change;

  TRIBO_HD void operator()(Index i) const {
    const Index b = i / Block::nodes;
    const int node = static_cast<int>(i % Block::nodes);
    const Index begin = grids.block_start[b], end = grids.block_start[b + 1];
    for (Index patch = begin; patch < end; ++patch) change[Size{patch} * Block::nodes + node] = Vec<Real, 3>::zero();
    if (grids.found[b] < 0) return;
    NodePack<Real>& second = grids.grid[Size{grids.found[b]} * Block::nodes + node];
    const Real m2 = second[3];
    if (!(m2 > Real(0))) return;
    Vec<Real, 3> v2{{second[0], second[1], second[2]}};
    for (Index patch = begin; patch < end; ++patch) {
      ContactNodeSums<Real>& first = grids.first(patch, node);
      const Real m1 = first.sum[0];
      const Vec<Real, 4>& face = facing[Size{patch} * Block::nodes + node];
      const Vec<Real, 3> n{{face[0], face[1], face[2]}};
      if (!(squared_norm(n) > Real(0))) continue;
      Vec<Real, 3> v1;
      for (int k = 0; k < 3; ++k) v1[k] = first.sum[1 + k] / m1;
      const Vec<Real, 3> slip = v1 - v2;
      const Real approach = dot(slip, n);
      const Real closing = printed ? approach : touching.excess(face[3], approach);
      if (!(closing > Real(0))) continue;  // eq. 46
      const Index body = printed ? 0 : grids.patches[patch].field;
      const bool fixed = !printed && kinematic[body] != 0;
      const Vec<Real, 3> along = slip - n * approach;
      const Real speed = sqrt(squared_norm(along));
      const Real mobility = fixed ? Real(0) : printed ? Real(1) / m1 : free_part(first) / m1;
      const Real reduced = Real(1) / (mobility + Real(1) / m2);
      const Real push = reduced * closing;  // eqs 47, 48
      const auto impulse = [&](Real rub) { return speed > Real(0) ? n * push + along * (rub / speed) : n * push; };
      if (printed) {  // eqs 49, 50: each side has a cap of its own
        const Real limit = friction_limit(friction[body], push);
        const Real rub1 = min(limit / m1, speed), rub2 = min(limit / m2, speed);
        const Vec<Real, 3> change1 = impulse(rub1 * m1) * (Real(1) / m1);
        v2 = v2 + impulse(rub2 * m2) * (Real(1) / m2);
        for (int k = 0; k < 3; ++k) first.sum[1 + k] -= m1 * change1[k];
        continue;
      }
      const Vec<Real, 3> P = impulse(friction_impulse(friction[body], push, reduced * speed));
      v2 = v2 + P * (Real(1) / m2);
      change[Size{patch} * Block::nodes + node] = P * -mobility;
    }
    second = node_pack<Real>(v2[0], v2[1], v2[2], m2);
  }
};

/// Largest velocity component of the particles' grid at a node of the samples' blocks.
template <class Real>
struct CoupledSpeed {
  using Block = ContactBlock;
  const Index* found;
  const NodePack<Real>* grid;
  TRIBO_HD Real operator()(Index i) const {
    const Index block = found[i / Block::nodes];
    if (block < 0) return Real(0);
    const NodePack<Real>& node = grid[Size{block} * Block::nodes + i % Block::nodes];
    Real largest = Real(0);
    for (int k = 0; k < 3; ++k) largest = max(largest, abs(node[k]));
    return largest;
  }
};
template <class Real>
TwoGrids<Real> two_grids(const GridNodes<Real, 3>& grid, ContactFields<Real>& fields,
                         const CouplingWorkspace<Real>& work) {
  return {grid.blocks,           grid.block_count,     grid.nodes,
          work.found.data(),     fields.blocks.data(), fields.block_start.data(),
          fields.patches.data(), fields.nodes.data()};
}

}  // namespace

template <class Real>
void find_particles(Exec& ex, const GridNodes<Real, 3>& grid, const ContactFields<Real>& fields,
                    CouplingWorkspace<Real>& work) {
  work.found.resize_discard(fields.block_count);
  parallel_for(ex, "couple", fields.block_count,
               FindBlock{grid.blocks, grid.block_count, fields.blocks.data(), work.found.data()});
}

template <class Real>
void face_particles(Exec& ex, const GridNodes<Real, 3>& grid, ContactFields<Real>& fields,
                    CouplingWorkspace<Real>& work) {
  work.facing.resize_discard(Size{fields.patch_count} * ContactBlock::nodes);
  parallel_for(ex, "couple", fields.block_count * ContactBlock::nodes,
               FaceNode<Real>{two_grids(grid, fields, work), work.facing.data()});
}

template <class Real>
void leave_own_strands(Exec& ex, const OwnStrands<Real>& own, double dx, ContactFields<Real>& fields,
                       CouplingWorkspace<Real>& work) {
  if (own.count == 0) return;
  const Index nodes = fields.patch_count * ContactBlock::nodes;
  work.own.resize_discard(nodes);
  parallel_for(ex, "couple", nodes, ClearOwn{work.own.data()});
  parallel_for(
      ex, "couple", own.count,
      MarkOwn<Real>{own.vertex.data(), own.body.data(), view(*own.x), static_cast<Real>(1 / dx), fields.blocks.data(),
                    fields.block_count, fields.block_start.data(), fields.patches.data(), work.own.data()});
  parallel_for(ex, "couple", nodes, LeaveOwn<Real>{work.own.data(), work.facing.data()});
}

template <class Real>
double couple(Exec& ex, const SolidMesh<Real>& mesh, const Array<Real>& friction, const ContactConstants& constants,
              const GridNodes<Real, 3>& grid, double dt, ContactFields<Real>& fields, CouplingWorkspace<Real>& work) {
  // In three times the time in which gravity moves something by a cell: faster, and what overlaps would bounce, and
  // what lies on sand would knead it and sink.
  const double return_speed = 0.3 * std::sqrt(constants.dx * std::max(constants.gravity, 1.0));
  const CouplingGap<Real> gap{Real(constants.spec.rest_offset), Real(constants.dx / dt), Real(return_speed)};
  const Index nodes = fields.block_count * ContactBlock::nodes;
  work.change.resize_discard(Size{fields.patch_count} * ContactBlock::nodes);
  parallel_for(
      ex, "couple", nodes,
      CoupleNode<Real>{two_grids(grid, fields, work), work.facing.data(), friction.data(), mesh.kinematic.data(), gap,
                       constants.spec.form == ContactSpec::Form::paper, work.change.data()});
  return static_cast<double>(
      reduce(ex, "couple", nodes, Real(0), CoupledSpeed<Real>{work.found.data(), grid.nodes}, Larger<Real>{}));
}

#define TRIBO_INSTANTIATE(Real)                                                                                   \
  template void find_particles(Exec&, const GridNodes<Real, 3>&, const ContactFields<Real>&,                      \
                               CouplingWorkspace<Real>&);                                                         \
  template void face_particles(Exec&, const GridNodes<Real, 3>&, ContactFields<Real>&, CouplingWorkspace<Real>&); \
  template void leave_own_strands(Exec&, const OwnStrands<Real>&, double, ContactFields<Real>&,                   \
                                  CouplingWorkspace<Real>&);                                                      \
  template double couple(Exec&, const SolidMesh<Real>&, const Array<Real>&, const ContactConstants&,              \
                         const GridNodes<Real, 3>&, double, ContactFields<Real>&, CouplingWorkspace<Real>&);
TRIBO_INSTANTIATE(float)
TRIBO_INSTANTIATE(double)
#undef TRIBO_INSTANTIATE

}  // namespace tribo::TRIBO_BACKEND

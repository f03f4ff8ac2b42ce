#include "tribo/matter/rigid/contact/nodes.h"

#include "tribo/exec/list_marked.h"

namespace tribo::TRIBO_BACKEND {
namespace {

constexpr const char* nodes_label = "rigid nodes";
constexpr Index nodes_grain = 256;
constexpr int nodes = BlockShape<3>::nodes;

TRIBO_HD Vec3d node_at(const Cell<3>& block, int node, double dx) {
  const Cell<3> c = unflatten<3>(node, BlockShape<3>::side);
  Vec3d x;
  for (int k = 0; k < 3; ++k) x[k] = dx * (BlockShape<3>::side * block[k] + c[k]);
  return x;
}

template <class Real>
struct MeasureNode {
  const BodyBlock* pair;
  const Cell<3>* cell;
  const NodePack<Real>* center;
  RigidView bodies;
  double dx;
  Real* depth;
  Index *mark, *point_at;

  TRIBO_HD void operator()(Index i) const {
    const BodyBlock& own = pair[i / nodes];
    const int node = static_cast<int>(i % nodes);
    mark[i] = 0;
    point_at[i] = -1;
    depth[i] = static_cast<Real>(near_cells);
    const NodePack<Real>& mass = center[Size{own.near} * nodes + node];
    if (!(mass[3] > Real(0))) return;  // nobody is near
    const Vec3d x = node_at(cell[own.near], node, dx);
    const PlacedBody& body = bodies.body[own.body];
    const double here = bodies.shapes.nearest(body, x).distance;
    depth[i] = static_cast<Real>(here / dx);
    if (!(here < near_cells * dx)) return;
    mark[i] = here < touching_cells * dx ||
                      bodies.shapes.nearest(body, x + away(mass, dx)).distance < touching_cells * dx
                  ? 1
                  : 0;
  }
  TRIBO_HD static Vec3d away(const NodePack<Real>& center, double dx) {
    return {{dx * static_cast<double>(center[0]), dx * static_cast<double>(center[1]),
             dx * static_cast<double>(center[2])}};
  }
};
template <class Real>
struct MakePoint {
  const Index* place;
  const BodyBlock* pair;
  const Cell<3>* cell;
  const NodePack<Real>* center;
  RigidView bodies;
  const double* friction;
  double dx;
  Index* point_at;
  RigidPoint* point;
  TRIBO_HD void operator()(Index i) const {
    point_at[place[i]] = i;
    const BodyBlock& own = pair[place[i] / nodes];
    const int node = static_cast<int>(place[i] % nodes);
    const PlacedBody& body = bodies.body[own.body];
    RigidPoint p;
    p.body = own.body;
    p.at = node_at(cell[own.near], node, dx);
    p.n = normal(body, p.at, MeasureNode<Real>::away(center[Size{own.near} * nodes + node], dx));
    p.v = Vec3d::zero();
    p.inverse_mass = 1;
    p.allowed = 0;
    p.friction = friction[body.group];
    point[i] = p;
  }

 private:
  /// That of the surface nearest to the center of mass. Of an edge that is any of a fan, however, and by where the center
  /// is it would be one ahead of a box that slides over a bed: the bed was ploughed where nothing but its surface lies.
  /// Of the fan the one counts that points to where the mass is, seen from the node.
  TRIBO_HD Vec3d normal(const PlacedBody& body, const Vec3d& node, const Vec3d& away) const {
    const Vec3d center = node + away;
    const RigidSurface surface = bodies.shapes.nearest(body, center);
    const double far = sqrt(squared_norm(away));
    if (!(surface.distance > 0) || !(far > 0.1 * dx)) return surface.normal;
    const Vec3d way = (1 / far) * away;
    const double over = surface.distance * dot(surface.normal, way);
    if (!(over > 0)) return surface.normal;
    return bodies.shapes.nearest(body, center - surface.distance * surface.normal + over * way).normal;
  }
};

/// The points of a node of a near block.
struct PointsOfNode {
  const Index *pair_start, *pair_of, *point_at;
  template <class Visit>
  TRIBO_HD void operator()(Index near, int node, const Visit& visit) const {
    for (Index k = pair_start[near]; k < pair_start[near + 1]; ++k) {
      const Index point = point_at[Size{pair_of[k]} * nodes + node];
      if (point >= 0) visit(point);
    }
  }
};
template <class Real>
PointsOfNode points_of(const NodeContacts<Real>& c) {
  return {c.near.pair_start.data(), c.near.pair_of.data(), c.point_at.data()};
}
struct SharesNode {
  PointsOfNode points;
  TRIBO_HD Index operator()(Index i) const {
    int count = 0;
    points(i / nodes, static_cast<int>(i % nodes), [&](Index) { ++count; });
    return count > 1 ? 1 : 0;
  }
};

template <class Real>
struct ReadNode {
  PointsOfNode points;
  const Index* block;
  const NodePack<Real>* grid;
  const Vec3d* given;
  RigidPoint* point;
  TRIBO_HD void operator()(Index i) const {
    const Index near = i / nodes;
    const int node = static_cast<int>(i % nodes);
    int count = 0;
    points(near, node, [&](Index) { ++count; });
    if (count == 0) return;
    const NodePack<Real>& own = grid[Size{block[near]} * nodes + node];
    const auto mass = static_cast<double>(own[3]);
    // Rounding may leave no mass where there is next to none.
    const double inverse = mass > 0 ? count / mass : 1e300;
    const Vec3d v{{static_cast<double>(own[0]), static_cast<double>(own[1]), static_cast<double>(own[2])}};
    points(near, node, [&](Index p) {
      point[p].inverse_mass = inverse;
      point[p].v = mass > 0 ? v - inverse * given[p] : Vec3d::zero();
    });
  }
};
template <class Real>
struct GiveToNode {
  PointsOfNode points;
  const Index* block;
  const Vec3d* impulse;
  Vec3d* given;
  NodePack<Real>* grid;
  TRIBO_HD void operator()(Index i) const {
    const Index near = i / nodes;
    const int node = static_cast<int>(i % nodes);
    Vec3d more = Vec3d::zero();
    bool any = false;
    points(near, node, [&](Index p) {
      any = true;
      more += impulse[p] - given[p];
      given[p] = impulse[p];
    });
    if (!any) return;
    NodePack<Real>& own = grid[Size{block[near]} * nodes + node];
    const auto mass = static_cast<double>(own[3]);
    if (!(mass > 0)) return;
    Real v[3];
    for (int k = 0; k < 3; ++k) v[k] = static_cast<Real>(static_cast<double>(own[k]) + more[k] / mass);
    own = node_pack<Real>(v[0], v[1], v[2], own[3]);
  }
};
template <class Real>
struct NodeSpeed {
  const Index* block;
  const NodePack<Real>* grid;
  TRIBO_HD Real operator()(Index i) const {
    const NodePack<Real>& own = grid[Size{block[i / nodes]} * nodes + i % nodes];
    Real largest = Real(0);
    for (int k = 0; k < 3; ++k) largest = max(largest, abs(own[k]));
    return largest;
  }
};
struct NoImpulse {
  Vec3d* given;
  TRIBO_HD void operator()(Index i) const { given[i] = Vec3d::zero(); }
};

}  // namespace

template <class Real>
void find_nodes(Exec& ex, const RigidMesh& mesh, const RigidWork& work, const Array<double>& friction,
                GridPhase<Real, 3>& phase, NodeContacts<Real>& c) {
  find_near_grid(ex, mesh, work, phase, c.near);
  c.found = true;
  c.points.count = 0;
  c.shared = 0;
  if (c.near.pairs == 0) return;
  const auto dx = static_cast<double>(phase.constants.dx);
  const RigidView bodies{mesh.count, const_cast<PlacedBody*>(work.body.data()), mesh.shapes.view()};
  const Index slots = c.near.pairs * nodes;
  c.depth.resize_discard(slots);
  c.mark.resize_discard(slots);
  c.point_at.resize_discard(slots);
  parallel_for(ex, nodes_label, slots,
               MeasureNode<Real>{c.near.pair.data(), c.near.cell.data(), c.near.center.data(), bodies, dx,
                                 c.depth.data(), c.mark.data(), c.point_at.data()},
               nodes_grain);
  c.points.count = list_marked(ex, nodes_label, c.mark, slots, c.place);
  if (c.points.count == 0) return;
  c.points.point.resize_discard(c.points.count);
  c.given.resize_discard(c.points.count);
  parallel_for(ex, nodes_label, c.points.count,
               MakePoint<Real>{c.place.data(), c.near.pair.data(), c.near.cell.data(), c.near.center.data(), bodies,
                               friction.data(), dx, c.point_at.data(), c.points.point.data()},
               nodes_grain);
  c.shared = reduce(ex, nodes_label, c.near.blocks * nodes, Index{0}, SharesNode{points_of(c)}, Plus<Index>{});
}

template <class Real>
void begin_nodes(Exec& ex, RigidWork& work, NodeContacts<Real>& c) {
  list_points(ex, work, c.points);
  parallel_for(ex, nodes_label, c.points.count, NoImpulse{c.given.data()});
}

template <class Real>
void read_nodes(Exec& ex, const GridNodes<Real, 3>& grid, NodeContacts<Real>& c) {
  parallel_for(ex, nodes_label, c.near.blocks * nodes,
               ReadNode<Real>{points_of(c), c.near.block.data(), grid.nodes, c.given.data(), c.points.point.data()});
}

template <class Real>
double give_to_nodes(Exec& ex, const GridNodes<Real, 3>& grid, NodeContacts<Real>& c) {
  parallel_for(
      ex, nodes_label, c.near.blocks * nodes,
      GiveToNode<Real>{points_of(c), c.near.block.data(), c.points.impulse.data(), c.given.data(), grid.nodes});
  return static_cast<double>(reduce(ex, nodes_label, c.near.blocks * nodes, Real(0),
                                    NodeSpeed<Real>{c.near.block.data(), grid.nodes}, Larger<Real>{}));
}

#define TRIBO_INSTANTIATE(Real)                                                                                  \
  template void find_nodes(Exec&, const RigidMesh&, const RigidWork&, const Array<double>&, GridPhase<Real, 3>&, \
                           NodeContacts<Real>&);                                                                 \
  template void begin_nodes(Exec&, RigidWork&, NodeContacts<Real>&);                                             \
  template void read_nodes(Exec&, const GridNodes<Real, 3>&, NodeContacts<Real>&);                               \
  template double give_to_nodes(Exec&, const GridNodes<Real, 3>&, NodeContacts<Real>&);
TRIBO_INSTANTIATE(float)
TRIBO_INSTANTIATE(double)
#undef TRIBO_INSTANTIATE

}  // namespace tribo::TRIBO_BACKEND

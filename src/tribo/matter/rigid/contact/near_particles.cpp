#include "tribo/matter/rigid/contact/near_particles.h"

#include <bit>

#include "tribo/exec/list_marked.h"
#include "tribo/grid/particle_access.h"

namespace tribo::TRIBO_BACKEND {
namespace {

constexpr const char* particles_label = "rigid particles";
using Shape = BlockShape<3>;

struct CountBin {
  const Bin<3>* bins;
  const Index* bin;
  Index count;
  Index* size;
  TRIBO_HD void operator()(Index i) const { size[i] = i < count ? bins[bin[i]].end - bins[bin[i]].begin : 0; }
};

/// Particles of near bins, one bin after the other.
struct NearParticles {
  const Bin<3>* bins;
  const Index *bin, *start, *order;
  Index bin_count;

  /// Which near bin, and which particle in the order of bins.
  TRIBO_HD Index at(Index entry, Index& place) const {
    Index low = 0, high = bin_count;
    while (high - low > 1) {
      const Index middle = low + (high - low) / 2;
      if (start[middle] <= entry)
        low = middle;
      else
        high = middle;
    }
    const Index i = bins[bin[low]].begin + entry - start[low];
    place = order != nullptr ? order[i] : i;
    return low;
  }
};

/// The body that a particle is nearest to, if that is too near.
template <class Real, class Access>
struct FindParticle {
  NearParticles near;
  Access particles;
  const Index *bin_near, *pair_start, *pair_of;
  const BodyBlock* pair;
  const Real* depth;
  RigidView bodies;
  double dx;
  Real inverse_dx;
  Index *mark, *body;

  TRIBO_HD void operator()(Index entry) const {
    mark[entry] = 0;
    Index place;
    const Index b = near.at(entry, place);
    const Vec<Real, 3> x = particles.x(place);
    Cell<3> offset, node;
    Real away = Real(0);
    for (int k = 0; k < 3; ++k) {
      const Real scaled = in_cells(x[k], inverse_dx);
      const auto cell = static_cast<std::int32_t>(floor(scaled));
      offset[k] = (cell >> 2) - near.bins[near.bin[b]].block[k] - Shape::first_neighbor;
      if (offset[k] < 0 || offset[k] >= Shape::neighbor_side) return;
      // the nearest node of the block
      const auto nearest = static_cast<std::int32_t>(floor(scaled + Real(0.5)));
      node[k] = (nearest >> 2) == (cell >> 2) ? nearest & 3 : cell & 3;
      const Real way = scaled - Real((cell & ~3) + node[k]);
      away += way * way;
    }
    const Index block = bin_near[b * Shape::neighbors + flatten(offset, Shape::neighbor_side)];
    if (block < 0) return;
    const Real reach = Real(particle_cells) + sqrt(away);
    double least = particle_cells * dx;
    const Vec3d at = cast<double>(x);
    for (Index k = pair_start[block]; k < pair_start[block + 1]; ++k) {
      if (!(depth[Size{pair_of[k]} * Shape::nodes + flatten(node, Shape::side)] < reach)) continue;
      const Index own = pair[pair_of[k]].body;
      const double distance = bodies.shapes.nearest(bodies.body[own], at).distance;
      if (!(distance < least)) continue;
      least = distance;
      body[entry] = own;
      mark[entry] = 1;
    }
  }
};
struct KeyParticle {
  const Index *list, *body;
  std::uint64_t* key;
  Index* order;
  TRIBO_HD void operator()(Index i) const {
    key[i] = static_cast<std::uint64_t>(body[list[i]]);
    order[i] = list[i];
  }
};
template <class Real, class Access>
struct MakeParticlePoint {
  NearParticles near;
  Access particles;
  const Index *entry, *body;
  RigidView bodies;
  const double* friction;
  RigidPoint* point;
  Index* place;
  TRIBO_HD void operator()(Index i) const {
    near.at(entry[i], place[i]);
    const PlacedBody& one = bodies.body[body[entry[i]]];
    RigidPoint p;
    p.body = body[entry[i]];
    p.at = cast<double>(particles.x(place[i]));
    p.n = bodies.shapes.nearest(one, p.at).normal;
    p.v = cast<double>(particles.v(place[i]));
    p.inverse_mass = 1 / static_cast<double>(particles.mass(place[i]));
    p.allowed = 0;
    p.friction = friction[one.group];
    point[i] = p;
  }
};
template <class Access>
struct PushParticle {
  Access particles;
  const Index* place;
  const RigidPoint* point;
  const Vec3d* impulse;
  TRIBO_HD void operator()(Index i) const {
    const Vec3d v = point[i].v + point[i].inverse_mass * impulse[i];
    auto own = particles.v(place[i]);
    for (int k = 0; k < 3; ++k) own[k] = static_cast<std::decay_t<decltype(own[k])>>(v[k]);
    particles.put_v(place[i], own);
  }
};

}  // namespace

template <class Real>
PointReport push_particles(Exec& ex, const RigidMesh& mesh, const Array<double>& friction,
                           const NodeContacts<Real>& nodes, GridPhase<Real, 3>& phase, RigidWork& work,
                           ParticleContacts<Real>& c) {
  const NearGrid<Real>& grid = nodes.near;
  c.points.count = 0;
  if (grid.pairs == 0) return {};
  const BinnedParticles<3> binned = binned_particles(phase.state, phase.work);
  c.start.resize_discard(grid.bins + 1);
  parallel_for(ex, particles_label, grid.bins + 1, CountBin{binned.bins, grid.bin.data(), grid.bins, c.start.data()});
  const Index entries = exclusive_scan(ex, particles_label, c.start, c.start, grid.bins + 1);
  c.mark.resize_discard(entries);
  c.body.resize_discard(entries);
  const NearParticles near{binned.bins, grid.bin.data(), c.start.data(), binned.order, grid.bins};
  const RigidView bodies{mesh.count, work.body.data(), mesh.shapes.view()};
  read_particles(phase.state, phase.work, [&](const auto& particles) {
    using Access = std::decay_t<decltype(particles)>;
    parallel_for(ex, particles_label, entries,
                 FindParticle<Real, Access>{near, particles, grid.bin_near.data(), grid.pair_start.data(),
                                            grid.pair_of.data(), grid.pair.data(), nodes.depth.data(), bodies,
                                            static_cast<double>(phase.constants.dx), Real(1) / phase.constants.dx,
                                            c.mark.data(), c.body.data()});
  });
  const Index count = c.points.count = list_marked(ex, particles_label, c.mark, entries, c.list);
  if (count == 0) return {};
  c.key.resize_discard(count);
  c.mark.resize_discard(count);
  parallel_for(ex, particles_label, count, KeyParticle{c.list.data(), c.body.data(), c.key.data(), c.mark.data()});
  c.sorter.sort(ex, particles_label, c.key, c.mark, count,
                static_cast<int>(std::bit_width(static_cast<std::uint64_t>(mesh.count))));
  c.points.point.resize_discard(count);
  c.place.resize_discard(count);
  PointReport report;
  change_particles(phase.state, phase.work, [&](const auto& particles) {
    using Access = std::decay_t<decltype(particles)>;
    parallel_for(ex, particles_label, count,
                 MakeParticlePoint<Real, Access>{near, particles, c.mark.data(), c.body.data(), bodies, friction.data(),
                                                 c.points.point.data(), c.place.data()});
    list_points(ex, work, c.points);
    report = solve_points(ex, work, c.points);
    parallel_for(ex, particles_label, count,
                 PushParticle<Access>{particles, c.place.data(), c.points.point.data(), c.points.impulse.data()});
  });
  return report;
}

#define TRIBO_INSTANTIATE(Real)                                                                                 \
  template PointReport push_particles(Exec&, const RigidMesh&, const Array<double>&, const NodeContacts<Real>&, \
                                      GridPhase<Real, 3>&, RigidWork&, ParticleContacts<Real>&);
TRIBO_INSTANTIATE(float)
TRIBO_INSTANTIATE(double)
#undef TRIBO_INSTANTIATE

}  // namespace tribo::TRIBO_BACKEND

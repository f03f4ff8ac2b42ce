#pragma once

#include <memory>
#include <vector>

#include "tribo/contact/colliders.h"
#include "tribo/contact/contact_node.h"
#include "tribo/grid/blocks.h"
#include "tribo/grid/packed.h"
#include "tribo/grid/particles.h"
#include "tribo/grid/sinks.h"

namespace tribo::TRIBO_BACKEND {

/// Node data: momentum or velocity in the first D numbers, mass in the last. One 16-byte load in float.
template <class Real>
using NodePack = Lanes<Real, 4>;

/// Built in registers: going through memory would stall on a wide load of narrow stores.
template <class Real>
TRIBO_HD NodePack<Real> node_pack(Real a, Real b, Real c, Real mass) {
  NodePack<Real> r;
  if constexpr (NodePack<Real>::width == 4) {
    r.v[0] = typename NodePack<Real>::Register{a, b, c, mass};
  } else if constexpr (NodePack<Real>::width == 2) {
    r.v[0] = typename NodePack<Real>::Register{a, b};
    r.v[1] = typename NodePack<Real>::Register{c, mass};
  } else {
    r.v[0] = a;
    r.v[1] = b;
    r.v[2] = c;
    r.v[3] = mass;
  }
  return r;
}

/// How far an emitter has come.
struct EmitterState {
  std::int64_t layers = 0;      ///< of its jet, given out
  std::int64_t candidates = 0;  ///< particles in them, before thinning
  std::int64_t particles = 0;   ///< given out
  double volume = 0;            ///< [m^3]
  double mass = 0;              ///< [kg]
  bool finished = false;        ///< has given out all it may
};

/// What a sink has taken.
struct SinkState {
  std::int64_t particles = 0;
  double mass = 0;  ///< [kg]
};

/// All that evolves. A checkpoint holds exactly this: continuing from it gives the same bytes as never stopping.
template <class Real, int D>
struct State {
  Particles<Real, D> particles;
  Index count = 0;         ///< particles
  Array<Bin<D>> bins;      ///< runs of particles by material and block, as of the last sort
  Index bin_count = 0;     ///< 0: particles must be sorted before the next step
  double time = 0;         ///< [s]
  std::int64_t step = 0;   ///< substeps taken
  double drift = 0;        ///< cells the fastest particle may have moved since the last sort
  double speed = 0;        ///< largest |v| + |C| dx of any particle [m/s]
  double wave_speed2 = 0;  ///< largest stiffness over density of any particle [m^2/s^2]
  double sorted_at = 0;    ///< time of the last sort in full, which is when sinks take particles [s]
  double sink_drift = 0;   ///< cells the fastest particle may have moved since, where drift says nothing of it
  std::vector<EmitterState> emitters;
  std::vector<SinkState> sinks;
};

/// Vectors of an implicit step; a node's velocity change, force or the like in the first D numbers, 0 in the last.
template <class Real, int D>
struct ImplicitWorkspace {
  Field<Real, Sym<Real, D * D>::size> tangent;         ///< of each particle: K of models/step_force.h [Pa]
  Array<NodePack<Real>> star;                          ///< velocities without stress and colliders, and masses
  Array<NodePack<Real>> gradient;                      ///< of the incremental potential, without friction
  Array<NodePack<Real>> residual, direction, product;  ///< of conjugate gradients
  Array<NodePack<Real>> step;                          ///< of Newton
  Array<Real> bin_speed;                               ///< largest velocity component of each bin's particles
  Array<Index> contact_of;                             ///< contact of each node, or -1
  Array<ContactNode<Real, D>> contacts;
  Index contact_count = 0;

  void resize(Index particles, Size nodes) {
    tangent.resize_discard(particles);
    contact_of.resize_discard(nodes);
    for (Array<NodePack<Real>>* a : {&star, &gradient, &residual, &direction, &product, &step})
      a->resize_discard(nodes);
  }
  std::size_t bytes() const {
    return tangent.bytes() + star.bytes() + gradient.bytes() + residual.bytes() + direction.bytes() + product.bytes() +
           step.bytes() + contact_of.bytes() + contacts.bytes() + bin_speed.bytes();
  }
};

/// The sparse grid under the present bins, and scratch memory. May be dropped at any step boundary.
template <class Real, int D>
struct Workspace {
  // sorting
  Array<std::uint64_t> keys;
  Array<Index> order;
  Array<Index> flags;
  Array<Real> spare_real;
  RadixSorter sorter;

  // sparse grid: blocks that arenas reach into, and who reaches into them
  bool grid_valid = false;
  double rounding = 0;  ///< cells by which rounding of positions may move a particle in one step
  Index block_count = 0;
  Array<Cell<D>> blocks;     ///< coordinates of each grid block
  Array<Index> touch;        ///< (bin * neighbors + neighbor), grouped by the grid block they reach into
  Array<Index> touch_start;  ///< first entry of each grid block, and the end
  Array<Index> bin_blocks;   ///< grid block of each (bin, neighbor)
  std::vector<Bin<D>> host_bins;
  std::vector<Index> group_bins;       ///< first bin of each material, and the end
  std::vector<Index> group_particles;  ///< first particle of each material, and the end

  Array<NodePack<Real>> arenas;                      ///< each bin's private sums
  Array<NodePack<Real>> grid;                        ///< velocity and mass of every node of every grid block
  Array<NodePack<Real>> arenas_before, grid_before;  ///< the same before forces act; only FLIP needs them
  Field<Real, D * D> gradient;  ///< velocity gradient of each particle, between a general gather and its deformation
  Array<Real> bin_shift;        ///< how far `confine` has moved a particle of each bin [m]
  Array<Real> block_speed;      ///< largest |v| component on each grid block
  struct BinResult {
    Real speed;       ///< largest |v| + |C| dx
    Real stiffness;   ///< largest stiffness [Pa]
    Index first_bad;  ///< lowest particle that is not finite, or `none`
  };
  static constexpr Index none = no_index;
  Array<BinResult> bin_results;

  ImplicitWorkspace<Real, D> implicit;
  std::unique_ptr<PackedState> packed;

  // constants of the model on the device
  Array<Index> object_group;    ///< material of each object
  Array<Real> inverse_density;  ///< of each material
  Colliders<Real, D> colliders;
  std::vector<Nozzle> nozzles;  ///< emitters at work during the present step
  Sinks<Real, D> sinks;
  std::vector<std::uint64_t> taken_keys;  ///< what sinks have taken in the last sort
  std::vector<Real> taken_masses;
  Array<Real> incoming;  ///< places of particles that join

  std::size_t bytes() const {
    return keys.bytes() + order.bytes() + flags.bytes() + spare_real.bytes() + sorter.bytes() + blocks.bytes() +
           touch.bytes() + touch_start.bytes() + bin_blocks.bytes() + arenas.bytes() + grid.bytes() +
           arenas_before.bytes() + grid_before.bytes() + gradient.bytes() + block_speed.bytes() + bin_shift.bytes() +
           bin_results.bytes() + incoming.bytes() + colliders.kept_bytes() + sinks.kept_bytes() + implicit.bytes() +
           (packed ? packed->bytes() : 0);
  }
};

}  // namespace tribo::TRIBO_BACKEND

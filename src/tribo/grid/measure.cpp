#include "tribo/grid/stages.h"
#include "tribo/transfer/modes.h"

namespace tribo::TRIBO_BACKEND {
namespace {

/// A piece of the list of particles that one team sums. Particles are sorted by material and place, so that it holds
/// one or two objects as a rule; but it may hold any.
struct Chunk {
  static constexpr Index size = 1024;
  Index begin;
  Index end;

  TRIBO_HD Chunk(Index number, Index particles)
      : begin(number * size), end(particles - begin < size ? particles : begin + size) {}
};
constexpr Index no_object = no_index;

/// The chunk's next object after `last`, or `no_object`; the same for every thread of the team.
TRIBO_HD Index object_after(Index last, const Team& team, const Chunk& chunk, const Index* object,
                            Index (&shared)[Team::size]) {
  Index next = no_object;
  for (Index i = chunk.begin + team.rank(); i < chunk.end; i += Team::size)
    if (object[i] > last && object[i] < next) next = object[i];
  shared[team.rank()] = next;
  team.barrier();
  for (int k = 0; k < Team::size; ++k) next = shared[k] < next ? shared[k] : next;
  team.barrier();  // all have read what the next call writes
  return next;
}

struct CountObjects {
  struct Scratch {
    Index next[Team::size];
  };

  const Index* object;
  Index particles;
  Index* counts;

  TRIBO_HD void operator()(const Team& team, Index c, Scratch& scratch) const {
    const Chunk chunk(c, particles);
    Index count = -1;
    for (Index o = -1; o != no_object; ++count) o = object_after(o, team, chunk, object, scratch.next);
    if (team.rank() == 0) counts[c] = count;
  }
};

/// What the particles of one object in one chunk add up to.
struct ObjectPart {
  Index object;
  ObjectSums sums;
};

/// In double whatever the precision of the state. Each thread sums its own particles, the first adds up the threads':
/// the order of additions depends on the particles and the device alone.
template <class Real, int D>
struct SumObjects {
  struct Scratch {
    Index next[Team::size];
    ObjectSums sums[Team::size];
  };

  ParticlesView<Real, D> p;
  const Real* energy_density;
  Index particles;
  double dx;
  int kernel;
  int poly_degree;
  const Index* first_part;
  ObjectPart* parts;

  TRIBO_HD void operator()(const Team& team, Index c, Scratch& scratch) const {
    const Chunk chunk(c, particles);
    const Index* const object = p.object[0];
    ObjectPart* part = parts + first_part[c];
    for (Index o = object_after(-1, team, chunk, object, scratch.next); o != no_object;
         o = object_after(o, team, chunk, object, scratch.next), ++part) {
      ObjectSums sums;
      for (Index i = chunk.begin + team.rank(); i < chunk.end; i += Team::size)
        if (object[i] == o) add_particle(i, sums);
      scratch.sums[team.rank()] = sums;
      team.barrier();
      if (team.rank() == 0) {
        for (int k = 1; k < Team::size; ++k) sums.add(scratch.sums[k]);
        *part = {o, sums};
      }
    }
  }

 private:
  /// Elastic energy is summed as m psi; the density it must be divided by is the object's.
  TRIBO_HD void add_particle(Index i, ObjectSums& sums) const {
    const auto mass = static_cast<double>(p.m[0][i]);
    Vec<double, 3> position = Vec<double, 3>::zero();
    Vec<double, 3> velocity = Vec<double, 3>::zero();
    for (int a = 0; a < D; ++a) {
      position[a] = static_cast<double>(p.x[a][i]);
      velocity[a] = static_cast<double>(p.v[a][i]);
    }
    Mat<double, 3> B = Mat<double, 3>::zero();
    double affine = 0;
    for (int b = 0; b < D; ++b) {
      const double inertia = axis_inertia(position[b]) * dx * dx;  // B = C D
      for (int a = 0; a < D; ++a) {
        const auto C = static_cast<double>(p.C[D * a + b][i]);
        B(a, b) = C * inertia;
        affine += C * C * inertia;
      }
    }
    const double higher = poly_degree > 0 ? mode_energy(i, position) : 0;
    const Vec<double, 3> spin{{B(2, 1) - B(1, 2), B(0, 2) - B(2, 0), B(1, 0) - B(0, 1)}};
    sums.particles += 1;
    sums.mass += mass;
    sums.mass_position += mass * position;
    sums.momentum += mass * velocity;
    sums.angular_momentum += mass * (cross(position, velocity) + spin);
    for (int a = 0; a < 3; ++a)
      for (int b = a; b < 3; ++b) sums.second_moment(a, b) += mass * position[a] * position[b];
    sums.kinetic += 0.5 * mass * (squared_norm(velocity) + affine + higher);
    sums.elastic += mass * static_cast<double>(energy_density[i]);
    for (int k = 0; k < 3; ++k) {
      sums.low[k] = position[k] < sums.low[k] ? position[k] : sums.low[k];
      sums.high[k] = sums.high[k] < position[k] ? position[k] : sums.high[k];
    }
  }

  /// Second moment of a particle's weights along an axis.
  TRIBO_HD double axis_inertia(double x) const {
    return kernel == 2 ? linear_kernel_inertia(x / dx - floor(x / dx)) : kernel_inertia(kernel);
  }

  /// Twice the kinetic energy per mass of PolyPIC's higher modes, sum_r norm_r |c_r|^2 (theory A.6).
  TRIBO_HD double mode_energy(Index i, const Vec<double, 3>& x) const {
    double norm[D][3];
    for (int k = 0; k < D; ++k) {
      const double offset = x[k] / dx - base_node<3>(x[k] / dx);
      const AxisModes<double> modes(offset, SplineWeights<double, 3>(offset).w, poly_degree);
      for (int degree = 0; degree < 3; ++degree) norm[k][degree] = modes.norm[degree];
    }
    double sum = 0;
    int next = 0;
    for (int mode = 0; mode < power(3, D); ++mode) {
      if (!beyond_affine<D>(mode)) continue;
      const Cell<D> powers = unflatten<D>(mode, 3);
      double scale = 1;
      for (int k = 0; k < D; ++k) scale *= norm[k][powers[k]];
      for (int k = 0; k < D; ++k, ++next) {
        const auto coefficient = static_cast<double>(p.poly[next][i]);
        sum += scale * coefficient * coefficient;
      }
    }
    return sum;
  }
};

}  // namespace

template <class Real, int D>
std::vector<ObjectSums> measure_objects(Exec& ex, const Model& model, const Constants<Real, D>& constants,
                                        State<Real, D>& state, Workspace<Real, D>& work) {
  Array<Real> energy_density, volume_ratio, strain_norm;
  observe_strain(ex, constants, state, work, energy_density, volume_ratio, strain_norm);

  const Index chunks = (state.count + Chunk::size - 1) / Chunk::size;
  Array<Index> first_part;
  first_part.resize_discard(chunks);
  for_each_team<CountObjects::Scratch>(
      ex, "measure", chunks, CountObjects{state.particles.object.c[0].data(), state.count, first_part.data()});
  const Index part_count = exclusive_scan(ex, "measure", first_part, first_part, chunks);
  Array<ObjectPart> device_parts;
  device_parts.resize_discard(part_count);
  using Kernel = SumObjects<Real, D>;
  for_each_team<typename Kernel::Scratch>(
      ex, "measure", chunks,
      Kernel{view(state.particles), energy_density.data(), state.count, model.dx, constants.kernel,
             constants.transfer.poly_degree, first_part.data(), device_parts.data()});
  std::vector<ObjectPart> parts(static_cast<std::size_t>(part_count));
  copy_to_host(ex, device_parts, parts.data(), part_count);

  std::vector<ObjectSums> sums(model.objects.size());
  for (const ObjectPart& part : parts) sums[static_cast<std::size_t>(part.object)].add(part.sums);
  for (std::size_t o = 0; o < sums.size(); ++o) {
    if (const int material = model.objects[o].material; material >= 0)
      sums[o].elastic /= constants.densities[static_cast<std::size_t>(material)];
    sums[o].gravity -= dot(model.gravity, sums[o].mass_position);
  }
  return sums;
}

#define TRIBO_INSTANTIATE(Real, D)                                                                                  \
  template std::vector<ObjectSums> measure_objects(Exec&, const Model&, const Constants<Real, D>&, State<Real, D>&, \
                                                   Workspace<Real, D>&);
TRIBO_FOR_EACH_INSTANCE(TRIBO_INSTANTIATE)
#undef TRIBO_INSTANTIATE

}  // namespace tribo::TRIBO_BACKEND

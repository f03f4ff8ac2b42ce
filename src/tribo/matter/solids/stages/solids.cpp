#include <algorithm>
#include <cmath>

#include "tribo/core/cast_numbers.h"
#include "tribo/grid/outlined.h"
#include "tribo/math/spline.h"
#include "tribo/matter/solids/stages/tets.h"

namespace tribo::TRIBO_BACKEND {
namespace {

/// Rest shape of a tet as the engine's precision knows it, so that a body at rest is free of stress to rounding of F.
template <class Real>
struct RestTet {
  Mat<double, 3> inverse;  ///< Dm^-1 [1/m]
  double volume;           ///< [m^3]
  double height;           ///< smallest altitude [m]

  RestTet(const SolidSeed& seed, const Vec<std::int32_t, 4>& tet) {
    Vec<double, 3> corner[4];
    for (int c = 0; c < 4; ++c)
      for (int k = 0; k < 3; ++k)
        corner[c][k] = static_cast<double>(static_cast<Real>(seed.rest[static_cast<std::size_t>(tet[c])][k]));
    const Vec<double, 3> a = corner[1] - corner[0], b = corner[2] - corner[0], c = corner[3] - corner[0];
    const Vec<double, 3> rows[3] = {cross(b, c), cross(c, a), cross(a, b)};
    const double six = dot(a, rows[0]);
    volume = six / 6;
    // Rows of Dm^-1 are the gradients of the corners' weights: one over the altitudes.
    Vec<double, 3> first = Vec<double, 3>::zero();
    double steepest = 0;
    for (int i = 0; i < 3; ++i) {
      for (int k = 0; k < 3; ++k) inverse(i, k) = rows[i][k] / six;
      first += rows[i] * (1 / six);
      steepest = std::max(steepest, squared_norm(rows[i] * (1 / six)));
    }
    height = 1 / std::sqrt(std::max(steepest, squared_norm(first)));
  }
};

/// Entries by the vertex they belong to, in the order of entries: `vertex_of(e)` for e in [0, n).
template <class VertexOf>
void list_by_vertex(Exec& ex, Index vertices, Index n, const VertexOf& vertex_of, Array<Index>& start,
                    Array<Index>& list) {
  std::vector<Index> first(static_cast<std::size_t>(vertices) + 1, 0), entries(static_cast<std::size_t>(n));
  for (Index e = 0; e < n; ++e) ++first[static_cast<std::size_t>(vertex_of(e)) + 1];
  for (std::size_t i = 1; i < first.size(); ++i) first[i] += first[i - 1];
  std::vector<Index> next(first.begin(), first.end() - 1);
  for (Index e = 0; e < n; ++e) entries[static_cast<std::size_t>(next[static_cast<std::size_t>(vertex_of(e))]++)] = e;
  copy_to_device(ex, first.data(), start, vertices + 1);
  copy_to_device(ex, entries.data(), list, n);
}

/// A piece of a body that one team sums.
struct BodyPiece {
  static constexpr Index size = 1024;
  Index begin, end;
  double inertia;  ///< second moment of weights on the damping grid [m^2]; 0 without one
};
std::vector<BodyPiece> pieces_of(const std::vector<SolidBody>& bodies, Run SolidBody::*run, std::vector<int>& owner) {
  std::vector<BodyPiece> pieces;
  for (std::size_t b = 0; b < bodies.size(); ++b)
    for (Index begin = (bodies[b].*run).begin; begin < (bodies[b].*run).end; begin += BodyPiece::size) {
      const double spacing = bodies[b].damping_spacing;
      pieces.push_back(
          {begin, std::min(begin + BodyPiece::size, (bodies[b].*run).end), kernel_inertia(3) * spacing * spacing});
      owner.push_back(static_cast<int>(b));
    }
  return pieces;
}

template <class Real>
struct SumVertices {
  struct Scratch {
    ObjectSums sums[Team::size];
  };
  const BodyPiece* pieces;
  FieldView<const Real, 3> x, v;
  FieldView<const Real, 9> C;
  const Real* mass;
  ObjectSums* out;

  TRIBO_HD void operator()(const Team& team, Index p, Scratch& scratch) const {
    ObjectSums sums;
    for (Index i = pieces[p].begin + team.rank(); i < pieces[p].end; i += Team::size) {
      const auto m = static_cast<double>(mass[i]);
      Vec<double, 3> position, velocity;
      for (int k = 0; k < 3; ++k) {
        position[k] = static_cast<double>(x[k][i]);
        velocity[k] = static_cast<double>(v[k][i]);
      }
      sums.add(m, position, velocity);
      if (pieces[p].inertia > 0) add_affine(i, m * pieces[p].inertia, sums);
    }
    scratch.sums[team.rank()] = sums;
    team.barrier();
    if (team.rank() != 0) return;
    for (int k = 1; k < Team::size; ++k) sums.add(scratch.sums[k]);
    out[p] = sums;
  }

 private:
  /// What a vertex carries beyond its velocity: m (eps:B), and m/2 C:B, with B = C D.
  TRIBO_HD void add_affine(Index i, double moment, ObjectSums& sums) const {
    const auto c = [&](int a, int b) { return static_cast<double>(C[3 * a + b][i]); };
    sums.angular_momentum += moment * Vec<double, 3>{{c(2, 1) - c(1, 2), c(0, 2) - c(2, 0), c(1, 0) - c(0, 1)}};
    for (int a = 0; a < 3; ++a)
      for (int b = 0; b < 3; ++b) sums.kinetic += 0.5 * moment * c(a, b) * c(a, b);
  }
};

/// In double whatever the precision of the state: the energy of a small strain is lost in the rounding of floats.
template <class Real, class Law>
struct SumEnergy {
  struct Scratch {
    double sums[Team::size];
  };
  const BodyPiece* pieces;
  FieldView<const Index, 4> tet;
  FieldView<const Real, 9> inverse_rest;
  FieldView<const Real, 3> x;
  const Real* volume;
  Law law;
  double* out;

  TRIBO_HD void operator()(const Team& team, Index p, Scratch& scratch) const {
    double sum = 0;
    for (Index i = pieces[p].begin + team.rank(); i < pieces[p].end; i += Team::size) {
      Mat<double, 3> D, B, U, V;
      for (int a = 0; a < 3; ++a)
        for (int c = 0; c < 3; ++c) {
          D(a, c) = static_cast<double>(x[a][tet[c + 1][i]]) - static_cast<double>(x[a][tet[0][i]]);
          B(a, c) = static_cast<double>(inverse_rest[3 * a + c][i]);
        }
      Vec<double, 3> s;
      polar_svd(D * B, U, s, V);
      sum += static_cast<double>(volume[i]) * law.energy(s);
    }
    scratch.sums[team.rank()] = sum;
    team.barrier();
    if (team.rank() != 0) return;
    for (int k = 1; k < Team::size; ++k) sum += scratch.sums[k];
    out[p] = sum;
  }
};

}  // namespace

template <class Real>
void load_solids(Exec& ex, const SolidSeed& seed, SolidMesh<Real>& mesh, SolidState<Real>& state) {
  mesh.vertices = static_cast<Index>(seed.x.size());
  mesh.tets = static_cast<Index>(seed.tets.size());
  mesh.triangles = static_cast<Index>(seed.triangles.size());
  mesh.samples = static_cast<Index>(seed.samples.size());
  mesh.bodies = static_cast<Index>(seed.bodies.size());
  mesh.drives = static_cast<Index>(seed.drives.size());
  mesh.body = seed.bodies;
  state.count = mesh.vertices;
  state.samples = mesh.samples;
  state.slip.used = mesh.bodies > 1;
  state.C.used =
      std::any_of(mesh.body.begin(), mesh.body.end(), [](const SolidBody& body) { return body.damping_spacing > 0; });

  const auto send = [&]<class T>(Array<T>& to, std::size_t n, const auto& value) {
    std::vector<T> column(n);
    for (std::size_t i = 0; i < n; ++i) column[i] = static_cast<T>(value(i));
    copy_to_device(ex, column.data(), to, static_cast<Index>(n));
  };
  const std::size_t vertices = seed.x.size(), tets = seed.tets.size(), triangles = seed.triangles.size(),
                    samples = seed.samples.size(), bodies = seed.bodies.size();
  for (int k = 0; k < 3; ++k) {
    send(state.x.c[k], vertices, [&](std::size_t i) { return seed.x[i][k]; });
    send(state.v.c[k], vertices, [&](std::size_t i) { return seed.v[i][k]; });
    send(state.listed.c[k], vertices, [&](std::size_t i) { return seed.x[i][k]; });
    send(mesh.triangle.c[k], triangles, [&](std::size_t i) { return seed.triangles[i][k]; });
    if (state.slip.used) send(state.slip.c[k], samples, [](std::size_t) { return 0.0; });
    send(mesh.sample_weight.c[k], samples, [&](std::size_t i) { return seed.samples[i].weight[k]; });
    send(mesh.anchor.c[k], vertices, [&](std::size_t i) {
      if (seed.drive[i] < 0) return 0.0;
      const Pose start = seed.drives[static_cast<std::size_t>(seed.drive[i])].pose(0);
      return (transpose(start.rotation) * (seed.rest[i] - start.at))[k];
    });
  }
  send(mesh.mass, vertices, [&](std::size_t i) { return seed.mass[i]; });
  send(mesh.inverse_mass, vertices, [&](std::size_t i) { return seed.drive[i] < 0 ? 1 / seed.mass[i] : 0.0; });
  send(mesh.drive, vertices, [&](std::size_t i) { return seed.drive[i]; });
  const auto owners = [&](Run SolidBody::*run, std::size_t n) {
    std::vector<Index> owner(n);
    for (std::size_t b = 0; b < bodies; ++b)
      for (Index i = (seed.bodies[b].*run).begin; i < (seed.bodies[b].*run).end; ++i)
        owner[static_cast<std::size_t>(i)] = static_cast<Index>(b);
    return owner;
  };
  const std::vector<Index> vertex_body = owners(&SolidBody::vertices, vertices);
  const std::vector<Index> tet_body = owners(&SolidBody::tets, tets);
  const std::vector<Index> sample_body = owners(&SolidBody::samples, samples);
  copy_to_device(ex, vertex_body.data(), mesh.vertex_body, mesh.vertices);
  copy_to_device(ex, tet_body.data(), mesh.tet_body, mesh.tets);
  copy_to_device(ex, sample_body.data(), mesh.sample_body, mesh.samples);

  std::vector<RestTet<Real>> rest;
  rest.reserve(tets);
  for (const auto& tet : seed.tets) rest.emplace_back(seed, tet);
  for (int c = 0; c < 4; ++c) send(mesh.tet.c[c], tets, [&](std::size_t i) { return seed.tets[i][c]; });
  for (int k = 0; k < 9; ++k)
    send(mesh.inverse_rest.c[k], tets, [&](std::size_t i) { return rest[i].inverse(k / 3, k % 3); });
  send(mesh.volume, tets, [&](std::size_t i) { return rest[i].volume; });
  send(mesh.height, tets, [&](std::size_t i) { return rest[i].height; });

  send(mesh.triangle_tet, triangles, [&](std::size_t i) { return seed.triangle_tet[i]; });
  send(mesh.sample_triangle, samples, [&](std::size_t i) { return seed.samples[i].triangle; });
  send(mesh.sample_mass, samples, [&](std::size_t i) { return seed.samples[i].mass; });
  list_by_vertex(
      ex, mesh.vertices, 4 * mesh.tets, [&](Index e) { return seed.tets[static_cast<std::size_t>(e / 4)][e % 4]; },
      mesh.tet_corner_start, mesh.tet_corner);
  list_by_vertex(
      ex, mesh.vertices, 3 * mesh.samples,
      [&](Index e) {
        const ContactSample& sample = seed.samples[static_cast<std::size_t>(e / 3)];
        return seed.triangles[static_cast<std::size_t>(sample.triangle)][e % 3];
      },
      mesh.sample_corner_start, mesh.sample_corner);

  send(mesh.friction, seed.pair_friction.size(), [&](std::size_t i) { return seed.pair_friction[i]; });
  send(mesh.phase_friction[0], bodies, [&](std::size_t b) { return seed.bodies[b].friction; });
  send(mesh.restitution, bodies, [&](std::size_t b) { return seed.bodies[b].restitution; });
  send(mesh.kinematic, bodies, [&](std::size_t b) { return seed.bodies[b].kinematic ? 1 : 0; });
  send(mesh.self_contact, bodies, [&](std::size_t b) { return seed.bodies[b].self_contact ? 1 : 0; });
}

template <class Real>
std::vector<ObjectSums> measure_solids(Exec& ex, const SolidConstants<Real>& constants, const SolidMesh<Real>& mesh,
                                       SolidState<Real>& state) {
  const SolidState<Real>& now = state;
  std::vector<ObjectSums> sums(mesh.body.size());
  Array<BodyPiece> pieces;
  std::vector<int> owner;
  const std::vector<BodyPiece> of_vertices = pieces_of(mesh.body, &SolidBody::vertices, owner);
  const auto count = static_cast<Index>(of_vertices.size());
  copy_to_device(ex, of_vertices.data(), pieces, count);
  Array<ObjectSums> device_parts;
  device_parts.resize_discard(count);
  for_each_team<typename SumVertices<Real>::Scratch>(
      ex, "measure", count,
      SumVertices<Real>{pieces.data(), view(now.x), view(now.v), view(now.C), mesh.mass.data(), device_parts.data()});
  std::vector<ObjectSums> parts(of_vertices.size());
  copy_to_host(ex, device_parts, parts.data(), count);
  for (std::size_t p = 0; p < parts.size(); ++p) sums[static_cast<std::size_t>(owner[p])].add(parts[p]);

  Array<double> device_energies;
  for (std::size_t b = 0; b < mesh.body.size(); ++b) {
    std::vector<int> same;
    const std::vector<BodyPiece> of_tets = pieces_of({mesh.body[b]}, &SolidBody::tets, same);
    const auto n = static_cast<Index>(of_tets.size());
    copy_to_device(ex, of_tets.data(), pieces, n);
    device_energies.resize_discard(n);
    std::visit(
        [&]<class Law>(const Law& law) {
          if constexpr (MeshLaw<Law>) {
            const auto exact = invertible(law);
            using Sum = SumEnergy<Real, std::decay_t<decltype(exact)>>;
            for_each_team<typename Sum::Scratch>(ex, "measure", n,
                                                 Sum{pieces.data(), view(mesh.tet), view(mesh.inverse_rest),
                                                     view(now.x), mesh.volume.data(), exact, device_energies.data()});
          }
        },
        cast_variant<double>(*constants.laws[b]));
    std::vector<double> energies(of_tets.size());
    copy_to_host(ex, device_energies, energies.data(), n);
    for (const double energy : energies) sums[b].elastic += energy;
    sums[b].gravity -= dot(cast<double>(constants.gravity), sums[b].mass_position);
  }
  return sums;
}

#define TRIBO_INSTANTIATE(Real)                                                                               \
  template void load_solids(Exec&, const SolidSeed&, SolidMesh<Real>&, SolidState<Real>&);                    \
  template std::vector<ObjectSums> measure_solids(Exec&, const SolidConstants<Real>&, const SolidMesh<Real>&, \
                                                  SolidState<Real>&);
TRIBO_FOR_EACH_REAL(TRIBO_INSTANTIATE)
#undef TRIBO_INSTANTIATE

}  // namespace tribo::TRIBO_BACKEND

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>

#include "tribo/core/errors.h"
#include "tribo/matter/strands/stages/frames.h"
#include "tribo/matter/strands/stages/stretch.h"

namespace tribo::TRIBO_BACKEND {
namespace {

/// Strands in groups as wide as the device works on, none with strands of two bodies.
template <class Real>
std::vector<RodGroup> groups_of(const RodSeed& seed) {
  std::vector<RodGroup> groups;
  Index row = 0;
  for (std::size_t b = 0; b < seed.bodies.size(); ++b) {
    const RodBody& body = seed.bodies[b];
    for (Index s = body.strands.begin; s < body.strands.end; s += group_width<Real>) {
      RodGroup group{row,
                     0,
                     s,
                     std::min<Index>(group_width<Real>, body.strands.end - s),
                     body.twisted ? 1 : 0,
                     static_cast<Index>(b)};
      for (Index k = s; k < s + group.strands; ++k)
        group.rows =
            std::max(group.rows, seed.start[static_cast<std::size_t>(k) + 1] - seed.start[static_cast<std::size_t>(k)]);
      row += group.rows;
      groups.push_back(group);
    }
  }
  return groups;
}

/// Length of RodMesh::row, of which every number needs an Index: there are fewer rows than vertices could have indices.
/// All strands of a group take as many rows as its longest.
template <class Real>
std::size_t row_numbers(const std::vector<RodGroup>& groups) {
  const Index last = groups.empty() ? 0 : groups.back().first_row + groups.back().rows;
  const Size count = row_array_size<Real>(last, static_cast<int>(RodRow::count));
  const Size each = row_array_size<Real>(1, static_cast<int>(RodRow::count)) / group_width<Real>;
  constexpr Size most = std::numeric_limits<Index>::max();
  if (count > most)
    throw DeviceError("strands would take the place of " + std::to_string(count / each) +
                      " vertices, each as many as the longest of the " + std::to_string(group_width<Real>) +
                      " it is worked on with, and there can be " + std::to_string(most / each) +
                      "; ask for fewer strands or longer segments");
  return static_cast<std::size_t>(count);
}

/// Whether the edge that begins at a vertex is held, director and all: by one motion at both ends.
bool holds_edge(const RodSeed& seed, std::size_t i, bool has_edge) {
  return has_edge && seed.drive[i] >= 0 && seed.drive[i + 1] == seed.drive[i];
}

template <class Real>
std::vector<Real> rows_of(const RodSeed& seed, const std::vector<RodGroup>& groups, std::size_t numbers) {
  constexpr std::size_t width = group_width<Real>;
  std::vector<Real> rows(numbers);
  for (const RodGroup& group : groups)
    for (std::size_t lane = 0; lane < width; ++lane) {
      const auto s =
          static_cast<std::size_t>(group.first_strand + std::min(static_cast<Index>(lane), group.strands - 1));
      const auto first = static_cast<std::size_t>(seed.start[s]), end = static_cast<std::size_t>(seed.start[s + 1]);
      for (Index row = 0; row < group.rows; ++row) {
        const auto put = [&](RodRow which, int k, double value) {
          rows[static_cast<std::size_t>(row_place<Real>(group.first_row + row, static_cast<Index>(lane),
                                                        static_cast<int>(RodRow::count),
                                                        static_cast<int>(which) + k))] = static_cast<Real>(value);
        };
        const std::size_t i = first + static_cast<std::size_t>(row);
        const bool present = i < end, has_edge = i + 1 < end, is_joint = has_edge && row > 0;
        put(RodRow::mass, 0, present ? seed.mass[i] : 1);
        put(RodRow::free, 0, present && seed.drive[i] < 0 ? 1 : 0);
        put(RodRow::length, 0, has_edge ? seed.length[i] : 1);
        put(RodRow::stretch, 0, has_edge ? seed.stretch[i] / seed.length[i] : 0);
        put(RodRow::held, 0, has_edge && !holds_edge(seed, i, has_edge) ? 0 : 1);
        put(RodRow::bend1, 0, is_joint ? seed.bend1[i] / seed.cell[i] : 0);
        put(RodRow::bend2, 0, is_joint ? seed.bend2[i] / seed.cell[i] : 0);
        put(RodRow::twist, 0, is_joint ? seed.twist_stiffness[i] / seed.cell[i] : 0);
        put(RodRow::rest_twist, 0, is_joint ? seed.rest_twist[i] : 0);
        for (int k = 0; k < 4; ++k) put(RodRow::rest, k, is_joint ? seed.rest_curvature[i][k] : 0);
      }
    }
  return rows;
}

/// 1 / dt^2 of explicit stretching and bending at an edge and the joint where it begins (theory E.7): dt_s = l
/// sqrt(rho A/EA), dt_b = l^2/2 sqrt(rho A/EI). Vertices at ends stand for half as much of the strand as others.
double stable_rate2(const RodSeed& seed, std::size_t i, bool is_joint) {
  const double l = seed.length[i], mass = (is_joint ? 1 : 2) * seed.mass[i];
  double rate2 = seed.stretch[i] / (l * mass);
  if (is_joint) {
    const double cell = std::min(l, seed.length[i - 1]);
    rate2 += 4 * std::max(seed.bend1[i], seed.bend2[i]) / (mass * cell * cell * cell);
  }
  return rate2;
}

/// Who pushes which vertices of solids, and which rigid bodies.
template <class Real>
void list_skin(Exec& ex, const RodSeed& seed, RodMesh<Real>& mesh) {
  std::vector<Index> strand(seed.skin.size(), -1), number(seed.drives.size(), -1);
  Index skinned = 0;
  for (std::size_t d = 0; d < seed.drives.size(); ++d)
    if (seed.drives[d].skinned) number[d] = skinned++;
  for (std::size_t s = 0; s + 1 < seed.start.size(); ++s) {
    const std::int32_t drive = seed.drive[static_cast<std::size_t>(seed.start[s])];
    const std::size_t root =
        drive < 0 ? strand.size() : static_cast<std::size_t>(number[static_cast<std::size_t>(drive)]);
    if (root < strand.size()) strand[root] = static_cast<Index>(s);  // not -1, nor where the skin is not known
  }
  std::vector<std::array<Index, 2>> entries;  // vertex, 3 drive + corner
  for (std::size_t r = 0; r < seed.skin.size(); ++r) {
    const bool rigid = seed.skin[r].body >= 0;
    for (int c = 0; c < (rigid ? 2 : 3) && strand[r] >= 0; ++c)
      entries.push_back({rigid ? RodMesh<Real>::rigid_part(seed.skin[r].body, c) : seed.skin[r].corner[c],
                         static_cast<Index>(3 * r) + c});
  }
  std::sort(entries.begin(), entries.end());
  std::vector<Index> vertices, start, list;
  std::vector<Vec<Index, 3>> corner(seed.skin.size(), Vec<Index, 3>::zero());
  for (const auto& [vertex, entry] : entries) {
    if (vertices.empty() || vertices.back() != vertex) {
      vertices.push_back(vertex);
      start.push_back(static_cast<Index>(list.size()));
    }
    corner[static_cast<std::size_t>(entry / 3)][entry % 3] = static_cast<Index>(vertices.size()) - 1;
    list.push_back(entry);
  }
  start.push_back(static_cast<Index>(list.size()));
  std::vector<Index> run, run_start;
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    run_start.push_back(static_cast<Index>(run.size()));
    const Index begin = start[i], end = start[i + 1];
    if (end - begin > RodMesh<Real>::skin_run)
      for (Index e = begin; e < end; e += RodMesh<Real>::skin_run) run.push_back(e);
    mesh.has_rigid_skin = mesh.has_rigid_skin || vertices[i] < 0;
  }
  run_start.push_back(static_cast<Index>(run.size()));
  mesh.skin_runs = static_cast<Index>(run.size());
  mesh.skin_vertices = static_cast<Index>(vertices.size());
  const auto send = [&](const auto& from, auto& to) {
    copy_to_device(ex, from.data(), to, static_cast<Index>(from.size()));
  };
  send(vertices, mesh.skin_vertex);
  send(corner, mesh.skin_corner);
  send(strand, mesh.skin_strand);
  std::vector<Index> yields;
  for (const std::int32_t drive : seed.drive) yields.push_back(drive < 0 ? 1 : 0);
  for (const Index s : strand)
    for (Index i = 0; i < 2 && s >= 0; ++i)
      yields[static_cast<std::size_t>(seed.start[static_cast<std::size_t>(s)] + i)] = 1;
  send(yields, mesh.yields);
  send(start, mesh.skin_entry_start);
  send(list, mesh.skin_entry);
  send(run, mesh.skin_run_begin);
  send(run_start, mesh.skin_run_start);
}

template <class Real>
struct SumStrand {
  const RodGroup* groups;
  const Index* start;
  const Real* rows;
  const Real* mass;
  FieldView<const Real, 3> x, tail, v, director;
  const Real* twist;
  const double* crushed;  ///< of bodies, `crushed_stiffness`
  ObjectSums* out;        ///< of strands

  TRIBO_HD double constant(const RodGroup& group, Index lane, Index row, RodRow which, int k = 0) const {
    return static_cast<double>(rows[row_place<Real>(group.first_row + row, lane, static_cast<int>(RodRow::count),
                                                    static_cast<int>(which) + k)]);
  }
  TRIBO_HD static Vec<double, 3> at(const FieldView<const Real, 3>& column, Index i) {
    return {{static_cast<double>(column[0][i]), static_cast<double>(column[1][i]), static_cast<double>(column[2][i])}};
  }

  TRIBO_HD void operator()(Index item) const {
    const RodGroup group = groups[item / group_width<Real>];
    const Index lane = item % group_width<Real>;
    if (lane >= group.strands) return;
    const Index s = group.first_strand + lane, first = start[s], count = start[s + 1] - first;
    ObjectSums sums;
    RodEdge<double> before, after;
    for (Index row = 0; row < count; ++row) {
      const Index i = first + row;
      const Vec<double, 3> position = at(x, i) + at(tail, i), velocity = at(v, i);
      const auto m = static_cast<double>(mass[i]);
      sums.add(m, position, velocity);
      if (row + 1 == count) break;
      after = RodEdge<double>((at(x, i + 1) - at(x, i)) + (at(tail, i + 1) - at(tail, i)));
      sums.elastic +=
          StretchLaw<double>::energy(constant(group, lane, row, RodRow::stretch),
                                     constant(group, lane, row, RodRow::length), after.length, crushed[group.body]);
      if (row > 0) sums.elastic += joint_energy(group, lane, row, i, RodJoint<double>(before, after));
      before = after;
    }
    out[s] = sums;
  }

 private:
  TRIBO_HD double joint_energy(const RodGroup& group, Index lane, Index row, Index i,
                               const RodJoint<double>& joint) const {
    JointLaw<double> law;
    law.bend1 = constant(group, lane, row, RodRow::bend1);
    if (group.twisted == 0) return 0.5 * law.bend1 * squared_norm(joint.kb);
    law.bend2 = constant(group, lane, row, RodRow::bend2);
    law.twist = constant(group, lane, row, RodRow::twist);
    law.rest_twist = constant(group, lane, row, RodRow::rest_twist);
    for (int k = 0; k < 4; ++k) law.rest[k] = constant(group, lane, row, RodRow::rest, k);
    return law.bend_energy({joint, at(director, i - 1), at(director, i)}) +
           law.twist_energy(static_cast<double>(twist[i]));
  }
};

}  // namespace

template <class Real>
void load_rods(Exec& ex, const RodSeed& seed, RodMesh<Real>& mesh, RodState<Real>& state) {
  const std::size_t vertices = seed.x.size(), strands = seed.start.empty() ? 0 : seed.start.size() - 1;
  const std::vector<RodGroup> groups = groups_of<Real>(seed);
  const std::size_t numbers = row_numbers<Real>(groups);
  mesh.vertices = static_cast<Index>(vertices);
  mesh.strands = static_cast<Index>(strands);
  mesh.groups = static_cast<Index>(groups.size());
  mesh.rows = groups.empty() ? 0 : groups.back().first_row + groups.back().rows;
  mesh.bodies = static_cast<Index>(seed.bodies.size());
  mesh.body = seed.bodies;
  mesh.twisted = std::any_of(mesh.body.begin(), mesh.body.end(), [](const RodBody& body) { return body.twisted; });
  state.count = mesh.vertices;

  const auto send = [&]<class T>(Array<T>& to, std::size_t n, const auto& value) {
    std::vector<T> column(n);
    for (std::size_t i = 0; i < n; ++i) column[i] = static_cast<T>(value(i));
    copy_to_device(ex, column.data(), to, static_cast<Index>(n));
  };
  for (int k = 0; k < 3; ++k) {
    send(state.x.c[k], vertices, [&](std::size_t i) { return seed.x[i][k]; });
    send(state.x_tail.c[k], vertices,
         [&](std::size_t i) { return seed.x[i][k] - static_cast<double>(static_cast<Real>(seed.x[i][k])); });
    send(state.v.c[k], vertices, [&](std::size_t i) { return seed.v[i][k]; });
    send(state.director.c[k], vertices, [&](std::size_t i) { return seed.director[i][k]; });
  }
  send(state.twist.c[0], vertices, [&](std::size_t i) { return seed.twist[i]; });

  std::vector<Index> vertex_strand(vertices), strand_body(strands);
  std::vector<char> has_edge(vertices, 1), is_joint(vertices, 1);
  for (std::size_t s = 0; s < strands; ++s) {
    const auto begin = static_cast<std::size_t>(seed.start[s]), end = static_cast<std::size_t>(seed.start[s + 1]);
    for (std::size_t i = begin; i < end; ++i) vertex_strand[i] = static_cast<Index>(s);
    has_edge[end - 1] = is_joint[end - 1] = is_joint[begin] = 0;
  }
  for (std::size_t b = 0; b < seed.bodies.size(); ++b)
    for (Index s = seed.bodies[b].strands.begin; s < seed.bodies[b].strands.end; ++s)
      strand_body[static_cast<std::size_t>(s)] = static_cast<Index>(b);
  send(mesh.start, seed.start.size(), [&](std::size_t s) { return seed.start[s]; });
  send(mesh.buried, strands, [&](std::size_t s) { return seed.buried[s]; });
  copy_to_device(ex, vertex_strand.data(), mesh.vertex_strand, mesh.vertices);
  copy_to_device(ex, strand_body.data(), mesh.strand_body, mesh.strands);
  copy_to_device(ex, groups.data(), mesh.group, mesh.groups);
  std::vector<Index> slot(vertices);
  for (const RodGroup& group : groups)
    for (Index lane = 0; lane < group.strands; ++lane) {
      const auto s = static_cast<std::size_t>(group.first_strand + lane);
      for (Index i = seed.start[s]; i < seed.start[s + 1]; ++i)
        slot[static_cast<std::size_t>(i)] = (group.first_row + (i - seed.start[s])) * group_width<Real> + lane;
    }
  copy_to_device(ex, slot.data(), mesh.slot, mesh.vertices);
  send(mesh.body_twisted, mesh.body.size(), [&](std::size_t b) { return mesh.body[b].twisted ? 1 : 0; });
  const std::vector<Real> rows = rows_of<Real>(seed, groups, numbers);
  copy_to_device(ex, rows.data(), mesh.row, static_cast<Index>(rows.size()));

  const std::size_t bodies = seed.bodies.size();
  send(mesh.friction, bodies * bodies, [&](std::size_t i) {
    if (!seed.pair_friction.empty()) return seed.pair_friction[i];
    return std::min(seed.bodies[i / bodies].friction, seed.bodies[i % bodies].friction);
  });
  send(mesh.collider_friction, seed.collider_friction.size(), [&](std::size_t i) { return seed.collider_friction[i]; });
  send(mesh.mass, vertices, [&](std::size_t i) { return seed.mass[i]; });
  send(mesh.inverse_mass, vertices, [&](std::size_t i) { return seed.drive[i] < 0 ? 1 / seed.mass[i] : 0.0; });
  send(mesh.radius, vertices, [&](std::size_t i) { return seed.radius[i]; });
  send(mesh.length, vertices, [&](std::size_t i) { return has_edge[i] != 0 ? seed.length[i] : 0; });
  send(mesh.rest_twist, vertices, [&](std::size_t i) { return seed.rest_twist[i]; });
  send(mesh.twist_rate, vertices, [&](std::size_t i) {
    if (is_joint[i] == 0) return 0.0;
    const double l = std::min(seed.length[i], seed.length[i - 1]);
    return 2.6 / 4 * seed.twist_stiffness[i] / seed.cell[i] / (seed.mass[i] * l * l);
  });
  double rate2 = 0;
  for (std::size_t i = 0; i < vertices; ++i)
    if (has_edge[i] != 0) rate2 = std::max(rate2, stable_rate2(seed, i, is_joint[i] != 0));
  mesh.stable_rate = std::sqrt(rate2);

  std::vector<Index> loose;
  for (std::size_t s = 0; s < strands; ++s) {
    const auto begin = seed.drive.begin() + seed.start[s], end = seed.drive.begin() + seed.start[s + 1];
    if (std::all_of(begin, end, [](std::int32_t drive) { return drive < 0; })) loose.push_back(static_cast<Index>(s));
  }
  mesh.loose_count = static_cast<Index>(loose.size());
  copy_to_device(ex, loose.data(), mesh.loose, mesh.loose_count);

  std::vector<std::size_t> driven;
  for (std::size_t i = 0; i < vertices; ++i)
    if (seed.drive[i] >= 0) driven.push_back(i);
  const auto start_of = [&](std::size_t d) {
    return seed.drives[static_cast<std::size_t>(seed.drive[driven[d]])].start;
  };
  mesh.driven = static_cast<Index>(driven.size());
  send(mesh.driven_vertex, driven.size(), [&](std::size_t d) { return driven[d]; });
  std::vector<Index> number;  // of drives, apart for those by keyframes and skinned ones
  Index keyed = 0, skinned = 0;
  for (const RodDrive& drive : seed.drives) number.push_back(drive.skinned ? -1 - skinned++ : keyed++);
  send(mesh.drive, driven.size(),
       [&](std::size_t d) { return number[static_cast<std::size_t>(seed.drive[driven[d]])]; });
  copy_to_device(ex, seed.skin.data(), mesh.skin, static_cast<Index>(seed.skin.size()));
  list_skin(ex, seed, mesh);
  send(mesh.holds, driven.size(),
       [&](std::size_t d) { return holds_edge(seed, driven[d], has_edge[driven[d]] != 0) ? 1 : 0; });
  for (int k = 0; k < 3; ++k) {
    send(mesh.anchor.c[k], driven.size(), [&](std::size_t d) {
      const Pose pose = start_of(d);
      return (transpose(pose.rotation) * (seed.x[driven[d]] - pose.at))[k];
    });
    send(mesh.anchor_director.c[k], driven.size(),
         [&](std::size_t d) { return (transpose(start_of(d).rotation) * seed.director[driven[d]])[k]; });
  }

  // Theta to equilibrium at the first shape, where the seed's is none.
  RodWorkspace<Real> work;
  for (int k = 0; k < 3; ++k)
    send(work.director_next.c[k], vertices, [&](std::size_t i) { return seed.director[i][k]; });
  turn_frames(ex, mesh, state.x, state.x_tail, 200, state, work);
}

template <class Real>
std::vector<ObjectSums> measure_rods(Exec& ex, const RodConstants<Real>& constants, const RodMesh<Real>& mesh,
                                     const RodState<Real>& state) {
  std::vector<double> crushed;
  for (const RodBody& body : mesh.body) crushed.push_back(crushed_stiffness(body, constants.scheme));
  Array<double> crushed_there;
  copy_to_device(ex, crushed.data(), crushed_there, static_cast<Index>(crushed.size()));
  Array<ObjectSums> device;
  device.resize_discard(mesh.strands);
  parallel_for(ex, "measure", mesh.groups * group_width<Real>,
               SumStrand<Real>{mesh.group.data(), mesh.start.data(), mesh.row.data(), mesh.mass.data(), view(state.x),
                               view(state.x_tail), view(state.v), view(state.director), state.twist.c[0].data(),
                               crushed_there.data(), device.data()});
  std::vector<ObjectSums> strands(static_cast<std::size_t>(mesh.strands)), sums(mesh.body.size());
  copy_to_host(ex, device, strands.data(), mesh.strands);
  for (std::size_t b = 0; b < mesh.body.size(); ++b) {
    for (Index s = mesh.body[b].strands.begin; s < mesh.body[b].strands.end; ++s)
      sums[b].add(strands[static_cast<std::size_t>(s)]);
    sums[b].gravity -= dot(cast<double>(constants.gravity), sums[b].mass_position);
  }
  return sums;
}

#define TRIBO_INSTANTIATE(Real)                                                                         \
  template void load_rods(Exec&, const RodSeed&, RodMesh<Real>&, RodState<Real>&);                      \
  template std::vector<ObjectSums> measure_rods(Exec&, const RodConstants<Real>&, const RodMesh<Real>&, \
                                                const RodState<Real>&);
TRIBO_FOR_EACH_ROD_REAL(TRIBO_INSTANTIATE)
#undef TRIBO_INSTANTIATE

}  // namespace tribo::TRIBO_BACKEND

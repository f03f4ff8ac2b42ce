#include "tribo/mesh/tet_mesh.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

namespace tribo {
namespace {

using P = Vec<double, 3>;

/// Vertices of a face in ascending order.
Vec<std::int32_t, 3> sorted_face(const TetMesh& mesh, std::size_t face) {
  const Vec<std::int32_t, 4>& tet = mesh.tets[face / 4];
  const auto& corners = tet_faces[face % 4];
  Vec<std::int32_t, 3> v{{tet[corners[0]], tet[corners[1]], tet[corners[2]]}};
  std::sort(v.c, v.c + 3);
  return v;
}

}  // namespace

std::vector<std::int64_t> mates_of_faces(const TetMesh& mesh) {
  // Faces are gathered at their lowest vertex, where there are some twenty to compare: linear in the size of the mesh.
  const std::size_t face_count = 4 * mesh.tets.size();
  std::vector<std::size_t> begin(mesh.vertices.size() + 1, 0);
  for (std::size_t f = 0; f < face_count; ++f) ++begin[static_cast<std::size_t>(sorted_face(mesh, f)[0]) + 1];
  for (std::size_t v = 0; v < mesh.vertices.size(); ++v) begin[v + 1] += begin[v];
  struct Face {
    std::int32_t middle, high;
    std::int64_t number;
  };
  std::vector<Face> faces(face_count);
  std::vector<std::size_t> next(begin.begin(), begin.end() - 1);
  for (std::size_t f = 0; f < face_count; ++f) {
    const Vec<std::int32_t, 3> v = sorted_face(mesh, f);
    faces[next[static_cast<std::size_t>(v[0])]++] = {v[1], v[2], static_cast<std::int64_t>(f)};
  }
  std::vector<std::int64_t> mates(face_count, no_mate);
  const auto mate_of = [&](const Face& f) -> std::int64_t& { return mates[static_cast<std::size_t>(f.number)]; };
  for (std::size_t v = 0; v < mesh.vertices.size(); ++v)
    for (std::size_t i = begin[v]; i < begin[v + 1]; ++i)
      for (std::size_t j = i + 1; j < begin[v + 1]; ++j) {
        if (faces[i].middle != faces[j].middle || faces[i].high != faces[j].high) continue;
        if (mate_of(faces[i]) == no_mate && mate_of(faces[j]) == no_mate) {
          mate_of(faces[i]) = faces[j].number;
          mate_of(faces[j]) = faces[i].number;
          continue;
        }
        for (const Face* f : {&faces[i], &faces[j]}) {
          if (mate_of(*f) >= 0) mates[static_cast<std::size_t>(mate_of(*f))] = many_mates;
          mate_of(*f) = many_mates;
        }
      }
  return mates;
}

TetBoundary boundary_of(const TetMesh& mesh) {
  const std::vector<std::int64_t> mates = mates_of_faces(mesh);
  TetBoundary boundary;
  for (std::size_t f = 0; f < mates.size(); ++f) {
    if (mates[f] != no_mate) continue;
    const Vec<std::int32_t, 4>& tet = mesh.tets[f / 4];
    const auto& corners = tet_faces[f % 4];
    boundary.triangles.push_back({{tet[corners[0]], tet[corners[1]], tet[corners[2]]}});
    boundary.tet.push_back(static_cast<std::int32_t>(f / 4));
  }
  return boundary;
}

std::size_t crowded_edges(const TetBoundary& boundary) {
  std::vector<std::array<std::int32_t, 2>> edges;
  edges.reserve(3 * boundary.triangles.size());
  for (const auto& t : boundary.triangles)
    for (int k = 0; k < 3; ++k) edges.push_back({std::min(t[k], t[(k + 1) % 3]), std::max(t[k], t[(k + 1) % 3])});
  std::sort(edges.begin(), edges.end());
  std::size_t count = 0;
  for (std::size_t begin = 0, end = 0; begin < edges.size(); begin = end) {
    while (end < edges.size() && edges[end] == edges[begin]) ++end;
    count += end - begin > 2 ? 1 : 0;
  }
  return count;
}

DihedralCosines dihedral_cosines(const P& a, const P& b, const P& c, const P& d) {
  const P* corners[4] = {&a, &b, &c, &d};
  P normals[4];
  for (int k = 0; k < 4; ++k) {
    const auto& f = tet_faces[k];
    normals[k] = cross(*corners[f[1]] - *corners[f[0]], *corners[f[2]] - *corners[f[0]]);
    const double length = std::sqrt(squared_norm(normals[k]));
    normals[k] = length > 0 ? (1 / length) * normals[k] : P::zero();
  }
  DihedralCosines out{1, -1};
  for (int k = 0; k < 4; ++k)
    for (int l = k + 1; l < 4; ++l) {
      const double cosine = std::clamp(-dot(normals[k], normals[l]), -1.0, 1.0);
      out.smallest = std::min(out.smallest, cosine);
      out.largest = std::max(out.largest, cosine);
    }
  return out;
}

TetQuality quality_of(const TetMesh& mesh) {
  TetQuality q;
  if (mesh.tets.empty()) return q;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  q.smallest_altitude = q.smallest_volume = infinity;
  double smallest = 1, largest = -1;
  for (std::size_t t = 0; t < mesh.tets.size(); ++t) {
    const DihedralCosines cosines =
        dihedral_cosines(mesh.corner(t, 0), mesh.corner(t, 1), mesh.corner(t, 2), mesh.corner(t, 3));
    smallest = std::min(smallest, cosines.smallest);
    largest = std::max(largest, cosines.largest);
    double area = 0;  // largest of a face
    for (const auto& f : tet_faces) {
      const P& origin = mesh.corner(t, f[0]);
      area = std::max(
          area, 0.5 * std::sqrt(squared_norm(cross(mesh.corner(t, f[1]) - origin, mesh.corner(t, f[2]) - origin))));
    }
    const double volume = mesh.volume(t);
    q.volume += volume;
    q.smallest_volume = std::min(q.smallest_volume, volume);
    q.smallest_altitude = std::min(q.smallest_altitude, area > 0 ? 3 * volume / area : 0);
  }
  constexpr double degrees = 180 / std::numbers::pi;
  q.smallest_angle = degrees * std::acos(largest);
  q.largest_angle = degrees * std::acos(smallest);
  return q;
}

}  // namespace tribo

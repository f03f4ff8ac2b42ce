#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tribo/mesh/polygons.h"

namespace tribo::test {

/// Polygons and what files of them look like.
struct PolygonMesh {
  std::vector<Vec<double, 3>> vertices;
  std::vector<std::vector<int>> faces;

  Polygons polygons() const {
    Polygons out;
    out.vertices = vertices;
    for (const std::vector<int>& face : faces) {
      out.begin_face();
      for (const int corner : face) out.corners.push_back(corner);
    }
    out.finish();
    return out;
  }
};

/// A box of six quadrilaterals about the origin.
inline PolygonMesh make_box(double x, double y, double z) {
  PolygonMesh mesh;
  for (int i = 0; i < 8; ++i)
    mesh.vertices.push_back({{((i >> 2) - 0.5) * x, ((i >> 1 & 1) - 0.5) * y, ((i & 1) - 0.5) * z}});
  mesh.faces = {{0, 1, 3, 2}, {4, 6, 7, 5}, {0, 4, 5, 1}, {2, 3, 7, 6}, {0, 2, 6, 4}, {1, 5, 7, 3}};
  return mesh;
}

/// A ball by halving the edges of an icosahedron `levels` times: 20 4^levels triangles, corners on the sphere.
inline PolygonMesh make_ball(double radius, int levels) {
  PolygonMesh mesh;
  const double t = (1 + std::sqrt(5.0)) / 2;
  mesh.vertices = {{{-1, t, 0}},  {{1, t, 0}},  {{-1, -t, 0}}, {{1, -t, 0}}, {{0, -1, t}},  {{0, 1, t}},
                   {{0, -1, -t}}, {{0, 1, -t}}, {{t, 0, -1}},  {{t, 0, 1}},  {{-t, 0, -1}}, {{-t, 0, 1}}};
  mesh.faces = {{0, 11, 5},  {0, 5, 1},  {0, 1, 7},  {0, 7, 10}, {0, 10, 11}, {1, 5, 9}, {5, 11, 4},
                {11, 10, 2}, {10, 7, 6}, {7, 1, 8},  {3, 9, 4},  {3, 4, 2},   {3, 2, 6}, {3, 6, 8},
                {3, 8, 9},   {4, 9, 5},  {2, 4, 11}, {6, 2, 10}, {8, 6, 7},   {9, 8, 1}};
  for (int level = 0; level < levels; ++level) {
    std::map<std::pair<int, int>, int> middle_of;
    const auto middle = [&](int a, int b) {
      const auto [entry, is_new] = middle_of.emplace(std::minmax(a, b), static_cast<int>(mesh.vertices.size()));
      if (is_new)
        mesh.vertices.push_back(mesh.vertices[static_cast<std::size_t>(a)] +
                                mesh.vertices[static_cast<std::size_t>(b)]);
      return entry->second;
    };
    std::vector<std::vector<int>> finer;
    for (const std::vector<int>& f : mesh.faces) {
      const int a = middle(f[0], f[1]), b = middle(f[1], f[2]), c = middle(f[2], f[0]);
      for (const auto& face : {std::vector<int>{f[0], a, c}, {f[1], b, a}, {f[2], c, b}, {a, b, c}})
        finer.push_back(face);
    }
    mesh.faces = std::move(finer);
    for (Vec<double, 3>& v : mesh.vertices) v = (1 / std::sqrt(squared_norm(v))) * v;
  }
  for (Vec<double, 3>& v : mesh.vertices) v = (radius / std::sqrt(squared_norm(v))) * v;
  return mesh;
}

inline PolygonMesh joined(PolygonMesh a, const PolygonMesh& b, const Vec<double, 3>& at) {
  const int first = static_cast<int>(a.vertices.size());
  for (const Vec<double, 3>& v : b.vertices) a.vertices.push_back(v + at);
  for (std::vector<int> face : b.faces) {
    for (int& corner : face) corner += first;
    a.faces.push_back(face);
  }
  return a;
}

inline std::string number_text(double x) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.17g", x);
  return text;
}

inline std::string as_obj(const PolygonMesh& mesh) {
  std::string text = "# made by a test\no thing\n";
  for (const auto& v : mesh.vertices)
    text += "v " + number_text(v[0]) + " " + number_text(v[1]) + " " + number_text(v[2]) + "\n";
  for (const auto& face : mesh.faces) {
    text += "f";
    for (const int corner : face) text += " " + std::to_string(corner + 1);
    text += "\n";
  }
  return text;
}

template <class T>
std::string raw(T value, bool big = false) {
  std::string bytes(sizeof(T), '\0');
  std::memcpy(bytes.data(), &value, sizeof(T));
  if (big != (std::endian::native == std::endian::big)) bytes = std::string(bytes.rbegin(), bytes.rend());
  return bytes;
}

/// With a property before x, one after z, and an element in between, as programs write them.
inline std::string as_ply(const PolygonMesh& mesh, const std::string& format) {
  std::string text = "ply\nformat " + format + " 1.0\ncomment made by a test\nelement vertex " +
                     std::to_string(mesh.vertices.size()) +
                     "\nproperty uchar red\nproperty double x\nproperty double y\nproperty double z\nproperty float "
                     "quality\nelement other 1\nproperty list uchar short numbers\nelement face " +
                     std::to_string(mesh.faces.size()) + "\nproperty list uchar int vertex_indices\nend_header\n";
  const bool ascii = format == "ascii", big = format == "binary_big_endian";
  for (const auto& v : mesh.vertices) {
    if (ascii) {
      text += "255 " + number_text(v[0]) + " " + number_text(v[1]) + " " + number_text(v[2]) + " 0.5\n";
    } else {
      text += raw<std::uint8_t>(255, big) + raw(v[0], big) + raw(v[1], big) + raw(v[2], big) + raw(0.5F, big);
    }
  }
  text += ascii ? "2 -7 300\n" : raw<std::uint8_t>(2, big) + raw<std::int16_t>(-7, big) + raw<std::int16_t>(300, big);
  for (const auto& face : mesh.faces) {
    text += ascii ? std::to_string(face.size()) : raw(static_cast<std::uint8_t>(face.size()), big);
    for (const int corner : face) text += ascii ? " " + std::to_string(corner) : raw<std::int32_t>(corner, big);
    if (ascii) text += "\n";
  }
  return text;
}

/// Triangles only. Coordinates go through float, as the binary form has them.
inline std::string as_stl(const PolygonMesh& mesh, bool ascii) {
  std::string text = ascii ? "solid made by a test\n" : std::string("solid, though binary").append(60, ' ');
  if (!ascii) text += raw(static_cast<std::uint32_t>(mesh.faces.size()), false);
  for (const auto& face : mesh.faces) {
    text += ascii ? "facet normal 0 0 nan\n outer loop\n" : std::string(12, '\0');
    for (const int corner : face) {
      const auto& v = mesh.vertices[static_cast<std::size_t>(corner)];
      if (ascii) text += "  vertex";
      for (int k = 0; k < 3; ++k)
        text += ascii ? " " + number_text(static_cast<float>(v[k])) : raw(static_cast<float>(v[k]), false);
      if (ascii) text += "\n";
    }
    text += ascii ? " endloop\nendfacet\n" : std::string(2, '\0');
  }
  return ascii ? text + "endsolid made by a test\n" : text;
}

/// Faces cut into triangles from their first corner.
inline PolygonMesh triangulated(const PolygonMesh& mesh) {
  PolygonMesh out;
  out.vertices = mesh.vertices;
  for (const auto& face : mesh.faces)
    for (std::size_t i = 1; i + 1 < face.size(); ++i) out.faces.push_back({face[0], face[i], face[i + 1]});
  return out;
}

}  // namespace tribo::test

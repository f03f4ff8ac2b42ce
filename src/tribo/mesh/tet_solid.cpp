#include "tribo/mesh/tet_solid.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <numeric>

#include "tribo/io/file.h"
#include "tribo/mesh/words.h"

namespace tribo {
namespace fs = std::filesystem;
namespace {

using P = Vec<double, 3>;

constexpr double largest_coordinate = 1e12;  // as for surfaces
/// Six times the volume over the cube of the longest edge, of a tet so flat that it is none. An edge of the size of the
/// body would tell less: thin bodies have small tets.
constexpr double flat = 1e-9;

class TetChecker {
 public:
  TetChecker(const TetFile& tets, double scale, const std::string& file) : in_(tets), file_(file) {
    if (in_.other_solids > 0)
      fail_in_file(file_, fmt::format("has {} that {} no tet (hexahedra, prisms or pyramids); cut these into tets, or "
                                      "mesh once more",
                                      plural(in_.other_solids, "element"), in_.other_solids == 1 ? "is" : "are"));
    if (in_.tets.empty()) fail_in_file(file_, "has no tets; mesh the volume, and save all of it");
    take_vertices(scale);
    check_volumes();
    check_twins();
    check_faces();
    // Where parts touch along an edge: not wrong, but seldom wanted.
    if (const std::size_t crowded = crowded_edges(boundary_of(out_.mesh)); crowded > 0)
      out_.notes.push_back(fmt::format("parts touch along {} only, where the boundary has more than two faces",
                                       plural(crowded, "edge")));
    if (in_.has_middle_nodes) out_.notes.emplace_back("of curved tets the corners are used");
  }
  TetSolid take() { return std::move(out_); }

 private:
  static std::string plural(std::size_t n, const char* noun) {
    return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s");
  }
  std::int64_t number(std::size_t tet) const { return in_.tet_numbers[tet]; }
  /// "3, 17, 20 and 5 more"
  std::string list(const std::vector<std::size_t>& tets) const {
    std::string text;
    const std::size_t shown = std::min<std::size_t>(tets.size(), 5);
    for (std::size_t i = 0; i < shown; ++i) text += (i > 0 ? ", " : "") + std::to_string(number(tets[i]));
    if (tets.size() > shown) text += fmt::format(" and {} more", tets.size() - shown);
    return text;
  }

  /// In the order of the file, those in use only.
  void take_vertices(double scale) {
    std::vector<std::int32_t> place(in_.vertices.size(), -1);
    for (const auto& tet : in_.tets)
      for (int k = 0; k < 4; ++k) place[static_cast<std::size_t>(tet[k])] = 0;
    TetMesh& mesh = out_.mesh;
    for (std::size_t v = 0; v < place.size(); ++v) {
      if (place[v] < 0) continue;
      place[v] = static_cast<std::int32_t>(mesh.vertices.size());
      const P at = scale * in_.vertices[v];
      for (int k = 0; k < 3; ++k)
        if (!(std::abs(at[k]) < largest_coordinate))
          fail_in_file(file_,
                       fmt::format("vertex {} lies {:.3g} m away; use a smaller scale", in_.vertex_numbers[v], at[k]));
      if (mesh.vertices.empty()) out_.low = out_.high = at;
      for (int k = 0; k < 3; ++k) {
        out_.low[k] = std::min(out_.low[k], at[k]);
        out_.high[k] = std::max(out_.high[k], at[k]);
      }
      mesh.vertices.push_back(at);
    }
    if (const std::size_t unused = in_.vertices.size() - mesh.vertices.size(); unused > 0 && !in_.has_middle_nodes)
      out_.notes.push_back(fmt::format("{} {} without a tet left out", unused, unused == 1 ? "vertex" : "vertices"));
    for (auto tet : in_.tets) {
      for (int k = 0; k < 4; ++k) tet[k] = place[static_cast<std::size_t>(tet[k])];
      mesh.tets.push_back(tet);
    }
  }

  void check_volumes() {
    TetMesh& mesh = out_.mesh;
    std::vector<std::size_t> thin, turned;
    for (std::size_t t = 0; t < mesh.tets.size(); ++t) {
      double longest = 0;
      for (int i = 0; i < 4; ++i)
        for (int j = i + 1; j < 4; ++j)
          longest = std::max(longest, squared_norm(mesh.corner(t, j) - mesh.corner(t, i)));
      const double volume = mesh.volume(t);
      if (!(std::abs(6 * volume) > flat * longest * std::sqrt(longest))) {
        thin.push_back(t);
      } else if (volume < 0) {
        turned.push_back(t);
      }
      out_.volume += std::abs(volume);
    }
    if (!thin.empty())
      fail_in_file(file_, fmt::format("{} without a volume: {}; remove them, or mesh once more",
                                      plural(thin.size(), "tet"), list(thin)));
    if (turned.size() == mesh.tets.size()) {
      for (auto& tet : mesh.tets) std::swap(tet[2], tet[3]);
    } else if (!turned.empty()) {
      fail_in_file(file_, fmt::format("{} of {} tets are inside out: {}; swap two corners of each, or mesh once more",
                                      turned.size(), mesh.tets.size(), list(turned)));
    }
  }

  void check_twins() {
    struct Key {
      std::array<std::int32_t, 4> corners;
      std::size_t tet;
    };
    std::vector<Key> keys;
    for (std::size_t t = 0; t < out_.mesh.tets.size(); ++t) {
      const auto& tet = out_.mesh.tets[t];
      Key& key = keys.emplace_back(Key{{tet[0], tet[1], tet[2], tet[3]}, t});
      std::sort(key.corners.begin(), key.corners.end());
    }
    std::sort(keys.begin(), keys.end(),
              [](const Key& a, const Key& b) { return std::tie(a.corners, a.tet) < std::tie(b.corners, b.tet); });
    std::vector<std::size_t> twins;
    for (std::size_t i = 1; i < keys.size(); ++i)
      if (keys[i].corners == keys[i - 1].corners) twins.push_back(keys[i].tet);
    std::sort(twins.begin(), twins.end());
    if (!twins.empty())
      fail_in_file(file_,
                   fmt::format("{} there before: {}; save every one once", plural(twins.size(), "tet"), list(twins)));
  }

  void check_faces() {
    const TetMesh& mesh = out_.mesh;
    const std::vector<std::int64_t> mates = mates_of_faces(mesh);
    std::vector<std::size_t> crowded;
    for (std::size_t f = 0; f < mates.size(); ++f)
      if (mates[f] == many_mates && (crowded.empty() || crowded.back() != f / 4)) crowded.push_back(f / 4);
    if (!crowded.empty())
      fail_in_file(
          file_, fmt::format("three tets or more share a face: {}; parts overlap, mesh them together", list(crowded)));
    for (std::size_t f = 0; f < mates.size(); ++f) {
      if (mates[f] < static_cast<std::int64_t>(f)) continue;
      const auto other = static_cast<std::size_t>(mates[f]);
      if (is_even(f, other))
        fail_in_file(file_, fmt::format("tets {} and {} lie on the same side of their common face; parts overlap, mesh "
                                        "them together",
                                        number(f / 4), number(other / 4)));
    }
  }
  /// Whether two tets see their common face the same way around.
  bool is_even(std::size_t f, std::size_t g) const {
    const auto at = [&](std::size_t face, int k) { return out_.mesh.tets[face / 4][tet_faces[face % 4][k % 3]]; };
    for (int k = 0; k < 3; ++k)
      if (at(g, k) == at(f, 0)) return at(g, k + 1) == at(f, 1);
    return false;
  }

  const TetFile& in_;
  const std::string& file_;
  TetSolid out_;
};

std::string extension_of(const std::string& path) {
  std::string extension = fs::path(path).extension().string();
  for (char& c : extension)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return extension;
}
constexpr const char* extensions[] = {".msh", ".mesh", ".node", ".ele", ".vtk", ".vtu"};

}  // namespace

TetSolid check_tets(const TetFile& tets, double scale, const std::string& file) {
  return TetChecker(tets, scale, file).take();
}

bool is_tet_mesh_name(const std::string& path) {
  const std::string extension = extension_of(path);
  return std::find(std::begin(extensions), std::end(extensions), extension) != std::end(extensions);
}

std::vector<std::string> tet_mesh_files(const std::string& path) {
  const std::string extension = extension_of(path);
  if (extension == ".node") return {path, fs::path(path).replace_extension(".ele").string()};
  if (extension == ".ele") return {fs::path(path).replace_extension(".node").string(), path};
  return {path};
}

TetSolid parse_tet_mesh(const std::vector<NamedBytes>& files, double scale) {
  const std::string& file = files.at(0).file;
  const std::string_view bytes = files[0].bytes;
  for (const NamedBytes& f : files)
    if (f.bytes.empty()) fail_in_file(f.file, "is empty");
  const std::string extension = extension_of(file);
  if (extension == ".msh") return check_tets(parse_gmsh(bytes, file), scale, file);
  if (extension == ".mesh") return check_tets(parse_medit(bytes, file), scale, file);
  if (extension == ".vtk") return check_tets(parse_vtk_tets(bytes, file), scale, file);
  if (extension == ".vtu") return check_tets(parse_vtu(bytes, file), scale, file);
  if (extension == ".node" && files.size() == 2)
    return check_tets(parse_tetgen(bytes, file, files[1].bytes, files[1].file), scale, files[1].file);
  if (extension == ".meshb") fail_in_file(file, "is a MEDIT file as bytes; save it as text, .mesh");
  fail_in_file(file,
               "its name does not say what it is; tets are read from .msh (Gmsh), .mesh (MEDIT), .node and .ele "
               "(TetGen), .vtk and .vtu");
}

TetSolid read_tet_mesh(const std::string& path, double scale) {
  std::vector<NamedBytes> files;
  for (const std::string& file : tet_mesh_files(path)) {
    std::error_code ignored;
    if (!fs::exists(file, ignored))
      fail_in_file(file, file == path ? "there is no such file" : "there is no such file, which belongs to " + path);
    files.push_back({file, read_text(file)});
  }
  return parse_tet_mesh(files, scale);
}

}  // namespace tribo

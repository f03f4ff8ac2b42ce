#include "tribo/colliders/mesh.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <mutex>
#include <optional>

#include "tribo/core/errors.h"
#include "tribo/io/file.h"

namespace tribo {
namespace fs = std::filesystem;

struct Mesh::Data {
  Solid solid;
  std::optional<TetSolid> tets;
  double spacing = 0;
  std::string file, hash;
  std::vector<std::string> paths;
  mutable std::once_flag sampled;
  mutable DistanceField field;
};

/// The files of a mesh (two in the case of TetGen), of which `file` is the one that the scene names.
struct Mesh::Source {
  std::string file, hash;
  std::vector<NamedBytes> files;
};

namespace {

constexpr const char* hash_doc =
    "of the file's bytes, written into scene.json by a run, which keeps a copy of the file in its folder `meshes`; "
    "a file that has changed since is refused";

std::string hash_of(const std::vector<NamedBytes>& files) {
  std::string all;
  for (const NamedBytes& file : files) all += file.bytes;
  return fmt::format("{:016x}", XXH3_64bits(all.data(), all.size()));
}

std::string stored_name_of(const std::string& hash, const std::string& file) {
  return "meshes/" + hash + fs::path(file).extension().string();
}

double read_scale(ParamReader& in) {
  return in.number("scale", "1", above(0), "meters that one unit of the file stands for", 1);
}

std::optional<double> read_resolution(ParamReader& in) {
  return in.open_number("resolution", "m", above(0),
                        "how finely the distance to the surface is sampled; by default half the grid spacing, coarser "
                        "where that would take more than 256 MiB");
}

/// Stands in where the file cannot be used, so that reading can go on.
Solid unit_cube() {
  Polygons cube;
  for (int i = 0; i < 8; ++i) cube.vertices.push_back({{double(i >> 2), double(i >> 1 & 1), double(i & 1)}});
  for (const auto& face :
       {std::initializer_list<int>{0, 1, 3, 2}, {4, 6, 7, 5}, {0, 4, 5, 1}, {2, 3, 7, 6}, {0, 2, 6, 4}, {1, 5, 7, 3}}) {
    cube.begin_face();
    for (const int corner : face) cube.corners.push_back(corner);
  }
  cube.finish();
  return solid_from(cube, 1, "cube");
}

/// Nothing when one of them is not there.
std::optional<std::vector<NamedBytes>> bytes_of(const std::vector<std::string>& paths) {
  std::vector<NamedBytes> files;
  for (const std::string& path : paths) {
    std::error_code ignored;
    if (!fs::exists(path, ignored)) return {};
    files.push_back({path, read_text(path)});
  }
  return files;
}

/// The faces between tets and what is not.
Solid surface_of(const TetSolid& tets, const std::string& file) {
  Polygons faces;
  faces.vertices = tets.mesh.vertices;
  for (const auto& triangle : boundary_of(tets.mesh).triangles) {
    faces.begin_face();
    for (int k = 0; k < 3; ++k) faces.corners.push_back(triangle[k]);
  }
  faces.finish();
  Solid solid = solid_from(faces, 1, file);
  solid.notes = tets.notes;
  return solid;
}

}  // namespace

Mesh::Mesh(Solid solid, double spacing) {
  auto data = std::make_shared<Data>();
  const Vec<double, 3> size = solid.high - solid.low;
  // Without a grid to go by, a hundredth of the size shows what there is to see.
  data->spacing = spacing > 0 ? spacing : 0.01 * std::max({size[0], size[1], size[2]});
  data->solid = std::move(solid);
  data_ = std::move(data);
}

/// The file that the scene names, or when it is gone or has changed the copy that a run has kept. Throws Error (bad
/// input).
Mesh::Source Mesh::find_source(ParamReader& in, const std::string& file) {
  if (file.empty()) throw Error(ExitCode::bad_input, "expected the name of a mesh file, got an empty text");
  const fs::path directory = in.directory();
  std::vector<std::string> paths;
  for (const std::string& name : tet_mesh_files(file)) paths.push_back((directory / name).string());
  std::optional<std::vector<NamedBytes>> files = bytes_of(paths);
  const std::string hash = in.text("hash", hash_doc, files ? hash_of(*files) : "");
  if ((!files || hash_of(*files) != hash) && !hash.empty()) {
    // Only plain names: the hash is text from the scene.
    const bool plain = std::all_of(hash.begin(), hash.end(), [](unsigned char c) { return std::isalnum(c) != 0; });
    std::vector<std::string> kept;
    for (const std::string& path : paths) kept.push_back((directory / stored_name_of(hash, path)).string());
    std::optional<std::vector<NamedBytes>> copies = plain ? bytes_of(kept) : std::nullopt;
    if (copies && hash_of(*copies) == hash) {
      files = std::move(copies);
    } else if (files) {
      throw Error(ExitCode::bad_input,
                  fmt::format("{}: has changed since the scene was written: its hash is {}, not {}; restore the file, "
                              "or remove the key `hash`",
                              paths[0], hash_of(*files), hash));
    }
  }
  for (const std::string& path : paths)
    if (!files && !bytes_of({path})) throw Error(ExitCode::bad_input, fmt::format("{}: there is no such file", path));
  return {file, hash, std::move(*files)};
}

void Mesh::came_from(const Source& source) {
  auto data = std::const_pointer_cast<Data>(data_);  // not shared yet
  data->file = source.file;
  data->hash = source.hash;
  for (const NamedBytes& file : source.files) data->paths.push_back(file.file);
}

Mesh Mesh::read(ParamReader& in) {
  const std::string file =
      in.text("file", "mesh file, by its path relative to the scene file; what it is follows from .obj, .ply or .stl");
  const double scale = read_scale(in);
  const std::optional<double> resolution = read_resolution(in);
  if (in.describing()) {
    in.text("hash", hash_doc, "");
    return {unit_cube(), 0};
  }
  try {
    const Source source = find_source(in, file);
    if (is_tet_mesh_name(file))
      throw Error(
          ExitCode::bad_input,
          fmt::format("{}: its name is one of a file of tets; use {{\"tets\": \"{}\"}}, or a surface from .obj, "
                      ".ply or .stl",
                      source.files[0].file, file));
    Mesh mesh(parse_solid(source.files[0].bytes, scale, source.files[0].file),
              resolution.value_or(0.5 * in.grid_spacing()));
    mesh.came_from(source);
    return mesh;
  } catch (const Error& error) {
    in.complain("file", error.what());
  }
  return {unit_cube(), 0};
}

Mesh Mesh::read_tets(ParamReader& in) {
  const std::string file = in.text("file",
                                   "file of tets, by its path relative to the scene file; what it is follows from "
                                   ".msh, .mesh, .node or .ele (of which both are read), .vtk or .vtu");
  const double scale = read_scale(in);
  const std::optional<double> resolution = read_resolution(in);
  if (in.describing()) {
    in.text("hash", hash_doc, "");
    return {unit_cube(), 0};
  }
  try {
    const Source source = find_source(in, file);
    TetSolid tets = parse_tet_mesh(source.files, scale);
    Mesh mesh(surface_of(tets, source.files[0].file), resolution.value_or(0.5 * in.grid_spacing()));
    std::const_pointer_cast<Data>(mesh.data_)->tets = std::move(tets);  // not shared yet
    mesh.came_from(source);
    return mesh;
  } catch (const Error& error) {
    in.complain("file", error.what());
  }
  return {unit_cube(), 0};
}

Bounds Mesh::bounds() const { return {true, data_->solid.low, data_->solid.high}; }
SurfaceMesh Mesh::surface() const { return with_creases(data_->solid.mesh); }
double Mesh::volume(int /*dimension*/) const { return data_->solid.volume; }
const Solid& Mesh::solid() const { return data_->solid; }
double Mesh::wanted_spacing() const { return data_->spacing; }
const std::string& Mesh::file() const { return data_->file; }
const std::string& Mesh::hash() const { return data_->hash; }
const TetSolid* Mesh::tets() const { return data_->tets ? &*data_->tets : nullptr; }
std::vector<NamedBytes> Mesh::copies() const {
  std::vector<NamedBytes> files;
  for (const std::string& path : data_->paths) files.push_back({stored_name_of(data_->hash, path), read_text(path)});
  if (hash_of(files) != data_->hash) throw IoError(data_->paths[0] + ": has changed since it was read; start again");
  return files;
}

const DistanceField& Mesh::field() const {
  std::call_once(data_->sampled, [&] { data_->field = sample_distance(data_->solid, data_->spacing); });
  return data_->field;
}

}  // namespace tribo

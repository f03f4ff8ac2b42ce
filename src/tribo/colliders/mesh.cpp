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
  double spacing = 0;
  std::string file, hash, path;
  mutable std::once_flag sampled;
  mutable DistanceField field;
};

namespace {

std::string hash_of(const std::string& bytes) {
  return fmt::format("{:016x}", XXH3_64bits(bytes.data(), bytes.size()));
}

std::string stored_name_of(const std::string& hash, const std::string& file) {
  return "meshes/" + hash + fs::path(file).extension().string();
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

std::optional<std::string> bytes_of(const std::string& path) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return {};
  return read_text(path);
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

Mesh Mesh::read(ParamReader& in) {
  const std::string file =
      in.text("file", "mesh file, by its path relative to the scene file; what it is follows from .obj, .ply or .stl");
  const double scale = in.number("scale", "1", above(0), "meters that one unit of the file stands for", 1);
  const std::optional<double> resolution =
      in.open_number("resolution", "m", above(0),
                     "how finely the distance to the surface is sampled; by default half the grid spacing, coarser "
                     "where that would take more than 256 MiB");
  const char* const hash_doc =
      "of the file's bytes, written into scene.json by a run, which keeps a copy of the file in its folder `meshes`; "
      "a file that has changed since is refused";
  if (in.describing()) {
    in.text("hash", hash_doc, "");
    return {unit_cube(), 0};
  }
  std::string path = (fs::path(in.directory()) / file).string();
  try {
    if (file.empty()) throw Error(ExitCode::bad_input, "expected the name of a mesh file, got an empty text");
    std::optional<std::string> bytes = bytes_of(path);
    const std::string hash = in.text("hash", hash_doc, bytes ? hash_of(*bytes) : "");
    if ((!bytes || hash_of(*bytes) != hash) && !hash.empty()) {
      // Only plain names: the hash is text from the scene.
      const bool plain = std::all_of(hash.begin(), hash.end(), [](unsigned char c) { return std::isalnum(c) != 0; });
      const std::string kept = (fs::path(in.directory()) / stored_name_of(hash, file)).string();
      std::optional<std::string> copy = plain ? bytes_of(kept) : std::nullopt;
      if (copy && hash_of(*copy) == hash) {
        bytes = std::move(copy);
        path = kept;
      } else if (bytes) {
        throw Error(
            ExitCode::bad_input,
            fmt::format("{}: has changed since the scene was written: its hash is {}, not {}; restore the file, "
                        "or remove the key `hash`",
                        path, hash_of(*bytes), hash));
      }
    }
    if (!bytes) throw Error(ExitCode::bad_input, fmt::format("{}: there is no such file", path));
    Mesh mesh(parse_solid(*bytes, scale, path), resolution.value_or(0.5 * in.grid_spacing()));
    auto data = std::const_pointer_cast<Data>(mesh.data_);  // not shared yet
    data->file = file;
    data->hash = hash;
    data->path = path;
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
std::string Mesh::bytes() const {
  std::string bytes = read_text(data_->path);
  if (hash_of(bytes) != data_->hash) throw IoError(data_->path + ": has changed since it was read; start again");
  return bytes;
}
std::string Mesh::stored_name() const { return stored_name_of(data_->hash, data_->file); }

const DistanceField& Mesh::field() const {
  std::call_once(data_->sampled, [&] { data_->field = sample_distance(data_->solid, data_->spacing); });
  return data_->field;
}

}  // namespace tribo

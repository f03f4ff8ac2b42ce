#include "tribo/colliders/mesh.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <optional>

#include "tribo/core/errors.h"
#include "tribo/io/asset_file.h"

namespace tribo {

struct Mesh::Data {
  Solid solid;
  std::optional<TetSolid> tets;
  double spacing = 0;
  bool refinable = true;
  std::string file, hash;
  std::vector<std::string> paths;
  mutable std::once_flag sampled;
  mutable DistanceField field;
};

namespace {

double read_scale(ParamReader& in) {
  return in.number("scale", "1", above(0), "meters that one unit of the file stands for", 1);
}

std::optional<double> read_resolution(ParamReader& in) {
  return in.open_number("resolution", "m", above(0),
                        "how finely the distance to the surface is sampled; by default half the grid spacing, finer "
                        "where hair grows on it or meets it, and coarser where that would take more than 256 MiB");
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

Mesh::Mesh(Solid solid, double spacing, bool refinable) {
  auto data = std::make_shared<Data>();
  data->refinable = refinable;
  const Vec<double, 3> size = solid.high - solid.low;
  // Without a grid to go by, a hundredth of the size shows what there is to see.
  data->spacing = spacing > 0 ? spacing : 0.01 * std::max({size[0], size[1], size[2]});
  data->solid = std::move(solid);
  data_ = std::move(data);
}

void Mesh::came_from(const AssetFiles& source) {
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
  try {
    const AssetFiles source = find_asset(in, file, tet_mesh_files(file), "mesh");
    if (in.describing()) return {unit_cube(), 0};
    if (is_tet_mesh_name(file))
      throw Error(
          ExitCode::bad_input,
          fmt::format("{}: its name is one of a file of tets; use {{\"tets\": \"{}\"}}, or a surface from .obj, "
                      ".ply or .stl",
                      source.files[0].file, file));
    Mesh mesh(parse_solid(source.files[0].bytes, scale, source.files[0].file),
              resolution.value_or(0.5 * in.grid_spacing()), !resolution);
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
  try {
    const AssetFiles source = find_asset(in, file, tet_mesh_files(file), "mesh");
    if (in.describing()) return {unit_cube(), 0};
    TetSolid tets = parse_tet_mesh(source.files, scale);
    Mesh mesh(surface_of(tets, source.files[0].file), resolution.value_or(0.5 * in.grid_spacing()), !resolution);
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
void Mesh::refine(double spacing) {
  auto data = std::const_pointer_cast<Data>(data_);  // copies of it are the same mesh and shall have the same field
  if (data->refinable) data->spacing = std::min(data->spacing, spacing);
}
double Mesh::wanted_spacing() const { return data_->spacing; }
const std::string& Mesh::file() const { return data_->file; }
const std::string& Mesh::hash() const { return data_->hash; }
const TetSolid* Mesh::tets() const { return data_->tets ? &*data_->tets : nullptr; }
std::vector<NamedBytes> Mesh::copies() const { return asset_copies(data_->paths, data_->hash); }

const DistanceField& Mesh::field() const {
  std::call_once(data_->sampled, [&] { data_->field = sample_distance(data_->solid, data_->spacing); });
  return data_->field;
}

}  // namespace tribo

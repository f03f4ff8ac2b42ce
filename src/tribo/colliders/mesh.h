#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tribo/colliders/distance_grid.h"
#include "tribo/colliders/surface.h"
#include "tribo/core/params.h"
#include "tribo/mesh/tet_solid.h"

namespace tribo {

struct AssetFiles;

/// A closed surface of triangles from a file, or that of a file's tets. Contact and sampling see its distance on a grid
/// (DistanceField), which is made when it is first asked for; pictures see the triangles, and a solid the tets.
class Mesh {
 public:
  static constexpr const char* name = "mesh";
  static constexpr const char* doc =
      "the solid inside a closed surface of triangles or polygons, from a file (.obj, .ply or .stl); three dimensions "
      "only";
  static constexpr const char* shorthand = "file";
  static constexpr const char* tets_name = "tets";
  static constexpr const char* tets_doc =
      "the solid that tets from a file fill (Gmsh .msh, MEDIT .mesh, TetGen .node and .ele, VTK .vtk or .vtu): an "
      "object of type \"solid\" has these very tets, all else sees their surface; three dimensions only";
  /// What stands for it in kernels.
  template <class Real>
  using View = DistanceGrid<Real>;

  static Mesh read(ParamReader& in);
  static Mesh read_tets(ParamReader& in);
  Mesh(Solid solid, double spacing, bool refinable = true);

  /// `store(vector)` gives the address of a copy of the vector where the view is to be used.
  template <class Real, class Store>
  View<Real> view(const Store& store) const {
    const DistanceField& f = field();
    return {store(f.samples), store(f.corners),  store(f.fine),
            f.blocks,         cast<Real>(f.low), static_cast<Real>(f.spacing)};
  }

  template <int D>
  SurfacePoint<double, D> nearest(const Vec<double, D>& p) const {
    return host_view().nearest(p);
  }
  template <int D, class Visit>
  void each_contact(const Vec<double, D>& p, bool inside, double slack, const Visit& visit) const {
    host_view().each_contact(p, inside, slack, visit);
  }

  Bounds bounds() const;
  SurfaceMesh surface() const;
  double volume(int dimension) const;

  const Solid& solid() const;
  const TetSolid* tets() const;  ///< of a file of tets, else null
  const DistanceField& field() const;
  /// Samples the distance at least that finely, unless its scene says how finely. Before anybody has asked for it.
  void refine(double spacing);
  double wanted_spacing() const;    ///< what the field is sampled at unless it takes too much memory [m]
  const std::string& file() const;  ///< as the scene names it
  const std::string& hash() const;  ///< of the file's bytes; 16 hexadecimal digits
  /// The files' bytes, read once more, under names of their own, for a run that must not depend on the files:
  /// "meshes/HASH.obj". Throws IoError when they are no longer those of the hash.
  std::vector<NamedBytes> copies() const;

 private:
  struct Data;
  void came_from(const AssetFiles& source);
  View<double> host_view() const {
    return view<double>([](const auto& values) { return values.data(); });
  }
  std::shared_ptr<const Data> data_;
};

}  // namespace tribo

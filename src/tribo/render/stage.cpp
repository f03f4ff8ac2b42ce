#include "tribo/render/stage.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "tribo/io/run_info.h"
#include "tribo/render/area.h"
#include "tribo/render/skin.h"
#include "tribo/setup/appearance.h"

namespace tribo {
namespace {

Surface surface_of(const Look& look) {
  Surface surface;
  for (int k = 0; k < 3; ++k) surface.color[k] = from_srgb(static_cast<float>(look.color[k]));
  surface.roughness = static_cast<float>(look.roughness);
  surface.metallic = static_cast<float>(look.metallic);
  surface.opacity = static_cast<float>(look.opacity);
  surface.variation = static_cast<float>(look.variation);
  return surface;
}

bool is_seen(const Look& look) { return look.visible && look.opacity > 0; }

class Builder {
 public:
  Builder(const Scene& scene, const Frame& frame, const Coloring& coloring, const ViewBounds& shown)
      : scene_(scene), frame_(frame), coloring_(coloring) {
    stage_.origin = shown.center();
    stage_.radius = static_cast<float>(shown.radius());
    stage_.up = cast<float>(up_direction(scene));
  }

  Stage build() {
    for (std::size_t o = 0; o < scene_.objects.size(); ++o) {
      Surface surface = surface_of(scene_.objects[o].look);
      if (coloring_.mode == "object") surface.color = palette_color(static_cast<int>(o));
      if (coloring_.mode == "material" && scene_.objects[o].material >= 0)
        surface.color = palette_color(scene_.objects[o].material);
      if (coloring_.mode != "look") {  // colors that mean something are shown as they are
        surface.variation = surface.metallic = 0;
        surface.opacity = 1;
      }
      stage_.surfaces.push_back(surface);
    }
    add_particles();
    for (const FrameMesh& mesh : frame_.meshes)
      if (const int object = object_named(mesh.name); object >= 0) add_mesh(mesh, static_cast<std::uint32_t>(object));
    for (const FrameCurves& curves : frame_.curves)
      if (const int object = object_named(curves.name); object >= 0)
        add_curves(curves, static_cast<std::uint32_t>(object));
    for (const ColliderSpec& collider : scene_.colliders) {
      if (!collider.look.visible || !(is_seen(collider.look) || collider.inside)) continue;
      if (scene_.dimension == 2) {
        add_area(collider);
      } else {
        add_collider(collider);
      }
    }
    return std::move(stage_);
  }

 private:
  /// A point of the frame in coordinates of the stage.
  Vec<float, 3> point_at(const NamedArray& x, std::size_t row) const {
    Vec<double, 3> p = Vec<double, 3>::zero();
    for (std::uint32_t k = 0; k < x.components; ++k) p[static_cast<int>(k)] = number_at(x, row * x.components + k);
    return cast<float>(p - stage_.origin);
  }

  /// The visible object of that name, or -1.
  int object_named(const std::string& name) const {
    for (std::size_t o = 0; o < scene_.objects.size(); ++o)
      if (scene_.objects[o].name == name) return is_seen(scene_.objects[o].look) ? static_cast<int>(o) : -1;
    return -1;
  }

  void add_particles() {
    const NamedArray& x = *frame_.find("x");
    const NamedArray* const object = frame_.find("object");
    const NamedArray* const id = frame_.find("id");
    const ParticleValue value(coloring_.mode, scene_, frame_);
    StageSpheres& spheres = stage_.spheres;
    std::vector<float> radii;
    for (const ObjectSpec& spec : scene_.objects) radii.push_back(static_cast<float>(particle_radius(scene_, spec)));
    const double span = std::max(coloring_.high - coloring_.low, 1e-300);
    spheres.centers.reserve(x.count);
    spheres.surface.reserve(x.count);
    spheres.id.reserve(x.count);
    if (value.on_scale()) spheres.scale.reserve(x.count);
    std::vector<std::vector<Vec<float, 3>>> skinned(scene_.objects.size());
    for (std::size_t i = 0; i < x.count; ++i) {
      const auto o = object != nullptr ? static_cast<std::size_t>(integer_at(*object, i)) : 0;
      if (o >= scene_.objects.size() || !is_seen(scene_.objects[o].look)) continue;
      const Vec<float, 3> p = point_at(x, i);
      if (scene_.objects[o].look.surface && !value.on_scale() && scene_.dimension == 3) {
        skinned[o].push_back(p);
        continue;
      }
      spheres.centers.push_back({{p[0], p[1], p[2], radii[o]}});
      spheres.surface.push_back(static_cast<std::uint32_t>(o));
      spheres.id.push_back(
          static_cast<std::uint32_t>(id != nullptr ? integer_at(*id, i) : static_cast<std::int64_t>(i)));
      if (value.on_scale()) spheres.scale.push_back(static_cast<float>((value(i) - coloring_.low) / span));
    }
    for (std::size_t o = 0; o < skinned.size(); ++o) add_skin(skinned[o], static_cast<std::uint32_t>(o));
  }

  void add_skin(std::span<const Vec<float, 3>> points, std::uint32_t object) {
    if (points.empty()) return;
    Skin skin = skin_around(points, static_cast<float>(particle_spacing(scene_, scene_.objects[object])));
    StageMesh mesh;
    mesh.surface = object;
    mesh.vertices = std::move(skin.vertices);
    mesh.triangles = std::move(skin.triangles);
    add_normals(mesh);
    stage_.meshes.push_back(std::move(mesh));
  }

  void add_mesh(const FrameMesh& mesh, std::uint32_t surface) {
    StageMesh out;
    out.surface = surface;
    for (std::size_t i = 0; i < mesh.x.count; ++i) out.vertices.push_back(point_at(mesh.x, i));
    const auto corners = mesh.triangles.as<std::int32_t>();
    for (std::size_t t = 0; t < mesh.triangles.count; ++t)
      out.triangles.push_back(
          {{static_cast<std::uint32_t>(corners[3 * t]), static_cast<std::uint32_t>(corners[3 * t + 1]),
            static_cast<std::uint32_t>(corners[3 * t + 2])}});
    split_creases(out);
    add_normals(out);
    stage_.meshes.push_back(std::move(out));
  }

  /// Doubles vertices on edges where a surface turns by more than an angle, so that normals are not averaged across: a
  /// box keeps its edges, and a coarse ball is round.
  static void split_creases(StageMesh& mesh) {
    constexpr float cosine = 0.766F;  // of 40 degrees
    std::vector<Vec<float, 3>> normal;
    std::vector<std::uint32_t> start(mesh.vertices.size() + 1, 0);
    for (const Vec<std::uint32_t, 3>& t : mesh.triangles) {
      const Vec<float, 3> a = mesh.vertices[t[0]];
      normal.push_back(length_and_direction(cross(mesh.vertices[t[1]] - a, mesh.vertices[t[2]] - a)).normal);
      for (int k = 0; k < 3; ++k) ++start[t[k] + 1];
    }
    for (std::size_t i = 1; i < start.size(); ++i) start[i] += start[i - 1];
    std::vector<std::uint32_t> around(start.back()), next(start.begin(), start.end() - 1);
    for (std::uint32_t t = 0; t < mesh.triangles.size(); ++t)
      for (int k = 0; k < 3; ++k) around[next[mesh.triangles[t][k]]++] = t;

    const std::vector<Vec<std::uint32_t, 3>> before = mesh.triangles;
    const auto joined = [&](std::uint32_t one, std::uint32_t other) {  // by an edge, which is no crease
      int shared = 0;
      for (int a = 0; a < 3; ++a)
        for (int b = 0; b < 3; ++b) shared += before[one][a] == before[other][b] ? 1 : 0;
      return shared >= 2 && dot(normal[one], normal[other]) > cosine;
    };
    std::vector<std::uint32_t> fan, waiting;
    for (std::uint32_t v = 0; v + 1 < start.size(); ++v) {
      waiting.assign(around.begin() + start[v], around.begin() + start[v + 1]);
      for (bool first = true; !waiting.empty(); first = false) {  // triangles that hang together have one vertex
        std::uint32_t own = v;
        if (!first) {
          own = static_cast<std::uint32_t>(mesh.vertices.size());
          mesh.vertices.push_back(mesh.vertices[v]);
        }
        fan.assign(1, waiting.front());
        waiting.erase(waiting.begin());
        for (std::size_t i = 0; i < fan.size(); ++i) {
          for (int k = 0; k < 3; ++k)
            if (before[fan[i]][k] == v) mesh.triangles[fan[i]][k] = own;
          for (std::size_t w = 0; w < waiting.size();) {
            if (joined(fan[i], waiting[w])) {
              fan.push_back(waiting[w]);
              waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(w));
            } else {
              ++w;
            }
          }
        }
      }
    }
  }

  /// Normals averaged over the triangles around each vertex, weighted by area.
  static void add_normals(StageMesh& mesh) {
    mesh.normals.assign(mesh.vertices.size(), Vec<float, 3>::zero());
    for (const Vec<std::uint32_t, 3>& t : mesh.triangles) {
      const Vec<float, 3> a = mesh.vertices[t[0]], b = mesh.vertices[t[1]], c = mesh.vertices[t[2]];
      const Vec<float, 3> area = cross(b - a, c - a);
      for (int k = 0; k < 3; ++k) mesh.normals[t[k]] += area;
    }
    for (Vec<float, 3>& n : mesh.normals) n = length_and_direction(n).normal;
  }

  void add_curves(const FrameCurves& curves, std::uint32_t surface) {
    StageCurves out;
    out.surface = surface;
    out.fiber = true;
    const ObjectSpec& object = scene_.objects[surface];
    const bool own = curves.radius.count != 0;
    const auto same = static_cast<float>(particle_radius(scene_, object));
    const auto sizes = curves.sizes.as<std::int32_t>();
    std::size_t row = 0;
    for (std::size_t s = 0; s < curves.sizes.count; ++s) {
      add_strand(
          static_cast<std::size_t>(sizes[s]),
          [&](std::size_t i) {
            return own ? static_cast<float>(object.look.size * number_at(curves.radius, row + i)) : same;
          },
          static_cast<std::uint32_t>(s), [&](std::size_t i) { return point_at(curves.x, row + i); }, out);
      row += static_cast<std::size_t>(sizes[s]);
    }
    stage_.curves.push_back(std::move(out));
  }

  /// A strand through points 0 .. n-1, led in and out by mirrored neighbors as Catmull-Rom splines need it.
  template <class Radius, class Point>
  static void add_strand(std::size_t n, const Radius& radius, std::uint32_t strand, const Point& point,
                         StageCurves& out) {
    const auto add = [&](const Vec<float, 3>& p, float r) { out.points.push_back({{p[0], p[1], p[2], r}}); };
    const auto begin = static_cast<std::uint32_t>(out.points.size());
    add(2.0F * point(0) - point(1), radius(0));
    for (std::size_t i = 0; i < n; ++i) add(point(i), radius(i));
    add(2.0F * point(n - 1) - point(n - 2), radius(n - 1));
    for (std::uint32_t i = 0; i + 1 < n; ++i) {
      out.first.push_back(begin + i);
      out.strand.push_back(strand);
    }
  }

  void add_collider(const ColliderSpec& collider) {
    const Pose pose = collider.motion.pose(frame_.time);
    const auto number = static_cast<std::uint32_t>(stage_.surfaces.size());
    stage_.surfaces.push_back(surface_of(collider.look));
    if (const auto* half_space = std::get_if<HalfSpace<double>>(&collider.shape)) {
      Vec<double, 3> normal = pose.rotation * half_space->normal;
      if (collider.inside) normal = -normal;
      // A wall would hide everything, or throw its shadow over it: only what one could stand on is drawn.
      if (dot(normal, cast<double>(stage_.up)) < 0.5) return;
      const double offset = dot(normal, pose.at - stage_.origin);
      stage_.planes.push_back({cast<float>(normal), static_cast<float>(offset), number});
      return;
    }
    const SurfaceMesh shape = std::visit([](const auto& s) { return s.surface(); }, collider.shape);
    StageMesh solid, walls;
    solid.surface = walls.surface = number;
    walls.clear = true;
    for (const Vec<double, 3>& v : shape.vertices)
      solid.vertices.push_back(cast<float>(pose.rotation * v + pose.at - stage_.origin));
    walls.vertices = solid.vertices;
    for (const Vec<std::int32_t, 3>& t : shape.triangles) {
      Vec<std::uint32_t, 3> corners{
          {static_cast<std::uint32_t>(t[0]), static_cast<std::uint32_t>(t[1]), static_cast<std::uint32_t>(t[2])}};
      if (collider.inside) std::swap(corners[1], corners[2]);
      const Vec<float, 3> a = solid.vertices[corners[0]];
      const Vec<float, 3> area = cross(solid.vertices[corners[1]] - a, solid.vertices[corners[2]] - a);
      const bool floor = dot(length_and_direction(area).normal, stage_.up) > 0.5F;
      (collider.inside && !floor ? walls : solid).triangles.push_back(corners);
    }
    if (collider.inside) {
      add_edges(walls, number);
      stage_.surfaces.push_back(stage_.surfaces[number]);  // the floor of a glass tank is no glass
      solid.surface = static_cast<std::uint32_t>(stage_.surfaces.size() - 1);
      solid.one_sided = true;
      stage_.surfaces.back().opacity = 1;
    }
    for (StageMesh* mesh : {&solid, &walls}) {
      if (mesh->triangles.empty()) continue;
      add_normals(*mesh);
      stage_.meshes.push_back(std::move(*mesh));
    }
  }

  /// In the plane a collider is an area, drawn as a sheet behind the particles.
  void add_area(const ColliderSpec& collider) {
    const Pose pose = collider.motion.pose(frame_.time);
    const auto distance = [&](const Vec<double, 2>& p) {
      const Vec<double, 3> arm{{p[0] + stage_.origin[0] - pose.at[0], p[1] + stage_.origin[1] - pose.at[1], 0}};
      const Vec<double, 3> local = transpose(pose.rotation) * arm;
      const Vec<double, 2> here{{local[0], local[1]}};
      const double d = std::visit([&](const auto& s) { return s.nearest(here).distance; }, collider.shape);
      return collider.inside ? -d : d;
    };
    const double reach = 4 * static_cast<double>(stage_.radius);  // beyond the edges of any picture
    Skin area = fill_area(distance, {{-reach, -reach}}, {{reach, reach}}, 1600);
    double behind = 0;
    for (const ObjectSpec& object : scene_.objects) behind = std::max(behind, particle_radius(scene_, object));
    StageMesh sheet;
    sheet.surface = static_cast<std::uint32_t>(stage_.surfaces.size());
    stage_.surfaces.push_back(surface_of(collider.look));
    stage_.surfaces.back().opacity = 1;
    // Later ones before earlier ones, all behind the particles.
    const double layer = 1.05 + 0.02 * static_cast<double>(scene_.colliders.size() - stage_.meshes.size());
    for (Vec<float, 3>& v : area.vertices) v[2] = static_cast<float>(-stage_.origin[2] - layer * behind);
    sheet.vertices = std::move(area.vertices);
    sheet.triangles = std::move(area.triangles);
    if (sheet.triangles.empty()) return;
    add_normals(sheet);
    stage_.meshes.push_back(std::move(sheet));
  }

  /// Thin rods along the creases of a container, so that its glass is seen.
  void add_edges(const StageMesh& walls, std::uint32_t wall_surface) {
    // Creases are where vertices are doubled: edges that belong to one triangle only.
    std::map<std::pair<std::uint32_t, std::uint32_t>, int> uses;
    for (const Vec<std::uint32_t, 3>& t : walls.triangles)
      for (int k = 0; k < 3; ++k) ++uses[std::minmax(t[k], t[(k + 1) % 3])];
    Surface rod = stage_.surfaces[wall_surface];
    rod.color = 0.35F * rod.color;
    rod.opacity = 1;
    StageCurves edges;
    edges.clear = true;
    edges.surface = static_cast<std::uint32_t>(stage_.surfaces.size());
    stage_.surfaces.push_back(rod);
    for (const auto& [edge, count] : uses) {
      if (count != 1) continue;
      const Vec<float, 3> a = walls.vertices[edge.first], b = walls.vertices[edge.second];
      if (!(squared_norm(b - a) > 0)) continue;
      add_strand(
          2, [&](std::size_t) { return 0.003F * stage_.radius; }, 0, [&](std::size_t i) { return i == 0 ? a : b; },
          edges);
    }
    if (!edges.first.empty()) stage_.curves.push_back(std::move(edges));
  }

  const Scene& scene_;
  const Frame& frame_;
  const Coloring& coloring_;
  Stage stage_;
};

}  // namespace

void keep_fibers_visible(Stage& stage, const Camera& camera, int rows) {
  constexpr float thinnest = 0.35F;  // radius in pixels
  const Vec<float, 3> from = cast<float>(camera.from - stage.origin), forward = cast<float>(camera.forward);
  const float pixel = 2 * static_cast<float>(camera.tan_half_fov) / static_cast<float>(rows);  // at a distance of 1
  for (StageCurves& curves : stage.curves) {
    if (!curves.fiber) continue;
    for (Vec<float, 4>& p : curves.points) {
      const float depth = dot(Vec<float, 3>{{p[0], p[1], p[2]}} - from, forward);
      p[3] = std::max(p[3], thinnest * pixel * depth);
    }
  }
}

Stage build_stage(const Scene& scene, const Frame& frame, const Coloring& coloring, const ViewBounds& shown) {
  return Builder(scene, frame, coloring, shown).build();
}

}  // namespace tribo

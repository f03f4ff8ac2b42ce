#include "tribo/matter/solids/seed.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "tribo/core/errors.h"
#include "tribo/matter/rigid/spec.h"
#include "tribo/matter/solids/contact_samples.h"
#include "tribo/matter/solids/spec.h"
#include "tribo/matter/solids/tets.h"
#include "tribo/models/all.h"
#include "tribo/models/elastic/invertible.h"
#include "tribo/scene/friction.h"
#include "tribo/scene/scene.h"
#include "tribo/setup/initial_motion.h"
#include "tribo/setup/random.h"

namespace tribo {
namespace {

/// Relaxation time of the damping that bodies have by default, in units of the time that waves need through a tet: with
/// a sixteenth to a third all that was tried recovered from any inversion (experiments_solids Q7), while a motion
/// as slow as a body's own loses next to nothing.
constexpr double default_relaxation = 0.1;

double volume_of(const Vec<double, 3>& a, const Vec<double, 3>& b, const Vec<double, 3>& c, const Vec<double, 3>& d) {
  return dot(cross(b - a, c - a), d - a) / 6;
}

/// Mean of the smallest altitudes of tets, 3 V / A of the largest face.
double mean_altitude(const TetMesh& mesh) {
  double sum = 0;
  for (const auto& tet : mesh.tets) {
    Vec<double, 3> x[4];
    for (int k = 0; k < 4; ++k) x[k] = mesh.vertices[static_cast<std::size_t>(tet[k])];
    double largest = 0;  // squared area of a face, times 4
    for (int k = 0; k < 4; ++k) {
      const Vec<double, 3>&a = x[(k + 1) % 4], &b = x[(k + 2) % 4], &c = x[(k + 3) % 4];
      largest = std::max(largest, squared_norm(cross(b - a, c - a)));
    }
    sum += 6 * volume_of(x[0], x[1], x[2], x[3]) / std::sqrt(largest);
  }
  return sum / static_cast<double>(mesh.tets.size());
}

double mean_edge(const TetMesh& mesh) {
  double sum = 0;
  for (const auto& tet : mesh.tets)
    for (int a = 0; a < 4; ++a)
      for (int b = a + 1; b < 4; ++b)
        sum += std::sqrt(squared_norm(mesh.vertices[static_cast<std::size_t>(tet[a])] -
                                      mesh.vertices[static_cast<std::size_t>(tet[b])]));
  return sum / (6 * static_cast<double>(mesh.tets.size()));
}

double damping_of(const SolidSpec& solid, const MaterialSpec& material, const TetMesh& mesh) {
  if (solid.damping) return *solid.damping;
  const double viscosity = viscosity_of(material.law);
  if (viscosity > 0) return viscosity;
  const double stiffness = std::visit(
      []<class Law>(const Law& law) {
        if constexpr (MeshLaw<Law>) return std::max(law.lambda + 2 * law.mu, law.mu);
        return 0.0;
      },
      *material.law);
  // 2 eta = relaxation time times stiffness, and a wave's speed is sqrt(stiffness / density).
  return 0.5 * default_relaxation * mean_altitude(mesh) * std::sqrt(stiffness * material.density);
}

/// The vertices of a body that is to show how it recovers; `low` and `high` bound its rest shape.
void deform(StartShape start, std::int64_t seed, const Vec<double, 3>& low, const Vec<double, 3>& high,
            std::vector<Vec<double, 3>>& x, std::size_t first) {
  const Random random(seed);
  const Vec<double, 3> middle = 0.5 * (low + high);
  for (std::size_t i = first; i < x.size(); ++i) {
    Vec<double, 3>& p = x[i];
    switch (start) {
      case StartShape::rest:
        break;
      case StartShape::scrambled:
        for (int k = 0; k < 3; ++k)
          p[k] = low[k] + (high[k] - low[k]) * random.at(3 * (i - first) + static_cast<std::uint64_t>(k));
        break;
      case StartShape::plane:
        p[1] = middle[1];
        break;
      case StartShape::line:
        p[1] = middle[1];
        p[2] = middle[2];
        break;
      case StartShape::point:
        p = middle;
        break;
      case StartShape::mirrored:
        p[0] = 2 * middle[0] - p[0];
        break;
    }
  }
}

bool is_inside(const PinSpec& pin, const Vec<double, 3>& x) {
  const Vec<double, 3> local = transpose(rotation_matrix(pin.placement.rotation)) * (x - pin.placement.at);
  return std::visit([&](const auto& shape) { return shape.nearest(local).distance <= 0; }, pin.region);
}

class SolidSampler {
 public:
  explicit SolidSampler(const Scene& scene) : scene_(scene) { seed_.contact = scene.contact; }

  SolidSeed hybrid() {
    add_all(hybrid_mesh);
    double samples = 0;
    for (const SolidBody& body : seed_.bodies) {
      samples += expected_samples(seed_, body, scene_.grid.dx);
      check_sample_count(scene_, object(body.object), samples);
    }
    seed_.samples = place_samples(seed_, scene_.grid.dx);
    assign_samples(seed_.samples, seed_.bodies);
    return std::move(seed_);
  }
  SolidSeed updated_lagrangian() {
    add_all(vertex_mesh);
    return std::move(seed_);
  }

 private:
  const ObjectSpec& object(int o) const { return scene_.objects[static_cast<std::size_t>(o)]; }
  const MaterialSpec& material(int o) const { return scene_.materials[static_cast<std::size_t>(object(o).material)]; }
  void add_all(const SolidSpec* (*wanted)(const ObjectSpec&)) {
    for (std::size_t o = 0; o < scene_.objects.size(); ++o)
      if (wanted(scene_.objects[o]) != nullptr) add(static_cast<int>(o));
    if (!findings_.empty()) throw SceneError(std::move(findings_));
    set_friction();
  }
  void complain(int o, const std::string& key, const std::string& message) {
    findings_.push_back({scene_.file, 0, 0, "/objects/" + std::to_string(o) + key, message});
  }

  void add(int o) {
    const SolidSpec& solid = *object(o).as<SolidSpec>();
    TetMesh mesh;
    try {
      mesh = tets_of(object(o).shape, solid.element_size, solid.graded);
    } catch (const Error& error) {
      complain(o, "/shape", error.what());
      return;
    }
    SolidBody body;
    body.object = o;
    body.material = object(o).material;
    body.vertices.begin = static_cast<std::int32_t>(seed_.x.size());
    body.tets.begin = static_cast<std::int32_t>(seed_.tets.size());
    body.triangles.begin = static_cast<std::int32_t>(seed_.triangles.size());
    body.friction = friction_.with_particles({.index = o});
    body.strand_friction = friction_.with_strands({.index = o});
    body.restitution = solid.restitution;
    body.damping = damping_of(solid, material(o), mesh);
    if (solid.grid_damping) {
      body.grid_damping = *solid.grid_damping;
      body.damping_spacing = mean_edge(mesh);
    }
    body.self_contact = solid.self_contact;
    body.kinematic = solid.kinematic;
    add_vertices(o, mesh, body);
    add_tets(o, mesh, body);
    drive(o, body);
    seed_.bodies.push_back(body);
  }

  void add_vertices(int o, const TetMesh& mesh, SolidBody& body) {
    const auto first = static_cast<std::size_t>(body.vertices.begin);
    const Pose pose = object(o).as<SolidSpec>()->motion.pose(0);
    const InitialMotion motion = motion_of(object(o));
    auto low = Vec<double, 3>::filled(1e300), high = Vec<double, 3>::filled(-1e300);
    for (const Vec<double, 3>& local : mesh.vertices) {
      const Vec<double, 3> x = pose.rotation * local + pose.at;
      for (int k = 0; k < 3; ++k) {
        low[k] = std::min(low[k], x[k]);
        high[k] = std::max(high[k], x[k]);
      }
      seed_.rest.push_back(x);
      seed_.x.push_back(x);
    }
    deform(object(o).as<SolidSpec>()->start, object(o).seed, low, high, seed_.x, first);
    for (std::size_t i = first; i < seed_.x.size(); ++i) seed_.v.push_back(motion.velocity_at(seed_.x[i]));
    seed_.mass.resize(seed_.x.size(), 0);
    seed_.drive.resize(seed_.x.size(), -1);
    body.vertices.end = static_cast<std::int32_t>(seed_.x.size());
  }

  void add_tets(int o, const TetMesh& mesh, SolidBody& body) {
    const double density = material(o).density;
    const std::int32_t first = body.vertices.begin, first_tet = body.tets.begin;
    for (const auto& local : mesh.tets) {
      Vec<std::int32_t, 4> tet;
      for (int k = 0; k < 4; ++k) tet[k] = first + local[k];
      const auto rest = [&](int k) { return seed_.rest[static_cast<std::size_t>(tet[k])]; };
      const double quarter = 0.25 * density * volume_of(rest(0), rest(1), rest(2), rest(3));
      for (int k = 0; k < 4; ++k) seed_.mass[static_cast<std::size_t>(tet[k])] += quarter;
      seed_.tets.push_back(tet);
    }
    body.tets.end = static_cast<std::int32_t>(seed_.tets.size());
    const TetBoundary boundary = boundary_of(mesh);
    for (std::size_t t = 0; t < boundary.triangles.size(); ++t) {
      Vec<std::int32_t, 3> triangle;
      for (int k = 0; k < 3; ++k) triangle[k] = first + boundary.triangles[t][k];
      seed_.triangles.push_back(triangle);
      seed_.triangle_tet.push_back(first_tet + boundary.tet[t]);
    }
    body.triangles.end = static_cast<std::int32_t>(seed_.triangles.size());
  }

  /// Driven vertices begin with the velocity of their motion. Where pins overlap, the first decides.
  void drive(int o, const SolidBody& body) {
    const SolidSpec& solid = *object(o).as<SolidSpec>();
    const auto follow = [&](std::size_t i, const Motion& motion) {
      seed_.drive[i] = static_cast<std::int32_t>(seed_.drives.size());
      const RigidMotion rigid = motion.over(0, 0);
      seed_.v[i] = rigid.velocity + cross(rigid.angular_velocity, seed_.x[i] - rigid.pose.at);
    };
    const auto begin = static_cast<std::size_t>(body.vertices.begin), end = static_cast<std::size_t>(body.vertices.end);
    if (solid.kinematic) {
      for (std::size_t i = begin; i < end; ++i) follow(i, solid.motion);
      seed_.drives.push_back(solid.motion);
      seed_.drive_object.push_back(-1);
      return;
    }
    for (std::size_t p = 0; p < solid.pins.size(); ++p) {
      const int carrier = carrier_of(solid.pins[p]);
      // One that moves by itself takes the vertices along as it comes to be (RigidSystem::load).
      const Motion& motion = carrier >= 0 ? object(carrier).as<RigidSpec>()->motion : solid.pins[p].motion;
      std::int64_t held = 0;
      for (std::size_t i = begin; i < end; ++i) {
        if (seed_.drive[i] >= 0 || !is_inside(solid.pins[p], seed_.rest[i])) continue;
        follow(i, motion);
        ++held;
      }
      seed_.drives.push_back(motion);
      seed_.drive_object.push_back(carrier);
      if (held == 0)
        complain(o, "/pins/" + std::to_string(p),
                 "holds no vertex of object '" + object(o).name + "'; its region must reach into the shape");
    }
  }

  /// The rigid object that a pin is on, or -1.
  int carrier_of(const PinSpec& pin) const {
    for (std::size_t o = 0; o < scene_.objects.size() && !pin.body.empty(); ++o)
      if (scene_.objects[o].name == pin.body) return static_cast<int>(o);
    return -1;
  }

  void set_friction() {
    for (const SolidBody& a : seed_.bodies) {
      for (const SolidBody& b : seed_.bodies)
        seed_.pair_friction.push_back(friction_.between({.index = a.object}, {.index = b.object}));
      if (friction_.names_colliders())
        for (std::size_t c = 0; c < scene_.colliders.size(); ++c)
          seed_.collider_friction.push_back(
              friction_.between({.index = a.object}, {.collider = true, .index = static_cast<int>(c)}));
    }
  }

  const Scene& scene_;
  FrictionTable friction_{scene_};
  SolidSeed seed_;
  std::vector<Finding> findings_;
};

}  // namespace

SolidSeed sample_solids(const Scene& scene) { return SolidSampler(scene).hybrid(); }
SolidSeed sample_vertex_meshes(const Scene& scene) { return SolidSampler(scene).updated_lagrangian(); }

}  // namespace tribo

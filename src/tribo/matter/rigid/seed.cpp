#include "tribo/matter/rigid/seed.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "tribo/core/errors.h"
#include "tribo/matter/rigid/extent.h"
#include "tribo/matter/rigid/feelers.h"
#include "tribo/matter/rigid/joint_place.h"
#include "tribo/matter/rigid/mass.h"
#include "tribo/matter/rigid/spec.h"
#include "tribo/scene/friction.h"
#include "tribo/scene/scene.h"
#include "tribo/setup/seeds.h"

namespace tribo {
namespace {

using Vec3 = Vec<double, 3>;

/// What stands for friction without bound.
constexpr double sticks = 1e9;
/// Steps of a frame that one body may ask for without a word [1].
constexpr double many_steps = 1000;
/// Contacts are told apart by a fiftieth of a cell, which coordinates need some thousand steps for.
constexpr double most_cells = 1e10;

template <class Value>
std::int32_t size_of(const std::vector<Value>& values) {
  return static_cast<std::int32_t>(values.size());
}

class RigidMaker {
 public:
  RigidMaker(const Scene& scene, const Seeds& seeds, std::vector<std::string>& warnings)
      : scene_(scene), seeds_(seeds), warnings_(warnings) {}

  RigidSeed make() {
    for (std::size_t o = 0; o < scene_.objects.size(); ++o)
      if (const auto* rigid = scene_.objects[o].as<RigidSpec>()) add(static_cast<int>(o), *rigid);
    if (!findings_.empty()) throw SceneError(std::move(findings_));
    seed_.groups = size_of(objects_);
    if (seed_.bodies.empty()) return std::move(seed_);
    for (std::size_t c = 0; c < scene_.colliders.size(); ++c) add_collider(static_cast<int>(c));
    set_friction();
    return std::move(seed_);
  }

 private:
  std::int32_t add_form(const Shape<double>& shape, const Vec3& center, double restitution) {
    RigidForm form;
    form.shape = shape;
    form.center = center;
    form.radius = reach_of(shape, center);
    form.thickness = thickness_of(shape);
    form.round = std::holds_alternative<Sphere<double>>(shape);
    form.restitution = restitution;
    form.samples.begin = size_of(seed_.samples);
    for (RigidSample sample : feelers_of(shape, scene_.grid.dx)) {
      sample.x = sample.x - center;
      seed_.samples.push_back(sample);
    }
    form.samples.end = size_of(seed_.samples);
    const SurfaceMesh surface = std::visit([](const auto& s) { return s.surface(); }, shape);
    form.vertices.begin = size_of(seed_.vertices);
    for (const Vec3& x : surface.vertices) seed_.vertices.push_back(x - center);
    form.vertices.end = size_of(seed_.vertices);
    form.triangles.begin = size_of(seed_.triangles);
    for (Vec<std::int32_t, 3> corners : surface.triangles) {
      for (int k = 0; k < 3; ++k) corners[k] += form.vertices.begin;
      seed_.triangles.push_back(corners);
    }
    form.triangles.end = size_of(seed_.triangles);
    seed_.forms.push_back(std::move(form));
    return size_of(seed_.forms) - 1;
  }

  /// What begins in the frame `pose` of its shape.
  static void place(RigidBody& body, const Pose& pose, const Vec3& center) {
    body.x = pose.at + pose.rotation * center;
    body.rotation = pose.rotation;
  }
  void drive(RigidBody& body, const Motion& motion, const Vec3& center) {
    body.drive = size_of(seed_.drives);
    seed_.drives.push_back(motion);
    const RigidMotion now = motion.over(0, 0);
    place(body, now.pose, center);
    body.w = now.angular_velocity;
    body.v = now.velocity + cross(body.w, body.x - now.pose.at);
  }

  void add(int o, const RigidSpec& rigid) {
    const ObjectSpec& object = scene_.objects[static_cast<std::size_t>(o)];
    const Moments moments = moments_of(object.shape);
    const double density = rigid.mass ? *rigid.mass / moments.volume : rigid.density.value_or(0);
    const Vec3 center = moments.center();
    RigidBody body;
    body.object = o;
    body.group = size_of(objects_);
    body.mass = density * moments.volume;
    body.inertia = moments.inertia();
    for (double& part : body.inertia.s) part *= density;
    if (!has_inertia(o, rigid, moments, body)) return;
    body.form = add_form(object.shape, center, rigid.restitution);
    objects_.push_back(o);
    const RigidForm& form = seed_.forms.back();
    if (rigid.kinematic) {
      drive(body, rigid.motion, center);
      seed_.bodies.push_back(body);
      check_speed(o, "motion", form, rigid.motion.max_speed(form.radius + std::sqrt(squared_norm(center))), 0);
      return;
    }
    body.v = object.velocity;
    body.w = object.angular_velocity;
    const double spin = length(body.w);
    check_speed(o, length(body.v) > spin * form.radius ? "velocity" : "angular_velocity", form,
                length(body.v) + spin * form.radius, spin);
    const Pose frame = rigid.motion.pose(0);
    double farthest = 0;
    for (const Pose& copy : copies_of(rigid)) {
      place(body, {frame.at + frame.rotation * copy.at, frame.rotation * copy.rotation}, center);
      seed_.bodies.push_back(body);
      farthest = std::max(farthest, length(body.x));
    }
    if (!(farthest < most_cells * scene_.grid.dx))
      complain(
          o, "at",
          fmt::format("object '{}' is {:.3g} m away from the origin, where coordinates have no digits left for what "
                      "touches; bring it closer than {:.2g} m",
                      object.name, farthest, most_cells * scene_.grid.dx));
  }

  /// Also where its square is no number any more.
  static double length(const Vec3& v) { return std::hypot(v[0], v[1], v[2]); }
  void complain(int o, const std::string& key, const std::string& message) {
    findings_.push_back({scene_.file, 0, 0, fmt::format("/objects/{}/{}", o, key), message});
  }

  /// Whether numbers are neither lost nor beyond all bounds, here and where they are inverted.
  bool has_inertia(int o, const RigidSpec& rigid, const Moments& moments, const RigidBody& body) {
    const std::string& name = scene_.objects[static_cast<std::size_t>(o)].name;
    const double least = 1e-100, most = 1e100;
    const auto is_sound = [&](double value) { return value > least && value < most; };
    bool sound = is_sound(moments.volume);
    if (!rigid.kinematic) {
      sound = sound && is_sound(body.mass);
      for (int k = 0; k < 3; ++k) sound = sound && is_sound(body.inertia(k, k));
    }
    if (sound) return true;
    complain(
        o, moments.volume > least && moments.volume < most ? (rigid.mass ? "mass" : "density") : "shape",
        fmt::format("object '{}' has a volume of {:.3g} m^3, a mass of {:.3g} kg and moments of inertia of {:.3g}, "
                    "{:.3g} and {:.3g} kg m^2, with which nothing can be computed; give it others",
                    name, moments.volume, body.mass, body.inertia(0, 0), body.inertia(1, 1), body.inertia(2, 2)));
    return false;
  }

  /// No body comes farther in a step than a third of its thickness or turns by more than half a radian
  /// (RigidSystem::bound). `spin` in rad/s.
  void check_speed(int o, const char* key, const RigidForm& form, double speed, double spin) {
    const std::string& name = scene_.objects[static_cast<std::size_t>(o)].name;
    const double crosses = speed > 0 ? form.thickness / 3 / speed : 1e300, turns = spin > 0 ? 0.5 / spin : 1e300;
    const double step = std::min(crosses, turns), dt_min = scene_.time.dt_min;
    const bool is_spin = turns < crosses;
    const std::string what =
        is_spin ? fmt::format("object '{}' spins with {:.3g} rad/s", name, spin)
                : fmt::format("object '{}' is {:.3g} m thick where it is thin and moves with {:.3g} m/s", name,
                              form.thickness, speed);
    const std::string why = is_spin ? "so that it turns by half a radian at most in each; make it slower"
                                    : "so that it does not pass through what it meets; make it thicker or slower";
    if (step < dt_min)
      complain(o, key,
               fmt::format("{}: steps would have to be {:.2g} s, less than time.dt_min, which is {:.2g} s, {}", what,
                           step, dt_min, why));
    else if (step < scene_.time.dt_max && many_steps * step * scene_.fps < 1)
      warnings_.push_back(
          fmt::format("{}: steps are {:.2g} s, {:.2g} for a frame, {}", what, step, 1 / (step * scene_.fps), why));
  }

  void add_collider(int c) {
    const ColliderSpec& collider = scene_.colliders[static_cast<std::size_t>(c)];
    const bool bounded = std::visit([](const auto& s) { return s.bounds().bounded; }, collider.shape);
    if (!bounded || collider.inside) return;
    RigidBody body;
    body.object = -1;
    body.group = seed_.groups + c;
    body.form = add_form(collider.shape, Vec3::zero(), 0);
    drive(body, collider.motion, Vec3::zero());
    seed_.bodies.push_back(body);
  }

  void set_friction() {
    const FrictionTable friction(scene_);
    for (const int o : objects_) {
      const Party one{.index = o};
      for (const int other : objects_) seed_.friction.push_back(friction.between(one, {.index = other}));
      for (std::size_t c = 0; c < scene_.colliders.size(); ++c) {
        const Boundary boundary = scene_.colliders[c].boundary;
        const double rubs = friction.between(one, {.collider = true, .index = static_cast<int>(c)});
        seed_.collider_friction.push_back(boundary == Boundary::separate ? rubs : boundary == Boundary::slip ? 0 : sticks);
      }
      seed_.particle_friction.push_back(friction.with_particles(one));
      seed_.strand_friction.push_back(friction.with_strands(one));
      for (const SolidBody& solid : seeds_.of<SolidSeed>().bodies)
        seed_.solid_friction.push_back(friction.between(one, {.index = solid.object}));
    }
  }

  const Scene& scene_;
  const Seeds& seeds_;
  std::vector<std::string>& warnings_;
  std::vector<Finding> findings_;
  std::vector<int> objects_;  ///< of each group
  RigidSeed seed_;
};

}  // namespace

RigidSeed make_rigid_bodies(const Scene& scene, const Seeds& seeds, std::vector<std::string>& warnings) {
  RigidSeed seed = RigidMaker(scene, seeds, warnings).make();
  add_joints(scene, seed, warnings);
  return seed;
}

std::int32_t body_of(const RigidSeed& seed, int object) {
  const auto found = std::find_if(seed.bodies.begin(), seed.bodies.end(),
                                  [&](const RigidBody& body) { return body.object == object; });
  return found == seed.bodies.end() ? -1 : static_cast<std::int32_t>(found - seed.bodies.begin());
}

}  // namespace tribo

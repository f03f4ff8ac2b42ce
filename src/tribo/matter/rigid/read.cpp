#include "tribo/matter/rigid/read.h"

#include <utility>

#include "tribo/matter/rigid/spec.h"
#include "tribo/scene/read_object.h"

namespace tribo {
namespace {

const std::vector<EnumWord<bool>> contact_forms{
    {{"balanced", "by signed distance, and impulses that act on both"}, false},
    {{"paper", "as printed in Han 2019, eqs. 34-41, for comparison: bodies sink into what they stand on"}, true}};

const std::vector<EnumWord<int>> axes{{{"x", "along x"}, 0}, {{"y", "along y"}, 1}, {{"z", "along z"}, 2}};

void read_mass(ParamReader& in, RigidSpec& rigid) {
  rigid.density = in.open_number("density", "kg/m^3", above(0), "mass per volume; or else `mass`");
  rigid.mass = in.open_number("mass", "kg", above(0), "of each body; or else `density`");
  if (in.describing()) return;
  if (rigid.density && rigid.mass)
    in.complain("mass", "contradicts `density`: of one shape each follows from the other; remove one of the two");
  else if (!rigid.density && !rigid.mass && !in.has("density") && !in.has("mass") && !rigid.kinematic)
    in.complain("density", "expected `density` or `mass`: a body without inertia cannot be moved");
}

void read_copies(ParamReader& in, RigidSpec& rigid) {
  in.list("copies", "several bodies of this shape: where each of them is, in the frame that `at` and `rotation` place",
          false, [&](ParamReader& entry, const std::string&) { read_placement(entry, rigid.copies.emplace_back()); });
  in.object("array", "a wall or block of such bodies, from each of `copies` on, or from `at`", false,
            [&](ParamReader& inner) {
              RigidArray array;
              // Whole numbers within a vector: there is no list of integers.
              const Vec<double, 3> count = inner.vector("count", "1", within(1, 1e6), "how many along x, y and z",
                                                        Vec<double, 3>::filled(1));
              array.spacing = inner.vector("spacing", "m", anything(), "from each to the next, along x, y and z",
                                           Vec<double, 3>::zero());
              array.stagger = inner.vector("stagger", "m", anything(),
                                           "by how much every second layer is shifted, as bricks are",
                                           Vec<double, 3>::zero());
              array.layers = enum_choice(inner, "layers", axes, "in which direction layers follow each other", 1);
              double all = 1;
              for (int k = 0; k < 3; ++k) {
                array.count[k] = static_cast<int>(count[k]);
                all *= count[k];
                if (array.count[k] != count[k]) inner.complain("count", "expected whole numbers");
                if (array.count[k] > 1 && array.spacing[k] == 0)
                  inner.complain("spacing", "expected a distance where there are several bodies: they would be in one "
                                            "place");
              }
              if (all > 1e6) inner.complain("count", "expected a million bodies or fewer");
              else if (all > 1) rigid.array = array;
            });
  if (in.describing()) {
    rigid.copies.clear();
    rigid.array.reset();
  }
  if (!rigid.kinematic) return;
  for (const char* key : {"copies", "array"})
    if (in.has(key) && (!rigid.copies.empty() || rigid.array))
      in.complain(key, "what follows keyframes is one body; give each an object of its own");
}

}  // namespace

void read_rigid(ParamReader& in, const std::vector<MaterialSpec>* /*materials*/, ObjectSpec& object) {
  RigidSpec rigid;
  read_shape(in, object.shape, "what the body fills; must be bounded");
  rigid.kinematic = read_motion_or_placement(
      in,
      "keyframes, instead of `at` and `rotation`; position and angle change linearly between. Nothing else moves it; "
      "with one keyframe it stays there",
      "body", rigid.motion);
  object.placement = rigid.motion.keys().front();
  object.placement.at = rigid.motion.pose(0).at;
  read_mass(in, rigid);
  object.velocity = in.vector("velocity", "m/s", anything(), "of the center of mass, at the start",
                              Vec<double, 3>::zero());
  object.angular_velocity =
      in.vector("angular_velocity", "rad/s", anything(), "at the start, about the center of mass",
                Vec<double, 3>::zero());
  if (rigid.kinematic && squared_norm(object.velocity) + squared_norm(object.angular_velocity) > 0)
    in.complain(squared_norm(object.velocity) > 0 ? "velocity" : "angular_velocity",
                "contradicts `motion`, whose keyframes say how the body moves; remove one of the two");
  object.friction = in.number(
      "friction", "1", at_least(0),
      "Coulomb coefficient; between two rigid bodies the smaller counts, against particles, hair and solids it counts "
      "alone, and against a collider the collider's does, unless the scene's `friction` says otherwise",
      0);
  rigid.restitution = in.number("restitution", "1", within(0, 1),
                                "speed after an impact over that before; of two bodies the larger counts", 0);
  rigid.printed = enum_choice(in, "contact", contact_forms,
                              "how it touches colliders and rigid bodies, which must all have the same", false);
  read_copies(in, rigid);
  Look look;
  look.color = *parse_color("#9aa7b5");
  look.roughness = 0.5;
  object.look = read_look(in, look);
  object.material = -1;
  object.touch = Touch::rigid;
  object.own = std::move(rigid);
}

std::vector<Pose> copies_of(const RigidSpec& rigid) {
  std::vector<Pose> first;
  for (const Keyframe& key : rigid.copies) first.push_back({key.at, rotation_matrix(key.rotation)});
  if (first.empty()) first.emplace_back();
  if (!rigid.array) return first;
  const RigidArray& array = *rigid.array;
  std::vector<Pose> all;
  for (const Pose& from : first)
    for (int y = 0; y < array.count[1]; ++y)
      for (int z = 0; z < array.count[2]; ++z)
        for (int x = 0; x < array.count[0]; ++x) {
          const Vec<int, 3> number{{x, y, z}};
          Vec<double, 3> offset;
          for (int k = 0; k < 3; ++k)
            offset[k] = number[k] * array.spacing[k] + (number[array.layers] % 2) * array.stagger[k];
          all.push_back({from.at + from.rotation * offset, from.rotation});
        }
  return all;
}

}  // namespace tribo

#include "tribo/matter/solids/read.h"

#include <utility>

#include "tribo/matter/solids/spec.h"
#include "tribo/models/all.h"
#include "tribo/models/elastic/invertible.h"
#include "tribo/scene/read_object.h"
#include "tribo/scene/suggest.h"

namespace tribo {
namespace {

const std::vector<EnumWord<StartShape>> start_shapes{
    {{"rest", "undeformed"}, StartShape::rest},
    {{"scrambled", "every vertex somewhere in the bounds of the body, at random"}, StartShape::scrambled},
    {{"plane", "flattened to a horizontal plane"}, StartShape::plane},
    {{"line", "flattened to a line along x"}, StartShape::line},
    {{"point", "all vertices at one point"}, StartShape::point},
    {{"mirrored", "turned inside out: mirrored along x"}, StartShape::mirrored}};

/// Says which laws meshes can follow when that of the object's material is none of them.
void check_mesh_law(ParamReader& in, const std::vector<MaterialSpec>* materials, const ObjectSpec& object) {
  if (!materials || materials->empty() || in.describing()) return;
  const MaterialSpec& material = (*materials)[static_cast<std::size_t>(object.material)];
  std::vector<std::string> laws;
  bool fits = false;
  const char* used = "";
  each_alternative(&*material.law, [&]<class T>() {
    const bool follows = std::holds_alternative<T>(*material.law);
    if (follows) used = T::name;
    if constexpr (MeshLaw<T>) {
      laws.emplace_back(T::name);
      fits = fits || follows;
    }
  });
  if (!fits)
    in.complain("material", "material \"" + material.name + "\" follows \"" + used +
                                "\", which a mesh cannot: it needs an elastic law, one of " + quoted_list(laws) +
                                "; or use method \"mpm\", or type \"particles\"");
}

void read_pins(ParamReader& in, SolidSpec& solid) {
  in.list("pins", "vertices that go where they are told", false, [&](ParamReader& entry, const std::string&) {
    PinSpec pin;
    read_shape(entry, pin.region, "vertices inside it at the start are held; may be unbounded");
    read_placement(entry, pin.placement);
    std::vector<Keyframe> keys;
    const bool in_order = read_keyframes(
        entry, "motion",
        "keyframes of a frame that carries the vertices along: they keep their places in it as of time 0; by "
        "default they stay",
        keys);
    pin.body = entry.text(
        "body", "name of a rigid object that carries the vertices along, and bears what they pull; instead of `motion`",
        "");
    if (!pin.body.empty() && !keys.empty())
      entry.complain("motion", "contradicts `body`, with which the vertices go; remove one of the two");
    if (in_order && !keys.empty()) pin.motion = Motion(std::move(keys));
    solid.pins.push_back(std::move(pin));
  });
}

}  // namespace

void read_solid(ParamReader& in, const std::vector<MaterialSpec>* materials, ObjectSpec& object) {
  static const std::vector<Choice> methods{
      {"hybrid", "a mesh of tets that touches others through grid and collision particles (Han 2019)"},
      {"updated_lagrangian",
       "a mesh of tets whose vertices are particles: it touches others as they do, with its forces through the grid "
       "(Jiang 2015), to compare with"},
      {"mpm", "filled with particles, as type \"particles\", to compare with; what is said about the mesh is ignored"}};
  const std::string method = in.choice("method", methods, "how it is discretized", "hybrid");
  const bool hybrid = method == "hybrid" || in.describing();
  SolidSpec solid;
  solid.updated_lagrangian = method == "updated_lagrangian";
  read_shape(in, object.shape, "what the solid fills; must be bounded");
  const bool moves = read_motion_or_placement(
      in, "with `kinematic`: keyframes, instead of `at` and `rotation`; position and angle change linearly between",
      "solid", solid.motion);
  object.placement = solid.motion.keys().front();
  object.placement.at = solid.motion.pose(0).at;
  solid.kinematic = in.flag("kinematic", "nothing moves it but `motion`", false);
  if (moves && !solid.kinematic)
    in.complain("motion", "expected `kinematic`: true; parts of a body that moves by itself are driven by `pins`");
  object.material = read_material_reference(in, materials);
  if (method != "mpm") check_mesh_law(in, materials, object);
  object.velocity = in.vector("velocity", "m/s", anything(), "at the start", Vec<double, 3>::zero());
  object.angular_velocity =
      in.vector("angular_velocity", "rad/s", anything(), "at the start, about `at`", Vec<double, 3>::zero());
  object.velocity_field = read_velocity_field(in, object.placement.at);
  const std::optional<double> size = in.open_number(
      "element_size", "m", above(0), "edge length of tets; by default the grid spacing; tets from a file have theirs");
  solid.element_size = size.value_or(in.grid_spacing() > 0 ? in.grid_spacing() : 1);
  solid.graded = in.flag("graded", "larger tets inside", false);
  object.friction = in.number(
      "friction", "1", at_least(0),
      "Coulomb coefficient; between two bodies the smaller counts, against particles and hair it counts alone, "
      "and against a collider the collider's does, unless the scene's `friction` says otherwise",
      0);
  solid.restitution =
      in.number("restitution", "1", within(0, 1), "of contact itself; a mesh rebounds elastically without", 0);
  solid.damping = in.open_number(
      "damping", "Pa s", at_least(0),
      "viscosity of the mesh against changes of its shape, not against rotation; by default the material's, or where "
      "that is 0 as much as makes it recover from inversion, which slow motion hardly feels");
  solid.grid_damping = in.open_number("grid_damping", "1", within(0, 1),
                                      "with method \"hybrid\": velocities pass through a grid as fine as the mesh once "
                                      "a step (Han 2019, sec. 4), which "
                                      "takes this part of their symmetric gradient; damps more the shorter steps are, "
                                      "and 0 damps too; by default there "
                                      "is no such grid");
  solid.self_contact = in.flag("self_contact", "whether parts of the body touch each other", true);
  read_pins(in, solid);
  solid.start = enum_choice(in, "initial", start_shapes, "how the mesh begins, to see it recover", StartShape::rest);
  if (solid.kinematic) {
    if (solid.start != StartShape::rest)
      in.complain("initial", "a kinematic body cannot recover; leave out one of them");
    if (!solid.pins.empty()) in.complain("pins", "every vertex of a kinematic body is driven already; leave out one");
    if (squared_norm(object.velocity) + squared_norm(object.angular_velocity) > 0)
      in.complain("velocity", "a kinematic body moves by its keyframes; use motion");
  }
  if (!hybrid) {  // what is about the mesh alone may stay where methods are compared
    const char* const only_hybrid = solid.updated_lagrangian
                                        ? "vertices that move with the grid go where it takes them; "
                                          "use method \"hybrid\", or a collider"
                                        : "only the vertices of a mesh can do that; use method "
                                          "\"hybrid\"";
    if (solid.kinematic) in.complain("kinematic", only_hybrid);
    if (!solid.pins.empty()) in.complain("pins", only_hybrid);
    if (method == "mpm" && solid.start != StartShape::rest) in.complain("initial", only_hybrid);
  }
  read_filling(in, materials, object);
  if (method == "hybrid")
    object.touch = Touch::mesh;
  else
    object.friction = 0;  // on the particles' grid nothing slides
  if (method != "mpm") object.own = std::move(solid);
}

}  // namespace tribo

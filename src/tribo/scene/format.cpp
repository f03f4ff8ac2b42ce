#include "tribo/scene/format.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "tribo/io/writer.h"
#include "tribo/matter/strands/places.h"
#include "tribo/models/all.h"
#include "tribo/models/elastic/invertible.h"
#include "tribo/scene/json_document.h"
#include "tribo/scene/presets.h"
#include "tribo/scene/read_shape.h"
#include "tribo/scene/suggest.h"
#include "tribo/transfer/all.h"
#include "tribo/transfer/kernels.h"

namespace tribo {
namespace {

const std::vector<Choice>& forces() {
  static const std::vector<Choice> all{{"mls", "moving least squares: stress through the affine part"},
                                       {"gradient", "classic MPM: stress through gradients of the weights"}};
  return all;
}

const std::vector<Choice>& integrators() {
  static const std::vector<Choice> all{
      {"symplectic", "explicit: forces at the start of a step, velocity before position"},
      {"implicit", "backward Euler: forces at the end of a step, found by iteration; no stiffness limits its length"}};
  return all;
}

void read_time(ParamReader& in, double fps, TimeSpec& time) {
  const Range cfl{.low = 0, .high = 1, .low_open = true, .high_open = false};
  time.implicit =
      in.choice("integrator", integrators(), "how a step advances in time", "symplectic") == std::string("implicit");
  time.cfl = in.number("cfl", "1", cfl, "cells a particle may cross in one step; 0.9 by default when implicit",
                       time.implicit ? 0.9 : 0.6);
  time.dt_max = in.number("dt_max", "s", above(0), "longest time step; a quarter of a frame by default when implicit",
                          time.implicit ? 0.25 / fps : 1e-3);
  time.dt_min = in.number("dt_min", "s", above(0), "a step shorter than this ends the run as diverged", 1e-9);
  if (!time.implicit && !in.describing()) return;
  ImplicitSpec& solve = time.solve;
  solve.tolerance = in.number(
      "tolerance", "1", Range{.low = 0, .high = 0.1, .high_open = false},
      "with integrator \"implicit\": error of velocities, relative to what the step changes in them", solve.tolerance);
  solve.newton_iterations = static_cast<int>(
      in.integer("newton_iterations", within(1, 1000),
                 "with integrator \"implicit\": most iterates; a step that needs more is taken again, shorter",
                 solve.newton_iterations));
  solve.linear_iterations = static_cast<int>(in.integer(
      "linear_iterations", within(1, 100000),
      "with integrator \"implicit\": most iterations of conjugate gradients in each of them", solve.linear_iterations));
}

const std::vector<Choice>& precisions() {
  static const std::vector<Choice> all{{"float", "32 bits: fast"}, {"double", "64 bits: for convergence studies"}};
  return all;
}

/// A word of a choice and what it means to the program.
template <class Enum>
struct EnumWord {
  Choice word;
  Enum value;
};

const std::vector<EnumWord<Sampling>> samplings{
    {{"jittered", "a lattice with each point moved at random within its own cell"}, Sampling::jittered},
    {{"poisson", "random with a smallest distance: no lattice directions; slower to set up"}, Sampling::poisson}};

const std::vector<EnumWord<Boundary>> boundaries{
    {{"sticky", "material takes on the collider's velocity"}, Boundary::sticky},
    {{"slip", "material slides along the surface, neither enters nor leaves it, and feels no friction"},
     Boundary::slip},
    {{"separate", "material may leave, does not enter, and is slowed by Coulomb friction"}, Boundary::separate}};

template <class Enum>
Enum enum_choice(ParamReader& in, const char* key, const std::vector<EnumWord<Enum>>& words, const char* doc,
                 Enum fallback) {
  std::vector<Choice> choices;
  std::string fallback_word;
  for (const auto& [word, value] : words) {
    choices.push_back(word);
    if (value == fallback) fallback_word = word.name;
  }
  const std::string chosen = in.choice(key, choices, doc, fallback_word);
  for (const auto& [word, value] : words) {
    if (chosen == word.name) return value;
  }
  return fallback;
}

const std::vector<EnumWord<StartShape>> start_shapes{
    {{"rest", "undeformed"}, StartShape::rest},
    {{"scrambled", "every vertex somewhere in the bounds of the body, at random"}, StartShape::scrambled},
    {{"plane", "flattened to a horizontal plane"}, StartShape::plane},
    {{"line", "flattened to a line along x"}, StartShape::line},
    {{"point", "all vertices at one point"}, StartShape::point},
    {{"mirrored", "turned inside out: mirrored along x"}, StartShape::mirrored}};

const std::vector<EnumWord<ContactSpec::Form>> contact_forms{
    {{"balanced", "against the other bodies only, with a gap test; pairs of bodies keep their momentum"},
     ContactSpec::Form::balanced},
    {{"paper", "as printed in Han 2019, eqs. 17-29, for comparison: all bodies share one grid"},
     ContactSpec::Form::paper}};

/// A velocity field in addition to velocity and spin, which most bodies do without.
std::optional<FieldSpec> read_velocity_field(ParamReader& in, const Vec<double, 3>& at) {
  std::optional<FieldSpec> spec;
  Alternatives fields{"field", {}, false};
  each_alternative(static_cast<const VelocityField*>(nullptr), [&]<class T>() {
    fields.all.push_back({T::name, T::doc, [&](ParamReader& inner) {
                            spec = FieldSpec{T::read(inner), at};
                            const auto center = inner.open_vector("center", "m", anything(),
                                                                  "where the field has its center; by default `at`");
                            if (center) spec->center = *center;
                          }});
  });
  in.one_of("velocity_field", fields, "at the start, in addition to `velocity` and `angular_velocity`");
  return spec;
}

/// A name that is unique among `taken`, where names stand with what has them. Objects, colliders and sinks share one
/// set: files and pictures know bodies by their names.
std::string read_name(ParamReader& in, const std::string& index, const std::string& fallback,
                      std::map<std::string, std::string>& taken) {
  const std::string shown_fallback = in.describing() ? "" : fallback;
  const std::string name = in.text(
      "name", "unique among objects, colliders and sinks; by default the type, \"collider\" or \"sink\", and its index",
      shown_fallback);
  const auto [other, is_new] = taken.emplace(name, index);
  if (name.empty()) {
    in.complain("name", "expected a text that is not empty");
  } else if (!is_new) {
    in.complain("name", "the name \"" + name + "\" is already that of " + other->second);
  }
  return name;
}

/// The index in `materials` of the one that the key `material` names.
int find_material(ParamReader& in, const std::string& name, const std::vector<MaterialSpec>* materials) {
  if (!materials) return 0;
  std::vector<std::string> known;
  for (const MaterialSpec& material : *materials) {
    if (material.name == name) return static_cast<int>(known.size());
    known.push_back(material.name);
  }
  if (!in.describing()) {
    for (const std::string& preset : preset_names()) known.push_back(preset);
    std::string hint = did_you_mean(name, known);
    if (hint.empty()) hint = "; there are " + quoted_list(known);
    in.complain("material", "no material or preset is called \"" + name + "\"" + hint);
  }
  return 0;
}

int read_material_reference(ParamReader& in, const std::vector<MaterialSpec>* materials) {
  return find_material(in, in.text("material", "name of an entry of `materials`, or of a preset"), materials);
}

/// How densely and in which pattern particles are placed, and how they look.
void read_filling(ParamReader& in, const std::vector<MaterialSpec>* materials, ObjectSpec& object) {
  object.particles_per_cell =
      in.number("particles_per_cell", "1", within(1, 1000), "average number of particles in a grid cell", 8);
  object.sampling = enum_choice(in, "sampling", samplings, "how particles are placed", Sampling::jittered);
  object.seed = in.integer("seed", within(0, 4294967295.0), "start of the random placement", 0);
  const bool known = materials && !materials->empty();
  object.look = read_look(in, known ? (*materials)[static_cast<std::size_t>(object.material)].look : Look{});
}

/// The keyframes of `motion` or the like. False when they are out of order, which is reported, and nothing that Motion
/// takes.
bool read_keyframes(ParamReader& in, const char* key, const char* doc, std::vector<Keyframe>& keys) {
  bool in_order = true;
  in.list(key, doc, false, [&](ParamReader& entry, const std::string&) {
    Keyframe frame;
    frame.time = entry.number("time", "s", anything(), "when; later than the keyframe before");
    if (!keys.empty() && !(frame.time > keys.back().time)) {
      in_order = false;
      entry.complain("time", "expected a time later than that of the keyframe before");
    }
    read_placement(entry, frame);
    keys.push_back(frame);
  });
  if (in.describing()) keys.clear();
  return in_order;
}

/// Where something is that may move: `motion`, or else `at` and `rotation`. Returns whether it is the first.
bool read_motion_or_placement(ParamReader& in, const char* doc, const char* what, Motion& motion) {
  std::vector<Keyframe> keys;
  const bool in_order = read_keyframes(in, "motion", doc, keys);
  const bool moves = !keys.empty();
  for (const char* key : {"at", "rotation"}) {
    if (moves && in.has(key)) {
      in.complain(key, std::string("contradicts `motion`, whose keyframes say where the ") + what +
                           " is; remove one of the two");
    }
  }
  Keyframe fixed;
  if (!moves || in.has("at") || in.has("rotation")) read_placement(in, fixed);
  if (!moves) {
    motion = Motion({fixed});
  } else if (in_order) {
    motion = Motion(std::move(keys));
  }
  return moves;
}

void read_particles(ParamReader& in, const std::vector<MaterialSpec>* materials, ObjectSpec& object) {
  read_shape(in, object.shape, "what is filled with particles; must be bounded");
  read_placement(in, object.placement);
  object.material = read_material_reference(in, materials);
  object.velocity = in.vector("velocity", "m/s", anything(), "at the start", Vec<double, 3>::zero());
  object.angular_velocity =
      in.vector("angular_velocity", "rad/s", anything(), "at the start, about `at`", Vec<double, 3>::zero());
  object.velocity_field = read_velocity_field(in, object.placement.at);
  read_filling(in, materials, object);
}

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
    if (in_order && !keys.empty()) pin.motion = Motion(std::move(keys));
    solid.pins.push_back(std::move(pin));
  });
}

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
  solid.friction = in.number(
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
  if (method != "mpm") object.solid = std::move(solid);
}

const std::vector<EnumWord<RodScheme>> rod_schemes{
    {{"implicit", "stretching by backward Euler, bending and twist without loss; no stiffness limits the step"},
     RodScheme::implicit},
    {{"backward_euler", "bending and twist by backward Euler, too: calmer, at the price of energy"},
     RodScheme::backward_euler},
    {{"explicit", "symplectic Euler, in the short steps that the stiffness of strands allows"},
     RodScheme::explicit_euler}};

/// Young's modulus and Poisson's ratio of a law that meshes can follow; false for others.
bool elastic_constants(const AnyLaw<double>& law, RodMaterial& rod) {
  return std::visit(
      [&]<class Law>(const Law& one) {
        if constexpr (MeshLaw<Law>) {
          rod.youngs_modulus = one.mu * (3 * one.lambda + 2 * one.mu) / (one.lambda + one.mu);
          rod.poisson_ratio = one.lambda / (2 * (one.lambda + one.mu));
        }
        return MeshLaw<Law>;
      },
      *law);
}

void read_rod_material(ParamReader& in, const std::vector<MaterialSpec>* materials, ObjectSpec& object,
                       StrandsSpec& hair) {
  RodMaterial& rod = hair.material;
  const std::string name = in.text(
      "material", "name of an elastic entry of `materials`, or of a preset, that gives what is not said here", "");
  hair.has_material = !name.empty();
  if (hair.has_material) {
    object.material = find_material(in, name, materials);
    if (materials && !materials->empty() && !in.describing()) {
      const MaterialSpec& named = (*materials)[static_cast<std::size_t>(object.material)];
      rod.density = named.density;
      if (!elastic_constants(named.law, rod))
        in.complain("material", "material \"" + named.name +
                                    "\" follows a law that strands cannot: they need an elastic one, or "
                                    "`youngs_modulus` and `density` of their own");
    }
  }
  rod.density =
      in.number("density", "kg/m^3", above(0), "by default that of the material, or else of hair", rod.density);
  rod.youngs_modulus = in.number("youngs_modulus", "Pa", above(0), "by default that of the material, or else of hair",
                                 rod.youngs_modulus);
  rod.poisson_ratio = in.number("poisson_ratio", "1", between(-1, 0.5),
                                "sets the stiffness against twist; by default that of the material", rod.poisson_ratio);
  rod.stretch_scale = in.number(
      "stretch_scale", "1", above(0),
      "factor of the stiffness against stretching: real hair stretches less than can be seen, and a thousandth "
      "of it takes far fewer steps",
      rod.stretch_scale);
  rod.aspect = in.number("aspect", "1", within(0.05, 20),
                         "of elliptic cross-sections of the area that `radius` has: how much wider they are toward "
                         "`director`",
                         rod.aspect);
  hair.director = in.open_vector("director", "1", anything(),
                                 "across the strands at their roots, roughly, before `rotation`: where elliptic "
                                 "cross-sections are wide; by default any such direction");
  if (hair.director && !(squared_norm(*hair.director) > 0 && std::isfinite(squared_norm(*hair.director))))
    in.complain("director", "expected a direction, got a vector whose length is 0 or too large");
  // Undamped, the chatter of contact makes strands gain energy; visible motion, of some hertz, hardly feels this.
  // Explicit steps would have to be far shorter for it.
  const double usual_damping = hair.scheme == RodScheme::explicit_euler ? 0 : 1e-3;
  rod.bend_damping = in.number("bend_damping", "s", at_least(0),
                               "of bending and twist: this times stiffness times velocity; method \"mpm\" has no "
                               "damping but the grid's",
                               usual_damping);
  rod.stretch_damping = in.number("stretch_damping", "s", at_least(0), "likewise of stretching", usual_damping);
  rod.drag = in.number("drag", "1/s", at_least(0), "this times mass times velocity: air", rod.drag);
  hair.curve.contact_stiffness =
      in.number("contact_stiffness", "Pa", above(0),
                "with method \"mpm\": how stiff what strands share a cell with is against being pressed together",
                hair.curve.contact_stiffness);
  hair.curve.contact_shear = in.number(
      "contact_shear", "Pa", at_least(0),
      "with method \"mpm\": how stiff it is against slip along strands, until `friction` lets go; 0: no friction along "
      "them; by default half of contact_stiffness",
      0.5 * hair.curve.contact_stiffness);
}

const std::vector<EnumWord<HairMethod>> hair_methods{
    {{"hybrid", "elastic rods that touch by their segments (Han 2019)"}, HairMethod::hybrid},
    {{"mcadams", "the same, and their volume is an incompressible fluid (after McAdams 2009), to compare with"},
     HairMethod::mcadams},
    {{"mpm", "curves of particles that touch through the grid (Jiang 2017), to compare with"}, HairMethod::mpm}};
const std::vector<EnumWord<Incompressibility>> incompressibilities{
    {{"bilateral", "it neither gives way nor opens"}, Incompressibility::bilateral},
    {{"clamped", "where it is thinner than at the start and opens, it may"}, Incompressibility::clamped},
    {{"separating", "pressure only pushes, and only where hair is denser than at the start"},
     Incompressibility::separating}};

void read_hair(ParamReader& in, const std::vector<MaterialSpec>* materials, ObjectSpec& object) {
  static const std::vector<Choice> ends{{"clamped", "two vertices and the frame between them go where `motion` goes"},
                                        {"free", "held by nothing"}};
  static const std::vector<Choice> rests{{"strands", "as they begin: curls stay"}, {"straight", "straight"}};
  StrandsSpec hair;
  hair.method = enum_choice(in, "method", hair_methods, "how strands are discretized", hair.method);
  hair.incompressibility = enum_choice(
      in, "incompressibility", incompressibilities,
      "of method `mcadams`: what the volume of hair may do; the same for all of a scene", hair.incompressibility);
  read_hair_source(in, hair.made);
  object.seed = hair.made.seed;
  hair.clamp_root = in.choice("roots", ends, "the first vertices of strands", "clamped") == std::string("clamped");
  hair.clamp_tip = in.choice("tips", ends, "the last ones", "free") == std::string("clamped");
  hair.on =
      in.text("on",
              "name of a collider, or of a solid of method \"hybrid\", that the hair grows on: its coordinates are "
              "those of the hair, and clamped roots go with it; instead of `motion`, `at` and `rotation`",
              "");
  const bool on_other = !hair.on.empty();
  bool moves = false;
  // What `on` says has no default here: a scene with its defaults filled in must be one that can be read again.
  if (!on_other || in.has("motion") || in.has("at") || in.has("rotation"))
    moves = read_motion_or_placement(in,
                                     "keyframes, instead of `at` and `rotation`, that clamped ends follow; position "
                                     "and angle change linearly between",
                                     "hair", hair.motion);
  const char* const contradiction = "contradicts `on`, which says where the hair is and goes; remove one of the two";
  for (const char* key : {"motion", "at", "rotation"})
    if (on_other && in.has(key)) in.complain(key, contradiction);
  if (on_other && !hair.clamp_root)
    in.complain("on", "only clamped roots go with what they grow on; clamp `roots`, or leave it out");
  if (moves && !hair.clamp_root && !hair.clamp_tip)
    in.complain("motion",
                "only clamped ends follow keyframes, and these strands have none; use `at`, or clamp `roots`");
  hair.skin = in.text("skin",
                      "name of a solid, method \"hybrid\", whose surface clamped roots go with, instead of `motion`; "
                      "`on` also takes its "
                      "place and shape",
                      "");
  if (!hair.skin.empty() && on_other) in.complain("skin", contradiction);
  if (!hair.skin.empty() && moves)
    in.complain("motion", "contradicts `skin`, which says where the roots go; remove one of the two");
  if (!hair.skin.empty() && !hair.clamp_root)
    in.complain("skin", "only clamped roots go with a skin; clamp `roots`, or leave it out");
  std::vector<Keyframe> tip_keys;
  if (read_keyframes(in, "tip_motion",
                     "keyframes that clamped tips follow instead, from where they begin; turned about `at`",
                     tip_keys) &&
      !tip_keys.empty())
    hair.tip_motion = Motion(std::move(tip_keys));
  if (hair.tip_motion && !hair.clamp_tip)
    in.complain("tip_motion", "only clamped tips follow keyframes; set `tips` to \"clamped\"");
  const Pose start = hair.motion.pose(0);
  object.placement = hair.motion.keys().front();
  object.placement.at = start.at;
  object.velocity =
      in.vector("velocity", "m/s", anything(), "at the start, of what is not clamped", Vec<double, 3>::zero());
  hair.scheme = enum_choice(in, "scheme", rod_schemes, "how a step of strands advances; the same for all of a scene",
                            hair.scheme);
  read_rod_material(in, materials, object, hair);
  hair.friction = in.number("friction", "1", at_least(0),
                            "Coulomb coefficient between strands, and against particles; against a collider or a solid "
                            "theirs counts, unless the scene's `friction` says otherwise",
                            0);
  hair.keeps_shape =
      in.choice("rest", rests, "what strands are when nothing acts on them", "strands") == std::string("strands");
  Look look;
  look.color = {{0.36, 0.23, 0.14}};
  look.roughness = 0.4;
  look.variation = 0.3;
  const bool known = hair.has_material && materials && !materials->empty();
  object.look = read_look(in, known ? (*materials)[static_cast<std::size_t>(object.material)].look : look);
  object.shape = Box<double>{2.0 * expected_half_size(hair.made)};
  object.strands = std::move(hair);
}

/// Everything that asks for an object's material finds one: hair that names none has its own.
void add_hair_materials(Scene& scene) {
  for (ObjectSpec& object : scene.objects) {
    if (!object.strands || object.strands->has_material) continue;
    const RodMaterial& rod = object.strands->material;
    const double E = rod.youngs_modulus, nu = rod.poisson_ratio;
    MaterialSpec material;
    material.name = object.name;
    material.density = rod.density;
    FixedCorotated<double> law{};
    law.mu = E / (2 * (1 + nu));
    law.lambda = E * nu / ((1 + nu) * (1 - 2 * nu));
    material.law = law;
    material.look = object.look;
    object.material = static_cast<int>(scene.materials.size());
    scene.materials.push_back(std::move(material));
  }
}

void read_contact(ParamReader& in, ContactSpec& contact) {
  contact.form = enum_choice(in, "form", contact_forms, "how solids touch", contact.form);
  contact.samples_per_cell =
      in.number("samples_per_cell", "1", above(0), "collision particles on a dx^2 of surface, beside those at corners",
                contact.samples_per_cell);
  contact.rest_offset =
      in.number("rest_offset", "1", within(0, 1), "gap at which bodies rest, in cells", contact.rest_offset);
  contact.push = in.number(
      "push", "1", within(0, 1),
      "part of what is missing to that gap that a step wins back; 0: by the sizes of mesh and grid", contact.push);
  contact.affine =
      in.flag("affine", "collision particles tell the grid how velocity changes around them, too", contact.affine);
}

/// The object or collider that a key names; the index is -1 where there is none.
Party read_party(ParamReader& in, const char* key, const char* doc, const Scene& scene) {
  const std::string name = in.text(key, doc);
  std::vector<std::string> known;
  for (std::size_t o = 0; o < scene.objects.size(); ++o) {
    if (scene.objects[o].name == name) return {.collider = false, .index = static_cast<int>(o)};
    known.push_back(scene.objects[o].name);
  }
  for (std::size_t c = 0; c < scene.colliders.size(); ++c) {
    if (scene.colliders[c].name == name) return {.collider = true, .index = static_cast<int>(c)};
    known.push_back(scene.colliders[c].name);
  }
  const bool sink =
      std::any_of(scene.sinks.begin(), scene.sinks.end(), [&](const SinkSpec& s) { return s.name == name; });
  if (sink) {
    in.complain(key, "\"" + name + "\" is a sink, which touches nothing; expected an object or a collider");
  } else if (!in.describing()) {
    std::string hint = did_you_mean(name, known);
    if (hint.empty()) hint = "; there are " + quoted_list(known);
    in.complain(key, "no object or collider is called \"" + name + "\"" + hint);
  }
  return {.collider = false, .index = -1};
}

const std::vector<EnumWord<StrandContactSpec::Form>> impulse_forms{
    {{"plain", "each iteration adds what is missing: stops crossings best"}, StrandContactSpec::Form::plain},
    {{"accumulated",
      "sums over the iterations are bounded by Coulomb's law: best for braids and knots, with 20 iterations or more"},
     StrandContactSpec::Form::accumulated},
    {{"none", "strands pass through each other"}, StrandContactSpec::Form::none}};

void read_strand_contact(ParamReader& in, StrandContactSpec& contact) {
  contact.form = enum_choice(in, "impulses", impulse_forms, "between segments that come near", contact.form);
  contact.iterations = static_cast<int>(in.integer("iterations", within(1, 1000), "of impulses in a step",
                                                   contact.form == StrandContactSpec::Form::accumulated ? 20 : 5));
  contact.fail_safe = in.flag("fail_safe",
                              "segments that would still pass through each other get impulses of their own, and where "
                              "that is not enough go on as one piece for the step",
                              contact.fail_safe);
  contact.count_missed = in.flag(
      "count_missed", "count segments that pass through each other, also without `fail_safe`", contact.count_missed);
  contact.count_grid = in.flag("count_grid", "count those that would without any impulse, too", contact.count_grid);
}

void read_strand_grid(ParamReader& in, StrandGridSpec& grid) {
  grid.on = in.flag("on",
                    "hair resists being pressed together, and touches particles and meshes; without, it passes through "
                    "these",
                    grid.on);
  grid.friction = in.open_number("friction", "1", at_least(0),
                                 "inside hair that is pressed together; by default that of each object");
  grid.wave_speed =
      in.open_number("wave_speed", "m/s", above(0),
                     "how stiff hair is in bulk; hair keeps its volume when hit with half that speed, and "
                     "steps are shorter the higher it is; by default 2.2 times what things may hit each "
                     "other with, by speeds at the start, motions and heights");
  grid.blend =
      in.number("blend", "1", within(0, 1),
                "part that strands lose, in `blend_time`, of the velocity that the grid does not see", grid.blend);
  grid.blend_time = in.number("blend_time", "s", at_least(0), "0: in every step", grid.blend_time);
}

/// Times between which an emitter or a sink works.
void read_times(ParamReader& in, double& from, double& until) {
  from = in.number("from", "s", at_least(0), "when it begins", 0);
  const auto end = in.open_number("until", "s", above(0), "when it ends; by default never");
  if (end && !(*end > from)) in.complain("until", "expected a time later than `from`");
  if (end) until = *end;
}

void read_emitter(ParamReader& in, const std::vector<MaterialSpec>* materials, ObjectSpec& object) {
  EmissionSpec emission;
  read_shape(in, object.shape,
             "the nozzle: particles enter on the side that `velocity` comes from; everything inside moves with "
             "`velocity` while the emitter works; must be bounded");
  read_placement(in, object.placement);
  object.material = read_material_reference(in, materials);
  object.velocity = in.vector("velocity", "m/s", anything(), "with which particles leave");
  const double speed2 = squared_norm(object.velocity);
  if (!(speed2 > 0 && std::isfinite(speed2))) {
    in.complain("velocity", "expected a velocity, got a vector whose length is 0 or too large");
    object.velocity = {{0, -1, 0}};
  }
  emission.volume_rate = in.open_number("volume_rate", "m^3/s", above(0),
                                        "volume given out per time; by default all that fits through the shape");
  const auto mass_rate =
      in.open_number("mass_rate", "kg/s", above(0), "mass given out per time, instead of `volume_rate`");
  if (mass_rate) {
    if (emission.volume_rate) in.complain("mass_rate", "contradicts `volume_rate`; remove one of the two");
    const bool known = materials && !materials->empty();
    emission.rate_by_mass = true;
    if (known) emission.volume_rate = *mass_rate / (*materials)[static_cast<std::size_t>(object.material)].density;
  }
  read_times(in, emission.from, emission.until);
  if (const auto most = in.open_number("max_volume", "m^3", above(0), "volume after which it ends; by default never"))
    emission.max_volume = *most;
  object.emission = emission;
  read_filling(in, materials, object);
}

void read_sink(ParamReader& in, const std::string& index, std::map<std::string, std::string>& names, SinkSpec& sink) {
  sink.name = read_name(in, "sink " + index, "sink" + index, names);
  read_shape(in, sink.shape, "particles whose centers are inside are taken away; may be unbounded");
  read_placement(in, sink.placement);
  read_times(in, sink.from, sink.until);
}

void read_material(ParamReader& in, int index, MaterialSpec& material) {
  Alternatives models{"model", {}};
  each_alternative(static_cast<const ParticleLaw<double>*>(nullptr), [&]<class T>() {
    models.all.push_back({T::name, T::doc, [&](ParamReader& beside) {
                            material.density = beside.number("density", "kg/m^3", above(0), "mass per volume at rest");
                            material.law = T::read(beside);
                          }});
  });
  in.tag("model", models, "the law the material follows");
  material.look = read_look(in, default_look(index));
}

void read_object(ParamReader& in, const std::string& index, const std::vector<MaterialSpec>* materials,
                 std::map<std::string, std::string>& names, ObjectSpec& object) {
  Alternatives types{"object", {}};
  for (const ObjectType& type : object_types()) {
    types.all.push_back({type.name, type.doc, [&](ParamReader& beside) {
                           object.type = type.name;
                           object.name = read_name(beside, "object " + index, type.name + index, names);
                           type.read(beside, materials, object);
                         }});
  }
  in.tag("type", types, "what kind of object this is");
}

void read_collider(ParamReader& in, const std::string& index, std::map<std::string, std::string>& names,
                   ColliderSpec& collider) {
  collider.name = read_name(in, "collider " + index, "collider" + index, names);
  read_shape(in, collider.shape, "what material cannot enter");
  collider.inside = in.flag("inside", "material stays inside the shape instead of outside: a container", false);
  collider.boundary = enum_choice(in, "boundary", boundaries, "what happens at the surface", Boundary::separate);
  collider.friction = in.number(
      "friction", "1", at_least(0),
      "Coulomb coefficient of the surface, unless the scene's `friction` says otherwise; used by \"separate\"", 0);
  Look look;
  look.color = {{0.83, 0.83, 0.82}};
  look.roughness = 0.9;
  if (collider.inside) look.opacity = 0.1;  // a glass tank
  collider.look = read_look(in, look);

  read_motion_or_placement(
      in, "keyframes; between them position and angle change linearly, before and after them not at all", "collider",
      collider.motion);
}

/// What the file is called, without folder and extension.
std::string default_name(const ParamReader& in, const std::string& file) {
  const std::string stem = std::filesystem::path(file).stem().string();
  const bool usable =
      !in.describing() && find_invalid_utf8(stem) == std::string::npos;  // names are JSON, files need not be
  return usable ? stem : "";
}

void read_output(ParamReader& in, OutputSpec& output) {
  std::vector<Choice> writers;
  for (const WriterEntry& writer : all_writers()) writers.push_back({writer.name, writer.doc});
  output.formats = in.choices("formats", writers, "formats to write besides the run's own frames");
  output.checkpoint_frames = static_cast<int>(
      in.integer("checkpoint_frames", within(0, 1e6), "a checkpoint every so many frames; 0: never", 10));
  output.checkpoint_minutes = in.number("checkpoint_minutes", "min", at_least(0),
                                        "a checkpoint at the first frame after so many minutes; 0: never", 5);
  output.checkpoints_kept =
      static_cast<int>(in.integer("checkpoints_kept", within(1, 1e6), "older checkpoints are removed", 2));
}

}  // namespace

const std::vector<Choice>& transfers() {
  static const std::vector<Choice> all = []<class... Scheme>(const std::variant<Scheme...>*) {
    return std::vector<Choice>{{Scheme::name, Scheme::doc}...};
  }(static_cast<const Transfer*>(nullptr));
  return all;
}

const std::vector<Choice>& kernels() {
  static const std::vector<Choice> all = [] {
    std::vector<Choice> list;
    for (const KernelInfo& kernel : kernel_list) list.push_back({kernel.name, kernel.doc});
    return list;
  }();
  return all;
}

const std::vector<ObjectType>& object_types() {
  static const std::vector<ObjectType> all{
      {"particles", "a shape filled with particles of one material: sand, fluid, soft solids", read_particles},
      {"solid", "an elastic body that keeps its shape: a mesh of tets, or particles to compare with", read_solid},
      {"hair", "strands, each an elastic rod: hair, fur, fibers", read_hair},
      {"emitter", "a nozzle that particles of one material come out of", read_emitter}};
  return all;
}

void read_format(ParamReader& in, Scene& scene) {
  in.integer("tribo", within(1, 1), "version of the scene format");
  scene.name = in.text("name", "what the scene is called; by default as its file", default_name(in, scene.file));
  scene.description = in.text("description", "what there is to see", "");
  scene.dimension = static_cast<int>(in.integer("dimension", within(2, 3), "of space", 3));
  scene.precision = in.choice("precision", precisions(), "type of numbers to compute with", "float");
  scene.fps = in.number("fps", "1/s", above(0), "frames per second", 24);
  scene.duration = in.number("duration", "s", above(0), "simulated time");
  scene.gravity = in.vector("gravity", "m/s^2", anything(), "acceleration of free fall", Vec<double, 3>{{0, -9.81, 0}});
  in.object("grid", "the background grid", true, [&](ParamReader& grid) {
    scene.grid.dx = grid.number("dx", "m", above(0), "grid spacing");
    scene.grid.kernel = grid.choice("kernel", kernels(), "interpolation between particles and grid", "quadratic");
    const char* const usual_force = scene.grid.kernel == "linear" ? "gradient" : "mls";
    scene.grid.force =
        grid.choice("force", forces(), "how stress acts on the grid; the linear kernel takes gradient", usual_force);
    const std::string transfer =
        grid.choice("transfer", transfers(), "what particles and grid tell each other", transfers().front().name);
    each_alternative(&scene.grid.transfer, [&]<class Scheme>() {
      if (grid.describing() || transfer == Scheme::name) scene.grid.transfer = Scheme::read(grid);
    });
  });
  in.object("time", "time integration", false, [&](ParamReader& time) { read_time(time, scene.fps, scene.time); });

  const bool materials_known =
      in.named_list("materials", "what things are made of", false, [&](ParamReader& entry, const std::string& name) {
        MaterialSpec& material = scene.materials.emplace_back();
        material.name = name;
        read_material(entry, static_cast<int>(scene.materials.size()) - 1, material);
      });
  std::map<std::string, std::string> names;
  in.list("objects", "what moves", true, [&](ParamReader& entry, const std::string& index) {
    read_object(entry, index, materials_known ? &scene.materials : nullptr, names, scene.objects.emplace_back());
  });
  if (!in.describing()) add_hair_materials(scene);
  in.list("colliders", "what does not move, or moves as told", false,
          [&](ParamReader& entry, const std::string& index) {
            read_collider(entry, index, names, scene.colliders.emplace_back());
          });
  if (!in.describing()) {
    place_hair(scene);
    refine_meshes_at_hair(scene);
  }
  in.list("sinks", "where material leaves the scene", false, [&](ParamReader& entry, const std::string& index) {
    read_sink(entry, index, names, scene.sinks.emplace_back());
  });
  in.object("contact", "how meshes touch each other, and what they touch", false,
            [&](ParamReader& contact) { read_contact(contact, scene.contact); });
  in.object("strand_contact", "how strands of hair touch each other", false, [&](ParamReader& contact) {
    read_strand_contact(contact, scene.strand_contact);
    contact.object("grid", "hair in bulk, on a grid of its own", false,
                   [&](ParamReader& grid) { read_strand_grid(grid, scene.strand_grid); });
  });
  in.list("friction",
          "of any two that touch, where it is not what they have themselves: a collider's own; a solid's own against "
          "particles and hair; the smaller one of two solids, or of two objects of hair; the least of all hair against "
          "particles. Objects that share a grid, as all particles do, have the same against whatever it meets",
          false, [&](ParamReader& entry, const std::string&) {
            PairFriction pair;
            pair.one = read_party(entry, "between", "name of an object or a collider", scene);
            pair.other = read_party(entry, "and", "name of another one, or of the same object", scene);
            pair.coefficient = entry.number("coefficient", "1", at_least(0), "of Coulomb");
            scene.friction.push_back(pair);
          });
  in.object("output", "what is written", false, [&](ParamReader& output) { read_output(output, scene.output); });
  in.object("render", "how pictures are made", false, [&](ParamReader& render) { read_render(render, scene.render); });
  in.verbatim("variants",
              "what `tribo compare` runs side by side: by name, what is changed of this scene, values by JSON pointer: "
              "{\"fine\": {\"/grid/dx\": 0.01}}");
  scene.expect_json = in.verbatim("expect", "numbers that a test of this scene checks; free in form");
}

}  // namespace tribo

#include "tribo/scene/format.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "tribo/io/writer.h"
#include "tribo/models/all.h"
#include "tribo/scene/json_document.h"
#include "tribo/scene/read_joint.h"
#include "tribo/scene/read_object.h"
#include "tribo/scene/room.h"
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

const std::vector<EnumWord<Boundary>> boundaries{
    {{"sticky", "material takes on the collider's velocity"}, Boundary::sticky},
    {{"slip", "material slides along the surface, neither enters nor leaves it, and feels no friction"},
     Boundary::slip},
    {{"separate", "material may leave, does not enter, and is slowed by Coulomb friction"}, Boundary::separate}};

const std::vector<EnumWord<ContactSpec::Form>> contact_forms{
    {{"balanced", "against the other bodies only, with a gap test; pairs of bodies keep their momentum"},
     ContactSpec::Form::balanced},
    {{"paper", "as printed in Han 2019, eqs. 17-29, for comparison: all bodies share one grid"},
     ContactSpec::Form::paper}};

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
  in.list("colliders", "what does not move, or moves as told", false,
          [&](ParamReader& entry, const std::string& index) {
            read_collider(entry, index, names, scene.colliders.emplace_back());
          });
  if (!in.describing())
    for (const Room* room : rooms()) room->complete(scene);
  read_joints(in, scene);
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

#include "tribo/matter/strands/read_hair.h"

#include <cmath>
#include <utility>

#include "tribo/matter/strands/spec.h"
#include "tribo/models/all.h"
#include "tribo/models/elastic/invertible.h"
#include "tribo/scene/read_object.h"

namespace tribo {
namespace {

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

}  // namespace

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
              "name of a collider, a rigid body, or a solid of method \"hybrid\", that the hair grows on: its coordinates are "
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
  object.friction =
      in.number("friction", "1", at_least(0),
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
  if (hair.method != HairMethod::mpm) object.touch = Touch::strands;
  object.own = std::move(hair);
}

}  // namespace tribo

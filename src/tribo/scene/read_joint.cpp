#include "tribo/scene/read_joint.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numbers>
#include <set>

#include "tribo/matter/rigid/spec.h"
#include "tribo/scene/read_shape.h"
#include "tribo/scene/suggest.h"

namespace tribo {
namespace {

constexpr double radians_per_degree = std::numbers::pi / 180;
constexpr const char* world = "world";

/// The words and units of a coordinate.
struct CoordinateWords {
  const char *place, *unit, *motor;  ///< of its value; what a motor gives
  const char *most_unit, *speed_unit, *stiffness_unit, *damping_unit;
  double scale;  ///< to radians, or meters
};
constexpr CoordinateWords angle_words{"angle", "degrees", "torque",    "N m",
                                      "rad/s", "N m/rad", "N m s/rad", radians_per_degree};
constexpr CoordinateWords position_words{"position", "m", "force", "N", "m/s", "N/m", "N s/m", 1};

int bodies_of(const ObjectSpec& object) {
  const auto* rigid = object.as<RigidSpec>();
  return rigid == nullptr ? 0 : static_cast<int>(copies_of(*rigid).size());
}
bool moves_by_itself(const Scene& scene, const JointSide& side) {
  if (side.object < 0) return false;
  const auto* rigid = scene.objects[static_cast<std::size_t>(side.object)].as<RigidSpec>();
  return rigid != nullptr && !rigid->kinematic;
}

/// "wheel", or "brick/3" of an object with several bodies. Nothing where there is no such body, which is reported.
std::optional<JointSide> find_side(ParamReader& in, const char* key, const std::string& name, const Scene& scene) {
  if (name == world) return JointSide{};
  std::vector<std::string> known{world};
  for (const ObjectSpec& object : scene.objects)
    if (bodies_of(object) > 0) known.push_back(object.name);
  const auto object_of = [&](const std::string& word) {
    const auto found = std::find_if(scene.objects.begin(), scene.objects.end(),
                                    [&](const ObjectSpec& object) { return object.name == word; });
    return found == scene.objects.end() ? -1 : static_cast<int>(found - scene.objects.begin());
  };
  JointSide side{object_of(name), 0};
  bool numbered = false;
  const std::size_t slash = name.rfind('/');
  if (side.object < 0 && slash != std::string::npos) {
    const char* const from = name.data() + slash + 1;
    const char* const end = name.data() + name.size();
    const auto [last, error] = std::from_chars(from, end, side.copy);
    if (error == std::errc{} && last == end && side.copy >= 0) {
      side.object = object_of(name.substr(0, slash));
      numbered = side.object >= 0;
    }
  }
  if (side.object < 0) {
    const bool collider = std::any_of(scene.colliders.begin(), scene.colliders.end(),
                                      [&](const ColliderSpec& c) { return c.name == name; });
    if (collider)
      in.complain(key,
                  fmt::format("\"{}\" is a collider, which joints cannot hold; take \"{}\" where it does not move, or "
                              "make it an object of type \"rigid\" with `motion`",
                              name, world));
    else
      in.complain(key, fmt::format("no rigid object is called \"{}\"{}", name, [&] {
                    const std::string hint = did_you_mean(name, known);
                    return hint.empty() ? "; there are " + quoted_list(known) : hint;
                  }()));
    return {};
  }
  const ObjectSpec& object = scene.objects[static_cast<std::size_t>(side.object)];
  const int bodies = bodies_of(object);
  if (bodies == 0) {
    in.complain(key, fmt::format("\"{}\" is of type \"{}\"; joints are between objects of type \"rigid\"", object.name,
                                 object.type));
    return {};
  }
  if (!numbered && bodies > 1) {
    in.complain(key, fmt::format("\"{}\" has {} bodies; say which, from \"{}/0\" to \"{}/{}\"", name, bodies, name,
                                 name, bodies - 1));
    return {};
  }
  if (side.copy >= bodies) {
    in.complain(key, fmt::format("\"{}\" has {} {}, whose numbers begin with 0", object.name, bodies,
                                 bodies == 1 ? "body" : "bodies"));
    return {};
  }
  return side;
}

void read_sides(ParamReader& in, const Scene& scene, JointSpec& joint) {
  const std::string one = in.text("between",
                                  "name of a rigid object; of its bodies, where it has several, with a number "
                                  "from 0 on: \"link/3\"");
  const std::string other =
      in.text("and",
              "name of another one, or \"world\", which does not move; coordinates, forces and torques are those "
              "of the first against this one",
              world);
  if (in.describing()) return;
  const std::optional<JointSide> a = find_side(in, "between", one, scene), b = find_side(in, "and", other, scene);
  if (!a || !b) return;
  joint.between = *a;
  joint.other = *b;
  if (a->object == b->object && a->copy == b->copy) {
    in.complain("and", a->object < 0 ? "a joint needs a body, and both sides are \"world\""
                                     : fmt::format("joins \"{}\" to itself; name another body, or \"world\"", one));
  } else if (!moves_by_itself(scene, *a) && !moves_by_itself(scene, *b)) {
    in.complain(
        "and", fmt::format("neither \"{}\" nor \"{}\" can move by itself; a joint needs one body without `motion`", one,
                           other));
  }
}

void read_motor(ParamReader& in, const CoordinateWords& words, JointSpec& joint) {
  JointRule<double>& rule = joint.rule;
  using Motor = JointRule<double>::Motor;
  const auto speed =
      in.open_number("speed", words.speed_unit, anything(), "that it aims at; of a motor to a place, at most");
  const auto place = in.open_number(words.place, words.unit, anything(), "that it aims at");
  const auto most = in.open_number(words.motor, words.most_unit, above(0), "at most; as much as it takes by default");
  const auto stiffness = in.open_number(
      "stiffness", words.stiffness_unit, above(0),
      "of a motor to a place: it pulls there as a spring; without, it goes there with `speed` and holds fast");
  const auto damping = in.open_number("damping", words.damping_unit, at_least(0), "beside `stiffness`; 0 by default");
  bool by_place = place.has_value(), by_speed = false, is_right = true;
  in.list("motion", "keyframes, instead of one speed or place; it changes linearly between", false,
          [&](ParamReader& entry, const std::string&) {
            const double time = entry.number("time", "s", anything(), "when; later than the keyframe before");
            const auto key_speed = entry.open_number("speed", words.speed_unit, anything(), "that it aims at");
            const auto key_place = entry.open_number(words.place, words.unit, anything(), "that it aims at");
            if (entry.describing()) return;
            if (!joint.aims.empty() && !(time > joint.aims.back().time)) {
              is_right = false;
              entry.complain("time", "expected a time later than that of the keyframe before");
            }
            if (key_speed.has_value() == key_place.has_value()) {
              is_right = false;
              entry.complain("time", fmt::format("a keyframe of a motor has either `speed` or `{}`", words.place));
            }
            by_speed = by_speed || key_speed.has_value();
            by_place = by_place || key_place.has_value();
            joint.aims.push_back({time, key_speed ? *key_speed : words.scale * key_place.value_or(0)});
          });
  if (in.describing() || !is_right) return;
  const bool moves = !joint.aims.empty();
  if (moves && place) in.complain(words.place, "contradicts `motion`; remove one of the two");
  if (moves && by_speed && speed) in.complain("speed", "contradicts `motion`; remove one of the two");
  if (by_speed && by_place)
    in.complain("motion", fmt::format("keyframes have either all `speed` or all `{}`", words.place));
  if (!by_place && !by_speed && !speed) {
    for (const char* key : {words.motor, "stiffness", "damping"})
      if (in.has(key)) {
        in.complain(key, fmt::format("a motor needs something to aim at: `speed`, `{}` or `motion`", words.place));
        return;
      }
    return;
  }
  rule.motor = by_place ? Motor::position : Motor::speed;
  rule.most = most.value_or(0);
  if (!moves) rule.target = by_place ? words.scale * *place : *speed;
  if (by_place) {
    rule.stiffness = stiffness.value_or(0);
    rule.damping = damping.value_or(0);
    rule.fastest = speed ? std::abs(*speed) : 0;
    if (stiffness && speed)
      in.complain("speed",
                  "contradicts `stiffness`: a motor either pulls as a spring or goes with a speed; remove one");
    if (!stiffness && !speed && !moves)
      in.complain(words.place,
                  "how it gets there is missing: add `speed`, with which it goes, or `stiffness`, with which "
                  "it pulls");
    if (!stiffness && damping) in.complain("damping", "goes with `stiffness`, which is missing");
  } else {
    for (const char* key : {"stiffness", "damping"})
      if (in.has(key))
        in.complain(key, fmt::format("is of a motor that aims at `{}`, not at `speed`; remove it", words.place));
  }
}

void read_rule(ParamReader& in, const CoordinateWords& words, JointSpec& joint) {
  JointRule<double>& rule = joint.rule;
  const auto low = in.open_number("min", words.unit, anything(), "limit; no bound by default. It is 0 at the start");
  const auto high = in.open_number("max", words.unit, anything(), "limit; no bound by default");
  rule.limited = low || high;
  rule.low = low ? words.scale * *low : -1e300;
  rule.high = high ? words.scale * *high : 1e300;
  if (!in.describing()) {
    if (low && high && *low > *high)
      in.complain("min", "is more than `max`; swap them");
    else if (low && *low > 0)
      in.complain("min",
                  fmt::format("the joint begins at 0, which is less; the {} is that from the start on", words.place));
    else if (high && *high < 0)
      in.complain("max",
                  fmt::format("the joint begins at 0, which is more; the {} is that from the start on", words.place));
    else if (low && high && *low == *high)
      in.complain("min", "is the same as `max`, so that nothing moves; use type \"weld\"");
  }
  rule.friction = in.number("friction", words.most_unit, at_least(0),
                            fmt::format("{} that it takes to move it", words.motor).c_str(), 0);
  in.object("motor", "moves it, or holds it", false, [&](ParamReader& motor) { read_motor(motor, words, joint); });
}

template <class One>
void read_place(ParamReader& in, const One& one, JointSpec& joint) {
  constexpr bool two_places = requires { one.begun(0.0); };
  if constexpr (One::has_coordinate) {
    joint.axis = in.vector("axis", "1", anything(), "its direction at the start; need not be of length 1");
    if (!in.describing() && !(squared_norm(joint.axis) > 0)) in.complain("axis", "has no direction: its length is 0");
  }
  if constexpr (two_places) {
    joint.at = in.vector("at", "m", anything(), "point of the first, at the start");
    joint.to = in.vector("to", "m", anything(), "point of the second, at the start");
    if (!in.describing() && squared_norm(*joint.to - *joint.at) == 0) {
      if (const auto* rod = std::get_if<DistanceJoint<double>>(&joint.joint); rod != nullptr && rod->low < 0)
        in.complain("to", "is the same as `at`: a rod without length; use type \"ball\", or give `max` for a rope");
    }
  } else if constexpr (std::is_same_v<One, WeldJoint<double>> || std::is_same_v<One, SliderJoint<double>>) {
    joint.at =
        in.open_vector("at", "m", anything(),
                       "its place at the start, about which torques are given; by default the center of the first");
  } else {
    joint.at = in.vector("at", "m", anything(), "its place at the start");
  }
}

}  // namespace

void read_joints(ParamReader& in, Scene& scene) {
  std::set<std::string> names;
  in.list("joints", "what holds rigid bodies to each other or to the world, and moves them", false,
          [&](ParamReader& entry, const std::string& index) {
            JointSpec joint;
            joint.name = entry.text("name", "unique among joints; by default \"joint\" and its index",
                                    entry.describing() ? "" : "joint" + index);
            if (joint.name.empty() && !entry.describing())
              entry.complain("name", "expected a text that is not empty");
            else if (!names.insert(joint.name).second)
              entry.complain("name", "the name \"" + joint.name + "\" is already that of another joint");
            Alternatives types{"joint", {}};
            each_alternative(static_cast<const Joint<double>*>(nullptr), [&]<class One>() {
              types.all.push_back({One::name, One::doc, [&](ParamReader& beside) {
                                     const One one = One::read(beside);
                                     joint.joint = one;
                                     read_place(beside, one, joint);
                                     if constexpr (One::has_coordinate)
                                       read_rule(beside, One::coordinate_turns ? angle_words : position_words, joint);
                                   }});
            });
            entry.tag("type", types, "what it leaves free");
            read_sides(entry, scene, joint);
            joint.touch = entry.flag("touch", "whether the two touch each other, too", false);
            if (!entry.describing()) scene.joints.push_back(std::move(joint));
          });
  if (!in.describing() && scene.dimension == 2 && !scene.joints.empty())
    in.complain("joints", "joints are three-dimensional, as rigid bodies are; use dimension 3");
}

}  // namespace tribo

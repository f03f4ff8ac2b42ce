#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tribo/core/params.h"
#include "tribo/scene/read_shape.h"
#include "tribo/scene/scene.h"

/// \file
/// Keys that several types of objects have.

namespace tribo {

/// A word of a choice and what it means to the program.
template <class Enum>
struct EnumWord {
  Choice word;
  Enum value;
};

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

/// A velocity field in addition to velocity and spin, which most bodies do without.
std::optional<FieldSpec> read_velocity_field(ParamReader& in, const Vec<double, 3>& at);

/// The index in `materials` of the one that the key `material` names.
int find_material(ParamReader& in, const std::string& name, const std::vector<MaterialSpec>* materials);
int read_material_reference(ParamReader& in, const std::vector<MaterialSpec>* materials);

/// How densely and in which pattern particles are placed, and how they look.
void read_filling(ParamReader& in, const std::vector<MaterialSpec>* materials, ObjectSpec& object);

/// The keyframes of `motion` or the like. False when they are out of order, which is reported, and nothing that Motion
/// takes.
bool read_keyframes(ParamReader& in, const char* key, const char* doc, std::vector<Keyframe>& keys);

/// Where something is that may move: `motion`, or else `at` and `rotation`. Returns whether it is the first.
bool read_motion_or_placement(ParamReader& in, const char* doc, const char* what, Motion& motion);

/// Times between which an emitter or a sink works.
void read_times(ParamReader& in, double& from, double& until);

}  // namespace tribo

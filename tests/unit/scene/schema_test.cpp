#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "example_scene.h"
#include "tribo/core/errors.h"
#include "tribo/scene/describe.h"
#include "tribo/scene/json_reader.h"
#include "tribo/scene/reader.h"

namespace tribo {
namespace {

using nlohmann::json;

/// Whether `value` obeys the parts of JSON Schema that scene_schema uses.
bool valid(const json& value, const json& schema, const json& root) {
  const auto any = [&](const json& forms) {
    return std::count_if(forms.begin(), forms.end(), [&](const json& form) { return valid(value, form, root); });
  };
  if (schema.is_boolean()) return schema.get<bool>();
  for (const auto& [word, rule] : schema.items()) {
    bool good = true;
    if (word == "$ref") {
      good = valid(value, root.at(json::json_pointer(rule.get<std::string>().substr(1))), root);
    } else if (word == "oneOf") {
      good = any(rule) == 1;
    } else if (word == "anyOf") {
      good = any(rule) >= 1;
    } else if (word == "const") {
      good = value == rule;
    } else if (word == "enum") {
      good = std::find(rule.begin(), rule.end(), value) != rule.end();
    } else if (word == "type") {
      good = (rule == "object" && value.is_object()) || (rule == "array" && value.is_array()) ||
             (rule == "string" && value.is_string()) || (rule == "boolean" && value.is_boolean()) ||
             (rule == "number" && value.is_number()) || (rule == "integer" && value.is_number_integer());
    } else if (word == "minimum") {
      good = value >= rule;
    } else if (word == "exclusiveMinimum") {
      good = value > rule;
    } else if (word == "maximum") {
      good = value <= rule;
    } else if (word == "exclusiveMaximum") {
      good = value < rule;
    } else if (word == "minItems") {
      good = value.size() >= rule.get<std::size_t>();
    } else if (word == "maxItems") {
      good = value.size() <= rule.get<std::size_t>();
    } else if (word == "items") {
      for (const json& item : value) good = good && valid(item, rule, root);
    } else if (word == "required") {
      for (const json& key : rule) good = good && value.contains(key.get<std::string>());
    } else if (word == "properties") {
      for (const auto& [key, inner] : rule.items()) {
        good = good && (!value.contains(key) || valid(value[key], inner, root));
      }
    } else if (word == "additionalProperties") {
      const json known = schema.value("properties", json::object());
      for (const auto& [key, inner] : value.items()) good = good && (known.contains(key) || valid(inner, rule, root));
    } else {
      const std::vector<std::string> notes{"$schema", "title",    "description", "default",
                                           "$defs",   "examples", "uniqueItems"};
      EXPECT_NE(std::find(notes.begin(), notes.end(), word), notes.end()) << word;
    }
    if (!good) return false;
  }
  return true;
}

TEST(Schema, AcceptsGoodScenes) {
  const json schema = json::parse(scene_schema());
  EXPECT_EQ(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
  EXPECT_TRUE(valid(json::parse(test::example_scene, nullptr, true, true), schema, schema));
  EXPECT_TRUE(valid(json::parse(parse_scene(test::example_scene, "x").resolved_json), schema, schema));
}

TEST(Schema, RefusesWhatTheReaderRefuses) {
  const json schema = json::parse(scene_schema());
  const json good = json::parse(test::example_scene, nullptr, true, true);
  const std::pair<const char*, json> changes[] = {{"/tribo", 2},
                                                  {"/fps", 0},
                                                  {"/grid/dx", "wide"},
                                                  {"/gravitiy", 1},
                                                  {"/materials/coarse/friction_angle", 95},
                                                  {"/materials/coarse/stiffness", 1},
                                                  {"/materials/a~1b~0c/model", "granite"},
                                                  {"/objects/0/type", "hair"},
                                                  {"/objects/0/shape", json{{"box", {1, 1, 1}}, {"sphere", 1}}},
                                                  {"/objects/0/shape/box/1", -1},
                                                  {"/objects/0/velocity_field", json{{"whirl", {{"speed", 1}}}}},
                                                  {"/objects/4/mass_rate", -1},
                                                  {"/sinks/0/until", "never"},
                                                  {"/colliders/0/boundary", "seperate"},
                                                  {"/colliders/1/motion/0/rotation", json{{"angle", 3}}},
                                                  {"/output/checkpoint_frames", 0.5}};
  for (const auto& [pointer, value] : changes) {
    json bad = good;
    bad[json::json_pointer(pointer)] = value;
    EXPECT_FALSE(valid(bad, schema, schema)) << pointer;
    EXPECT_THROW(parse_scene(bad.dump(), "x.json"), SceneError) << pointer;
  }
}

TEST(Schema, EveryValueSaysWhatItIs) {
  const json schema = json::parse(scene_schema());
  const std::function<void(const json&)> look = [&](const json& part) {
    if (part.is_object() && part.contains("properties")) {
      for (const auto& [key, value] : part["properties"].items()) EXPECT_TRUE(value.contains("description")) << key;
    }
    if (part.is_structured()) {
      for (const json& inner : part) look(inner);
    }
  };
  look(schema);
}

TEST(Reference, NamesEverything) {
  const std::string manual = scene_reference();
  for (const char* kind : {"materials", "models", "colliders", "objects", "fields"}) {
    for (const ListEntry& entry : list_entries(kind)) {
      EXPECT_NE(manual.find(entry.name), std::string::npos) << entry.name;
    }
  }
  for (const char* row : {"| `grid.dx` | a number > 0 | m | required | grid spacing |",
                          "| `friction_angle` | a number in (0, 80) | deg | required |",
                          "| `size` | three numbers, each > 0 | m | required |", "| `colliders[].motion[].time` |"}) {
    EXPECT_NE(manual.find(row), std::string::npos) << row;
  }
}

TEST(List, EveryKindAnswers) {
  for (const std::string& kind : list_kinds()) {
    for (const ListEntry& entry : list_entries(kind)) {
      EXPECT_FALSE(entry.name.empty()) << kind;
      EXPECT_FALSE(entry.doc.empty()) << kind << " " << entry.name;
    }
  }
  EXPECT_FALSE(list_entries("models")[0].details.empty());
  EXPECT_THROW(list_entries("materails"), Error);
}

TEST(Describe, AnswersWithValuesInRange) {
  const FormatDescription described = describe([](ParamReader& in) {
    EXPECT_TRUE(in.describing());
    EXPECT_GT(in.number("a", "m", above(3), "doc"), 3);
    EXPECT_LT(in.number("b", "m", Range{.high = -3}, "doc"), -3);
    EXPECT_EQ(in.number("c", "m", between(2, 4), "doc"), 3);
    EXPECT_EQ(in.number("d", "m", anything(), "doc", 7), 7);
  });
  ASSERT_EQ(described.parameters.size(), 4u);
  EXPECT_EQ(one_line(described.parameters[0]), "a: a number > 3 [m], required: doc");
  EXPECT_EQ(one_line(described.parameters[3]), "d: a number [m], default 7: doc");
}

}  // namespace
}  // namespace tribo

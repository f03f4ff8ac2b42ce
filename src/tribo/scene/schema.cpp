#include <cmath>

#include "tribo/scene/describe.h"
#include "tribo/scene/format.h"
#include "tribo/scene/presets.h"
#include "tribo/scene/reader.h"

namespace tribo {
namespace {

using Kind = Description::Kind;

Json with_range(Json schema, const Range& range) {
  if (std::isfinite(range.low) && range.low == range.high) {
    schema["const"] = number_json(range.low);
    return schema;
  }
  if (std::isfinite(range.low)) schema[range.low_open ? "exclusiveMinimum" : "minimum"] = number_json(range.low);
  if (std::isfinite(range.high)) schema[range.high_open ? "exclusiveMaximum" : "maximum"] = number_json(range.high);
  return schema;
}

Json words(const std::vector<Choice>& choices) {
  Json names = Json::array();
  for (const Choice& choice : choices) names.push_back(choice.name);
  return {{"enum", names}};
}

std::string with_unit(const Description& parameter) {
  return parameter.unit == "1" ? parameter.doc : parameter.doc + " [" + parameter.unit + "]";
}

class SchemaWriter {
 public:
  explicit SchemaWriter(const FormatDescription& format) : format_(format) {}

  Json whole() const {
    Json schema{{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                {"title", "tribo scene"},
                {"description", "A scene for the MPM simulator tribo. SI units; comments are allowed."}};
    schema.update(object(format_.parameters));
    Json definitions = Json::object();
    for (const DescribedGroup& group : format_.groups) {
      if (is_keyed(group)) definitions[group.name] = keyed(group);
    }
    schema["$defs"] = definitions;
    return schema;
  }

 private:
  Json value(const Description& parameter) const {
    Json schema = shape_of(parameter);
    schema["description"] = with_unit(parameter);
    if (!parameter.fallback.is_null()) schema["default"] = parameter.fallback;
    return schema;
  }

  Json shape_of(const Description& parameter) const {
    switch (parameter.kind) {
      case Kind::number:
        return with_range({{"type", "number"}}, parameter.range);
      case Kind::integer:
        return with_range({{"type", "integer"}}, parameter.range);
      case Kind::flag:
        return {{"type", "boolean"}};
      case Kind::text:
        return {{"type", "string"}};
      case Kind::choice:
        return words(parameter.words);
      case Kind::choices:
        return {{"type", "array"}, {"items", words(parameter.words)}, {"uniqueItems", true}};
      case Kind::vector:
        return {{"type", "array"},
                {"items", with_range({{"type", "number"}}, parameter.range)},
                {"minItems", 2},
                {"maxItems", 3}};
      case Kind::verbatim:
        return {{"type", "object"}};
      case Kind::object:
        return object(parameter.children);
      case Kind::list:
        return {{"type", "array"}, {"items", object(parameter.children)}};
      case Kind::named_list:
        return {{"type", "object"}, {"additionalProperties", named_entry(parameter)}};
      case Kind::one_of:
        return {{"$ref", "#/$defs/" + parameter.group}};
      case Kind::tag:
        break;  // written by object(), which knows what stands beside it
    }
    return Json::object();
  }

  /// An object with these parameters and no others; one form for each alternative of a tag among them.
  Json object(const std::vector<Description>& parameters) const {
    for (const Description& parameter : parameters) {
      if (parameter.kind == Kind::tag) return tagged(parameters, parameter);
    }
    Json properties = Json::object();
    Json required = Json::array();
    add(parameters, properties, required);
    return closed(properties, required);
  }

  static Json closed(const Json& properties, const Json& required) {
    Json schema{{"type", "object"}, {"properties", properties}};
    if (!required.empty()) schema["required"] = required;
    schema["additionalProperties"] = false;
    return schema;
  }

  void add(const std::vector<Description>& parameters, Json& properties, Json& required) const {
    for (const Description& parameter : parameters) {
      if (parameter.kind == Kind::tag) continue;
      properties[parameter.key] = value(parameter);
      if (parameter.required) required.push_back(parameter.key);
    }
  }

  Json tagged(const std::vector<Description>& parameters, const Description& tag) const {
    Json forms = Json::array();
    for (const DescribedAlternative& alternative : format_.group(tag.group).all) {
      Json properties = Json::object();
      Json required = Json::array({tag.key});
      properties[tag.key] = {{"const", alternative.name}, {"description", tag.doc}};
      add(parameters, properties, required);
      add(alternative.parameters, properties, required);
      Json form = closed(properties, required);
      form["title"] = alternative.name;
      form["description"] = alternative.doc;
      forms.push_back(form);
    }
    return {{"oneOf", forms}};
  }

  /// Materials, the only list by name, may also be a preset's name, or a preset with some parameters changed.
  Json named_entry(const Description& parameter) const {
    Json full = object(parameter.children);
    Json changed = Json::array();
    for (Json form : full["oneOf"]) {
      form["properties"]["preset"] = preset_name();
      form["required"] = Json::array({"preset"});
      form["title"] = "preset of " + form["title"].get<std::string>() + " with changes";
      changed.push_back(form);
    }
    return {{"anyOf", Json::array({preset_name(), full, Json{{"anyOf", changed}}})}};
  }

  static Json preset_name() {
    return {{"type", "string"}, {"description", "name of a preset"}, {"examples", preset_names()}};
  }

  bool is_keyed(const DescribedGroup& group) const { return uses_as_key(format_.parameters, group.name); }

  bool uses_as_key(const std::vector<Description>& parameters, const std::string& group) const {
    for (const Description& parameter : parameters) {
      if (parameter.kind == Kind::one_of && parameter.group == group) return true;
      if (uses_as_key(parameter.children, group)) return true;
      if (parameter.kind != Kind::tag) continue;
      for (const DescribedAlternative& alternative : format_.group(parameter.group).all) {
        if (uses_as_key(alternative.parameters, group)) return true;
      }
    }
    return false;
  }

  Json keyed(const DescribedGroup& group) const {
    Json forms = Json::array();
    for (const DescribedAlternative& alternative : group.all) {
      Json inner = object(alternative.parameters);
      for (const Description& parameter : alternative.parameters) {
        if (parameter.key == alternative.shorthand) inner = {{"anyOf", Json::array({value(parameter), inner})}};
      }
      inner["description"] = alternative.doc;
      Json form = closed({{alternative.name, inner}}, Json::array({alternative.name}));
      form["title"] = alternative.name;
      forms.push_back(form);
    }
    return {{"oneOf", forms}};
  }

  const FormatDescription& format_;
};

}  // namespace

std::string scene_schema() {
  Scene scene;
  const FormatDescription format = describe([&](ParamReader& in) { read_format(in, scene); });
  return pretty_json(SchemaWriter(format).whole());
}

}  // namespace tribo

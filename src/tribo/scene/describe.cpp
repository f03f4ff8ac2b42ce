#include "tribo/scene/describe.h"

#include <fmt/format.h>

#include <cmath>

#include <algorithm>
#include <stdexcept>

#include "tribo/scene/json_reader.h"
#include "tribo/scene/suggest.h"

namespace tribo {
namespace {

using Kind = Description::Kind;

class DescribingReader final : public ParamReader {
 public:
  DescribingReader(std::vector<Description>& out, std::vector<DescribedGroup>& groups) : out_(out), groups_(groups) {}

  double number(const char* key, const char* unit, const Range& range, const char* doc,
                std::optional<double> fallback) override {
    Description& d = add(key, Kind::number, doc, !fallback);
    d.unit = unit;
    d.range = range;
    if (fallback && std::isfinite(*fallback)) d.fallback = number_json(*fallback);
    return fallback.value_or(number_in(range));
  }

  std::int64_t integer(const char* key, const Range& range, const char* doc,
                       std::optional<std::int64_t> fallback) override {
    Description& d = add(key, Kind::integer, doc, !fallback);
    d.range = range;
    if (fallback) d.fallback = *fallback;
    return fallback.value_or(static_cast<std::int64_t>(number_in(range)));
  }

  bool flag(const char* key, const char* doc, bool fallback) override {
    add(key, Kind::flag, doc, false).fallback = fallback;
    return fallback;
  }

  std::string text(const char* key, const char* doc, std::optional<std::string> fallback) override {
    Description& d = add(key, Kind::text, doc, !fallback);
    if (fallback && !fallback->empty()) d.fallback = *fallback;
    return fallback.value_or("");
  }

  std::string choice(const char* key, const std::vector<Choice>& allowed, const char* doc,
                     std::optional<std::string> fallback) override {
    Description& d = add(key, Kind::choice, doc, !fallback);
    d.words = allowed;
    if (fallback) d.fallback = *fallback;
    return fallback.value_or(allowed.front().name);
  }

  std::vector<std::string> choices(const char* key, const std::vector<Choice>& allowed, const char* doc) override {
    Description& d = add(key, Kind::choices, doc, false);
    d.words = allowed;
    d.fallback = Json::array();
    return {};
  }

  Vec<double, 3> vector(const char* key, const char* unit, const Range& each, const char* doc,
                        std::optional<Vec<double, 3>> fallback) override {
    Description& d = add(key, Kind::vector, doc, !fallback);
    d.unit = unit;
    d.range = each;
    if (fallback && std::isfinite((*fallback)[0])) {
      for (int i = 0; i < 3; ++i) d.fallback.push_back(number_json((*fallback)[i]));
    }
    return fallback.value_or(Vec<double, 3>::filled(number_in(each)));
  }

  std::string verbatim(const char* key, const char* doc) override {
    add(key, Kind::verbatim, doc, false).fallback = Json::object();
    return "{}";
  }

  bool has(const char* /*key*/) const override { return false; }
  bool describing() const override { return true; }

  void object(const char* key, const char* doc, bool required, const std::function<void(ParamReader&)>& read) override {
    const std::size_t index = out_.size();
    add(key, Kind::object, doc, required);
    std::vector<Description> children;
    DescribingReader inner(children, groups_);
    read(inner);
    out_[index].children = std::move(children);
  }

  bool list(const char* key, const char* doc, bool required,
            const std::function<void(ParamReader&, const std::string&)>& read) override {
    object(key, doc, required, [&](ParamReader& in) { read(in, "0"); });
    out_.back().kind = Kind::list;
    if (!required) out_.back().fallback = Json::array();
    return true;
  }

  bool named_list(const char* key, const char* doc, bool required,
                  const std::function<void(ParamReader&, const std::string&)>& read) override {
    object(key, doc, required, [&](ParamReader& in) { read(in, "NAME"); });
    out_.back().kind = Kind::named_list;
    if (!required) out_.back().fallback = Json::object();
    return true;
  }

  void one_of(const char* key, const Alternatives& alternatives, const char* doc) override {
    add(key, Kind::one_of, doc, alternatives.required).group = alternatives.name;
    add_group(alternatives);
  }

  void tag(const char* key, const Alternatives& alternatives, const char* doc) override {
    add(key, Kind::tag, doc, true).group = alternatives.name;
    add_group(alternatives);
  }

  void complain(const char* /*key*/, const std::string& /*message*/) override {}

 private:
  Description& add(const char* key, Kind kind, const char* doc, bool required) {
    Description& d = out_.emplace_back();
    d.key = key;
    d.kind = kind;
    d.doc = doc;
    d.required = required;
    return d;
  }

  void add_group(const Alternatives& alternatives) {
    for (const DescribedGroup& group : groups_) {
      if (group.name == alternatives.name) return;
    }
    const std::size_t index = groups_.size();  // not a reference: a group met inside this one makes the vector grow
    groups_.push_back({alternatives.name, {}});
    for (const Alternative& alternative : alternatives.all) {
      DescribedAlternative described{
          alternative.name, alternative.doc, alternative.shorthand ? alternative.shorthand : "", {}};
      DescribingReader inner(described.parameters, groups_);
      alternative.read(inner);
      groups_[index].all.push_back(std::move(described));
    }
  }

  std::vector<Description>& out_;
  std::vector<DescribedGroup>& groups_;
};

}  // namespace

const DescribedGroup& FormatDescription::group(const std::string& name) const {
  const auto found =
      std::find_if(groups.begin(), groups.end(), [&](const DescribedGroup& group) { return group.name == name; });
  if (found == groups.end()) throw std::logic_error("no group of alternatives is called " + name);
  return *found;
}

FormatDescription describe(const std::function<void(ParamReader&)>& read) {
  FormatDescription description;
  DescribingReader reader(description.parameters, description.groups);
  read(reader);
  return description;
}

std::string expected_text(const Description& parameter) {
  std::vector<std::string> words;
  for (const Choice& choice : parameter.words) words.emplace_back(choice.name);
  const std::string unit = parameter.unit == "1" ? "" : " [" + parameter.unit + "]";
  switch (parameter.kind) {
    case Kind::number:
      return parameter.range.text() + unit;
    case Kind::integer:
      return parameter.range.text("a whole number");
    case Kind::flag:
      return "true or false";
    case Kind::text:
      return "text";
    case Kind::choice:
      return one_of_text(words);
    case Kind::choices:
      return "a list out of " + quoted_list(words);
    case Kind::vector: {
      const std::string each = parameter.range.text("each");
      return "three numbers" + (each == "each" ? "" : ", " + each + ",") + unit;
    }
    case Kind::verbatim:
    case Kind::object:
      return "an object";
    case Kind::list:
      return "a list of objects";
    case Kind::named_list:
      return "objects by name";
    case Kind::one_of:
      return "an object with one key, one of the " + parameter.group + "s";
    case Kind::tag:
      return "one of the " + parameter.group + "s";
  }
  return "";
}

std::string default_text(const Description& parameter) {
  if (parameter.required) return "required";
  return parameter.fallback.is_null() ? "" : "default " + parameter.fallback.dump();
}

std::string one_line(const Description& parameter) {
  const std::string fallback = default_text(parameter);
  return fmt::format("{}: {}{}{}: {}", parameter.key, expected_text(parameter), fallback.empty() ? "" : ", ", fallback,
                     parameter.doc);
}

}  // namespace tribo

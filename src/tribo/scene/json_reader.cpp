#include "tribo/scene/json_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tribo/scene/suggest.h"

namespace tribo {
namespace {

const Json& empty_object() {
  static const Json empty = Json::object();
  return empty;
}

std::string shown(const Json& value) {
  constexpr std::size_t longest = 40;
  if (value.is_object()) return value.empty() ? "an empty object" : "an object";
  std::string text = value.is_number() ? number_json(value.get<double>()).dump() : value.dump();
  // Integers are shown with all their digits, also where a double would round them.
  if (value.is_number_integer()) text = value.dump();
  if (text.size() <= longest) return text;
  if (value.is_array()) return fmt::format("a list of {} values", value.size());
  if (!value.is_string()) return text.substr(0, longest) + "...";
  std::size_t end = longest;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0u) == 0x80u) --end;  // not inside a character
  return text.substr(0, end) + "...\"";
}

std::vector<std::string> names(const std::vector<Choice>& choices) {
  std::vector<std::string> words;
  for (const Choice& choice : choices) words.emplace_back(choice.name);
  return words;
}

std::vector<std::string> names(const Alternatives& alternatives) {
  std::vector<std::string> words;
  for (const Alternative& alternative : alternatives.all) words.emplace_back(alternative.name);
  return words;
}

const Alternative* find_alternative(const Alternatives& alternatives, const std::string& name) {
  for (const Alternative& alternative : alternatives.all) {
    if (name == alternative.name) return &alternative;
  }
  return nullptr;
}

Json vector_json(const Vec<double, 3>& v) {
  return Json::array({number_json(v[0]), number_json(v[1]), number_json(v[2])});
}

}  // namespace

double number_in(const Range& range) {
  if (range.contains(1)) return 1;
  const bool has_low = std::isfinite(range.low), has_high = std::isfinite(range.high);
  if (has_low && has_high) return 0.5 * range.low + 0.5 * range.high;
  return has_low ? range.low + 1 : range.high - 1;
}

JsonParamReader::JsonParamReader(const Json& value, std::string pointer, const Surroundings& surroundings,
                                 Findings& findings, Json& resolved)
    : value_(&value),
      pointer_(std::move(pointer)),
      surroundings_(surroundings),
      findings_(findings),
      resolved_(resolved) {
  resolved_ = Json::object();
  if (value.is_object()) return;
  expect(false, "", value, pointer_, "an object { ... }");
  value_ = &empty_object();
  muted_ = true;
}

JsonParamReader::JsonParamReader(const JsonParamReader& parent, const Json& value, std::string pointer, Json& resolved)
    : JsonParamReader(value, std::move(pointer), parent.surroundings_, parent.findings_, resolved) {
  muted_ = muted_ || parent.muted_;
}

std::string JsonParamReader::at(const char* key) const {
  return shorthand_ && std::string(shorthand_) == key ? pointer_ : join_pointer(pointer_, key);
}

bool JsonParamReader::has(const char* key) const {
  if (value_->contains(key)) return true;
  left_open_.emplace_back(key);
  return false;
}

const Json* JsonParamReader::find(const char* key, bool required, const std::string& expected) {
  asked_.emplace_back(key);
  const auto found = value_->find(key);
  if (found != value_->end()) return &*found;
  if (required) {
    missing_.emplace_back(key, expected);
    wrong_.emplace_back(key);
  }
  return nullptr;
}

bool JsonParamReader::expect(bool good, const char* key, const Json& value, const std::string& pointer,
                             const std::string& expected, const std::string& hint) {
  if (good) return true;
  wrong_.emplace_back(key);
  if (!muted_ && !is_reported(value)) {
    findings_.add(pointer, "expected " + expected + ", got " + shown(value) + hint);
  }
  return false;
}

bool JsonParamReader::number_at(const char* key, const Json& value, const std::string& pointer, const Range& range,
                                double& result) {
  const double read = value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN();
  if (!expect(range.contains(read), key, value, pointer, range.text())) return false;
  result = read;
  return true;
}

bool JsonParamReader::word_at(const char* key, const Json& value, const std::string& pointer,
                              const std::vector<std::string>& allowed) {
  const std::string word = value.is_string() ? value.get<std::string>() : "";
  const bool known = value.is_string() && std::find(allowed.begin(), allowed.end(), word) != allowed.end();
  return expect(known, key, value, pointer, one_of_text(allowed), did_you_mean(word, allowed));
}

double JsonParamReader::number(const char* key, const char* unit, const Range& range, const char* doc,
                               std::optional<double> fallback) {
  const std::string in_unit = std::string(unit) == "1" ? "" : fmt::format(" [{}]", unit);
  double result = fallback.value_or(number_in(range));
  const Json* value = find(key, !fallback, fmt::format("{}{} ({})", range.text(), in_unit, doc));
  if (value) number_at(key, *value, at(key), range, result);
  resolved_[key] = number_json(result);
  return result;
}

std::int64_t JsonParamReader::integer(const char* key, const Range& range, const char* doc,
                                      std::optional<std::int64_t> fallback) {
  const std::string expected = range.text("a whole number");
  std::int64_t result = fallback.value_or(static_cast<std::int64_t>(number_in(range)));
  if (const Json* value = find(key, !fallback, fmt::format("{} ({})", expected, doc))) {
    // 8.0 and 1e3 are whole numbers too, as in JSON Schema. Unsigned ones are those too large for an int64, unless
    // small enough to compare equal.
    const double read = value->is_number() ? value->get<double>() : std::numeric_limits<double>::quiet_NaN();
    constexpr double limit = 9223372036854775808.0;  // 2^63
    const bool whole = read == std::floor(read) && read >= -limit && read < limit;
    if (expect(whole && range.contains(read), key, *value, at(key), expected)) result = value->get<std::int64_t>();
  }
  resolved_[key] = result;
  return result;
}

bool JsonParamReader::flag(const char* key, const char* /*doc*/, bool fallback) {
  bool result = fallback;
  const Json* value = find(key, false, "");
  if (value && expect(value->is_boolean(), key, *value, at(key), "true or false")) result = value->get<bool>();
  resolved_[key] = result;
  return result;
}

std::string JsonParamReader::text(const char* key, const char* doc, std::optional<std::string> fallback) {
  std::string result = fallback.value_or("");
  const Json* value = find(key, !fallback, fmt::format("a text in quotes ({})", doc));
  if (value && expect(value->is_string(), key, *value, at(key), "a text in quotes")) result = value->get<std::string>();
  resolved_[key] = result;
  return result;
}

std::string JsonParamReader::choice(const char* key, const std::vector<Choice>& allowed, const char* doc,
                                    std::optional<std::string> fallback) {
  const std::vector<std::string> words = names(allowed);
  std::string result = fallback.value_or(words.front());
  const Json* value = find(key, !fallback, fmt::format("{} ({})", one_of_text(words), doc));
  if (value && word_at(key, *value, at(key), words)) result = value->get<std::string>();
  resolved_[key] = result;
  return result;
}

std::vector<std::string> JsonParamReader::choices(const char* key, const std::vector<Choice>& allowed,
                                                  const char* /*doc*/) {
  const std::vector<std::string> words = names(allowed);
  std::vector<std::string> result;
  const Json* value = find(key, false, "");
  if (value && expect(value->is_array(), key, *value, at(key), "a list of words")) {
    for (std::size_t i = 0; i < value->size(); ++i) {
      const Json& item = (*value)[i];
      const std::string place = join_pointer(at(key), std::to_string(i));
      if (!word_at(key, item, place, words)) continue;
      const std::string word = item.get<std::string>();
      if (std::find(result.begin(), result.end(), word) == result.end()) {
        result.push_back(word);
      } else if (!muted_) {
        findings_.add(place, fmt::format("\"{}\" is already in the list", word));
      }
    }
  }
  resolved_[key] = result;
  return result;
}

Vec<double, 3> JsonParamReader::vector(const char* key, const char* unit, const Range& each, const char* doc,
                                       std::optional<Vec<double, 3>> fallback) {
  Vec<double, 3> result = fallback.value_or(Vec<double, 3>::filled(number_in(each)));
  const char* expected = surroundings_.dimension == 2 ? "two numbers [x, y]" : "three numbers [x, y, z]";
  const std::string in_unit = std::string(unit) == "1" ? "" : fmt::format(" in {}", unit);
  if (const Json* value = find(key, !fallback, fmt::format("{}{} ({})", expected, in_unit, doc))) {
    const bool fits = value->is_array() && (value->size() == 3 || (surroundings_.dimension == 2 && value->size() == 2));
    if (expect(fits, key, *value, at(key), expected)) {
      if (value->size() == 2) result[2] = 0;
      for (std::size_t i = 0; i < value->size(); ++i) {
        number_at(key, (*value)[i], join_pointer(at(key), std::to_string(i)), each, result[static_cast<int>(i)]);
      }
    }
  }
  resolved_[key] = vector_json(result);
  // Two numbers stay two: a box of the plane has no third edge that could be more than 0.
  if (const auto given = value_->find(key); given != value_->end() && given->is_array() && given->size() == 2)
    resolved_[key].erase(2);
  return result;
}

std::string JsonParamReader::verbatim(const char* key, const char* /*doc*/) {
  const Json* value = find(key, false, "");
  resolved_[key] =
      value && expect(value->is_object(), key, *value, at(key), "an object { ... }") ? *value : Json::object();
  return resolved_[key].dump();
}

void JsonParamReader::object(const char* key, const char* doc, bool required,
                             const std::function<void(ParamReader&)>& read) {
  const Json* value = find(key, required, fmt::format("an object {{ ... }} ({})", doc));
  JsonParamReader inner(*this, value ? *value : empty_object(), at(key), resolved_[key]);
  if (!value && required) inner.muted_ = true;
  read(inner);
  inner.finish();
}

bool JsonParamReader::items(const char* key, const char* doc, bool required, bool named,
                            const std::function<void(ParamReader&, const std::string&)>& read) {
  const std::string expected = named ? "objects by name { \"name\": { ... } }" : "a list of objects [ ... ]";
  const Json* value = find(key, required, fmt::format("{} ({})", expected, doc));
  Json& resolved = resolved_[key] = named ? Json::object() : Json::array();
  if (!value) return !required;
  if (!expect(named ? value->is_object() : value->is_array(), key, *value, at(key), expected)) return false;
  for (const auto& item : value->items()) {
    Json& entry = named ? resolved[item.key()] : resolved.emplace_back();
    JsonParamReader inner(*this, item.value(), join_pointer(at(key), item.key()), entry);
    read(inner, item.key());
    inner.finish();
  }
  return true;
}

bool JsonParamReader::list(const char* key, const char* doc, bool required,
                           const std::function<void(ParamReader&, const std::string&)>& read) {
  return items(key, doc, required, false, read);
}

bool JsonParamReader::named_list(const char* key, const char* doc, bool required,
                                 const std::function<void(ParamReader&, const std::string&)>& read) {
  return items(key, doc, required, true, read);
}

void JsonParamReader::one_of(const char* key, const Alternatives& alternatives, const char* doc) {
  const std::vector<std::string> words = names(alternatives);
  const std::string expected = "an object with one key out of " + quoted_list(words);
  const Json* value = find(key, alternatives.required, fmt::format("{} ({})", expected, doc));
  if (!value && !alternatives.required) return;
  Json& resolved = resolved_[key] = Json::object();
  const Alternative* chosen = nullptr;
  if (value && expect(value->is_object() && value->size() == 1, key, *value, at(key), expected)) {
    const std::string name = value->begin().key();
    chosen = find_alternative(alternatives, name);
    if (!chosen && !muted_) {
      findings_.add_at_key(join_pointer(at(key), name), fmt::format("unknown {}; expected {}{}", alternatives.name,
                                                                    one_of_text(words), did_you_mean(name, words)));
    }
  }
  if (!chosen) return;

  const Json& given = *value->begin();
  const bool bare = chosen->shorthand && !given.is_object() && !is_reported(given);
  Json spelled_out = Json::object();
  if (bare) spelled_out[chosen->shorthand] = given;
  JsonParamReader inner(*this, bare ? spelled_out : given, join_pointer(at(key), chosen->name), resolved[chosen->name]);
  if (bare) inner.shorthand_ = chosen->shorthand;
  chosen->read(inner);
  inner.finish();
}

void JsonParamReader::tag(const char* key, const Alternatives& alternatives, const char* doc) {
  const std::vector<std::string> words = names(alternatives);
  const Json* value = find(key, true, fmt::format("{} ({})", one_of_text(words), doc));
  if (!value || !word_at(key, *value, at(key), words)) {
    keys_known_ = false;
    return;
  }
  const Alternative* chosen = find_alternative(alternatives, value->get<std::string>());
  resolved_[key] = chosen->name;
  chosen->read(*this);
}

void JsonParamReader::complain(const char* key, const std::string& message) {
  if (!muted_ && std::find(wrong_.begin(), wrong_.end(), key) == wrong_.end()) findings_.add(at(key), message);
}

void JsonParamReader::finish() {
  if (muted_) return;
  std::vector<std::string> known = asked_;
  for (const std::string& key : left_open_)
    if (std::find(known.begin(), known.end(), key) == known.end()) known.push_back(key);
  for (const auto& item : value_->items()) {
    const std::string& key = item.key();
    if (std::find(asked_.begin(), asked_.end(), key) != asked_.end()) continue;
    const std::string meant = nearest_word(key, known);
    const auto replaces = [&](const auto& missing) { return missing.first == meant; };
    const auto misspelled = std::find_if(missing_.begin(), missing_.end(), replaces);
    if (misspelled != missing_.end()) {
      missing_.erase(misspelled);  // one mistake, not two
    } else if (!keys_known_) {
      continue;
    }
    std::string hint = did_you_mean(key, known);
    if (hint.empty()) hint = known.empty() ? "; none are expected here" : "; expected " + one_of_text(known);
    findings_.add_at_key(join_pointer(pointer_, key), "unknown key" + hint);
  }
  for (const auto& [key, expected] : missing_) {
    findings_.add(at(key.c_str()), "required key is missing; expected " + expected);
  }
}

std::string read_params(const std::string& json, const std::function<void(ParamReader&)>& read) {
  Document document = parse_json(json, "");
  Findings findings(document.places, std::move(document.findings));
  Json resolved;
  const Surroundings surroundings;
  JsonParamReader reader(document.root, "", surroundings, findings, resolved);
  read(reader);
  reader.finish();
  findings.throw_if_any();
  return pretty_json(resolved);
}

}  // namespace tribo

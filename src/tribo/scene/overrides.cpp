#include "tribo/scene/overrides.h"

#include <fmt/format.h>

#include <charconv>

namespace tribo {
namespace {

/// The value that `step` leads to, made if need be; null, with a reason, when there is no such way.
Json* descend(Json& from, const std::string& step, const std::string& pointer, std::string& reason) {
  const std::string here = pointer.empty() ? "the scene" : "`" + pointer + "`";
  if (from.is_object()) return &from[step];
  if (!from.is_array()) {
    reason = fmt::format("{} has nothing inside that could be set", here);
    return nullptr;
  }
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(step.data(), step.data() + step.size(), index);
  if (error != std::errc() || end != step.data() + step.size()) {
    reason = fmt::format("{} is a list, in which `{}` is no index", here, step);
    return nullptr;
  }
  if (index >= from.size()) {
    reason = from.empty() ? here + " is an empty list"
                          : fmt::format("{} is a list whose last index is {}", here, from.size() - 1);
    return nullptr;
  }
  return &from[index];
}

}  // namespace

Change change_by_flag(const char* flag, const Override& override, Findings& findings) {
  Change change{
      override.pointer, reported_value(), {fmt::format("{} {}={}", flag, override.pointer, override.value), 0, 0}};
  if (find_invalid_utf8(override.value) != std::string::npos) {
    findings.add({change.place.file, 0, 0, override.pointer, "the value is not UTF-8"});
    return change;
  }
  try {
    Document document = parse_json(override.value, change.place.file);
    for (const Finding& finding : document.findings) {
      findings.add({change.place.file, 0, 0, override.pointer + finding.pointer, finding.message});
    }
    change.value = std::move(document.root);
  } catch (const SceneError&) {
    change.value = override.value;
  }
  return change;
}

void apply_change(const Change& change, Document& document, Findings& findings) {
  Json* target = &document.root;
  std::string pointer, reason;
  for (const std::string& step : split_pointer(change.pointer)) {
    if (target->is_null()) *target = Json::object();  // added by the step before
    target = descend(*target, step, pointer, reason);
    if (!target) {
      findings.add({change.place.file, change.place.line, change.place.column, "", reason});
      return;
    }
    pointer = join_pointer(pointer, step);
    if (target->is_null()) document.places.replace(pointer, change.place);
  }
  *target = change.value;
  document.places.replace(pointer, change.place);
}

void apply_overrides(const std::vector<Override>& overrides, Document& document, Findings& findings) {
  for (const Override& override : overrides) {
    if (find_invalid_utf8(override.pointer) != std::string::npos) {
      findings.add({"--set", 0, 0, "", "the pointer is not UTF-8"});
      continue;
    }
    apply_change(change_by_flag("--set", override, findings), document, findings);
  }
}

}  // namespace tribo

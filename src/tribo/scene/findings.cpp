#include "tribo/scene/findings.h"

#include <algorithm>
#include <tuple>

namespace tribo {
namespace {

Finding at(const Place& place, const std::string& pointer, const std::string& message) {
  return {place.file, place.line, place.column, pointer, message};
}

bool contains(const std::string& outer, const std::string& inner) {
  return inner.starts_with(outer) && (inner.size() == outer.size() || inner[outer.size()] == '/');
}

}  // namespace

Findings::Findings(const Places& places, std::vector<Finding> first) : places_(places), all_(std::move(first)) {}

void Findings::add(const std::string& pointer, const std::string& message) {
  all_.push_back(at(places_.value(pointer), pointer, message));
}

void Findings::add_at_key(const std::string& pointer, const std::string& message) {
  all_.push_back(at(places_.key(pointer), pointer, message));
}

bool Findings::clean(const std::string& pointer) const {
  return std::none_of(all_.begin(), all_.end(), [&](const Finding& finding) {
    return contains(finding.pointer, pointer) || contains(pointer, finding.pointer);
  });
}

void Findings::throw_if_any() {
  if (all_.empty()) return;
  std::stable_sort(all_.begin(), all_.end(), [](const Finding& a, const Finding& b) {
    return std::tie(a.line, a.column) < std::tie(b.line, b.column);
  });
  throw SceneError(std::move(all_));
}

}  // namespace tribo

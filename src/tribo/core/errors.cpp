#include "tribo/core/errors.h"

#include <fmt/format.h>

namespace tribo {
namespace {

std::string summary(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& finding : findings) text += finding.text() + "\n";
  const std::size_t n = findings.size();
  return text + std::to_string(n) + (n == 1 ? " error" : " errors") + "; nothing was done";
}

}  // namespace

std::string Finding::text() const {
  const std::string place = line > 0 ? fmt::format("{}:{}:{}", file, line, column) : file;
  return pointer.empty() ? fmt::format("{}: {}", place, message) : fmt::format("{}  {}: {}", place, pointer, message);
}

SceneError::SceneError(std::vector<Finding> findings)
    : Error(ExitCode::bad_input, summary(findings)), findings_(std::move(findings)) {}

}  // namespace tribo

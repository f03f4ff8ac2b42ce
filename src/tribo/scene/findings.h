#pragma once

#include <string>
#include <vector>

#include "tribo/core/errors.h"
#include "tribo/scene/json_document.h"

namespace tribo {

/// Collects the mistakes of one document, each with its place.
class Findings {
 public:
  /// `places` may still change; what counts is where things are when a finding is added.
  explicit Findings(const Places& places, std::vector<Finding> first = {});

  void add(const std::string& pointer, const std::string& message);         ///< at the value
  void add_at_key(const std::string& pointer, const std::string& message);  ///< at the key
  void add(Finding finding) { all_.push_back(std::move(finding)); }

  std::size_t size() const { return all_.size(); }
  /// Nothing was found wrong with the value at `pointer`, anything inside it, or anything around it.
  bool clean(const std::string& pointer) const;
  /// Throws SceneError with everything found, in the order of the file; returns when there is nothing.
  void throw_if_any();

 private:
  const Places& places_;
  std::vector<Finding> all_;
};

}  // namespace tribo

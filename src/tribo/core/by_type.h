#pragma once

#include <any>
#include <map>
#include <typeindex>
#include <utility>

namespace tribo {

/// One value of each of any types, found by its type: what rooms of matter hand on without those between them knowing
/// it.
class ByType {
 public:
  ByType() = default;

  /// Made where there is none yet.
  template <class T>
  T& of() {
    std::any& value = values_[typeid(T)];
    if (!value.has_value()) value.emplace<T>();
    return *std::any_cast<T>(&value);
  }
  /// Where there is none, one as it is made.
  template <class T>
  const T& of() const {
    static const T none{};
    const auto found = values_.find(typeid(T));
    return found == values_.end() ? none : *std::any_cast<T>(&found->second);
  }

 private:
  std::map<std::type_index, std::any> values_;
};

}  // namespace tribo

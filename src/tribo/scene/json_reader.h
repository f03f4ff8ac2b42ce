#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tribo/core/params.h"
#include "tribo/scene/findings.h"
#include "tribo/scene/json_document.h"

namespace tribo {

/// What reading depends on besides the object that is read.
struct Surroundings {
  int dimension = 3;
  std::string directory;    ///< where relative paths begin
  double grid_spacing = 0;  ///< 0 when it is not known [m]
};

/// Reads parameters from one JSON object: checks them, notes what is wrong, and writes down the resolved object with
/// every default filled in and every shorthand spelled out, in the order the parameters are asked for.
class JsonParamReader final : public ParamReader {
 public:
  /// Reads `value`, which stands at `pointer`. What is no object is a finding, unless it is a reported
  /// value; either way reading goes on without further findings. `surroundings` must outlive the reader.
  JsonParamReader(const Json& value, std::string pointer, const Surroundings& surroundings, Findings& findings,
                  Json& resolved);

  double number(const char* key, const char* unit, const Range& range, const char* doc,
                std::optional<double> fallback) override;
  std::int64_t integer(const char* key, const Range& range, const char* doc,
                       std::optional<std::int64_t> fallback) override;
  bool flag(const char* key, const char* doc, bool fallback) override;
  std::string text(const char* key, const char* doc, std::optional<std::string> fallback) override;
  std::string choice(const char* key, const std::vector<Choice>& allowed, const char* doc,
                     std::optional<std::string> fallback) override;
  std::vector<std::string> choices(const char* key, const std::vector<Choice>& allowed, const char* doc) override;
  Vec<double, 3> vector(const char* key, const char* unit, const Range& each, const char* doc,
                        std::optional<Vec<double, 3>> fallback) override;
  std::string verbatim(const char* key, const char* doc) override;
  std::string directory() const override { return surroundings_.directory; }
  double grid_spacing() const override { return surroundings_.grid_spacing; }
  bool has(const char* key) const override;
  bool describing() const override { return false; }
  void object(const char* key, const char* doc, bool required, const std::function<void(ParamReader&)>& read) override;
  bool list(const char* key, const char* doc, bool required,
            const std::function<void(ParamReader&, const std::string&)>& read) override;
  bool named_list(const char* key, const char* doc, bool required,
                  const std::function<void(ParamReader&, const std::string&)>& read) override;
  void one_of(const char* key, const Alternatives& alternatives, const char* doc) override;
  void tag(const char* key, const Alternatives& alternatives, const char* doc) override;
  void complain(const char* key, const std::string& message) override;

  /// Reports keys that are missing, and those that nobody asked for. To be called once, when everything has been read.
  void finish();

 private:
  JsonParamReader(const JsonParamReader& parent, const Json& value, std::string pointer, Json& resolved);
  /// A null pointer for a key that is absent, which is a finding when it is required.
  const Json* find(const char* key, bool required, const std::string& expected);
  /// Passes on whether the value of `key`, or the part of it at `pointer`, is good, and notes a finding when not.
  bool expect(bool good, const char* key, const Json& value, const std::string& pointer, const std::string& expected,
              const std::string& hint = "");
  bool number_at(const char* key, const Json& value, const std::string& pointer, const Range& range, double& result);
  bool word_at(const char* key, const Json& value, const std::string& pointer, const std::vector<std::string>& allowed);
  bool items(const char* key, const char* doc, bool required, bool named,
             const std::function<void(ParamReader&, const std::string&)>& read);
  std::string at(const char* key) const;

  const Json* value_;  ///< always an object
  std::string pointer_;
  const Surroundings& surroundings_;
  Findings& findings_;
  Json& resolved_;
  const char* shorthand_ = nullptr;  ///< the parameter that was given bare, at pointer_ itself
  bool muted_ = false;               ///< what is read here is known to be wrong as a whole
  bool keys_known_ = true;           ///< false when a wrong tag leaves open what else belongs here
  std::vector<std::string> asked_;
  mutable std::vector<std::string> left_open_;  ///< keys asked about that are absent: what else could have been meant
  std::vector<std::pair<std::string, std::string>> missing_;  ///< keys, and what was expected
  std::vector<std::string> wrong_;                            ///< keys whose values are not what the user gave
};

/// Some number of the range, near 1 where that is possible.
double number_in(const Range& range);

/// Reads a law, a shape or anything else that asks for parameters from the text of a JSON object. Throws SceneError
/// with every mistake. Answers the resolved object.
std::string read_params(const std::string& json, const std::function<void(ParamReader&)>& read);

}  // namespace tribo

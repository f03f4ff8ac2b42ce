#pragma once

#include <string>
#include <vector>

#include "tribo/core/params.h"
#include "tribo/scene/json_document.h"

namespace tribo {

/// What one parameter is: what a call of ParamReader says about it, kept.
struct Description {
  enum class Kind {
    number,
    integer,
    flag,
    text,
    choice,
    choices,
    vector,
    verbatim,
    object,
    list,
    named_list,
    one_of,
    tag
  };
  std::string key;
  Kind kind = Kind::number;
  std::string doc;
  bool required = false;
  Json fallback;                      ///< null when required, or when the default depends on the rest of the scene
  std::string unit = "1";             ///< numbers and vectors
  Range range;                        ///< numbers, and each component of a vector
  std::vector<Choice> words;          ///< choices
  std::vector<Description> children;  ///< object, list, named_list: of the object or of one entry
  std::string group;                  ///< one_of, tag: the Alternatives they are among
};

struct DescribedAlternative {
  std::string name;
  std::string doc;
  std::string shorthand;                ///< empty when there is none
  std::vector<Description> parameters;  ///< after a tag: those beside it
};

/// Alternatives, described once however often they are used: so they may contain each other.
struct DescribedGroup {
  std::string name;
  std::vector<DescribedAlternative> all;
};

struct FormatDescription {
  std::vector<Description> parameters;
  std::vector<DescribedGroup> groups;  ///< in order of first use

  const DescribedGroup& group(const std::string& name) const;
};

/// Runs `read` without input, and notes what it asks for.
FormatDescription describe(const std::function<void(ParamReader&)>& read);

/// "a number > 0 [m]", "three numbers [m/s]", "one of "slip", "sticky""
std::string expected_text(const Description& parameter);

/// "required", or "default 0.6", or "" when the default depends on the rest of the scene.
std::string default_text(const Description& parameter);

/// All on one line: "dx: a number > 0 [m], required: grid spacing".
std::string one_line(const Description& parameter);

}  // namespace tribo

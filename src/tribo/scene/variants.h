#pragma once

#include <string>
#include <vector>

#include "tribo/scene/reader.h"

namespace tribo {

/// One of the forms of a scene that are compared with each other: a whole scene of its own, without variants.
struct Variant {
  std::string name;
  std::string folder;  ///< the name as that of a file; no other variant has it
  Scene scene;
};

/// A value of a scene and what it is to be in turn: the command line's `/json/pointer=a,b,c`.
struct Varied {
  std::string pointer;
  std::vector<std::string> values;  ///< each JSON, or a bare word taken as a string; at least one
};

/// Splits "/json/pointer=a,b,c" at the commas outside of brackets and quotes; throws SceneError when it has not that
/// form.
Varied parse_varied(const std::string& text);

/// The variants that a scene names under `variants`, in their order; with `varied`, all combinations of those values
/// instead. `overrides` are applied first. Throws SceneError with every mistake of the scene itself or, when it has
/// none, of all variants; an empty list when there is nothing to compare.
std::vector<Variant> read_variants(const std::string& path, const std::vector<Override>& overrides = {},
                                   const std::vector<Varied>& varied = {});

/// The same from text already in memory.
std::vector<Variant> parse_variants(const std::string& text, const std::string& file,
                                    const std::vector<Override>& overrides = {},
                                    const std::vector<Varied>& varied = {});

}  // namespace tribo

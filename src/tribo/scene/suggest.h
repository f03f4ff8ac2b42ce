#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace tribo {

/// Fewest insertions, deletions, replacements and swaps of neighbors that turn one word into the other, regardless of
/// case (the optimal string alignment distance).
std::size_t edit_distance(const std::string& a, const std::string& b);

/// The candidate that `word` was probably meant to be; empty when none is near.
std::string nearest_word(const std::string& word, const std::vector<std::string>& candidates);

/// `; did you mean "X"?`, or nothing when no candidate is near.
std::string did_you_mean(const std::string& word, const std::vector<std::string>& candidates);

/// `"a", "b", "c"`
std::string quoted_list(const std::vector<std::string>& words);

/// `one of "a", "b"`; `"a"` when there is no choice.
std::string one_of_text(const std::vector<std::string>& words);

}  // namespace tribo

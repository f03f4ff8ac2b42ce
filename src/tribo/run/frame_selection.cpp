#include "tribo/run/frame_selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "tribo/core/errors.h"

namespace tribo {
namespace {

/// A whole number at least 0 that takes up all of the text; -1 when it is none.
int parse_number(const std::string& text) {
  int number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && number >= 0 ? number : -1;
}

}  // namespace

std::vector<int> select_frames(const RunDirectory& run, const std::string& text) {
  const std::vector<int> present = run.frames();
  if (present.empty()) throw IoError(run.path() + ": holds no frames yet; simulate first with 'tribo run'");
  if (text.empty()) return present;
  const auto fail = [&](const std::string& what) {
    return Error(ExitCode::bad_input, fmt::format("{}: {}; {} has the frames {} to {}", text, what, run.path(),
                                                  present.front(), present.back()));
  };
  const std::size_t colon = text.find(':');
  const std::string first = text.substr(0, colon);
  const std::string last = colon == std::string::npos ? first : text.substr(colon + 1);
  const int low = first.empty() ? present.front() : parse_number(first);
  const int high = last.empty() ? present.back() : parse_number(last);
  if (low < 0 || high < 0) throw fail("expected a frame such as 12, or a range such as 3:10");
  if (low > high) throw fail("expected the first frame of a range to be no later than its last");
  for (const int end : {low, high})
    if (!std::binary_search(present.begin(), present.end(), end)) throw fail(fmt::format("there is no frame {}", end));
  std::vector<int> chosen;
  for (int frame = low; frame <= high; ++frame) {
    if (!std::binary_search(present.begin(), present.end(), frame))
      throw IoError(fmt::format("{} is missing; simulate it again with 'tribo run {} --resume --from {}'",
                                run.frame_path(frame), run.path(), std::max(frame - 1, 0)));
    chosen.push_back(frame);
  }
  return chosen;
}

}  // namespace tribo

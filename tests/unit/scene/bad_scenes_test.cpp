#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "tribo/core/errors.h"
#include "tribo/io/file.h"
#include "tribo/io/writer.h"
#include "tribo/scene/reader.h"
#include "tribo/scene/suggest.h"

namespace tribo {
namespace {

namespace fs = std::filesystem;

fs::path folder() { return fs::path(TRIBO_TEST_DIR) / "unit" / "scene" / "bad"; }

std::vector<std::string> bad_scenes() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder())) {
    if (entry.path().extension() == ".json") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// `{models}` in an expected message stands for the names of all models, and so on for everything that has a list, so
/// that a new law does not change what is expected of the messages. `{one of models}` has the words before it. A scene
/// may name formats that this build cannot write, which `list_entries` leaves out.
std::string with_lists(std::string text) {
  for (const std::string& kind : list_kinds()) {
    std::vector<std::string> names;
    if (kind == "writers") {
      for (const WriterEntry& writer : all_writers()) names.emplace_back(writer.name);
    } else {
      for (const ListEntry& entry : list_entries(kind)) names.push_back(entry.name);
    }
    const std::pair<std::string, std::string> replacements[] = {{"{one of " + kind + "}", one_of_text(names)},
                                                                {"{" + kind + "}", quoted_list(names)}};
    for (const auto& [from, to] : replacements) {
      for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from)) {
        text.replace(at, from.size(), to);
      }
    }
  }
  return text;
}

class BadScene : public testing::TestWithParam<std::string> {};

TEST_P(BadScene, ReportsEveryMistake) {
  const std::string file = GetParam() + ".json";
  const std::string text = read_text((folder() / file).string());
  const std::string expected = with_lists(read_text((folder() / (GetParam() + ".expected")).string()));
  try {
    parse_scene(text, file);
    FAIL() << file << " was accepted";
  } catch (const SceneError& error) {
    std::string messages;
    for (const Finding& finding : error.findings()) messages += finding.text() + "\n";
    EXPECT_EQ(messages, expected);
    EXPECT_EQ(error.code(), ExitCode::bad_input);
  }
}

INSTANTIATE_TEST_SUITE_P(Files, BadScene, testing::ValuesIn(bad_scenes()),
                         [](const testing::TestParamInfo<std::string>& test) { return test.param; });

}  // namespace
}  // namespace tribo

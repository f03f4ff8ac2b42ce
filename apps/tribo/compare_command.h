#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "scene_flags.h"

namespace tribo {

/// Runs the variants of a scene, each in a directory of its own, and shows them side by side in a table and a plot.
/// What a variant has already simulated is kept, so that the command may be stopped and given again.
struct CompareCommand {
  SceneFlags flags;
  std::vector<std::string> varied;
  std::optional<std::string> directory;
  std::string plot;
  std::optional<int> frames;
  bool overwrite = false;
  bool quiet = false;

  void add_to(CLI::App& app);
  int operator()() const;
};

}  // namespace tribo

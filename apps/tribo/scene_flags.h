#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "tribo/simulation.h"

namespace tribo {

/// Flags that say how a scene is read and run; shared by `run`, `check` and `compare`.
struct SceneFlags {
  std::string scene;
  std::vector<std::string> sets;
  std::string device = "cpu";
  std::string precision;
  int threads = 0;
  std::string isa;

  void add_to(CLI::App& app) {
    app.add_option("scene", scene, "scene file, or a run directory to use its resolved scene")->required();
    app.add_option("--set", sets, "override a value: /json/pointer=value (repeatable)")->allow_extra_args(false);
    app.add_option("--device", device, "cpu or cuda")->check(CLI::IsMember({"cpu", "cuda"}))->capture_default_str();
    app.add_option("--precision", precision, "float or double; the scene decides when not given")
        ->check(CLI::IsMember({"float", "double"}));
    app.add_option("--threads", threads, "CPU threads; 0 takes all")->check(CLI::Range(0, 4096))->capture_default_str();
    app.add_option("--isa", isa,
                   "CPU instruction set (" + fmt::format("{}", fmt::join(available_isas(), ", ")) +
                       "); the best one when not given")
        ->check(CLI::IsMember(available_isas()));
  }
  std::vector<Override> overrides() const {
    std::vector<Override> all;
    for (const std::string& set : sets) all.push_back(parse_override(set));
    if (!precision.empty()) all.push_back({"/precision", "\"" + precision + "\""});
    return all;
  }
  bool is_run_directory() const {
    std::error_code unreadable;  // reported when the scene is read
    return std::filesystem::is_directory(scene, unreadable);
  }
  std::string scene_path() const {
    return is_run_directory() ? (std::filesystem::path(scene) / "scene.json").string() : scene;
  }
  SimulationOptions simulation_options() const { return {device, threads, isa, {}}; }
};

}  // namespace tribo

#include "stats_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>

#include "tribo/core/errors.h"
#include "tribo/io/run_directory.h"
#include "tribo/plot/statistics_plot.h"
#include "tribo/plot/write_plot.h"
#include "tribo/run/statistics.h"

namespace tribo {
namespace {

/// A number that was not finite is null in JSON.
double number(const nlohmann::json& value) { return value.is_null() ? NAN : value.get<double>(); }

/// Throws json::exception when something is missing or of the wrong kind.
void check(const nlohmann::json& line) {
  for (const char* key : {"frame", "substeps"}) line.at(key).get<std::int64_t>();
  for (const char* key : {"time", "dt_min", "wall_s"}) number(line.at(key));
  for (const char* key : {"dt_limit", "state_hash"}) line.at(key).get_ref<const std::string&>();
  for (const char* key : {"kinetic", "elastic", "gravity"}) number(line.at("energy").at(key));
  for (const auto& [name, seconds] : line.at("stages").items()) number(seconds);
}

void check_all(const std::vector<std::string>& lines, const std::string& directory) {
  std::size_t line_number = 0;
  try {
    for (const std::string& line : lines) {
      ++line_number;
      check(nlohmann::json::parse(line));
    }
  } catch (const nlohmann::json::exception&) {
    throw IoError(fmt::format("{}/stats.jsonl:{} is damaged: restore it from a copy or simulate the run again",
                              directory, line_number));
  }
}

nlohmann::json read_scene_json(const RunDirectory& run) {
  auto scene = nlohmann::json::parse(run.read_scene(), nullptr, false);
  if (!scene.is_object()) throw IoError(run.scene_path() + " is damaged: not a JSON object (restore it)");
  return scene;
}

int check_expectations(const RunDirectory& run, const std::vector<std::string>& lines) {
  const nlohmann::json scene = read_scene_json(run);
  const std::vector<std::string> unmet =
      unmet_expectations(scene.value("expect", nlohmann::json::object()).dump(), lines);
  for (const std::string& sentence : unmet) fmt::print(stderr, "{}\n", sentence);
  fmt::print("{} expectations unmet over {} frames\n", unmet.size(), lines.size());
  return unmet.empty() ? 0 : 1;
}

void write_statistics_plot(const RunDirectory& run, const std::vector<std::string>& lines, const std::string& path) {
  const nlohmann::json scene = read_scene_json(run);
  const auto name = scene.find("name");
  write_plot(path, plot_statistics(lines, name != scene.end() && name->is_string() ? name->get<std::string>() : ""));
  fmt::print("{}\n", path);
}

void print_table(const std::vector<std::string>& lines) {
  fmt::print("{:>6}{:>10}{:>8}{:>11}{:>10}{:>13}{:>13}{:>13}{:>10}  {}\n", "frame", "time s", "steps", "dt min s",
             "limit", "kinetic J", "elastic J", "gravity J", "wall s", "state");
  std::vector<std::pair<std::string, double>> stages;
  double wall = 0;
  for (const std::string& text : lines) {
    const auto line = nlohmann::json::parse(text);
    const auto& energy = line.at("energy");
    fmt::print("{:>6}{:>10.4f}{:>8}{:>11.2e}{:>10}{:>13.5g}{:>13.5g}{:>13.5g}{:>10.3f}  {}\n",
               line.at("frame").get<std::int64_t>(), number(line.at("time")), line.at("substeps").get<std::int64_t>(),
               number(line.at("dt_min")), line.at("dt_limit").get<std::string>(), number(energy.at("kinetic")),
               number(energy.at("elastic")), number(energy.at("gravity")), number(line.at("wall_s")),
               line.at("state_hash").get<std::string>());
    wall += number(line.at("wall_s"));
    for (const auto& item : line.at("stages").items()) {
      const auto same = [&](const auto& stage) { return stage.first == item.key(); };
      const auto it = std::find_if(stages.begin(), stages.end(), same);
      if (it == stages.end()) {
        stages.emplace_back(item.key(), number(item.value()));
      } else {
        it->second += number(item.value());
      }
    }
  }
  fmt::print("\n{:.2f} s in all:", wall);
  for (const auto& [name, seconds] : stages) fmt::print("  {} {:.0f}%", name, 100 * seconds / wall);
  fmt::print("\n");
}

}  // namespace

void StatsCommand::add_to(CLI::App& app) {
  const auto plot_name = [](const std::string& path) {
    return is_plot_name(path) ? std::string() : "expected a name that ends in .svg or .png, got " + path;
  };
  app.add_option("directory", directory, "run directory")->required();
  auto* json_flag = app.add_flag("--json", json, "print the statistics as a JSON array");
  auto* expect_flag = app.add_flag("--expect", expect, "check the scene's expect block; exit 1 when it is not met");
  app.add_option("--plot", plot, "draw them into this file, .svg or .png (by rsvg-convert or ffmpeg)")
      ->check(CLI::Validator(plot_name, "FILE"))
      ->excludes(json_flag)
      ->excludes(expect_flag);
}

int StatsCommand::operator()() const {
  const RunDirectory run(directory, RunDirectory::Mode::read);
  const std::vector<std::string> lines = run.read_stats();
  if (lines.empty()) throw IoError(directory + ": holds no statistics yet; run the scene first");
  check_all(lines, directory);
  if (expect) return check_expectations(run, lines);
  if (!plot.empty()) {
    write_statistics_plot(run, lines, plot);
  } else if (json) {
    fmt::print("[\n{}\n]\n", fmt::join(lines, ",\n"));
  } else {
    print_table(lines);
  }
  return 0;
}

}  // namespace tribo

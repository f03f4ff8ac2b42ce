#include "compare_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "interrupt.h"
#include "progress.h"
#include "tribo/core/errors.h"
#include "tribo/io/file.h"
#include "tribo/io/run_directory.h"
#include "tribo/plot/comparison_plot.h"
#include "tribo/plot/write_plot.h"
#include "tribo/run/runner.h"
#include "tribo/scene/variants.h"

namespace tribo {
namespace {

/// A variant and the run that is made, or already there, of it.
struct Plan {
  Variant variant;
  std::string directory;
  int frames = 0;  ///< to simulate
  enum class What { begin, replace, go_on, keep } what = What::begin;
};

/// Frames that the statistics of a run tell of; -1 for none.
int frames_done(const RunDirectory& run) {
  const std::vector<std::string> lines = run.read_stats();
  const auto last = lines.empty() ? nlohmann::json() : nlohmann::json::parse(lines.back(), nullptr, false);
  return last.is_object() && last.contains("frame") && last["frame"].is_number_integer() ? last["frame"].get<int>()
                                                                                         : -1;
}

/// What is to be done for a variant. A run of another scene in its place is never touched unless told so.
Plan::What what_to_do(const Plan& plan, bool overwrite) {
  if (!RunDirectory::holds_run(plan.directory)) return Plan::What::begin;
  if (overwrite) return Plan::What::replace;
  const RunDirectory run(plan.directory, RunDirectory::Mode::read);
  if (const auto pointer = scene_difference(plan.variant.scene, run.read_scene()))
    throw SceneError(
        {Finding{plan.variant.scene.file, 0, 0, *pointer,
                 fmt::format("the variant \"{}\" differs here from the run that is already in {}; simulate "
                             "all anew with --overwrite, or elsewhere with -o",
                             plan.variant.name, plan.directory)}});
  return frames_done(run) >= plan.frames ? Plan::What::keep : Plan::What::go_on;
}

void print_table(const ComparisonTable& table) {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < table.header.size(); ++c) {
    std::size_t width = table.header[c].size();
    for (const auto& row : table.rows) width = std::max(width, row[c].size());
    widths.push_back(width);
  }
  const auto print_row = [&](const std::vector<std::string>& row) {
    std::string line = fmt::format("{:<{}}", row[0], widths[0]);
    for (std::size_t c = 1; c < row.size(); ++c) line += fmt::format("  {:>{}}", row[c], widths[c]);
    fmt::print("{}\n", line);
  };
  print_row(table.header);
  for (const auto& row : table.rows) print_row(row);
  fmt::print(
      "energies at the end as shares of all energy at the start; momenta: distance from their value at the start\n");
}

}  // namespace

void CompareCommand::add_to(CLI::App& app) {
  const auto plot_name = [](const std::string& path) {
    return is_plot_name(path) ? std::string() : "expected a name that ends in .svg or .png, got " + path;
  };
  flags.add_to(app);
  app.add_option("--vary", varied,
                 "what to compare, in place of the scene's own variants: /json/pointer=a,b,c (repeatable: all "
                 "combinations)")
      ->allow_extra_args(false);
  app.add_option("-o,--output", directory, "one run directory for each variant goes here; out/NAME-compare by default");
  app.add_option("--plot", plot, "where to draw the plot, .svg or .png; compare.svg beside the runs by default")
      ->check(CLI::Validator(plot_name, "FILE"));
  app.add_option("--frames", frames, "simulate this many frames instead of the scene's duration")
      ->check(CLI::Range(1, 100'000'000));
  app.add_flag("--overwrite", overwrite, "simulate every variant anew, also those that are finished");
  app.add_flag("-q,--quiet", quiet, "print nothing but the table and errors");
}

int CompareCommand::operator()() const {
  std::vector<Varied> values;
  for (const std::string& text : varied) values.push_back(parse_varied(text));
  const std::string path = flags.scene_path();
  std::vector<Variant> variants = read_variants(path, flags.overrides(), values);
  if (variants.empty())
    throw SceneError({Finding{path, 0, 0, "/variants",
                              "nothing to compare; add variants to the scene (docs/comparing.md), or give "
                              "--vary /json/pointer=a,b,c"}});
  const std::string name = read_scene(path, flags.overrides()).name;
  const std::string folder = directory.value_or("out/" + as_file_name(name, "run") + "-compare");

  std::vector<Plan> plans;  // all of them before the first run, which may take long
  for (Variant& variant : variants) {
    Plan plan{std::move(variant), "", 0, {}};
    plan.directory = folder + "/" + plan.variant.folder;
    plan.frames = frames.value_or(plan.variant.scene.frame_count());
    plan.what = what_to_do(plan, overwrite);
    plans.push_back(std::move(plan));
  }

  catch_interrupts();
  int status = static_cast<int>(ExitCode::done);
  for (std::size_t k = 0; k < plans.size(); ++k) {
    const Plan& plan = plans[k];
    const bool keep = plan.what == Plan::What::keep;
    if (!quiet)
      fmt::print("{} ({}/{}) in {}{}\n", plan.variant.name, k + 1, plans.size(), plan.directory, keep ? ": kept" : "");
    if (keep) continue;
    ProgressDisplay display(quiet);
    RunOptions options;
    options.simulation = flags.simulation_options();
    options.directory = plan.directory;
    options.resume = plan.what == Plan::What::go_on;
    options.overwrite = plan.what == Plan::What::replace;
    options.frames = plan.frames;
    options.stop = &stop_requested;
    options.on_step = [&](const RunProgress& p) { display.step(p); };
    options.on_frame = [&](const RunProgress& p) { display.frame(p); };
    options.on_note = [&](const std::string& text) {
      if (!quiet) display.note(text);
    };
    bool finished = !stop_requested;
    try {
      finished = finished && run_scene(plan.variant.scene, options).finished;
    } catch (const DivergedError& error) {  // which is a result, too; the others are still worth having
      display.finish();
      fmt::print(stderr, "{}: {}\n", plan.variant.name, error.what());
      status = static_cast<int>(error.code());
    }
    display.finish();
    if (!finished) {
      fmt::print(stderr, "stopped in the variant \"{}\"; give the same command again{} to go on\n", plan.variant.name,
                 overwrite ? " without --overwrite" : "");
      return status;
    }
  }

  std::vector<RunHistory> runs;
  for (const Plan& plan : plans) {
    const RunDirectory run(plan.directory, RunDirectory::Mode::read);
    runs.push_back(read_history(plan.variant.name, run.read_stats(), plan.frames, plan.directory + "/stats.jsonl"));
  }
  std::string caption = fmt::format("{} variants", runs.size());
  for (const std::string& text : varied) caption += ", " + text;
  if (const double least = count_gravity_from_least(runs); least != 0)
    caption += fmt::format("; gravity is counted from its least value in all runs, {:.4g} J", least);
  print_table(compare_runs(runs));
  const std::string file = plot.empty() ? folder + "/compare.svg" : plot;
  write_plot(file, plot_comparison(runs, name, caption));
  fmt::print("{}\n", file);
  return status;
}

}  // namespace tribo

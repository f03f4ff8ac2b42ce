#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "interrupt.h"
#include "progress.h"
#include "tribo/io/writer.h"
#include "tribo/run/exporter.h"

namespace tribo {

struct ExportCommand {
  std::string directory;
  ExportOptions options;
  std::vector<std::string> sets;
  bool quiet = false;

  void add_to(CLI::App& app) {
    std::vector<std::string> names;
    for (const WriterEntry& entry : all_writers())
      if (entry.unavailable == nullptr) names.emplace_back(entry.name);
    app.add_option("directory", directory, "run directory")->required();
    app.add_option("--format", options.format, fmt::format("{}", fmt::join(names, ", ")))->required();
    app.add_option("-o,--output", options.output, "where files go; DIRECTORY/FORMAT when not given");
    app.add_option("--frames", options.frames, "only these: 12, or 3:10, or 3:");
    app.add_option("--set", sets, "override a value of the scene: /json/pointer=value (repeatable)")
        ->allow_extra_args(false);
    app.add_flag("-q,--quiet", quiet, "print nothing but errors");
  }

  int operator()() {
    ProgressDisplay display(quiet);
    for (const std::string& set : sets) options.overrides.push_back(parse_override(set));
    options.on_frame = [&](int done, int of) { display.count("exported", done, of); };
    options.on_note = [&](const std::string& text) {
      if (!quiet) display.note(text);
    };
    options.stop = &stop_requested;
    catch_interrupts();
    const ExportResult result = export_run(directory, options);
    display.finish();
    if (!result.finished) fmt::print(stderr, "stopped on request after {} frames\n", result.frames);
    if (!quiet) fmt::print("{} frames in {}\n", result.frames, result.output);
    return 0;
  }
};

}  // namespace tribo

#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace tribo {

/// Energies, momenta and times of a run: as a table, as JSON, against the scene's expectations, or as a plot.
struct StatsCommand {
  std::string directory;
  bool json = false;
  bool expect = false;
  std::string plot;

  void add_to(CLI::App& app);
  int operator()() const;
};

}  // namespace tribo

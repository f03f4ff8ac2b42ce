#pragma once

#include <string>
#include <vector>

#include "tribo/plot/run_history.h"

namespace tribo {

/// What runs came to, one row each, as text: steps, wall time, what is left of the energy, and how far the momenta have
/// moved.
struct ComparisonTable {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
};

/// Energies are those at the end as shares of all energy at the start, of which `count_gravity_from_least` should have
/// been asked before, or in J when there is none. Momenta: the distance from their value at the start in
/// per cent of it, or in SI units when one of the runs has next to none at the start.
ComparisonTable compare_runs(const std::vector<RunHistory>& runs);

/// One page of SVG: total and kinetic energy and angular momentum over time, one curve for each run, and the table.
/// `caption` stands below the title. Runs need not have their frames at the same times. At least one run.
std::string plot_comparison(const std::vector<RunHistory>& runs, const std::string& title, const std::string& caption);

}  // namespace tribo

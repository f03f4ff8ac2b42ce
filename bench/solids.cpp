#include "solids.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <thread>

#include "tribo/core/errors.h"
#include "tribo/engine/engine.h"
#include "tribo/scene/reader.h"
#include "tribo/setup/model.h"
#include "tribo/setup/solids.h"
#include "tribo/simulation.h"

namespace tribo {
namespace {

constexpr int cubes_along = 3;
constexpr double cube = 0.2;  ///< edge [m]

/// Elements and cells of the same size. Cubes are turned a little, each otherwise, so that nothing is aligned with the
/// grid, and driven together.
Scene pile_of_cubes(double element, const std::string& precision) {
  const double pitch = cube + 0.6 * element;
  std::string objects = fmt::format(
      R"({{"type": "solid", "name": "slab", "kinematic": true, "shape": {{"box": [1, 0.1, 1]}}, "at": [0, -0.05, 0],
          "element_size": 0.1, "material": "rubber"}})");
  for (int i = 0; i < cubes_along; ++i)
    for (int j = 0; j < cubes_along; ++j)
      for (int k = 0; k < cubes_along; ++k)
        objects += fmt::format(
            R"(, {{"type": "solid", "shape": {{"box": [{0}, {0}, {0}]}}, "at": [{1}, {2}, {3}], "element_size": {4},
                "material": "rubber", "damping": 20, "friction": 0.3, "velocity": [{5}, -0.2, {6}],
                "rotation": {{"axis": [0, 1, 0], "degrees": {7}}}}})",
            cube, (i - 1) * pitch, 0.5 * cube + 0.6 * element + j * pitch, (k - 1) * pitch, element, 0.1 * (1 - i),
            0.1 * (1 - k), 0.7 * ((i + 2 * j + 4 * k) % 5 - 2));
  return parse_scene(fmt::format(R"({{"tribo": 1, "fps": 100, "duration": 100, "precision": "{}",
    "gravity": [0, -9.81, 0], "grid": {{"dx": {}}},
    "materials": {{"rubber": {{"model": "fixed_corotated", "density": 1000, "youngs_modulus": 2.5e5,
                               "poisson_ratio": 0.3}}}},
    "objects": [{}]}})",
                                 precision, element, objects),
                     "bench");
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

struct SolidsRow {
  EngineCounts counts;
  double milliseconds = 0;                             ///< per step, median
  std::vector<std::pair<std::string, double>> stages;  ///< likewise

  /// Of all stages whose names begin like this.
  double of(const std::string& begin) const {
    double sum = 0;
    for (const auto& [name, time] : stages)
      if (name.compare(0, begin.size(), begin) == 0) sum += time;
    return sum;
  }
};

SolidsRow measure_row(const Scene& scene, const EngineOptions& options, int repeats) {
  const auto engine = make_engine(options, build_model(scene), {}, sample_solids(scene));
  const double forever = 1e9;
  for (int i = 0; i < 20; ++i) engine->step(forever);
  SolidsRow row;
  const double tets = std::max<double>(1, static_cast<double>(engine->counts().tets));
  const int steps = std::max(5, static_cast<int>((options.device == "cuda" ? 2e7 : 5e5) / tets));
  std::vector<double> times;
  std::vector<std::pair<std::string, std::vector<double>>> stages;
  for (int r = 0; r < repeats; ++r) {
    engine->clear_stage_seconds();
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < steps; ++i) engine->step(forever);
    times.push_back(1e3 * std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / steps);
    for (const auto& [name, s] : engine->stage_seconds()) {
      auto stage = std::find_if(stages.begin(), stages.end(), [&](const auto& known) { return known.first == name; });
      if (stage == stages.end()) stage = stages.insert(stages.end(), {name, {}});
      stage->second.push_back(1e3 * s / steps);
    }
  }
  row.counts = engine->counts();
  row.milliseconds = median(times);
  for (const auto& [name, s] : stages) row.stages.emplace_back(name, median(s));
  for (const ObjectSums& sums : engine->measure())
    if (!std::isfinite(sums.kinetic + sums.elastic))
      throw Error(ExitCode::internal, "benchmark result is wrong: it is not finite");
  if (row.counts.contacts == 0) throw Error(ExitCode::internal, "benchmark result is wrong: nothing touches");
  return row;
}

}  // namespace

void bench_solids(const BenchOptions& options) {
  std::vector<int> threads = options.threads;
  if (threads.empty()) {
    threads = {1};
    const int all = static_cast<int>(std::thread::hardware_concurrency());
    if (options.device == "cpu" && all > 1) threads.push_back(all);
  }
  const std::string isa = options.isa.empty() ? available_isas().front() : options.isa;
  const std::string where = options.device == "cpu" ? "cpu " + isa : options.device;
  fmt::print("explicit step of {} cubes on a slab, self contact on, {}, {}\n", cubes_along * cubes_along * cubes_along,
             options.precision, where);
  fmt::print("{:>9}{:>9}{:>10}{:>9}{:>10}{:>10}{:>9}{:>11}  each stage\n", "tets", "samples", "touching", "threads",
             "steps/s", "ms/step", "ns/tet", "ns/sample");
  std::ofstream csv;
  if (!options.csv.empty()) {
    csv.open(options.csv, std::ios::app);
    if (!csv) throw IoError(options.csv + ": cannot be written; choose another file with --csv");
    if (csv.tellp() == 0)
      csv << "version,device,precision,tets,samples,touching,threads,steps_per_s,elastic_ns_per_tet,"
             "contact_ns_per_sample\n";
  }
  for (const double element : {0.05, 0.025}) {
    const Scene scene = pile_of_cubes(element, options.precision);
    for (const int t : threads) {
      const SolidsRow row = measure_row(scene, {options.device, options.precision, t, options.isa}, options.repeats);
      const double per_tet = 1e6 * row.of("elastic") / static_cast<double>(row.counts.tets);
      const double per_sample = 1e6 * row.of("contact") / static_cast<double>(row.counts.collision_particles);
      std::string stages;
      for (const auto& [name, time] : row.stages) stages += fmt::format("  {} {:.3g} ms", name, time);
      fmt::print("{:>9}{:>9}{:>10}{:>9}{:>10.1f}{:>10.3f}{:>9.0f}{:>11.0f}{}\n", row.counts.tets,
                 row.counts.collision_particles, row.counts.contacts, t, 1e3 / row.milliseconds, row.milliseconds,
                 per_tet, per_sample, stages);
      std::fflush(stdout);
      if (csv)
        csv << fmt::format("{},{},{},{},{},{},{},{:.2f},{:.1f},{:.1f}\n", version(), where, options.precision,
                           row.counts.tets, row.counts.collision_particles, row.counts.contacts, t,
                           1e3 / row.milliseconds, per_tet, per_sample);
    }
  }
}

}  // namespace tribo

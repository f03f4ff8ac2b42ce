#include "step_row.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "tribo/core/errors.h"

namespace tribo {
namespace {

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

double StepRow::of(const std::string& begin) const {
  double sum = 0;
  for (const auto& [name, time] : stages)
    if (name.compare(0, begin.size(), begin) == 0) sum += time;
  return sum;
}

std::string StepRow::listed() const {
  std::string text;
  for (const auto& [name, time] : stages) text += fmt::format("  {} {:.3g} ms", name, time);
  return text;
}

StepRow measure_steps(Engine& engine, int steps, int repeats) {
  const double forever = 1e9;
  StepRow row;
  std::vector<double> times;
  std::vector<std::pair<std::string, std::vector<double>>> stages;
  for (int r = 0; r < repeats; ++r) {
    engine.clear_stage_seconds();
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < steps; ++i) engine.step(forever);
    times.push_back(1e3 * std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / steps);
    for (const auto& [name, s] : engine.stage_seconds()) {
      auto stage = std::find_if(stages.begin(), stages.end(), [&](const auto& known) { return known.first == name; });
      if (stage == stages.end()) stage = stages.insert(stages.end(), {name, {}});
      stage->second.push_back(1e3 * s / steps);
    }
  }
  row.counts = engine.counts();
  row.milliseconds = median(times);
  for (const auto& [name, s] : stages) row.stages.emplace_back(name, median(s));
  for (const ObjectSums& sums : engine.measure())
    if (!std::isfinite(sums.kinetic + sums.elastic))
      throw Error(ExitCode::internal, "benchmark result is wrong: it is not finite");
  if (row.counts.contacts == 0) throw Error(ExitCode::internal, "benchmark result is wrong: nothing touches");
  return row;
}

std::vector<int> thread_counts(const BenchOptions& options) {
  if (!options.threads.empty()) return options.threads;
  std::vector<int> threads{1};
  const int all = static_cast<int>(std::thread::hardware_concurrency());
  if (options.device == "cpu" && all > 1) threads.push_back(all);
  return threads;
}

std::string device_of(const BenchOptions& options) {
  if (options.device != "cpu") return options.device;
  return "cpu " + (options.isa.empty() ? available_isas().front() : options.isa);
}

}  // namespace tribo

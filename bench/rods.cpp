#include "rods.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <fstream>

#include "step_row.h"
#include "tribo/core/errors.h"
#include "tribo/matter/strands/hair.h"
#include "tribo/scene/reader.h"
#include "tribo/setup/model.h"
#include "tribo/simulation.h"

namespace tribo {
namespace {

/// Bundles of so many strands each that begin a strand's spacing apart and meet within the first steps.
Scene crossed_tubes(int strands, const std::string& precision) {
  const double spacing = 4.1e-4, radius = spacing * std::sqrt(strands * std::sqrt(3.0) / (2 * 3.14159265358979));
  const auto tube = [&](const char* keys, double height, int seed) {
    return fmt::format(R"({{"type": "hair", "radius": 4e-5, "segments": 175, "friction": 0.3, "seed": {}, {},
                            "at": [0, {}, 0], "strands": {{"tube": {{"count": {}, "length": 0.14, "spacing": {},
                                                                    "jitter": 0.15, "wave": 0.25}}}}}})",
                       seed, keys, height, strands, spacing);
  };
  return parse_scene(
      fmt::format(R"({{"tribo": 1, "fps": 24, "duration": 100, "precision": "{}", "grid": {{"dx": 8e-4}},
                       "time": {{"dt_max": 5e-4, "cfl": 0.6}}, "objects": [{}, {}]}})",
                  precision, tube(R"("tips": "clamped", "rotation": {"axis": [0, 0, 1], "degrees": 90})", 0, 0),
                  tube(R"("roots": "free", "velocity": [0, -1, 0], "rotation": {"axis": [1, 0, 0], "degrees": 90})",
                       2 * radius + 2 * spacing, 1)),
      "bench");
}

StepRow measure_row(const Scene& scene, const EngineOptions& options, int repeats) {
  std::vector<std::string> warnings;
  const auto engine = make_engine(options, build_model(scene), make_seeds(scene, warnings));
  const double impact = 0.01;  // the upper bundle has come a centimeter, and much of it touches
  while (engine->time() < impact) engine->step(impact);
  return measure_steps(*engine, 5, repeats);
}

}  // namespace

void bench_rods(const BenchOptions& options) {
  const std::string where = device_of(options);
  fmt::print("step of hair in contact, 175 segments a strand, {}, {}\n", options.precision, where);
  fmt::print("{:>9}{:>10}{:>10}{:>9}{:>10}{:>10}{:>12}  each stage\n", "strands", "segments", "touching", "threads",
             "steps/s", "ms/step", "ns/segment");
  std::ofstream csv;
  if (!options.csv.empty()) {
    csv.open(options.csv, std::ios::app);
    if (!csv) throw IoError(options.csv + ": cannot be written; choose another file with --csv");
    if (csv.tellp() == 0) csv << "version,device,precision,segments,touching,threads,steps_per_s,ns_per_segment\n";
  }
  for (const int strands : {67, 337, 1350}) {
    const Scene scene = crossed_tubes(strands, options.precision);
    for (const int t : thread_counts(options)) {
      const StepRow row = measure_row(scene, {options.device, options.precision, t, options.isa}, options.repeats);
      const double each = 1e6 * row.milliseconds / static_cast<double>(row.counts.segments);
      fmt::print("{:>9}{:>10}{:>10}{:>9}{:>10.1f}{:>10.3f}{:>12.0f}{}\n", row.counts.strands, row.counts.segments,
                 row.counts.contacts, t, 1e3 / row.milliseconds, row.milliseconds, each, row.listed());
      std::fflush(stdout);
      if (csv)
        csv << fmt::format("{},{},{},{},{},{},{:.2f},{:.1f}\n", version(), where, options.precision,
                           row.counts.segments, row.counts.contacts, t, 1e3 / row.milliseconds, each);
    }
  }
}

}  // namespace tribo

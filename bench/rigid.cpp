#include "rigid.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>

#include "step_row.h"
#include "tribo/core/errors.h"
#include "tribo/scene/reader.h"
#include "tribo/setup/model.h"
#include "tribo/simulation.h"

namespace tribo {
namespace {

Scene scene_of(const std::string& objects, const std::string& colliders, const std::string& precision) {
  return parse_scene(fmt::format(R"({{"tribo": 1, "fps": 24, "duration": 100, "precision": "{}",
    "grid": {{"dx": 0.05}}, "time": {{"dt_max": {}}}, "objects": [{}], "colliders": [{}]}})",
                                 precision, 1.0 / 240, objects, colliders),
                     "bench");
}

/// In layers, boxes and spheres by turns, each turned otherwise.
Scene pile(int along, const std::string& precision) {
  constexpr double pitch = 0.3;
  const double half = 0.5 * pitch * along;
  std::string copies[2];
  for (int j = 0; j < along; ++j)
    for (int i = 0; i < along; ++i)
      for (int k = 0; k < along; ++k) {
        const int number = (j * along + i) * along + k;
        std::string& to = copies[j % 2];
        to += fmt::format(R"({}{{"at": [{}, {}, {}], "rotation": {{"axis": [{}, 1, {}], "degrees": {}}}}})",
                          to.empty() ? "" : ", ", pitch * (i + 0.5) - half + 0.02 * (number % 7 - 3) / 3,
                          0.25 + 0.36 * j, pitch * (k + 0.5) - half + 0.02 * (number % 11 - 5) / 5, number % 5 - 2,
                          number % 3 - 1, 37 * number % 90);
      }
  const auto objects = [&](const char* shape, const std::string& at) {
    return fmt::format(R"({{"type": "rigid", "shape": {}, "density": 1000, "friction": 0.5, "copies": [{}]}})", shape,
                       at);
  };
  return scene_of(
      objects(R"({"box": [0.2, 0.2, 0.2]})", copies[0]) + ", " + objects(R"({"sphere": 0.1})", copies[1]),
      fmt::format(R"({{"shape": {{"box": [{0}, {1}, {0}]}}, "at": [0, {2}, 0], "inside": true, "friction": 0.5}})",
                  2 * half + 0.1, 4 * half + 2, 2 * half + 1),
      precision);
}

/// Half a brick apart from layer to layer.
Scene wall(int along, const std::string& precision) {
  return scene_of(
      fmt::format(R"({{"type": "rigid", "shape": {{"box": [0.2, 0.1, 0.1]}}, "density": 1800, "friction": 0.6,
        "at": [0, 0.051, 0],
        "array": {{"count": [{0}, {0}, 1], "spacing": [0.202, 0.101, 1], "stagger": [0.101, 0, 0]}}}})",
                  along),
      R"({"shape": {"half_space": {"normal": [0, 1, 0]}}, "friction": 0.6})", precision);
}

struct RigidCase {
  const char* name;
  double begin;  ///< when to measure [s]
  Scene scene;
};

/// What falls over all of the pile's height has half of it landed after a good half of that time.
std::vector<RigidCase> cases_of(int along, const std::string& precision) {
  const double fall = std::sqrt(2 * 0.2 * along / 9.81);
  return {{"lands", 0.7 * fall, pile(along, precision)},
          {"lies", fall + 1.5, pile(along, precision)},
          {"wall", 0.5, wall(std::max(2, static_cast<int>(std::lround(std::sqrt(along * along * along)))), precision)}};
}

}  // namespace

void bench_rigid(const BenchOptions& options) {
  const std::string where = device_of(options);
  fmt::print("step of rigid bodies, dt 1/240 s, {}\n", where);
  fmt::print("{:>6}{:>8}{:>9}{:>9}{:>9}{:>10}{:>10}{:>14}  each stage\n", "what", "bodies", "rows", "sweeps", "threads",
             "ms/step", "us/body", "ns/row sweep");
  std::ofstream csv;
  if (!options.csv.empty()) {
    csv.open(options.csv, std::ios::app);
    if (!csv) throw IoError(options.csv + ": cannot be written; choose another file with --csv");
    if (csv.tellp() == 0) csv << "version,device,what,bodies,rows,sweeps,threads,ms_per_step,ns_per_row_sweep\n";
  }
  std::vector<double> bodies = options.particles;
  if (bodies.empty()) bodies = {343, 2744};
  for (const double wanted : bodies)
    for (const RigidCase& one :
         cases_of(std::max(2, static_cast<int>(std::lround(std::cbrt(wanted)))), options.precision))
      for (const int t : thread_counts(options)) {
        const auto engine = make_engine({options.device, options.precision, t, options.isa}, build_model(one.scene),
                                        make_seeds(one.scene));
        while (engine->time() < one.begin) engine->step(one.begin);
        const EngineCounts before = engine->counts();
        const int steps = std::max(3, static_cast<int>(4e3 / static_cast<double>(before.bodies)));
        const StepRow row = measure_steps(*engine, steps, options.repeats);
        const double all = static_cast<double>(steps) * options.repeats,
                     swept = static_cast<double>(row.counts.row_sweeps - before.row_sweeps) / all,
                     rows = static_cast<double>(row.counts.rows), ns = 1e6 * row.of("rigid sweeps") / swept;
        fmt::print("{:>6}{:>8}{:>9}{:>9.1f}{:>9}{:>10.3f}{:>10.2f}{:>14.1f}{}\n", one.name, row.counts.bodies,
                   row.counts.rows, swept / rows, t, row.milliseconds,
                   1e3 * row.milliseconds / static_cast<double>(row.counts.bodies), ns, row.listed());
        std::fflush(stdout);
        if (csv)
          csv << fmt::format("{},{},{},{},{},{:.1f},{},{:.3f},{:.1f}\n", version(), where, one.name, row.counts.bodies,
                             row.counts.rows, swept / rows, t, row.milliseconds, ns);
      }
}

}  // namespace tribo

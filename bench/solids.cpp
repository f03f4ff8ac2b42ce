#include "solids.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <fstream>

#include "step_row.h"
#include "tribo/core/errors.h"
#include "tribo/matter/solids/seed.h"
#include "tribo/scene/reader.h"
#include "tribo/setup/model.h"
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

StepRow measure_row(const Scene& scene, const EngineOptions& options, int repeats) {
  const auto engine = make_engine(options, build_model(scene), make_seeds(scene));
  const double forever = 1e9;
  for (int i = 0; i < 20; ++i) engine->step(forever);
  const double tets = std::max<double>(1, static_cast<double>(engine->counts().tets));
  return measure_steps(*engine, std::max(5, static_cast<int>((options.device == "cuda" ? 2e7 : 5e5) / tets)), repeats);
}

}  // namespace

void bench_solids(const BenchOptions& options) {
  const std::string where = device_of(options);
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
    for (const int t : thread_counts(options)) {
      const StepRow row = measure_row(scene, {options.device, options.precision, t, options.isa}, options.repeats);
      const double per_tet = 1e6 * row.of("elastic") / static_cast<double>(row.counts.tets);
      const double per_sample = 1e6 * row.of("contact") / static_cast<double>(row.counts.collision_particles);
      fmt::print("{:>9}{:>9}{:>10}{:>9}{:>10.1f}{:>10.3f}{:>9.0f}{:>11.0f}{}\n", row.counts.tets,
                 row.counts.collision_particles, row.counts.contacts, t, 1e3 / row.milliseconds, row.milliseconds,
                 per_tet, per_sample, row.listed());
      std::fflush(stdout);
      if (csv)
        csv << fmt::format("{},{},{},{},{},{},{},{:.2f},{:.1f},{:.1f}\n", version(), where, options.precision,
                           row.counts.tets, row.counts.collision_particles, row.counts.contacts, t,
                           1e3 / row.milliseconds, per_tet, per_sample);
    }
  }
}

}  // namespace tribo

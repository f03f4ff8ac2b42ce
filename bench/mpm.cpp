#include "mpm.h"

#include <fmt/format.h>
#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <limits>
#include <optional>
#include <thread>
#include <variant>

#include "tribo/core/errors.h"
#include "tribo/engine/engine.h"
#include "tribo/exec/gpu_memory.h"
#include "tribo/matter/particles/amounts.h"
#include "tribo/matter/particles/seed.h"
#include "tribo/models/all.h"
#include "tribo/simulation.h"
#include "tribo/transfer/kernels.h"

namespace tribo {
namespace {

/// Counter-based random numbers in [0, 1).
double random_at(std::uint64_t index) {
  std::uint64_t z = (index + 1) * 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

/// Every listed law with ordinary parameters, under its registered name.
std::vector<MaterialSpec> bench_materials() {
  const double mu = shear_modulus(1e5, 0.3);
  const double lambda = lame_lambda(1e5, 0.3);
  const Grains<double> grains{.mu = mu, .lambda = lambda, .friction = 0.5, .volume_correction = 1, .cohesion = 0};
  // Laws that yield do so: their strains are far beyond. The paste is not Bingham's, whose step is shorter.
  const auto laws = std::to_array<ParticleLaw<double>>({
      FixedCorotated<double>{.mu = mu, .lambda = lambda, .viscosity = 0},
      NeoHookean<double>{.mu = mu, .lambda = lambda, .viscosity = 0},
      StVenantKirchhoff<double>{.mu = mu, .lambda = lambda, .viscosity = 0},
      Hencky<double>{.mu = mu, .lambda = lambda, .viscosity = 0},
      Viscoelastic<double>{.mu = mu, .lambda = lambda, .relaxing = 0.5, .volume = 1, .relaxation_rate = 10},
      DruckerPrager<double>{grains},
      MohrCoulomb<double>{grains},
      Snow<double>{.mu = mu, .lambda = lambda, .least = 0.975, .most = 1.0075, .hardening = 10, .most_hardening = 20},
      VonMises<double>{.mu = mu, .lambda = lambda, .yield_strain = 0.01},
      HerschelBulkley<double>{.mu = mu, .lambda = lambda, .yield_norm = 100, .exponent = 2, .log_scale = 1},
      WeaklyCompressible<double>{.bulk_modulus = 2e5, .gamma = 7, .tension = 0, .viscosity = 0},
  });
  static_assert(laws.size() == std::variant_size_v<ParticleLaw<double>>, "every law has a row");
  std::vector<MaterialSpec> materials;
  for (const ParticleLaw<double>& law : laws)
    materials.push_back({std::visit([](const auto& l) { return l.name; }, law), 1000, law, {}});
  return materials;
}

struct BenchScene {
  Model model;
  ParticleSeed seed;
  double impact_time = 0;  ///< when the block has hit the floor and the clock may start; 0 without a floor [s]
};

TransferRule<double> transfer_rule(const std::string& name) {
  TransferRule<double> rule;
  [&]<class... Scheme>(const std::variant<Scheme...>*) {
    ((name == Scheme::name ? void(rule = Scheme{}.rule()) : void()), ...);
  }(static_cast<const Transfer*>(nullptr));
  return rule;
}

BenchScene make_scene(const MaterialSpec& material, double particles, const BenchOptions& options) {
  BenchScene scene;
  scene.model.transfer = transfer_rule(options.transfer);
  scene.model.kernel_nodes = kernel_nodes(options.kernel);
  scene.model.gradient_forces = options.force.empty() ? options.kernel == "linear" : options.force == "gradient";
  scene.model.dx = 1.0 / 128;
  scene.model.gravity = {{0, -9.81, 0}};
  scene.model.time.dt_max = 1e-4;
  scene.model.materials = {material};
  scene.model.objects = {{"block", 0}};
  const int side = static_cast<int>(std::lround(std::cbrt(particles)));
  const double h = scene.model.dx / 2;  // 8 particles per cell
  const bool impact = options.state == "impact";
  // Sixty-four pieces of the block in an empty world of some 2400 cells along each axis.
  const double apart = options.state == "apart" ? 600 * scene.model.dx : 0;
  if (impact) {
    // Waves run at some 12 m/s in these materials. The block falls at a quarter of that, alike everywhere, so that they
    // leave a quarter of compression behind; a tenth of the block is as far as they are let before the clock starts.
    scene.impact_time = 0.1 * side * h / 12;
    scene.model.colliders.resize(1);
    scene.model.colliders[0].shape = HalfSpace<double>{{{0, 1, 0}}};
  }
  const std::size_t layer = static_cast<std::size_t>(side) * static_cast<std::size_t>(side);
  const std::size_t count = layer * static_cast<std::size_t>(side);
  scene.seed.x.resize(count);
  scene.seed.v.resize(count);
  scene.seed.m.assign(count, material.density * h * h * h);
  scene.seed.object.assign(count, 0);
  scene.seed.F.resize(count);
  tbb::parallel_for(0, side, [&](int i) {
    std::size_t particle = static_cast<std::size_t>(i) * layer;
    for (int j = 0; j < side; ++j)
      for (int k = 0; k < side; ++k, ++particle) {
        std::uint64_t counter = 12 * particle;
        Vec<double, 3> x;
        const int at[3] = {i, j, k};
        for (int a = 0; a < 3; ++a) x[a] = (at[a] + random_at(counter++)) * h;
        Mat<double, 3> F = Mat<double, 3>::identity();
        for (int a = 0; a < 3; ++a)
          for (int b = 0; b < 3; ++b) F(a, b) += 0.05 * (2 * random_at(counter++) - 1);
        for (int a = 0; a < 3; ++a) scene.seed.x[particle][a] = x[a] + apart * (4 * at[a] / side);
        scene.seed.v[particle] = {{0.1 + 10 * x[1], impact ? -3 : -1 - 5 * x[0], 0.05 + 5 * x[1]}};
        scene.seed.F[particle] = F;
      }
  });
  return scene;
}

struct Stage {
  std::string name;
  double milliseconds = 0;  ///< per substep, median
  double share = 0;         ///< of all stages
};

struct Row {
  double rate = 0;  ///< particle-substeps per second, median
  double best = 0;
  double milliseconds = 0;  ///< per substep, median
  double bytes_per_particle = 0;
  std::vector<Stage> stages;
};

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

bool all_finite(const ObjectSums& sums) {
  double sum = sums.kinetic + sums.elastic;
  for (int k = 0; k < 3; ++k) sum += sums.mass_position[k] + sums.momentum[k] + sums.low[k] + sums.high[k];
  return std::isfinite(sum);
}

/// Free flight keeps momentum but for gravity, and for a digit or two of a float in each step; a floor takes it.
void check_result(const BenchScene& scene, const ObjectSums& before, const ObjectSums& after, double time,
                  std::int64_t steps, bool in_double) {
  if (!(std::abs(after.mass / before.mass - 1) < 1e-12) || after.particles != before.particles)
    throw Error(ExitCode::internal, "benchmark result is wrong: mass is lost");
  if (!all_finite(after)) throw Error(ExitCode::internal, "benchmark result is wrong: it is not finite");
  if (!scene.model.colliders.empty()) return;
  const Vec<double, 3> expected = before.momentum + scene.model.gravity * (before.mass * time);
  const double error = std::sqrt(squared_norm(after.momentum - expected) / squared_norm(expected));
  const double bound = in_double ? 1e-9 : std::max(1e-4, 3e-7 * static_cast<double>(steps));
  if (!(error < bound))
    throw Error(ExitCode::internal, fmt::format("benchmark result is wrong: momentum is off by {:.2e}", error));
}

Row measure_row(const BenchScene& scene, const EngineOptions& options, int repeats) {
  const bool cuda = options.device == "cuda";
  const auto engine = make_engine(options, scene.model, scene.seed);
  const auto n = static_cast<double>(scene.seed.x.size());
  const ObjectSums before = engine->measure()[0];
  const double forever = 1e9;
  const auto take = [&](int steps) {
    for (int i = 0; i < steps; ++i) engine->step(forever);
  };
  Container impact;
  int most_steps = std::numeric_limits<int>::max();  // from the impact on, before the block is another one
  if (scene.impact_time > 0) {
    while (engine->time() < scene.impact_time) engine->step(forever);
    most_steps = static_cast<int>(engine->step_count());
    impact = save_state(*engine);
  }
  take(cuda ? 60 : 5);
  // Repeats of about half a second: long enough for a clock, short enough to see a disturbed one.
  const int steps = cuda ? std::max(20, static_cast<int>(2e8 / n)) : std::max(4, static_cast<int>(5e6 / n));
  std::vector<double> seconds(static_cast<std::size_t>(repeats));
  std::vector<std::pair<std::string, std::vector<double>>> stages;
  for (std::size_t r = 0; r < seconds.size(); ++r) {
    for (int taken = 0; taken < steps;) {
      const int some = std::min(steps - taken, most_steps);
      if (scene.impact_time > 0) {
        engine->load(impact);
        take(5);
      }
      engine->clear_stage_seconds();
      const auto start = std::chrono::steady_clock::now();
      take(some);
      seconds[r] += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / steps;
      for (const auto& [name, s] : engine->stage_seconds()) {
        auto stage = std::find_if(stages.begin(), stages.end(), [&](const auto& known) { return known.first == name; });
        if (stage == stages.end()) stage = stages.insert(stages.end(), {name, std::vector<double>(seconds.size())});
        stage->second[r] += s / steps;
      }
      taken += some;
    }
  }
  Row row;
  double total = 0;
  for (const auto& [name, times] : stages) {
    row.stages.push_back({name, 1e3 * median(times), 0});
    total += row.stages.back().milliseconds;
  }
  for (Stage& stage : row.stages) stage.share = total > 0 ? stage.milliseconds / total : 0;
  row.best = n / *std::min_element(seconds.begin(), seconds.end());
  row.milliseconds = 1e3 * median(seconds);
  row.rate = 1e3 * n / row.milliseconds;
  row.bytes_per_particle = static_cast<double>(engine->bytes()) / n;
  check_result(scene, before, engine->measure()[0], engine->time(), engine->step_count(),
               options.precision == "double");
  return row;
}

/// What is measured when nothing is asked for: more on CUDA, as far as the GPU's memory goes.
std::vector<double> default_particles(const BenchOptions& options) {
  if (options.device != "cuda") return {1e5, 1e6};
  std::vector<double> fitting;
  Model model;
  model.transfer = transfer_rule(options.transfer);
  for (const double particles : {1e6, 8e6, 64e6}) {
    Amounts amounts;
    amounts.of<ParticleAmounts>().count = particles;
    const double bytes = estimated_bytes({options.device, options.precision, 0, ""}, model, amounts);
    const std::optional<GpuMemory> gpu = gpu_memory();
    if (!gpu || fitting.empty() || bytes <= static_cast<double>(gpu->free)) fitting.push_back(particles);
  }
  return fitting;
}

}  // namespace

void bench_mpm(const BenchOptions& options) {
  std::vector<int> threads = options.threads;
  if (threads.empty()) {
    threads = {1};
    const int all = static_cast<int>(std::thread::hardware_concurrency());
    if (options.device == "cpu" && all > 1) threads.push_back(all);
  }
  const std::string isa = options.isa.empty() ? available_isas().front() : options.isa;
  const std::string where = options.device == "cpu" ? "cpu " + isa : options.device;
  const std::vector<double> sizes = options.particles.empty() ? default_particles(options) : options.particles;
  std::vector<std::string> names = options.materials;
  if (names.empty() && options.device == "cuda") names = {FixedCorotated<double>::name, DruckerPrager<double>::name};
  fmt::print("MPM step (sort, P2G, grid, G2P with stress), 3D, {} kernel, {}, 8 particles per cell, {}, {}, {}\n",
             options.kernel, options.transfer, options.state, options.precision, where);
  fmt::print("{:<22}{:>11}{:>9}{:>14}{:>10}{:>11}{:>9}  each stage\n", "material", "particles", "threads",
             "M p-steps/s", "best", "ms/step", "B/part.");
  std::ofstream csv;
  if (!options.csv.empty()) {
    csv.open(options.csv, std::ios::app);
    if (!csv) throw IoError(options.csv + ": cannot be written; choose another file with --csv");
    if (csv.tellp() == 0)
      csv << "version,device,precision,kernel,transfer,material,particles,threads,particle_substeps_per_s,best,"
             "ms_per_step,bytes_per_particle,state\n";
  }
  for (const MaterialSpec& material : bench_materials()) {
    if (!names.empty() && std::find(names.begin(), names.end(), material.name) == names.end()) continue;
    for (const double particles : sizes) {
      const BenchScene scene = make_scene(material, particles, options);
      for (const int t : threads) {
        const Row row = measure_row(scene, {options.device, options.precision, t, options.isa}, options.repeats);
        std::string stages;
        for (const Stage& stage : row.stages)
          stages += fmt::format("  {} {:.3g} ms {:.0f}%", stage.name, stage.milliseconds, 100 * stage.share);
        fmt::print("{:<22}{:>11}{:>9}{:>14.2f}{:>10.2f}{:>11.3f}{:>9.0f}{}\n", material.name, scene.seed.x.size(), t,
                   row.rate * 1e-6, row.best * 1e-6, row.milliseconds, row.bytes_per_particle, stages);
        std::fflush(stdout);
        if (csv)
          csv << fmt::format("{},{},{},{},{},{},{},{},{:.0f},{:.0f},{:.4f},{:.1f},{}\n", version(), where,
                             options.precision, options.kernel, options.transfer, material.name, scene.seed.x.size(), t,
                             row.rate, row.best, row.milliseconds, row.bytes_per_particle, options.state);
      }
    }
  }
}

}  // namespace tribo

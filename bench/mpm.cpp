#include "mpm.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <thread>
#include <variant>

#include "tribo/core/errors.h"
#include "tribo/engine/engine.h"
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
  std::uint64_t counter = 0;
  for (int i = 0; i < side; ++i)
    for (int j = 0; j < side; ++j)
      for (int k = 0; k < side; ++k) {
        Vec<double, 3> x;
        const int at[3] = {i, j, k};
        for (int a = 0; a < 3; ++a) x[a] = (at[a] + random_at(counter++)) * h;
        Mat<double, 3> F = Mat<double, 3>::identity();
        for (int a = 0; a < 3; ++a)
          for (int b = 0; b < 3; ++b) F(a, b) += 0.05 * (2 * random_at(counter++) - 1);
        scene.seed.x.push_back(x);
        scene.seed.v.push_back({{0.1 + 10 * x[1], -1 - 5 * x[0], 0.05 + 5 * x[1]}});
        scene.seed.m.push_back(material.density * h * h * h);
        scene.seed.object.push_back(0);
        scene.seed.F.push_back(F);
      }
  return scene;
}

struct Row {
  double rate = 0;  ///< particle-substeps per second, median
  double best = 0;
  double milliseconds = 0;  ///< per substep, median
  double bytes_per_particle = 0;
  std::vector<std::pair<std::string, double>> shares;
};

Row measure_row(const BenchScene& scene, const EngineOptions& options, int repeats) {
  const auto engine = make_engine(options, scene.model, scene.seed);
  const auto n = static_cast<double>(scene.seed.x.size());
  const ObjectSums before = engine->measure()[0];
  const double forever = 1e9;
  for (int i = 0; i < 5; ++i) engine->step(forever);
  engine->clear_stage_seconds();
  // Repeats of about half a second: long enough for a clock, short enough to see a disturbed one.
  const int steps = std::max(4, static_cast<int>(5e6 / n));
  std::vector<double> seconds;
  for (int r = 0; r < repeats; ++r) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < steps; ++i) engine->step(forever);
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / steps);
  }
  Row row;
  double total = 0;
  for (const auto& [name, s] : engine->stage_seconds()) total += s;
  for (const auto& [name, s] : engine->stage_seconds()) row.shares.emplace_back(name, s / total);
  row.best = n / *std::min_element(seconds.begin(), seconds.end());
  std::nth_element(seconds.begin(), seconds.begin() + repeats / 2, seconds.end());
  const double median = seconds[static_cast<std::size_t>(repeats / 2)];
  row.rate = n / median;
  row.milliseconds = 1e3 * median;
  row.bytes_per_particle = static_cast<double>(engine->bytes()) / n;

  const ObjectSums after = engine->measure()[0];
  const Vec<double, 3> expected = before.momentum + scene.model.gravity * (before.mass * engine->time());
  const double error = std::sqrt(squared_norm(after.momentum - expected) / squared_norm(expected));
  if (!(error < 1e-4) || !(std::abs(after.mass / before.mass - 1) < 1e-6))
    throw Error(ExitCode::internal, fmt::format("benchmark result is wrong: momentum is off by {:.2e}", error));
  return row;
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
  fmt::print("MPM step (sort, P2G, grid, G2P with stress), 3D, {} kernel, {}, 8 particles per cell, {}, {}\n",
             options.kernel, options.transfer, options.precision, where);
  fmt::print("{:<22}{:>11}{:>9}{:>14}{:>10}{:>11}{:>9}  share of each stage\n", "material", "particles", "threads",
             "M p-steps/s", "best", "ms/step", "B/part.");
  std::ofstream csv;
  if (!options.csv.empty()) {
    csv.open(options.csv, std::ios::app);
    if (!csv) throw IoError(options.csv + ": cannot be written; choose another file with --csv");
    if (csv.tellp() == 0)
      csv << "version,device,precision,kernel,transfer,material,particles,threads,particle_substeps_per_s,best,ms_per_step,"
             "bytes_per_particle\n";
  }
  for (const MaterialSpec& material : bench_materials()) {
    if (!options.materials.empty() &&
        std::find(options.materials.begin(), options.materials.end(), material.name) == options.materials.end())
      continue;
    for (const double particles : options.particles) {
      const BenchScene scene = make_scene(material, particles, options);
      for (const int t : threads) {
        const Row row = measure_row(scene, {options.device, options.precision, t, options.isa}, options.repeats);
        std::string shares;
        for (const auto& [name, share] : row.shares) shares += fmt::format("  {} {:.0f}%", name, 100 * share);
        fmt::print("{:<22}{:>11}{:>9}{:>14.2f}{:>10.2f}{:>11.2f}{:>9.0f}{}\n", material.name, scene.seed.x.size(), t,
                   row.rate * 1e-6, row.best * 1e-6, row.milliseconds, row.bytes_per_particle, shares);
        std::fflush(stdout);
        if (csv)
          csv << fmt::format("{},{},{},{},{},{},{},{},{:.0f},{:.0f},{:.4f},{:.1f}\n", version(), where, options.precision,
                             options.kernel, options.transfer,
                             material.name, scene.seed.x.size(), t, row.rate, row.best, row.milliseconds,
                             row.bytes_per_particle);
      }
    }
  }
}

}  // namespace tribo

#include <gtest/gtest.h>

#include <functional>

#include "scene_text.h"
#include "tribo/matter/particles/seed.h"
#include "tribo/setup/model.h"

/// \file
/// How fast errors fall with the grid spacing. Small longitudinal waves in an elastic strip with nu = 0 obey
/// u_tt = c^2 u_xx exactly, with c = sqrt(E / rho); what is measured is the distance of the particles from that.

namespace tribo::test {
namespace {

constexpr double L = 1;             // of the strip [m]
constexpr double rho = 1000;        // [kg/m^3]
constexpr double E = 1e5;           // [Pa]
constexpr double c = 10;            // sqrt(E / rho) [m/s]
constexpr double amplitude = 1e-7;  // so small that the law is linear to more digits than are compared

/// Displacement and its derivatives at material point X and time t.
struct Wave {
  double end;  ///< when errors are measured [s]
  std::function<double(double X, double t)> u, slope, velocity;
};

/// A bump in the middle that parts into two running outwards (d'Alembert); it never reaches an end.
Wave running_wave() {
  const auto bump = [](double X) { return amplitude * std::exp(-std::pow((X - L / 2) / 0.08, 2)); };
  const auto rise = [bump](double X) { return -2 * (X - L / 2) / (0.08 * 0.08) * bump(X); };
  return {0.25 * L / c, [=](double X, double t) { return (bump(X - c * t) + bump(X + c * t)) / 2; },
          [=](double X, double t) { return (rise(X - c * t) + rise(X + c * t)) / 2; },
          [=](double X, double t) { return c * (rise(X + c * t) - rise(X - c * t)) / 2; }};
}

/// The first mode between two fixed ends.
Wave standing_wave() {
  const double k = pi / L;
  return {0.6 * L / c, [=](double X, double t) { return amplitude * std::sin(k * X) * std::cos(k * c * t); },
          [=](double X, double t) { return amplitude * k * std::cos(k * X) * std::cos(k * c * t); },
          [=](double X, double t) { return -amplitude * k * c * std::sin(k * X) * std::sin(k * c * t); }};
}

enum class Placement { lattice, jittered, poisson };

struct Errors {
  double displacement, velocity;  ///< root mean square over the particles, relative to that of the wave at rest
};

/// Errors at the wave's end. Symplectic Euler is leapfrog whose velocities belong to the middle of the step before;
/// `staggered` starts and reads them there.
Errors errors(const Wave& wave, double dx, double dt, Placement placement, bool staggered, double ppc = 4) {
  const double height = 4 * dx;
  const Scene scene = parse_scene(
      fmt::format(R"({{"tribo": 1, "dimension": 2, "duration": 1, "precision": "double", "gravity": [0, 0],
           "grid": {{"dx": {}}}, "time": {{"dt_max": {}}},
           "materials": {{"m": {{"model": "neo_hookean", "density": {}, "youngs_modulus": {}, "poisson_ratio": 0}}}},
           "objects": [{{"type": "particles", "shape": {{"box": [{}, {}]}}, "at": [{}, 0], "material": "m",
                         "particles_per_cell": {}, "sampling": "{}"}}],
           "colliders": [{{"shape": {{"half_space": [1, 0]}}, "boundary": "slip"}},
                         {{"shape": {{"half_space": [-1, 0]}}, "at": [{}, 0], "boundary": "slip"}}]}})",
                  dx, dt, rho, E, L, height, L / 2, ppc, placement == Placement::poisson ? "poisson" : "jittered", L),
      "wave.json", {});
  ParticleSeed seed = make_seeds(scene).of<ParticleSeed>();
  if (placement == Placement::lattice) {  // the jittered points' cells have their centers on a lattice
    const double h = dx / std::sqrt(ppc);
    for (Vec<double, 3>& x : seed.x) {
      x[0] = (std::floor(x[0] / h) + 0.5) * h;
      x[1] = (std::floor(x[1] / h) + 0.5) * h;
    }
  }
  std::vector<double> X;
  for (std::size_t p = 0; p < seed.x.size(); ++p) {
    X.push_back(seed.x[p][0]);
    Mat<double, 3> F = Mat<double, 3>::identity();
    F(0, 0) += wave.slope(X[p], 0);
    seed.F.push_back(F);
    seed.v[p][0] = wave.velocity(X[p], staggered ? -dt / 2 : 0);
    seed.x[p][0] += wave.u(X[p], 0);
  }
  const std::unique_ptr<Engine> engine = make_engine({"cpu", "double", 1, ""}, build_model(scene), seed);
  const double end = std::round(wave.end / dt) * dt;
  while (engine->time() < end) engine->step(end);

  const Frame frame = arrange(engine->frame(0));
  const auto x = frame.find("x")->as<double>();
  const auto v = frame.find("v")->as<double>();
  double wrong_place = 0, wrong_speed = 0, displacement = 0, speed = 0;
  for (std::size_t p = 0; p < X.size(); ++p) {
    wrong_place += std::pow(x[2 * p] - X[p] - wave.u(X[p], end), 2);
    displacement += std::pow(wave.u(X[p], 0), 2);
    wrong_speed += std::pow(v[2 * p] - wave.velocity(X[p], staggered ? end - dt / 2 : end), 2);
    speed += std::pow(c * wave.slope(X[p], 0), 2);
  }
  return {std::sqrt(wrong_place / displacement), std::sqrt(wrong_speed / speed)};
}

/// dt falls with dx: 0.3 of the time a wave needs through a cell.
Errors errors_at(const Wave& wave, int cells, Placement placement, double ppc = 4) {
  const double dx = L / cells;
  return errors(wave, dx, 0.3 * dx / c, placement, true, ppc);
}
double order(double coarse, double fine) { return std::log2(coarse / fine); }

TEST(Convergence, WavesInTheInteriorAreOfSecondOrder) {
  Errors coarse = errors_at(running_wave(), 64, Placement::lattice);
  for (const int cells : {128, 256}) {
    const Errors fine = errors_at(running_wave(), cells, Placement::lattice);
    RecordProperty(fmt::format("errors_{}", cells), fmt::format("{} {}", fine.displacement, fine.velocity));
    EXPECT_GT(order(coarse.displacement, fine.displacement), 1.7) << cells;
    EXPECT_GT(order(coarse.velocity, fine.velocity), 1.7) << cells;
    coarse = fine;
  }
}

TEST(Convergence, WallsAreOfFirstOrder) {
  // Nodes beyond a wall are held at rest, where those of a mirror image would move against their counterparts: within
  // half a cell of the wall the strain is wrong by a share that does not fall with dx.
  const Errors coarse = errors_at(standing_wave(), 64, Placement::lattice);
  const Errors fine = errors_at(standing_wave(), 128, Placement::lattice);
  RecordProperty("errors", fmt::format("{} {}", fine.displacement, fine.velocity));
  EXPECT_GT(order(coarse.displacement, fine.displacement), 0.9);
  EXPECT_GT(order(coarse.velocity, fine.velocity), 0.6);
  EXPECT_LT(fine.displacement, 0.005);
}

TEST(Convergence, RandomPlacementLeavesAnErrorThatFallsWithTheNumberOfParticles) {
  // Particles at random represent a uniform stress with an error that no finer grid removes, only more in a cell.
  const Errors few = errors_at(running_wave(), 256, Placement::jittered, 4);
  const Errors more = errors_at(running_wave(), 256, Placement::jittered, 16);
  EXPECT_LT(few.displacement, 0.02);
  EXPECT_LT(more.displacement, 0.3 * few.displacement);
}

}  // namespace
}  // namespace tribo::test

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "strand_world.h"
#include "tribo/matter/strands/stages/volume.h"

/// \file
/// Hair volume as an incompressible fluid (theory I). Centimeters and grams, as in strand_world.h.

namespace tribo::TRIBO_BACKEND::test {
namespace {

constexpr double dt = 1e-3, dx = 0.16;

/// A bundle of n x n free strands along x, and a grid for its volume.
template <class Real>
struct VolumeWorldOf : ContactWorldOf<Real> {
  VolumeRules volume;
  VolumeTargets<Real> targets;
  VolumeWork<Real> grid;
  Colliders<Real, 3> colliders;
  typename Colliders<Real, 3>::View walls;
  int n, edges;

  VolumeWorldOf(int strands, int segments, double segment = 0.08, int threads = 1)
      : ContactWorldOf<Real>(threads), n(strands), edges(segments) {
    volume.dx = dx;
    volume.tolerance = 1e-8;
    volume.unsettled = 0;
    volume.flip_time = volume.regain_time = 0;
    std::mt19937 random(7);
    std::uniform_real_distribution<double> any(-0.4, 0.4);
    std::vector<std::vector<Vec3>> lines;
    const double s = 0.06;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        const double y = s * (i + any(random)), z = s * (j + any(random)), x = 0.05 * any(random);
        lines.push_back(straight_line({{x, y, z}}, {{x + segment * edges, y + 0.02, z}}, edges));
      }
    this->add(lines, Held::nowhere, 0);
    for (RodBody& body : this->seed.bodies) body.method = HairMethod::mcadams;
    this->load();
    targets = measure_volume(this->ex, volume, this->mesh, this->state, grid);
  }
  Vec3 middle() const { return {{0.5 * 0.08 * edges, 0.03 * (n - 1), 0.03 * (n - 1)}}; }
  void set_velocities(const std::function<Vec3(const Vec3&)>& field) {
    for (Index i = 0; i < this->mesh.vertices; ++i) {
      const Vec3 v = field(this->x(i));
      for (int k = 0; k < 3; ++k) this->state.v.c[k].data()[i] = static_cast<Real>(v[k]);
    }
  }
  void shake(unsigned number) {
    std::mt19937 random(number);
    std::normal_distribution<double> any(0, 10);
    set_velocities([&](const Vec3&) { return Vec3{{any(random), any(random), any(random)}}; });
  }
  /// Thinner or denser than it was measured.
  void squeeze(double factor) {
    for (int k = 1; k < 3; ++k)
      for (Index i = 0; i < this->mesh.vertices; ++i) {
        Real& x = this->state.x.c[k].data()[i];
        x = static_cast<Real>(middle()[k] + factor * (static_cast<double>(x) - middle()[k]));
      }
  }
  VolumeReport project() {
    rasterize_volume(this->ex, volume, this->mesh, targets, this->state, grid);
    return project_volume(this->ex, volume, walls, dt, grid);
  }
  VolumeReport blend() { return volume_blend(this->ex, volume, this->mesh, targets, walls, dt, this->state, grid); }
  double kinetic() {
    double sum = 0;
    for (Index i = 0; i < this->mesh.vertices; ++i)
      sum += 0.5 * this->seed.mass[std::size_t(i)] * squared_norm(this->v(i));
    return sum;
  }

  bool is_hair(Index cell) const { return grid.kind.data()[cell] == static_cast<Index>(VolumeCell::hair); }
  double divergence(Index cell) const {
    double sum = 0;
    for (int k = 0; k < 3; ++k) {
      const Real* const u = grid.u_new.c[k].data();
      sum += static_cast<double>(u[cell + grid.grid.stride(k)]) - static_cast<double>(u[cell]);
    }
    return sum / dx;
  }
  /// That the rules ask for where pressure may pull.
  double wanted(Index cell) const {
    const double excess = double(grid.density.data()[cell]) / double(grid.target.data()[cell]) - 1;
    return excess > 0 ? std::min(volume.regain * excess, 0.5) / dt : 0;
  }
  double largest_error(bool only_with_pressure = false) const {
    double error = 0, scale = 0;
    for (Index e = 0; e < grid.touched; ++e) {
      const Index cell = grid.cell.data()[e];
      if (!is_hair(cell)) continue;
      scale = std::max(scale, std::abs(double(grid.right.data()[cell]) / dx));
      if (only_with_pressure && grid.pressure.q.data()[cell] == 0) continue;
      error = std::max(error, std::abs(divergence(cell) - wanted(cell)));
    }
    return error / scale;
  }
};
using VolumeWorld = VolumeWorldOf<double>;

// What the grid sees is all of the hair and nothing else, whether segments are shorter than a cell or span several.
TEST(StrandVolume, RasterizationKeepsMassAndMomentum) {
  for (const double segment : {0.05, 0.16, 0.5}) {
    VolumeWorld world(5, 8, segment);
    world.shake(3);
    rasterize_volume(world.ex, world.volume, world.mesh, world.targets, world.state, world.grid);
    double mass = 0, on_cells = 0;
    for (const double m : world.seed.mass) mass += m;
    Vec3 on_faces = Vec3::zero(), momentum = Vec3::zero();
    for (Index e = 0; e < world.grid.touched; ++e) {
      const Index cell = world.grid.cell.data()[e];
      on_cells += world.grid.density.data()[cell] * dx * dx * dx;
      for (int k = 0; k < 3; ++k) {
        on_faces[k] += world.grid.face_mass.c[k].data()[cell];
        momentum[k] += world.grid.face_mass.c[k].data()[cell] * world.grid.u.c[k].data()[cell];
      }
    }
    EXPECT_NEAR(on_cells, mass, 1e-12 * mass);
    for (int k = 0; k < 3; ++k) {
      EXPECT_NEAR(on_faces[k], mass, 1e-12 * mass);
      EXPECT_NEAR(momentum[k], world.momentum()[k], 1e-12 * 10 * mass);
    }
  }
}

// A strand whose segments span three cells is as dense between its vertices as at them: else the fluid would have gaps
// through which others slip.
TEST(StrandVolume, LongSegmentsLeaveNoGaps) {
  VolumeWorld world(1, 6, 3 * dx);
  rasterize_volume(world.ex, world.volume, world.mesh, world.targets, world.state, world.grid);
  std::vector<double> along(static_cast<std::size_t>(world.grid.grid.size[0]), 0);
  double mass = 0;
  for (const double m : world.seed.mass) mass += m;
  for (Index e = 0; e < world.grid.touched; ++e) {
    Index at[3];
    world.grid.grid.place(world.grid.cell.data()[e], at);
    along[std::size_t(at[0])] += world.grid.density.data()[world.grid.cell.data()[e]] * dx * dx * dx;
  }
  for (std::size_t i = 4; i + 4 < along.size(); ++i) EXPECT_NEAR(along[i], mass / 18, 1e-9 * mass) << i;
}

// Incompressible: hair neither gathers nor opens, but for the rate at which what is too dense shall open.
TEST(StrandVolume, BilateralHasTheDivergenceAskedFor) {
  VolumeWorld world(10, 24);
  world.shake(1);
  world.squeeze(0.8);
  const VolumeReport report = world.project();
  EXPECT_TRUE(report.converged);
  EXPECT_GT(report.unknowns, 200);
  EXPECT_LT(world.largest_error(), 2e-8);
  double most = 0;
  for (Index e = 0; e < world.grid.touched; ++e)
    if (world.is_hair(world.grid.cell.data()[e])) most = std::max(most, world.wanted(world.grid.cell.data()[e]));
  EXPECT_GT(most, 50);  // there was something to take off
}

// As groomed, hair is where it shall be: what makes it open is less than a tenth of a cell in a step.
TEST(StrandVolume, GroomedHairIsHardlyMoved) {
  VolumeWorld world(14, 40);
  world.blend();
  double fastest = 0;
  for (Index i = 0; i < world.mesh.vertices; ++i) fastest = std::max(fastest, length(world.v(i)));
  EXPECT_LT(fastest, 0.1 * dx / dt);
}

// Pressure does no work but what targets ask for.
TEST(StrandVolume, ZeroTargetAddsNoKineticEnergy) {
  for (const auto way : {Incompressibility::bilateral, Incompressibility::clamped, Incompressibility::separating})
    for (const double flip : {0.0, 0.95, 1.0})
      for (const unsigned number : {1u, 2u, 3u}) {
        VolumeWorld world(8, 20);
        world.volume.regain = 0;
        world.volume.incompressibility = way;
        world.volume.flip = flip;
        world.shake(number);
        const double before = world.kinetic();
        EXPECT_TRUE(world.blend().converged);
        EXPECT_LT(world.kinetic(), before);
      }
}

// Without solids nothing outside of the hair takes its momentum. On the grid that holds to the solver's error; of
// vertices but for faces lighter than a tenth of the density, which count as if they were not.
TEST(StrandVolume, PressureKeepsMomentum) {
  for (const auto way : {Incompressibility::bilateral, Incompressibility::clamped, Incompressibility::separating}) {
    VolumeWorld world(10, 24);
    world.volume.incompressibility = way;
    world.squeeze(0.9);
    world.set_velocities([&](const Vec3& x) {
      return Vec3{{5 * std::sin(3 * x[1]), 10 - 30 * x[1] * x[1], 7 * std::cos(2 * x[0])}};
    });
    const Vec3 before = world.momentum();
    world.project();
    Vec3 change = Vec3::zero(), pushed = Vec3::zero();
    for (Index e = 0; e < world.grid.touched; ++e) {
      const Index cell = world.grid.cell.data()[e];
      for (int k = 0; k < 3; ++k) {
        const double c = world.grid.pressure.level[0].coefficient.c[k].data()[cell];
        if (c == 0) continue;
        const double p = (world.grid.u_new.c[k].data()[cell] - world.grid.u.c[k].data()[cell]) / c;
        change[k] += p * dx * dx * dx;
        pushed[k] += std::abs(p) * dx * dx * dx;
      }
    }
    for (int k = 0; k < 3; ++k) EXPECT_LT(std::abs(change[k]), 1e-12 * pushed[k]);
    world.blend();
    for (int k = 0; k < 3; ++k) EXPECT_LT(std::abs(world.momentum()[k] - before[k]), 0.05 * pushed[k]) << k;
  }
}

// Contact pushes or is not there: no cell has negative pressure, none is pressed together faster than it may, and where
// there is pressure the bound is met.
TEST(StrandVolume, SeparatingPushesOnly) {
  VolumeWorld world(10, 24);
  world.volume.incompressibility = Incompressibility::separating;
  world.volume.rounds = 30;
  world.shake(4);
  world.squeeze(0.9);
  const VolumeReport report = world.project();
  EXPECT_TRUE(report.converged);
  EXPECT_LE(report.rounds, 12);
  double scale = 0;
  Index with = 0, without = 0;
  for (Index e = 0; e < world.grid.touched; ++e)
    scale = std::max(scale, std::abs(world.grid.right.data()[world.grid.cell.data()[e]]) / dx);
  for (Index e = 0; e < world.grid.touched; ++e) {
    const Index cell = world.grid.cell.data()[e];
    if (!world.is_hair(cell)) continue;
    const double q = world.grid.pressure.q.data()[cell], rho = world.grid.density.data()[cell];
    const double target = world.grid.target.data()[cell];
    const double least = rho > target ? world.wanted(cell) : (rho - target) / (rho * dt);
    const double slack = world.divergence(cell) - least;
    EXPECT_GE(q, 0);
    EXPECT_GT(slack, -1e-7 * scale);
    EXPECT_LT(q > 0 ? slack : 0, 1e-7 * scale);
    ++(q > 0 ? with : without);
  }
  EXPECT_GT(with, 100);
  EXPECT_GT(without, 100);
}

/// Part of the speed of opening that a bundle has left after one step.
double opening_left(Incompressibility way) {
  VolumeWorld world(14, 30);
  world.volume.incompressibility = way;
  world.squeeze(1.3);  // thinner than groomed: nothing asks it to keep together but incompressibility itself
  const Vec3 middle = world.middle();
  const auto radial = [&](const Vec3& x) { return Vec3{{0, x[1] - middle[1], x[2] - middle[2]}}; };
  world.set_velocities([&](const Vec3& x) { return 20.0 * radial(x); });
  const auto rate = [&] {
    double out = 0, square = 0;
    for (Index i = 0; i < world.mesh.vertices; ++i) {
      const Vec3 r = radial(world.x(i));
      out += dot(world.v(i), r);
      square += squared_norm(r);
    }
    return out / square;
  };
  const double before = rate();
  world.blend();
  return rate() / before;
}

// Strands that part do not attract each other. The fluid's bilateral condition pulls them together, the numerical
// cohesion that Han 2019 shows of it (Fig. 15); the one-sided conditions let them go.
TEST(StrandVolume, OnlyTheBilateralVolumeIsCohesive) {
  EXPECT_LT(opening_left(Incompressibility::bilateral), 0.4);
  EXPECT_GT(opening_left(Incompressibility::clamped), 0.99);
  EXPECT_GT(opening_left(Incompressibility::separating), 0.99);
}

// What is as dense as it was groomed is not pressed together, by any of the three.
TEST(StrandVolume, AllResistCompression) {
  for (const auto way : {Incompressibility::bilateral, Incompressibility::clamped, Incompressibility::separating}) {
    VolumeWorld world(14, 30);
    world.volume.incompressibility = way;
    world.volume.regain = 0;
    world.squeeze(0.9);
    const Vec3 middle = world.middle();
    world.set_velocities([&](const Vec3& x) { return Vec3{{0, -20 * (x[1] - middle[1]), -20 * (x[2] - middle[2])}}; });
    const double before = world.kinetic();
    world.blend();
    EXPECT_LT(world.kinetic(), 0.35 * before);
  }
}

// Hair does not flow into the ground, and what is thrown off it may leave where it may separate.
TEST(StrandVolume, SolidsHoldTheVolumeBack) {
  for (const auto way : {Incompressibility::bilateral, Incompressibility::separating}) {
    VolumeWorld world(10, 20);
    world.volume.incompressibility = way;
    world.volume.regain = 0;
    ColliderSpec floor;
    HalfSpace<double> ground{};
    ground.normal = {{0, 1, 0}};
    floor.shape = ground;
    const std::vector<ColliderSpec> specs{floor};
    world.colliders.load(world.ex, specs, {});
    world.walls = world.colliders.place(world.ex, specs, 0, dt, {});
    for (const double speed : {-50.0, 50.0}) {
      world.set_velocities([&](const Vec3&) { return Vec3{{0, speed, 0}}; });
      world.project();
      int faces = 0;
      for (Index e = 0; e < world.grid.touched; ++e) {
        const Index cell = world.grid.cell.data()[e];
        if ((world.grid.blocked.data()[cell] & 2) == 0) continue;
        const double u = world.grid.u_new.c[1].data()[cell];
        if (speed < 0 || way == Incompressibility::bilateral)
          EXPECT_EQ(u, 0);
        else
          EXPECT_NEAR(u, speed, 1e-9 * speed);
        ++faces;
      }
      EXPECT_GT(faces, 20);
    }
  }
}

/// Iterations for a ball of cells with air around and densities at random, n cells across.
int iterations_of(Index n) {
  Exec ex(1);
  PressureSolver<double> solver;
  CellGrid grid;
  for (Index& size : grid.size) size = n + 2;
  clear_pressure(ex, grid, solver);
  std::mt19937 random(11);
  std::uniform_real_distribution<double> any(0, 1);
  PressureLevel<double>& finest = solver.level[0];
  const auto is_hair = [&](Index cell) {
    Index at[3];
    grid.place(cell, at);
    double r2 = 0;
    for (const Index i : at) r2 += (i - 0.5 * (n + 1)) * (i - 0.5 * (n + 1));
    return grid.inside(at) && r2 < 0.25 * (n - 1) * (n - 1);
  };
  for (int k = 0; k < 3; ++k)
    for (Index cell = 0; cell < grid.count(); ++cell)
      finest.coefficient.c[k].data()[cell] = 1 / (0.3 + 2 * any(random));
  Array<double> right;
  right.resize_discard(grid.count());
  for (Index cell = 0; cell < grid.count(); ++cell) {
    right.data()[cell] = any(random) - 0.5;
    if (!is_hair(cell)) continue;
    for (int k = 0; k < 3; ++k)
      finest.diagonal.data()[cell] +=
          finest.coefficient.c[k].data()[cell] + finest.coefficient.c[k].data()[cell + grid.stride(k)];
  }
  build_pressure(ex, solver);
  const double scale = largest_right_hand_side(ex, right, solver);
  const PressureReport report = solve_pressure(ex, right, scale, 1e-8, 200, solver);
  EXPECT_TRUE(report.converged) << n;
  return report.iterations;
}

// Multigrid: the solve takes about as many iterations on a grid of four times the resolution.
TEST(StrandVolume, IterationsHardlyGrowWithTheGrid) {
  const int coarse = iterations_of(16), middle = iterations_of(32), fine = iterations_of(64);
  RecordProperty("iterations", std::to_string(coarse) + " " + std::to_string(middle) + " " + std::to_string(fine));
  EXPECT_LE(coarse, 20);
  EXPECT_LE(fine, coarse + 6);
  EXPECT_LE(middle, coarse + 6);
}

// Driven vertices go where their motion says; hair of other methods is not part of the volume.
TEST(StrandVolume, LeavesDrivenVerticesAndOtherHairAlone) {
  ContactWorld world;
  std::vector<std::vector<Vec3>> lines;
  for (int i = 0; i < 5; ++i)
    for (int j = 0; j < 5; ++j)
      lines.push_back(straight_line({{0, 0.05 * i, 0.05 * j}}, {{1.6, 0.05 * i, 0.05 * j}}, 20));
  world.add(lines, Held::at_ends, 0, {{0, -30, 0}});
  world.add(lines, Held::nowhere, 0, {{0, 50, 0}});
  world.seed.bodies[0].method = HairMethod::mcadams;
  world.load();
  VolumeRules rules;
  rules.dx = dx;
  VolumeWork<double> work;
  const VolumeTargets<double> targets = measure_volume(world.ex, rules, world.mesh, world.state, work);
  EXPECT_GT(targets.density[0], 0);
  EXPECT_EQ(targets.density[1], 0);
  volume_blend(world.ex, rules, world.mesh, targets, {}, dt, world.state, work);
  double changed = 0;
  for (Index i = 0; i < world.mesh.vertices; ++i) {
    if (i >= world.mesh.body[1].vertices.begin)
      EXPECT_EQ(world.v(i)[1], 50);
    else if (world.seed.drive[std::size_t(i)] >= 0)
      EXPECT_EQ(world.v(i)[1], 0);
    else
      changed += std::abs(world.v(i)[1] + 30);
  }
  EXPECT_GT(changed, 100);
}

// The same bytes with any number of threads.
TEST(StrandVolume, ThreadsDoNotShow) {
  std::vector<float> first;
  for (const int threads : {1, 2}) {
    std::vector<float> now;
    for (const auto way : {Incompressibility::bilateral, Incompressibility::separating}) {
      VolumeWorldOf<float> world(16, 40, 0.12, threads);
      world.volume.tolerance = 1e-4;
      world.volume.incompressibility = way;
      world.shake(9);
      world.squeeze(0.8);
      EXPECT_TRUE(world.blend().converged);
      for (int k = 0; k < 3; ++k)
        now.insert(now.end(), world.state.v.c[k].data(), world.state.v.c[k].data() + world.mesh.vertices);
    }
    if (threads == 1)
      first = now;
    else
      EXPECT_EQ(std::memcmp(first.data(), now.data(), now.size() * sizeof(float)), 0);
  }
}

// A strand that flew away must not take the machine's memory with it.
TEST(StrandVolume, RefusesAWindowBeyondReason) {
  VolumeWorld world(2, 5);
  world.state.x.c[0].data()[0] = 1e6;
  world.state.x.c[1].data()[0] = 1e6;
  try {
    world.blend();
    FAIL();
  } catch (const DeviceError& error) {
    EXPECT_NE(std::string(error.what()).find("use a larger grid spacing (grid.dx)"), std::string::npos);
  }
}

}  // namespace
}  // namespace tribo::TRIBO_BACKEND::test

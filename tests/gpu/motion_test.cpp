#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "cloud.h"
#include "device.h"
#include "snapshot.h"
#include "tribo/models/all.h"
#include "tribo/scene/reader.h"

/// \file
/// Motion that is hard on what knows where particles are: as fast as a step allows, far away, coming and going, or
/// none.

namespace tribo::test {
namespace {

using Vector = Vec<double, 3>;

/// Particles of one object in a cube about a center [cells], deformed at random, moving together.
void add_body(ParticleSeed& seed, const Model& model, unsigned number, int count, const Vector& center, double half,
              const Vector& velocity) {
  SeedMaker make(model, number);
  make.add(count, center, Vector::filled(half), 0);
  seed.x.insert(seed.x.end(), make.seed().x.begin(), make.seed().x.end());
  seed.v.insert(seed.v.end(), static_cast<std::size_t>(count), velocity);
  seed.m.insert(seed.m.end(), make.seed().m.begin(), make.seed().m.end());
  seed.object.insert(seed.object.end(), static_cast<std::size_t>(count), 0);
  seed.F.insert(seed.F.end(), make.seed().F.begin(), make.seed().F.end());
}

Model soft_model(int dimension) {
  std::vector<MaterialSpec> materials = {every_material()[0]};
  materials[0].law = FixedCorotated<double>{.mu = 10, .lambda = 10, .viscosity = 0};
  Model model = cloud_model(dimension, materials, 1);
  model.gravity = Vector::zero();
  model.objects[0].motion = {};
  return model;
}

Vector momentum_of(const Snapshot& shot, int dimension) {
  Vector sum = Vector::zero();
  for (std::size_t i = 0; i < shot.size(); ++i)
    for (int k = 0; k < dimension; ++k) sum[k] += shot.at("m.0", i) * shot.at(fmt::format("v.{}", k), i);
  return sum;
}
double mass_of(const Snapshot& shot) {
  double sum = 0;
  for (std::size_t i = 0; i < shot.size(); ++i) sum += shot.at("m.0", i);
  return sum;
}

class HardMotion : public OnDeviceWith<int> {};
INSTANTIATE_TEST_SUITE_P(Gpu, HardMotion, ::testing::Values(2, 3),
                         [](const auto& test) { return fmt::format("{}D", test.param); });

/// Bodies that leave in all directions, each of their particles nearly one cell further in every step.
TEST_P(HardMotion, NearlyOneCellAStep) {
  const int D = GetParam();
  Model model = soft_model(D);
  model.time.cfl = 0.98;
  model.time.dt_max = 1;
  ParticleSeed seed;
  const double speed = 3;
  for (int way = 0; way < 27; ++way) {
    const Vector direction{{way % 3 - 1.0, way / 3 % 3 - 1.0, D == 3 ? way / 9 - 1.0 : 0.0}};
    const double length = std::sqrt(squared_norm(direction));
    if (length == 0 || (D == 2 && way >= 9)) continue;
    add_body(seed, model, static_cast<unsigned>(way), 60, direction * (9 / length), 1.2, direction * (speed / length));
  }
  const auto expected = make_engine(reference(), model, seed);
  const auto found = make_engine(tested(), model, seed);
  const Vector before = momentum_of(snapshot(*found), D);
  const int steps = 40;
  double longest = 0;
  for (int step = 0; step < steps; ++step) {
    expected->step(1e9);
    const Snapshot last = snapshot(*found);
    found->step(1e9);
    const Snapshot now = snapshot(*found);
    for (std::size_t i = 0; i < now.size(); ++i) {
      double moved = 0;
      for (int k = 0; k < D; ++k)
        moved += std::pow(now.at(fmt::format("x.{}", k), i) - last.at(fmt::format("x.{}", k), i), 2);
      longest = std::max(longest, std::sqrt(moved) / model.dx);
    }
  }
  EXPECT_GT(longest, 0.9);
  expect_agreement(snapshot(*expected), snapshot(*found), model.dx, steps * 1e-9);
  const Snapshot after = snapshot(*found);
  const Vector drift = momentum_of(after, D) - before;
  EXPECT_LT(std::sqrt(squared_norm(drift)), 1e-11 * speed * mass_of(after));
}

/// At rest nothing bounds the first step but gravity, which only the grid feels: it must be taken again, shorter.
TEST_P(HardMotion, StepsThatAreTooLongAreTakenAgain) {
  Model model = soft_model(GetParam());
  model.gravity = {{0, -3e5, 0}};
  model.time.dt_max = 1e-3;
  ParticleSeed seed;
  add_body(seed, model, 1, 2000, {{-4, 5, 3}}, 6, Vector::zero());
  const auto expected = make_engine(reference(), model, seed);
  const auto found = make_engine(tested(), model, seed);
  for (int step = 0; step < 4; ++step) {
    const StepReport a = expected->step(1e9);
    const StepReport b = found->step(1e9);
    EXPECT_STREQ(a.limit, b.limit);
    EXPECT_NEAR(a.dt, b.dt, 1e-9 * a.dt);
    if (step == 0) {
      EXPECT_STREQ(b.limit, "retry");
      EXPECT_LE(3e5 * b.dt * b.dt, model.dx);
    }
  }
  expect_agreement(snapshot(*expected), snapshot(*found), model.dx, 4e-9);
}

/// A body crosses hundreds of blocks, far from where the run began.
TEST_P(HardMotion, AcrossHundredsOfBlocks) {
  const int D = GetParam();
  const Model model = soft_model(D);
  ParticleSeed seed;
  const Vector velocity{{-40, 25, D == 3 ? 10.0 : 0.0}};
  add_body(seed, model, 2, 300, {{3, -2, 1}}, 2, velocity);
  const auto expected = make_engine(reference(), model, seed);
  const auto found = make_engine(tested(), model, seed);
  const Snapshot start = snapshot(*found);
  const double duration = 300 * 4 * model.dx / 40;  // 300 blocks along x
  while (expected->time() < duration) expected->step(duration);
  while (found->time() < duration) found->step(duration);
  const Snapshot end = snapshot(*found);
  double moved = 0;
  for (std::size_t i = 0; i < end.size(); ++i) moved += end.at("m.0", i) * (end.at("x.0", i) - start.at("x.0", i));
  EXPECT_NEAR(moved / mass_of(end), -40 * duration, 1e-9);
  expect_agreement(snapshot(*expected), end, model.dx, 1e-9 * static_cast<double>(found->step_count()));
}

TEST_P(HardMotion, BodiesThatFlyApart) {
  const int D = GetParam();
  const Model model = soft_model(D);
  ParticleSeed seed;
  for (int k = 0; k < D; ++k)
    for (const double side : {-1.0, 1.0}) {
      Vector direction = Vector::zero();
      direction[k] = side;
      add_body(seed, model, static_cast<unsigned>(2 * k + (side > 0)), 100, direction * 6.0, 1.5,
               direction * (20 + 3.0 * k));
    }
  const auto expected = make_engine(reference(), model, seed);
  const auto found = make_engine(tested(), model, seed);
  for (int step = 0; step < 600; ++step) {
    expected->step(1e9);
    found->step(1e9);
  }
  expect_agreement(snapshot(*expected), snapshot(*found), model.dx, 600e-9);
}

/// Bodies so far apart that the world between them cannot be held in memory, each crossing into new tiles of it.
TEST_P(HardMotion, BodiesAcrossAnEmptyWorld) {
  const int D = GetParam();
  const Model model = soft_model(D);
  ParticleSeed seed;
  unsigned number = 0;
  for (const double far : {-40000.0, -7000.0, 0.0, 26000.0}) {
    const Vector at{{far, -0.7 * far + 11, D == 3 ? 0.4 * far - 5 : 0.0}};
    const Vector velocity{{far > 0 ? 40.0 : -35.0, 20, D == 3 ? -30.0 : 0.0}};
    add_body(seed, model, number++, 150, at, 2, velocity);
  }
  const auto expected = make_engine(reference(), model, seed);
  const auto found = make_engine(tested(), model, seed);
  for (int step = 0; step < 500; ++step) {
    expected->step(1e9);
    found->step(1e9);
  }
  expect_agreement(snapshot(*expected), snapshot(*found), model.dx, 500e-9);
}

TEST_P(HardMotion, NoParticles) {
  const Model model = soft_model(GetParam());
  const auto engine = make_engine(tested(), model, {});
  for (int step = 0; step < 5; ++step) engine->step(1e9);
  EXPECT_EQ(engine->counts().particles, 0);
  EXPECT_EQ(engine->step_count(), 5);
  EXPECT_DOUBLE_EQ(engine->time(), 5 * model.time.dt_max);
  EXPECT_EQ(engine->measure()[0].mass, 0);
  EXPECT_EQ(arrange(engine->frame(0)).find("x")->count, 0u);
}

TEST_P(HardMotion, OneParticleFalls) {
  Model model = soft_model(GetParam());
  model.gravity = {{0, -9.81, 0}};
  ParticleSeed seed;
  add_body(seed, model, 3, 1, {{-1, 2, -1}}, 1, {{0.5, 0, 0}});
  const auto engine = make_engine(tested(), model, seed);
  const Snapshot before = snapshot(*engine);
  while (engine->time() < 0.2) engine->step(0.2);
  const Snapshot after = snapshot(*engine);
  EXPECT_NEAR(after.at("v.1", 0), -9.81 * 0.2, 1e-9);
  EXPECT_NEAR(after.at("v.0", 0), 0.5, 1e-9);
  EXPECT_NEAR(after.at("x.0", 0) - before.at("x.0", 0), 0.1, 1e-9);
  // Symplectic Euler falls by half a step's way more than the parabola.
  EXPECT_NEAR(after.at("x.1", 0) - before.at("x.1", 0), -0.5 * 9.81 * 0.04, 9.81 * 0.2 * 1e-3);
}

/// What emitters have given out and sinks have not taken is there, to the particle and the gram.
TEST_P(HardMotion, EmittersAndSinks) {
  const int D = GetParam();
  const Scene scene = parse_scene(
      fmt::format(R"({{"tribo": 1, "dimension": {}, "precision": "double", "duration": 1, "grid": {{"dx": 0.04}},
        "materials": {{"water": "water", "sand": "dry_sand"}},
        "objects": [
          {{"name": "jet", "type": "emitter", "shape": {{"box": [0.1, 0.1, 0.1]}}, "at": [0, 0.5, 0],
            "velocity": [1.5, 0, 0], "material": "water", "until": 0.25}},
          {{"name": "rain", "type": "emitter", "shape": {{"box": [0.2, 0.08, 0.08]}}, "at": [0.4, 0.8, 0],
            "velocity": [0, -2, 0], "material": "sand", "from": 0.05}},
          {{"name": "pool", "type": "particles", "shape": {{"box": [0.6, 0.12, 0.2]}}, "at": [0.3, 0.06, 0],
            "material": "water"}}],
        "colliders": [{{"shape": {{"half_space": [0, 1, 0]}}}}],
        "sinks": [{{"name": "drain", "shape": {{"box": [0.3, 0.2, 1]}}, "at": [0.75, 0.1, 0]}},
                  {{"name": "later", "shape": {{"box": [0.3, 0.2, 1]}}, "at": [-0.15, 0.1, 0], "from": 0.2}}]}})",
                  D),
      "test.json");
  const Model model = build_model(scene);
  const ParticleSeed seed = make_seeds(scene).of<ParticleSeed>();
  const auto expected = make_engine(reference(), model, seed);
  const auto found = make_engine(tested(), model, seed);
  const double seeded = mass_of(snapshot(*found));
  for (int frame = 1; frame <= 12; ++frame) {
    const double until = frame * 0.025;
    while (expected->time() < until) expected->step(until);
    while (found->time() < until) found->step(until);
    const EngineFlows flows = found->flows();
    double mass = seeded;
    std::int64_t count = static_cast<std::int64_t>(seed.x.size());
    for (const Flow& flow : flows.emitted) {
      mass += flow.mass;
      count += flow.particles;
    }
    for (const Flow& flow : flows.removed) {
      mass -= flow.mass;
      count -= flow.particles;
    }
    EXPECT_EQ(found->counts().particles, count);
    EXPECT_NEAR(mass_of(snapshot(*found)), mass, 1e-12 * mass);
    // Jets depend on time alone. Sinks take what has got there, which is a matter of rounding for single particles.
    EXPECT_EQ(found->counts().emitted, expected->counts().emitted);
    EXPECT_NEAR(static_cast<double>(found->counts().removed), static_cast<double>(expected->counts().removed),
                2 + 0.01 * static_cast<double>(expected->counts().removed));
  }
  EXPECT_GT(found->counts().emitted, 100);
  for (const Flow& flow : found->flows().removed) EXPECT_GT(flow.particles, 10);
}

}  // namespace
}  // namespace tribo::test

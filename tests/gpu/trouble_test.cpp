#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <regex>
#include <string>

#include "cloud.h"
#include "device.h"
#include "snapshot.h"
#include "tribo/core/errors.h"
#include "tribo/models/all.h"
#include "tribo/scene/reader.h"

/// \file
/// What goes wrong is found, in the step it happens, and named as on the CPU; and a long run takes no more memory.

namespace tribo::test {
namespace {

class Trouble : public OnDevice {
 protected:
  /// Two objects side by side, so that blaming one is a decision.
  Model model_ = cloud_model(3, {every_material()[0], every_material()[4]}, 1);
  ParticleSeed seed_ = SeedMaker(model_, 1).add(1500, {{0, 0, 0}}, {{6, 5, 4}}).seed();

  static std::string complaint(Engine& engine, int steps) {
    try {
      for (int step = 0; step < steps; ++step) engine.step(1e9);
    } catch (const DivergedError& error) {
      return error.what();
    }
    return "";
  }
  /// Step and object of a complaint.
  static std::string blamed(const std::string& text) {
    std::smatch found;
    if (!std::regex_search(text, found, std::regex("step ([0-9]+) .*object '([^']*)'"))) return "nobody: " + text;
    return "step " + found[1].str() + ", object " + found[2].str();
  }
};

/// A number of a running simulation becomes NaN, in each column that can spoil others.
TEST_F(Trouble, NotANumberIsFoundAndNamed) {
  for (const char* const column : {"v.1", "C.4", "tau.2", "F.0"}) {
    SCOPED_TRACE(column);
    std::string said[2];
    for (int side = 0; side < 2; ++side) {
      const auto engine = make_engine(side == 0 ? reference() : tested(), model_, seed_);
      for (int step = 0; step < 3; ++step) engine->step(1e9);
      Container state = save_state(*engine);
      const auto& ids = state.find("id.0")->as<std::int32_t>();
      std::size_t row = 0;
      while (ids[row] != 77) ++row;
      for (NamedArray& array : state.arrays)
        if (array.name == column)
          reinterpret_cast<double*>(array.data.data())[row] = std::numeric_limits<double>::quiet_NaN();
      engine->load(state);
      said[side] = complaint(*engine, 3);
      EXPECT_NE(said[side], "") << "no complaint";
    }
    EXPECT_NE(said[1].find("no longer finite"), std::string::npos) << said[1];
    // Neighbors are spoiled in the same step: which of them is named first may depend on the order of particles.
    EXPECT_EQ(blamed(said[1]).substr(0, 7), blamed(said[0]).substr(0, 7));
    EXPECT_EQ(blamed(said[1]).find("nobody"), std::string::npos) << said[1];
  }
}

TEST_F(Trouble, AParticleNowhereIsRefused) {
  seed_.x[5][1] = std::numeric_limits<double>::quiet_NaN();
  for (const EngineOptions& options : {reference(), tested()}) {
    try {
      make_engine(options, model_, seed_);
      ADD_FAILURE() << options.device << " took it";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::bad_input);
      EXPECT_NE(std::string(error.what()).find("the scene cannot start"), std::string::npos) << error.what();
    }
  }
}

TEST_F(Trouble, AbsurdStiffnessIsNamed) {
  model_.materials[0].law = FixedCorotated<double>{.mu = 1e25, .lambda = 1e25, .viscosity = 0};
  const auto expected = make_engine(reference(), model_, seed_);
  const auto found = make_engine(tested(), model_, seed_);
  const std::string said = complaint(*found, 50);
  EXPECT_EQ(blamed(said), "step 0, object " + model_.materials[0].name + "0") << said;
  EXPECT_EQ(blamed(complaint(*expected, 50)), blamed(said));
}

/// After a complaint the state can still be saved, for whoever wants to look at it.
TEST_F(Trouble, StateCanBeReadAfterwards) {
  const auto engine = make_engine(tested(), model_, seed_);
  engine->step(1e9);
  Container state = save_state(*engine);
  for (NamedArray& array : state.arrays)
    if (array.name == "v.0") reinterpret_cast<double*>(array.data.data())[3] = std::numeric_limits<double>::infinity();
  engine->load(state);
  EXPECT_NE(complaint(*engine, 3), "");
  EXPECT_EQ(snapshot(*engine).size(), seed_.x.size());
}

/// What `tribo check` says and the engine asks for at the start: not less than is taken, for a body of ordinary
/// density.
TEST_F(Trouble, EstimateOfMemoryHolds) {
  for (const int dimension : {2, 3})
    for (const char* const precision : {"float", "double"}) {
      SCOPED_TRACE(precision + std::to_string(dimension));
      const Model model = cloud_model(dimension, {every_material()[0]}, 1);
      const double half = dimension == 2 ? 60 : 12;  // 8 particles a cell
      const auto count = static_cast<int>(8 * std::pow(2 * half, dimension));
      const ParticleSeed seed = SeedMaker(model, 2).add(count, {{0, 0, 0}}, Vec<double, 3>::filled(half), 0.1).seed();
      const auto engine = make_engine(tested(precision), model, seed);
      for (int step = 0; step < 20; ++step) engine->step(1e9);
      const double estimate = estimated_bytes(tested(precision), model, amounts_of(Seeds(seed), model.dx));
      EXPECT_LE(static_cast<double>(engine->bytes()), 1.1 * estimate);
      EXPECT_GE(static_cast<double>(engine->bytes()), 0.4 * estimate);
    }
}

/// Water in a shaken tank, for a thousand steps: buffers have reached their sizes after two hundred.
TEST_F(Trouble, MemoryStaysFlat) {
  for (const char* const precision : {"float", "double"}) {
    SCOPED_TRACE(precision);
    const Scene scene = parse_scene(
        R"({"tribo": 1, "duration": 1, "grid": {"dx": 0.04}, "gravity": [0.3, -9.81, 0], "time": {"dt_max": 5e-4},
            "materials": {"water": "water"},
            "objects": [
              {"type": "particles", "shape": {"box": [0.8, 0.34, 0.4]}, "at": [0, 0.17, 0], "material": "water"}],
            "colliders": [{"shape": {"box": [0.8, 0.8, 0.4]}, "inside": true, "motion": [
              {"time": 0, "at": [0, 0.4, 0]}, {"time": 0.05, "at": [0.01, 0.4, 0]}, {"time": 0.1, "at": [0, 0.4, 0]},
              {"time": 0.15, "at": [0.01, 0.4, 0]}, {"time": 0.2, "at": [0, 0.4, 0]},
              {"time": 0.25, "at": [0.01, 0.4, 0]}, {"time": 0.3, "at": [0, 0.4, 0]}]}]})",
        "test.json");
    const auto engine = make_engine(tested(precision), build_model(scene), make_seeds(scene));
    for (int step = 0; step < 200; ++step) engine->step(1e9);
    const std::size_t settled = engine->bytes();
    for (int step = 200; step < 1000; ++step) engine->step(1e9);
    EXPECT_LE(engine->bytes(), settled);
    EXPECT_GT(settled, 0u);
  }
}

}  // namespace
}  // namespace tribo::test

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "scene_text.h"

/// \file
/// Solids that are pinned to rigid bodies.

namespace tribo::test {
namespace {

using V = Vec<double, 3>;

/// A block of jelly on a plate that is `density` heavy. `more` is of the scene, `pin` of the pin.
std::string block_on_plate(const std::string& precision, double density, const std::string& plate,
                           const std::string& more, const std::string& gravity) {
  return fmt::format(
      R"({{"tribo": 1, "precision": "{}", "fps": 100, "duration": 10, "gravity": {}, "grid": {{"dx": 0.02}},
           "materials": {{"jelly": {{"model": "fixed_corotated", "density": 1000, "youngs_modulus": 1e5,
                                     "poisson_ratio": 0.3}}}},
           "objects": [
             {{"name": "block", "type": "solid", "material": "jelly", "element_size": 0.03, "at": [0, 0.03, 0],
               "shape": {{"box": [0.06, 0.06, 0.06]}},
               "pins": [{{"shape": {{"half_space": [0, 1, 0]}}, "at": [0, 0.001, 0], "body": "plate"}}]}},
             {{"name": "plate", "type": "rigid", "shape": {{"box": [0.1, 0.02, 0.1]}}, "at": [0, -0.01, 0],
               "density": {}, {}}}] {}}})",
      precision, gravity, density, plate, more);
}
ObjectSums all(Simulation& simulation) {
  ObjectSums sum;
  for (const ObjectSums& one : simulation.measure()) sum.add(one);
  return sum;
}

/// Promise: what is pinned to a free body bears on it, and goes with it: mass is counted once, linear and angular
/// momentum are kept to rounding, what waves have is damped away, and the block stays on the plate.
TEST(RigidPins, KeepMomenta) {
  for (const double density : {10.0, 1000.0, 1e5}) {
    SCOPED_TRACE(density);
    Simulation simulation = simulate(block_on_plate(
        "double", density, R"("velocity": [0.3, 0, 0.1], "angular_velocity": [2, 1, -3])", "", "[0, 0, 0]"));
    const ObjectSums start = all(simulation), plate = simulation.measure()[1];
    EXPECT_NEAR(start.mass, 1000 * 0.06 * 0.06 * 0.06 + density * 0.1 * 0.02 * 0.1, 1e-12 * start.mass);
    const V first = center(simulation.measure()[0]) - center(plate);
    const double energy = start.kinetic + start.elastic;
    for (int frame = 0; frame < 20; ++frame) simulation.advance_frame();
    const ObjectSums now = all(simulation);
    EXPECT_LE(now.kinetic + now.elastic, energy);
    EXPECT_GT(norm(simulation.measure()[1].momentum - plate.momentum),
              0.1 * std::min(plate.mass, start.mass - plate.mass) * 0.3);
    EXPECT_LT(norm(now.momentum - start.momentum), 1e-12 * norm(start.momentum));
    EXPECT_LT(norm(now.angular_momentum - start.angular_momentum), 1e-12 * norm(start.angular_momentum));
    const V last = center(simulation.measure()[0]) - center(simulation.measure()[1]);
    EXPECT_NEAR(norm(last), norm(first), 0.2 * norm(first));
  }
}

/// Promise: on a body that follows keyframes the block goes along.
TEST(RigidPins, GoWithKeyframes) {
  std::string text = block_on_plate("float", 1000, "XX", "", "[0, -9.81, 0]");
  const std::string old = R"("at": [0, -0.01, 0],
               "density": 1000, XX)";
  ASSERT_NE(text.find(old), std::string::npos);
  text.replace(text.find(old), old.size(),
               R"("motion": [{"time": 0, "at": [0, -0.01, 0]}, {"time": 0.5, "at": [0.5, -0.01, 0]}])");
  Simulation simulation = simulate(text);
  for (int frame = 0; frame < 80; ++frame) simulation.advance_frame();
  EXPECT_NEAR(center(simulation.measure()[0])[0], 0.5, 0.01);
  EXPECT_NEAR(center(simulation.measure()[0])[1], 0.03, 0.003);
}

/// Promise: a joint that holds the plate bears the weight of both.
TEST(RigidPins, WeighOnWhatHoldsTheBody) {
  for (const char* precision : {"float", "double"}) {
    Simulation simulation = simulate(
        block_on_plate(precision, 1000, R"("velocity": [0, 0, 0])",
                       R"(, "joints": [{"type": "weld", "name": "wall", "between": "plate"}])", "[0, -9.81, 0]"));
    for (int frame = 0; frame < 100; ++frame) simulation.advance_frame();
    const double weight = 9.81 * all(simulation).mass;
    EXPECT_NEAR(simulation.joints()[0].force[1], weight, 0.01 * weight) << precision;
    EXPECT_LT(norm(velocity(simulation.measure()[1])), 1e-9) << precision;
  }
}

}  // namespace
}  // namespace tribo::test

#include "tribo/run/statistics.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tribo/scene/reader.h"

/// \file
/// What a line of statistics says of a motion that is known.

namespace tribo {
namespace {

/// Promise: what turns as a rigid body has the angular velocity it was given, whatever it is made of. Where the spin of
/// particles is in the angular momentum, their own inertia must be in what that is divided by: without m dx^2 / 2 the
/// cube whose vertices are particles would seem to turn a sixth too fast.
TEST(Statistics, RigidRotationComesOutExactly) {
  const std::string cube = R"("shape": {"box": [0.2, 0.2, 0.2]}, "material": "m", )";
  const std::string made_of[] = {
      R"("type": "particles", )" + cube,
      R"("type": "solid", "element_size": 0.05, )" + cube,
      R"("type": "solid", "method": "updated_lagrangian", "element_size": 0.05, )" + cube,
  };
  for (const std::string& keys : made_of) {
    Simulation simulation(
        parse_scene(
            fmt::format(
                R"({{"tribo": 1, "fps": 100, "duration": 1, "precision": "double", "gravity": [0, 0, 0],
                     "grid": {{"dx": 0.05}},
                     "materials": {{"m": {{"model": "fixed_corotated", "density": 1000, "youngs_modulus": 2.5e5,
                                          "poisson_ratio": 0.3}}}},
                     "objects": [{{"name": "top", {}"velocity": [0.3, 0.2, -0.1], "angular_velocity": [2, 3, -1]}}]}})",
                keys),
            "test.json"),
        {});
    const std::string line = frame_statistics(simulation, 0, {});
    const double expected[] = {2, 3, -1};
    for (int k = 0; k < 3; ++k) {
      const std::string expect =
          fmt::format(R"({{"final": {{"/objects/top/angular_velocity/{}": {{"min": {}, "max": {}}}}}}})", k,
                      expected[k] - 1e-9, expected[k] + 1e-9);
      for (const std::string& unmet : unmet_expectations(expect, {line})) ADD_FAILURE() << keys << unmet;
    }
  }
}

/// Promise: a straight strand that flies does not seem to turn, whichever way it points, though it has no inertia about
/// itself.
TEST(Statistics, StraightStrandsFlyWithoutTurning) {
  for (const char* precision : {"float", "double"})
    for (const char* axis : {"[1, 0, 0]", "[0, 1, 0]", "[0, 0, 1]", "[1, 2, 3]"}) {
      Simulation simulation(
          parse_scene(fmt::format(
                          R"({{"tribo": 1, "fps": 50, "duration": 1, "precision": "{}", "gravity": [0, 0, 0],
                       "grid": {{"dx": 0.01}},
                       "objects": [{{"name": "hair", "type": "hair", "roots": "free", "radius": 4e-5, "segments": 40,
                                    "strands": {{"tube": {{"count": 1, "length": 0.1, "spacing": 0.01}}}},
                                    "rotation": {{"axis": {}, "degrees": 40}}, "at": [1, 2, 3],
                                    "velocity": [3, 2, -1]}}]}})",
                          precision, axis),
                      "test.json"),
          {});
      const double noise = 6e-4 * std::sqrt(14) / (0.1 / std::sqrt(12));  // of floats: 6e-4 v / R
      for (int frame = 0; frame < 6; ++frame) {
        const std::string line = frame_statistics(simulation, frame, {});
        for (int k = 0; k < 3; ++k) {
          const std::string expect = fmt::format(
              R"({{"final": {{"/objects/hair/angular_velocity/{}": {{"min": {}, "max": {}}}}}}})", k, -noise, noise);
          for (const std::string& unmet : unmet_expectations(expect, {line}))
            ADD_FAILURE() << precision << " " << axis << " " << frame << " " << unmet;
        }
        simulation.advance_frame();
      }
    }
}

}  // namespace
}  // namespace tribo

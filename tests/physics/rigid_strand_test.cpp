#include <gtest/gtest.h>

#include "rigid_strand_world.h"

/// \file
/// Rigid bodies against strands, both ways.

namespace tribo::test {
namespace {

/// A bundle of strands that lies ahead of what flies into it.
std::string bundle(const std::string& precision, double density, double friction = 0.3) {
  return fmt::format(
      R"({{"tribo": 1, "precision": "{}", "fps": 100, "duration": 10, "gravity": [0, 0, 0], "grid": {{"dx": 0.02}},
           "time": {{"dt_max": 0.001}}, "strand_contact": {{"grid": {{"on": false}}}},
           "objects": [
             {{"name": "hair", "type": "hair", "radius": 0.002, "segments": 16, "roots": "free", "youngs_modulus": 1e7,
               "density": {}, "friction": {},
               "strands": {{"tube": {{"count": 19, "length": 0.16, "spacing": 0.01}}}}}}]}})",
      precision, density, friction);
}
std::vector<HandmadeBody> thrown(double mass) {
  HandmadeBody ball = HandmadeBody::ball(0.04, mass, {{-0.09, 0.012, 0.006}}, {{1, 0, 0}});
  ball.friction = 0.4;
  ball.spin = {{0, 3, 5}};
  return {ball};
}

/// Promise: what keeps strands out of a body acts on the body: momentum is kept to rounding, energy does not rise, and
/// both go on together, whoever is heavier.
TEST(RigidStrands, BodiesBearWhatTheyHold) {
  for (const char* precision : {"float", "double"})
    for (const double mass : {1e-3, 1e-2, 0.1, 1.0, 10.0, 1e3}) {
      RigidStrandWorld world(bundle(precision, 1000), thrown(mass));
      const std::vector<ObjectSums> before = world.measure();
      const double start = before[0].kinetic + before[1].kinetic;
      for (int frame = 1; frame <= 12; ++frame) {
        world.run_to(0.01 * frame);
        const ObjectSums now = world.all();
        EXPECT_LT(now.kinetic + now.elastic, 1.001 * start) << precision << mass;
      }
      const std::vector<ObjectSums> after = world.measure();
      const Vec3 before_all = before[0].momentum + before[1].momentum, after_all = after[0].momentum + after[1].momentum;
      const double exchanged = norm(after[0].momentum - before[0].momentum);
      EXPECT_GT(exchanged, 0.2 * std::min(before[0].mass, before[1].mass)) << "they should have met";
      // What is lost of the momentum of the heavier one is its rounding.
      EXPECT_LT(norm(after_all - before_all),
                (precision == std::string("float") ? 1e-5 : 1e-12) * exchanged + 1e-15 * norm(before_all))
          << precision << mass;
      EXPECT_GT(velocity(after[0])[0], velocity(after[1])[0] - 0.3) << precision << mass;
    }
}

}  // namespace
}  // namespace tribo::test

#include <gtest/gtest.h>

#include "clumps.h"
#include "scene_text.h"
#include "tribo/models/all.h"
#include "tribo/models/law.h"

/// \file
/// What Stomakhin 2013 asks of snow: it packs and hardens under pressure, and the critical stretch and the hardening
/// decide whether it breaks, gives way or springs back when pulled.

namespace tribo::test {
namespace {

/// Mean over the particles of a number in the state, such as "tau.2".
double mean(Simulation& simulation, const std::string& column) {
  double sum = 0;
  simulation.engine().visit_state([&](const char* name, DType, std::int64_t count, const void* data) {
    if (name != column) return;
    for (std::int64_t i = 0; i < count; ++i) sum += static_cast<const double*>(data)[i] / static_cast<double>(count);
  });
  return sum;
}
double mean_volume_ratio(Simulation& simulation) {
  const Frame frame = simulation.observe();
  double sum = 0;
  for (const double J : frame.find("J")->as<double>()) sum += J;
  return sum / static_cast<double>(frame.find("J")->count);
}

constexpr double height = 0.2, speed = 0.2, press_until = 0.2;  // of the block [m], of the piston [m/s], [s]

/// A block of snow between smooth walls under a piston that comes down by a fifth of its height and goes up again.
Simulation press(double hardening) {
  return simulate(fmt::format(
      R"({{"tribo": 1, "dimension": 2, "precision": "double", "fps": 100, "duration": 1, "gravity": [0, 0],
           "grid": {{"dx": 0.01}}, "materials": {{"snow": {{"preset": "snow", "hardening": {}}}}},
           "objects": [{{"type": "particles", "shape": {{"box": [0.2, {}]}}, "at": [0, {}], "material": "snow"}}],
           "colliders": [{{"shape": {{"half_space": [0, 1]}}, "boundary": "slip"}},
                         {{"shape": {{"half_space": [1, 0]}}, "at": [-0.1, 0], "boundary": "slip"}},
                         {{"shape": {{"half_space": [-1, 0]}}, "at": [0.1, 0], "boundary": "slip"}},
                         {{"shape": {{"half_space": [0, -1]}}, "motion": [{{"time": 0, "at": [0, {}]}},
                           {{"time": {}, "at": [0, {}]}}, {{"time": {}, "at": [0, {}]}}]}}]}})",
      hardening, height, height / 2, height, press_until, height - speed * press_until, 2 * press_until, height));
}

/// Axial Kirchhoff stress of snow compressed to the share J of its height between walls. The elastic stretch stops at
/// 1 - theta_c; what is beyond packs it, J_P = J / (1 - theta_c), and stiffens it by exp(xi (1 - J_P)).
double confined_stress(double J, double hardening) {
  const double E = 1.4e5, nu = 0.2, theta_c = 0.025;
  const double s = std::max(J, 1 - theta_c);
  return std::exp(hardening * (1 - J / s)) * (2 * shear_modulus(E, nu) + lame_lambda(E, nu)) * (s - 1) * s;
}

TEST(Snow, PacksAndHardensUnderAPiston) {
  for (const double hardening : {0.0, 10.0}) {
    Simulation simulation = press(hardening);
    std::vector<double> curve;
    // Means over twentieths of a second: the stress jumps whenever the piston takes hold of the next layer of nodes.
    for (int part = 0; part < 4; ++part) {
      double J = 0, stress = 0, expected = 0;
      for (int i = 0; i < 5; ++i) {
        simulation.advance_frame();
        J += mean_volume_ratio(simulation) / 5;
        stress += mean(simulation, "tau.2") / 5;
        expected += confined_stress(mean_volume_ratio(simulation), hardening) / 5;
      }
      RecordProperty(fmt::format("xi_{}_J_{:.3f}", hardening, J), fmt::format("{:.0f} Pa ({:.0f})", stress, expected));
      curve.push_back(stress);
      if (part == 0) continue;  // some of it has yielded and some has not
      EXPECT_NEAR(stress, expected, 0.06 * std::abs(expected)) << "xi " << hardening << ", J " << J;
    }
    EXPECT_NEAR(curve[3] / curve[1], hardening == 0 ? 1 : 2.8, 0.3);
  }
}

TEST(Snow, KeepsTheDent) {
  Simulation simulation = press(10);
  while (simulation.frame() < 20) simulation.advance_frame();
  const double pressed = mean_volume_ratio(simulation);
  while (simulation.frame() < 30) simulation.advance_frame();
  const double left = mean_volume_ratio(simulation);
  RecordProperty("volume", fmt::format("{:.4f} pressed, {:.4f} left", pressed, left));
  // The piston is gone, and what still swings is small beside what it pressed with.
  EXPECT_LT(std::abs(mean(simulation, "tau.2")), 0.15 * std::abs(confined_stress(pressed, 10)));
  EXPECT_NEAR(left, pressed / (1 - 0.025), 0.005);  // no more than the elastic part has come back
  EXPECT_LT(simulation.measure()[0].high[1], 0.9 * height);
}

struct Pulled {
  int pieces;
  double length;  ///< [m]
  double speed;   ///< of each half, away from the other [m/s]
};
/// A bar, 40 x 6 cm, whose halves are thrown apart at 0.5 m/s, after 0.2 s.
Pulled pull(double critical_stretch, double hardening) {
  Simulation simulation = simulate(fmt::format(
      R"({{"tribo": 1, "dimension": 2, "precision": "double", "fps": 5, "duration": 0.2, "gravity": [0, 0],
           "grid": {{"dx": 0.01}},
           "materials": {{"m": {{"preset": "snow", "critical_compression": 0.1, "critical_stretch": {},
                                 "hardening": {}}}}},
           "objects": [{{"type": "particles", "shape": {{"box": [0.2, 0.06]}}, "at": [-0.1, 0], "material": "m",
                         "velocity": [-0.5, 0]}},
                       {{"type": "particles", "shape": {{"box": [0.2, 0.06]}}, "at": [0.1, 0], "material": "m",
                         "velocity": [0.5, 0]}}]}})",
      critical_stretch, hardening));
  simulation.advance_frame();
  const std::vector<ObjectSums> halves = simulation.measure();
  return {clumps(simulation.observe(), 0.01, 8), halves[1].high[0] - halves[0].low[0],
          (velocity(halves[1]) - velocity(halves[0]))[0] / 2};
}

TEST(Snow, BreaksGivesWayOrSpringsBackByItsParameters) {
  // The pull stretches an elastic bar by v / c = 2.7 %. Snow that bears less and softens as it opens breaks where it
  // first gave way, and its parts fly on; without softening it flows until it has come to rest, longer than before;
  // snow that bears more swings as one piece.
  const Pulled brittle = pull(0.0075, 10), ductile = pull(0.0075, 0), tough = pull(0.1, 10);
  EXPECT_GE(brittle.pieces, 2);
  EXPECT_GT(brittle.speed, 0.35);
  EXPECT_EQ(ductile.pieces, 1);
  EXPECT_LT(std::abs(ductile.speed), 0.03);
  EXPECT_GT(ductile.length, 0.41);
  EXPECT_EQ(tough.pieces, 1);
  EXPECT_LT(tough.length, 0.405);
  // The smaller the stretch it bears, the less holds it back.
  EXPECT_GT(pull(0.0025, 10).speed, brittle.speed);
}

}  // namespace
}  // namespace tribo::test

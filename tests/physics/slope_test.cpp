#include <gtest/gtest.h>

#include "scene_text.h"

/// \file
/// Blocks that lie at rest on a slope, leaning as their weight asks, when the contact's friction is made what is
/// tested: they stay if mu > tan theta, and slide with g (sin theta - mu cos theta) otherwise. Blocks released in their
/// unstrained shape (friction_test.cpp) swing first, which helps them slide.

namespace tribo::test {
namespace {

struct Slope {
  int dimension = 2;
  double degrees = 20, friction = 0.5;
  double width = 0.2, height = 0.1, dx = 0.02;                        // [m]
  double youngs_modulus = 5e4, poisson_ratio = 0.4, viscosity = 100;  ///< jelly, damped twice as much

  double sine() const { return std::sin(degrees * pi / 180); }
  double cosine() const { return std::cos(degrees * pi / 180); }
  double along(const Vec<double, 3>& v) const { return v[0] * cosine() - v[1] * sine(); }

  std::string scene(const char* boundary, double viscosity_now) const {
    return fmt::format(
        R"({{"tribo": 1, "dimension": {}, "fps": 100, "duration": 10, "grid": {{"dx": {}}},
             "materials": {{"m": {{"model": "fixed_corotated", "density": 1000, "youngs_modulus": {},
                                   "poisson_ratio": {}, "viscosity": {}}}}},
             "objects": [{{"type": "particles", "shape": {{"box": [{}, {}, 0.2]}}, "material": "m",
                           "at": [{}, {}, 0], "rotation": {{"degrees": {}}}}}],
             "colliders": [{{"shape": {{"half_space": [{}, {}, 0]}}, "friction": {}, "boundary": "{}"}}]}})",
        dimension, dx, youngs_modulus, poisson_ratio, viscosity_now, width, height, height / 2 * sine(),
        height / 2 * cosine(), -degrees, sine(), cosine(), friction, boundary);
  }
  /// Held fast and strongly damped for a while, then free with the friction and viscosity asked for.
  Simulation at_rest(int settling_frames) const {
    Simulation held = simulate(scene("sticky", 200));
    while (held.frame() < settling_frames) held.advance_frame();
    Simulation free = simulate(scene("separate", viscosity));
    free.restore(held.checkpoint());
    return free;
  }
};

void PrintTo(const Slope& slope, std::ostream* out) {
  *out << fmt::format("{}D, {} degrees, mu {}", slope.dimension, slope.degrees, slope.friction);
}

class SlopeMatrix : public ::testing::TestWithParam<Slope> {};

TEST_P(SlopeMatrix, SlidesOrStaysByCoulombsLaw) {
  const Slope& slope = GetParam();
  Simulation simulation = slope.at_rest(50);
  const auto speed = [&] { return slope.along(velocity(simulation.measure()[0])); };
  const auto place = [&] { return slope.along(center(simulation.measure()[0])); };
  const double start = place();
  while (simulation.frame() < 70) simulation.advance_frame();
  const double early_place = place();
  // The slope of the line through the speeds of 0.6 s: what still swings averages out.
  double product = 0, square = 0;
  while (simulation.frame() < 130) {
    simulation.advance_frame();
    const double t = simulation.time() - 1.005;
    product += t * speed();
    square += t * t;
  }
  const double acceleration = product / square;
  const double crept = place() - early_place;
  const double expected = 9.81 * (slope.sine() - slope.friction * slope.cosine());
  RecordProperty("acceleration", fmt::format("{:.4f} ({:.4f})", acceleration, expected));
  RecordProperty("slid_mm", fmt::format("{:.2f}", 1000 * (place() - start)));
  if (expected > 0) {
    EXPECT_NEAR(acceleration, expected, 0.02 * expected);
  } else if (slope.friction > slope.sine() / slope.cosine() + 0.1) {
    EXPECT_LT(std::abs(crept), 2e-4);
    EXPECT_LT(place() - start, 2e-3);
  }
}

std::vector<Slope> matrix() {
  std::vector<Slope> all;
  for (const double degrees : {10, 20, 30, 40})
    for (const double friction : {0.1, 0.3, 0.5, 0.7, 0.9}) all.push_back({2, degrees, friction});
  for (const double friction : {0.3, 0.7}) all.push_back({3, 30, friction});
  return all;
}
INSTANTIATE_TEST_SUITE_P(, SlopeMatrix, ::testing::ValuesIn(matrix()), [](const auto& slope) {
  return fmt::format("D{}_slope_{}_mu_0{}", slope.param.dimension, slope.param.degrees,
                     std::lround(10 * slope.param.friction));
});

TEST(BlockOnSlope, UndampedBlockAtRestStays) {
  // Released unstrained, this block slides by more than 10 cm (docs/validation.md): its own vibration carries it, not
  // the contact.
  const Slope slope{2, 20, 0.5, 0.4, 0.2, 0.025, 2e5, 0.3, 0};
  Simulation simulation = slope.at_rest(150);
  const double start = slope.along(center(simulation.measure()[0]));
  while (simulation.frame() < 250) simulation.advance_frame();
  EXPECT_LT(std::abs(slope.along(center(simulation.measure()[0])) - start), 2e-4);
}

}  // namespace
}  // namespace tribo::test

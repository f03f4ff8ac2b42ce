#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <ostream>
#include <string>
#include <vector>

#include "device.h"
#include "tribo/scene/data_path.h"
#include "tribo/scene/reader.h"

/// \file
/// Scenes as users run them: in float the device agrees with the CPU in what can be measured, and with itself to the
/// bit.

namespace tribo::test {
namespace {

struct SceneCase {
  std::string name;  ///< under scenes/
  int frames;
  double tolerance = 1e-3;
};

/// Scenes, or beginnings of scenes, in which small differences stay small. Implicit steps are solved to 1 % of what
/// they change, and rounding decides where iterations end.
std::vector<SceneCase> calm_scenes() {
  return {{"gallery/spinning_jelly", 10},
          {"gallery/hello", 8},
          {"games201/elastic_block", 15},
          {"gallery/stiff_block", 5, 2e-2},
          {"gallery/fountain", 5}};
}

Simulation open(const std::string& name, const EngineOptions& options) {
  const std::string path = find_data("scenes/" + name + ".json");
  EXPECT_NE(path, "") << name << ": set TRIBO_DATA to the folder that holds scenes/ and materials/";
  return Simulation::open(path, simulation_options(options));
}

void expect_near_sums(const ObjectSums& a, const ObjectSums& b, double energy_scale, double tolerance) {
  EXPECT_EQ(a.particles, b.particles);
  EXPECT_NEAR(a.mass, b.mass, 1e-6 * a.mass);
  if (a.mass == 0) return;
  const double speed = std::sqrt(2 * energy_scale / a.mass);
  double size = 0;
  for (int k = 0; k < 3; ++k) size = std::max(size, a.high[k] - a.low[k]);
  for (const auto& [x, y, what] : {std::tuple{a.kinetic, b.kinetic, "kinetic"}, {a.elastic, b.elastic, "elastic"}})
    EXPECT_NEAR(x, y, tolerance * energy_scale) << what;
  for (int k = 0; k < 3; ++k) {
    EXPECT_NEAR(a.momentum[k], b.momentum[k], tolerance * a.mass * speed) << "momentum " << k;
    EXPECT_NEAR(a.angular_momentum[k], b.angular_momentum[k], tolerance * a.mass * speed * size) << "angular " << k;
    EXPECT_NEAR(a.mass_position[k] / a.mass, b.mass_position[k] / b.mass, tolerance * size) << "center " << k;
  }
}

std::ostream& operator<<(std::ostream& out, const SceneCase& scene) { return out << scene.name; }

class CalmScene : public OnDeviceWith<SceneCase> {};
INSTANTIATE_TEST_SUITE_P(Gpu, CalmScene, ::testing::ValuesIn(calm_scenes()), [](const auto& test) {
  std::string name = test.param.name;
  std::replace(name.begin(), name.end(), '/', '_');
  return name;
});

TEST_P(CalmScene, AgreesInFloat) {
  Simulation expected = open(GetParam().name, reference("float"));
  Simulation found = open(GetParam().name, tested("float"));
  ASSERT_EQ(found.scene().precision, "float");
  const std::size_t objects = expected.scene().objects.size();
  std::vector<double> scale(objects, 0);  // the most energy an object has had
  for (int frame = 1; frame <= GetParam().frames; ++frame) {
    SCOPED_TRACE(fmt::format("frame {}", frame));
    expected.advance_frame();
    found.advance_frame();
    const std::vector<ObjectSums> a = expected.measure(), b = found.measure();
    for (std::size_t o = 0; o < objects; ++o) {
      scale[o] = std::max(scale[o], a[o].kinetic + a[o].elastic);
      expect_near_sums(a[o], b[o], scale[o], GetParam().tolerance);
    }
    EXPECT_EQ(expected.engine().counts().emitted, found.engine().counts().emitted);
  }
}

TEST_P(CalmScene, HasOneResult) {
  const int frames = std::min(GetParam().frames, 4);
  std::vector<std::uint64_t> first;
  for (int run = 0; run < 2; ++run) {
    Simulation simulation = open(GetParam().name, tested("float"));
    for (int frame = 0; frame < frames; ++frame) {
      simulation.advance_frame();
      const std::uint64_t hash = simulation.state_hash();
      if (run == 0)
        first.push_back(hash);
      else
        EXPECT_EQ(hash, first[static_cast<std::size_t>(frame)]) << "frame " << frame + 1;
    }
  }
}

/// Stopped in the middle of a frame and continued in another engine, the run ends with the same bytes.
TEST_P(CalmScene, ContinuesWithTheSameBytes) {
  Simulation whole = open(GetParam().name, tested("float"));
  whole.advance_frame();
  for (int step = 0; step < 7; ++step) whole.step();
  const Container checkpoint = whole.checkpoint();
  Simulation resumed = open(GetParam().name, tested("float"));
  resumed.restore(checkpoint);
  EXPECT_EQ(resumed.state_hash(), whole.state_hash());
  for (int frame = 0; frame < 2; ++frame) {
    whole.advance_frame();
    resumed.advance_frame();
    EXPECT_EQ(resumed.state_hash(), whole.state_hash());
  }
}

}  // namespace
}  // namespace tribo::test

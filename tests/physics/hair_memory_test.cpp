#include <fmt/format.h>
#include <gtest/gtest.h>

#include "scene_text.h"
#include "tribo/engine/engine.h"
#include "tribo/matter/solids/contact_samples.h"
#include "tribo/scene/reader.h"
#include "tribo/setup/model.h"

/// \file
/// Whether hair fits the memory is told before it begins: the estimate is what a running scene comes to hold, with the
/// grid that strands meet on, of which sparse hair has far more than dense, and with contact.

namespace tribo::test {
namespace {

struct Case {
  const char* name;
  const char* scene;
  std::vector<std::string> overrides = {};
};
void PrintTo(const Case& one, std::ostream* out) { *out << one.name; }
class HairMemory : public ::testing::TestWithParam<Case> {};

TEST_P(HairMemory, IsForeseen) {
  SimulationOptions options;
  for (const std::string& text : GetParam().overrides) options.overrides.push_back(parse_override(text));
  Simulation simulation = Simulation::open(std::string(TRIBO_SCENE_DIR "/") + GetParam().scene + ".json", options);
  const Scene& scene = simulation.scene();
  for (int i = 0; i < 20; ++i) simulation.step();
  const auto held = static_cast<double>(simulation.engine().bytes());
  const EngineOptions engine{"cpu", scene.precision, 0, ""};
  const double exact = estimated_bytes(engine, build_model(scene), simulation.amounts()) / held;
  const double before = estimated_bytes(engine, build_model(scene), expected_amounts(scene)) / held;
  RecordProperty("memory", fmt::format("{:.2f} of the {:.3g} bytes that are held; before there are strands {:.2f}",
                                       exact, held, before));
  EXPECT_GT(exact, 0.7);
  EXPECT_LT(exact, 1.3);
  EXPECT_GT(before, 0.5);  // knows no more of a scalp than the box around it
  EXPECT_LT(before, 2);
}

INSTANTIATE_TEST_SUITE_P(Scenes, HairMemory,
                         ::testing::Values(Case{"tubes", "han2019/fig15_hair_tubes"},
                                           Case{"double_tubes", "han2019/fig15_hair_tubes", {"/precision=double"}},
                                           Case{"volume",
                                                "han2019/fig15_hair_tubes",
                                                {"/objects/0/method=mcadams", "/objects/1/method=mcadams"}},
                                           Case{"shaken_ball", "han2019/fig11_hair_ball"},
                                           Case{"curly_ball", "hair/hairy_ball"},
                                           Case{"head", "han2019/fig05_head_of_hair"},
                                           Case{"braid", "han2019/fig03_braid"}, Case{"curves", "hair/curves"}),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace tribo::test

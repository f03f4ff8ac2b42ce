#include "tribo/render/colors.h"

#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "small_scene.h"
#include "tribo/core/errors.h"
#include "tribo/io/run_info.h"

namespace tribo {
namespace {

TEST(ColorText, SurvivesTheRoundTrip) {
  for (const char* text : {"#000000", "#ffffff", "#d9b36c", "#010203", "#fefdfc"}) {
    ASSERT_TRUE(parse_color(text)) << text;
    EXPECT_EQ(color_text(*parse_color(text)), text);
  }
  EXPECT_EQ(color_text(*parse_color("#ABCDEF")), "#abcdef");
  const Vec<double, 3> color = *parse_color("#00ff33");
  EXPECT_EQ(color[0], 0);
  EXPECT_EQ(color[1], 1);
  EXPECT_NEAR(color[2], 0.2, 1e-12);
}

TEST(ColorText, TakesNothingElse) {
  for (const char* text : {"", "#", "#fff", "#fffffff", "fffffff", "#ggffff", "#ff ff0", "#-1ffff", "#0x1234", "red",
                           "#\xc3\xa9\xc3\xa9\xc3\xa9"})
    EXPECT_FALSE(parse_color(text)) << text;
  EXPECT_FALSE(parse_color(std::string("#12\0456", 7)));
}

TEST(ScaleColor, EndsAreVioletAndYellowAndBeyondThemNothingChanges) {
  const auto shown = [](float value) {
    Vec<double, 3> color;
    for (int k = 0; k < 3; ++k) color[k] = to_srgb(scale_color(value)[k]);
    return color_text(color);
  };
  EXPECT_EQ(shown(0), "#440154");
  EXPECT_EQ(shown(1), "#fde725");
  EXPECT_EQ(shown(0.5F), "#21918c");
  EXPECT_EQ(shown(-3), "#440154");
  EXPECT_EQ(shown(7), "#fde725");
  EXPECT_EQ(shown(std::numeric_limits<float>::infinity()), "#fde725");
  const Color undefined = scale_color(std::numeric_limits<float>::quiet_NaN());  // a color, whichever
  for (int k = 0; k < 3; ++k) EXPECT_TRUE(undefined[k] >= 0 && undefined[k] <= 1);
}

// What makes it legible in gray.
TEST(ScaleColor, BecomesBrighterAllTheWay) {
  float before = -1;
  for (int i = 0; i <= 64; ++i) {
    const Color c = scale_color(static_cast<float>(i) / 64);
    const float luminance = 0.2126F * c[0] + 0.7152F * c[1] + 0.0722F * c[2];
    EXPECT_GT(luminance, before);
    before = luminance;
  }
}

TEST(PaletteColor, FirstEightDiffer) {
  std::set<std::string> seen;
  for (int i = 0; i < 8; ++i) seen.insert(color_text(cast<double>(palette_color(i))));
  EXPECT_EQ(seen.size(), 8U);
  EXPECT_EQ(color_text(cast<double>(palette_color(8))), color_text(cast<double>(palette_color(0))));
}

template <class Real>
class Values : public testing::Test {};
using Reals = testing::Types<float, double>;
TYPED_TEST_SUITE(Values, Reals);

TYPED_TEST(Values, AreSpeedDensityAndStrain) {
  using Real = TypeParam;
  const Scene scene = test::small_scene();
  Frame frame = test::frame_of<Real>({0, 0, 0, 1, 0, 0, 2, 0, 0});
  frame.columns.push_back(test::array_of<Real>("v", 3, {3, 4, 0, 0, 0, -2, 1, 2, 2}));
  frame.columns.push_back(test::array_of<Real>("J", 1, {2, 0.5, 1}));
  frame.columns.push_back(test::array_of<Real>("strain", 1, {0.25, 0, 8}));
  const auto values = [&](const char* mode) {
    const ParticleValue value(mode, scene, frame);
    EXPECT_TRUE(value.on_scale());
    return std::vector<double>{value(0), value(1), value(2)};
  };
  EXPECT_EQ(values("velocity"), (std::vector<double>{5, 2, 3}));
  EXPECT_EQ(values("density"), (std::vector<double>{250, 4000, 500}));  // 500 at rest, 2000 at rest
  EXPECT_EQ(values("strain"), (std::vector<double>{0.25, 0, 8}));
  const ValueRange range = value_range(ParticleValue("velocity", scene, frame), 3);
  EXPECT_EQ(range.low, 2);
  EXPECT_EQ(range.high, 5);
}

TEST(ParticleValue, OfWhatIsNoNumberIsOnNoScale) {
  for (const char* mode : {"look", "object", "material"}) {
    EXPECT_FALSE(ParticleValue(mode, test::small_scene(), test::frame_of<float>({0, 0, 0})).on_scale());
    EXPECT_FALSE(is_on_scale(mode));
  }
  for (const char* mode : {"velocity", "density", "strain"}) EXPECT_TRUE(is_on_scale(mode));
}

TEST(ParticleValue, NamesTheColumnThatIsMissing) {
  const auto message = [](const char* mode) {
    return test::message_of([&] { ParticleValue(mode, test::small_scene(), test::frame_of<float>({0, 0, 0})); });
  };
  EXPECT_EQ(message("strain"), "frame 7 has no column strain, which colors by strain need (simulate it again)");
  EXPECT_EQ(message("density"), "frame 7 has no column J, which colors by density need (simulate it again)");
  EXPECT_EQ(message("velocity"), "frame 7 has no column v, which colors by velocity need (simulate it again)");
}

// A scene changed under a run: nothing is known of the density of an object it does not have.
TEST(ParticleValue, RefusesObjectsTheSceneDoesNotHave) {
  Frame frame = test::frame_of<float>({0, 0, 0, 1, 0, 0});
  frame.objects.push_back("third");
  frame.columns.push_back(test::array_of<float>("J", 1, {1, 1}));
  const std::string message = test::message_of([&] { ParticleValue("density", test::small_scene(), frame); });
  EXPECT_EQ(message, "frame 7 has 3 objects where the scene has 2: they do not belong together");
}

TEST(ValueRange, PassesOverWhatIsNoNumber) {
  Frame frame = test::frame_of<float>({0, 0, 0, 1, 0, 0, 2, 0, 0});
  frame.columns.push_back(test::array_of<float>("strain", 1, {1, std::numeric_limits<float>::quiet_NaN(), 3}));
  const ValueRange range = value_range(ParticleValue("strain", test::small_scene(), frame), 3);
  EXPECT_EQ(range.low, 1);
  EXPECT_EQ(range.high, 3);
}

}  // namespace
}  // namespace tribo

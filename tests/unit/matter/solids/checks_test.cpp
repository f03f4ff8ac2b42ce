#include <gtest/gtest.h>

#include "tribo/core/errors.h"
#include "tribo/scene/reader.h"

/// \file
/// Slips in the numbers of a solid (a unit, an exponent) are told with file, place and remedy before anything is made
/// of them: later they would be memory without end, steps without length or strains that are rounding.

namespace tribo {
namespace {

constexpr const char* scene_text = R"({ "tribo": 1, "duration": 1, "grid": { "dx": 0.1 },
  "materials": { "rubber": { "model": "fixed_corotated", "density": 1000, "youngs_modulus": 1e5, "poisson_ratio": 0.3 } },
  "objects": [
    { "name": "block", "type": "solid", "material": "rubber", "element_size": 0.1, "shape": { "box": [0.4, 0.4, 0.4] },
      "at": [0, 1, 0], "velocity": [1, 0, 0], "angular_velocity": [0, 1, 0], "damping": 1 } ] })";

/// All that is found wrong, one line each.
std::string complaints(const std::vector<std::string>& overrides) {
  std::vector<Override> parsed;
  for (const std::string& text : overrides) parsed.push_back(parse_override(text));
  std::string found;
  try {
    parse_scene(scene_text, "x.json", parsed);
  } catch (const SceneError& error) {
    for (const Finding& finding : error.findings()) found += finding.text() + "\n";
  }
  return found;
}

/// One complaint at that place, that says so.
void expect_complaint(const std::vector<std::string>& overrides, const std::string& place, const std::string& part) {
  const std::string found = complaints(overrides);
  EXPECT_EQ(std::count(found.begin(), found.end(), '\n'), 1) << overrides[0] << "\n" << found;
  EXPECT_NE(found.find(place + ": "), std::string::npos) << found;
  EXPECT_NE(found.find(part), std::string::npos) << found;
}

TEST(SolidChecks, TakeWhatIsUsual) { EXPECT_EQ(complaints({}), ""); }

TEST(SolidChecks, ElementSize) {
  for (const char* size : {"0", "-1", "1e400"}) {
    const std::string found = complaints({std::string("/objects/0/element_size=") + size});
    EXPECT_EQ(std::count(found.begin(), found.end(), '\n'), 1) << found;
  }
  for (const char* size : {"1e-4", "1e-30", "1e-300"})
    expect_complaint({std::string("/objects/0/element_size=") + size}, "/objects/0/element_size",
                     "tets of object 'block'; a mesh can have 5e+08");
  expect_complaint({"/objects/0/element_size=1e-4", "/objects/0/shape={\"sphere\": 0.2}"}, "/objects/0/element_size",
                   "raise it to");
}

TEST(SolidChecks, Damping) {
  for (const char* damping : {"1e30", "1e300", "1e12"})
    expect_complaint({std::string("/objects/0/damping=") + damping}, "/objects/0/damping", "less than time.dt_min");
  EXPECT_EQ(complaints({"/objects/0/damping=1e8"}), "");
  EXPECT_EQ(complaints({"/objects/0/damping=1e12", "/time={\"integrator\": \"implicit\"}"}), "");
  expect_complaint({"/objects/0/damping=1e30", "/time={\"integrator\": \"implicit\"}"}, "/objects/0/damping",
                   "a rigid body");
}

TEST(SolidChecks, Speed) {
  for (const char* speed : {"[1e30, 0, 0]", "[0, 1e300, 0]", "[0, 0, 1e8]"}) {
    expect_complaint({std::string("/objects/0/velocity=") + speed}, "/objects/0/velocity",
                     "object 'block' would cross");
    expect_complaint({std::string("/objects/0/angular_velocity=") + speed, "/grid/dx=0.01"},
                     "/objects/0/angular_velocity", "at its edge");
  }
  EXPECT_EQ(complaints({"/objects/0/velocity=[1e5, 0, 0]"}), "");
}

/// Single precision has 24 bits for a coordinate: tets must be some thousand times what is lost to them.
TEST(SolidChecks, Place) {
  for (const char* at : {"[1e5, 0, 0]", "[0, -1e30, 0]", "[0, 0, 1e300]"})
    expect_complaint({std::string("/objects/0/at=") + at}, "/objects/0/at", "more than cells have numbers");
  EXPECT_EQ(complaints({"/objects/0/at=[1e4, 0, 0]"}), "");
  const std::string fine = "/objects/0/element_size=0.01";
  expect_complaint({"/objects/0/at=[5e3, 0, 0]", fine}, "/objects/0/at", "use precision \"double\"");
  EXPECT_EQ(complaints({"/objects/0/at=[5e3, 0, 0]", fine, "/precision=double"}), "");
}

TEST(SolidChecks, FormatsOfTetsNeedTets) {
  EXPECT_EQ(complaints({"/output={\"formats\": [\"vtu\"]}"}), "");
  expect_complaint({"/output={\"formats\": [\"vtu\"]}", "/objects/0/method=mpm"}, "/output/formats",
                   "no object has any");
}

}  // namespace
}  // namespace tribo

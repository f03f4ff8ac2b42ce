#include "tribo/scene/reader.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "example_scene.h"
#include "tribo/core/errors.h"
#include "tribo/io/file.h"
#include "tribo/matter/particles/spec.h"
#include "tribo/models/all.h"
#include "tribo/scene/data_path.h"
#include "tribo/scene/json_reader.h"
#include "tribo/scene/presets.h"

namespace tribo {
namespace {

std::vector<std::string> messages(const std::string& text, const std::vector<std::string>& overrides) {
  std::vector<Override> parsed;
  for (const std::string& override : overrides) parsed.push_back(parse_override(override));
  std::vector<std::string> found;
  try {
    parse_scene(text, "x.json", parsed);
  } catch (const SceneError& error) {
    for (const Finding& finding : error.findings()) found.push_back(finding.text());
  }
  return found;
}

Scene with_override(const std::string& override) {
  return parse_scene(test::example_scene, "x.json", {parse_override(override)});
}

std::string first_message(const std::string& override) {
  const std::vector<std::string> found = messages(test::example_scene, {override});
  return found.size() == 1 ? found[0] : std::to_string(found.size()) + " findings";
}

TEST(SceneReader, FillsTheStructs) {
  const Scene scene = parse_scene(test::example_scene, "x.json");
  EXPECT_EQ(scene.name, "example");
  EXPECT_EQ(scene.description, "a little of everything");
  EXPECT_EQ(scene.precision, "double");
  EXPECT_EQ(scene.dimension, 3);
  EXPECT_EQ(scene.frame_count(), 63);  // 62.5, rounded away from zero
  EXPECT_EQ(scene.gravity[1], -9.80665);
  EXPECT_EQ(scene.time.dt_min, 1e-10);

  ASSERT_EQ(scene.materials.size(), 4u);
  EXPECT_EQ(scene.materials[0].name, "sand");
  EXPECT_EQ(scene.materials[0].density, 1600);
  EXPECT_EQ(scene.materials[2].name, "a/b~c");
  EXPECT_EQ(scene.materials[3].name, "water");  // named by an object only
  const auto* elastic = std::get_if<FixedCorotated<double>>(&*scene.materials[2].law);
  ASSERT_NE(elastic, nullptr);
  EXPECT_EQ(elastic->mu, shear_modulus(5e4, 0.1));
  EXPECT_TRUE(std::holds_alternative<MohrCoulomb<double>>(*scene.materials[1].law));

  ASSERT_EQ(scene.objects.size(), 5u);
  EXPECT_EQ(std::get<TaylorGreenField>(scene.objects[0].velocity_field->field).wavelength, 0.2);
  EXPECT_EQ(scene.objects[0].velocity_field->center[0], 0.1);
  EXPECT_FALSE(scene.objects[1].velocity_field);
  const auto* const emission = scene.objects[4].as<EmissionSpec>();
  ASSERT_NE(emission, nullptr);
  EXPECT_EQ(scene.objects[4].name, "emitter4");
  EXPECT_EQ(emission->volume_rate,
            50 / scene.materials[static_cast<std::size_t>(scene.objects[4].material)].density);
  EXPECT_EQ(emission->until, 2);
  EXPECT_EQ(emission->max_volume, 0.25);
  ASSERT_EQ(scene.sinks.size(), 2u);
  EXPECT_EQ(scene.sinks[0].name, "sink0");
  EXPECT_EQ(scene.sinks[0].until, std::numeric_limits<double>::infinity());
  EXPECT_EQ(scene.sinks[1].from, 1);
  EXPECT_EQ(scene.objects[0].material, 2);
  EXPECT_EQ(scene.objects[0].placement.rotation.degrees, 30);
  EXPECT_EQ(scene.objects[0].angular_velocity[2], -1e-7);
  EXPECT_EQ(scene.objects[1].name, "particles1");
  EXPECT_EQ(scene.objects[1].sampling, Sampling::poisson);
  EXPECT_EQ(scene.objects[1].seed, 4294967295);
  EXPECT_EQ(scene.objects[1].particles_per_cell, 6.5);
  EXPECT_EQ(std::get<Sphere<double>>(scene.objects[2].shape).radius, 1.0 / 3);
  EXPECT_EQ(scene.objects[2].material, 3);

  ASSERT_EQ(scene.colliders.size(), 2u);
  EXPECT_EQ(scene.colliders[0].name, "collider0");
  EXPECT_EQ(scene.colliders[0].motion.keys().size(), 1u);
  EXPECT_EQ(scene.colliders[0].motion.keys()[0].at[1], -0.1);
  EXPECT_EQ(scene.colliders[1].boundary, Boundary::sticky);
  EXPECT_TRUE(scene.colliders[1].inside);
  EXPECT_EQ(scene.colliders[1].motion.keys()[1].rotation.degrees, 720);

  EXPECT_EQ(scene.output.checkpoint_frames, 0);
  EXPECT_EQ(nlohmann::json::parse(scene.expect_json)["centre"][1], 2.5);
}

TEST(SceneReader, DefaultsAreThoseOfTheStructs) {
  const Scene scene = parse_scene(
      R"({"tribo": 1, "duration": 1, "grid": {"dx": 0.1},
          "objects": [{"type": "particles", "shape": {"sphere": 1}, "material": "jelly"}],
          "colliders": [{"shape": {"half_space": {}}}]})",
      "folder/dropped ball.json");
  const Scene plain;
  EXPECT_EQ(scene.name, "dropped ball");
  EXPECT_EQ(scene.fps, plain.fps);
  EXPECT_EQ(scene.precision, plain.precision);
  EXPECT_EQ(scene.gravity[1], plain.gravity[1]);
  EXPECT_EQ(scene.grid.kernel, plain.grid.kernel);
  EXPECT_EQ(scene.grid.transfer.index(), plain.grid.transfer.index());
  EXPECT_EQ(scene.time.implicit, plain.time.implicit);
  EXPECT_EQ(scene.time.cfl, plain.time.cfl);
  EXPECT_EQ(scene.time.dt_max, plain.time.dt_max);
  EXPECT_EQ(scene.time.dt_min, plain.time.dt_min);
  EXPECT_EQ(scene.output.formats, plain.output.formats);
  EXPECT_EQ(scene.output.checkpoint_frames, plain.output.checkpoint_frames);
  EXPECT_EQ(scene.output.checkpoint_minutes, plain.output.checkpoint_minutes);
  EXPECT_EQ(scene.output.checkpoints_kept, plain.output.checkpoints_kept);
  EXPECT_EQ(scene.expect_json, plain.expect_json);
  EXPECT_EQ(scene.objects[0].particles_per_cell, ObjectSpec().particles_per_cell);
  EXPECT_EQ(scene.objects[0].sampling, ObjectSpec().sampling);
  EXPECT_EQ(scene.colliders[0].boundary, ColliderSpec().boundary);
  EXPECT_EQ(scene.colliders[0].friction, ColliderSpec().friction);
}

TEST(SceneReader, ResolvedSceneResolvesToItself) {
  const Scene once = parse_scene(test::example_scene, "x.json");
  const Scene twice = parse_scene(once.resolved_json, "another_name.json");
  EXPECT_EQ(once.resolved_json, twice.resolved_json);
  EXPECT_EQ(once.expect_json, twice.expect_json);
  ASSERT_EQ(once.materials.size(), twice.materials.size());
  for (std::size_t i = 0; i < once.materials.size(); ++i) {
    EXPECT_EQ(once.materials[i].name, twice.materials[i].name);
    EXPECT_EQ((*once.materials[i].law).index(), (*twice.materials[i].law).index());
  }
  EXPECT_EQ(std::get<Sphere<double>>(twice.objects[2].shape).radius, 1.0 / 3);
  EXPECT_EQ(once.resolved_json.find("preset"), std::string::npos);
  EXPECT_EQ(once.resolved_json, parse_scene(test::example_scene, "x.json").resolved_json);
}

TEST(SceneReader, NumbersRoundTripExactly) {
  for (const double value : {0.1, 1.0 / 3, 5e-324, 1.7976931348623157e308, 123456789012345678.0, 1e22, 2.5e-8}) {
    const std::string text = nlohmann::json(value).dump();
    const Scene scene = with_override("/gravity/0=" + text);
    EXPECT_EQ(scene.gravity[0], value);
    EXPECT_EQ(parse_scene(scene.resolved_json, "x.json").gravity[0], value);
  }
  const Scene negative_zero = with_override("/gravity/0=-0.0");
  EXPECT_TRUE(std::signbit(parse_scene(negative_zero.resolved_json, "x.json").gravity[0]));
}

TEST(SceneReader, AMissingFileIsAMistakeOfTheScene) {
  EXPECT_THROW(read_scene("there_is_no_such_scene.json"), SceneError);
}

TEST(Overrides, ReplaceAndAdd) {
  EXPECT_EQ(with_override("/grid/dx=0.01").grid.dx, 0.01);
  EXPECT_EQ(with_override("/precision=float").precision, "float");
  EXPECT_EQ(with_override("/precision=\"float\"").precision, "float");
  EXPECT_EQ(with_override("/description=a = b").description, "a = b");
  EXPECT_EQ(with_override("/dimension=3").dimension, 3);
  EXPECT_EQ(with_override("/objects/1/at=[1, 2, 3]").objects[1].placement.at[2], 3);
  EXPECT_EQ(with_override("/objects/0/shape/box/1=0.7").objects[0].placement.at[1], 0.15);
  EXPECT_EQ(with_override("/objects/1/rotation/degrees=45").objects[1].placement.rotation.degrees, 45);
  EXPECT_EQ(with_override("/materials/a~1b~0c/density=7").materials[2].density, 7);
  EXPECT_EQ(with_override("/materials/sand/density=1500").materials[0].density, 1500);
  EXPECT_EQ(with_override("/materials/sand=jelly").materials[0].density, 1000);
  EXPECT_EQ(with_override("/expect/mass=3").expect_json.find("50000"), std::string::npos);
}

TEST(Overrides, MistakesNameTheOverride) {
  EXPECT_EQ(first_message("/grid/dx=-1"), "--set /grid/dx=-1  /grid/dx: expected a number > 0, got -1");
  EXPECT_EQ(first_message("/gird/dx=1"), "--set /gird/dx=1  /gird: unknown key; did you mean \"grid\"?");
  EXPECT_EQ(first_message("/objects/-/at=1"), "--set /objects/-/at=1: `/objects` is a list, in which `-` is no index");
  EXPECT_EQ(first_message("/objects/5=1"), "--set /objects/5=1: `/objects` is a list whose last index is 4");
  EXPECT_EQ(first_message("/output/formats/0=ply"), "--set /output/formats/0=ply: `/output/formats` is an empty list");
  EXPECT_EQ(first_message("/fps/rate=1"), "--set /fps/rate=1: `/fps` has nothing inside that could be set");
  EXPECT_EQ(first_message("/gravity=[0, 1"),
            "--set /gravity=[0, 1  /gravity: expected three numbers [x, y, z], got \"[0, 1\"");
  EXPECT_EQ(first_message("/gravity=[0, 1e999, 0]"),
            "--set /gravity=[0, 1e999, 0]  /gravity/1: the number 1e999 is too large");
  EXPECT_EQ(first_message("/gravity=[0, \"x\", 0]"),
            "--set /gravity=[0, \"x\", 0]  /gravity/1: expected a number, got \"x\"");
  EXPECT_EQ(first_message("/name=\xff"), "--set /name=\xff  /name: the value is not UTF-8");
  EXPECT_EQ(first_message("/="),
            "--set /=  /: unknown key; expected one of \"tribo\", \"name\", \"description\", "
            "\"dimension\", \"precision\", \"fps\", \"duration\", \"gravity\", \"grid\", \"time\", "
            "\"materials\", \"objects\", \"colliders\", \"joints\", \"sinks\", \"contact\", \"strand_contact\", \"friction\", \"output\", \"render\", \"variants\", \"expect\"");
  EXPECT_THROW(parse_override("grid/dx=1"), SceneError);
  EXPECT_THROW(parse_override("/grid/dx"), SceneError);
  EXPECT_THROW(parse_override(""), SceneError);
}

TEST(Presets, EveryFileIsAMaterial) {
  const std::vector<std::string> names = preset_names();
  EXPECT_GE(names.size(), 4u);
  for (const std::string& name : names) {
    const Scene scene = with_override("/objects/2/material=" + name);
    EXPECT_EQ(scene.materials.back().name, name);
    EXPECT_FALSE(load_preset(name).value("doc", "").empty()) << name;
  }
}

TEST(Presets, DataDirectoryFromTheEnvironment) {
  namespace fs = std::filesystem;
  const fs::path directory = fs::path(testing::TempDir()) / "tribo_presets_test";
  fs::create_directories(directory / "materials");
  write_text((directory / "materials" / "honey.json").string(),
             R"({"doc": "d", "model": "weakly_compressible", "density": 1400, "bulk_modulus": 1e5})");
  write_text((directory / "materials" / "jelly.json").string(), R"({"model": "fixed_corotated",})");
  setenv("TRIBO_DATA", (directory.string() + ":/there/is/no/such/folder").c_str(), 1);
  const std::vector<std::string> directories = data_directories();
  const double density = with_override("/objects/2/material=honey").materials.back().density;
  const std::string damaged = first_message("/objects/2/material=jelly");
  const std::string elsewhere = find_data("materials/water.json");
  unsetenv("TRIBO_DATA");
  fs::remove_all(directory);
  EXPECT_EQ(directories.front(), directory.string());
  EXPECT_EQ(density, 1400);
  EXPECT_EQ(damaged, (directory / "materials" / "jelly.json").string() + ":1:28: a comma must not stand before \"}\"");
  EXPECT_FALSE(elsewhere.empty());
}

TEST(ReadParams, ReadsALawFromText) {
  FixedCorotated<double> law{};
  const std::string resolved = read_params(R"({"youngs_modulus": 100, "poisson_ratio": 0.25})",
                                           [&](ParamReader& in) { law = FixedCorotated<double>::read(in); });
  EXPECT_EQ(law.mu, 40);
  EXPECT_EQ(nlohmann::json::parse(resolved)["youngs_modulus"], 100);
  EXPECT_THROW(read_params("{}", [&](ParamReader& in) { law = FixedCorotated<double>::read(in); }), SceneError);
}

}  // namespace
}  // namespace tribo

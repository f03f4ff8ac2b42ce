#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <sstream>

#include "bodies.h"
#include "tribo/io/writer.h"
#include "tribo/io/writers/usd.h"
#include "tribo/io/writers/usd_text.h"

namespace tribo {
namespace {

RunInfo some_info(const std::string& name = "scene") {
  RunInfo info;
  info.name = name;
  info.fps = 25;
  info.bodies = {{"jello", "jelly", {{0.25f, 0.5f, 1}}, 0.125f, false, true},
                 {"sand", "dry_sand", {{1, 0.5f, 0}}, 0.25f, false, true},
                 {"floor", "", {{0.5f, 0.5f, 0.5f}}, 0, true, true}};
  return info;
}

std::unique_ptr<FrameWriter> open(const Scratch& dir, const RunInfo& info = some_info()) {
  return open_usd_writer(dir / "usd", info);
}

std::string text_of(const Scratch& dir, const std::string& name) { return read_bytes(dir / ("usd/" + name)); }

/// Lines of a USD file in a prim or its metadata, without those of prims below; the prim's path is "" for the stage.
std::vector<std::string> lines_of(const std::string& text, const std::string& path) {
  std::istringstream in(text);
  std::vector<std::string> lines, here;
  std::string line, name, now;
  while (std::getline(in, line)) {
    line.erase(0, std::min(line.find_first_not_of(' '), line.size()));
    if (line.starts_with("def ") || line.starts_with("over ")) {
      const std::size_t quote = line.find('"');
      name = line.substr(quote + 1, line.find('"', quote + 1) - quote - 1);
      if (now + "/" + name == path) lines.push_back(line);
    } else if (line == "{") {
      here.push_back(now);
      now += "/" + name;
    } else if (line.ends_with("{")) {  // a dictionary
      here.push_back(now);
      if (now == path) lines.push_back(line);
    } else if (line == "}") {
      now = here.back();
      here.pop_back();
    } else if (now == path) {
      lines.push_back(line);
    }
  }
  EXPECT_TRUE(here.empty());
  return lines;
}

bool has_line(const std::string& text, const std::string& path, const std::string& line) {
  const std::vector<std::string> lines = lines_of(text, path);
  return std::find(lines.begin(), lines.end(), line) != lines.end();
}

/// The one time sample of an attribute; fails the test when it is not at `time`.
std::string sample_of(const std::string& text, const std::string& path, const std::string& attribute, int time = 0) {
  const std::vector<std::string> lines = lines_of(text, path);
  const auto found = std::find(lines.begin(), lines.end(), attribute + ".timeSamples = {");
  if (found == lines.end() || found + 1 == lines.end()) {
    ADD_FAILURE() << path << " has no samples of " << attribute;
    return "";
  }
  const std::string begin = std::to_string(time) + ": ";
  EXPECT_TRUE((found + 1)->starts_with(begin)) << *(found + 1);
  EXPECT_TRUE((found + 1)->ends_with("],"));
  return (found + 1)->substr(begin.size(), (found + 1)->size() - begin.size() - 1);
}

/// The numbers in an array, whatever its brackets.
std::vector<double> numbers_in(std::string text) {
  for (char& c : text)
    if (c == '[' || c == ']' || c == '(' || c == ')' || c == ',') c = ' ';
  std::vector<double> numbers;
  std::istringstream in(text);
  for (std::string word; in >> word;) numbers.push_back(std::strtod(word.c_str(), nullptr));
  return numbers;
}

FrameMesh some_mesh(const std::string& name) {
  return {name, array_of<float>("x", 3, {0, 0, 0, 1, 0, 0, 0, 2, 0}),
          array_of<float>("v", 3, {0, 0, 1, 0, 0, 1, 0, 0, 1}), array_of<std::int32_t>("triangles", 3, {0, 1, 2})};
}

TEST(UsdWriter, writes_particles_of_every_object_as_points) {
  const Scratch dir;
  const Frame frame = some_frame(12, 40000);
  open(dir)->write(frame);
  const std::string text = text_of(dir, "scene_000012.usda");
  EXPECT_TRUE(text.starts_with("#usda 1.0\n"));
  for (const char* line : {"defaultPrim = \"scene\"", "startTimeCode = 12", "endTimeCode = 12", "framesPerSecond = 25",
                           "timeCodesPerSecond = 25", "metersPerUnit = 1", "upAxis = \"Y\""}) {
    EXPECT_TRUE(has_line(text, "", line)) << line;
  }
  const auto x = frame.find("x")->as<float>();
  const auto v = frame.find("v")->as<float>();
  const auto J = frame.find("J")->as<float>();
  for (const std::size_t object : {0u, 1u}) {
    const std::string prim = "/scene/" + frame.objects[object] + "/particles";
    std::vector<double> points, velocities, ids, ratios;
    for (std::size_t i = object; i < 40000; i += 2) {
      for (std::size_t k = 0; k < 3; ++k) points.push_back(x[3 * i + k]);
      for (std::size_t k = 0; k < 3; ++k) velocities.push_back(v[3 * i + k]);
      ids.push_back(static_cast<double>(i));
      ratios.push_back(J[i]);
    }
    const auto as_floats = [](std::vector<double> values) {
      for (double& value : values) value = static_cast<float>(value);
      return values;
    };
    EXPECT_EQ(as_floats(numbers_in(sample_of(text, prim, "point3f[] points", 12))), points);
    EXPECT_EQ(as_floats(numbers_in(sample_of(text, prim, "vector3f[] velocities", 12))), velocities);
    EXPECT_EQ(numbers_in(sample_of(text, prim, "int64[] ids", 12)), ids);
    EXPECT_EQ(as_floats(numbers_in(sample_of(text, prim, "float[] primvars:J", 12))), ratios);
    EXPECT_TRUE(has_line(text, prim, "float[] primvars:J (interpolation = \"vertex\")"));
  }
  EXPECT_TRUE(has_line(text, "/scene/jello/particles", "def Points \"particles\""));
  EXPECT_TRUE(has_line(text, "/scene/jello/particles", "float[] widths = [0.25] ("));
  EXPECT_TRUE(has_line(text, "/scene/jello/particles", "color3f[] primvars:displayColor = [(0.25, 0.5, 1)] ("));
  EXPECT_TRUE(has_line(text, "/scene/jello", "custom string tribo:material = \"jelly\""));
}

TEST(UsdWriter, bounds_include_the_widths) {
  const Scratch dir;
  Frame frame;
  frame.objects = {"sand"};
  frame.columns = {array_of<float>("x", 3, {1, -2, 3, 0, 5, 0})};
  frame.meshes = {some_mesh("floor")};
  frame.curves = {{"jello", array_of<float>("x", 3, {0, 0, 0, 0, 1, 0}), array_of<float>("v", 3, {}),
                   array_of<std::int32_t>("sizes", 1, {2})}};
  open(dir)->write(frame);
  const std::string text = text_of(dir, "scene_000000.usda");
  EXPECT_EQ(sample_of(text, "/scene/sand/particles", "float3[] extent"), "[(-0.25,-2.25,-0.25),(1.25,5.25,3.25)]");
  EXPECT_EQ(sample_of(text, "/scene/floor/surface", "float3[] extent"), "[(0,0,0),(1,2,0)]");
  EXPECT_EQ(sample_of(text, "/scene/jello/strands", "float3[] extent"), "[(-0.125,-0.125,-0.125),(0.125,1.125,0.125)]");
}

TEST(UsdWriter, writes_meshes_and_strands) {
  const Scratch dir;
  Frame frame;
  frame.objects = {"jello", "sand"};  // neither has particles: jello is nothing else, sand is strands
  frame.columns = {array_of<float>("x", 3, {}), array_of<std::int32_t>("object", 1, {})};
  frame.meshes = {some_mesh("floor")};
  frame.curves = {{"sand", array_of<float>("x", 3, {0, 0, 0, 0, 1, 0, 1, 0, 0, 1, 1, 0, 1, 2, 0}),
                   array_of<float>("v", 3, {}), array_of<std::int32_t>("sizes", 1, {2, 3})}};
  open(dir)->write(frame);
  const std::string text = text_of(dir, "scene_000000.usda");
  const std::string mesh = "/scene/floor/surface";
  EXPECT_TRUE(has_line(text, mesh, "def Mesh \"surface\""));
  EXPECT_TRUE(has_line(text, mesh, "uniform token subdivisionScheme = \"none\""));
  EXPECT_TRUE(has_line(text, mesh, "uniform bool doubleSided = 1"));
  EXPECT_EQ(sample_of(text, mesh, "point3f[] points"), "[(0,0,0),(1,0,0),(0,2,0)]");
  EXPECT_EQ(sample_of(text, mesh, "vector3f[] velocities"), "[(0,0,1),(0,0,1),(0,0,1)]");
  EXPECT_EQ(sample_of(text, mesh, "int[] faceVertexCounts"), "[3]");
  EXPECT_EQ(sample_of(text, mesh, "int[] faceVertexIndices"), "[0,1,2]");
  const std::string strands = "/scene/sand/strands";
  EXPECT_TRUE(has_line(text, strands, "def BasisCurves \"strands\""));
  EXPECT_TRUE(has_line(text, strands, "uniform token type = \"linear\""));
  EXPECT_TRUE(has_line(text, strands, "float[] widths = [0.5] ("));
  EXPECT_EQ(sample_of(text, strands, "int[] curveVertexCounts"), "[2,3]");
  EXPECT_EQ(numbers_in(sample_of(text, strands, "point3f[] points")).size(), 15u);
  EXPECT_FALSE(contains(text, "custom string tribo:material = \"\""));
  // An object without particles is there, empty; one that is strands is not particles as well.
  EXPECT_EQ(sample_of(text, "/scene/jello/particles", "point3f[] points"), "[]");
  EXPECT_TRUE(lines_of(text, "/scene/sand/particles").empty());
  const std::vector<double> empty = numbers_in(sample_of(text, "/scene/jello/particles", "float3[] extent"));
  EXPECT_GT(empty[0], empty[3]);
}

/// Promise: rigid bodies are points that are there once, and a transform in each frame; of many, all but the first refer
/// to it.
TEST(UsdWriter, rigid_bodies_have_a_transform) {
  const Scratch dir;
  const auto out = open(dir);
  for (const int number : {0, 1, 2}) {
    Frame frame;
    frame.number = number;
    frame.objects = {"jello"};
    frame.columns = {array_of<float>("x", 3, {}), array_of<std::int32_t>("object", 1, {})};
    frame.meshes = {rigid_bodies("jello", number), some_mesh("floor")};
    out->write(frame);
  }
  out->finish();
  const std::string one = "/scene/jello/surface", other = one + "_2";
  const auto has_sample = [](const std::string& text, const std::string& path, const std::string& attribute,
                             const std::string& sample) {
    const std::vector<std::string> lines = lines_of(text, path);
    const auto found = std::find(lines.begin(), lines.end(), attribute + ".timeSamples = {");
    return found != lines.end() && found + 1 != lines.end() && *(found + 1) == sample;
  };
  const std::string text = text_of(dir, "scene_000001.usda");
  EXPECT_EQ(sample_of(text, one, "point3f[] points", 1), "[(0,0,0),(1,0,0),(0,2,0)]");
  EXPECT_EQ(sample_of(text, one, "int[] faceVertexIndices", 1), "[0,1,2]");
  EXPECT_TRUE(has_sample(text, one, "double3 xformOp:translate", "1: (1,2,3),"));
  EXPECT_TRUE(has_sample(text, one, "quatd xformOp:orient", "1: (0.7071067811865476,0,0,0.7071067811865476),"));
  EXPECT_TRUE(has_line(text, other, "def Mesh \"surface_2\" ("));
  EXPECT_TRUE(contains(text, "prepend references = </scene/jello/surface>"));
  EXPECT_TRUE(has_sample(text, other, "double3 xformOp:translate", "1: (-1,0,0),"));
  EXPECT_FALSE(has_line(text, other, "point3f[] points.timeSamples = {"));
  for (const std::string& prim : {one, other})
    EXPECT_TRUE(has_line(text, prim, "uniform token[] xformOpOrder = [\"xformOp:translate\", \"xformOp:orient\"]"));

  const std::string top = text_of(dir, "scene.usda"), manifest = text_of(dir, "scene_manifest.usda");
  EXPECT_TRUE(has_line(top, one, "point3f[] points = [(0,0,0),(1,0,0),(0,2,0)]"));
  EXPECT_TRUE(has_line(top, one, "double3 xformOp:translate"));
  EXPECT_TRUE(contains(top, "prepend references = </scene/jello/surface>"));
  EXPECT_TRUE(has_line(top, "/scene/floor/surface", "point3f[] points"));  // others move by their points
  EXPECT_FALSE(has_line(manifest, one, "point3f[] points"));
  EXPECT_TRUE(has_line(manifest, other, "quatd xformOp:orient"));
  EXPECT_TRUE(has_line(manifest, "/scene/floor/surface", "point3f[] points"));
}

TEST(UsdWriter, writes_two_dimensions_doubles_and_few_columns) {
  const Scratch dir;
  Frame frame;
  frame.columns = {array_of<double>("x", 2, {0.1, 0.2, 1.0 / 3, 1e300}),
                   array_of<std::uint64_t>("id", 1, {7, std::uint64_t{1} << 40})};
  const auto out = open(dir, RunInfo{});
  out->write(frame);
  const std::string text = text_of(dir, "frame_000000.usda");
  EXPECT_EQ(sample_of(text, "/scene/particles/particles", "point3f[] points"), "[(0.1,0.2,0),(0.33333334,inf,0)]");
  EXPECT_EQ(sample_of(text, "/scene/particles/particles", "int64[] ids"), "[7,1099511627776]");
  EXPECT_FALSE(contains(text, "velocities"));

  frame.columns = {array_of<float>("x", 3, {})};  // nothing at all
  out->write(frame);
  EXPECT_TRUE(has_line(text_of(dir, "frame_000000.usda"), "/scene", "def Xform \"scene\""));
  out->finish();
  EXPECT_TRUE(has_line(text_of(dir, "frame.usda"), "/scene", "def Xform \"scene\" ("));
}

TEST(UsdWriter, floats_read_back_to_the_bit) {
  const Scratch dir;
  std::mt19937 random(1);
  std::vector<float> values = {0.f, -0.f, 1e-45f, -1.17549435e-38f, 3.40282347e38f, 0.1f, 16777216.f, 123456.79f};
  while (values.size() < 99999) {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    if (std::isfinite(value)) values.push_back(value);
  }
  values.resize(values.size() / 3 * 3);
  Frame frame;
  frame.objects = {"sand"};
  frame.columns = {array_of("x", 3, values)};
  open(dir)->write(frame);
  const std::vector<double> read =
      numbers_in(sample_of(text_of(dir, "scene_000000.usda"), "/scene/sand/particles", "point3f[] points"));
  ASSERT_EQ(read.size(), values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {  // by way of double, as USD does
    ASSERT_EQ(std::bit_cast<std::uint32_t>(static_cast<float>(read[i])), std::bit_cast<std::uint32_t>(values[i]));
  }
}

TEST(UsdWriter, spells_what_is_not_finite_as_usd_does) {
  const Scratch dir;
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  Frame frame;
  frame.objects = {"sand"};
  frame.columns = {array_of<float>("x", 3, {std::copysign(nan, -1.f), inf, -inf})};
  open(dir)->write(frame);
  EXPECT_EQ(sample_of(text_of(dir, "scene_000000.usda"), "/scene/sand/particles", "point3f[] points"),
            "[(nan,inf,-inf)]");
}

TEST(UsdWriter, names_become_identifiers) {
  EXPECT_EQ(as_usd_identifier("sand", "body"), "sand");
  EXPECT_EQ(as_usd_identifier("2 \"cups\"", "body"), "_2__cups_");
  EXPECT_EQ(as_usd_identifier("Körner", "body"), "K_rner");
  EXPECT_EQ(as_usd_identifier("песок", "body"), "body");
  EXPECT_EQ(as_usd_identifier("", "body"), "body");
  EXPECT_EQ(not_taken("a", {"a", "a_2"}), "a_3");
  EXPECT_EQ(usd_string("a\"b\\c\nd\x01"
                       "2é"),
            "\"a\\\"b\\\\c\\nd\\0012é\"");
  EXPECT_EQ(usd_string("[7"), "\"\\1337\"");

  const Scratch dir;
  RunInfo info;
  info.name = "9 lives/песок";
  info.bodies = {{"a b", "", {{1, 1, 1}}, 0, false, true},
                 {"a_b", "", {{1, 1, 1}}, 0, false, false},
                 {"песок", "", {{1, 1, 1}}, 0, false, true},
                 {"a b", "", {{1, 1, 1}}, 0, true, true}};  // a collider that is called like an object
  Frame frame;
  frame.objects = {"a b", "a_b", "песок"};
  frame.columns = {array_of<float>("x", 3, {0, 0, 0, 1, 1, 1, 2, 2, 2}),
                   array_of<std::int32_t>("object", 1, {0, 1, 2})};
  frame.meshes = {some_mesh("a b")};
  const auto out = open(dir, info);
  out->write(frame);
  out->finish();
  for (const char* file : {"9_lives_песок_000000.usda", "9_lives_песок.usda"}) {
    const std::string text = text_of(dir, file);
    EXPECT_TRUE(has_line(text, "", "defaultPrim = \"_9_lives______\"")) << text;
    EXPECT_TRUE(has_line(text, "/_9_lives______/a_b", "custom string tribo:name = \"a b\""));
    EXPECT_TRUE(has_line(text, "/_9_lives______/a_b_2", "custom string tribo:name = \"a_b\""));
    EXPECT_TRUE(has_line(text, "/_9_lives______/a_b_2", "token visibility = \"invisible\""));
    EXPECT_FALSE(has_line(text, "/_9_lives______/a_b", "token visibility = \"invisible\""));
    EXPECT_TRUE(has_line(text, "/_9_lives______/body", "custom string tribo:name = \"песок\""));
    EXPECT_TRUE(has_line(text, "/_9_lives______/a_b_3/surface", "def Mesh \"surface\""));
  }
  EXPECT_EQ(sample_of(text_of(dir, "9_lives_песок_000000.usda"), "/_9_lives______/a_b_2/particles", "point3f[] points"),
            "[(1,1,1)]");
}

TEST(UsdWriter, turns_what_usd_cannot_call_up) {
  for (const auto& [up, axis, turned] : {std::tuple{'X', "Y", true}, {'Y', "Y", false}, {'Z', "Z", false}}) {
    const Scratch dir;
    RunInfo info = some_info();
    info.up = up;
    const auto out = open(dir, info);
    out->write(some_frame(0, 10));
    out->finish();
    for (const char* file : {"scene_000000.usda", "scene.usda"}) {
      const std::string text = text_of(dir, file);
      EXPECT_TRUE(has_line(text, "", std::string("upAxis = \"") + axis + "\""));
      EXPECT_EQ(has_line(text, "/scene", "float xformOp:rotateZ = 90"), turned);
      EXPECT_EQ(has_line(text, "/scene", "uniform token[] xformOpOrder = [\"xformOp:rotateZ\"]"), turned);
    }
  }
}

/// The rules of value clips: the layer that names them gives no value to what is in them; the manifest declares exactly
/// what is; every clip has a time at which it becomes active.
TEST(UsdWriter, ties_frames_together_by_value_clips) {
  const Scratch dir;
  const auto out = open(dir);
  for (const int number : {0, 1, 2, 5}) {
    Frame frame = some_frame(number, 100);
    frame.meshes = {some_mesh("floor")};
    out->write(frame);
  }
  out->finish();
  EXPECT_EQ(listing(dir / "usd"),
            (std::vector<std::string>{"scene.usda", "scene_000000.usda", "scene_000001.usda", "scene_000002.usda",
                                      "scene_000005.usda", "scene_manifest.usda"}));
  const std::string top = text_of(dir, "scene.usda");
  EXPECT_TRUE(has_line(top, "", "startTimeCode = 0"));
  EXPECT_TRUE(has_line(top, "", "endTimeCode = 5"));
  EXPECT_TRUE(has_line(top, "", "dictionary default = {"));
  EXPECT_TRUE(has_line(top, "", "double2[] active = [(0, 0), (1, 1), (2, 2), (5, 3)]"));
  EXPECT_TRUE(has_line(top, "", "double2[] times = [(0, 0), (1, 1), (2, 2), (5, 5)]"));
  EXPECT_TRUE(has_line(top, "",
                       "asset[] assetPaths = [@./scene_000000.usda@, @./scene_000001.usda@, @./scene_000002.usda@, "
                       "@./scene_000005.usda@]"));
  EXPECT_TRUE(has_line(top, "", "asset manifestAssetPath = @./scene_manifest.usda@"));
  EXPECT_TRUE(has_line(top, "", "string primPath = \"/scene\""));
  EXPECT_FALSE(contains(top, "timeSamples"));

  const std::string manifest = text_of(dir, "scene_manifest.usda");
  EXPECT_FALSE(contains(manifest, "="));
  const std::string points = "/scene/sand/particles", mesh = "/scene/floor/surface";
  EXPECT_EQ(lines_of(manifest, points),
            (std::vector<std::string>{"over \"particles\"", "float3[] extent", "point3f[] points",
                                      "vector3f[] velocities", "int64[] ids", "float[] primvars:J"}));
  for (const char* line : {"float3[] extent", "point3f[] points", "vector3f[] velocities", "int64[] ids",
                           "float[] primvars:J (interpolation = \"vertex\")", "float[] widths = [0.5] ("}) {
    EXPECT_TRUE(has_line(top, points, line)) << line;
  }
  // Triangles that stay the same are a value of the top layer, not looked up frame by frame.
  EXPECT_EQ(lines_of(manifest, mesh), (std::vector<std::string>{"over \"surface\"", "float3[] extent",
                                                                "point3f[] points", "vector3f[] velocities"}));
  EXPECT_TRUE(has_line(top, mesh, "int[] faceVertexCounts = [3]"));
  EXPECT_TRUE(has_line(top, mesh, "int[] faceVertexIndices = [0,1,2]"));
}

TEST(UsdWriter, topology_that_changes_comes_from_the_frames) {
  const Scratch dir;
  const auto out = open(dir);
  for (const int number : {0, 1}) {
    Frame frame = some_frame(number, 10);
    FrameMesh torn = some_mesh("floor");
    if (number == 1) torn.triangles = array_of<std::int32_t>("triangles", 3, {0, 1, 2, 2, 1, 0});
    frame.meshes = {torn};
    if (number == 1) frame.meshes.push_back(some_mesh("late"));
    out->write(frame);
  }
  out->finish();
  for (const char* body : {"floor", "late"}) {
    const std::string mesh = std::string("/scene/") + body + "/surface";
    for (const char* line : {"int[] faceVertexCounts", "int[] faceVertexIndices"}) {
      EXPECT_TRUE(has_line(text_of(dir, "scene.usda"), mesh, line));
      EXPECT_TRUE(has_line(text_of(dir, "scene_manifest.usda"), mesh, line));
    }
  }
}

TEST(UsdWriter, top_layer_knows_frames_written_before_a_resume) {
  const Scratch dir, other;
  const auto frame_with_mesh = [](int number) {
    Frame frame = some_frame(number, 10);
    frame.meshes = {some_mesh("floor")};
    return frame;
  };
  const auto whole = open(other);
  for (int number = 0; number < 4; ++number) whole->write(frame_with_mesh(number));
  whole->finish();

  const auto first = open(dir);
  for (int number = 0; number < 3; ++number) first->write(frame_with_mesh(number));
  first->finish();
  const auto second = open(dir);
  second->remove_after(1);
  EXPECT_EQ(listing(dir / "usd"), (std::vector<std::string>{"scene_000000.usda", "scene_000001.usda"}));
  for (int number = 2; number < 4; ++number) second->write(frame_with_mesh(number));
  second->finish();
  ASSERT_EQ(listing(dir / "usd"), listing(other / "usd"));
  for (const std::string& name : listing(dir / "usd")) EXPECT_EQ(text_of(dir, name), text_of(other, name)) << name;

  open(dir)->finish();  // nothing new: the same again
  EXPECT_EQ(text_of(dir, "scene.usda"), text_of(other, "scene.usda"));
  open(dir)->remove_after(-1);
  EXPECT_TRUE(listing(dir / "usd").empty());
  open(dir)->finish();
  EXPECT_TRUE(listing(dir / "usd").empty());
}

TEST(UsdWriter, says_what_it_cannot_do) {
  const Scratch dir;
  const auto out = open(dir);
  Frame frame = some_frame(0, 1);
  *std::find_if(frame.columns.begin(), frame.columns.end(), [](const NamedArray& c) { return c.name == "id"; }) =
      array_of<std::uint64_t>("id", 1, {std::uint64_t{1} << 63});
  EXPECT_TRUE(contains(io_error_of([&] { out->write(frame); }), "cannot hold id 9223372036854775808"));
  EXPECT_TRUE(listing(dir / "usd").empty());

  write_bytes(dir / "usd/scene_000000.usda", "#usda 1.0\n");
  EXPECT_TRUE(contains(io_error_of([&] { out->finish(); }), "not a frame that tribo wrote"));

  write_bytes(dir / "file", "x");
  EXPECT_TRUE(contains(io_error_of([&] { open_usd_writer(dir / "file", some_info())->write(some_frame(0)); }),
                       "Not a directory"));
}

}  // namespace
}  // namespace tribo

#include "tribo/io/frame.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "bodies.h"
#include "scratch.h"

namespace tribo {
namespace {

TEST(Frame, survives_the_container) {
  const Frame frame = some_frame(7);
  EXPECT_TRUE(equal(to_frame(to_container(frame)), frame));
  const Frame with_tets = frame_with_tets(3);
  EXPECT_TRUE(equal(to_frame(to_container(with_tets)), with_tets));
  Frame empty = some_frame(0, 0);
  empty.objects = {"α \"quoted\"\n", ""};
  empty.time = 0.1 + 0.2;
  EXPECT_TRUE(equal(to_frame(to_container(empty)), empty));
}

TEST(Frame, tells_of_tets_that_do_not_fit) {
  const auto expect_mistake = [](const std::function<void(FrameTets&)>& spoil, const char* says) {
    Frame frame = frame_with_tets(0);
    spoil(frame.tets[0]);
    try {
      to_container(frame);
      FAIL() << says;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(says), std::string::npos) << error.what();
    }
  };
  expect_mistake(
      [](FrameTets& t) {
        t.tets = array_of<std::int32_t>("tets", 4, {0, 1, 2, 3, 1, 2, 3, 5});
      },
      "tets of sand has tets of vertices it does not have");
  expect_mistake([](FrameTets& t) { t.J = array_of<float>("J", 1, {1}); }, "has a J that does not fit its tets");
  expect_mistake([](FrameTets& t) { t.v = array_of<float>("v", 3, {1, 2, 3}); }, "velocities that do not fit");
}

TEST(Frame, knows_where_rigid_bodies_are) {
  Frame frame = frame_with_bodies(3);
  const Container old = to_container(frame);
  for (const NamedArray& array : old.arrays)  // who has none is written as before
    EXPECT_EQ(array.name.find("placement"), std::string::npos);
  frame.meshes.push_back(rigid_bodies("jello", 1));
  EXPECT_TRUE(equal(to_frame(to_container(frame)), frame));
  const FrameMesh& mesh = to_frame(to_container(frame)).meshes.back();
  EXPECT_EQ(mesh.bodies(), 2u);
  EXPECT_EQ(mesh.placement.as<double>()[7], -1);
  EXPECT_EQ(mesh.rest.as<float>()[7], 2);
  for (const auto& spoil : std::vector<std::function<void(FrameMesh&)>>{
           [](FrameMesh& m) { m.placement = array_of<double>("placement", 7, {1, 2, 3, 1, 0, 0, 0}); },
           [](FrameMesh& m) { m.placement = array_of<float>("placement", 7, {1, 2, 3, 1, 0, 0, 0, 1, 2, 3, 1, 0, 0, 0}); },
           [](FrameMesh& m) { m.rest = array_of<float>("rest", 3, {0, 0, 0}); },
           [](FrameMesh& m) { m.rest = array_of<float>("rest", 3, {}); }}) {
    Frame wrong = frame;
    spoil(wrong.meshes.back());
    EXPECT_THROW(to_container(wrong), Error);
  }
}

TEST(Frame, survives_the_file) {
  const Scratch dir;
  const Frame frame = some_frame(7);
  write_frame(dir / "a.tbf", frame);
  EXPECT_TRUE(equal(read_frame(dir / "a.tbf"), frame));
  EXPECT_EQ(frame.find("id")->as<std::uint32_t>()[5], 5u);
  EXPECT_EQ(frame.find("nothing"), nullptr);
}

TEST(Frame, is_arranged_by_id) {
  for (const std::vector<std::int32_t>& ids : {std::vector{2, 0, 1}, std::vector{7, 0, 4}}) {  // with gaps, too
    RawFrame raw;
    raw.frame.number = 3;
    raw.frame.time = 0.5;
    raw.frame.objects = {"a", "b"};
    raw.frame.materials = {"m", "n"};
    raw.object_materials = {1, 0};
    // component after component
    raw.frame.columns = {array_of<double>("x", 2, {20, 0, 10, 21, 1, 11}),
                         array_of<float>("v", 2, {-20, 0, -10, -21, -1, -11}), array_of("id", 1, ids),
                         array_of<std::int32_t>("object", 1, {0, 1, 1}), array_of<float>("J", 1, {2, 0, 1})};
    const Frame frame = arrange(raw);
    Frame expected = raw.frame;
    std::vector<std::int32_t> sorted = ids;
    std::sort(sorted.begin(), sorted.end());
    expected.columns = {array_of<double>("x", 2, {0, 1, 10, 11, 20, 21}),
                        array_of<float>("v", 2, {0, -1, -10, -11, -20, -21}),
                        array_of("id", 1, sorted),
                        array_of<std::int32_t>("object", 1, {1, 1, 0}),
                        array_of<float>("J", 1, {0, 1, 2}),
                        array_of<std::int32_t>("material", 1, {0, 0, 1})};
    EXPECT_TRUE(equal(frame, expected));
    EXPECT_NO_THROW(to_container(frame));
  }
}

TEST(Frame, is_arranged_without_particles) {
  RawFrame raw;
  for (const char* name : {"id", "object"}) raw.frame.columns.push_back(array_of<std::int32_t>(name, 1, {}));
  EXPECT_EQ(arrange(raw).find("material")->count, 0u);
}

NamedArray& column(Frame& frame, const std::string& name) {
  for (NamedArray& array : frame.columns) {
    if (array.name == name) return array;
  }
  throw std::logic_error("no column " + name);
}

// The same mistake is our bug when we write it and damage when we read it.
TEST(Frame, is_checked_both_ways) {
  using Mistake = std::function<void(Frame&)>;
  const std::vector<std::pair<std::string, Mistake>> mistakes = {
      {"x is missing", [](Frame& f) { column(f, "x").name = "y"; }},
      {"x is not 2 or 3", [](Frame& f) { column(f, "x") = array_of("x", 1, std::vector<float>(8)); }},
      {"v has 7 rows", [](Frame& f) { column(f, "v") = array_of("v", 3, std::vector<float>(21)); }},
      {"v is not of the same shape", [](Frame& f) { column(f, "v") = array_of("v", 2, std::vector<float>(16)); }},
      {"id is not one integer", [](Frame& f) { column(f, "id") = array_of("id", 1, std::vector<float>(8)); }},
      {"J is not one float", [](Frame& f) { column(f, "J") = array_of("J", 1, std::vector<int>(8)); }},
      {"object does not index", [](Frame& f) { f.objects.pop_back(); }},
      {"material does not index",
       [](Frame& f) { column(f, "material") = array_of("material", 1, std::vector<int>(8, -1)); }},
      {"bytes", [](Frame& f) { column(f, "x").data.pop_back(); }},
  };
  for (const auto& [message, make] : mistakes) {
    Frame frame = some_frame(1, 8);
    Container container = to_container(frame);
    make(frame);
    try {
      to_container(frame);
      ADD_FAILURE() << message;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::internal);
      EXPECT_TRUE(contains(error.what(), message));
    }
    container.arrays = frame.columns;
    if (frame.objects.size() == 1) container.meta = R"({"number":1,"time":0,"objects":["a"],"materials":["a","b"]})";
    EXPECT_TRUE(contains(io_error_of([&] { to_frame(container, "f.tbf"); }), message));
  }
}

TEST(Frame, needs_its_meta) {
  for (const std::string meta :
       {R"({})", R"({"number":-1,"time":0,"objects":[],"materials":[]})",
        R"({"number":1e9,"time":0,"objects":[],"materials":[]})", R"({"number":3000000000,"time":0})",
        R"({"number":1,"time":"0","objects":[],"materials":[]})",
        R"({"number":1,"time":0,"objects":[1],"materials":[]})", R"({"number":1,"time":0,"objects":[]})",
        R"(nonsense)"}) {
    EXPECT_TRUE(contains(io_error_of([&] { to_frame({"frame", meta, some_frame(1).columns}, "f.tbf"); }), "f.tbf"));
  }
  Frame frame = some_frame(1);
  frame.time = std::numeric_limits<double>::infinity();
  EXPECT_THROW(to_container(frame), Error);
  frame = some_frame(1);
  frame.objects[0] = "\xff";
  EXPECT_THROW(to_container(frame), Error);
}

TEST(Frame, with_meshes_and_strands_survives_the_file) {
  const Scratch dir;
  const Frame frame = frame_with_bodies(3);
  ASSERT_GE(frame.meshes.size(), 2u);
  ASSERT_GE(frame.curves.size(), 2u);
  write_frame(dir / "a.tbf", frame);
  const Frame read = read_frame(dir / "a.tbf");
  EXPECT_TRUE(equal(read, frame));
  EXPECT_EQ(read.meshes[0].triangles.name, "triangles");
  EXPECT_EQ(read.columns.size(), frame.columns.size());  // their arrays are no columns of particles
  Frame without = frame;
  without.meshes.clear();
  EXPECT_FALSE(equal(read, without));
  Frame bare = frame;  // a mesh of nothing, and no strand at all
  bare.meshes[0] = {"bare", array_of<float>("x", 3, {}), array_of<float>("v", 3, {}),
                    array_of<std::int32_t>("triangles", 3, {})};
  bare.curves[0] = {"bald", array_of<float>("x", 3, {}), array_of<float>("v", 3, {}),
                    array_of<std::int32_t>("sizes", 1, {})};
  write_frame(dir / "b.tbf", bare);
  EXPECT_TRUE(equal(read_frame(dir / "b.tbf"), bare));
}

TEST(Frame, with_damaged_meshes_or_strands_is_refused) {
  using Mistake = std::function<void(Frame&)>;
  const std::string triangles = "mesh jello has triangles of vertices it does not have";
  const std::string sizes = "strands sand has strands whose sizes do not fit its points";
  const auto corners = [](const std::vector<std::int32_t>& all) {
    return [all](Frame& f) { f.meshes[0].triangles = array_of<std::int32_t>("triangles", 3, all); };
  };
  const auto strands = [](const std::vector<std::int32_t>& all) {
    return [all](Frame& f) { f.curves[0].sizes = array_of<std::int32_t>("sizes", 1, all); };
  };
  const std::vector<std::pair<std::string, Mistake>> mistakes = {
      {triangles, corners({0, 1, 4})},
      {triangles, corners({0, 1, -1})},
      {triangles, corners({0, 1, std::numeric_limits<std::int32_t>::max()})},
      {triangles,
       [](Frame& f) {
         f.meshes[0].triangles = array_of<std::int32_t>("triangles", 2, {0, 1});
       }},
      {triangles,
       [](Frame& f) {
         f.meshes[0].triangles = array_of<float>("triangles", 3, {0, 1, 2});
       }},
      {triangles, [](Frame& f) { f.meshes[0].triangles.data.pop_back(); }},
      {"mesh jello has points of another shape",
       [](Frame& f) {
         f.meshes[0].x = array_of<float>("x", 2, {0, 0, 1, 0, 1, 1, 0, 1});
       }},
      {"mesh jello has points of another shape",
       [](Frame& f) { f.meshes[0].x = array_of<std::int32_t>("x", 3, std::vector<std::int32_t>(12)); }},
      {"mesh jello has velocities that do not fit its points",
       [](Frame& f) {
         f.meshes[0].v = array_of<float>("v", 3, {0, 0, 0});
       }},
      {"mesh jello has velocities that do not fit its points",
       [](Frame& f) { f.meshes[0].v = array_of<double>("v", 3, std::vector<double>(12)); }},
      {sizes, strands({3, 3})},
      {sizes, strands({4})},
      {sizes, strands({4, 1})},
      {sizes, strands({5, 0})},
      {sizes, strands({7, -2})},
      {sizes, strands({})},
      {sizes, strands({std::numeric_limits<std::int32_t>::max(), std::numeric_limits<std::int32_t>::max(), 7})},
      {sizes,
       [](Frame& f) {
         f.curves[0].sizes = array_of<float>("sizes", 1, {3, 2});
       }},
      {"strands jello has radii that do not fit its points",
       [](Frame& f) {
         f.curves[1].radius = array_of<float>("radius", 1, {1, 2, 3});
       }},
      {"strands jello has radii that do not fit its points",
       [](Frame& f) {
         f.curves[1].radius = array_of<std::int32_t>("radius", 1, {1, 2});
       }},
      {"strands sand has points of another shape",
       [](Frame& f) {
         f.curves[0].x = array_of<float>("x", 1, {0, 0, 0, 0, 0});
       }},
  };
  for (std::size_t i = 0; i < mistakes.size(); ++i) {
    const auto& [message, make] = mistakes[i];
    SCOPED_TRACE(std::to_string(i) + " " + message);
    Frame frame = frame_with_bodies(1);
    Container container = to_container(frame);
    make(frame);
    try {
      to_container(frame);
      ADD_FAILURE() << "was written";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::internal);
      EXPECT_TRUE(contains(error.what(), message));
    }
    // The same arrays as a damaged or foreign file would hold them.
    for (NamedArray& array : container.arrays) {
      const auto put = [&](const char* name, const NamedArray& from) {
        if (array.name != name) return;
        array = from;
        array.name = name;
      };
      put("mesh 0/x", frame.meshes[0].x);
      put("mesh 0/v", frame.meshes[0].v);
      put("mesh 0/triangles", frame.meshes[0].triangles);
      put("curves 0/x", frame.curves[0].x);
      put("curves 0/sizes", frame.curves[0].sizes);
      put("curves 1/radius", frame.curves[1].radius);
    }
    const std::string said = io_error_of([&] { to_frame(container, "f.tbf"); });
    EXPECT_TRUE(contains(said, "f.tbf is damaged: " + message));
    EXPECT_TRUE(contains(said, "simulate it again"));
  }
}

TEST(Frame, names_the_array_of_a_mesh_that_is_missing) {
  for (const std::string name : {"mesh 1/v", "curves 0/sizes"}) {
    Container container = to_container(frame_with_bodies(1));
    std::erase_if(container.arrays, [&](const NamedArray& array) { return array.name == name; });
    EXPECT_TRUE(contains(io_error_of([&] { to_frame(container, "f.tbf"); }),
                         "f.tbf is damaged: array " + name + " is missing"));
  }
  Container container = to_container(frame_with_bodies(1));
  container.meta = R"({"number":1,"time":0,"objects":["a","b"],"materials":["a","b"],"meshes":[3]})";
  EXPECT_TRUE(contains(io_error_of([&] { to_frame(container, "f.tbf"); }), "f.tbf is damaged"));
  container.meta = R"({"number":1,"time":0,"objects":["a","b"],"materials":["a","b"],"meshes":"jello"})";
  EXPECT_TRUE(contains(io_error_of([&] { to_frame(container, "f.tbf"); }), "f.tbf is damaged"));
}

}  // namespace
}  // namespace tribo

#include "tribo/io/frame.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "scratch.h"

namespace tribo {
namespace {

TEST(Frame, survives_the_container) {
  const Frame frame = some_frame(7);
  EXPECT_TRUE(equal(to_frame(to_container(frame)), frame));
  Frame empty = some_frame(0, 0);
  empty.objects = {"α \"quoted\"\n", ""};
  empty.time = 0.1 + 0.2;
  EXPECT_TRUE(equal(to_frame(to_container(empty)), empty));
}

TEST(Frame, survives_the_file) {
  const Scratch dir;
  const Frame frame = some_frame(7);
  write_frame(dir / "a.tbf", frame);
  EXPECT_TRUE(equal(read_frame(dir / "a.tbf"), frame));
  EXPECT_EQ(frame.find("id")->as<std::uint32_t>()[5], 5u);
  EXPECT_EQ(frame.find("nothing"), nullptr);
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

}  // namespace
}  // namespace tribo

#include <gtest/gtest.h>

#include <sstream>

#include "scratch.h"
#include "tribo/io/writer.h"

namespace tribo {
namespace {

const WriterEntry& writer(const std::string& name) {
  for (const WriterEntry& entry : all_writers()) {
    if (entry.name == name) return entry;
  }
  throw std::logic_error("no writer " + name);
}

RunInfo named(const std::string& name) {
  RunInfo info;
  info.name = name;
  return info;
}

/// A PLY file as any reader sees it: the properties in order and every value as a double.
struct Ply {
  std::vector<std::string> comments;
  std::vector<std::pair<std::string, std::string>> properties;  ///< type, name
  std::vector<std::vector<double>> rows;
};

template <class T>
double take(std::istream& in) {
  T value{};
  in.read(reinterpret_cast<char*>(&value), sizeof value);
  return static_cast<double>(value);
}

Ply read_ply(const std::string& path) {
  Ply ply;
  std::istringstream in(read_bytes(path));
  std::string line;
  std::getline(in, line);
  EXPECT_EQ(line, "ply");
  std::getline(in, line);
  EXPECT_EQ(line, "format binary_little_endian 1.0");
  std::size_t count = 0;
  while (std::getline(in, line) && line != "end_header") {
    std::istringstream words(line);
    std::string word, type, name;
    words >> word;
    if (word == "comment") {
      ply.comments.push_back(line.substr(8));
    } else if (word == "element") {
      words >> name >> count;
      EXPECT_EQ(name, "vertex");
    } else {
      EXPECT_EQ(word, "property");
      words >> type >> name;
      ply.properties.emplace_back(type, name);
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<double>& row = ply.rows.emplace_back();
    for (const auto& [type, name] : ply.properties) {
      if (type == "float") row.push_back(take<float>(in));
      if (type == "double") row.push_back(take<double>(in));
      if (type == "int") row.push_back(take<std::int32_t>(in));
      if (type == "uint") row.push_back(take<std::uint32_t>(in));
    }
    EXPECT_EQ(row.size(), ply.properties.size());
  }
  EXPECT_TRUE(in.good());
  EXPECT_EQ(in.peek(), std::char_traits<char>::eof());
  return ply;
}

using Properties = std::vector<std::pair<std::string, std::string>>;

TEST(Writers, are_listed_once_with_words) {
  std::vector<std::string> names;
  for (const WriterEntry& entry : all_writers()) {
    names.emplace_back(entry.name);
    EXPECT_NE(std::string(entry.doc), "");
    EXPECT_NE(entry.open, nullptr);
  }
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::unique(names.begin(), names.end()), names.end());
}

TEST(Writers, leave_only_whole_files) {
  for (const WriterEntry& entry : all_writers()) {
    if (entry.unavailable != nullptr) continue;
    const Scratch dir;
    const auto out = entry.open(dir / "made/on/demand", named("scene"));
    for (const int number : {0, 1, 1}) out->write(some_frame(number));
    for (const auto& item : std::filesystem::recursive_directory_iterator(dir.path())) {
      EXPECT_NE(item.path().extension(), ".tribo-tmp");
    }
  }
}

TEST(PlyWriter, writes_what_a_reader_expects) {
  const Scratch dir;
  Frame frame = some_frame(12, 40000);  // several blocks
  frame.objects[1] = "two\nlines";
  writer("ply").open(dir / "ply", named("jello sand/1"))->write(frame);
  const Ply ply = read_ply(dir / "ply/jello_sand_1_000012.ply");
  const Properties expected = {{"float", "x"},  {"float", "y"}, {"float", "z"},    {"float", "vx"},    {"float", "vy"},
                               {"float", "vz"}, {"uint", "id"}, {"int", "object"}, {"int", "material"}};
  EXPECT_EQ(ply.properties, expected);
  EXPECT_EQ(ply.comments, (std::vector<std::string>{"tribo frame 12 time 0.5", "object 0 jello", "object 1 two lines",
                                                    "material 0 dry_sand", "material 1 jelly"}));
  ASSERT_EQ(ply.rows.size(), 40000u);
  const auto x = frame.find("x")->as<float>();
  const auto v = frame.find("v")->as<float>();
  for (std::size_t i = 0; i < ply.rows.size(); ++i) {
    const int object = i % 2 == 0 ? 0 : 1;
    const std::vector<double> row = {x[3 * i],     x[3 * i + 1], x[3 * i + 2], v[3 * i],
                                     v[3 * i + 1], v[3 * i + 2], double(i),    static_cast<double>(object),
                                     1.0 - object};
    ASSERT_EQ(ply.rows[i], row);
  }
}

TEST(PlyWriter, writes_two_dimensions_doubles_and_few_columns) {
  const Scratch dir;
  Frame frame;
  frame.columns = {array_of<double>("x", 2, {0.1, 0.2, 0.3, 0.4}), array_of<std::uint64_t>("id", 1, {7, 4294967295})};
  const auto out = writer("ply").open(dir / "ply", named(""));
  out->write(frame);
  const Ply ply = read_ply(dir / "ply/frame_000000.ply");
  EXPECT_EQ(ply.properties, (Properties{{"double", "x"}, {"double", "y"}, {"double", "z"}, {"uint", "id"}}));
  EXPECT_EQ(ply.rows, (std::vector<std::vector<double>>{{0.1, 0.2, 0, 7}, {0.3, 0.4, 0, 4294967295.0}}));

  frame.columns = {array_of<float>("x", 3, {})};
  out->write(frame);
  EXPECT_TRUE(read_ply(dir / "ply/frame_000000.ply").rows.empty());
}

TEST(PlyWriter, refuses_what_the_format_cannot_hold) {
  const Scratch dir;
  Frame frame;
  frame.columns = {array_of<float>("x", 3, {0, 0, 0}), array_of<std::uint64_t>("id", 1, {std::uint64_t{1} << 32})};
  const auto out = writer("ply").open(dir / "ply", named("a"));
  EXPECT_TRUE(contains(io_error_of([&] { out->write(frame); }), "32 bits"));
  EXPECT_TRUE(listing(dir / "ply").empty());
  write_bytes(dir / "file", "x");
  frame.columns.pop_back();
  EXPECT_TRUE(
      contains(io_error_of([&] { writer("ply").open(dir / "file", named("a"))->write(frame); }), "Not a directory"));
}

}  // namespace
}  // namespace tribo

#include <gtest/gtest.h>

#include <sstream>

#include "bodies.h"
#include "scratch.h"
#include "tribo/io/file.h"
#include "tribo/io/writer.h"
#include "tribo/io/writers/file_sequence.h"
#include "tribo/mesh/strand_file.h"

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

/// A PLY file as any reader sees it: the properties of vertices in order and every value as a double.
struct Ply {
  std::vector<std::string> comments;
  std::vector<std::pair<std::string, std::string>> properties;  ///< type, name
  std::vector<std::vector<double>> rows;
  std::vector<std::vector<std::int32_t>> cells;  ///< edges or faces
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
  std::size_t count = 0, edges = 0, faces = 0;
  while (std::getline(in, line) && line != "end_header") {
    std::istringstream words(line);
    std::string word, type, name;
    words >> word;
    if (word == "comment") {
      ply.comments.push_back(line.substr(8));
    } else if (word == "element") {
      words >> name;
      words >> (name == "edge" ? edges : name == "face" ? faces : count);
      EXPECT_TRUE(name == "vertex" || name == "edge" || name == "face");
    } else if (edges + faces > 0) {
      EXPECT_TRUE(edges > 0 ? line.starts_with("property int vertex")
                            : line == "property list uchar int vertex_indices");
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
      if (type == "uchar") row.push_back(take<std::uint8_t>(in));
    }
    EXPECT_EQ(row.size(), ply.properties.size());
  }
  for (std::size_t i = 0; i < edges + faces; ++i) {
    std::vector<std::int32_t>& cell =
        ply.cells.emplace_back(edges > 0 ? 2 : static_cast<std::size_t>(take<std::uint8_t>(in)));
    for (std::int32_t& corner : cell) corner = static_cast<std::int32_t>(take<std::int32_t>(in));
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
    for (const int number : {0, 1, 1}) out->write(frame_with_tets(number));
    for (const auto& item : std::filesystem::recursive_directory_iterator(dir.path())) {
      EXPECT_NE(item.path().extension(), ".tribo-tmp");
    }
  }
}

TEST(PlyWriter, writes_what_a_reader_expects) {
  const Scratch dir;
  Frame frame = some_frame(12, 40000);  // more than a buffer
  frame.objects[1] = "two\nlines";
  RunInfo info = some_run();
  info.name = "jello sand/1";
  info.bodies[1].name = frame.objects[1];
  writer("ply").open(dir / "ply", info)->write(frame);
  EXPECT_EQ(listing(dir / "ply").size(), 1u);
  const Ply ply = read_ply(dir / "ply/jello_sand_1_000012.ply");
  const Properties expected = {{"float", "x"},      {"float", "y"},   {"float", "z"},      {"float", "vx"},
                               {"float", "vy"},     {"float", "vz"},  {"uint", "id"},      {"int", "object"},
                               {"int", "material"}, {"float", "J"},   {"float", "radius"}, {"uchar", "red"},
                               {"uchar", "green"},  {"uchar", "blue"}};
  EXPECT_EQ(ply.properties, expected);
  EXPECT_EQ(ply.comments, (std::vector<std::string>{"tribo frame 12 time 0.5", "object 0 jello", "object 1 two lines",
                                                    "object 2 floor", "object 3 <&\" wall", "material 0 dry_sand",
                                                    "material 1 jelly"}));
  ASSERT_EQ(ply.rows.size(), 40000u);
  const auto x = frame.find("x")->as<float>();
  const auto v = frame.find("v")->as<float>();
  const auto J = frame.find("J")->as<float>();
  for (std::size_t i = 0; i < ply.rows.size(); ++i) {
    const bool jello = i % 2 == 0;
    std::vector<double> row = {x[3 * i], x[3 * i + 1], x[3 * i + 2], v[3 * i], v[3 * i + 1], v[3 * i + 2]};
    row.insert(row.end(), {double(i), jello ? 0. : 1., jello ? 1. : 0., J[i], jello ? 0.5 : 0.25});
    for (const int k : {0, 1, 2}) row.push_back(!jello ? 188 : k == 0 ? 255 : 0);
    ASSERT_EQ(ply.rows[i], row);
  }
}

/// What is written of strands can be taken as strand files again: the same points and radii, to the precision of USD.
TEST(Writers, strands_come_back_as_strand_files) {
  const Scratch dir;
  Frame frame = frame_with_bodies(7);
  frame.curves.erase(frame.curves.begin());  // one object has radii, the other has not
  for (const std::string format : {"ply", "vtk", "usd"}) {
    for (const WriterEntry& writer : all_writers()) {
      if (writer.name != format) continue;
      const auto out = writer.open(dir / format, some_run());
      out->write(frame);
      out->finish();
    }
    const std::string path = dir / (format + (format == "ply"   ? "/scene_strands_000007.ply"
                                              : format == "vtk" ? "/scene_strands_000007.vtp"
                                                                : "/scene_000007.usda"));
    const Strands strands = parse_strands(read_text(path), 1, path).strands;
    SCOPED_TRACE(format);
    EXPECT_EQ(strands.start, (std::vector<std::int32_t>{0, 2}));
    ASSERT_EQ(strands.points.size(), 2u);
    EXPECT_EQ(strands.points[1][0], 7);
    EXPECT_EQ(strands.points[1][1], 1);
    EXPECT_EQ(strands.radius, (std::vector<double>{0.75, 0.125}));
  }
}

TEST(PlyWriter, writes_meshes_strands_and_colliders_as_files_of_their_own) {
  const Scratch dir;
  const auto out = writer("ply").open(dir / "ply", some_run());
  out->write(frame_with_bodies(7));
  EXPECT_EQ(listing(dir / "ply"), (std::vector<std::string>{"scene_000007.ply", "scene_colliders_000007.ply",
                                                            "scene_meshes_000007.ply", "scene_strands_000007.ply"}));
  const Ply meshes = read_ply(dir / "ply/scene_meshes_000007.ply");
  const Properties expected = {{"double", "x"},  {"double", "y"},    {"double", "z"},   {"double", "vx"},
                               {"double", "vy"}, {"double", "vz"},   {"int", "object"}, {"int", "material"},
                               {"uchar", "red"}, {"uchar", "green"}, {"uchar", "blue"}};
  EXPECT_EQ(meshes.properties, expected);
  ASSERT_EQ(meshes.rows.size(), 7u);
  EXPECT_EQ(meshes.rows[1], (std::vector<double>{1, 0, 0, 0, 0, 0, 0, 1, 255, 0, 0}));
  EXPECT_EQ(meshes.rows[4], (std::vector<double>{0.1, 0.2, 0.3, 1, 2, 3, 1, 0, 188, 188, 188}));
  EXPECT_EQ(meshes.cells, (std::vector<std::vector<std::int32_t>>{{0, 1, 2}, {0, 2, 3}, {4, 5, 6}}));
  const Ply strands = read_ply(dir / "ply/scene_strands_000007.ply");
  EXPECT_EQ(strands.rows.size(), 7u);
  EXPECT_EQ(strands.cells, (std::vector<std::vector<std::int32_t>>{{0, 1}, {1, 2}, {3, 4}, {5, 6}}));
  const Ply colliders = read_ply(dir / "ply/scene_colliders_000007.ply");
  ASSERT_EQ(colliders.rows.size(), 3u);
  EXPECT_EQ(colliders.rows[2], (std::vector<double>{0, 0, 1, 0, 0, 0, 3, -1, 0, 255, 188}));
  EXPECT_EQ(colliders.cells, (std::vector<std::vector<std::int32_t>>{{0, 2, 1}}));

  out->write(frame_with_bodies(8));
  out->write(some_frame(7));  // parts it no longer has go away
  out->remove_after(7);       // and all of frame 8
  EXPECT_EQ(listing(dir / "ply"), (std::vector<std::string>{"scene_000007.ply"}));
}

/// Parts of one name do not take each other's files for theirs.
TEST(FileSequence, knows_its_own_files) {
  const Scratch dir;
  const FileSequence particles(dir.path(), "a", ".ply"), meshes(dir.path(), "a", ".ply", "meshes");
  for (const char* name : {"a_000001.ply", "a_meshes_000002.ply", "a_meshes_000003.ply", "a_000004.vtp", "a_5.ply"})
    write_bytes(dir / name, "x");
  EXPECT_EQ(particles.frames(), (std::vector<int>{1}));
  EXPECT_EQ(meshes.frames(), (std::vector<int>{2, 3}));
  particles.remove_after(-1);
  particles.remove(1);  // gone already
  EXPECT_EQ(meshes.frames(), (std::vector<int>{2, 3}));
  meshes.remove(2);
  EXPECT_EQ(listing(dir.path()), (std::vector<std::string>{"a_000004.vtp", "a_5.ply", "a_meshes_000003.ply"}));
  const std::string long_name(300, 'x');
  EXPECT_NE(FileSequence("", long_name, ".ply").file_name(1),
            FileSequence("", long_name, ".ply", "meshes").file_name(1));
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

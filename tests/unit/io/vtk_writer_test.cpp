#include <gtest/gtest.h>

#include <cmath>

#include "bodies.h"
#include "scratch.h"
#include "tribo/io/writer.h"
#include "tribo/io/writers/vtk.h"

namespace tribo {
namespace {

/// A .vtp file: its XML, and the arrays appended to it.
class Vtp {
 public:
  explicit Vtp(const std::string& path) {
    const std::string bytes = read_bytes(path);
    const std::size_t mark = bytes.find("<AppendedData encoding=\"raw\">\n_");
    EXPECT_NE(mark, std::string::npos) << path;
    xml_ = bytes.substr(0, mark);
    data_ = bytes.substr(bytes.find('_', mark) + 1);
  }
  const std::string& xml() const { return xml_; }
  bool has(const std::string& name) const { return xml_.find("Name=\"" + name + "\"") != std::string::npos; }
  std::string type(const std::string& name) const { return attribute(element(name), "type"); }
  std::string components(const std::string& name) const { return attribute(element(name), "NumberOfComponents"); }
  std::string count(const std::string& what) const {
    return attribute(xml_.substr(xml_.find("<Piece")), "NumberOf" + what);
  }
  std::string raw(const std::string& name) const {
    const std::size_t offset = std::stoul(attribute(element(name), "offset"));
    std::uint64_t size = 0;
    std::memcpy(&size, data_.data() + offset, sizeof size);
    EXPECT_LE(offset + 8 + size, data_.size());
    return data_.substr(offset + 8, size);
  }
  template <class T>
  std::vector<T> values(const std::string& name) const {
    const std::string bytes = raw(name);
    EXPECT_EQ(bytes.size() % sizeof(T), 0u);
    std::vector<T> result(bytes.size() / sizeof(T));
    std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char*>(result.data()));
    return result;
  }

 private:
  std::string element(const std::string& name) const {
    const std::size_t at = xml_.find("Name=\"" + name + "\"");
    if (at == std::string::npos) throw std::runtime_error("no array " + name);
    const std::size_t begin = xml_.rfind('<', at);
    return xml_.substr(begin, xml_.find('>', begin) - begin);
  }
  static std::string attribute(const std::string& element, const std::string& name) {
    const std::size_t at = element.find(" " + name + "=\"");
    if (at == std::string::npos) return "";
    const std::size_t begin = at + name.size() + 3;
    return element.substr(begin, element.find('"', begin) - begin);
  }

  std::string xml_, data_;
};

std::string zero_ended(const std::vector<std::string>& names) {
  std::string bytes;
  for (const std::string& name : names) bytes += name + '\0';
  return bytes;
}

std::string bytes_of(const NamedArray& array) {
  return {reinterpret_cast<const char*>(array.data.data()), array.data.size()};
}

using Cells = std::vector<std::int64_t>;

TEST(VtkWriter, writes_particles_as_they_are) {
  const Scratch dir;
  const Frame frame = some_frame(12, 40000);  // more than a buffer
  open_vtk_writer(dir / "vtk", some_run())->write(frame);
  EXPECT_EQ(listing(dir / "vtk"), (std::vector<std::string>{"scene_000012.vtp"}));
  const Vtp vtp(dir / "vtk/scene_000012.vtp");
  EXPECT_TRUE(contains(vtp.xml(), ">0.5</DataArray>"));
  EXPECT_EQ(vtp.count("Points"), "40000");
  EXPECT_EQ(vtp.count("Verts"), "40000");
  EXPECT_EQ(vtp.count("Polys"), "0");
  EXPECT_EQ(vtp.raw("Points"), bytes_of(*frame.find("x")));
  EXPECT_EQ(vtp.raw("velocity"), bytes_of(*frame.find("v")));
  EXPECT_EQ(vtp.components("velocity"), "3");
  for (const char* name : {"id", "object", "material", "J"}) EXPECT_EQ(vtp.raw(name), bytes_of(*frame.find(name)));
  EXPECT_EQ(vtp.type("id"), "UInt32");
  EXPECT_EQ(vtp.type("J"), "Float32");
  EXPECT_FALSE(vtp.has("strain"));
  EXPECT_EQ(vtp.raw("objects"), zero_ended({"jello", "sand", "floor", "<&\" wall"}));
  EXPECT_EQ(vtp.raw("materials"), zero_ended({"dry_sand", "jelly"}));
  const Cells points = vtp.values<std::int64_t>("connectivity"), ends = vtp.values<std::int64_t>("offsets");
  ASSERT_EQ(points.size(), 40000u);
  ASSERT_EQ(ends.size(), 40000u);
  const auto radius = vtp.values<float>("radius");
  const auto color = vtp.values<std::uint8_t>("color");
  ASSERT_EQ(radius.size(), 40000u);
  ASSERT_EQ(color.size(), 120000u);
  for (std::size_t i = 0; i < points.size(); ++i) {
    ASSERT_EQ(points[i], static_cast<std::int64_t>(i));
    ASSERT_EQ(ends[i], points[i] + 1);
    ASSERT_EQ(radius[i], i % 2 == 0 ? 0.5f : 0.25f);
    ASSERT_EQ(color[3 * i], i % 2 == 0 ? 255 : 188);  // a linear half is 188 as a display shows it
  }
}

TEST(VtkWriter, writes_meshes_strands_and_colliders_as_parts_of_their_own) {
  const Scratch dir;
  const auto out = open_vtk_writer(dir / "vtk", some_run());
  out->write(frame_with_bodies(7));
  out->finish();
  EXPECT_EQ(listing(dir / "vtk"),
            (std::vector<std::string>{"scene.pvd", "scene_000007.vtp", "scene_colliders_000007.vtp",
                                      "scene_meshes_000007.vtp", "scene_strands_000007.vtp"}));
  const Vtp meshes(dir / "vtk/scene_meshes_000007.vtp");
  EXPECT_EQ(meshes.count("Points"), "7");
  EXPECT_EQ(meshes.count("Polys"), "3");
  EXPECT_EQ(meshes.values<std::int64_t>("connectivity"), (Cells{0, 1, 2, 0, 2, 3, 4, 5, 6}));
  EXPECT_EQ(meshes.values<std::int64_t>("offsets"), (Cells{3, 6, 9}));
  EXPECT_EQ(meshes.type("Points"), "Float64");  // one of the two is in double
  EXPECT_EQ(meshes.values<double>("Points"),
            (std::vector<double>{0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0.1, 0.2, 0.3, 1, 0, 0, 0, 1, 0}));
  EXPECT_EQ(meshes.values<double>("velocity"),
            (std::vector<double>{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(meshes.values<std::int32_t>("object"), (std::vector<std::int32_t>{0, 0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(meshes.values<std::int32_t>("material"), (std::vector<std::int32_t>{1, 1, 1, 1, 0, 0, 0}));
  EXPECT_FALSE(meshes.has("radius"));

  const Vtp strands(dir / "vtk/scene_strands_000007.vtp");
  EXPECT_EQ(strands.count("Lines"), "3");
  EXPECT_EQ(strands.values<std::int64_t>("connectivity"), (Cells{0, 1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(strands.values<std::int64_t>("offsets"), (Cells{3, 5, 7}));
  EXPECT_EQ(strands.values<float>("radius"), (std::vector<float>{0.25f, 0.25f, 0.25f, 0.25f, 0.25f, 0.75f, 0.125f}));

  const Vtp colliders(dir / "vtk/scene_colliders_000007.vtp");
  EXPECT_EQ(colliders.count("Polys"), "1");
  EXPECT_EQ(colliders.values<std::int32_t>("object"), (std::vector<std::int32_t>{3, 3, 3}));
  EXPECT_EQ(colliders.values<std::int32_t>("material"), (std::vector<std::int32_t>{-1, -1, -1}));
  EXPECT_EQ(colliders.values<std::uint8_t>("color"),
            (std::vector<std::uint8_t>{0, 255, 188, 0, 255, 188, 0, 255, 188}));
  EXPECT_TRUE(contains(read_bytes(dir / "vtk/scene.pvd"),
                       "<DataSet timestep=\"0.175\" part=\"3\" name=\"colliders\" "
                       "file=\"scene_colliders_000007.vtp\"/>"));
}

TEST(VtkWriter, writes_two_dimensions_doubles_wide_integers_and_few_columns) {
  const Scratch dir;
  Frame frame;
  frame.objects = {"a"};
  frame.columns = {array_of<double>("x", 2, {0.1, 0.2, 0.3, 0.4}), array_of<float>("v", 2, {1, 2, 3, 4}),
                   array_of<std::int64_t>("id", 1, {7, std::int64_t{1} << 40}),
                   array_of<std::uint8_t>("object", 1, {0, 0}), array_of<float>("new \"<quantity>\"", 2, {5, 6, 7, 8})};
  RunInfo info;
  open_vtk_writer(dir / "vtk", info)->write(frame);
  const Vtp vtp(dir / "vtk/frame_000000.vtp");
  EXPECT_EQ(vtp.values<double>("Points"), (std::vector<double>{0.1, 0.2, 0, 0.3, 0.4, 0}));
  EXPECT_EQ(vtp.values<float>("velocity"), (std::vector<float>{1, 2, 0, 3, 4, 0}));
  EXPECT_EQ(vtp.type("id"), "Int64");
  EXPECT_EQ(vtp.values<std::int64_t>("id"), (Cells{7, std::int64_t{1} << 40}));
  EXPECT_EQ(vtp.values<std::int32_t>("object"), (std::vector<std::int32_t>{0, 0}));
  EXPECT_EQ(vtp.values<float>("new &quot;&lt;quantity&gt;&quot;"), (std::vector<float>{5, 6, 7, 8}));
  EXPECT_FALSE(vtp.has("material"));
}

TEST(VtkWriter, writes_an_empty_frame) {
  const Scratch dir;
  Frame frame;
  frame.columns = {array_of<float>("x", 3, {})};
  open_vtk_writer(dir / "vtk", {})->write(frame);
  const Vtp vtp(dir / "vtk/frame_000000.vtp");
  EXPECT_EQ(vtp.count("Points"), "0");
  EXPECT_EQ(vtp.raw("Points"), "");
  EXPECT_EQ(vtp.raw("connectivity"), "");
  EXPECT_EQ(vtp.raw("objects"), "");
}

TEST(VtkWriter, lists_all_frames_there_are) {
  const Scratch dir;
  RunInfo info = some_run();
  info.name = "a<&\">'b";
  {
    const auto before = open_vtk_writer(dir / "vtk", info);
    for (const int number : {0, 1, 2, 3}) before->write(some_frame(number));
    before->finish();
  }
  const auto out = open_vtk_writer(dir / "vtk", info);  // resumed from frame 1
  out->remove_after(1);
  const std::string pvd = dir / "vtk/a_____b.pvd";
  EXPECT_TRUE(contains(read_bytes(pvd), "000001.vtp"));
  EXPECT_EQ(read_bytes(pvd).find("000002.vtp"), std::string::npos);
  out->write(some_frame(2));
  out->finish();
  EXPECT_EQ(read_bytes(pvd),
            "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\" byte_order=\"LittleEndian\">\n"
            "<Collection>\n"
            "<DataSet timestep=\"0\" part=\"0\" name=\"particles\" file=\"a_____b_000000.vtp\"/>\n"
            "<DataSet timestep=\"0.025\" part=\"0\" name=\"particles\" file=\"a_____b_000001.vtp\"/>\n"
            "<DataSet timestep=\"0.05\" part=\"0\" name=\"particles\" file=\"a_____b_000002.vtp\"/>\n"
            "</Collection>\n</VTKFile>\n");
  out->remove_after(-1);
  EXPECT_TRUE(listing(dir / "vtk").empty());
}

TEST(VtkWriter, makes_nothing_when_there_is_nothing) {
  const Scratch dir;
  const auto out = open_vtk_writer(dir / "vtk", some_run());
  out->remove_after(-1);
  out->finish();
  EXPECT_FALSE(std::filesystem::exists(dir / "vtk"));
}

TEST(VtkWriter, leaves_no_part_of_an_earlier_export) {
  const Scratch dir;
  const auto out = open_vtk_writer(dir / "vtk", some_run());
  out->write(frame_with_bodies(7));
  out->write(frame_with_bodies(8));
  out->write(some_frame(7));
  out->remove_after(7);
  EXPECT_EQ(listing(dir / "vtk"), (std::vector<std::string>{"scene_000007.vtp"}));
}

TEST(VtkWriter, says_where_it_cannot_write) {
  const Scratch dir;
  write_bytes(dir / "file", "x");
  const auto blocked = open_vtk_writer(dir / "file", some_run());
  EXPECT_TRUE(contains(io_error_of([&] { blocked->write(some_frame(0)); }), "Not a directory"));
  std::filesystem::create_directories(dir / "vtk/scene_000000.vtp");
  const auto out = open_vtk_writer(dir / "vtk", some_run());
  EXPECT_TRUE(contains(io_error_of([&] { out->write(some_frame(0)); }), "scene_000000.vtp"));
  EXPECT_EQ(listing(dir / "vtk").size(), 1u);  // no temporary stays
}

}  // namespace
}  // namespace tribo

#include <gtest/gtest.h>

#include "scratch.h"
#include "tribo/io/writer.h"
#ifdef TRIBO_HAS_OPENVDB
#include <openvdb/openvdb.h>
#include <openvdb/points/PointCount.h>
#include <openvdb/points/PointDataGrid.h>

#include <cmath>
#include <map>
#endif

namespace tribo {
namespace {

const WriterEntry& vdb() {
  for (const WriterEntry& entry : all_writers())
    if (entry.name == std::string("vdb")) return entry;
  throw std::logic_error("no writer");
}

RunInfo some_info() {
  RunInfo info;
  info.name = "scene";
  info.fps = 25;
  info.up = 'Z';
  info.bodies = {{"jello", "jelly", {{0.25f, 0.5f, 1}}, 0.01f}, {"sand", "dry_sand", {{1, 0.75f, 0}}, 0.003f}};
  return info;
}

using Strings = std::vector<std::string>;

#ifndef TRIBO_HAS_OPENVDB

TEST(VdbWriter, says_that_it_is_not_in_this_build) {
  EXPECT_TRUE(contains(vdb().unavailable, "no OpenVDB"));
  const Scratch dir;
  write_bytes(dir / "scene_000004.vdb", "x");
  const auto out = vdb().open(dir.path(), some_info());
  EXPECT_TRUE(contains(io_error_of([&] { out->write(some_frame(0)); }), "no OpenVDB"));
  out->remove_after(3);
  EXPECT_TRUE(listing(dir.path()).empty());
}

#else

using openvdb::points::PointDataGrid;

struct Point {
  openvdb::Vec3d x, v, color;
  double J = 0, strain = 0, radius = 0;
};

struct OpenFile : openvdb::io::File {
  using Archive::inputHasGridOffsets;
  using File::File;
};

struct Vdb {
  openvdb::MetaMap::Ptr meta;
  std::vector<PointDataGrid::Ptr> grids;

  explicit Vdb(const std::string& path) {
    OpenFile file(path);
    file.open();
    EXPECT_TRUE(file.inputHasGridOffsets());  // readers may load one grid and leave the others
    meta = file.getMetadata();
    const openvdb::GridPtrVecPtr all = file.getGrids();
    for (const auto& grid : *all) grids.push_back(openvdb::gridPtrCast<PointDataGrid>(grid));
  }

  Strings names() const {
    Strings all;
    for (const auto& grid : grids) all.push_back(grid->getName());
    return all;
  }
};

/// An attribute of one leaf, of whatever type, as a function of the index of a point.
template <class Real, class Leaf>
double scalar(const Leaf& leaf, const std::string& name, openvdb::Index i) {
  return openvdb::points::AttributeHandle<Real>(leaf.constAttributeArray(name)).get(i);
}
template <class Real, class Leaf>
openvdb::Vec3d vector(const Leaf& leaf, const std::string& name, openvdb::Index i) {
  return openvdb::Vec3d(
      openvdb::points::AttributeHandle<openvdb::math::Vec3<Real> >(leaf.constAttributeArray(name)).get(i));
}

/// The points of a grid by id, with positions in the world.
template <class Real, class Id>
std::map<std::int64_t, Point> points_of(const PointDataGrid& grid) {
  std::map<std::int64_t, Point> points;
  for (auto leaf = grid.tree().cbeginLeaf(); leaf; ++leaf) {
    for (auto i = leaf->beginIndexOn(); i; ++i) {
      const Id id = openvdb::points::AttributeHandle<Id>(leaf->constAttributeArray("id")).get(*i);
      Point point;
      point.x = grid.transform().indexToWorld(i.getCoord().asVec3d() + vector<float>(*leaf, "P", *i));
      point.v = vector<Real>(*leaf, "v", *i);
      point.color = vector<float>(*leaf, "Cd", *i);
      point.J = scalar<Real>(*leaf, "J", *i);
      point.radius = scalar<float>(*leaf, "pscale", *i);
      if (leaf->attributeSet().find("strain") != openvdb::points::AttributeSet::INVALID_POS)
        point.strain = scalar<Real>(*leaf, "strain", *i);
      EXPECT_TRUE(points.emplace(id, point).second);
    }
  }
  return points;
}

Vdb written(const Frame& frame, const RunInfo& info = some_info()) {
  const Scratch dir;
  vdb().open(dir / "out", info)->write(frame);
  EXPECT_EQ(listing(dir / "out").size(), 1u);
  return Vdb(dir / "out/" + listing(dir / "out").at(0));
}

TEST(VdbWriter, gives_the_same_bytes_again) {
  const Scratch dir;
  for (const char* name : {"a", "b"}) vdb().open(dir / name, some_info())->write(some_frame(3));
  const std::vector<std::string> files = listing(dir / "a");
  ASSERT_EQ(files.size(), 1u);
  EXPECT_EQ(read_bytes(dir / ("a/" + files[0])), read_bytes(dir / ("b/" + files[0])));
}

TEST(VdbWriter, keeps_floats_to_the_last_bit) {
  Frame frame = some_frame(12, 20000);
  std::vector<float> x(60000), strain(20000);
  std::mt19937 random(1);
  for (std::size_t i = 0; i < x.size(); ++i) {  // far, near and on both sides of the origin, on borders of voxels, tiny
    const float unit = static_cast<float>(random() >> 8) * 0x1p-24f - 0.5f;
    x[i] = i % 5 == 0   ? 100 * unit
           : i % 5 == 1 ? unit
           : i % 5 == 2 ? 1e-3f * unit
           : i % 5 == 3 ? std::round(64 * unit) / 64
                        : 1e-20f * unit;
  }
  for (std::size_t i = 0; i < strain.size(); ++i) strain[i] = 1e-3f * static_cast<float>(i);
  frame.columns[0] = array_of("x", 3, x);
  frame.columns.push_back(array_of("strain", 1, strain));
  const Vdb file = written(frame);
  EXPECT_EQ(file.names(), (Strings{"jello", "sand"}));
  EXPECT_EQ(file.meta->metaValue<std::int32_t>("frame"), 12);
  EXPECT_EQ(file.meta->metaValue<double>("time"), 0.5);
  EXPECT_EQ(file.meta->metaValue<double>("fps"), 25);
  EXPECT_EQ(file.meta->metaValue<std::string>("units"), "m");
  EXPECT_EQ(file.meta->metaValue<std::string>("up_axis"), "Z");
  const auto v = frame.find("v")->as<float>(), J = frame.find("J")->as<float>();
  for (std::size_t object = 0; object < 2; ++object) {
    const PointDataGrid& grid = *file.grids[object];
    EXPECT_EQ(grid.metaValue<std::string>("object"), object == 0 ? "jello" : "sand");
    EXPECT_EQ(grid.metaValue<std::string>("material"), object == 0 ? "jelly" : "dry_sand");
    EXPECT_EQ(grid.transform().voxelSize(), openvdb::Vec3d(object == 0 ? 0x1p-5 : 0x1p-6));
    EXPECT_EQ(openvdb::points::pointCount(grid.tree()), 10000u);
    const auto points = points_of<float, std::int32_t>(grid);
    ASSERT_EQ(points.size(), 10000u);
    for (const auto& [id, point] : points) {
      const auto i = static_cast<std::size_t>(id);
      ASSERT_EQ(i % 2, object);
      ASSERT_EQ(point.x, openvdb::Vec3d(x[3 * i], x[3 * i + 1], x[3 * i + 2]));
      ASSERT_EQ(point.v, openvdb::Vec3d(v[3 * i], v[3 * i + 1], v[3 * i + 2]));
      ASSERT_EQ(point.J, J[i]);
      ASSERT_EQ(point.strain, strain[i]);
      ASSERT_EQ(point.radius, object == 0 ? 0.01f : 0.003f);
      ASSERT_EQ(point.color, object == 0 ? openvdb::Vec3d(0.25, 0.5, 1) : openvdb::Vec3d(1, 0.75, 0));
    }
  }
}

TEST(VdbWriter, keeps_doubles_to_a_small_part_of_a_voxel) {
  std::mt19937_64 random(1);
  std::vector<double> x(3000), v(3000), J(1000);
  std::vector<std::uint64_t> id(1000);
  const auto unit = [&] { return static_cast<double>(random() >> 11) * 0x1p-53 - 0.5; };
  for (double& value : x) value = 20 * unit();
  for (double& value : v) value = unit();
  for (std::size_t i = 0; i < id.size(); ++i) {
    J[i] = 1 + unit();
    id[i] = (std::uint64_t{1} << 40) + i;
  }
  Frame frame;
  frame.objects = {"jello"};
  frame.columns = {array_of("x", 3, x), array_of("v", 3, v), array_of("id", 1, id), array_of("J", 1, J),
                   array_of("object", 1, std::vector<std::int32_t>(1000, 0))};
  const Vdb file = written(frame);
  const auto points = points_of<double, std::int64_t>(*file.grids.at(0));
  ASSERT_EQ(points.size(), 1000u);
  // Within a voxel positions are floats of at most 1/2, whose rounding error is at most 2^-26; that of computing with
  // doubles is far below.
  const double tolerance = 0x1p-5 * 0x1p-26 * 1.001;
  double largest = 0;
  for (const auto& [number, point] : points) {
    const auto i = static_cast<std::size_t>(number - (std::int64_t{1} << 40));
    for (int k = 0; k < 3; ++k) {
      largest = std::max(largest, std::abs(point.x[k] - x[3 * i + static_cast<std::size_t>(k)]));
      ASSERT_EQ(point.v[k], v[3 * i + static_cast<std::size_t>(k)]);
    }
    ASSERT_EQ(point.J, J[i]);
  }
  EXPECT_LE(largest, tolerance);
  EXPECT_GT(largest, tolerance / 10);  // or the test tests nothing
  RecordProperty("largest_error_by_tolerance", std::to_string(largest / tolerance));
}

TEST(VdbWriter, takes_two_dimensions_and_few_columns) {
  Frame frame;
  frame.columns = {array_of<float>("x", 2, {0.1f, 0.2f, 0.3f, 0.4f})};
  const Vdb file = written(frame);
  EXPECT_EQ(file.names(), Strings{"points"});
  const PointDataGrid& grid = *file.grids[0];
  EXPECT_EQ(openvdb::points::pointCount(grid.tree()), 2u);
  double z = 0, sum = 0;
  for (auto leaf = grid.tree().cbeginLeaf(); leaf; ++leaf) {
    for (auto i = leaf->beginIndexOn(); i; ++i) {
      const auto x = grid.transform().indexToWorld(i.getCoord().asVec3d() + vector<float>(*leaf, "P", *i));
      z = std::max(z, std::abs(x[2]));
      sum += x[0] + x[1];
    }
  }
  EXPECT_EQ(z, 0);
  EXPECT_EQ(sum, double(0.1f) + double(0.2f) + double(0.3f) + double(0.4f));
}

TEST(VdbWriter, leaves_out_objects_without_particles) {
  Frame frame = some_frame(0, 1);  // all of the first object
  EXPECT_EQ(written(frame).names(), Strings{"jello"});
  frame.columns = {array_of<float>("x", 3, {}), array_of<std::int32_t>("object", 1, {})};
  EXPECT_TRUE(written(frame).grids.empty());
}

TEST(VdbWriter, gives_grids_names_of_their_own) {
  Frame frame = some_frame(0, 6);
  frame.objects = {"two words", "two\nwords", "", "2nd", "2nd", "\xc3\xa9"};
  frame.columns.erase(frame.columns.begin() + 4);
  frame.columns.push_back(array_of<std::uint8_t>("object", 1, {0, 1, 2, 3, 4, 5}));
  const Vdb file = written(frame);
  EXPECT_EQ(file.names(), (Strings{"_2nd", "_2nd_2", "__", "object", "two_words", "two_words_2"}));
  EXPECT_EQ(file.grids[5]->metaValue<std::string>("object"), "two\nwords");
}

TEST(VdbWriter, refuses_ids_it_cannot_hold) {
  const Scratch dir;
  Frame frame = some_frame(0, 1);
  frame.columns[2] = array_of<std::uint64_t>("id", 1, {std::uint64_t{1} << 63});
  EXPECT_TRUE(contains(io_error_of([&] { vdb().open(dir / "out", some_info())->write(frame); }), "2^63"));
  EXPECT_TRUE(listing(dir / "out").empty());
}

TEST(VdbWriter, removes_later_frames_and_reports_what_fails) {
  const Scratch dir;
  const auto out = vdb().open(dir / "out", some_info());
  for (const int number : {0, 3, 7}) out->write(some_frame(number, 3));
  out->remove_after(3);
  EXPECT_EQ(listing(dir / "out"), (Strings{"scene_000000.vdb", "scene_000003.vdb"}));
  write_bytes(dir / "file", "x");
  const auto blocked = vdb().open(dir / "file", some_info());
  EXPECT_TRUE(contains(io_error_of([&] { blocked->write(some_frame(0, 3)); }), "Not a directory"));
}

#endif

}  // namespace
}  // namespace tribo

#include "tribo/io/writers/vdb.h"

#include <openvdb/openvdb.h>
#include <openvdb/points/PointConversion.h>
#include <array>
#include <cstdio>
#include <span>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <ostream>
#include <type_traits>
#include <utility>
#include <vector>

#include "tribo/io/file.h"
#include "tribo/io/writers/atomic_stream.h"
#include "tribo/io/writers/convert.h"
#include "tribo/io/writers/file_sequence.h"

namespace tribo {
namespace {

using openvdb::points::PointDataGrid;
using openvdb::tools::PointIndexGrid;
using Rows = std::vector<std::uint64_t>;

/// Opens to us what writes grids into a stream and notes where each begins, so that readers may load one of them.
struct SeekableArchive : openvdb::io::Archive {
  using Archive::write;
};

/// Some rows of a column as OpenVDB asks for them: one by one, as Value.
template <class Value>
class ColumnView {
 public:
  using PosType = Value;
  using value_type = Value;

  ColumnView(const NamedArray& column, const Rows& rows) : column_(column), rows_(rows) {}
  std::size_t size() const { return rows_.size(); }
  void getPos(std::size_t n, Value& value) const { get(value, n); }
  void get(Value& value, std::size_t n, openvdb::Index = 0) const {
    if constexpr (std::is_arithmetic_v<Value>) {
      convert_rows(column_, rows_[n], 1, 1, &value);
    } else {
      convert_rows(column_, rows_[n], 1, 3, value.asPointer());
    }
  }

 private:
  const NamedArray& column_;
  const Rows& rows_;
};

/// About eight particles a voxel. A power of two, because then a position in float is scaled without rounding, and what
/// lies between it and the center of its voxel, which is what the file holds, has no more digits than the position.
double voxel_size(float particle_radius) {
  const double wanted = particle_radius > 0 ? 4.0 * particle_radius : 1.0;
  return std::exp2(std::round(std::log2(wanted)));
}

/// Names of grids are used as identifiers by other programs: letters, digits and underscores, all different.
std::vector<std::string> grid_names(const std::vector<std::string>& objects) {
  std::vector<std::string> names;
  for (const std::string& object : objects) {
    std::string name = object.empty() ? "object" : object.substr(0, 100);
    for (char& c : name) {
      const bool kept = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
      if (!kept) c = '_';
    }
    if (name[0] >= '0' && name[0] <= '9') name.insert(0, 1, '_');
    const std::string stem = name;
    for (int i = 2; std::find(names.begin(), names.end(), name) != names.end(); ++i)
      name = stem + "_" + std::to_string(i);
    names.push_back(name);
  }
  return names;
}

/// Which particles belong to each object. Without a column `object` all belong to one.
std::vector<Rows> rows_by_object(const Frame& frame, std::uint64_t count) {
  const NamedArray* object = frame.find("object");
  std::vector<Rows> rows(object != nullptr ? frame.objects.size() : 1);
  std::int64_t index = 0;
  for (std::uint64_t row = 0; row < count; ++row) {
    if (object != nullptr) convert_rows(*object, row, 1, 1, &index);
    rows[static_cast<std::size_t>(index)].push_back(row);
  }
  return rows;
}

/// The points of one object.
class PointsOfObject {
 public:
  PointsOfObject(const NamedArray& x, const Rows& rows, double voxel) : rows_(rows) {
    const auto transform = openvdb::math::Transform::createLinearTransform(voxel);
    const ColumnView<openvdb::Vec3d> positions(x, rows);
    index_ = openvdb::tools::createPointIndexGrid<PointIndexGrid>(positions, *transform);
    grid_ =
        openvdb::points::createPointDataGrid<openvdb::points::NullCodec, PointDataGrid>(*index_, positions, *transform);
  }

  template <class Value>
  void add(const std::string& name, const NamedArray& column) {
    openvdb::points::appendAttribute<Value>(grid_->tree(), name);
    openvdb::points::populateAttribute(grid_->tree(), index_->tree(), name, ColumnView<Value>(column, rows_));
  }

  /// The same for all points, stored once a block.
  template <class Value>
  void add_uniform(const std::string& name, const Value& value) {
    openvdb::points::appendAttribute<Value>(grid_->tree(), name, value);
  }

  PointDataGrid::Ptr grid() const { return grid_; }

 private:
  const Rows& rows_;
  PointIndexGrid::Ptr index_;
  PointDataGrid::Ptr grid_;
};

void add_columns(const Frame& frame, PointsOfObject& points) {
  if (const NamedArray* v = frame.find("v")) {
    if (v->type == DType::f64) {
      points.add<openvdb::Vec3d>("v", *v);
    } else {
      points.add<openvdb::Vec3f>("v", *v);
    }
  }
  if (const NamedArray* id = frame.find("id")) {
    if (all_fit<std::int32_t>(*id)) {
      points.add<std::int32_t>("id", *id);
    } else if (all_fit<std::int64_t>(*id)) {
      points.add<std::int64_t>("id", *id);
    } else {
      throw IoError("VDB files cannot hold ids of 2^63 and above (choose another format)");
    }
  }
  for (const char* name : {"J", "strain"}) {
    const NamedArray* column = frame.find(name);
    if (column == nullptr) continue;
    if (column->type == DType::f64) {
      points.add<double>(name, *column);
    } else {
      points.add<float>(name, *column);
    }
  }
}

/// The material of an object's first particle: all of an object have the same.
std::string material_of(const Frame& frame, const Rows& rows) {
  const NamedArray* material = frame.find("material");
  if (material == nullptr) return "";
  std::int64_t index = 0;
  convert_rows(*material, rows.front(), 1, 1, &index);
  return frame.materials[static_cast<std::size_t>(index)];
}

openvdb::GridCPtrVec grids_of(const Frame& frame, const RunInfo& info) {
  const NamedArray* x = frame.find("x");
  if (x == nullptr) throw Error(ExitCode::internal, "VDB writer: the frame has no positions");
  const std::vector<Rows> rows = rows_by_object(frame, x->count);
  const std::vector<std::string> objects =
      frame.find("object") != nullptr ? frame.objects : std::vector<std::string>{"points"};
  const std::vector<std::string> names = grid_names(objects);
  openvdb::GridCPtrVec grids;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].empty()) continue;
    const RunInfo::Body* body = info.find(objects[i]);
    PointsOfObject points(*x, rows[i], voxel_size(body != nullptr ? body->radius : 0));
    add_columns(frame, points);
    if (body != nullptr) {
      points.add_uniform("pscale", body->radius);
      points.add_uniform("Cd", openvdb::Vec3f(body->color.c));
    }
    PointDataGrid& grid = *points.grid();
    grid.setName(names[i]);
    grid.insertMeta("object", openvdb::StringMetadata(objects[i]));
    grid.insertMeta("material", openvdb::StringMetadata(material_of(frame, rows[i])));
    grids.push_back(points.grid());
  }
  return grids;
}

openvdb::MetaMap metadata_of(const Frame& frame, const RunInfo& info) {
  openvdb::MetaMap meta;
  meta.insertMeta("creator", openvdb::StringMetadata("tribo " TRIBO_VERSION));
  meta.insertMeta("frame", openvdb::Int32Metadata(frame.number));
  meta.insertMeta("time", openvdb::DoubleMetadata(frame.time));
  meta.insertMeta("fps", openvdb::DoubleMetadata(info.fps));
  meta.insertMeta("units", openvdb::StringMetadata("m"));
  meta.insertMeta("up_axis", openvdb::StringMetadata(std::string(1, info.up)));
  return meta;
}

class VdbWriter : public FrameWriter {
 public:
  VdbWriter(const std::string& directory, RunInfo info) : files_(directory, info.name, ".vdb"), info_(std::move(info)) {
    openvdb::initialize();
  }

  void write(const Frame& frame) override {
    const std::string path = files_.path_to_write(frame.number);
    AtomicFile file(path);
    try {
      AtomicFileBuffer buffer(file);
      std::ostream stream(&buffer);
      stream.exceptions(std::ios_base::badbit | std::ios_base::failbit);
      SeekableArchive().write(stream, grids_of(frame, info_), true, metadata_of(frame, info_));
      stream.flush();
      name_itself(file, frame);
    } catch (const openvdb::Exception& error) {
      throw IoError("cannot write " + path + ": " + error.what());
    }
    file.commit();
  }

  void remove_after(int frame) override { files_.remove_after(frame); }

 private:
  /// OpenVDB puts a random UUID behind the first 21 bytes (magic, versions, whether grids have offsets). One that names
  /// the frame makes files the same whenever they are written.
  static void name_itself(AtomicFile& file, const Frame& frame) {
    std::array<char, 37> uuid{};
    std::snprintf(uuid.data(), uuid.size(), "00000000-0000-4000-8000-%012d", frame.number);
    file.write_at(21, std::as_bytes(std::span(uuid.data(), 36)));
  }

  FileSequence files_;
  RunInfo info_;
};

}  // namespace

std::unique_ptr<FrameWriter> open_vdb_writer(const std::string& directory, const RunInfo& info) {
  return std::make_unique<VdbWriter>(directory, info);
}

}  // namespace tribo

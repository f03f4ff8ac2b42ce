#include "tribo/io/writers/ply.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <limits>
#include <utility>

#include "tribo/io/file.h"
#include "tribo/io/writers/buffered_file.h"
#include "tribo/io/writers/frame_parts.h"

namespace tribo {
namespace {

/// One column and the PLY properties it becomes.
struct Field {
  const PointColumn* column;
  std::vector<std::string> properties;
  const char* type;
  /// From the column's numbers to those of the file; nullptr when they are the same bytes.
  void (*narrow)(const Field& field, const std::byte* from, std::byte* to) = nullptr;
};

/// PLY has integers of at most 32 bits.
template <class From, class To>
void narrow_integers(const Field& field, const std::byte* from, std::byte* to) {
  for (std::size_t k = 0; k < field.properties.size(); ++k) {
    From value;
    std::memcpy(&value, from + k * sizeof value, sizeof value);
    if (!std::in_range<To>(value)) {
      throw IoError("PLY files cannot hold " + field.column->name + " " + std::to_string(value) +
                    ": their integers have 32 bits (choose another format)");
    }
    const To narrow = static_cast<To>(value);
    std::memcpy(to + k * sizeof narrow, &narrow, sizeof narrow);
  }
}

std::vector<std::string> properties_of(const PointColumn& column) {
  if (column.name == "position") return {"x", "y", "z"};
  if (column.name == "velocity") return {"vx", "vy", "vz"};
  if (column.name == "color") return {"red", "green", "blue"};
  if (column.components == 1) return {column.name};
  std::vector<std::string> names;
  for (std::uint32_t k = 0; k < column.components; ++k) names.push_back(column.name + "_" + std::to_string(k));
  return names;
}

Field field_of(const PointColumn& column) {
  const auto unchanged = [&](const char* type) { return Field{&column, properties_of(column), type, nullptr}; };
  const auto narrowed = [&]<class From>(From) {
    if (column.name == "id")  // counts from zero, and may be more than an int holds
      return Field{&column, properties_of(column), "uint", narrow_integers<From, std::uint32_t>};
    return Field{&column, properties_of(column), "int", narrow_integers<From, std::int32_t>};
  };
  switch (column.type) {
    case DType::f32:
      return unchanged("float");
    case DType::f64:
      return unchanged("double");
    case DType::u8:
      return unchanged("uchar");
    case DType::i32:
      return narrowed(std::int32_t{});
    case DType::i64:
      return narrowed(std::int64_t{});
    case DType::u32:
      return narrowed(std::uint32_t{});
    case DType::u64:
      break;
  }
  return narrowed(std::uint64_t{});
}

/// A header line ends at the first control character, so names must not bring their own.
std::string on_one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return std::iscntrl(c) != 0; }, ' ');
  return text;
}

std::uint64_t edge_count(const FramePart& part) {
  std::uint64_t count = 0;
  for (const FrameCurves* curves : part.curves) count += curves->x.count - curves->sizes.count;
  return count;
}

std::uint64_t face_count(const FramePart& part) {
  std::uint64_t count = 0;
  for (const FrameMesh* mesh : part.meshes) count += mesh->triangles.count;
  return count;
}

std::string header_of(const Frame& frame, const RunInfo& info, const FramePart& part,
                      const std::vector<Field>& fields) {
  std::string text = "ply\nformat binary_little_endian 1.0\n";
  text += fmt::format("comment tribo frame {} time {}\n", frame.number, frame.time);
  const auto add_names = [&](const char* what, const std::vector<std::string>& names) {
    for (std::size_t i = 0; i < names.size(); ++i)
      text += fmt::format("comment {} {} {}\n", what, i, on_one_line(names[i]));
  };
  add_names("object", body_names(frame, info));
  add_names("material", frame.materials);
  text += fmt::format("element vertex {}\n", part.point_count());
  for (const Field& field : fields)
    for (const std::string& property : field.properties)
      text += fmt::format("property {} {}\n", field.type, on_one_line(property));
  if (part.kind == PartKind::strands)
    text += fmt::format("element edge {}\nproperty int vertex1\nproperty int vertex2\n", edge_count(part));
  if (!part.meshes.empty())
    text += fmt::format("element face {}\nproperty list uchar int vertex_indices\n", face_count(part));
  return text + "end_header\n";
}

void write_points(const FramePart& part, const std::vector<Field>& fields, BufferedFile& file) {
  std::size_t row_size = 0;
  std::size_t widest = 0;
  std::vector<std::size_t> sizes;
  for (const Field& field : fields) {
    sizes.push_back(field.narrow ? 4 * field.properties.size() : field.column->row_size());
    row_size += sizes.back();
    widest = std::max(widest, field.column->row_size());
  }
  std::vector<std::byte> wide(widest);
  for (std::size_t group = 0; group < part.group_sizes.size(); ++group) {
    for (std::uint64_t row = 0; row < part.group_sizes[group]; ++row) {
      std::byte* to = file.append(row_size);
      for (std::size_t i = 0; i < fields.size(); ++i) {
        const Field& field = fields[i];
        field.column->copy(group, row, field.narrow ? wide.data() : to);
        if (field.narrow) field.narrow(field, wide.data(), to);
        to += sizes[i];
      }
    }
  }
}

/// Neighbors along each strand.
void write_edges(const FramePart& part, BufferedFile& file) {
  std::int32_t begin = 0;
  for (const FrameCurves* curves : part.curves) {
    for (const std::int32_t size : curves->sizes.as<std::int32_t>()) {
      for (std::int32_t i = begin; i + 1 < begin + size; ++i) {
        file.put(i);
        file.put(i + 1);
      }
      begin += size;
    }
  }
}

void write_faces(const FramePart& part, BufferedFile& file) {
  std::int32_t first = 0;
  for (const FrameMesh* mesh : part.meshes) {
    const auto corners = mesh->triangles.as<std::int32_t>();
    for (std::size_t i = 0; i + 2 < corners.size(); i += 3) {
      file.put(std::uint8_t{3});
      for (std::size_t k = 0; k < 3; ++k) file.put(first + corners[i + k]);
    }
    first += static_cast<std::int32_t>(mesh->x.count);
  }
}

class PlyWriter : public FrameWriter {
 public:
  PlyWriter(const std::string& directory, const RunInfo& info) : info_(info), files_(directory, info.name, ".ply") {}

  void write(const Frame& frame) override {
    const std::vector<FramePart> parts = parts_of(frame, info_);
    for (const FramePart& part : parts) write_part(frame, part);
    files_.remove_others(frame.number, parts);
  }

  void remove_after(int frame) override { files_.remove_after(frame); }

 private:
  void write_part(const Frame& frame, const FramePart& part) const {
    if (part.kind != PartKind::particles &&
        std::cmp_greater(part.point_count(), std::numeric_limits<std::int32_t>::max())) {
      throw IoError(
          fmt::format("PLY files cannot hold {} with {} points: their integers have 32 bits (choose another "
                      "format)",
                      name_of(part.kind), part.point_count()));
    }
    std::vector<Field> fields;
    for (const PointColumn& column : part.columns) fields.push_back(field_of(column));
    BufferedFile file(files_.of(part.kind).path_to_write(frame.number));
    file.write(header_of(frame, info_, part, fields));
    write_points(part, fields, file);
    write_edges(part, file);
    write_faces(part, file);
    file.commit();
  }

  RunInfo info_;
  PartFiles files_;
};

}  // namespace

std::unique_ptr<FrameWriter> open_ply_writer(const std::string& directory, const RunInfo& info) {
  return std::make_unique<PlyWriter>(directory, info);
}

}  // namespace tribo

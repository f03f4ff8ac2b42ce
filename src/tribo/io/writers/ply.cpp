#include "tribo/io/writers/ply.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <cstring>
#include <utility>

#include "tribo/io/file.h"
#include "tribo/io/writers/file_sequence.h"

namespace tribo {
namespace {

constexpr std::uint64_t rows_per_block = 1 << 14;

/// One column and the PLY properties it becomes.
struct Field {
  const NamedArray* column;
  std::vector<const char*> properties;
  const char* type;
  std::size_t size;  ///< bytes of one property in the file
  void (*copy)(const Field& field, std::uint64_t row, std::byte* to);

  std::size_t row_size() const { return properties.size() * size; }
};

/// Vectors are copied bytewise; a third component missing in 2D stays the zero that is there.
void copy_vector(const Field& field, std::uint64_t row, std::byte* to) {
  const std::size_t size = field.column->components * field.size;
  std::memcpy(to, field.column->data.data() + row * size, size);
}

/// PLY has integers of at most 32 bits.
template <class From, class To>
void copy_integer(const Field& field, std::uint64_t row, std::byte* to) {
  const From value = field.column->as<From>()[row];
  if (!std::in_range<To>(value)) {
    throw IoError("PLY files cannot hold " + field.column->name + " " + std::to_string(value) +
                  ": their integers have 32 bits (choose another format)");
  }
  const To narrow = static_cast<To>(value);
  std::memcpy(to, &narrow, sizeof narrow);
}

template <class To>
auto integer_copier(DType type) -> decltype(Field::copy) {
  switch (type) {
    case DType::i32:
      return copy_integer<std::int32_t, To>;
    case DType::i64:
      return copy_integer<std::int64_t, To>;
    case DType::u32:
      return copy_integer<std::uint32_t, To>;
    case DType::u64:
      return copy_integer<std::uint64_t, To>;
    case DType::u8:
      return copy_integer<std::uint8_t, To>;
    case DType::f32:
    case DType::f64:
      break;
  }
  throw Error(ExitCode::internal, "PLY writer: a column of integers holds floats");
}

std::vector<Field> fields_of(const Frame& frame) {
  std::vector<Field> fields;
  const auto add_vector = [&](const char* name, std::vector<const char*> properties) {
    const NamedArray* column = frame.find(name);
    if (!column) return;
    const bool is_double = column->type == DType::f64;
    fields.push_back(
        {column, std::move(properties), is_double ? "double" : "float", size_of(column->type), copy_vector});
  };
  add_vector("x", {"x", "y", "z"});
  add_vector("v", {"vx", "vy", "vz"});
  if (const NamedArray* id = frame.find("id")) {
    fields.push_back({id, {"id"}, "uint", 4, integer_copier<std::uint32_t>(id->type)});
  }
  for (const char* name : {"object", "material"}) {
    if (const NamedArray* column = frame.find(name)) {
      fields.push_back({column, {name}, "int", 4, integer_copier<std::int32_t>(column->type)});
    }
  }
  return fields;
}

/// A header line ends at the first control character, so names must not bring their own.
std::string on_one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return std::iscntrl(c) != 0; }, ' ');
  return text;
}

std::string header_of(const Frame& frame, std::uint64_t count, const std::vector<Field>& fields) {
  std::array<char, 64> time{};
  std::snprintf(time.data(), time.size(), "%.17g", frame.time);
  std::string text = "ply\nformat binary_little_endian 1.0\n";
  text += "comment tribo frame " + std::to_string(frame.number) + " time " + time.data() + "\n";
  const auto add_names = [&](const char* what, const std::vector<std::string>& names) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      text += "comment " + std::string(what) + " " + std::to_string(i) + " " + on_one_line(names[i]) + "\n";
    }
  };
  add_names("object", frame.objects);
  add_names("material", frame.materials);
  text += "element vertex " + std::to_string(count) + "\n";
  for (const Field& field : fields) {
    for (const char* property : field.properties) {
      text += "property " + std::string(field.type) + " " + property + "\n";
    }
  }
  return text + "end_header\n";
}

class PlyWriter : public FrameWriter {
 public:
  PlyWriter(const std::string& directory, const std::string& name) : files_(directory, name, ".ply") {}

  void write(const Frame& frame) override {
    const std::vector<Field> fields = fields_of(frame);
    if (fields.empty() || fields.front().column->name != "x") {
      throw Error(ExitCode::internal, "PLY writer: the frame has no positions");
    }
    const std::uint64_t count = fields.front().column->count;
    std::size_t row_size = 0;
    for (const Field& field : fields) row_size += field.row_size();

    AtomicFile file(files_.path_to_write(frame.number));
    const std::string header = header_of(frame, count, fields);
    file.write(std::as_bytes(std::span(header)));
    std::vector<std::byte> block;
    for (std::uint64_t begin = 0; begin < count; begin += rows_per_block) {
      const std::uint64_t rows = std::min(rows_per_block, count - begin);
      block.assign(rows * row_size, std::byte{0});
      std::byte* to = block.data();
      for (std::uint64_t row = begin; row < begin + rows; ++row) {
        for (const Field& field : fields) {
          field.copy(field, row, to);
          to += field.row_size();
        }
      }
      file.write(block);
    }
    file.commit();
  }

  void remove_after(int frame) override { files_.remove_after(frame); }

 private:
  FileSequence files_;
};

}  // namespace

std::unique_ptr<FrameWriter> open_ply_writer(const std::string& directory, const RunInfo& info) {
  return std::make_unique<PlyWriter>(directory, info.name);
}

}  // namespace tribo

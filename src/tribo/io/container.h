#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace tribo {

/// The values are part of the file format: append, never renumber.
enum class DType : std::uint8_t { f32, f64, i32, i64, u32, u64, u8 };
std::size_t size_of(DType type);
const char* name_of(DType type);  ///< "f32", "u8", ...

/// The DType that stores a T.
template <class T>
constexpr DType dtype_of() {
  static_assert(std::is_arithmetic_v<T> && !std::is_same_v<T, bool>);
  if constexpr (std::is_floating_point_v<T>) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8);
    return sizeof(T) == 4 ? DType::f32 : DType::f64;
  } else if constexpr (std::is_signed_v<T>) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8);
    return sizeof(T) == 4 ? DType::i32 : DType::i64;
  } else {
    static_assert(sizeof(T) == 1 || sizeof(T) == 4 || sizeof(T) == 8);
    return sizeof(T) == 1 ? DType::u8 : sizeof(T) == 4 ? DType::u32 : DType::u64;
  }
}

/// A named table of numbers: `count` rows of `components`, row-major.
struct NamedArray {
  std::string name;
  DType type = DType::f32;
  std::uint32_t components = 1;
  std::uint64_t count = 0;
  std::vector<std::byte> data;  ///< count * components * size_of(type) bytes

  /// The data seen as T: a scalar of `type`, or a plain struct of several.
  template <class T>
  std::span<const T> as() const {
    return {reinterpret_cast<const T*>(data.data()), data.size() / sizeof(T)};
  }
};

/// The number at `index` (row * components + component) of an array of floats; of integers.
double number_at(const NamedArray& array, std::size_t index);
std::int64_t integer_at(const NamedArray& array, std::size_t index);

/// Copies `values`, whose length is a multiple of `components`, into a named array.
template <class T>
NamedArray make_array(std::string name, std::uint32_t components, std::span<const T> values) {
  NamedArray array{std::move(name), dtype_of<T>(), components, values.size() / components, {}};
  array.data.resize(values.size_bytes());
  if (!values.empty()) std::memcpy(array.data.data(), values.data(), values.size_bytes());
  return array;
}

/// tribo's own file: a short JSON header and named arrays, each compressed and checksummed (docs/file_format.md).
/// Frames and checkpoints are both of this form.
struct Container {
  std::string kind;         ///< "frame" or "checkpoint"
  std::string meta = "{}";  ///< JSON object
  std::vector<NamedArray> arrays;

  const NamedArray* find(const std::string& name) const;  ///< nullptr when absent
};

/// Writes to a temporary file beside `path`, flushes it to disk and renames it: readers see the old file or the whole
/// new one, never a part. Throws IoError naming the file and the cause (disk full, no permission, ...); the
/// temporary is removed and whatever stood at `path` is unharmed.
void write_container(const std::string& path, const Container& container);
void write_container(const std::string& path, const std::string& kind, const std::string& meta,
                     std::span<const NamedArray> arrays);  ///< the same from parts, where a Container would be a copy

/// Reads and verifies everything (magic, version, sizes against the file's length before allocating, checksums).
/// Throws IoError that names the file, what is damaged and the remedy; never crashes on any input.
Container read_container(const std::string& path, const std::string& expected_kind);

/// Only the JSON of the header, verified; the arrays are neither read nor checked.
std::string read_container_meta(const std::string& path, const std::string& expected_kind);

}  // namespace tribo

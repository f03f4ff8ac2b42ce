#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tribo/io/container.h"
#include "tribo/io/writers/buffered_file.h"

/// \file
/// What VTK's XML files have in common.

namespace tribo {

inline constexpr const char* vtk_cell_type = "Int64";  ///< of connectivity and offsets
using VtkCell = std::int64_t;

const char* vtk_type(DType type);

/// Text as the value of an attribute.
std::string escaped(const std::string& text);

/// The data at the end of the file, as a list of what is to be written: sizes are known before, and the XML, which
/// comes first, refers to the places.
class AppendedData {
 public:
  using Write = std::function<void(BufferedFile& file)>;

  /// The attributes by which the XML refers to `size` bytes that `write` writes.
  std::string add(std::uint64_t size, Write write) {
    const std::uint64_t offset = offset_;
    offset_ += sizeof size + size;
    blocks_.emplace_back(size, std::move(write));
    return fmt::format("format=\"appended\" offset=\"{}\"", offset);
  }

  void write(BufferedFile& file) const {
    for (const auto& [size, write_block] : blocks_) {
      file.put(size);
      write_block(file);
    }
  }

 private:
  std::uint64_t offset_ = 0;
  std::vector<std::pair<std::uint64_t, Write>> blocks_;
};

/// A list of names: each ends with a zero byte.
std::string names_element(const char* name, const std::vector<std::string>& names, AppendedData& data);

/// `count` numbers for cells, each `step` more than the one before.
AppendedData::Write counting(std::uint64_t count, VtkCell first, VtkCell step);

/// A file of a .pvd collection.
struct VtkDataSet {
  double time = 0;  ///< [s]
  int part = 0;
  std::string name;
  std::string file;
};

/// Writes the collection, or removes it when there is nothing to tie together. Throws IoError.
void write_vtk_collection(const std::string& path, const std::vector<VtkDataSet>& sets);

}  // namespace tribo

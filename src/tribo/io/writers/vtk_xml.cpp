#include "tribo/io/writers/vtk_xml.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>

#include "tribo/io/file.h"

namespace tribo {

const char* vtk_type(DType type) {
  constexpr std::array names = {"Float32", "Float64", "Int32", "Int64", "UInt32", "UInt64", "UInt8"};
  return names[static_cast<std::size_t>(type)];
}

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

std::string names_element(const char* name, const std::vector<std::string>& names, AppendedData& data) {
  std::string bytes;
  for (std::string text : names) {
    std::replace(text.begin(), text.end(), '\0', ' ');
    bytes += text;
    bytes += '\0';
  }
  const std::size_t size = bytes.size();
  return fmt::format("<Array type=\"String\" Name=\"{}\" NumberOfTuples=\"{}\" {}/>\n", name, names.size(),
                     data.add(size, [bytes = std::move(bytes)](BufferedFile& file) { file.write(bytes); }));
}

AppendedData::Write counting(std::uint64_t count, VtkCell first, VtkCell step) {
  return [=](BufferedFile& file) {
    for (std::uint64_t i = 0; i < count; ++i) file.put(first + static_cast<VtkCell>(i) * step);
  };
}

void write_vtk_collection(const std::string& path, const std::vector<VtkDataSet>& sets) {
  if (sets.empty()) {
    std::error_code error;
    std::filesystem::remove(path, error);
    if (error) throw io_error("remove", path, error.value());
    return;
  }
  std::string text =
      "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\" byte_order=\"LittleEndian\">\n"
      "<Collection>\n";
  for (const VtkDataSet& set : sets)
    text += fmt::format("<DataSet timestep=\"{}\" part=\"{}\" name=\"{}\" file=\"{}\"/>\n", set.time, set.part,
                        set.name, escaped(set.file));
  write_text(path, text + "</Collection>\n</VTKFile>\n");
}

}  // namespace tribo

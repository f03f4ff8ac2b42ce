#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <limits>

#include "tribo/core/errors.h"
#include "tribo/mesh/strand_file.h"

namespace tribo {
namespace {

/// Appends numbers as bytes, little end first.
template <class T>
void put(std::string& out, T value) {
  char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  if constexpr (std::endian::native == std::endian::big) std::reverse(bytes, bytes + sizeof(T));
  out.append(bytes, sizeof(T));
}

std::string hair_bytes(const Strands& strands, const std::string& file) {
  const std::size_t count = strand_count(strands);
  std::string out = "HAIR";
  put(out, static_cast<std::uint32_t>(count));
  put(out, static_cast<std::uint32_t>(strands.points.size()));
  put(out, std::uint32_t{strands.radius.empty() ? 3U : 7U});
  put(out, std::uint32_t{0});                                        // segments, where there is no array of them
  for (const float x : {1.0F, 0.0F, 0.6F, 0.4F, 0.2F}) put(out, x);  // thickness, transparency, color: the same
  out.resize(128, '\0');
  for (std::size_t s = 0; s < count; ++s) {
    const std::size_t segments = strand_points(strands, s).size() - 1;
    if (segments > std::numeric_limits<std::uint16_t>::max())
      throw Error(ExitCode::bad_input, fmt::format("{}: strand {} has {} segments, and .hair no room for more than "
                                                   "65535; choose another format",
                                                   file, s + 1, segments));
    put(out, static_cast<std::uint16_t>(segments));
  }
  for (const Vec<double, 3>& x : strands.points)
    for (int k = 0; k < 3; ++k) put(out, static_cast<float>(x[k]));
  for (const double r : strands.radius) put(out, static_cast<float>(2 * r));
  return out;
}

std::string ply_bytes(const Strands& strands) {
  std::string out = fmt::format(
      "ply\nformat binary_little_endian 1.0\nelement vertex {}\nproperty double x\nproperty double y\n"
      "property double z\n{}element polyline {}\nproperty list int int vertex_indices\nend_header\n",
      strands.points.size(), strands.radius.empty() ? "" : "property double radius\n", strand_count(strands));
  for (std::size_t i = 0; i < strands.points.size(); ++i) {
    for (int k = 0; k < 3; ++k) put(out, strands.points[i][k]);
    if (!strands.radius.empty()) put(out, strands.radius[i]);
  }
  for (std::size_t s = 0; s < strand_count(strands); ++s) {
    put(out, static_cast<std::int32_t>(strand_points(strands, s).size()));
    for (std::int32_t i = strands.start[s]; i < strands.start[s + 1]; ++i) put(out, i);
  }
  return out;
}

std::string obj_bytes(const Strands& strands) {
  std::string out;
  for (const Vec<double, 3>& x : strands.points)
    fmt::format_to(std::back_inserter(out), "v {} {} {}\n", x[0], x[1], x[2]);
  for (std::size_t s = 0; s < strand_count(strands); ++s) {
    out += 'l';
    for (std::int32_t i = strands.start[s]; i < strands.start[s + 1]; ++i)
      fmt::format_to(std::back_inserter(out), " {}", i + 1);
    out += '\n';
  }
  return out;
}

std::string vtk_bytes(const Strands& strands) {
  std::string out = fmt::format("# vtk DataFile Version 3.0\nstrands\nASCII\nDATASET POLYDATA\nPOINTS {} double\n",
                                strands.points.size());
  for (const Vec<double, 3>& x : strands.points)
    fmt::format_to(std::back_inserter(out), "{} {} {}\n", x[0], x[1], x[2]);
  const std::size_t count = strand_count(strands);
  fmt::format_to(std::back_inserter(out), "LINES {} {}\n", count, count + strands.points.size());
  for (std::size_t s = 0; s < count; ++s) {
    fmt::format_to(std::back_inserter(out), "{}", strand_points(strands, s).size());
    for (std::int32_t i = strands.start[s]; i < strands.start[s + 1]; ++i)
      fmt::format_to(std::back_inserter(out), " {}", i);
    out += '\n';
  }
  if (strands.radius.empty()) return out;
  fmt::format_to(std::back_inserter(out), "POINT_DATA {}\nSCALARS radius double 1\nLOOKUP_TABLE default\n",
                 strands.points.size());
  for (const double r : strands.radius) fmt::format_to(std::back_inserter(out), "{}\n", r);
  return out;
}

std::string vtp_bytes(const Strands& strands) {
  const auto array = [](const char* type, const char* name, int components, const auto& write) {
    std::string text = fmt::format("<DataArray type=\"{}\" Name=\"{}\" NumberOfComponents=\"{}\" format=\"ascii\">\n",
                                   type, name, components);
    write(std::back_inserter(text));
    return text + "</DataArray>\n";
  };
  std::string out = fmt::format(
      "<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\" version=\"1.0\" byte_order=\"LittleEndian\">\n<PolyData>\n"
      "<Piece NumberOfPoints=\"{}\" NumberOfVerts=\"0\" NumberOfLines=\"{}\" NumberOfStrips=\"0\" "
      "NumberOfPolys=\"0\">\n",
      strands.points.size(), strand_count(strands));
  if (!strands.radius.empty())
    out += "<PointData Scalars=\"radius\">\n" +
           array("Float64", "radius", 1,
                 [&](auto to) {
                   for (const double r : strands.radius) fmt::format_to(to, "{}\n", r);
                 }) +
           "</PointData>\n";
  out += "<Points>\n" +
         array("Float64", "Points", 3,
               [&](auto to) {
                 for (const Vec<double, 3>& x : strands.points) fmt::format_to(to, "{} {} {}\n", x[0], x[1], x[2]);
               }) +
         "</Points>\n<Lines>\n";
  out += array("Int64", "connectivity", 1, [&](auto to) {
    for (std::size_t i = 0; i < strands.points.size(); ++i) fmt::format_to(to, "{}\n", i);
  });
  out += array("Int64", "offsets", 1, [&](auto to) {
    for (std::size_t s = 0; s < strand_count(strands); ++s) fmt::format_to(to, "{}\n", strands.start[s + 1]);
  });
  return out + "</Lines>\n</Piece>\n</PolyData>\n</VTKFile>\n";
}

std::string usda_bytes(const Strands& strands) {
  std::string out =
      "#usda 1.0\n(\n    defaultPrim = \"strands\"\n    metersPerUnit = 1\n    upAxis = \"Y\"\n)\n\n"
      "def BasisCurves \"strands\"\n{\n    uniform token type = \"linear\"\n    int[] curveVertexCounts = [";
  auto to = std::back_inserter(out);
  for (std::size_t s = 0; s < strand_count(strands); ++s)
    fmt::format_to(to, "{}{}", s > 0 ? ", " : "", strand_points(strands, s).size());
  out += "]\n    point3f[] points = [";
  for (std::size_t i = 0; i < strands.points.size(); ++i) {
    const Vec<double, 3>& x = strands.points[i];
    fmt::format_to(to, "{}({}, {}, {})", i > 0 ? ", " : "", x[0], x[1], x[2]);
  }
  out += "]\n";
  if (!strands.radius.empty()) {
    out += "    float[] widths = [";
    for (std::size_t i = 0; i < strands.radius.size(); ++i)
      fmt::format_to(to, "{}{}", i > 0 ? ", " : "", 2 * strands.radius[i]);
    out += "] (\n        interpolation = \"vertex\"\n    )\n";
  }
  return out + "}\n";
}

}  // namespace

std::string strand_file_bytes(const Strands& strands, const std::string& file) {
  const std::string extension = std::filesystem::path(file).extension().string();
  if (extension == ".hair") return hair_bytes(strands, file);
  if (extension == ".ply") return ply_bytes(strands);
  if (extension == ".obj") return obj_bytes(strands);
  if (extension == ".vtk") return vtk_bytes(strands);
  if (extension == ".vtp") return vtp_bytes(strands);
  if (extension == ".usda") return usda_bytes(strands);
  throw Error(ExitCode::bad_input, file + ": expected a name that ends in .hair, .ply, .obj, .vtk, .vtp or .usda");
}

}  // namespace tribo

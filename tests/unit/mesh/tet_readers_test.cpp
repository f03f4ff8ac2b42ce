#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "make_mesh.h"
#include "tribo/core/errors.h"
#include "tribo/mesh/inflate.h"
#include "tribo/mesh/stuffing.h"
#include "tribo/mesh/tet_solid.h"

/// \file
/// Promises: tets that programs write are read, from every format alike; what is wrong with a file is said with the
/// line, byte or element, and nothing crashes.

namespace tribo {
namespace {

using test::number_text;
using test::raw;
using P = Vec<double, 3>;

/// 2 x 1 x 1 cells.
TetMesh bar() { return tetrahedralized_box({{0.8, 0.5, 0.3}}, 0.4); }

std::string row(const P& v) { return number_text(v[0]) + " " + number_text(v[1]) + " " + number_text(v[2]); }
std::string row(const Vec<std::int32_t, 4>& tet, int first) {
  std::string text;
  for (int k = 0; k < 4; ++k) text += (k > 0 ? " " : "") + std::to_string(tet[k] + first);
  return text;
}
std::string counted(const char* name, std::size_t n) { return std::string(name) + std::to_string(n); }

/// With a triangle, as programs write the surface, too. Vertices are numbered from 10 in steps of 3.
int gmsh_number(std::size_t v) { return 10 + 3 * static_cast<int>(v); }
std::string as_gmsh_2(const TetMesh& mesh, bool binary, bool big = false) {
  std::string text = std::string("$MeshFormat\n2.2 ") +
                     (binary ? "1 8\n" + raw<std::int32_t>(1, big) + "\n" : "0 8\n") +
                     "$EndMeshFormat\n$PhysicalNames\n1\n3 1 \"bar\"\n$EndPhysicalNames\n$Nodes\n" +
                     counted("", mesh.vertices.size()) + "\n";
  for (std::size_t v = 0; v < mesh.vertices.size(); ++v) {
    if (!binary) {
      text += std::to_string(gmsh_number(v)) + " " + row(mesh.vertices[v]) + "\n";
      continue;
    }
    text += raw<std::int32_t>(gmsh_number(v), big);
    for (int k = 0; k < 3; ++k) text += raw(mesh.vertices[v][k], big);
  }
  text += "\n$EndNodes\n$Elements\n" + counted("", mesh.tets.size() + 1) + "\n";
  const auto number = [](std::int32_t v) { return gmsh_number(static_cast<std::size_t>(v)); };
  if (binary) {
    for (const int x : {2, 1, 2, 1, 7, 7, 10, 13, 16}) text += raw<std::int32_t>(x, big);
    for (const int x : {4, static_cast<int>(mesh.tets.size()), 2}) text += raw<std::int32_t>(x, big);
  } else {
    text += "1 2 2 7 7 10 13 16\n";
  }
  int element = 2;
  for (const auto& tet : mesh.tets) {
    if (!binary) text += std::to_string(element) + " 4 2 1 1";
    if (binary)
      for (const int x : {element, 1, 1}) text += raw<std::int32_t>(x, big);
    for (int k = 0; k < 4; ++k)
      text += binary ? raw<std::int32_t>(number(tet[k]), big) : " " + std::to_string(number(tet[k]));
    if (!binary) text += "\n";
    ++element;
  }
  return text + "\n$EndElements\n";
}

/// Vertices in two blocks, the first with parameters, as those on a surface have them.
std::string as_gmsh_4(const TetMesh& mesh, bool binary) {
  std::string text = std::string("$MeshFormat\n4.1 ") +
                     (binary ? "1 8\n" + raw<std::int32_t>(1, false) + "\n" : "0 8\n") +
                     "$EndMeshFormat\n$Entities\nwhatever is here\n$EndEntities\n$Nodes\n";
  const auto small = [&](std::int32_t x) { return binary ? raw(x, false) : std::to_string(x) + " "; };
  const auto large = [&](std::int64_t x) { return binary ? raw(x, false) : std::to_string(x) + " "; };
  const auto real = [&](double x) { return binary ? raw(x, false) : number_text(x) + "\n"; };
  const auto n = static_cast<std::int64_t>(mesh.vertices.size());
  text += large(2) + large(n) + large(1) + large(n);
  for (const auto& [begin, end, dimension] : {std::tuple{std::int64_t(0), n / 2, 2}, {n / 2, n, 3}}) {
    text += small(dimension) + small(1) + small(dimension == 2 ? 1 : 0) + large(end - begin);
    for (std::int64_t v = begin; v < end; ++v) text += large(n - v);  // backward
    for (std::int64_t v = begin; v < end; ++v) {
      for (int k = 0; k < 3; ++k) text += real(mesh.vertices[static_cast<std::size_t>(v)][k]);
      if (dimension == 2) text += real(0.5) + real(0.25);
    }
  }
  text += "\n$EndNodes\n$Elements\n";
  const auto tets = static_cast<std::int64_t>(mesh.tets.size());
  text += large(2) + large(tets + 1) + large(1) + large(tets + 1);
  text += small(2) + small(1) + small(2) + large(1) + large(1) + large(1) + large(2) + large(3);
  text += small(3) + small(1) + small(4) + large(tets);
  for (std::int64_t t = 0; t < tets; ++t) {
    text += large(t + 2);
    for (int k = 0; k < 4; ++k) text += large(n - mesh.tets[static_cast<std::size_t>(t)][k]);
  }
  return text + "\n$EndElements\n";
}

std::string as_medit(const TetMesh& mesh) {
  std::string text = "# made by a test\nMeshVersionFormatted 2\n\nDimension\n3\n\nVertices\n" +
                     counted("", mesh.vertices.size()) + "\n";
  for (const P& v : mesh.vertices) text += row(v) + " 1\n";
  text += "Triangles 1\n1 2 3 0\nTetrahedra\n" + counted("", mesh.tets.size()) + "\n";
  for (const auto& tet : mesh.tets) text += row(tet, 1) + " 0\n";
  return text + "Ridges 1\n1\n\nEnd\n";
}

std::vector<NamedBytes> as_tetgen(const TetMesh& mesh, int first) {
  std::string node = "# made by a test\n" + counted("", mesh.vertices.size()) + "  3  1  1\n", ele;
  for (std::size_t v = 0; v < mesh.vertices.size(); ++v)
    node += std::to_string(first + static_cast<int>(v)) + "  " + row(mesh.vertices[v]) + " 0.5 1 # a vertex\n\n";
  ele = counted("", mesh.tets.size()) + "  4  0\n";
  for (std::size_t t = 0; t < mesh.tets.size(); ++t)
    ele += std::to_string(first + static_cast<int>(t)) + "  " + row(mesh.tets[t], first) + "\n";
  return {{"bar.node", node}, {"bar.ele", ele + "# Generated by a test\n"}};
}

std::string as_vtk(const TetMesh& mesh, bool binary, int version) {
  std::string text = counted("# vtk DataFile Version ", static_cast<std::size_t>(version)) + ".1\na title\n" +
                     (binary ? "BINARY" : "ASCII") + "\nDATASET UNSTRUCTURED_GRID\nPOINTS " +
                     counted("", mesh.vertices.size()) + " double\n";
  const auto real = [&](double x) { return binary ? raw(x, true) : number_text(x) + " "; };
  const auto small = [&](std::int32_t x) { return binary ? raw(x, true) : std::to_string(x) + "\n"; };
  const auto large = [&](std::int64_t x) { return binary ? raw(x, true) : std::to_string(x) + " "; };
  for (const P& v : mesh.vertices)
    for (int k = 0; k < 3; ++k) text += real(v[k]);
  text += "\nMETADATA\nINFORMATION 0\n\n";
  const std::size_t cells = mesh.tets.size() + 1;
  if (version >= 5) {
    text += counted("CELLS ", cells + 1) + counted(" ", 4 * mesh.tets.size() + 3) + "\nOFFSETS vtktypeint64\n";
    text += large(0) + large(3);
    for (std::size_t t = 0; t < mesh.tets.size(); ++t) text += large(static_cast<std::int64_t>(4 * t + 7));
    text += "\nCONNECTIVITY vtktypeint64\n" + large(0) + large(1) + large(2);
    for (const auto& tet : mesh.tets)
      for (int k = 0; k < 4; ++k) text += large(tet[k]);
  } else {
    text += counted("CELLS ", cells) + counted(" ", 5 * mesh.tets.size() + 4) + "\n" + small(3) + small(0) + small(1) +
            small(2);
    for (const auto& tet : mesh.tets) {
      text += small(4);
      for (int k = 0; k < 4; ++k) text += small(tet[k]);
    }
  }
  text += "\n" + counted("CELL_TYPES ", cells) + "\n" + small(5);
  for (std::size_t t = 0; t < mesh.tets.size(); ++t) text += small(10);
  return text + "\nPOINT_DATA 1\nnot read\n";
}

std::string base_64(const std::string& bytes) {
  constexpr const char* digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < 3; ++k)
      bits = bits << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    for (std::size_t k = 0; k < 4; ++k) text += i + k <= bytes.size() ? digits[bits >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

/// A zlib stream of one block that is stored as it is.
std::string deflated(const std::string& bytes) {
  std::uint32_t a = 1, b = 0;
  for (const char c : bytes) {
    a = (a + static_cast<unsigned char>(c)) % 65521;
    b = (b + a) % 65521;
  }
  const auto size = static_cast<std::uint16_t>(bytes.size());
  return "\x78\x01\x01" + raw(size, false) + raw(static_cast<std::uint16_t>(~size), false) + bytes +
         raw(b << 16 | a, true);
}

/// As VTK has it in base 64: lengths, padded, then the blocks, the last of them shorter.
std::string in_blocks(const std::string& data, bool in_base_64) {
  const std::size_t full = data.size() / 2 + 1;
  const std::string first = deflated(data.substr(0, full)), last = deflated(data.substr(full));
  std::string header;
  for (const std::size_t n : {std::size_t(2), full, data.size() - full, first.size(), last.size()})
    header += raw(static_cast<std::uint32_t>(n), false);
  return in_base_64 ? base_64(header) + base_64(first + last) : header + first + last;
}

enum class Coding { ascii, base_64, appended_raw, appended_base_64, zlib, appended_zlib };
std::string as_vtu(const TetMesh& mesh, Coding coding, bool wide = false) {
  std::string points, corners, offsets, types;
  const bool ascii = coding == Coding::ascii;
  const auto put = [&](std::string& to, auto value) {
    if (ascii)
      to += std::is_floating_point_v<decltype(value)> ? number_text(double(value)) + " " : std::to_string(value) + "\n";
    if (!ascii) to += raw(value, false);
  };
  for (const P& v : mesh.vertices)
    for (int k = 0; k < 3; ++k) put(points, v[k]);
  for (std::size_t t = 0; t < mesh.tets.size(); ++t) {
    for (int k = 0; k < 4; ++k) put(corners, mesh.tets[t][k]);
    put(offsets, static_cast<std::int64_t>(4 * t + 4));
    put(types, std::uint8_t(10));
  }
  std::string appended;
  const auto array = [&](const char* type, const char* name, const std::string& data, const char* more = "") {
    std::string tag = std::string("<DataArray type=\"") + type + "\" Name=\"" + name + "\" " + more + "format=\"";
    if (ascii) return tag + "ascii\">\n" + data + "\n</DataArray>\n";
    const std::string header =
        wide ? raw(std::uint64_t(data.size()), false) : raw(static_cast<std::uint32_t>(data.size()), false);
    if (coding == Coding::zlib) return tag + "binary\">" + in_blocks(data, true) + "</DataArray>\n";
    if (coding == Coding::base_64) return tag + "binary\">\n  " + base_64(header + data) + "\n</DataArray>\n";
    tag += "appended\" offset=\"" + std::to_string(appended.size()) + "\"/>\n";
    appended += coding == Coding::appended_zlib  ? in_blocks(data, false)
                : coding == Coding::appended_raw ? header + data
                                                 : base_64(header + data);
    return tag;
  };
  std::string text =
      std::string(
          "<?xml version=\"1.0\"?>\n<!-- made by a <test> -->\n<VTKFile type=\"UnstructuredGrid\" "
          "version=\"1.0\" byte_order=\"LittleEndian\"") +
      (wide ? " header_type=\"UInt64\"" : "") +
      (coding == Coding::zlib || coding == Coding::appended_zlib ? " compressor=\"vtkZLibDataCompressor\"" : "") +
      ">\n<UnstructuredGrid>\n<Piece NumberOfPoints=\"" + std::to_string(mesh.vertices.size()) + "\" NumberOfCells=\"" +
      std::to_string(mesh.tets.size()) + "\">\n<PointData>\n" + array("Float64", "Points", points) +
      "</PointData>\n<Points>\n" + array("Float64", "Points", points, "NumberOfComponents=\"3\" ") +
      "</Points>\n<Cells>\n" + array("Int32", "connectivity", corners) + array("Int64", "offsets", offsets) +
      array("UInt8", "types", types) + "</Cells>\n</Piece>\n</UnstructuredGrid>\n";
  if (!appended.empty())
    text += std::string("<AppendedData encoding=\"") + (coding == Coding::appended_base_64 ? "base64" : "raw") +
            "\">\n _" + appended + "\n</AppendedData>\n";
  return text + "</VTKFile>\n";
}

struct Sample {
  const char* what;
  std::vector<NamedBytes> files;
};
std::vector<Sample> samples() {
  const TetMesh mesh = bar();
  return {{"Gmsh 2.2, text", {{"bar.msh", as_gmsh_2(mesh, false)}}},
          {"Gmsh 2.2, bytes", {{"bar.msh", as_gmsh_2(mesh, true)}}},
          {"Gmsh 2.2, bytes, big end first", {{"bar.msh", as_gmsh_2(mesh, true, true)}}},
          {"Gmsh 4.1, text", {{"bar.msh", as_gmsh_4(mesh, false)}}},
          {"Gmsh 4.1, bytes", {{"bar.MSH", as_gmsh_4(mesh, true)}}},
          {"MEDIT", {{"bar.mesh", as_medit(mesh)}}},
          {"TetGen from 0", as_tetgen(mesh, 0)},
          {"TetGen from 1", as_tetgen(mesh, 1)},
          {"VTK 3, text", {{"bar.vtk", as_vtk(mesh, false, 3)}}},
          {"VTK 3, bytes", {{"bar.vtk", as_vtk(mesh, true, 3)}}},
          {"VTK 5, text", {{"bar.vtk", as_vtk(mesh, false, 5)}}},
          {"VTK 5, bytes", {{"bar.vtk", as_vtk(mesh, true, 5)}}},
          {"VTU, text", {{"bar.vtu", as_vtu(mesh, Coding::ascii)}}},
          {"VTU, base 64", {{"bar.vtu", as_vtu(mesh, Coding::base_64)}}},
          {"VTU, appended", {{"bar.vtu", as_vtu(mesh, Coding::appended_raw)}}},
          {"VTU, appended, 64 bits", {{"bar.vtu", as_vtu(mesh, Coding::appended_raw, true)}}},
          {"VTU, appended in base 64", {{"bar.vtu", as_vtu(mesh, Coding::appended_base_64)}}},
          {"VTU, compressed", {{"bar.vtu", as_vtu(mesh, Coding::zlib)}}},
          {"VTU, compressed and appended", {{"bar.vtu", as_vtu(mesh, Coding::appended_zlib)}}}};
}

TEST(TetReaders, ReadTheSameMeshFromEveryFormat) {
  const TetMesh mesh = bar();
  for (const Sample& sample : samples()) {
    SCOPED_TRACE(sample.what);
    const TetSolid solid = parse_tet_mesh(sample.files);
    ASSERT_EQ(solid.mesh.vertices.size(), mesh.vertices.size());
    ASSERT_EQ(solid.mesh.tets.size(), mesh.tets.size());
    for (std::size_t v = 0; v < mesh.vertices.size(); ++v)
      for (int k = 0; k < 3; ++k) EXPECT_EQ(solid.mesh.vertices[v][k], mesh.vertices[v][k]);
    for (std::size_t t = 0; t < mesh.tets.size(); ++t)
      for (int k = 0; k < 4; ++k) EXPECT_EQ(solid.mesh.tets[t][k], mesh.tets[t][k]);
    EXPECT_NEAR(solid.volume, 0.12, 1e-15);
    EXPECT_EQ(solid.high[0], 0.4);
  }
}

std::string from_hexadecimal(const std::string& digits) {
  std::string bytes;
  for (std::size_t i = 0; i < digits.size(); i += 2)
    bytes += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
  return bytes;
}

/// Streams that zlib wrote, one with its fixed codes and one with codes of its own.
TEST(TetReaders, InflateWhatZlibDeflates) {
  EXPECT_EQ(inflate(from_hexadecimal("78da2b29ca4cca57284127016aff08e1"), 23), "tribo tribo tribo tribo");
  std::string text;
  for (int i = 0; i < 60; ++i)
    text += std::to_string(i) + " " + std::to_string(i * i % 97) + " " + std::to_string(i * 7 % 31) + " " +
            std::to_string(i ^ 5) + "\n";
  const std::string stream = from_hexadecimal(
      "78da1d92d90dc3300c43ff3905478875f8d87fb13e15050247a22cf2a59f3f7eade5e5e352b8bcca47e9e758dee27d3bae97"
      "dad1b43f6de7f65a4e31f2bcae43d7bba6bf52cf77ae5ba1f539cd28f72f0737d12f2d961c47f869a54f3898105bc3f49750"
      "e58c7b7d62f7e6305eb48e1f1e7043fd3a938148d13cdfb80dc5f71fc3dc11e61b45f2aad98569ba4f54aa8ce40a478f45a8"
      "28138dc34754b1e2e1e660433c7b52e427209005450bc71bafa428716dcc81a7f07d2f40632b49034827d59cb4044ccae5fb"
      "279b4fd9de6bd8e6154473e8662acfc01dbea164e778a5a964e91ec659aacf851957ab4688b3a21a23855f1d9166cfdae213"
      "927342ba96aa7d1bcef5a9b6cf1b6095e2839c1ece15e2e293c3b9a9bfffd91d020392e76ef5fa4fa22875cc8543f509e06f"
      "50e14d3d9051f0bfe9bfab04a47a8f59306fea6732c06e53bf930dcba97effc848423f0231703c");
  EXPECT_EQ(inflate(stream, text.size()), text);
  EXPECT_EQ(inflate(stream, text.size() + 1), std::nullopt);
  EXPECT_EQ(inflate(stream, text.size() - 1), std::nullopt);
  for (std::size_t i = 0; i < stream.size(); ++i) {  // every byte counts
    std::string changed = stream;
    changed[i] = static_cast<char>(changed[i] ^ 0x10);
    EXPECT_NE(inflate(changed, text.size()), text) << i;
    EXPECT_EQ(inflate(stream.substr(0, i), text.size()), std::nullopt);
  }
}

TEST(TetReaders, ScaleIsThatOfLengths) {
  const TetSolid solid = parse_tet_mesh({{"bar.mesh", as_medit(bar())}}, 1e-3);
  EXPECT_NEAR(solid.volume, 0.12e-9, 1e-24);
}

std::string complaint(const std::vector<NamedBytes>& files) {
  try {
    parse_tet_mesh(files);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::bad_input);
    return error.what();
  }
  return "";
}
std::string with(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(TetReaders, SayWhatIsWrongWithAFile) {
  const TetMesh mesh = bar();
  const std::string medit = as_medit(mesh), gmsh = as_gmsh_2(mesh, false), vtk = as_vtk(mesh, false, 3);
  const std::vector<NamedBytes> tetgen = as_tetgen(mesh, 1);
  const auto said = [](const std::string& file, const std::string& bytes) { return complaint({{file, bytes}}); };
  EXPECT_EQ(said("a.mesh", ""), "a.mesh: is empty");
  EXPECT_EQ(said("a.step", "x").substr(0, 47), "a.step: its name does not say what it is; tets ");
  EXPECT_EQ(said("a.mesh", "hello"),
            "a.mesh:1: is no MEDIT file: expected \"MeshVersionFormatted\" first, got \"hello\"");
  EXPECT_EQ(said("a.mesh", with(medit, "Vertices\n12", "Vertices\n999999999999")),
            "a.mesh:8: says that it has 999999999999 vertices, for which it is too short; it is cut short or damaged, "
            "write or copy it once more");
  EXPECT_EQ(said("a.mesh", with(medit, "0.4", "0.4.4")),
            "a.mesh:9: expected a coordinate, got \"-0.4.40000000000000002\"");
  EXPECT_EQ(said("a.mesh", medit.substr(0, medit.size() - 5)),
            "a.mesh:39: the file ends where \"End\" should be; it is cut short, write or copy it once more");
  EXPECT_EQ(said("a.mesh", with(medit, "Tetrahedra\n12\n1 ", "Tetrahedra\n12\n13 ")),
            "a.mesh: tet 1 refers to vertex 13, which is not among the 12 there are");
  EXPECT_EQ(said("a.msh", with(gmsh, "2.2 0", "1.9 0")),
            "a.msh:2: is of format 1.9 of Gmsh; save it in format 4.1 or 2.2");
  EXPECT_EQ(said("a.msh", with(gmsh, "2 4 2 1 1", "2 77 2 1 1")),
            "a.msh:27: elements of unknown type 77; save tets only");
  EXPECT_EQ(said("a.msh", with(gmsh, "13 ", "10 ")), "a.msh: has two vertices 10; number them anew");
  EXPECT_EQ(said("a.vtk", with(vtk, "UNSTRUCTURED_GRID", "POLYDATA")),
            "a.vtk:4: expected a data set UNSTRUCTURED_GRID, which tets are, got \"POLYDATA\"");
  EXPECT_EQ(said("a.vtk", with(vtk, "CELL_TYPES 13\n5", "CELL_TYPES 13\n10")),
            "a.vtk: cell 0 is a tet of 3 points; expected 4");
  EXPECT_EQ(said("a.vtu", with(as_vtu(mesh, Coding::ascii), "type=", "compressor=\"vtkLZMADataCompressor\" type=")),
            "a.vtu: its numbers are compressed by \"vtkLZMADataCompressor\"; save it uncompressed, or as .vtk");
  EXPECT_EQ(
      said("a.vtk", with(vtk, "CELL_TYPES 13\n5", "CELL_TYPES 13\n12")),
      "a.vtk: has 1 element that is no tet (hexahedra, prisms or pyramids); cut these into tets, or mesh once more");
  std::string short_row = with(tetgen[0].bytes, "\n3  ", "\n3  # ");
  EXPECT_EQ(complaint({{"a.node", short_row}, tetgen[1]}), "a.node:7: the line has too few numbers");
  EXPECT_EQ(said("a.mesh", "MeshVersionFormatted 1 Dimension 3 Vertices 1 0 0 0 0 Triangles 1 1 1 1 0 End"),
            "a.mesh: has no tets; mesh the volume, and save all of it");
}

TEST(TetReaders, CheckWhatCannotBeSimulated) {
  TetFile good;
  const TetMesh mesh = bar();
  good.vertices = mesh.vertices;
  good.tets = mesh.tets;
  for (std::size_t i = 0; i < mesh.vertices.size(); ++i) good.vertex_numbers.push_back(static_cast<int>(i) + 1);
  for (std::size_t i = 0; i < mesh.tets.size(); ++i) good.tet_numbers.push_back(static_cast<int>(i) + 101);
  const auto said = [&](const std::function<void(TetFile&)>& change) -> std::string {
    TetFile changed = good;
    change(changed);
    try {
      const TetSolid solid = check_tets(changed, 1, "a");
      EXPECT_NEAR(quality_of(solid.mesh).volume, solid.volume, 1e-15);
      return solid.notes.empty() ? "" : "note: " + solid.notes[0];
    } catch (const Error& error) {
      return error.what();
    }
  };
  const auto turn = [](Vec<std::int32_t, 4>& tet) { std::swap(tet[0], tet[1]); };
  EXPECT_EQ(said([](TetFile&) {}), "");
  EXPECT_EQ(said([&](TetFile& f) { std::for_each(f.tets.begin(), f.tets.end(), turn); }), "");
  EXPECT_EQ(said([&](TetFile& f) { turn(f.tets[2]), turn(f.tets[7]); }),
            "a: 2 of 12 tets are inside out: 103, 108; swap two corners of each, or mesh once more");
  EXPECT_EQ(said([&](TetFile& f) { f.tets[4][1] = f.tets[4][2]; }),
            "a: 1 tet without a volume: 105; remove them, or mesh once more");
  EXPECT_EQ(said([&](TetFile& f) {
              f.tets.push_back({{f.tets[3][1], f.tets[3][2], f.tets[3][0], f.tets[3][3]}});
              f.tet_numbers.push_back(999);
            }),
            "a: 1 tet there before: 999; save every one once");
  EXPECT_EQ(said([&](TetFile& f) {
              f.vertices.push_back({{9, 9, 9}});
              f.vertex_numbers.push_back(13);
            }),
            "note: 1 vertex without a tet left out");
  // A second tet over the face of one, on the same side: no third, but they overlap.
  TetFile two;
  two.vertices = {{{0, 0, 0}}, {{1, 0, 0}}, {{0, 1, 0}}, {{0, 0, 1}}, {{0, 0, 2}}};
  two.vertex_numbers = {1, 2, 3, 4, 5};
  two.tets = {{{0, 1, 2, 3}}, {{0, 1, 2, 4}}};
  two.tet_numbers = {1, 2};
  good = two;
  EXPECT_EQ(said([](TetFile&) {}),
            "a: tets 1 and 2 lie on the same side of their common face; parts overlap, mesh them together");
  EXPECT_EQ(said([](TetFile& f) {
              f.vertices.push_back({{0, 0, -1}});
              f.vertex_numbers.push_back(6);
              f.tets.push_back({{0, 2, 1, 5}});
              f.tet_numbers.push_back(3);
            }),
            "a: three tets or more share a face: 1, 2, 3; parts overlap, mesh them together");
  // Two tets that share an edge only.
  good.vertices = {{{0, 0, 0}}, {{1, 0, 0}}, {{0, 1, 0}}, {{0, 0, 1}}, {{0, -1, 0}}, {{0, 0, -1}}};
  good.vertex_numbers = {1, 2, 3, 4, 5, 6};
  good.tets = {{{0, 1, 2, 3}}, {{0, 1, 4, 5}}};
  EXPECT_EQ(said([](TetFile&) {}), "note: parts touch along 1 edge only, where the boundary has more than two faces");
}

/// Cut short anywhere, or with bytes changed: read or refused, in words, without a crash or a request for memory that
/// the file could not fill.
TEST(TetReaders, DamagedFilesAreReadOrRefused) {
  std::mt19937 random(7);
  for (const Sample& sample : samples()) {
    SCOPED_TRACE(sample.what);
    for (std::size_t which = 0; which < sample.files.size(); ++which) {
      const std::size_t size = sample.files[which].bytes.size();
      for (std::size_t length = 0; length + 1 < size; length += 1 + length / 40) {
        std::vector<NamedBytes> cut = sample.files;
        cut[which].bytes.resize(length);
        const std::string said = complaint(cut);
        EXPECT_TRUE(length >= size / 2 || !said.empty()) << length;
      }
      for (int k = 0; k < 400; ++k) {
        std::vector<NamedBytes> changed = sample.files;
        for (int i = 0; i < 1 + k % 3; ++i)
          changed[which].bytes[random() % size] = static_cast<char>(k % 2 == 0 ? random() % 256 : '0' + random() % 10);
        const std::string said = complaint(changed);
        EXPECT_TRUE(said.empty() || said.starts_with("bar")) << said;
      }
    }
  }
}

}  // namespace
}  // namespace tribo

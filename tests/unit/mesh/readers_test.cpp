#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "make_mesh.h"
#include "tribo/core/errors.h"
#include "tribo/mesh/solid.h"

/// \file
/// Promises: what programs write is read; what is wrong with a file is said with the element; nothing crashes.

namespace tribo {
namespace {

using namespace test;

std::string complaint(const std::string& bytes, const std::string& file) {
  try {
    parse_solid(bytes, 1, file);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::bad_input);
    return error.what();
  }
  return "";
}

void expect_box(const Solid& solid, double tolerance) {
  EXPECT_EQ(solid.mesh.vertices.size(), 8u);
  EXPECT_EQ(solid.mesh.triangles.size(), 12u);
  EXPECT_NEAR(solid.volume, 0.3 * 0.5 * 0.7, tolerance);
  for (int k = 0; k < 3; ++k) {
    const double half[] = {0.15, 0.25, 0.35};
    EXPECT_NEAR(solid.low[k], -half[k], tolerance);
    EXPECT_NEAR(solid.high[k], half[k], tolerance);
  }
}

TEST(MeshReaders, ReadTheSameBoxFromEveryFormat) {
  const PolygonMesh box = make_box(0.3, 0.5, 0.7);
  expect_box(parse_solid(as_obj(box), 1, "box.obj"), 1e-15);
  for (const char* format : {"ascii", "binary_little_endian", "binary_big_endian"})
    expect_box(parse_solid(as_ply(box, format), 1, "box.PLY"), 1e-15);
  for (const bool ascii : {false, true}) expect_box(parse_solid(as_stl(triangulated(box), ascii), 1, "box.stl"), 1e-7);
}

TEST(MeshReaders, ScaleIsThatOfLengths) {
  const Solid solid = parse_solid(as_obj(make_box(300, 500, 700)), 1e-3, "box.obj");
  expect_box(solid, 1e-12);
}

TEST(MeshReaders, ObjFromOtherPrograms) {
  // Texture and normal indices, negative indices, colors after coordinates, continued lines, Windows line ends, groups.
  const std::string text =
      "mtllib x.mtl\r\nv 0 0 0 1 0 0\r\nv 1 0 0\r\nv +1e0 1. 0\r\nv 0 1 0\r\nvt 0 0\r\nvn 0 0 1\r\nv 0.5 0.5 \\\r\n "
      "1\r\n"
      "g side\r\ns off\r\nf 4/1/1 3/1/1 2/1/1 1/1/1\r\nf 1//1 2//1 5//1\r\nf -4 -3 -1\r\nf 3 4 5 # last but one\r\n"
      "f 4 1 \\\r\n5";
  const Solid solid = parse_solid(text, 1, "pyramid.obj");
  EXPECT_NEAR(solid.volume, 1.0 / 3, 1e-15);
  EXPECT_EQ(solid.mesh.triangles.size(), 6u);
  EXPECT_TRUE(solid.notes.empty());
}

TEST(MeshReaders, ConcaveFacesAreCutRight) {
  // A prism over an L; a fan from any but the inner corner would stick out of it.
  PolygonMesh prism;
  const double corners[6][2] = {{2, 0}, {2, 1}, {1, 1}, {1, 2}, {0, 2}, {0, 0}};
  for (const double z : {0.0, 1.0})
    for (const auto& c : corners) prism.vertices.push_back({{c[0], c[1], z}});
  prism.faces = {{5, 4, 3, 2, 1, 0}, {6, 7, 8, 9, 10, 11}};
  for (int i = 0; i < 6; ++i) prism.faces.push_back({i, (i + 1) % 6, (i + 1) % 6 + 6, i + 6});
  const Solid solid = solid_from(prism.polygons(), 1, "prism");
  EXPECT_NEAR(solid.volume, 3, 1e-14);
  double area = 0;
  for (std::size_t t = 0; t < solid.mesh.triangles.size(); ++t) area += std::sqrt(squared_norm(solid.mesh.area(t)));
  EXPECT_NEAR(area, 2 * 3 + 8, 1e-14);
}

TEST(MeshReaders, FacesThatLookInwardAreTurnedWithAWord) {
  PolygonMesh box = make_box(1, 1, 1);
  for (auto& face : box.faces) std::reverse(face.begin(), face.end());
  const Solid turned = solid_from(box.polygons(), 1, "box");
  EXPECT_NEAR(turned.volume, 1, 1e-15);
  EXPECT_GT(signed_volume(turned.mesh, Vec<double, 3>::zero()), 0);
  ASSERT_EQ(turned.notes.size(), 1u);
  EXPECT_EQ(turned.notes[0], "its faces looked inward and were turned");

  box = make_box(1, 1, 1);
  std::reverse(box.faces[2].begin(), box.faces[2].end());  // a single one
  const Solid mended = solid_from(box.polygons(), 1, "box");
  EXPECT_NEAR(mended.volume, 1, 1e-15);
  ASSERT_EQ(mended.notes.size(), 1u);
  EXPECT_EQ(mended.notes[0], "2 triangles turned to face the same way as the others");
}

TEST(MeshReaders, TouchingAndCollapsedPartsAreNoMistake) {
  // Two cubes with a common edge: four faces meet there, in pairs.
  const Solid two = solid_from(joined(make_box(1, 1, 1), make_box(1, 1, 1), {{1, 1, 0}}).polygons(), 1, "cubes");
  EXPECT_NEAR(two.volume, 2, 1e-15);
  EXPECT_TRUE(two.notes.empty());
  PolygonMesh box = make_box(1, 1, 1);
  box.faces.push_back({0, 1, 0});
  const Solid left = solid_from(box.polygons(), 1, "box");
  EXPECT_NEAR(left.volume, 1, 1e-15);
  ASSERT_EQ(left.notes.size(), 1u);
  EXPECT_EQ(left.notes[0], "1 face without an area left out");
}

/// Holes are closed and said, whichever way the faces around them look; triangles of the file come first.
TEST(Solid, HolesAreClosed) {
  PolygonMesh box = make_box(1, 1, 2);
  box.faces.pop_back();
  box.faces.pop_back();
  std::reverse(box.faces[0].begin(), box.faces[0].end());
  const Solid closed = solid_from(box.polygons(), 1, "box");
  EXPECT_NEAR(closed.volume, 2, 1e-12);
  EXPECT_EQ(closed.given, 8u);
  EXPECT_EQ(closed.mesh.triangles.size(), 16u);  // fans of four
  ASSERT_EQ(closed.notes.size(), 2u);
  EXPECT_EQ(closed.notes[0].substr(0, 47), "is open: 2 holes of up to 1.41 m closed by flat");

  // Of a single triangle; and two that meet in a corner.
  PolygonMesh ball = make_ball(1, 2);
  const double whole = solid_from(ball.polygons(), 1, "ball").volume;
  ball.faces.pop_back();
  const Solid mended = solid_from(ball.polygons(), 1, "ball");
  EXPECT_DOUBLE_EQ(mended.volume, whole);
  EXPECT_EQ(mended.mesh.triangles.size(), mended.given + 1);
  const int corner = ball.faces[0][0];
  int left_out = 0;
  std::erase_if(ball.faces, [&](const std::vector<int>& face) {
    const bool meets = std::find(face.begin(), face.end(), corner) != face.end();
    return meets && left_out++ % 2 == 0;
  });
  EXPECT_NEAR(solid_from(ball.polygons(), 1, "ball").volume, whole, 0.02 * whole);
}

struct Broken {
  const char* what;
  std::string bytes;
  const char* file;
  const char* said;
};

std::vector<Broken> broken_files() {
  const PolygonMesh box = make_box(2, 2, 2);
  const std::string obj = as_obj(box), stl = as_stl(triangulated(box), false), ascii = as_stl(triangulated(box), true);
  const std::string ply = as_ply(box, "ascii"), binary = as_ply(box, "binary_little_endian");
  const auto with = [](std::string text, const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  };
  const auto walled_in = [&] {  // two boxes side by side that share one wall instead of having two there
    PolygonMesh rooms = joined(box, box, {{2, 0, 0}});
    rooms.faces.erase(rooms.faces.begin() + 6);
    return as_obj(rooms);
  };
  const auto three_wings = [&] {  // a box whose one wall is there three times: each of its edges has four faces
    PolygonMesh winged = box;
    winged.faces.push_back(winged.faces[0]);
    winged.faces.push_back(winged.faces[0]);
    return as_obj(winged);
  };
  std::string nan_stl = stl;
  const std::string not_a_number = raw(std::nanf(""), false);
  nan_stl.replace(84 + 50 * 3 + 12, 4, not_a_number);
  std::string huge_ply = with(ply, "element vertex 8", "element vertex 18446744073709551615");
  return {
      {"empty", "", "a.obj", "a.obj: is empty"},
      {"unknown extension", obj, "a.txt", "meshes are read from .obj, .ply and .stl"},
      {"no faces", "v 0 0 0\nv 1 0 0\nv 0 1 0\n", "a.obj", "a.obj: holds no faces"},
      {"text that is no mesh", "hello\nworld\n", "a.obj", "holds no faces"},
      {"obj vertex of two numbers", with(obj, "v -1 -1 -1\n", "v -1 -1\n"), "a.obj",
       "a.obj:3: expected three numbers after \"v\", got too few"},
      {"obj vertex that is a word", with(obj, "v -1 -1 -1\n", "v -1 x -1\n"), "a.obj",
       "a.obj:3: expected three numbers"},
      {"obj vertex nan", with(obj, "v -1 -1 -1\n", "v -1 nan -1\n"), "a.obj", "a.obj:3: expected three numbers"},
      {"obj vertex infinite", with(obj, "v -1 -1 -1\n", "v -1 1e999 -1\n"), "a.obj", "a.obj:3: expected three"},
      {"obj index 0", with(obj, "f 1 2", "f 0 2"), "a.obj", "a.obj:11: expected the number of a vertex, got \"0\""},
      {"obj index too large", with(obj, "f 1 2", "f 9 2"), "a.obj", "face 1 refers to vertex 9, of 8 there are"},
      {"obj index too negative", with(obj, "f 1 2", "f -9 2"), "a.obj", "a.obj:11: the face refers to vertex -9"},
      {"obj index a word", with(obj, "f 1 2", "f one 2"), "a.obj", "a.obj:11: expected the number of a vertex"},
      {"obj face of two corners", with(obj, "f 1 2 4 3", "f 1 2"), "a.obj", "a.obj:11: a face of 2 corners"},
      {"a sheet", as_obj({{{{0, 0, 0}}, {{1, 0, 0}}, {{0, 1, 0}}}, {{0, 1, 2}}}), "a.obj", "encloses no volume"},
      {"edge of three faces", walled_in(), "a.obj", "is not the surface of a solid: the edge of face"},
      {"walls thrice", three_wings(), "a.obj", "do not face in pairs"},
      {"flat", as_obj({{{{0, 0, 0}}, {{1, 0, 0}}, {{0, 1, 0}}}, {{0, 1, 2}, {2, 1, 0}}}), "a.obj",
       "encloses no volume"},
      {"all in one point", as_obj({{{{0, 0, 0}}, {{0, 0, 0}}, {{0, 0, 0}}}, {{0, 1, 2}}}), "a.obj",
       "none of its faces has an area"},
      {"too far away", with(obj, "v -1 -1 -1", "v -1e20 -1 -1"), "a.obj", "vertex 1 lies -1e+20 m away"},
      {"ply without magic", "plyx\n", "a.ply", "a.ply: is no PLY file"},
      {"ply without end of header", ply.substr(0, ply.find("end_header")), "a.ply", "ends before \"end_header\""},
      {"ply of unknown format", with(ply, "ascii", "ebcdic"), "a.ply", "a.ply:2: expected ascii, binary_little"},
      {"ply without format", with(ply, "format ascii 1.0\n", ""), "a.ply", "no line \"format\""},
      {"ply of unknown type", with(ply, "property uchar red", "property color red"), "a.ply",
       "a.ply:5: unknown type of a property, \"color\""},
      {"ply property before element", "ply\nformat ascii 1.0\nproperty int x\nend_header\n", "a.ply",
       "a.ply:3: a property before the first element"},
      {"ply without x", with(ply, "property double x", "property double u"), "a.ply", "the properties x, y and z"},
      {"ply without faces", with(ply, "element face", "element fact"), "a.ply", "has no element \"face\""},
      {"ply without indices", with(ply, "vertex_indices", "corner"), "a.ply", "property list vertex_indices"},
      {"ply count that is no number", with(ply, "element vertex 8", "element vertex eight"), "a.ply",
       "a.ply:4: expected a number of elements"},
      {"ply of more vertices than there are", with(ply, "element vertex 8", "element vertex 9"), "a.ply", "face"},
      {"ply with an absurd count", huge_ply, "a.ply", "a.ply: "},
      {"ply of fewer faces than there are", with(ply, "element face 6", "element face 5"), "a.ply",
       "goes on after the last element"},
      {"ply cut off", ply.substr(0, ply.size() - 8), "a.ply", "the file ends at face 6 of 6"},
      {"binary ply cut off", binary.substr(0, binary.size() - 30), "a.ply", "the file ends at face 5 of 6"},
      {"binary ply with more", binary + "x", "a.ply", "goes on after the last element"},
      {"ply list of float length", with(ply, "list uchar int", "list float int"), "a.ply", "must be of a whole type"},
      {"ply index out of range", with(ply, "4 0 1 3 2", "4 0 1 3 8"), "a.ply", "face 1 refers to vertex 9, of 8"},
      {"ply index negative", with(ply, "4 0 1 3 2", "4 0 1 3 -1"), "a.ply", "face 1 refers to vertex 0, of 8"},
      {"ply face of two corners", with(ply, "4 0 1 3 2", "2 0 1"), "a.ply", "face 1 has fewer than three corners"},
      {"ply vertex nan", with(ply, "255 -1 -1 -1", "255 -1 nan -1"), "a.ply",
       "vertex 1 has a coordinate that is no number"},
      {"ply strips", with(ply, "element face", "element tristrips"), "a.ply", "strips of triangles"},
      {"short stl", "abc", "a.stl", "is no STL file: 3 bytes"},
      {"stl cut off", with(stl, "solid", "SOLID").substr(0, stl.size() - 1), "a.stl",
       "the header says 12 facets, which take 684 bytes; the file has 683"},
      {"stl of more facets than it says", with(stl, "solid", "SOLID") + std::string(50, '\0'), "a.stl",
       "the file has 734: it is cut off or damaged"},
      {"stl nan", nan_stl, "a.stl", "facet 4 has a coordinate that is no number"},
      {"ascii stl cut off", ascii.substr(0, ascii.find("endloop", ascii.size() / 2)), "a.stl", "a.stl: ends in facet"},
      {"ascii stl without its last line", ascii.substr(0, ascii.rfind("endsolid")), "a.stl",
       "ends before \"endsolid\", after facet 12"},
      {"ascii stl with a wrong word", with(ascii, "outer loop", "inner loop"), "a.stl",
       "a.stl:3: expected \"outer\", got \"inner\""},
      {"ascii stl with a wrong number", with(ascii, "vertex -1", "vertex -1,5"), "a.stl", "a.stl:4: expected a number"},
      {"ascii stl that goes on", ascii + "more", "a.stl", "expected \"solid\" or the end, got \"more\""},
      {"stl of no facets", std::string(84, '\0'), "a.stl", "holds no faces"},
  };
}

TEST(MeshReaders, SayWhatIsWrong) {
  for (const Broken& broken : broken_files()) {
    const std::string said = complaint(broken.bytes, broken.file);
    EXPECT_NE(said.find(broken.said), std::string::npos) << broken.what << ": \"" << said << "\"";
    EXPECT_TRUE(said.starts_with(broken.file)) << broken.what << ": \"" << said << "\"";
  }
}

TEST(MeshReaders, OneSidedSurfaceHasNoOutside) {
  // A Klein bottle on a grid of 4 by 4, its corners anywhere: closed, every edge with two faces, yet one-sided.
  PolygonMesh bottle;
  std::mt19937 random(1);
  std::uniform_real_distribution<double> place(-1, 1);
  constexpr int n = 4;
  for (int i = 0; i < n * n; ++i) bottle.vertices.push_back({{place(random), place(random), place(random)}});
  const auto at = [](int i, int j) {
    if (i == n) return (n - j % n) % n;  // glued turned over
    return i * n + j % n;
  };
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) bottle.faces.push_back({at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)});
  try {
    solid_from(bottle.polygons(), 1, "bottle");
    ADD_FAILURE() << "found an outside";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("bottle: has no outside"), std::string::npos) << error.what();
  }
}

/// Random edits of good files: either read, or refused with a message; never a crash or endless work.
TEST(MeshReaders, DamagedFilesAreRefusedOrRead) {
  const PolygonMesh ball = make_ball(1, 1);
  const std::vector<std::pair<std::string, std::string>> files = {{as_obj(ball), "a.obj"},
                                                                  {as_obj(make_box(1, 2, 3)), "a.obj"},
                                                                  {as_ply(ball, "ascii"), "a.ply"},
                                                                  {as_ply(ball, "binary_little_endian"), "a.ply"},
                                                                  {as_ply(ball, "binary_big_endian"), "a.ply"},
                                                                  {as_stl(ball, false), "a.stl"},
                                                                  {as_stl(ball, true), "a.stl"}};
  const std::string words[] = {"nan",
                               "-",
                               "1e309",
                               "\n",
                               " ",
                               "999999999999999999999",
                               "f",
                               "v",
                               "-1",
                               "0",
                               "\\",
                               "/",
                               "element face 4000000000\n",
                               "property list uchar int x\n",
                               std::string(4, '\xff')};
  std::mt19937 random(7);
  const auto below = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); };
  int refused = 0, read = 0;
  for (int round = 0; round < 4000; ++round) {
    auto [bytes, file] = files[below(files.size())];
    for (std::size_t edits = 1 + below(4); edits > 0 && !bytes.empty(); --edits) {
      const std::size_t at = below(bytes.size());
      switch (below(5)) {
        case 0:
          bytes[at] = static_cast<char>(below(256));
          break;
        case 1:
          bytes.erase(at, 1 + below(60));
          break;
        case 2:
          bytes.insert(at, words[below(std::size(words))]);
          break;
        case 3:
          bytes.insert(at, bytes.substr(below(bytes.size()), below(80)));
          break;
        case 4:
          if (below(4) == 0) bytes.resize(at);
          break;
      }
    }
    try {
      const Solid solid = parse_solid(bytes, 1, file);
      ++read;
      ASSERT_TRUE(solid.volume > 0 && std::isfinite(solid.volume));
    } catch (const Error& error) {
      ++refused;
      ASSERT_EQ(error.code(), ExitCode::bad_input);
      ASSERT_TRUE(std::string(error.what()).starts_with(file));
      ASSERT_LT(std::string(error.what()).size(), 400u);
    }
  }
  EXPECT_GT(refused, 1000);
  EXPECT_GT(read, 100);  // normals, colors and the like may say anything
}

}  // namespace
}  // namespace tribo

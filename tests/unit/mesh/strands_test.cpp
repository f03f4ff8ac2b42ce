#include "tribo/mesh/strands.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <random>

#include "make_mesh.h"
#include "tribo/core/errors.h"
#include "tribo/mesh/strand_file.h"

/// \file
/// Promises: strands that programs write are read, from every format alike; what is wrong with a file is said with the
/// strand, line or byte, and nothing crashes. Resampled strands keep their ends and their course.

namespace tribo {
namespace {

using test::raw;
using P = Vec<double, 3>;

/// Numbers that single precision has.
Strands three_strands(bool with_radius = false) {
  Strands s;
  add_strand(s, std::vector<P>{{{0, 0, 0}}, {{0, 1, 0}}, {{0, 2, 0.5}}});
  add_strand(s, std::vector<P>{{{1, 0, 0}}, {{1, -1, 0}}});
  add_strand(s, std::vector<P>{{{2, 0, 0}}, {{2, 1, 0.25}}, {{2.5, 2, 0}}, {{3, 2, 0}}});
  if (with_radius)
    for (std::size_t i = 0; i < s.points.size(); ++i) s.radius.push_back(0.125 + 0.0625 * static_cast<double>(i));
  return s;
}

void expect_same(const Strands& a, const Strands& b) {
  EXPECT_EQ(a.start, b.start);
  ASSERT_EQ(a.points.size(), b.points.size());
  for (std::size_t i = 0; i < a.points.size(); ++i)
    for (int k = 0; k < 3; ++k) EXPECT_DOUBLE_EQ(a.points[i][k], b.points[i][k]) << "point " << i;
  EXPECT_EQ(a.radius, b.radius);
}

Strands read(const std::string& bytes, const std::string& file) { return parse_strands(bytes, 1, file).strands; }

std::string complaint(const std::string& bytes, const std::string& file) {
  try {
    parse_strands(bytes, 1, file);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::bad_input);
    return error.what();
  }
  return "nothing to complain about";
}

const char* const formats[] = {".hair", ".ply", ".vtk", ".vtp", ".obj", ".usda"};

TEST(StrandFiles, OfEveryFormatComeBackAsTheyWereWritten) {
  for (const std::string extension : formats)
    for (const bool with_radius : {false, true}) {
      SCOPED_TRACE(extension);
      Strands s = three_strands(with_radius);
      const Strands back = read(strand_file_bytes(s, "s" + extension), "s" + extension);
      if (extension == ".obj") s.radius.clear();
      expect_same(back, s);
    }
}

TEST(StrandFiles, ScaleTurnsUnitsIntoMeters) {
  const Strands s = parse_strands(strand_file_bytes(three_strands(true), "s.ply"), 0.01, "s.ply").strands;
  EXPECT_DOUBLE_EQ(s.points[2][1], 0.02);
  EXPECT_DOUBLE_EQ(s.radius[0], 0.00125);
}

/// A .hair file of strands of two segments, as the header's number of segments alone says; color and transparency are
/// passed over.
TEST(StrandFiles, HairMayHaveOneNumberOfSegmentsForAll) {
  std::string bytes = "HAIR" + raw<std::uint32_t>(2) + raw<std::uint32_t>(6) + raw<std::uint32_t>(2 | 8 | 16) +
                      raw<std::uint32_t>(2) + raw(1.0F) + raw(0.0F) + raw(1.0F) + raw(1.0F) + raw(1.0F) +
                      std::string(88, 'x');
  for (int i = 0; i < 6; ++i) bytes += raw(static_cast<float>(i)) + raw(2.0F) + raw(3.0F);
  for (int i = 0; i < 6; ++i) bytes += raw(0.5F);
  for (int i = 0; i < 18; ++i) bytes += raw(0.25F);
  const Strands s = read(bytes, "model.hair");
  EXPECT_EQ(s.start, (std::vector<std::int32_t>{0, 3, 6}));
  EXPECT_EQ(s.points[5][0], 5);
  EXPECT_TRUE(s.radius.empty());
  EXPECT_NE(complaint(bytes + "x", "model.hair").find("goes on after the last array"), std::string::npos);
}

/// What has nothing but segments, in any order and direction, is put together; the first of them decides which end is
/// the root.
TEST(StrandFiles, SegmentsAreJoinedToStrands) {
  const std::string vertices = "v 0 0 0\nv 0 1 0\nv 0 2 0\nv 0 3 0\nv 5 0 0\nv 5 1 0\n";
  const Strands s = read(vertices + "l 2 3\nl 5 6\nl 4 3\nl 2 1\n", "s.obj");
  EXPECT_EQ(s.start, (std::vector<std::int32_t>{0, 4, 6}));
  for (int i = 0; i < 4; ++i) EXPECT_EQ(s.points[static_cast<std::size_t>(i)][1], i);
  EXPECT_EQ(read(vertices + "l -6 -5 -4 -3 # back\nl 5/1 6/2\n", "s.obj").start, s.start);

  const std::string ply =
      "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n"
      "property float radius\nelement edge 3\nproperty int vertex1\nproperty int vertex2\nproperty uchar red\n"
      "end_header\n0 0 0 1\n0 1 0 2\n0 2 0 3\n0 3 0 4\n0 1 9\n1 2 9\n2 3 9\n";
  const Strands p = read(ply, "s.ply");
  EXPECT_EQ(p.start, (std::vector<std::int32_t>{0, 4}));
  EXPECT_EQ(p.radius, (std::vector<double>{1, 2, 3, 4}));
}

TEST(StrandFiles, LinesOfVtkAreReadFromGridsToo) {
  const std::string head = "# vtk DataFile Version 3.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 5 float\n";
  const std::string points = "0 0 0 0 1 0 0 2 0 3 0 0 3 1 0\n";
  const std::string data =
      "POINT_DATA 5\nVECTORS v float\n0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\nFIELD FieldData 2\n"
      "id 1 5 int\n0 1 2 3 4\nradius 1 5 double\n1 2 3 4 5\n";
  const Strands s =
      read(head + points + "CELLS 4 13\n2 0 1\n2 1 2\n3 0 1 3\n2 3 4\nCELL_TYPES 4\n3 3 5 3\n" + data, "s.vtk");
  EXPECT_EQ(s.start, (std::vector<std::int32_t>{0, 3, 5}));  // the triangle is none
  EXPECT_EQ(s.radius, (std::vector<double>{1, 2, 3, 4, 5}));
  EXPECT_EQ(complaint(head + points + "CELLS 1 3\n2 0 7\nCELL_TYPES 1\n3\n", "s.vtk"),
            "s.vtk: line 1 refers to point 7, of 5 there are");
}

std::string usda(const std::string& curves, const std::string& around = "") {
  return "#usda 1.0\n(\n    doc = \"brackets ) in \\\" texts\"\n    metersPerUnit = 0.01\n    customLayerData = { "
         "string a = "
         "\"b\" }\n)\n\ndef Xform \"World\" (\n    prepend apiSchemas = [\"A\"]\n)\n{\n    custom string note = \"}\"\n"
         "    rel look = </World/Look>\n    def BasisCurves \"hair\" (kind = \"component\")\n    {\n" +
         curves + "    }\n" + around + "}\n";
}

/// Points are where curves go, not their control points; transformations of all prims around are applied, also those
/// that stand after the curves; of an animation the first frame counts.
TEST(StrandFiles, UsdCurvesAreEvaluatedAndPlaced) {
  const std::string six =
      "        point3f[] points = [(0,0,0),(6,0,0),(12,6,0),(12,12,0)]\n"
      "        int[] curveVertexCounts = [4]\n";
  const auto with = [&](const std::string& more) { return read(usda(six + more), "s.usda"); };
  const Strands b = with("        uniform token basis = \"bspline\"\n        uniform token type = \"cubic\"\n");
  ASSERT_EQ(b.points.size(), 2U);
  EXPECT_NEAR(b.points[0][0], 0.06, 1e-15);  // (0 + 4*6 + 12) / 6 cm
  EXPECT_NEAR(b.points[0][1], 0.01, 1e-15);  // (0 + 0 + 6) / 6 cm
  EXPECT_NEAR(b.points[1][0], 0.11, 1e-15);
  EXPECT_NEAR(b.points[1][1], 0.06, 1e-15);
  EXPECT_EQ(with("        uniform token basis = \"bspline\"\n        uniform token wrap = \"pinned\"\n").points.size(),
            4U);
  const Strands c = with(
      "        uniform token basis = \"catmullRom\"\n        float[] widths = [2, 4, 6, 8] (interpolation = "
      "\"vertex\")\n");
  ASSERT_EQ(c.points.size(), 2U);
  EXPECT_NEAR(c.points[0][0], 0.06, 1e-15);
  EXPECT_NEAR(c.radius[1], 0.03, 1e-15);
  const Strands z = with("");  // a Bezier curve, which is USD's default
  ASSERT_EQ(z.points.size(), 4U);
  EXPECT_NEAR(z.points[0][0], 0, 1e-15);
  EXPECT_NEAR(z.points[3][1], 0.12, 1e-15);
  EXPECT_NEAR(z.points[1][0], (12.0 / 27 * 6 + 6.0 / 27 * 12 + 1.0 / 27 * 12) / 100, 1e-15);

  const std::string linear =
      "        uniform token type = \"linear\"\n        int[] curveVertexCounts = [2]\n"
      "        point3f[] points.timeSamples = {\n            1: [(1,0,0),(2,0,0)],\n"
      "            2: [(9,9,9),(8,8,8)],\n        }\n        float[] widths = [1]\n";
  const Strands m = read(usda(linear,
                              "    double3 xformOp:translate = (0, 0, 100)\n"
                              "    float3 xformOp:rotateXYZ = (0, 0, 90)\n"
                              "    float3 xformOp:scale = (2, 1, 1)\n"
                              "    uniform token[] xformOpOrder = [\"xformOp:translate\", "
                              "\"xformOp:rotateXYZ\", \"xformOp:scale\"]\n"),
                         "s.usda");
  EXPECT_NEAR(m.points[0][0], 0, 1e-15);  // stretched along x, turned to y, carried along z
  EXPECT_NEAR(m.points[0][1], 0.02, 1e-15);
  EXPECT_NEAR(m.points[1][1], 0.04, 1e-15);
  EXPECT_NEAR(m.points[1][2], 1, 1e-15);
  EXPECT_NEAR(m.radius[1], 0.005 * std::cbrt(2), 1e-15);  // as thick as what is stretched along one axis of three
}

TEST(StrandFiles, MistakesNameTheStrand) {
  const std::string v = "v 0 0 0\nv 0 1 0\nv 0 2 0\nv 0 3 0\n";
  EXPECT_EQ(complaint(v + "l 1 2\nl 3 9\n", "s.obj"),
            "s.obj: line 2 refers to a point that is not there (there are 4)");
  EXPECT_EQ(complaint(v + "l 1\n", "s.obj"), "s.obj:5: a line of 1 vertices; it needs two or more");
  EXPECT_EQ(complaint(v + "l 1 x\n", "s.obj"), "s.obj:5: expected the number of a vertex, got \"x\"");
  EXPECT_EQ(complaint("v 0 nan 0\n", "s.obj"), "s.obj:1: expected three numbers after \"v\", got \"nan\"");
  EXPECT_EQ(complaint(v, "s.obj"), "s.obj: has no strands: not one line");
  EXPECT_EQ(complaint(v + "l 1 2 3\nl 2 4\n", "s.obj"),
            "s.obj: line 2 meets line 1 in point 1, which is no free end of both: strands do not branch; give each its "
            "own points");
  EXPECT_EQ(complaint(v + "l 1 2\nl 2 3\nl 2 4\n", "s.obj"),
            "s.obj: line 3 meets line 1 in point 1, which is no free end of both: strands do not branch; give each its "
            "own points");
  EXPECT_EQ(complaint(v + "l 1 2 3 1\n", "s.obj"), "s.obj: line 1 is closed; a strand has two ends: open it");
  EXPECT_EQ(complaint(v + "l 1 2\nl 2 3\nl 3 1\n", "s.obj"),
            "s.obj: line 1 and those it meets are closed to a ring; a strand has two ends: open it");
  for (const std::string extension : formats)
    EXPECT_EQ(complaint("", "s" + extension), "s" + extension + ": is empty; write or copy it once more");
  std::string counted = strand_file_bytes(three_strands(), "s.vtp");
  const std::string points = "NumberOfPoints=\"9\"", lines = "NumberOfLines=\"3\"";
  ASSERT_NE(counted.find(points), std::string::npos);
  counted.replace(counted.find(points), points.size(), "NumberOfPoints=\"8\"");
  EXPECT_EQ(
      complaint(counted, "s.vtp"),
      "s.vtp: piece 1: NumberOfPoints is \"8\", but there are 9; the file is damaged, write or copy it once more");
  counted = strand_file_bytes(three_strands(), "s.vtp");
  ASSERT_NE(counted.find(lines), std::string::npos);
  counted.replace(counted.find(lines), lines.size(), "NumberOfLines=\"4e9\"");
  EXPECT_EQ(
      complaint(counted, "s.vtp"),
      "s.vtp: piece 1: NumberOfLines is \"4e9\", but there are 3; the file is damaged, write or copy it once more");
  EXPECT_NE(complaint("x", "s.txt").find("expected the extension of a strand file: .hair"), std::string::npos);
  Strands bad = three_strands();
  bad.points[4][2] = std::nan("");
  EXPECT_EQ(complaint(strand_file_bytes(bad, "s.hair"), "s.hair"),
            "s.hair: strand 2: its point 2 has a coordinate that is no number; remove it, or write the file once more");
  bad = three_strands(true);
  bad.radius[6] = -1;
  EXPECT_EQ(complaint(strand_file_bytes(bad, "s.ply"), "s.ply"),
            "s.ply: polyline 3: its point 2 has a radius that is negative or no number");
  EXPECT_EQ(complaint("#usda 1.0\ndef Xform \"a\"\n{\n}\n", "s.usda"),
            "s.usda: has no BasisCurves with points; what it refers to in other files is not read: flatten it first");
  EXPECT_NE(complaint(usda("uniform token wrap = \"periodic\"\npoint3f[] points = [(0,0,0)]\n"), "s.usda")
                .find("prim \"hair\": its curves are closed"),
            std::string::npos);
}

/// Zero-length segments have no direction, strands of one point nothing at all, and of two strands in one place nobody
/// can tell which side of the other each is on.
TEST(StrandFiles, WhatHasNoLengthIsPutRightAndSaid) {
  Strands s = three_strands();
  add_strand(s, std::vector<P>{{{7, 0, 0}}, {{7, 0, 0}}, {{7, 1, 0}}});
  add_strand(s, std::vector<P>{{{8, 0, 0}}, {{8, 0, 0}}});
  add_strand(s, std::vector<P>{{{1, 0, 0}}, {{1, -1, 0}}});
  const StrandFile file = parse_strands(strand_file_bytes(s, "s.hair"), 1, "s.hair");
  EXPECT_EQ(strand_count(file.strands), 4U);
  EXPECT_EQ(strand_points(file.strands, 3).size(), 2U);
  EXPECT_EQ(file.notes,
            (std::vector<std::string>{"strand 4: points in the same place as the one before are joined with it",
                                      "strand 5: left out, of a single point",
                                      "strand 6: left out, the same as another one before"}));
  Strands none;
  add_strand(none, std::vector<P>{{{8, 0, 0}}, {{8, 0, 0}}});
  EXPECT_EQ(complaint(strand_file_bytes(none, "s.ply"), "s.ply"), "s.ply: none of its 1 strands has any length");
}

/// A tip without thickness would have no stiffness, hardly any mass, and touch nothing.
TEST(StrandFiles, TipsThatTaperToNothingKeepATenth) {
  Strands s = three_strands();
  s.radius = {1, 0.5, 0, 0.25, 0.125, 0, 0, 0, 0};
  const StrandFile file = parse_strands(strand_file_bytes(s, "s.hair"), 2, "s.hair");
  EXPECT_EQ(file.strands.radius, (std::vector<double>{2, 1, 0.2, 0.5, 0.25, 0, 0, 0, 0}));
  EXPECT_EQ(file.notes,
            (std::vector<std::string>{"strand 1: points thinner than 0.1 of the thickest of their strand are "
                                      "taken as thick as that, unless `radius` is given"}));
}

/// Whatever the bytes, there is an answer or a clear word: cut at every place, and with bytes changed at random.
TEST(StrandFiles, DamageIsNeverACrash) {
  std::mt19937 random(3);
  std::size_t refused = 0;
  const auto attempt = [&](const std::string& bytes, const std::string& file) {
    try {
      const StrandFile read_back = parse_strands(bytes, 1, file);
      for (const P& x : read_back.strands.points) EXPECT_TRUE(std::isfinite(x[0] + x[1] + x[2]));
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::bad_input);
      EXPECT_TRUE(std::string_view(error.what()).starts_with(file));
      ++refused;
    }
  };
  std::vector<std::pair<std::string, std::string>> files;
  for (const std::string extension : formats)
    files.emplace_back(strand_file_bytes(three_strands(true), "s" + extension), "s" + extension);
  files.emplace_back(usda("        point3f[] points.timeSamples = { 1: [(0,0,0),(6,0,0),(12,6,0),(12,12,0)] }\n"
                          "        int[] curveVertexCounts = [4]\n",
                          "    double3 xformOp:translate = (0, 0, 100)\n"
                          "    uniform token[] xformOpOrder = [\"xformOp:translate\"]\n"),
                     "t.usda");
  for (const auto& [bytes, file] : files) {
    for (std::size_t size = 0; size < bytes.size(); ++size) attempt(bytes.substr(0, size), file);
    for (int i = 0; i < 3000; ++i) {
      std::string changed = bytes;
      for (unsigned n = random() % 3 + 1; n > 0; --n)
        changed[random() % changed.size()] = static_cast<char>(random() % 256);
      attempt(changed, file);
    }
  }
  EXPECT_GT(refused, 5000U);
  for (const std::string extension : {".hair", ".ply"}) {  // where the header says how much there must be
    const std::string bytes = strand_file_bytes(three_strands(), "s" + extension);
    for (std::size_t size = 0; size < bytes.size(); ++size)
      EXPECT_NE(complaint(bytes.substr(0, size), "s" + extension), "nothing to complain about") << size;
  }
}

TEST(Strands, ResamplingKeepsEndsCourseAndRadii) {
  Strands arc;
  std::vector<P> points;
  for (int i = 0; i <= 200; ++i) points.push_back({{std::cos(0.01 * i), std::sin(0.01 * i), 0}});
  add_strand(arc, points);
  for (int i = 0; i <= 200; ++i) arc.radius.push_back(0.01 * i);
  const Strands s = resampled(arc, 0.1);
  ASSERT_EQ(s.points.size(), 21U);  // 2 m of arc
  for (std::size_t i = 0; i < s.points.size(); ++i) {
    EXPECT_NEAR(std::sqrt(squared_norm(s.points[i])), 1, 2e-5);
    EXPECT_NEAR(std::atan2(s.points[i][1], s.points[i][0]), 0.1 * static_cast<double>(i), 1e-4);
    EXPECT_NEAR(s.radius[i], 0.1 * static_cast<double>(i), 1e-4);
  }
  for (int k = 0; k < 3; ++k) EXPECT_EQ(s.points.back()[k], points.back()[k]);
  EXPECT_EQ(resampled(arc, 100.0).points.size(), 2U);  // never less than a segment
  EXPECT_EQ(resampled(arc, std::size_t{7}).points.size(), 8U);
  EXPECT_EQ(resampled(Strands{}, 0.1).start, (std::vector<std::int32_t>{0}));
}

TEST(Strands, TheClosestTwoAreFound) {
  std::mt19937 random(5);
  const auto uniform = [&] { return 1e-9 * static_cast<double>(random() % 1000000000); };
  Strands s;
  for (int i = 0; i < 60; ++i) {
    std::vector<P> points{{{uniform(), uniform(), uniform()}}};
    for (int k = 0; k < 5; ++k) {
      const P step{{uniform() - 0.5, uniform() - 0.5, uniform() - 0.5}};
      points.push_back(points.back() + 0.2 * step);
    }
    add_strand(s, points);
  }
  for (const double reach : {0.01, 0.05, 0.3}) {
    StrandGap expected;
    expected.distance = reach;
    for (std::size_t a = 0; a < strand_count(s); ++a)
      for (std::size_t b = a + 1; b < strand_count(s); ++b)
        for (std::size_t i = 0; i < 5; ++i)
          for (std::size_t j = 0; j < 5; ++j) {
            const auto p = strand_points(s, a), q = strand_points(s, b);
            const double d = segment_distance(p[i], p[i + 1], q[j], q[j + 1]);
            if (d >= reach) continue;
            ++expected.pair_count;
            if (d >= expected.distance) continue;
            expected = {d, 0, static_cast<std::int32_t>(a), static_cast<std::int32_t>(b), expected.pair_count};
          }
    const StrandGap found = closest_strands(s, reach);
    EXPECT_EQ(found.distance, expected.distance);
    EXPECT_EQ(found.one, expected.one);
    EXPECT_EQ(found.other, expected.other);
    EXPECT_EQ(found.pair_count, expected.pair_count);
  }
}

/// A strand that is thick at its root and thin at its tip touches what its own thickness reaches at that place, no more:
/// the thickest place of a strand says nothing about its other end.
TEST(Strands, OverlapByTheRadiiWhereTheyAreNearest) {
  const auto with_neighbor_at = [](double y) {
    Strands s;
    add_strand(s, std::vector<P>{{{0, 0, 0}}, {{0, 1, 0}}, {{0, 2, 0}}}, std::vector<double>{0.1, 0.05, 0.001});
    add_strand(s, std::vector<P>{{{-1, y, 0.07}}, {{1, y, 0.07}}}, std::vector<double>{0.01, 0.01});
    return overlapping_strands(s);
  };
  EXPECT_EQ(with_neighbor_at(1.9).pair_count, 0);
  EXPECT_EQ(with_neighbor_at(1.9).one, -1);
  const StrandGap gap = with_neighbor_at(0.5);
  EXPECT_EQ(gap.pair_count, 1);
  EXPECT_EQ(gap.one, 0);
  EXPECT_EQ(gap.other, 1);
  EXPECT_NEAR(gap.distance, 0.07, 1e-15);
  EXPECT_NEAR(gap.thickness, 0.075 + 0.01, 1e-15);
  EXPECT_EQ(with_neighbor_at(0.81).pair_count, 0);  // 0.0595 + 0.01
}

/// The closed form against a search on both segments.
TEST(Strands, SegmentDistanceIsTheLeastOneThereIs) {
  std::mt19937 random(7);
  const auto uniform = [&] { return 1e-9 * static_cast<double>(random() % 1000000000) - 0.5; };
  for (int trial = 0; trial < 200; ++trial) {
    P p[4];
    for (P& x : p) x = {{uniform(), uniform(), uniform()}};
    if (trial % 4 == 0) p[3] = p[2] + (p[1] - p[0]);  // parallel
    if (trial % 7 == 0) p[1] = p[0];                  // a point
    double least = 1e9;
    for (int i = 0; i <= 100; ++i)
      for (int j = 0; j <= 100; ++j)
        least =
            std::min(least, std::sqrt(squared_norm(p[0] + 0.01 * i * (p[1] - p[0]) - p[2] - 0.01 * j * (p[3] - p[2]))));
    const double d = segment_distance(p[0], p[1], p[2], p[3]);
    EXPECT_LE(d, least + 1e-12);
    EXPECT_GE(d, least - 0.02);
  }
}

}  // namespace
}  // namespace tribo

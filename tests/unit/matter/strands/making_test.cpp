#include "tribo/matter/strands/making.h"

#include <gtest/gtest.h>
#include <oneapi/tbb/global_control.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "tribo/core/errors.h"

/// \file
/// Promises: strands are as many, as long and where they were asked for; what is made does not touch itself; the same
/// seed gives the same bytes.

namespace tribo {
namespace {

using P = Vec<double, 3>;
double norm(const P& v) { return std::sqrt(squared_norm(v)); }

ScalpSpec ball(std::int64_t count) {
  ScalpSpec scalp;
  scalp.shape = Sphere<double>{0.1};
  scalp.count = count;
  scalp.length = 0.05;
  return scalp;
}

HairSpec hair_of(HairSource source, std::int64_t segments = 10) {
  HairSpec hair;
  hair.source = std::move(source);
  hair.radius = 4e-5;
  hair.segments = segments;
  return hair;
}

bool same_bytes(const Strands& a, const Strands& b) {
  return a.start == b.start && a.points.size() == b.points.size() &&
         std::memcmp(a.points.data(), b.points.data(), a.points.size() * sizeof(P)) == 0;
}

std::string complaint(const HairSpec& hair) {
  try {
    make_strands(hair);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::bad_input);
    return error.what();
  }
  return "nothing to complain about";
}

TEST(Scalp, HasTheStrandsThatWereAskedFor) {
  ScalpSpec scalp = ball(500);
  scalp.length_variation = 0.4;
  const Strands s = make_strands(hair_of(scalp));
  ASSERT_EQ(strand_count(s), 500U);
  EXPECT_EQ(s.points.size(), 500U * 11);
  EXPECT_EQ(s.radius, std::vector<double>(s.points.size(), 4e-5));
  double shortest = 1, longest = 0;
  for (std::size_t i = 0; i < 500; ++i) {
    const std::span<const P> points = strand_points(s, i);
    EXPECT_NEAR(norm(points[0]), 0.1, 1e-12) << "a root off the surface";
    EXPECT_NEAR(dot(points[10] - points[0], points[0]) / norm(points[0]), length_of(points), 1e-9) << "not upright";
    shortest = std::min(shortest, length_of(points));
    longest = std::max(longest, length_of(points));
  }
  EXPECT_GE(shortest, 0.03 - 1e-9);
  EXPECT_LT(shortest, 0.031);
  EXPECT_LE(longest, 0.05 + 1e-9);
  EXPECT_GT(longest, 0.049);

  HairSpec by_length = hair_of(ball(50));
  by_length.segment_length = 0.01;
  EXPECT_EQ(make_strands(by_length).points.size(), 50U * 6);
}

/// Density counts on the part of the surface that is in the region: here a cap of a quarter of the ball's area.
TEST(Scalp, DensityCountsInTheRegion) {
  ScalpSpec scalp = ball(0);
  scalp.density = 20000;
  const double whole = 4 * std::numbers::pi * 0.01 * 20000;
  EXPECT_NEAR(static_cast<double>(strand_count(make_strands(hair_of(scalp)))), whole, 0.003 * whole);
  scalp.region.emplace();
  scalp.region->shape = HalfSpace<double>{{{0, -1, 0}}};
  scalp.region->placement.at = {{0, 0.05, 0}};  // above y = 0.05
  const Strands s = make_strands(hair_of(scalp));
  EXPECT_NEAR(static_cast<double>(strand_count(s)), 0.25 * whole, 0.02 * whole);
  for (std::size_t i = 0; i < strand_count(s); ++i) EXPECT_GT(strand_points(s, i)[0][1], 0.05);
}

/// Every shape can be a scalp: roots are where its distance vanishes, or as deep below as they shall be.
TEST(Scalp, MayBeAnyShape) {
  std::vector<Shape<double>> shapes{Box<double>{{{0.2, 0.1, 0.3}}}, Capsule<double>{0.05, 0.1},
                                    Torus<double>{0.1, 0.03}};
  Compound::Part one{{}, SimpleShape(Sphere<double>{0.1})},
      other{{{{0.08, 0, 0}}, Mat<double, 3>::identity()}, SimpleShape(Sphere<double>{0.08})};
  shapes.emplace_back(Compound{Operation::unite, 0.01, {one, other}});
  for (const Shape<double>& shape : shapes) {
    ScalpSpec scalp = ball(300);
    scalp.shape = shape;
    for (const double depth : {0.0, 0.005}) {
      scalp.root_depth = depth;
      const Strands s = make_strands(hair_of(scalp));
      ASSERT_EQ(strand_count(s), 300U);
      int as_deep = 0;  // next to a crease another side may be nearer
      for (std::size_t i = 0; i < 300; ++i) {
        const double d = std::visit([&](const auto& a) { return a.nearest(strand_points(s, i)[0]).distance; }, shape);
        EXPECT_GE(d, -depth - 1e-7);
        EXPECT_LT(d, depth == 0 ? 1e-7 : 0);
        as_deep += std::abs(d + depth) < 1e-7 ? 1 : 0;
        EXPECT_NEAR(length_of(strand_points(s, i)), 0.05 + depth, 1e-9);
      }
      EXPECT_GT(as_deep, 250);
    }
  }
  ScalpSpec endless = ball(5);
  endless.shape = HalfSpace<double>{{{0, 1, 0}}};
  EXPECT_NE(complaint(hair_of(endless)).find("without bounds"), std::string::npos);
  ScalpSpec nowhere = ball(5);
  nowhere.region.emplace();
  nowhere.region->shape = Sphere<double>{0.01};
  EXPECT_NE(complaint(hair_of(nowhere)).find("no part of the scalp is in the region"), std::string::npos);
}

/// No two roots share a place: of points at random the nearest two would be a hundredth of this apart.
TEST(Scalp, RootsAreSpreadEvenly) {
  const ScalpSpec scalp = ball(2000);
  const Roots roots = place_roots(scalp, 1);
  EXPECT_NEAR(roots.area, 4 * std::numbers::pi * 0.01, 2e-4);  // of the triangles that stand for the ball
  const double possible = std::sqrt(2 / std::sqrt(3.0) * roots.area / 2000);  // of a perfect honeycomb
  double least = 1;
  for (std::size_t i = 0; i < 2000; ++i)
    for (std::size_t j = 0; j < i; ++j) least = std::min(least, norm(roots.positions[i] - roots.positions[j]));
  EXPECT_GT(least, 0.5 * possible);
}

/// Strands do not begin in each other, whether they leave by chance, of which one in four would, are combed over each
/// other, or are drawn together. Where they are pushed apart, they stay outside and their segments equal.
TEST(Scalp, StrandsAvoidEachOther) {
  ScalpSpec scalp = ball(5000), combed = ball(5000), clumped = ball(2000);
  scalp.spread = 20;
  combed.comb_amount = 0.8;
  combed.comb_length = 0.02;
  clumped.clumps = 100;
  clumped.clump_tightness = 0.9;
  for (const ScalpSpec& one : {scalp, combed, clumped}) {
    const Strands s = make_strands(hair_of(one));
    EXPECT_EQ(closest_strands(s, 8e-5).pair_count, 0);
    EXPECT_TRUE(same_bytes(s, make_strands(hair_of(one))));
    for (std::size_t i = 0; i < strand_count(s); ++i) {
      const std::span<const P> points = strand_points(s, i);
      for (std::size_t k = 1; k < points.size(); ++k) {
        EXPECT_GT(norm(points[k]), 0.1) << "within the scalp";
        EXPECT_NEAR(norm(points[k] - points[k - 1]), norm(points[1] - points[0]), 1e-12);
      }
    }
  }
}

TEST(Scalp, CombedStrandsLieAlongItAndDoNotEnter) {
  ScalpSpec scalp = ball(300);
  scalp.length = 0.2;
  scalp.comb_amount = 1;
  scalp.comb_length = 0.05;
  scalp.lift = 0.01;
  scalp.curl_radius = 0.004;
  scalp.curl_pitch = 0.02;
  scalp.clumps = 30;
  scalp.clump_tightness = 0.7;
  const Strands s = make_strands(hair_of(scalp, 60));
  for (std::size_t i = 0; i < 300; ++i) {
    const std::span<const P> points = strand_points(s, i);
    EXPECT_LT(points[60][1], points[0][1]) << "not combed down";
    for (std::size_t k = 1; k < points.size(); ++k) EXPECT_GT(norm(points[k]), 0.1 - 5e-4) << "within the scalp";
    EXPECT_NEAR(length_of(points), 0.2, 0.02) << "chords of curls may be a little shorter";
  }
}

/// Combed into a crease or a gap that is narrower than its segments are long, hair finds its way without folding up:
/// the curvature 2 tan(phi/2) of a joint that is folded by phi has no bounds, nor has what holds it so.
TEST(Scalp, StrandsDoNotFoldUpWhereItLeavesNoRoom) {
  for (const double apart : {0.09, 0.101, 0.104})
    for (const std::int64_t segments : {6, 20}) {
      Compound::Part one{{}, SimpleShape(Sphere<double>{0.05})},
          other{{{{0.02, -apart, 0}}, Mat<double, 3>::identity()}, SimpleShape(Sphere<double>{0.05})};
      ScalpSpec scalp = ball(400);
      scalp.shape = Compound{Operation::unite, 0, {one, other}};
      scalp.length = 0.06;
      scalp.comb = {{0, -1, 0}};
      scalp.comb_amount = 0.9;
      const Strands s = make_strands(hair_of(scalp, segments));
      int inside = 0;
      for (std::size_t i = 0; i < 400; ++i) {
        const std::span<const P> points = strand_points(s, i);
        for (std::size_t k = 2; k < points.size(); ++k) {
          const P a = points[k - 1] - points[k - 2], b = points[k] - points[k - 1];
          EXPECT_GE(dot(a, b), -1e-9 * norm(a) * norm(b)) << "strand " << i << " at " << k << " of " << segments;
          inside += std::visit([&](const auto& shape) { return shape.nearest(points[k]).distance; }, scalp.shape) < 0;
        }
      }
      EXPECT_LE(inside, 4) << apart << ' ' << segments;  // one vertex of a hundred strands
    }
}

TEST(Scalp, APartingCombsToBothSides) {
  ScalpSpec scalp = ball(400);
  scalp.comb = {{1, 0, 0}};
  scalp.comb_amount = 1;
  scalp.comb_length = 0.01;
  scalp.parting = ScalpSpec::Parting{};
  const Strands s = make_strands(hair_of(scalp));
  for (std::size_t i = 0; i < 400; ++i) {
    const std::span<const P> points = strand_points(s, i);
    EXPECT_GT((points[10][0] - points[0][0]) * points[0][0], 0);
  }
}

/// A curl is a helix: its points are a radius away from the axis, which the length along it is shorter than.
TEST(Scalp, CurlsAreHelices) {
  ScalpSpec scalp = ball(20);
  scalp.length = 0.3;
  scalp.curl_radius = 0.01;
  scalp.curl_pitch = 0.03;
  const Strands s = make_strands(hair_of(scalp, 400));
  const double stretch = std::sqrt(1 + std::pow(2 * std::numbers::pi * 0.01 / 0.03, 2));
  for (std::size_t i = 0; i < 20; ++i) {
    const std::span<const P> points = strand_points(s, i);
    const P axis = (1 / norm(points[0])) * points[0];
    for (std::size_t k = 200; k < points.size(); ++k) {
      const P off = points[k] - dot(points[k], axis) * axis;
      EXPECT_NEAR(norm(off), 0.01, 3e-4);
    }
    const double along = dot(points[400] - points[200], axis);
    EXPECT_NEAR(along * stretch, 0.15, 0.003);
    EXPECT_NEAR(length_of(points), 0.3, 0.003);
  }
}

/// Tips of a clump are nearer to their guide's by the tightness asked for.
TEST(Scalp, ClumpsGather) {
  ScalpSpec scalp = ball(600);
  const auto mean_gap = [&](const Strands& s) {
    double sum = 0;
    for (std::size_t i = 0; i < strand_count(s); ++i) {
      double least = 1;
      for (std::size_t j = 0; j < strand_count(s); ++j)
        if (j != i) least = std::min(least, norm(strand_points(s, i)[10] - strand_points(s, j)[10]));
      sum += least;
    }
    return sum / static_cast<double>(strand_count(s));
  };
  const double loose = mean_gap(make_strands(hair_of(scalp)));
  scalp.clumps = 40;
  scalp.clump_tightness = 0.8;
  const Strands gathered = make_strands(hair_of(scalp));
  EXPECT_LT(mean_gap(gathered), 0.4 * loose);
  for (std::size_t i = 0; i < strand_count(gathered); ++i)
    EXPECT_NEAR(norm(strand_points(gathered, i)[0]), 0.1, 1e-12);  // roots stay
}

TEST(Tube, StrandsAreApartByMoreThanTheirThickness) {
  TubeSpec tube;  // the paper's, in a tenth of its number (experiments_hair 7)
  tube.count = 135;
  tube.length = 0.14;
  tube.spacing = 4e-4;
  tube.jitter = 0.15;
  tube.wave = 0.2499;
  tube.wavelength = 0.03;
  HairSpec hair = hair_of(tube, 175);
  const Strands s = make_strands(hair);
  ASSERT_EQ(strand_count(s), 135U);
  EXPECT_EQ(s.points.size(), 135U * 176);
  EXPECT_LT(closest_strands(s, 8e-5).one, 0) << "nearer than two radii";
  EXPECT_GE(closest_strands(s, 4e-4).one, 0) << "not jittered";
  double farthest = 0;
  for (const P& x : s.points) {
    farthest = std::max(farthest, std::hypot(x[0], x[2]));
    EXPECT_LE(std::abs(x[1]), 0.07 + 1e-12);
  }
  EXPECT_NEAR(farthest, 4e-4 * std::sqrt(135 * std::sqrt(3.0) / 2 / std::numbers::pi), 5e-4);
  tube.wave = 0.3;
  hair.source = tube;
  EXPECT_NE(complaint(hair).find("might come as near as"), std::string::npos);
}

TEST(Tube, PaperSizeHasTheRadiusOfThePaper) {
  TubeSpec tube;
  tube.count = 1350;
  tube.length = 0.14;
  tube.spacing = 4e-4;
  tube.wavelength = 0.03;
  const Strands s = make_strands(hair_of(tube, 1));
  double farthest = 0;
  for (const P& x : s.points) farthest = std::max(farthest, std::hypot(x[0], x[2]));
  EXPECT_NEAR(farthest, 0.0078, 1e-4);
}

struct Crossing {
  double down, x;
  int sign;
};
/// Where center lines of bundles cross seen along z, from the top down. The sign is that of a braid's generators:
/// which of the two passes in front.
std::vector<Crossing> crossings_of(const Strands& s, std::size_t bundles) {
  std::vector<std::vector<P>> center(bundles);
  const std::size_t each = strand_count(s) / bundles;
  for (std::size_t b = 0; b < bundles; ++b) {
    center[b].assign(strand_points(s, 0).size(), P::zero());
    for (std::size_t k = 0; k < each; ++k)
      for (std::size_t i = 0; i < center[b].size(); ++i)
        center[b][i] += (1.0 / static_cast<double>(each)) * strand_points(s, b * each + k)[i];
  }
  std::vector<Crossing> all;
  for (std::size_t a = 0; a < bundles; ++a)
    for (std::size_t b = a + 1; b < bundles; ++b)
      for (std::size_t i = 0; i + 1 < center[a].size(); ++i)
        for (std::size_t j = 0; j + 1 < center[b].size(); ++j) {
          const P p = center[a][i], q = center[b][j], d = center[a][i + 1] - p, e = center[b][j + 1] - q;
          const double det = d[0] * e[1] - d[1] * e[0];
          if (std::abs(det) < 1e-18) continue;
          const double t = ((q[0] - p[0]) * e[1] - (q[1] - p[1]) * e[0]) / det;
          const double u = ((q[0] - p[0]) * d[1] - (q[1] - p[1]) * d[0]) / det;
          if (t < 0 || t >= 1 || u < 0 || u >= 1) continue;
          const P at = p + t * d, other = q + u * e;
          all.push_back({-at[1], at[0], (det > 0) == (at[2] > other[2]) ? 1 : -1});
        }
  std::sort(all.begin(), all.end(), [](const Crossing& a, const Crossing& b) { return a.down < b.down; });
  return all;
}

/// Three bundles: the word of the usual braid, one generator on the left and the inverse of the other on the right by
/// turns; each pair meets twice in a period. Nothing touches.
TEST(Braid, CrossesByTurnsOnBothSides) {
  BraidSpec braid;
  braid.strands = 19;
  braid.length = 0.2;
  braid.spacing = 4e-4;
  braid.pitch = 0.02;
  const Strands s = make_strands(hair_of(braid, 600));
  ASSERT_EQ(strand_count(s), 57U);
  EXPECT_LT(closest_strands(s, 3.8e-4).one, 0);
  const std::vector<Crossing> all = crossings_of(s, 3);
  EXPECT_NEAR(static_cast<double>(all.size()), 6 * 10, 1);
  for (std::size_t i = 0; i + 1 < all.size(); ++i) {
    EXPECT_LT(all[i].x * all[i + 1].x, 0);
    EXPECT_EQ(all[i].sign, -all[i + 1].sign);
    EXPECT_EQ(all[i].sign, (all[0].x > 0) == (all[i].x > 0) ? all[0].sign : -all[0].sign);
  }
}

TEST(Braid, OfMoreBundlesFitsToo) {
  for (int bundles = 3; bundles <= 8; ++bundles) {
    BraidSpec braid;
    braid.bundles = bundles;
    braid.strands = 7;
    braid.length = 0.1;
    braid.spacing = 4e-4;
    const Strands s = make_strands(hair_of(braid, 800));
    EXPECT_EQ(strand_count(s), static_cast<std::size_t>(7 * bundles));
    EXPECT_LT(closest_strands(s, 3.8e-4).one, 0) << bundles << " bundles";
    // Neighbors stay neighbors: it is a braid, not bundles far apart.
    EXPECT_GE(closest_strands(s, 4.6e-4).one, 0);
    double widest = 0;
    for (const P& x : s.points) widest = std::max(widest, std::abs(x[0]));
    EXPECT_LT(widest, bundles * 1.2e-3) << bundles << " bundles";
  }
  BraidSpec braid;
  braid.strands = 37;
  braid.length = 0.2;
  braid.spacing = 4e-4;
  braid.pitch = 0.002;
  EXPECT_NE(complaint(hair_of(braid, 100)).find("do not pass each other"), std::string::npos);
  braid.pitch = 0.03;
  EXPECT_NE(complaint(hair_of(braid, 8)).find("of the braid come as near as"), std::string::npos);  // corners cut
}

TEST(HairMaking, SameSeedSameBytesForAnyNumberOfThreads) {
  ScalpSpec scalp = ball(400);
  scalp.spread = 20;
  scalp.length_variation = 0.3;
  scalp.curl_radius = 0.002;
  scalp.curl_pitch = 0.01;
  scalp.clumps = 20;
  TubeSpec tube;
  tube.count = 100;
  tube.length = 0.1;
  tube.spacing = 5e-4;
  tube.jitter = 0.1;
  tube.wave = 0.1;
  tube.wavelength = 0.02;
  for (const HairSource& source : {HairSource(scalp), HairSource(tube)}) {
    HairSpec hair = hair_of(source);
    const Strands first = make_strands(hair);
    {
      const tbb::global_control one(tbb::global_control::max_allowed_parallelism, 1);
      EXPECT_TRUE(same_bytes(first, make_strands(hair)));
    }
    hair.seed = 1;
    EXPECT_FALSE(same_bytes(first, make_strands(hair)));
  }
}

TEST(HairMaking, FilesKeepTheirRadiiUnlessToldOtherwise) {
  StrandFile file;
  add_strand(file.strands, std::vector<P>{{{0, 0, 0}}, {{0, 1, 0}}}, std::vector<double>{0.1, 0.2});
  StrandFileSpec spec;
  spec.file = "s.ply";
  spec.content = std::make_shared<const StrandFile>(file);
  HairSpec hair = hair_of(spec, 2);
  hair.radius.reset();
  EXPECT_EQ(make_strands(hair).radius, (std::vector<double>{0.1, 0.15000000000000002, 0.2}));
  hair.radius = 0.5;
  EXPECT_EQ(make_strands(hair).radius, (std::vector<double>{0.5, 0.5, 0.5}));
  hair.segments = 0;
  EXPECT_EQ(make_strands(hair).points.size(), 2U);
  file.strands.radius.clear();
  spec.content = std::make_shared<const StrandFile>(file);
  hair.source = spec;
  hair.radius.reset();
  EXPECT_EQ(complaint(hair), "s.ply: does not say how thick its strands are; give a radius");
}

}  // namespace
}  // namespace tribo

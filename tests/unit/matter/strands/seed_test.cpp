#include "tribo/matter/strands/seed.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "tribo/core/errors.h"

/// \file
/// Promises: what strands are at rest does not depend on the units they were made in, and what cannot be is refused
/// with the strand and the remedy.

namespace tribo {
namespace {

using P = Vec<double, 3>;

/// Points along a slanted line, with a helix of that amplitude about it.
std::vector<P> slanted(double length, double amplitude) {
  std::vector<P> points;
  for (int i = 0; i <= 40; ++i) {
    const double s = i / 40.0, angle = 8 * s;
    P x = (length * s) * P{{0.48, 0.6, 0.64}};
    x[0] += amplitude * std::sin(angle);
    x[1] += amplitude * (std::cos(angle) - 1);
    points.push_back(x + length * P{{1, 2, -0.7}});
  }
  return points;
}
RodSeed seed_of(const std::vector<P>& points, const StrandRules& rules = {}) {
  Strands strands;
  add_strand(strands, points);
  RodSeed seed;
  add_strands(seed, strands, rules);
  return seed;
}

/// Twist matters for strands that are curved at rest, and costs a step as much again. A straight strand is straight in
/// millimeters, meters and kilometers, also where a file has its coordinates in single precision.
TEST(Rods, AreStraightOrCurvedInAnyUnits) {
  for (const double unit : {1e-6, 1e-3, 1.0, 1e3}) {
    SCOPED_TRACE(unit);
    std::vector<P> rounded = slanted(unit, 0);
    for (P& x : rounded)
      for (int k = 0; k < 3; ++k) x[k] = static_cast<double>(static_cast<float>(x[k]));
    EXPECT_FALSE(seed_of(slanted(unit, 0)).bodies[0].twisted);
    EXPECT_FALSE(seed_of(rounded).bodies[0].twisted);
    EXPECT_TRUE(seed_of(slanted(unit, 1e-4 * unit)).bodies[0].twisted);
    StrandRules straight;
    straight.keeps_shape = false;
    EXPECT_FALSE(seed_of(slanted(unit, 0.1 * unit), straight).bodies[0].twisted);
  }
}

/// The ends of a ring's wire are next to each other: there is no line to depart from.
TEST(Rods, AreCurvedWhereTheirEndsMeet) {
  std::vector<P> ring;
  for (int i = 0; i <= 20; ++i) ring.push_back({{std::cos(0.3 * i), std::sin(0.3 * i), 0}});
  EXPECT_TRUE(seed_of(ring).bodies[0].twisted);
}

/// A director along a strand says nothing about the directions across it, of which any would be as good; its length
/// says nothing at all.
TEST(Rods, RefuseADirectorAlongThem) {
  StrandRules rules;
  rules.name = "object 'ribbon'";
  rules.material.aspect = 3;
  for (const double scale : {1e-9, 1.0, 1e9}) {
    rules.director = scale * P{{0.6, 0.8, 0}};
    const std::vector<P> across{{{0, 0, 0}}, {{0, 0, 0.1}}, {{0, 0.1, 0.2}}};
    const RodSeed seed = seed_of(across, rules);
    for (int k = 0; k < 3; ++k) EXPECT_NEAR(seed.director[0][k], rules.director[k] / scale, 1e-12);
    const std::vector<P> along{{{0, 0, 0}}, {{-0.6, -0.8, 1e-4}}, {{-0.6, -1, 0.2}}};
    try {
      seed_of(along, rules);
      FAIL() << "a director along the strand";
    } catch (const Error& error) {
      EXPECT_EQ(error.what(), std::string("object 'ribbon': strand 1 begins along its director; choose one that lies "
                                          "across the strands at their roots"));
    }
  }
}

}  // namespace
}  // namespace tribo

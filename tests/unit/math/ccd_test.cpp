#include "tribo/math/ccd.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

/// \file
/// Crossings that are known because they were built, and those of any motion against fine sampling in time (theory
/// E.12).

namespace tribo {
namespace {

using V = Vec<double, 3>;

class Ccd : public testing::Test {
 protected:
  double any() { return std::uniform_real_distribution<double>(-1, 1)(random_); }
  double share() { return std::uniform_real_distribution<double>(0.01, 0.99)(random_); }
  V point() { return {{any(), any(), any()}}; }

 private:
  std::mt19937_64 random_{11};
};

V at(const V* x, const V* move, int k, double t) { return x[k] + t * move[k]; }

// The cubic's sign changes in (0, 1], each once, down to roots that nearly touch.
TEST(CcdCubic, FindsRoots) {
  std::mt19937 random(11);
  std::uniform_real_distribution<double> any(-1, 2);
  for (int trial = 0; trial < 2000; ++trial) {
    double r[3] = {any(random), any(random), any(random)};
    if (trial % 3 == 0) r[1] = r[0] + 1e-6;
    const double scale = trial % 2 == 0 ? 1 : -1e-9;
    const double c[4] = {-scale * r[0] * r[1] * r[2], scale * (r[0] * r[1] + r[1] * r[2] + r[2] * r[0]),
                         -scale * (r[0] + r[1] + r[2]), scale};
    std::sort(r, r + 3);
    std::vector<double> expected;
    for (const double root : r)
      if (root > 0 && root <= 1) expected.push_back(root);
    const SignChanges found = sign_changes(c);
    ASSERT_EQ(found.count, int(expected.size())) << r[0] << " " << r[1] << " " << r[2];
    for (int k = 0; k < found.count; ++k) EXPECT_NEAR(found.t[k], expected[std::size_t(k)], 1e-7);
  }
  const double coplanar[4] = {0, 0, 1, -0.5}, at_end[4] = {0, 0, 1, -1};  // at the start; and at the end again
  EXPECT_EQ(sign_changes(coplanar).count, 0);
  EXPECT_EQ(sign_changes(at_end).count, 1);
}

// Vertices move at will so that two places on the edges meet at a time: that, or an earlier crossing, is found, and
// what is found is a place where they meet.
TEST_F(Ccd, FindsEdgesThatMeet) {
  int later = 0;
  for (int trial = 0; trial < 20000; ++trial) {
    MovingSegments m;
    for (int k = 0; k < 4; ++k) {
      m.x[k] = point();
      m.move[k] = point();
    }
    const double t = share(), a = share(), b = share();
    const V gap = (1 - a) * at(m.x, m.move, 0, t) + a * at(m.x, m.move, 1, t) - (1 - b) * at(m.x, m.move, 2, t) -
                  b * at(m.x, m.move, 3, t);
    for (int k = 2; k < 4; ++k) m.move[k] += (1 / t) * gap;
    const MovingSegments::Hit hit = m.hits();
    ASSERT_GE(hit.count, 1) << trial;
    later += hit.t > t + 1e-6 ? 1 : 0;
    const V left = (1 - hit.a) * at(m.x, m.move, 0, hit.t) + hit.a * at(m.x, m.move, 1, hit.t) -
                   (1 - hit.b) * at(m.x, m.move, 2, hit.t) - hit.b * at(m.x, m.move, 3, hit.t);
    EXPECT_LT(std::sqrt(squared_norm(left)), 1e-8);
    if (hit.count == 1) {
      EXPECT_NEAR(hit.t, t, 1e-6);
    }
  }
  EXPECT_EQ(later, 0);
}
TEST_F(Ccd, FindsPointsThatMeetTriangles) {
  int later = 0;
  for (int trial = 0; trial < 20000; ++trial) {
    MovingPointAndTriangle m;
    for (int k = 0; k < 4; ++k) {
      m.x[k] = point();
      m.move[k] = point();
    }
    const double t = share();
    double w[3] = {share(), share(), share()};
    const double sum = w[0] + w[1] + w[2];
    V place = V::zero();
    for (int k = 0; k < 3; ++k) place += (w[k] /= sum) * at(m.x, m.move, k + 1, t);
    m.move[0] = (1 / t) * (place - m.x[0]);
    const MovingPointAndTriangle::Hit hit = m.hits();
    ASSERT_GE(hit.count, 1) << trial;
    later += hit.t > t + 1e-6 ? 1 : 0;
    V left = at(m.x, m.move, 0, hit.t);
    for (int k = 0; k < 3; ++k) left += -hit.weight[k] * at(m.x, m.move, k + 1, hit.t);
    EXPECT_LT(std::sqrt(squared_norm(left)), 1e-8);
    if (hit.count == 1) {
      EXPECT_NEAR(hit.t, t, 1e-6);
    }
  }
  EXPECT_EQ(later, 0);
}

/// Volume spanned by a, b and c.
long double spanned(const V& a, const V& b, const V& c) {
  long double u[3][3];
  for (int k = 0; k < 3; ++k) {
    u[0][k] = a[k];
    u[1][k] = b[k];
    u[2][k] = c[k];
  }
  return u[0][0] * (u[1][1] * u[2][2] - u[1][2] * u[2][1]) + u[0][1] * (u[1][2] * u[2][0] - u[1][0] * u[2][2]) +
         u[0][2] * (u[1][0] * u[2][1] - u[1][1] * u[2][0]);
}
/// Changes of volume(t)'s sign at samples of (0, 1] at which met(t) holds. Clear: none that is so at one end of its
/// sample only, and no two in one sample.
struct Sampled {
  int count = 0;
  bool clear = true;
};
constexpr int samples = 1000;
template <class Volume, class Met>
Sampled sampled(const SignChanges& roots, const Volume& volume, const Met& met) {
  Sampled found;
  for (int s = 0; s < samples; ++s) {
    const double t0 = double(s) / samples, t1 = double(s + 1) / samples;
    if ((volume(t0) < 0) != (volume(t1) < 0)) {
      if (met(t0) != met(t1)) found.clear = false;
      found.count += met(t1) ? 1 : 0;
    }
  }
  for (int k = 0; k + 1 < roots.count; ++k) found.clear = found.clear && roots.t[k + 1] - roots.t[k] > 1.0 / samples;
  return found;
}

// All crossings of any motion, by volumes at a thousand times. At a time near the crossing's, edges have moved on by a
// little, so whether they meet is asked of their lines' closest places.
TEST_F(Ccd, CountsWhatSamplingInTimeCounts) {
  int clear = 0, crossings = 0, twice = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    V x[4], move[4];
    for (int k = 0; k < 4; ++k) {
      x[k] = point();
      move[k] = 2.0 * point();
    }
    const auto moved = [&](int k, double t) { return at(x, move, k, t); };
    {
      const MovingSegments m{{x[0], x[1], x[2], x[3]}, {move[0], move[1], move[2], move[3]}};
      const auto volume = [&](double t) {
        return spanned(moved(1, t) - moved(0, t), moved(3, t) - moved(2, t), moved(2, t) - moved(0, t));
      };
      const auto met = [&](double t) {
        const V d = moved(1, t) - moved(0, t), e = moved(3, t) - moved(2, t), r = moved(2, t) - moved(0, t);
        const V n = cross(d, e);
        const double nn = squared_norm(n), a = dot(cross(r, e), n) / nn, b = dot(cross(r, d), n) / nn;
        return a >= 0 && a <= 1 && b >= 0 && b <= 1;
      };
      const Sampled expected = sampled(coplanar_times(x[1] - x[0], move[1] - move[0], x[3] - x[2], move[3] - move[2],
                                                      x[2] - x[0], move[2] - move[0]),
                                       volume, met);
      if (expected.clear) {
        ASSERT_EQ(m.hits().count, expected.count) << trial;
        ++clear;
        crossings += expected.count > 0 ? 1 : 0;
        twice += expected.count > 1 ? 1 : 0;
      }
    }
    {
      const MovingPointAndTriangle m{{x[0], x[1], x[2], x[3]}, {move[0], move[1], move[2], move[3]}};
      const auto volume = [&](double t) {
        return spanned(moved(2, t) - moved(1, t), moved(3, t) - moved(1, t), moved(0, t) - moved(1, t));
      };
      const auto met = [&](double t) {
        const V d = moved(2, t) - moved(1, t), e = moved(3, t) - moved(1, t), r = moved(0, t) - moved(1, t);
        const V n = cross(d, e);
        const double nn = squared_norm(n), b = dot(cross(r, e), n) / nn, c = dot(cross(d, r), n) / nn;
        return b >= 0 && c >= 0 && b + c <= 1;
      };
      const Sampled expected = sampled(coplanar_times(x[2] - x[1], move[2] - move[1], x[3] - x[1], move[3] - move[1],
                                                      x[0] - x[1], move[0] - move[1]),
                                       volume, met);
      if (expected.clear) {
        ASSERT_EQ(m.hits().count, expected.count) << trial;
        ++clear;
        crossings += expected.count > 0 ? 1 : 0;
        twice += expected.count > 1 ? 1 : 0;
      }
    }
  }
  EXPECT_GT(clear, 3500);
  EXPECT_GT(crossings, 400);
  EXPECT_GT(twice, 10);
}

// Edges that slide over each other in their plane, parallel edges that pass, and what has no length or area have no
// crossings in this sense; nor has what only touches and turns back.
TEST(CcdPlain, HasNoneWithinAPlane) {
  const V o = V::zero(), x{{1, 0, 0}}, y{{0, 1, 0}}, z{{0, 0, 1}};
  const auto edges = [](const V& a, const V& b, const V& c, const V& d, const V& move) {
    return MovingSegments{{a, b, c, d}, {V::zero(), V::zero(), move, move}}.hits().count;
  };
  EXPECT_EQ(edges(o, x, -1.0 * y, 0.5 * x - y, 3.0 * y), 0) << "in one plane";
  EXPECT_EQ(edges(o, x, z, x + z, -2.0 * z), 0) << "parallel";
  EXPECT_EQ(edges(o, x, -1.0 * x, -0.5 * x, 5.0 * x), 0) << "on one line";
  EXPECT_EQ(edges(o, o, -1.0 * y + z, -1.0 * y - z, 2.0 * y), 0) << "without length";
  EXPECT_EQ(edges(o, x, z + 0.5 * x - y, z + 0.5 * x + y, -2.0 * z), 1) << "across, for comparison";
  EXPECT_EQ(edges(o, x, z + 1.1 * x - y, z + 1.1 * x + y, -2.0 * z), 0) << "past its end";

  const auto triangle = [](const V& point, const V& move, const V& a, const V& b, const V& c) {
    return MovingPointAndTriangle{{point, a, b, c}, {move, V::zero(), V::zero(), V::zero()}}.hits();
  };
  EXPECT_EQ(triangle(-1.0 * x + 0.25 * y, 3.0 * x, o, x, y).count, 0) << "in its plane";
  EXPECT_EQ(triangle(0.5 * x + z, -2.0 * z, o, x, 2.0 * x).count, 0) << "without area";
  EXPECT_EQ(triangle(0.9 * x + 0.9 * y + z, -2.0 * z, o, x, y).count, 0) << "past its edge";
  const MovingPointAndTriangle::Hit hit = triangle(0.25 * x + 0.5 * y + z, -4.0 * z, o, x, y);
  EXPECT_EQ(hit.count, 1);
  EXPECT_DOUBLE_EQ(hit.t, 0.25);
  EXPECT_NEAR(hit.weight[0], 0.25, 1e-15);
  EXPECT_NEAR(hit.weight[1], 0.25, 1e-15);
  EXPECT_NEAR(hit.weight[2], 0.5, 1e-15);
  // It ends where it meets, and has met; what begins there has not.
  EXPECT_EQ(triangle(0.25 * x + 0.25 * y + z, -1.0 * z, o, x, y).count, 1);
  EXPECT_EQ(triangle(0.25 * x + 0.25 * y, -1.0 * z, o, x, y).count, 0);
}

// Nothing depends on the unit of length: the same bits, micrometers or kilometers.
TEST_F(Ccd, KnowsNoUnit) {
  for (int trial = 0; trial < 1000; ++trial) {
    MovingSegments m;
    MovingPointAndTriangle p;
    for (int k = 0; k < 4; ++k) {
      m.x[k] = p.x[k] = point();
      m.move[k] = p.move[k] = 2.0 * point();
    }
    const MovingSegments::Hit edges = m.hits();
    const MovingPointAndTriangle::Hit triangle = p.hits();
    for (const double scale : {0x1p-20, 0x1p20}) {
      for (int k = 0; k < 4; ++k) {
        m.x[k] = scale * p.x[k];
        m.move[k] = scale * p.move[k];
      }
      EXPECT_EQ(m.hits().t, edges.t);
      EXPECT_EQ(m.hits().count, edges.count);
      const MovingPointAndTriangle other{{m.x[0], m.x[1], m.x[2], m.x[3]},
                                         {m.move[0], m.move[1], m.move[2], m.move[3]}};
      EXPECT_EQ(other.hits().t, triangle.t);
      EXPECT_EQ(other.hits().count, triangle.count);
    }
  }
}

}  // namespace
}  // namespace tribo

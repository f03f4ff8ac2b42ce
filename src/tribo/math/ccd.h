#pragma once

#include "tribo/math/closest.h"

/// \file
/// Continuous collision: whether edges, or a point and a triangle, meet while their vertices move on straight lines
/// within a step, by the sign changes of the cubic that tells when the four are in one plane (theory E.12). In double
/// in every precision: products of three lengths that nearly cancel decide. What moves within one plane has no
/// crossings in this sense.

namespace tribo {

/// Times t in (0, 1] at which f(t) = c0 + c1 t + c2 t^2 + c3 t^3 changes its sign, rising.
struct SignChanges {
  double t[3];
  int count;
};
TRIBO_HD double cubic_at(const double* c, double t) { return c[0] + t * (c[1] + t * (c[2] + t * c[3])); }
/// f is monotonic between the roots of f', where bisection cannot fail.
TRIBO_HD SignChanges sign_changes(const double* c) {
  SignChanges found{{0, 0, 0}, 0};
  // Bernstein coefficients of one sign leave no root.
  const double b1 = c[0] + c[1] / 3, b2 = c[0] + (2 * c[1] + c[2]) / 3, b3 = c[0] + c[1] + c[2] + c[3];
  if ((c[0] > 0 && b1 > 0 && b2 > 0 && b3 > 0) || (c[0] < 0 && b1 < 0 && b2 < 0 && b3 < 0)) return found;
  double at[4] = {0, 1, 1, 1};
  int last = 1;
  const double half = c[2], discriminant = c[2] * c[2] - 3 * c[1] * c[3];  // of f' = c1 + 2 c2 t + 3 c3 t^2
  if (discriminant > 0) {
    const double q = -(half + (half >= 0 ? sqrt(discriminant) : -sqrt(discriminant)));  // no cancellation
    const double r0 = c[3] != 0 ? q / (3 * c[3]) : 2, r1 = q != 0 ? c[1] / q : 2;
    const double low = min(r0, r1), high = max(r0, r1);
    if (low > 0 && low < 1) at[last++] = low;
    if (high > 0 && high < 1 && high > low) at[last++] = high;
    at[last] = 1;
  }
  double before = c[0];
  for (int k = 0; k < last; ++k) {
    double low = at[k], high = at[k + 1];
    const double end = cubic_at(c, high);
    if ((before < 0 && end >= 0) || (before > 0 && end <= 0)) {
      while (true) {
        const double middle = low + 0.5 * (high - low);
        if (!(middle > low && middle < high)) break;
        const double f = cubic_at(c, middle);
        if ((before < 0) == (f < 0))
          low = middle;
        else
          high = middle;
      }
      found.t[found.count++] = high;
    }
    if (end != 0) before = end;
  }
  return found;
}

/// When a + t A, b + t B and c + t C are in one plane.
TRIBO_HD SignChanges coplanar_times(const Vec<double, 3>& a, const Vec<double, 3>& A, const Vec<double, 3>& b,
                                    const Vec<double, 3>& B, const Vec<double, 3>& c, const Vec<double, 3>& C) {
  const Vec<double, 3> ab = cross(a, b), Ab_aB = cross(A, b) + cross(a, B), AB = cross(A, B);
  const double f[4] = {dot(ab, c), dot(Ab_aB, c) + dot(ab, C), dot(AB, c) + dot(Ab_aB, C), dot(AB, C)};
  return sign_changes(f);
}
/// Whether a gap is none, beside the square of a length of what meets there.
TRIBO_HD bool meet_at(const Vec<double, 3>& gap, double length2) { return squared_norm(gap) < 1e-18 * length2; }

/// Segments x0 x1 and x2 x3 whose vertices move by `move`.
struct MovingSegments {
  Vec<double, 3> x[4], move[4];

  struct Hit {
    double t, a, b;
    int count;  ///< in the step; the first of them is the one here
  };
  TRIBO_HD Hit hits() const {
    using V = Vec<double, 3>;
    const V a = x[1] - x[0], b = x[3] - x[2], c = x[2] - x[0];
    const V A = move[1] - move[0], B = move[3] - move[2], C = move[2] - move[0];
    const SignChanges roots = coplanar_times(a, A, b, B, c, C);
    Hit hit{0, 0, 0, 0};
    for (int k = 0; k < roots.count; ++k) {
      const double t = roots.t[k];
      const V d = a + t * A, e = b + t * B, q = c + t * C;
      const ClosestPoints<double> near = closest_points(V::zero(), d, q, e);
      if (!meet_at(near.gap, max(squared_norm(d), squared_norm(e)))) continue;
      if (hit.count++ == 0) {
        hit.t = t;
        hit.a = near.a;
        hit.b = near.b;
      }
    }
    return hit;
  }
};

/// A point x0 and a triangle x1 x2 x3 whose vertices move by `move`.
struct MovingPointAndTriangle {
  Vec<double, 3> x[4], move[4];

  struct Hit {
    double t;
    double weight[3];  ///< of the corners, where the point meets the triangle
    int count;         ///< in the step; the first of them is the one here
  };
  TRIBO_HD Hit hits() const {
    using V = Vec<double, 3>;
    const V a = x[2] - x[1], b = x[3] - x[1], c = x[0] - x[1];
    const V A = move[2] - move[1], B = move[3] - move[1], C = move[0] - move[1];
    const SignChanges roots = coplanar_times(a, A, b, B, c, C);
    Hit hit{0, {0, 0, 0}, 0};
    for (int k = 0; k < roots.count; ++k) {
      const double t = roots.t[k];
      const V d = a + t * A, e = b + t * B;
      const PointOnTriangle<double> near = closest_on_triangle(c + t * C, V::zero(), d, e);
      if (!meet_at(near.gap, max(squared_norm(d), squared_norm(e)))) continue;
      if (hit.count++ == 0) {
        hit.t = t;
        for (int i = 0; i < 3; ++i) hit.weight[i] = near.weight[i];
      }
    }
    return hit;
  }
};

}  // namespace tribo

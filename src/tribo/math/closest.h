#pragma once

#include "tribo/math/lanes.h"
#include "tribo/math/small.h"

/// \file
/// Where points, segments and triangles are closest to each other, in float or in double. What has no length or no area
/// is what it has shrunk to. Squared distances are the least there are but for some rounding of squared lengths, whose
/// products must be numbers: in float lengths are to be more than 1e-7.

namespace tribo {

/// 0 for what is no number.
template <class T>
TRIBO_HD T clamp_to_unit(T t) {
  return t > T(0) ? (t < T(1) ? t : T(1)) : T(0);
}

namespace closest_detail {

/// Squared sine of two directions below which they are parallel: rounding hides where lines are closest.
template <class T>
inline constexpr T parallel = T(sizeof(T) == 4 ? 2e-6 : 1e-12);

}  // namespace closest_detail

template <class T>
struct PointOnSegment {
  T b;            ///< weight of the second end
  Vec<T, 3> gap;  ///< from the segment to the point
};
/// Of a segment q + b e, b in [0, 1].
template <class T>
TRIBO_HD PointOnSegment<T> closest_on_segment(const Vec<T, 3>& p, const Vec<T, 3>& q, const Vec<T, 3>& e) {
  const Vec<T, 3> r = p - q;
  const T ee = squared_norm(e), b = ee > T(0) ? clamp_to_unit(dot(r, e) / ee) : T(0);
  return {b, r - b * e};
}

template <class T>
struct ClosestPoints {
  T a, b;
  Vec<T, 3> gap;  ///< from the second segment to the first
};
/// Of segments p + a d and q + b e, a and b in [0, 1]. The middle of the first where they are parallel; what nearly is
/// may seem farther by a millionth of its length, in float by a thousandth.
template <class T>
TRIBO_HD ClosestPoints<T> closest_points(const Vec<T, 3>& p, const Vec<T, 3>& d, const Vec<T, 3>& q,
                                         const Vec<T, 3>& e) {
  const Vec<T, 3> r = p - q;
  const T dd = dot(d, d), ee = dot(e, e), de = dot(d, e), dr = dot(d, r), er = dot(e, r);
  const T denominator = dd * ee - de * de;
  ClosestPoints<T> c;
  c.a = denominator > closest_detail::parallel<T> * dd * ee ? clamp_to_unit((de * er - dr * ee) / denominator) : T(0.5);
  c.b = (de * c.a + er) / ee;
  if (!(c.b >= T(0))) {  // or a second segment without length
    c.b = T(0);
    c.a = clamp_to_unit(-dr / dd);
  } else if (c.b > T(1)) {
    c.b = T(1);
    c.a = clamp_to_unit((de - dr) / dd);
  }
  c.gap = r + c.a * d - c.b * e;
  return c;
}

template <class T>
struct PointOnTriangle {
  T weight[3];    ///< of the corners; their sum is 1
  Vec<T, 3> gap;  ///< from the triangle to the point
};
/// Of a triangle x0 x1 x2.
template <class T>
TRIBO_HD PointOnTriangle<T> closest_on_triangle(const Vec<T, 3>& p, const Vec<T, 3>& x0, const Vec<T, 3>& x1,
                                                const Vec<T, 3>& x2) {
  const Vec<T, 3> d = x1 - x0, e = x2 - x0, r = p - x0, n = cross(d, e);
  // On its edges. Of two that are as near, either will do.
  const PointOnSegment<T> edges[3] = {closest_on_segment(p, x0, d), closest_on_segment(p, x1, x2 - x1),
                                      closest_on_segment(p, x2, -e)};
  int near = 0;
  for (int k = 1; k < 3; ++k)
    if (squared_norm(edges[k].gap) < squared_norm(edges[near].gap)) near = k;
  PointOnTriangle<T> c{{T(0), T(0), T(0)}, edges[near].gap};
  c.weight[near] = T(1) - edges[near].b;
  c.weight[(near + 1) % 3] = edges[near].b;
  // And within. Where a triangle is so thin that this is wrong by more, an edge is nearer than what comes out here.
  const T nn = squared_norm(n), w1 = dot(cross(r, e), n), w2 = dot(cross(d, r), n);
  if (!(nn > T(0) && w1 >= T(0) && w2 >= T(0) && w1 + w2 <= nn)) return c;
  const T w[3] = {(nn - w1 - w2) / nn, w1 / nn, w2 / nn};
  const Vec<T, 3> gap = r - w[1] * d - w[2] * e;
  if (squared_norm(gap) <= squared_norm(c.gap)) c = {{w[0], w[1], w[2]}, gap};
  return c;
}

}  // namespace tribo

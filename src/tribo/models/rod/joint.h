#pragma once

#include "tribo/math/angle.h"
#include "tribo/math/small.h"

/// \file
/// Discrete elastic rods (Bergou 2008, 2010; theory E.1 to E.4): what two edges and the vertex between them know of
/// bending and twist. Material frames are kept as their first director m1, with m2 = t x m1: a change of the angle
/// theta of an edge turns its director, so that theta itself need not be kept. Bending has the form by edges of Bergou
/// 2008, in which twist does not soften it.

namespace tribo {

template <class T>
TRIBO_HD Vec<T, 3> select(const mask_t<T>& m, const Vec<T, 3>& a, const Vec<T, 3>& b) {
  return {{select(m, a[0], b[0]), select(m, a[1], b[1]), select(m, a[2], b[2])}};
}

/// An edge's direction and length, and its lever: that of moments is no shorter than `least`, so that forces stay
/// finite where an edge collapses. Its direction is a unit vector even so, or without bending it would be best off with
/// no length at all. Lanes without a strand have the direction zero.
template <class T>
struct RodEdge {
  Vec<T, 3> t;
  T length, inverse;

  TRIBO_HD RodEdge() = default;
  TRIBO_HD explicit RodEdge(const Vec<T, 3>& e, const T& least = T(scalar_of<T>(1e-15))) {
    const T square = squared_norm(e);
    length = sqrt(square);
    const T one(scalar_of<T>(1)), unit = one / max(length, T(scalar_of<T>(1e-15)));
    t = unit * e;
    inverse = unit;
    if (any(length < least)) inverse = one / max(length, least);
  }
};

/// Parallel transport of u from the unit vector t0 to t1 (theory E.3).
template <class T>
TRIBO_HD Vec<T, 3> transport(const Vec<T, 3>& u, const Vec<T, 3>& t0, const Vec<T, 3>& t1) {
  using Real = scalar_of<T>;
  const T c = dot(t0, t1);
  const Vec<T, 3> b = cross(t0, t1);
  return c * u + cross(b, u) + (dot(b, u) / max(T(Real(1)) + c, T(Real(1e-6)))) * b;
}

/// A vector over the two edges of a joint: a derivative by e0 and by e1.
template <class T>
struct EdgePair {
  Vec<T, 3> e0, e1;
};

template <class T>
struct RodJoint {
  RodEdge<T> a, b;
  T inverse_chi;   ///< 1 / (1 + t0 . t1)
  Vec<T, 3> kb;    ///< curvature binormal, 2 t0 x t1 / chi
  Vec<T, 3> mean;  ///< (t0 + t1) / chi

  TRIBO_HD RodJoint(const RodEdge<T>& first, const RodEdge<T>& second) : a(first), b(second) {
    using Real = scalar_of<T>;
    T chi = T(Real(1)) + dot(a.t, b.t);
    if (any(chi < T(least_chi))) unfold(chi);
    inverse_chi = T(Real(1)) / max(chi, T(least_chi));
    kb = (T(Real(2)) * inverse_chi) * cross(a.t, b.t);
    mean = inverse_chi * (a.t + b.t);
  }

 private:
  /// 162 degrees: for stiffer joints the digits of elimination do not suffice, which is in double whatever Real is.
  static constexpr scalar_of<T> least_chi = scalar_of<T>(0.05);

  /// A joint that is folded farther has the moment and stiffness of that angle, in the plane of its edges: with a
  /// bounded chi alone both would become less until the fold is flat, and what came there stayed. Where there is no
  /// plane, there is no moment.
  TRIBO_HD void unfold(T& chi) {
    using Real = scalar_of<T>;
    const T least(least_chi), cosine = T(Real(1)) - least, sine = sqrt(least * (T(Real(2)) - least));
    const T along = dot(a.t, b.t), size2 = squared_norm(a.t);
    const Vec<T, 3> aside = b.t - (along / max(size2, T(Real(1e-30)))) * a.t;
    const T square = squared_norm(aside), flat(Real(1e-12));
    const Vec<T, 3> turned = (sine * rsqrt(max(square, flat))) * aside - cosine * a.t;
    // Edges without a strand, or that have collapsed, have directions shorter than one.
    const auto folded = (chi < least) & (size2 > T(Real(0.5))) & (squared_norm(b.t) > T(Real(0.5)));
    b.t = select<T>(folded, turned, b.t);
    chi = select(folded, least, chi);
  }

 public:
  /// Derivatives of kb . m by the edges, for a vector m that either edge carries by parallel transport (theory E.4).
  /// Linear in m.
  TRIBO_HD EdgePair<T> slope(const Vec<T, 3>& m) const {
    const T two = T(scalar_of<T>(2)) * inverse_chi;
    const Vec<T, 3> along = dot(kb, m) * mean;
    return {a.inverse * (two * cross(b.t, m) - along), b.inverse * (-(two * cross(a.t, m)) - along)};
  }
  /// Derivatives of the twist by the edges.
  TRIBO_HD EdgePair<T> twist_slope() const {
    const T half(scalar_of<T>(0.5));
    return {(half * a.inverse) * kb, (half * b.inverse) * kb};
  }
  /// Sine and cosine of the angle from the first edge's director, brought over by parallel transport, to the second's.
  TRIBO_HD void turn(const Vec<T, 3>& m0, const Vec<T, 3>& m1, T& s, T& c) const {
    const Vec<T, 3> u = transport(m0, a.t, b.t);
    s = dot(cross(u, m1), b.t);
    c = dot(u, m1);
  }
};

/// Components of kb in the frames of the two edges: kb . m1 and kb . m2 of each. Curvatures are omega = (kb . m2,
/// -kb . m1), of each edge (theory E.2).
template <class T>
struct JointCurvature {
  T p[4];  ///< (kb . m1, kb . m2) of the first edge, then of the second

  TRIBO_HD JointCurvature() = default;
  TRIBO_HD JointCurvature(const RodJoint<T>& joint, const Vec<T, 3>& m0, const Vec<T, 3>& m1)
      : p{dot(joint.kb, m0), dot(joint.kb, cross(joint.a.t, m0)), dot(joint.kb, m1),
          dot(joint.kb, cross(joint.b.t, m1))} {}

  TRIBO_HD T omega1(int edge) const { return p[2 * edge + 1]; }
  TRIBO_HD T omega2(int edge) const { return -p[2 * edge]; }
  /// What a change of an edge's theta does to them.
  TRIBO_HD void turn(int edge, const T& c, const T& s) {
    const T a = p[2 * edge], b = p[2 * edge + 1];
    p[2 * edge] = c * a + s * b;
    p[2 * edge + 1] = c * b - s * a;
  }
};

/// Stiffness and rest shape of a joint, divided by the length of its cell: E_b = 1/4 sum_j B (omega^j - rest^j)^2 / vl,
/// E_t = 1/2 GJ (m - rest)^2 / vl.
template <class T>
struct JointLaw {
  T bend1, bend2;  ///< E I / vl [N m]
  T twist;         ///< GJ / vl [N m]
  T rest[4];       ///< omega1, omega2 of the first edge, then of the second
  T rest_twist;    ///< [rad]

  /// Moments B (omega - rest) / (2 vl) of one edge.
  TRIBO_HD T moment1(const JointCurvature<T>& at, int edge) const {
    return T(scalar_of<T>(0.5)) * bend1 * (at.omega1(edge) - rest[2 * edge]);
  }
  TRIBO_HD T moment2(const JointCurvature<T>& at, int edge) const {
    return T(scalar_of<T>(0.5)) * bend2 * (at.omega2(edge) - rest[2 * edge + 1]);
  }
  TRIBO_HD T bend_energy(const JointCurvature<T>& at) const {
    T sum(scalar_of<T>(0));
    for (int j = 0; j < 2; ++j)
      sum = sum + moment1(at, j) * (at.omega1(j) - rest[2 * j]) + moment2(at, j) * (at.omega2(j) - rest[2 * j + 1]);
    return T(scalar_of<T>(0.5)) * sum;
  }
  TRIBO_HD T twist_energy(const T& m) const {
    return T(scalar_of<T>(0.5)) * twist * (m - rest_twist) * (m - rest_twist);
  }
  /// dE_b / dtheta of an edge, and its derivative (theory E.4, E.5).
  TRIBO_HD void bend_torque(const JointCurvature<T>& at, int edge, T& g, T& stiffness) const {
    const T m1 = moment1(at, edge), m2 = moment2(at, edge);
    const T a = at.p[2 * edge], b = at.p[2 * edge + 1];
    g = -(m1 * a) - m2 * b;
    stiffness = T(scalar_of<T>(0.5)) * (bend1 * a * a + bend2 * b * b) - m1 * b + m2 * a;
  }
  /// The moment that bends the joint, as moments times directors of both edges: dE_b by the edges, at fixed theta, is
  /// that of kb . m for this m.
  TRIBO_HD Vec<T, 3> bend_moment(const RodJoint<T>& joint, const JointCurvature<T>& at, const Vec<T, 3>& m0,
                                 const Vec<T, 3>& m1) const {
    return moment1(at, 0) * cross(joint.a.t, m0) - moment2(at, 0) * m0 + moment1(at, 1) * cross(joint.b.t, m1) -
           moment2(at, 1) * m1;
  }
};

}  // namespace tribo

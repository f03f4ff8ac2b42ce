#pragma once

#include "tribo/models/rod/joint.h"

/// \file
/// The stretch of an edge over a step.

namespace tribo {

/// Of its rest length, for the lever of moments: what is stiffer has more digits than a float.
template <class Real>
inline constexpr Real shortest_edge = Real(sizeof(Real) == 4 ? 0.2 : 0.05);

/// The spring that an edge is at its length. Real hair that is pressed bends, since to compress it is far harder. Made
/// easier by `stretch_scale` it is not where segments are shorter than some thirty radii, 1/sqrt(stretch_scale): these
/// would lose all of their length instead, with joints folded up at both ends, and such a fold holds more energy than
/// all else. So below half of its length an edge is `crushed` times as stiff, which is as stiff as real hair.
template <class T>
struct StretchLaw {
  using Real = scalar_of<T>;
  static constexpr Real shortened = Real(0.5);
  T k, rest;

  TRIBO_HD static double energy(double stiffness, double length_at_rest, double length, double crushed) {
    const double longer = length - length_at_rest, shorter = max(shortened * length_at_rest - length, 0.0);
    return 0.5 * stiffness * (longer * longer + (crushed - 1) * shorter * shorter);
  }
  TRIBO_HD StretchLaw(const T& stiffness, const T& length_at_rest, const T& length, const T& crushed)
      : k(stiffness), rest(length_at_rest) {
    const T edge = T(shortened) * rest;
    const auto is_crushed = length < edge;
    if (!any(is_crushed)) return;
    // What pushes is the same at `edge`, and rises `crushed` times as fast from there.
    rest = select(is_crushed, edge + (rest - edge) / crushed, rest);
    k = select(is_crushed, crushed * k, k);
  }
};

/// Its force has the mean direction of the step, u = (e + e') / (l + l') for an edge that comes from e to e'. On a way
/// p = e' - e an edge lengthens by u . p exactly, so that with the tension k (l' - rest) of the end forces take from
/// motion no less than the edge then has, however far it turned. (By the direction at the start an edge that turns by
/// phi is l phi^2 / 2 longer than the step knew, and has k l^2 phi^4 / 8 from nowhere: at the stiffness of real hair
/// that was up to thirty times the energy of a blow.) u is that of a guess; with none, p = 0, it is the direction at
/// the start. With u given all is linear in p. Tension resists turning off the guess, or taut
/// strands would need short steps; where there is none that damps whatever turns.
template <class T>
struct StretchStep {
  using Real = scalar_of<T>;
  T k;          ///< EA / length
  T longer;     ///< at the start, than at rest
  T across;     ///< stiffness against turning, of tension only: never indefinite
  Vec<T, 3> u;  ///< no longer than one
  Vec<T, 3> guess;

  TRIBO_HD StretchStep(const T& stiffness, const T& rest, const RodEdge<T>& edge)
      : k(stiffness), longer(edge.length - rest), u(edge.t), guess(Vec<T, 3>::filled(T(Real(0)))) {
    across = k * max(longer, T(Real(0))) * edge.inverse;
  }
  TRIBO_HD StretchStep(const T& stiffness, const T& rest, const RodEdge<T>& edge, const Vec<T, 3>& guessed_way)
      : k(stiffness), longer(edge.length - rest), guess(guessed_way) {
    T inverse;
    u = mean(edge, guess, inverse);
    across = k * max(longer, T(Real(0))) * inverse;
  }

  /// By how much an edge is longer at the end of a way than `u` has it.
  TRIBO_HD T missed(const RodEdge<T>& edge, const Vec<T, 3>& way) const {
    T inverse;
    return dot(mean(edge, way, inverse) - u, way);
  }
  /// Energy of the edge at the end of a way, less than what its force took from motion on it: negative as long as `u`
  /// is right. The force is that of the way `solved`. `damping` is that of stiffness, over dt.
  TRIBO_HD T excess(const RodEdge<T>& edge, const T& damping, const Vec<T, 3>& solved, const Vec<T, 3>& way) const {
    const T half(Real(0.5));
    const T y = dot(u, solved), end = dot(u, way), more = missed(edge, way);
    const auto aside = [&](const Vec<T, 3>& a) { return dot(a, way) - dot(u, a) * end; };
    const T spring = more * (longer + end + half * more) + half * ((end - y) * (end - y) - y * y) - damping * y * end;
    return k * spring - across * (damping * aside(solved) + aside(solved - guess));
  }

 private:
  TRIBO_HD static Vec<T, 3> mean(const RodEdge<T>& edge, const Vec<T, 3>& way, T& inverse) {
    const Vec<T, 3> e = edge.length * edge.t;
    inverse = T(Real(2)) / max(edge.length + sqrt(squared_norm(e + way)), T(Real(1e-15)));
    return inverse * (e + T(Real(0.5)) * way);
  }
};

}  // namespace tribo

#pragma once

#include "tribo/models/rod/joint.h"

/// \file
/// The stretch of an edge over a step.

namespace tribo {

/// Of its rest length, for the lever of moments: what is stiffer has more digits than a float.
template <class Real>
inline constexpr Real shortest_edge = Real(sizeof(Real) == 4 ? 0.2 : 0.05);

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
  /// `least` as for edges.
  TRIBO_HD StretchStep(const T& stiffness, const T& rest, const RodEdge<T>& edge, const Vec<T, 3>& guessed_way,
                       const T& least)
      : k(stiffness), longer(edge.length - rest), guess(guessed_way) {
    T inverse;
    u = mean(edge, guess, least, inverse);
    across = k * max(longer, T(Real(0))) * inverse;
  }

  /// By how much an edge is longer at the end of a way than `u` has it.
  TRIBO_HD T missed(const RodEdge<T>& edge, const T& least, const Vec<T, 3>& way) const {
    T inverse;
    return dot(mean(edge, way, least, inverse) - u, way);
  }
  /// Energy of the edge at the end of a way, less than what its force took from motion on it: negative as long as `u`
  /// is right. The force is that of the way `solved`. `damping` is that of stiffness, over dt.
  TRIBO_HD T excess(const RodEdge<T>& edge, const T& least, const T& damping, const Vec<T, 3>& solved,
                    const Vec<T, 3>& way) const {
    const T half(Real(0.5));
    const T y = dot(u, solved), end = dot(u, way), more = missed(edge, least, way);
    const auto aside = [&](const Vec<T, 3>& a) { return dot(a, way) - dot(u, a) * end; };
    const T spring = more * (longer + end + half * more) + half * ((end - y) * (end - y) - y * y) - damping * y * end;
    return k * spring - across * (damping * aside(solved) + aside(solved - guess));
  }

 private:
  TRIBO_HD static Vec<T, 3> mean(const RodEdge<T>& edge, const Vec<T, 3>& way, const T& least, T& inverse) {
    const Vec<T, 3> e = max(edge.length, least) * edge.t;
    inverse = T(Real(2)) / max(edge.length + sqrt(squared_norm(e + way)), least + least);
    return inverse * (e + T(Real(0.5)) * way);
  }
};

}  // namespace tribo

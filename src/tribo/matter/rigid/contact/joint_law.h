#pragma once

#include "tribo/math/lanes.h"

/// \file
/// Which impulse a row of a joint gives at which rate: a graph that falls, of walls and slopes. What is rigid has a
/// wall, of which only the rate is known; what slips, or has reached the most of a motor, a slope of which only the
/// impulse is known; a spring something between. Limits, friction, motor and spring of one coordinate add up to one
/// such graph, so that they cannot be at odds with each other.

namespace tribo::TRIBO_BACKEND {

inline constexpr double unbounded = 1e300;

/// A piece of the graph as it is solved with: rate + soft * impulse = at, or, of what is given, impulse = at.
struct JointPiece {
  bool given;
  double soft;  ///< 0 of a wall
  double at;

  TRIBO_HD bool same_matrix(const JointPiece& other) const { return given == other.given && soft == other.soft; }
  TRIBO_HD bool operator==(const JointPiece& other) const { return same_matrix(other) && at == other.at; }
};

struct RigidJointLaw {
  double low = -unbounded, high = unbounded;  ///< rates that are allowed; equal: held
  double friction = 0;                        ///< impulse at most
  double aim = 0, most = 0;                   ///< of a motor: rate, and impulse at most
  double aim_soft = 0;                        ///< what its rate changes by an impulse; 0: rigid
  double rest = 0, stiff = 0;                 ///< of a spring: impulse = stiff (rest - rate)

  TRIBO_HD double motor_at(double rate, bool after) const {
    if (!(most > 0)) return 0;
    if (aim_soft > 0) return min(max((aim - rate) / aim_soft, -most), most);
    return rate < aim || (rate == aim && !after) ? most : -most;
  }
  /// The impulse just before a rate, or just after it.
  TRIBO_HD double at(double rate, bool after) const {
    const double slips = rate < 0 || (rate == 0 && !after) ? friction : -friction;
    return slips + motor_at(rate, after) + stiff * (rest - rate);
  }

  /// The piece where the graph is met by the line on which (rate, impulse) lies and the rate rises by `gives` for each
  /// unit of impulse.
  TRIBO_HD JointPiece meet(double rate, double impulse, double gives) const {
    const auto line = [&](double u) { return impulse + (u - rate) / gives; };
    if (low == high || at(low, true) <= line(low)) return {false, 0, low};  // pressed against
    if (at(high, false) >= line(high)) return {false, 0, high};
    // walls and bends within
    double from = low, to = high;
    const double corner[4] = {0, aim, aim - most * aim_soft, aim + most * aim_soft};
    const int corners = most > 0 ? (aim_soft > 0 ? 4 : 2) : 1;
    for (int k = 0; k < corners; ++k) {
      const double u = corner[k];
      if (!(u > low && u < high) || (k == 0 && !(friction > 0))) continue;
      const double on_line = line(u);
      if (at(u, true) > on_line)
        from = max(from, u);
      else if (at(u, false) < on_line)
        to = min(to, u);
      else
        return {false, 0, u};
    }
    return between(from, to);
  }

  /// The motor's part of an impulse at a rate.
  TRIBO_HD double motor_part(double rate, double impulse) const {
    if (!(most > 0)) return 0;
    if (aim_soft > 0) return motor_at(rate, true);
    // At its own wall it does what friction leaves to it; beside it, all it can.
    const double before = motor_at(rate, false), after = motor_at(rate, true);
    if (before == after) return before;
    const double rest_of = impulse - stiff * (rest - rate);
    const double slips = rate < 0 ? friction : rate > 0 ? -friction : min(max(rest_of, -friction), friction);
    return min(max(rest_of - slips, -most), most);
  }

 private:
  TRIBO_HD JointPiece between(double from, double to) const {
    const double middle = from <= -unbounded ? (to >= unbounded ? 0 : to - 1)
                          : to >= unbounded  ? from + 1
                                             : 0.5 * (from + to);
    double slope = stiff;
    if (most > 0 && aim_soft > 0 && abs(middle - aim) < most * aim_soft) slope += 1 / aim_soft;
    const double there = at(middle, true);
    if (!(slope > 0)) return {true, 0, there};
    return {false, 1 / slope, middle + there / slope};
  }
};

}  // namespace tribo::TRIBO_BACKEND

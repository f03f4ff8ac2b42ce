#pragma once

#include "tribo/contact/coulomb.h"
#include "tribo/math/lanes.h"
#include "tribo/math/small.h"

/// \file
/// What a sample does when it meets another body (experiments_solids "Contact form C").

namespace tribo {

/// What the fields around a sample say of a partner, as averages with weights w m.
template <class Real>
struct ContactPartner {
  Vec<Real, 3> velocity;  ///< [m/s]
  Vec<Real, 3> normal;    ///< mean of unit normals: shorter than 1 where the surface is not flat
  Vec<Real, 3> away;      ///< from the sample to the partner's center [m]
  Vec<Real, 3> from;      ///< place of the sample [m]
  Sym<Real, 3> planes;    ///< mean of n x^T, off-diagonals twice [m]
  Sym<Real, 3> normals;   ///< mean of n n^T, likewise
  Real share;             ///< Phi: part of an impulse that the masses of both leave to the sample, in (0, 1]
  Real half;              ///< 1/2 when samples of both act, 1 when the partner is kinematic
};

template <class Real>
struct ContactRule {
  Real dx;
  Real dt;
  Real rest_gap;      ///< h0 [m]
  Real push;          ///< beta
  Real push_time;     ///< shortest time in which that part of a missing gap is won back, unless bodies are pressed [s]
  Real friction;      ///< mu
  Real restitution;   ///< e
  Real bounce_speed;  ///< below, e does not act [m/s]
  Real hold;          ///< part of a sample's slip that friction wins back in a step
  bool presses;       ///< what is pressed is pushed as fast as it is pressed

  /// What is too much of the approach speed at this gap: all of it at rest_gap, and beta of what is missing to the gap
  /// where it is smaller. Bodies farther apart may close the gap within the step. What is thrown back as fast as it
  /// comes keeps its energy only if it meets one partner; parts of a crumpled sheet meet several sides of it at once,
  /// and would gain.
  TRIBO_HD Real excess(Real gap, Real approach) const {
    if (gap > rest_gap) return approach - (gap - rest_gap) / dt;
    const Real depth = rest_gap - gap < Real(0.25) * dx ? rest_gap - gap : Real(0.25) * dx;
    const Real slow = push * depth / push_time;
    const Real fast = push * depth / dt;
    const Real pressed = presses && approach > slow ? approach : slow;
    return approach + (fast < pressed ? fast : pressed);
  }
  /// With the part that rebounds.
  TRIBO_HD Real bounced(Real excess_speed, Real approach) const {
    if (!(restitution > Real(0)) || !(approach > bounce_speed)) return excess_speed;
    return excess_speed + restitution * (excess_speed < approach ? excess_speed : approach);
  }
};

/// Direction from a body to its partner. The flatter side decides: its mean normal is longer. 0 where neither has one.
template <class Real>
TRIBO_HD Vec<Real, 3> contact_normal(const Vec<Real, 3>& own, const Vec<Real, 3>& other) {
  Vec<Real, 3> n = Vec<Real, 3>::zero();
  const Real tiny = Real(1e-6);
  const Real a = sqrt(squared_norm(own));
  const Real b = sqrt(squared_norm(other));
  if (a > tiny) {
    const Real r = Real(1) / (Real(1.01) - (a < Real(1) ? a : Real(1)));
    n = (r * r * r * r / a) * own;
  }
  if (b > tiny) {
    const Real r = Real(1) / (Real(1.01) - (b < Real(1) ? b : Real(1)));
    n = n - (r * r * r * r / b) * other;
  }
  const Real length = sqrt(squared_norm(n));
  return length > tiny ? n * (Real(1) / length) : Vec<Real, 3>::zero();
}

template <class Real>
TRIBO_HD Real quadratic_form(const Sym<Real, 3>& twice_off_diagonal, const Vec<Real, 3>& n) {
  Real sum = Real(0);
  for (int j = 0; j < 3; ++j)
    for (int k = j; k < 3; ++k) sum += twice_off_diagonal(j, k) * n[j] * n[k];
  return sum;
}

/// Distance from the sample to the partner along n: to the mean of its faces with weights -n . n_b,
///   plane = n . <n_b x^T> n / (n . <n_b>) - n . x_q,
/// so that faces that n is along say nothing. Exact before a flat face and at its edges, where the center of all faces
/// would lie behind it: blocks would rest on the middle of each other only, and stacks tip over. The back of a thin
/// plate counts with the wrong sign; the parts of faces that look at the sample and away,
///   f, b = (n . <n_b n_b^T> n -+ n . <n_b>) / 2,
/// tell so, and the plate's front follows from its plane and its center, (f - b) plane = f front - b back and
/// (f + b) center = f front + b back. What looks nowhere is at its center.
template <class Real>
TRIBO_HD Real contact_gap(const ContactPartner<Real>& partner, const Vec<Real, 3>& n) {
  const Real center = dot(partner.away, n);
  const Real facing = -dot(partner.normal, n);
  const Real both = quadratic_form(partner.normals, n);
  const Real front = Real(0.5) * (both + facing);
  const Real back = Real(0.5) * (both - facing);
  if (!(front > Real(0.05)) || !(facing > Real(0.02))) return center;
  const Real plane = -quadratic_form(partner.planes, n) / facing - dot(partner.from, n);
  const Real thin = (back > Real(0) ? back : Real(0)) / front;
  const Real of_plate = Real(0.5) * ((Real(1) + thin) * center + (Real(1) - thin) * plane);
  const Real plate = (thin - Real(0.02)) / Real(0.1);
  return plane + (plate < Real(0) ? Real(0) : plate > Real(1) ? Real(1) : plate) * (of_plate - plane);
}

/// Impulse that a sample of mass m and velocity v gives to its partner, per m; 0 when they do not touch.
///   J = half (1 + e) Phi ex,   P = J n + min(mu J, half Phi |w|) w / |w|,   w = v_t + hold s_t / dt
/// Vertices take only a part of what their samples ask for, so that friction on velocities alone leaves a creep of the
/// other part, each step. The slip s of a sample since it sticks sums that up and asks for it: the creep ends where
/// hold s / dt is the load. Beyond Coulomb's cone s shrinks by what is too much, so that nothing is stored in sliding.
template <class Real>
TRIBO_HD Vec<Real, 3> contact_impulse(const ContactRule<Real>& rule, const ContactPartner<Real>& partner,
                                      const Vec<Real, 3>& v, const Vec<Real, 3>& n, Real gap, Vec<Real, 3>& s) {
  const Vec<Real, 3> relative = v - partner.velocity;
  const Real approach = dot(relative, n);
  const Real ex = rule.excess(gap, approach);
  if (!(ex > Real(0))) return Vec<Real, 3>::zero();
  const Real J = partner.half * partner.share * rule.bounced(ex, approach);
  s = s - dot(s, n) * n;
  const Vec<Real, 3> wanted = (relative - approach * n) + (rule.hold / rule.dt) * s;
  const Real speed = sqrt(squared_norm(wanted));
  Vec<Real, 3> P = J * n;
  if (speed > Real(0)) {
    const Real all = partner.half * partner.share * speed;
    const Real rub = friction_impulse(rule.friction, J, all);
    P += (rub / speed) * wanted;
    if (all > rub) {
      const Real held = partner.half * partner.share * (rule.hold / rule.dt) * sqrt(squared_norm(s));
      const Real left = held - (all - rub);
      s = (left > Real(0) ? left / held : Real(0)) * s;
    }
  }
  return P;
}

}  // namespace tribo

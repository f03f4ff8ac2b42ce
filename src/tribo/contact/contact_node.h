#pragma once

#include "tribo/contact/colliders.h"

namespace tribo::TRIBO_BACKEND {

/// A grid node that touches colliders, during an implicit step. Surfaces that hold it fix its velocity along their
/// normals, and where it sticks along them, too; where it slips, Coulomb friction resists with all it has. Which
/// surfaces hold, and where the node sticks, is found together with the velocities (an active set, after each iterate).
template <class Real, int D>
struct ContactNode {
  Index node;
  std::int32_t count;  ///< surfaces, in different directions: at most D matter
  bool fixed;          ///< by a sticky surface, to velocity[0]
  bool sticks;         ///< by friction, to velocity[rubs_on]
  bool may_leave[D];
  bool held[D];
  std::int32_t rubs_on;      ///< the surface with the most friction, of those that hold it
  Vec<Real, D> normal[D];    ///< to the allowed side
  Vec<Real, D> velocity[D];  ///< of the collider [m/s]
  Index collider[D];         ///< its number
  Real friction[D];
  Real limit;          ///< friction when slipping, sum mu N with the normal impulses N of the last iterate [N s]
  Vec<Real, D> ahead;  ///< direction of slip

  TRIBO_HD void clear(Index at) {
    node = at;
    count = 0;
    fixed = false;
    sticks = false;
    rubs_on = 0;
    limit = Real(0);
    ahead = Vec<Real, D>::zero();
  }
  TRIBO_HD void add(const Contact<Real, D>& contact) {
    if (fixed) return;
    fixed = contact.boundary == Boundary::sticky;
    if (fixed) count = 0;
    if (count == D) return;
    for (int k = 0; k < count; ++k)
      if (dot(normal[k], contact.normal) > Real(0.999)) return;  // the same wall twice
    normal[count] = contact.normal;
    velocity[count] = contact.velocity;
    collider[count] = contact.collider;
    may_leave[count] = contact.boundary == Boundary::separate;
    friction[count] = may_leave[count] ? contact.friction : Real(0);
    held[count] = !may_leave[count];
    ++count;
  }

  /// The first guess, from the velocity v* that the node would have without colliders: surfaces hold what would enter
  /// them, and friction knows what inertia alone presses.
  TRIBO_HD void begin(const Vec<Real, D>& v, Real mass) {
    if (fixed) return;
    Real N[D];
    for (int k = 0; k < count; ++k) {
      const Real entering = -leaving(k, v);
      held[k] = !may_leave[k] || entering > Real(0);
      N[k] = held[k] && entering > Real(0) ? mass * entering : Real(0);
    }
    set_limit(N);
    if (!(limit > Real(0))) return;
    const Vec<Real, D> w = slip(v);
    const Real speed = sqrt(squared_norm(w));
    sticks = mass * speed <= limit;
    if (!sticks) ahead = w * (Real(1) / speed);
  }

  /// The part of w that the node is free to follow.
  TRIBO_HD Vec<Real, D> free_part(const Vec<Real, D>& w) const {
    return fixed || sticks ? Vec<Real, D>::zero() : across_normals(w);
  }
  /// v with what is given of it.
  TRIBO_HD Vec<Real, D> constrained(Vec<Real, D> v) const {
    if (fixed) return velocity[0];
    if (sticks) v = velocity[rubs_on];
    const Basis b = basis();
    for (int j = 0; j < b.size; ++j) v = v + (b.value[j] - dot(b.axis[j], v)) * b.axis[j];
    return v;
  }

  TRIBO_HD bool slips() const { return !fixed && !sticks && limit > Real(0); }
  TRIBO_HD bool rubs() const {
    bool r = false;
    for (int k = 0; k < count; ++k) r = r || (held[k] && friction[k] > Real(0));
    return r && !fixed;
  }
  /// What friction resists slipping with: minus its impulse. Below the speed `slow`, and backward, its direction is
  /// that of the last iterate.
  TRIBO_HD Vec<Real, D> drag(const Vec<Real, D>& v, Real slow) const {
    const Vec<Real, D> w = slip(v);
    const Real speed = sqrt(squared_norm(w));
    return speed > slow && dot(w, ahead) > Real(0) ? (limit / speed) * w : limit * ahead;
  }
  /// Its derivative along w: only the direction changes. Symmetric and positive semidefinite.
  TRIBO_HD Vec<Real, D> drag_change(const Vec<Real, D>& v, const Vec<Real, D>& w, Real slow) const {
    const Vec<Real, D> s = slip(v);
    const Real speed = sqrt(squared_norm(s));
    if (!(speed > slow && dot(s, ahead) > Real(0))) return Vec<Real, D>::zero();
    const Vec<Real, D> unit = s * (Real(1) / speed);
    const Vec<Real, D> change = across_normals(w);
    return (limit / speed) * (change - dot(unit, change) * unit);
  }

  /// What an iterate asks of the contact.
  struct Change {
    bool moved = false;    ///< velocities must be `constrained` anew
    bool changed = false;  ///< a surface let go or took hold, or sticking began or ended
  };
  /// After an iterate: `impulse` is what all surfaces together give the node at the velocity v. A surface that would
  /// have to pull lets go, one that is entered takes hold; what is held back by more than friction has slips, what has
  /// turned back sticks. Speeds far below `slow` decide nothing. In later iterates, when `settled`, nothing lets go any
  /// more.
  TRIBO_HD Change update(const Vec<Real, D>& impulse, const Vec<Real, D>& v, Real mass, Real slow, bool settled) {
    Change r;
    const Real slight = Real(0.1) * slow;
    if (fixed) return r;
    Real N[D];
    balance(impulse + (slips() ? drag(v, slow) : Vec<Real, D>::zero()), N);
    set_limit(N);
    if (sticks) {
      const Vec<Real, D> held_back = across_normals(impulse);
      const Real size = sqrt(squared_norm(held_back));
      if (!settled && size > limit + mass * slight) {
        sticks = false;
        ahead = held_back * (Real(-1) / size);
        r.changed = true;
      }
    } else if (limit > Real(0)) {
      const Vec<Real, D> w = slip(v);
      const Real speed = sqrt(squared_norm(w));
      const bool onward = dot(w, ahead) > Real(0) || !(squared_norm(ahead) > Real(0));
      if (onward && speed > Real(0)) {
        ahead = w * (Real(1) / speed);
      } else {
        sticks = r.moved = r.changed = true;
      }
    }
    for (int k = 0; k < count; ++k) {
      if (!may_leave[k]) continue;
      if (held[k] && N[k] < -mass * slight && !settled) {
        held[k] = false;
        r.changed = true;
      } else if (!held[k] && leaving(k, v) < -slight) {
        held[k] = r.changed = r.moved = true;
      }
    }
    if (sticks && !rubs()) sticks = false;
    return r;
  }

  /// visit(collider, impulse) of each surface's part of `impulse`, which all together give the node: what friction gives
  /// is the one's that rubs most.
  template <class Visit>
  TRIBO_HD void each_part(const Vec<Real, D>& impulse, const Visit& visit) const {
    if (count == 0) return;
    Vec<Real, D> left = impulse;
    if (!fixed && count > 1) {
      Real N[D];
      balance(impulse, N);
      for (int k = 0; k < count; ++k) {
        if (!held[k]) continue;
        left = left - N[k] * normal[k];
        visit(collider[k], N[k] * normal[k]);
      }
    }
    visit(collider[fixed ? 0 : rubs_on], left);
  }

 private:
  /// Orthonormal directions out of the normals of the surfaces that hold the node, n_k = sum_j along[k][j] axis_j, and
  /// the velocities that are given along them.
  struct Basis {
    int size = 0;
    int of[D];  ///< the surface that added each
    Vec<Real, D> axis[D];
    Real value[D];
    Real along[D][D];
  };
  TRIBO_HD Basis basis() const {
    Basis r;
    for (int k = 0; k < count; ++k) {
      if (!held[k]) continue;
      Vec<Real, D> rest = normal[k];
      Real given = dot(normal[k], velocity[k]);
      for (int j = 0; j < r.size; ++j) {
        r.along[r.size][j] = dot(r.axis[j], normal[k]);
        rest = rest - r.along[r.size][j] * r.axis[j];
        given -= r.along[r.size][j] * r.value[j];
      }
      const Real length = sqrt(squared_norm(rest));
      if (length < Real(0.03)) continue;  // others hold it in this direction already
      r.along[r.size][r.size] = length;
      r.axis[r.size] = rest * (Real(1) / length);
      r.value[r.size] = given / length;
      r.of[r.size] = k;
      ++r.size;
    }
    return r;
  }
  TRIBO_HD Vec<Real, D> across_normals(Vec<Real, D> w) const {
    const Basis b = basis();
    for (int j = 0; j < b.size; ++j) w = w - dot(b.axis[j], w) * b.axis[j];
    return w;
  }
  TRIBO_HD Vec<Real, D> slip(const Vec<Real, D>& v) const { return across_normals(v - velocity[rubs_on]); }
  /// Speed away from surface k.
  TRIBO_HD Real leaving(int k, const Vec<Real, D>& v) const { return dot(v - velocity[k], normal[k]); }

  /// Normal impulses N that together give `push` along the normals; surfaces that do not hold the node give none.
  TRIBO_HD void balance(const Vec<Real, D>& push, Real* N) const {
    for (int k = 0; k < count; ++k) N[k] = Real(0);
    const Basis b = basis();
    for (int j = b.size - 1; j >= 0; --j) {
      Real sum = dot(b.axis[j], push);
      for (int i = j + 1; i < b.size; ++i) sum -= b.along[i][j] * N[b.of[i]];
      N[b.of[j]] = sum / b.along[j][j];
    }
  }
  TRIBO_HD void set_limit(const Real* N) {
    limit = Real(0);
    Real most = Real(0);
    for (int k = 0; k < count; ++k) {
      const Real part = held[k] ? friction_limit(friction[k], N[k]) : Real(0);
      limit += part;
      if (part > most) {
        most = part;
        rubs_on = k;
      }
    }
  }
};

}  // namespace tribo::TRIBO_BACKEND

#pragma once

#include "tribo/contact/coulomb.h"
#include "tribo/exec/packs.h"
#include "tribo/matter/rigid/contact/rows.h"

/// \file
/// Rows as sweeps read them. A row is a chain of some hundred dependent operations, so that one after the other they
/// wait for each other rather than for the memory; and a RigidRow has twice of what sweeps need. Ties of a color share
/// no body that moves: so many of them lie side by side as registers have numbers, or as threads of a GPU read at once,
/// and are done together. Each lane has the bits that it would have alone.

namespace tribo::TRIBO_BACKEND {

/// Rows of a pair, done one after the other.
struct RigidTie {
  Index a, b;  ///< bodies; -1: none
  Index first, count;
};

/// Ties of a color, side by side.
struct TiePack {
  Index first;  ///< place of their first rows
  Index rows;   ///< of the one that has most
};

/// Ties of a pack, and how many of them are done together.
inline constexpr Index tie_lanes = Team::size == 1 ? pack_width<double> : 32;
inline constexpr Index lanes_at_once = pack_width<double>;
/// What kernels do of a pack: all of it, or a lane.
inline constexpr Index units_each = tie_lanes / lanes_at_once;

/// Numbers of a row, in each lane.
enum PackedRow : int {
  packed_n = 0,
  packed_ra = 3,
  packed_rb = 6,      ///< without b, the velocity of the collider
  packed_yields = 9,  ///< change of the velocity by an impulse along n [1/kg]
  packed_allowed = 12,
  packed_normal_mass,  ///< impulses over changes of velocity: along n, and the least across [kg]
  packed_slip_mass,
  packed_friction,
  packed_push,
  packed_normal,
  packed_tangential,
  packed_shift = packed_tangential + 3,
  packed_before,                   ///< impulses where the last sweep began: along n, and across
  packed_way = packed_before + 4,  ///< and where sweeps lead to: see solve.cpp
  packed_row = packed_way + 4
};
/// And of both bodies of a tie: how much they yield.
inline constexpr int packed_body = 7, packed_tie = 2 * packed_body;

struct RowPacks {
  Array<TiePack> pack;
  Array<RigidTie> tie;  ///< tie_lanes of each pack; empty ones have no bodies
  Array<double> held, row;

  std::size_t bytes() const { return pack.bytes() + tie.bytes() + held.bytes() + row.bytes(); }
};

struct RowPackView {
  const TiePack* pack;
  const RigidTie* tie;
  double *held, *row;

  TRIBO_HD double* held_at(Index pack_number, Index lane) const {
    return held + Size{pack_number} * (packed_tie * tie_lanes) + lane;
  }
  TRIBO_HD double* row_at(Index place, Index lane) const { return row + Size{place} * (packed_row * tie_lanes) + lane; }
};
inline RowPackView view(RowPacks& packs) {
  return {packs.pack.data(), packs.tie.data(), packs.held.data(), packs.row.data()};
}

/// Numbers of some lanes.
using RowNumber = ParticlePack<double>;
using RowVector = Vec<RowNumber, 3>;

TRIBO_HD RowNumber packed(const double* at, int k) { return load_pack<double>(at + k * tie_lanes, lanes_at_once); }
TRIBO_HD RowVector packed_vector(const double* at, int k) {
  return {{packed(at, k), packed(at, k + 1), packed(at, k + 2)}};
}
TRIBO_HD void put_packed(double* at, int k, const RowNumber& value) {
  store_pack<double>(at + k * tie_lanes, value, lanes_at_once);
}
TRIBO_HD void put_packed(double* at, int k, const RowVector& value) {
  for (int j = 0; j < 3; ++j) put_packed(at, k + j, value[j]);
}

TRIBO_HD RowNumber fused_dot(const RowVector& a, const RowVector& b) {
  return fma(a[0], b[0], fma(a[1], b[1], a[2] * b[2]));
}
/// v + s a.
TRIBO_HD RowVector plus(const RowVector& v, const RowNumber& s, const RowVector& a) {
  return {{fma(s, a[0], v[0]), fma(s, a[1], v[1]), fma(s, a[2], v[2])}};
}
/// v + a x b.
TRIBO_HD RowVector plus_cross(const RowVector& v, const RowVector& a, const RowVector& b) {
  RowVector r;
  for (int k = 0; k < 3; ++k) {
    const int i = (k + 1) % 3, j = (k + 2) % 3;
    r[k] = fma(a[i], b[j], fma(-a[j], b[i], v[k]));
  }
  return r;
}

/// One body of each lane.
struct PackedBody {
  RowVector v, w;
  RowNumber inverse_mass;
  Sym<RowNumber, 3> inverse_inertia;

  TRIBO_HD RowVector velocity(const RowVector& arm) const { return plus_cross(v, w, arm); }
  TRIBO_HD void push(const RowVector& arm, const RowVector& impulse) {
    v = plus(v, inverse_mass, impulse);
    const RowVector turn = cross(arm, impulse);
    for (int k = 0; k < 3; ++k)
      w[k] = fma(inverse_inertia(k, 0), turn[0],
                 fma(inverse_inertia(k, 1), turn[1], fma(inverse_inertia(k, 2), turn[2], w[k])));
  }
};

/// Where velocities of bodies are: theirs, or those that move places alone.
struct SweptVelocities {
  PlacedBody* body;
  Shift* shift;  ///< null: theirs

  TRIBO_HD void get(Index i, double* to) const {
    for (int k = 0; k < 3; ++k) {
      to[k * lanes_at_once] = shift != nullptr ? shift[i].v[k] : body[i].v[k];
      to[(k + 3) * lanes_at_once] = shift != nullptr ? shift[i].w[k] : body[i].w[k];
    }
  }
  TRIBO_HD void put(Index i, const double* from) const {
    for (int k = 0; k < 3; ++k) {
      (shift != nullptr ? shift[i].v[k] : body[i].v[k]) = from[k * lanes_at_once];
      (shift != nullptr ? shift[i].w[k] : body[i].w[k]) = from[(k + 3) * lanes_at_once];
    }
  }
};

}  // namespace tribo::TRIBO_BACKEND

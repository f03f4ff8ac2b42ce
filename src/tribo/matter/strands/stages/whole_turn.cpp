#include "tribo/matter/strands/stages/whole_turn.h"

#include <cstring>

#include "tribo/exec/joins.h"
#include "tribo/math/spin.h"
#include "tribo/matter/strands/stages/strands.h"
#include "tribo/matter/strands/stages/stretch.h"

namespace tribo::TRIBO_BACKEND {
namespace {

using Vec3 = Vec<double, 3>;
/// Vertices that follow each other on a strand.
using Row = ParticlePack<double>;

template <int N>
struct Totals {
  double s[N];
  TRIBO_HD void add(const Totals& more) {
    for (int k = 0; k < N; ++k) s[k] += more.s[k];
  }
  TRIBO_HD Vec3 vector(int first) const { return {{s[first], s[first + 1], s[first + 2]}}; }
  TRIBO_HD Mat<double, 3> matrix(int first) const {
    Mat<double, 3> m;
    for (int k = 0; k < 9; ++k) m(k / 3, k % 3) = s[first + k];
    return m;
  }
};
/// The sum of term(T(), i), numbers of vertex i and those after it as many as T has.
template <int N, class Term>
TRIBO_HD Totals<N> total(Index first, Index end, const Term& term) {
  constexpr int W = pack_width<double>;
  Totals<N> sum{};
  Index i = first;
  Vec<Row, N> rows = Vec<Row, N>::filled(Row(0.0));
  for (; i + W <= end; i += W) rows += term(Row(0.0), i);
  if constexpr (W > 1) {
    Vec<double, N> single = Vec<double, N>::zero();
    for (; i < end; ++i) single += term(0.0, i);
    for (int k = 0; k < N; ++k) sum.s[k] = single[k];
  }
  for (int k = 0; k < N; ++k)
    for (int l = 0; l < W; ++l) sum.s[k] += lane(rows[k], l);
  return sum;
}
#if !defined(TRIBO_BACKEND_CUDA)
template <int W>
Lanes<double, W> load_wide(const double* from) {
  return Lanes<double, W>::load(from);
}
template <int W>
Lanes<double, W> load_wide(const float* from) {
  using T = Lanes<double, W>;
  if constexpr (T::registers == 1) {
    typedef float Narrow __attribute__((vector_size(W * sizeof(float))));
    Narrow narrow;
    std::memcpy(&narrow, from, sizeof(narrow));
    T r;
    r.v[0] = __builtin_convertvector(narrow, typename T::Register);
    return r;
  } else {
    double wide[W];
    for (int l = 0; l < W; ++l) wide[l] = static_cast<double>(from[l]);
    return T::load(wide);
  }
}
#endif
template <class T, class Real>
TRIBO_HD T consecutive(const Real* column, Index i) {
  if constexpr (lane_count<T> == 1)
    return static_cast<double>(column[i]);
  else
    return load_wide<lane_count<T>>(column + i);
}
template <class T, class Real>
TRIBO_HD Vec<T, 3> consecutive(const FieldView<Real, 3>& field, Index i) {
  return {{consecutive<T>(field[0], i), consecutive<T>(field[1], i), consecutive<T>(field[2], i)}};
}
template <class T>
TRIBO_HD Vec<T, 3> same(const Vec3& v) {
  return {{T(v[0]), T(v[1]), T(v[2])}};
}

/// The piece of a strand that a thread of a team has.
struct Piece {
  Index first, end;
  TRIBO_HD Piece(const Team& team, Index begin, Index strand_end) {
    const Index count = strand_end - begin, each = (count + Team::size - 1) / Team::size;
    first = begin + min(team.rank() * each, count);
    end = min(first + each, strand_end);
  }
};

template <class Real>
struct FindSpin {
  using Sums = Totals<19>;  ///< m, m x, m v, x x m v, m x x^T: all from the first vertex
  struct Scratch {
    Sums parts[Team::size];
  };
  const Index *loose, *start;
  const Real* mass;
  FieldView<const Real, 3> x, v;
  FieldView<Real, 3> spin;

  TRIBO_HD void operator()(const Team& team, Index k, Scratch& scratch) const {
    const Index s = loose[k], begin = start[s];
    const Piece piece(team, begin, start[s + 1]);
    const Vec3 origin = consecutive<double>(x, begin), motion = consecutive<double>(v, begin);
    const Sums own = total<19>(piece.first, piece.end, [&](auto zero, Index i) {
      using T = decltype(zero);
      const T m = consecutive<T>(mass, i);
      const Vec<T, 3> away = consecutive<T>(x, i) - same<T>(origin), p = m * (consecutive<T>(v, i) - same<T>(motion)),
                      torque = cross(away, p);
      Vec<T, 19> term;
      term[0] = m;
      for (int c = 0; c < 3; ++c) {
        term[1 + c] = m * away[c];
        term[4 + c] = p[c];
        term[7 + c] = torque[c];
        for (int d = 0; d < 3; ++d) term[10 + 3 * c + d] = m * away[c] * away[d];
      }
      return term;
    });
    const Sums sum = sum_of_team(team, own, scratch.parts);
    if (team.rank() > 0) return;
    const double m = sum.s[0];
    const Vec3 center = (1 / m) * sum.vector(1);
    Mat<double, 3> second = sum.matrix(10);
    for (int c = 0; c < 3; ++c)
      for (int d = 0; d < 3; ++d) second(c, d) -= m * center[c] * center[d];
    const Vec3 found = spin_of(second, sum.vector(7) - cross(center, sum.vector(4)));
    for (int c = 0; c < 3; ++c) spin[c][s] = static_cast<Real>(found[c]);
  }
};

template <class Real>
struct KeepSpin {
  /// What rounding left of a piece, and the velocity of its last vertex, which may take it.
  struct Rest {
    Vec3 left;
    Vec<Real, 3> v;
  };
  using Whole = Totals<7>;    ///< m, m x from the first vertex, m v as it is now
  using Torque = Totals<12>;  ///< m y x^T, torque
  using Gain = Totals<2>;     ///< of energy, without and with the turn
  union Scratch {
    Whole whole[Team::size];
    Torque torque[Team::size];
    Gain gain[Team::size];
    Rest rest[Team::size];
  };
  const Index *loose, *start, *strand_body, *slot;
  const RodWeights<Real>* weights;  ///< of bodies
  const Real *mass, *length, *rows;
  FieldView<const Real, 3> x, tail, v_start, guess;
  const StretchGuess* guesses;
  double dt;
  FieldView<Real, 3> v, turned;

  /// Each thread of a team has a piece of the strand.
  TRIBO_HD void operator()(const Team& team, Index k, Scratch& scratch) const {
    const Index s = loose[k], begin = start[s];
    const auto [first, end] = Piece(team, begin, start[s + 1]);
    const RodWeights<Real> w = weights[strand_body[s]];
    const Vec3 origin = place<double>(begin);
    const Whole whole = sum_of_team(team, whole_of(origin, first, end), scratch.whole);
    const double inverse = 1 / whole.s[0];
    Turn turn{origin + inverse * whole.vector(1), inverse * whole.vector(4), Vec3::zero()};
    const Torque torque = sum_of_team(team, torque_of(turn, static_cast<double>(w.drag), first, end), scratch.torque);
    turn.spin = -spin_of(torque.matrix(0), torque.vector(9));
    const double damping = static_cast<double>(w.stretch) / (dt * dt) - 1;
    const Gain gain =
        sum_of_team(team, gain_of(s, turn, damping, static_cast<double>(w.crushed), first, end), scratch.gain);
    // Convex in how much it is turned.
    const double without = gain.s[0], with = gain.s[1];
    const double part = !(with > 0) ? 1 : without < 0 ? without / (without - with) : 0;
    // In short steps it is less than the last bit of a float, of which rounding would make all or nothing, the same in
    // each step. So the next vertex takes what rounding leaves, and of a piece the next piece.
    Vec3 left = Vec3::zero();
    for (Index i = first; i < end; ++i) {
      left += part * cross(turn.spin, turned_place<double>(turn, i));
      for (int c = 0; c < 3; ++c) turned[c][i] = take(v[c][i], left[c]);
    }
    if constexpr (Team::size > 1) pass_on(team, first < end ? end - 1 : no_index, left, scratch.rest);
  }

 private:
  struct Turn {
    Vec3 center, motion;  ///< at the start; velocity
    Vec3 spin;
  };
  template <class T>
  TRIBO_HD Vec<T, 3> place(Index i) const {
    return consecutive<T>(x, i) + consecutive<T>(tail, i);
  }
  /// At the end, from the center.
  template <class T>
  TRIBO_HD Vec<T, 3> turned_place(const Turn& turn, Index i) const {
    return (place<T>(i) - same<T>(turn.center)) + T(dt) * (consecutive<T>(v, i) - same<T>(turn.motion));
  }
  template <class T>
  TRIBO_HD T stiffness(Index i) const {
    double value[lane_count<T>];
    for (int l = 0; l < lane_count<T>; ++l)
      value[l] = static_cast<double>(
          rows[slot_place<Real>(slot[i + l], static_cast<int>(RodRow::count), static_cast<int>(RodRow::stretch))]);
    return consecutive<T>(value, 0);
  }

  TRIBO_HD Whole whole_of(const Vec3& origin, Index first, Index end) const {
    return total<7>(first, end, [&](auto zero, Index i) {
      using T = decltype(zero);
      const T m = consecutive<T>(mass, i);
      const Vec<T, 3> away = m * (place<T>(i) - same<T>(origin)), p = m * consecutive<T>(v, i);
      return Vec<T, 7>{{m, away[0], away[1], away[2], p[0], p[1], p[2]}};
    });
  }
  TRIBO_HD Torque torque_of(const Turn& turn, double drag, Index first, Index end) const {
    return total<12>(first, end, [&](auto zero, Index i) {
      using T = decltype(zero);
      const T m = consecutive<T>(mass, i);
      const Vec<T, 3> away = place<T>(i) - same<T>(turn.center), to = m * turned_place<T>(turn, i),
                      gained = consecutive<T>(v, i) - T(1 / (1 + drag)) * consecutive<T>(v_start, i),
                      torque = cross(away, m * gained);
      Vec<T, 12> term;
      for (int c = 0; c < 3; ++c) {
        for (int d = 0; d < 3; ++d) term[3 * c + d] = to[c] * away[d];
        term[9 + c] = torque[c];
      }
      return term;
    });
  }
  /// Energy that the step brings in without and with the turn, as far as stretch and motion go, of the vertices from
  /// `first` on and the edges before them: bending does not see it.
  TRIBO_HD Gain gain_of(Index s, const Turn& turn, double damping, double crushed, Index first, Index end) const {
    Gain sum{};
    if (first == start[s] && first < end) {
      const Vec<double, 2> own = motion_gain<double>(turn, first);
      sum = {{own[0], own[1]}};
      ++first;
    }
    const bool guessed = guesses[s] != StretchGuess::none;
    sum.add(total<2>(first, end, [&](auto zero, Index i) {
      using T = decltype(zero);
      return motion_gain<T>(turn, i) + stretch_gain<T>(turn, damping, crushed, guessed, i);
    }));
    return sum;
  }
  template <class T>
  TRIBO_HD Vec<T, 2> motion_gain(const Turn& turn, Index i) const {
    const T m = consecutive<T>(mass, i), half(0.5);
    const Vec<T, 3> own = consecutive<T>(v, i), more = cross(same<T>(turn.spin), turned_place<T>(turn, i)),
                    dv = own - consecutive<T>(v_start, i);
    return {{-(half * m * squared_norm(dv)), m * (dot(own + more, more) - half * squared_norm(dv + more))}};
  }
  /// Of the edge before a vertex.
  template <class T>
  TRIBO_HD Vec<T, 2> stretch_gain(const Turn& turn, double damping, double crushed, bool guessed, Index i) const {
    const T rest = consecutive<T>(length, i - 1), step(dt);
    const Vec<T, 3> solved = step * (consecutive<T>(v, i) - consecutive<T>(v, i - 1));
    const Vec<T, 3> more = cross(same<T>(turn.spin), turned_place<T>(turn, i) - turned_place<T>(turn, i - 1));
    const Vec<T, 3> way = solved + step * more;
    const RodEdge<T> edge(place<T>(i) - place<T>(i - 1));
    Vec<T, 3> guess_way = Vec<T, 3>::filled(T(0.0));
    if (guessed) guess_way = step * (consecutive<T>(guess, i) - consecutive<T>(guess, i - 1));
    const StretchLaw<T> law(stiffness<T>(i - 1), rest, edge.length, T(crushed));
    const StretchStep<T> stretch(law.k, law.rest, edge, guess_way);
    return {{stretch.excess(edge, T(damping), solved, solved), stretch.excess(edge, T(damping), solved, way)}};
  }

  /// Adds to a velocity, takes that from `left`, and returns it.
  TRIBO_HD static Real take(Real& velocity, double& left) {
    const Real before = velocity;
    velocity = static_cast<Real>(static_cast<double>(before) + left);
    left -= static_cast<double>(velocity - before);
    return velocity - before;
  }
  /// From the last vertex of each piece to that of the next.
  TRIBO_HD void pass_on(const Team& team, Index last, const Vec3& left, Rest* rest) const {
    const Vec<Real, 3> own =
        last != no_index ? Vec<Real, 3>{{v[0][last], v[1][last], v[2][last]}} : Vec<Real, 3>::zero();
    rest[team.rank()] = {left, own};
    team.barrier();
    if (team.rank() < 3) {
      const int c = team.rank();
      double sum = 0;
      for (int r = 0; r < Team::size; ++r) {
        sum += rest[r].left[c];
        if (rest[r].v[c] != Real(0)) take(rest[r].v[c], sum);  // not where there is none
      }
    }
    team.barrier();
    for (int c = 0; c < 3 && last != no_index; ++c) {
      v[c][last] = rest[team.rank()].v[c];
      turned[c][last] += rest[team.rank()].v[c] - own[c];
    }
  }
};

struct NoScratch {};

template <class Real>
struct UndoTurn {
  const Index *loose, *start, *touched;
  FieldView<Real, 3> v, turned;

  TRIBO_HD void operator()(const Team& team, Index k, NoScratch&) const {
    const Index s = loose[k];
    if (touched[s] == 0) return;
    for (Index i = start[s] + team.rank(); i < start[s + 1]; i += Team::size)
      for (int c = 0; c < 3; ++c) {
        v[c][i] -= turned[c][i];
        turned[c][i] = Real(0);
      }
  }
};

template <class Real>
struct ClearVector {
  FieldView<Real, 3> to;
  TRIBO_HD void operator()(Index i) const {
    for (int k = 0; k < 3; ++k) to[k][i] = Real(0);
  }
};

}  // namespace

template <class Real>
void find_spins(Exec& ex, const RodMesh<Real>& mesh, const RodState<Real>& state, RodWorkspace<Real>& work) {
  const RodWorkspace<Real>& kept = work;
  work.spin.resize_discard(mesh.strands);
  parallel_for(ex, "rods", mesh.strands, ClearVector<Real>{view(work.spin)});
  for_each_team<typename FindSpin<Real>::Scratch>(ex, "rods", mesh.loose_count,
                                                  FindSpin<Real>{mesh.loose.data(), mesh.start.data(), mesh.mass.data(),
                                                                 view(state.x), view(kept.v_start), view(work.spin)});
}

template <class Real>
void keep_spins(Exec& ex, const RodMesh<Real>& mesh, double dt, RodState<Real>& state, RodWorkspace<Real>& work) {
  if (mesh.loose_count == 0) return;
  work.turned.resize_discard(mesh.vertices);
  const RodState<Real>& now = state;
  const RodWorkspace<Real>& kept = work;
  for_each_team<typename KeepSpin<Real>::Scratch>(
      ex, "rods", mesh.loose_count,
      KeepSpin<Real>{mesh.loose.data(), mesh.start.data(), mesh.strand_body.data(), mesh.slot.data(),
                     kept.weights.data(), mesh.mass.data(), mesh.length.data(), mesh.row.data(), view(now.x),
                     view(now.x_tail), view(kept.v_start), view(kept.guess), kept.guesses.data(), dt, view(state.v),
                     view(work.turned)});
}

template <class Real>
void undo_turns(Exec& ex, const RodMesh<Real>& mesh, const Array<Index>& touched, RodState<Real>& state,
                RodWorkspace<Real>& work) {
  if (work.scheme == RodScheme::explicit_euler) return;
  for_each_team<NoScratch>(
      ex, "rods", mesh.loose_count,
      UndoTurn<Real>{mesh.loose.data(), mesh.start.data(), touched.data(), view(state.v), view(work.turned)});
}

#define TRIBO_INSTANTIATE(Real)                                                                        \
  template void find_spins(Exec&, const RodMesh<Real>&, const RodState<Real>&, RodWorkspace<Real>&);   \
  template void keep_spins(Exec&, const RodMesh<Real>&, double, RodState<Real>&, RodWorkspace<Real>&); \
  template void undo_turns(Exec&, const RodMesh<Real>&, const Array<Index>&, RodState<Real>&, RodWorkspace<Real>&);
TRIBO_FOR_EACH_ROD_REAL(TRIBO_INSTANTIATE)
#undef TRIBO_INSTANTIATE

}  // namespace tribo::TRIBO_BACKEND

#include "tribo/matter/strands/stages/pressure.h"

#include <algorithm>
#include <cmath>

#include "tribo/linear/cg.h"
#include "tribo/math/small.h"

namespace tribo::TRIBO_BACKEND {
namespace {

constexpr const char* pressure_label = "hair volume";

/// Cells along an axis, without the ring, at which the hierarchy ends.
constexpr Index coarsest = 4;
/// Gauss-Seidel sweeps there, in each order.
constexpr int coarsest_sweeps = 8;
constexpr int most_levels = 16;

/// Faces of unknowns toward where q = 0 pull a coarse cell by this part of what they pull fine ones. Between coarse
/// cells it is a half, by twice the distance; to the air it is less than one and a half times as far.
constexpr double air_share = 0.75;

template <class Real>
struct LevelView {
  CellGrid grid;
  FieldView<const Real, 3> c;
  const Real* diagonal;

  TRIBO_HD bool unknown(Index cell) const { return diagonal[cell] > Real(0); }
  /// Sum over faces of c_f q_neighbor.
  TRIBO_HD Real neighbors(const Real* q, Index cell) const {
    Real sum = Real(0);
    for (int k = 0; k < 3; ++k) {
      const Index s = grid.stride(k);
      sum += c[k][cell] * q[cell - s] + c[k][cell + s] * q[cell + s];
    }
    return sum;
  }
  TRIBO_HD Real times(const Real* q, Index cell) const { return diagonal[cell] * q[cell] - neighbors(q, cell); }
};
template <class Real>
LevelView<Real> view_of(const PressureLevel<Real>& level) {
  return {level.grid, view(level.coefficient), level.diagonal.data()};
}

/// What is read where there is no unknown.
template <class Real>
struct ClearLevel {
  Real *diagonal, *x, *r, *q, *p;
  TRIBO_HD void operator()(Index cell) const { diagonal[cell] = x[cell] = r[cell] = q[cell] = p[cell] = Real(0); }
};

/// Where there is no unknown, nothing is left from when there was one.
template <class Real>
struct ClearOthers {
  const Real* diagonal;
  Real *x, *r, *q, *p;
  TRIBO_HD void operator()(Index cell) const {
    if (!(diagonal[cell] > Real(0))) x[cell] = r[cell] = q[cell] = p[cell] = Real(0);
  }
};

/// The operator of a coarse cell, from the faces of its eight. Coarse faces have half the sum of their four fine ones:
/// twice the distance. With constant interpolation it would be all of the sum, twice too stiff for smooth pressure.
template <class Real>
struct Coarsen {
  LevelView<Real> fine;
  CellGrid grid;
  FieldView<Real, 3> c;
  Real *diagonal, *x, *r;

  TRIBO_HD void operator()(Index cell) const {
    Index at[3];
    grid.place(cell, at);
    Real own[3] = {Real(0), Real(0), Real(0)}, sum = Real(0), ground = Real(0);
    bool any = false;
    if (grid.inside(at))
      for (int child = 0; child < 8; ++child) {
        const int high[3] = {child >> 2, child >> 1 & 1, child & 1};
        Index f[3];
        for (int k = 0; k < 3; ++k) f[k] = 2 * at[k] - 1 + high[k];
        if (!fine.grid.inside(f)) continue;
        const Index one = fine.grid.at(f[0], f[1], f[2]);
        if (!fine.unknown(one)) continue;
        any = true;
        Real inner = Real(0);
        for (int k = 0; k < 3; ++k) {
          const Index s = fine.grid.stride(k);
          const Real before = fine.unknown(one - s) ? fine.c[k][one] : Real(0);
          const Real after = fine.unknown(one + s) ? fine.c[k][one + s] : Real(0);
          inner += before + after;
          sum += Real(0.5) * (high[k] == 0 ? before : after);
          if (high[k] == 0) own[k] += Real(0.5) * before;
        }
        ground += max(fine.diagonal[one] - inner, Real(0));
      }
    for (int k = 0; k < 3; ++k) c[k][cell] = own[k];
    diagonal[cell] = any ? sum + Real(air_share) * ground : Real(0);
    x[cell] = r[cell] = Real(0);
  }
};

template <class Real>
struct FlagUnknown {
  LevelView<Real> level;
  Index parity;
  Index* flag;
  TRIBO_HD void operator()(Index cell) const {
    Index at[3];
    level.grid.place(cell, at);
    flag[cell] = level.unknown(cell) && ((at[0] + at[1] + at[2]) & 1) == parity ? 1 : 0;
  }
};
template <class Real>
struct ListUnknown {
  LevelView<Real> level;
  Index parity, from;
  const Index* to;
  Index* list;
  TRIBO_HD void operator()(Index cell) const {
    if (!level.unknown(cell)) return;
    Index at[3];
    level.grid.place(cell, at);
    if (((at[0] + at[1] + at[2]) & 1) == parity) list[from + to[cell]] = cell;
  }
};

/// Gauss-Seidel of one color, whose cells are no neighbors of each other.
template <class Real>
struct Smooth {
  LevelView<Real> level;
  const Index* list;
  const Real* b;
  Real* x;
  TRIBO_HD void operator()(Index e) const {
    const Index cell = list[e];
    x[cell] = (b[cell] + level.neighbors(x, cell)) / level.diagonal[cell];
  }
};
/// The same of the first color where x is zero.
template <class Real>
struct SmoothFirst {
  const Index* list;
  const Real *diagonal, *b;
  Real* x;
  TRIBO_HD void operator()(Index e) const {
    const Index cell = list[e];
    x[cell] = b[cell] / diagonal[cell];
  }
};
/// After a sweep that ended with the odd cells, these have none.
template <class Real>
struct ResidualAfterSweep {
  LevelView<Real> level;
  const Index* list;
  Index even;
  const Real *b, *x;
  Real* r;
  TRIBO_HD void operator()(Index e) const {
    const Index cell = list[e];
    r[cell] = e < even ? b[cell] - level.times(x, cell) : Real(0);
  }
};

/// Transposed trilinear interpolation: a fine cell gives 3/4 to the coarse one it is in and 1/4 to the next, along each
/// axis.
template <class Real>
struct Restrict {
  const Index* list;
  CellGrid fine, grid;
  const Real* r;
  Real* b;
  TRIBO_HD void operator()(Index e) const {
    const Index cell = list[e];
    Index at[3];
    grid.place(cell, at);
    Real sum = Real(0);
    for (int i = 0; i < 4; ++i) {
      const Index fi = 2 * at[0] - 2 + i;
      if (fi >= fine.size[0]) continue;
      for (int j = 0; j < 4; ++j) {
        const Index fj = 2 * at[1] - 2 + j;
        if (fj >= fine.size[1]) continue;
        const Real* const row = r + fine.at(fi, fj, 2 * at[2] - 2);
        Real in_row = Real(0.25) * row[0] + Real(0.75) * (row[1] + row[2]);
        if (2 * at[2] + 1 < fine.size[2]) in_row += Real(0.25) * row[3];
        sum += (i == 1 || i == 2 ? Real(0.75) : Real(0.25)) * (j == 1 || j == 2 ? Real(0.75) : Real(0.25)) * in_row;
      }
    }
    b[cell] = sum;
  }
};
template <class Real>
struct Prolong {
  const Index* list;
  CellGrid fine, grid;
  const Real* coarse;
  Real* x;
  TRIBO_HD void operator()(Index e) const {
    const Index cell = list[e];
    Index at[3], own[3], step[3];
    fine.place(cell, at);
    for (int k = 0; k < 3; ++k) {
      own[k] = (at[k] + 1) / 2;
      step[k] = ((at[k] & 1) == 1 ? -1 : 1) * grid.stride(k);
    }
    const Real* const c = coarse + grid.at(own[0], own[1], own[2]);
    Real sum = Real(0);
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 2; ++j) {
        const Real* const row = c + i * step[0] + j * step[1];
        sum += (i == 0 ? Real(0.75) : Real(0.25)) * (j == 0 ? Real(0.75) : Real(0.25)) *
               (Real(0.75) * row[0] + Real(0.25) * row[step[2]]);
      }
    x[cell] += sum;
  }
};

template <class Real>
struct StartResidual {
  LevelView<Real> level;
  const Index* list;
  const Real *right, *q;
  Real* b;
  TRIBO_HD void operator()(Index e) const {
    const Index cell = list[e];
    b[cell] = right[cell] - level.times(q, cell);
  }
};
template <class Real>
struct ApplyOperator {
  LevelView<Real> level;
  const Index* list;
  const Real* p;
  Real* Ap;
  TRIBO_HD void operator()(Index e) const { Ap[list[e]] = level.times(p, list[e]); }
};
template <class Real>
struct Magnitude {
  const Index* list;
  const Real* a;
  TRIBO_HD double operator()(Index e) const { return abs(static_cast<double>(a[list[e]])); }
};
template <class Real>
void list_unknowns(Exec& ex, PressureLevel<Real>& level, Array<Index>& flag) {
  const Index n = level.grid.count();
  flag.resize_discard(n);
  level.cell.resize_discard(n);
  level.count = 0;
  for (const Index parity : {0, 1}) {
    parallel_for(ex, pressure_label, n, FlagUnknown<Real>{view_of(level), parity, flag.data()});
    const Index found = exclusive_scan(ex, pressure_label, flag, flag, n);
    parallel_for(ex, pressure_label, n,
                 ListUnknown<Real>{view_of(level), parity, level.count, flag.data(), level.cell.data()});
    level.count += found;
    if (parity == 0) level.even = found;
  }
}

template <class Real>
void resize_level(const CellGrid& grid, PressureLevel<Real>& level) {
  level.grid = grid;
  const Index n = grid.count();
  level.coefficient.resize_discard(n);
  for (Array<Real>* a : {&level.diagonal, &level.x, &level.b, &level.r}) a->resize_discard(n);
}

template <class Real>
class Cycle {
 public:
  Cycle(Exec& ex, PressureSolver<Real>& solver) : ex_(ex), solver_(solver) {}

  /// x = M^-1 b of the finest level. Sweeps before and after go through colors in opposite orders, and restriction is
  /// interpolation transposed, so that M is symmetric.
  void run() {
    const int last = solver_.levels - 1;
    for (int l = 0; l < last; ++l) {
      first_sweep(l);
      PressureLevel<Real>&fine = solver_.level[at(l)], &coarse = solver_.level[at(l + 1)];
      parallel_for(ex_, pressure_label, fine.count,
                   ResidualAfterSweep<Real>{view_of(fine), fine.cell.data(), fine.even, fine.b.data(), fine.x.data(),
                                            fine.r.data()});
      parallel_for(ex_, pressure_label, coarse.count,
                   Restrict<Real>{coarse.cell.data(), fine.grid, coarse.grid, fine.r.data(), coarse.b.data()});
    }
    first_sweep(last);
    for (int s = 1; s < coarsest_sweeps; ++s) {
      sweep(last, true);
      sweep(last, false);
    }
    for (int s = 0; s < coarsest_sweeps; ++s) {
      sweep(last, false);
      sweep(last, true);
    }
    for (int l = last - 1; l >= 0; --l) {
      PressureLevel<Real>&fine = solver_.level[at(l)], &coarse = solver_.level[at(l + 1)];
      parallel_for(ex_, pressure_label, fine.count,
                   Prolong<Real>{fine.cell.data(), fine.grid, coarse.grid, coarse.x.data(), fine.x.data()});
      sweep(l, false);
      sweep(l, true);
    }
  }

 private:
  static std::size_t at(int l) { return static_cast<std::size_t>(l); }
  void first_sweep(int l) {
    PressureLevel<Real>& level = solver_.level[at(l)];
    parallel_for(ex_, pressure_label, level.even,
                 SmoothFirst<Real>{level.cell.data(), level.diagonal.data(), level.b.data(), level.x.data()});
    sweep(l, false);
  }
  void sweep(int l, bool even) {
    PressureLevel<Real>& level = solver_.level[at(l)];
    parallel_for(
        ex_, pressure_label, even ? level.even : level.count - level.even,
        Smooth<Real>{view_of(level), level.cell.data() + (even ? 0 : level.even), level.b.data(), level.x.data()});
  }

  Exec& ex_;
  PressureSolver<Real>& solver_;
};

/// The finest level, with a cycle as the preconditioner.
template <class Real>
class PressureSystem {
 public:
  PressureSystem(Exec& ex, PressureSolver<Real>& solver)
      : ex_(ex), level_(view_of(solver.level[0])), finest_(solver.level[0]), cycle_(ex, solver) {}

  linear::ListSpace<Real> space() const { return {finest_.cell.data(), finest_.count}; }
  void apply(const Real* p, Real* Ap) const {
    parallel_for(ex_, pressure_label, finest_.count, ApplyOperator<Real>{level_, finest_.cell.data(), p, Ap});
  }
  /// The residual is the finest level's own right-hand side.
  linear::StoredInverse<Real> precondition(const Real*) {
    cycle_.run();
    return {finest_.x.data()};
  }

 private:
  Exec& ex_;
  LevelView<Real> level_;
  const PressureLevel<Real>& finest_;
  Cycle<Real> cycle_;
};

template <class Real>
double largest_of(Exec& ex, const PressureLevel<Real>& level, const Array<Real>& a) {
  return reduce(ex, pressure_label, level.count, 0.0, Magnitude<Real>{level.cell.data(), a.data()},
                LargerOrNan<double>{});
}

/// Ends where no cell has more than the tolerance, or one has a NaN.
template <class Real>
struct LargestResidual {
  Exec& ex;
  const PressureLevel<Real>& finest;
  double scale, tolerance, residual;

  bool after_step(const linear::CgReport&) {
    residual = largest_of(ex, finest, finest.b) / scale;
    return !(residual > tolerance);
  }
  bool at_residual(const linear::CgReport&, double) const { return false; }
};

}  // namespace

template <class Real>
void clear_pressure(Exec& ex, const CellGrid& grid, PressureSolver<Real>& solver) {
  CellGrid sizes[most_levels];
  sizes[0] = grid;
  solver.levels = 1;
  const auto finished = [](const CellGrid& g) { return *std::max_element(g.size, g.size + 3) - 2 <= coarsest; };
  for (; solver.levels < most_levels && !finished(sizes[solver.levels - 1]); ++solver.levels)
    for (int k = 0; k < 3; ++k) sizes[solver.levels].size[k] = (sizes[solver.levels - 1].size[k] - 1) / 2 + 2;
  if (solver.level.size() < static_cast<std::size_t>(solver.levels))
    solver.level.resize(static_cast<std::size_t>(solver.levels));
  for (int l = 0; l < solver.levels; ++l) resize_level(sizes[l], solver.level[static_cast<std::size_t>(l)]);
  PressureLevel<Real>& finest = solver.level[0];
  finest.even = finest.count = 0;
  solver.q.resize_discard(grid.count());
  solver.p.resize_discard(grid.count());
  parallel_for(
      ex, pressure_label, grid.count(),
      ClearLevel<Real>{finest.diagonal.data(), finest.x.data(), finest.r.data(), solver.q.data(), solver.p.data()});
}

template <class Real>
void build_pressure(Exec& ex, PressureSolver<Real>& solver) {
  PressureLevel<Real>& finest = solver.level[0];
  parallel_for(
      ex, pressure_label, finest.grid.count(),
      ClearOthers<Real>{finest.diagonal.data(), finest.x.data(), finest.r.data(), solver.q.data(), solver.p.data()});
  list_unknowns(ex, finest, solver.flag);
  for (int l = 1; l < solver.levels; ++l) {
    const PressureLevel<Real>& fine = solver.level[static_cast<std::size_t>(l - 1)];
    PressureLevel<Real>& coarse = solver.level[static_cast<std::size_t>(l)];
    parallel_for(ex, pressure_label, coarse.grid.count(),
                 Coarsen<Real>{view_of(fine), coarse.grid, view(coarse.coefficient), coarse.diagonal.data(),
                               coarse.x.data(), coarse.r.data()});
    list_unknowns(ex, coarse, solver.flag);
  }
}

template <class Real>
PressureReport solve_pressure(Exec& ex, const Array<Real>& b, double scale, double tolerance, int most,
                              PressureSolver<Real>& solver) {
  PressureLevel<Real>& finest = solver.level[0];
  PressureReport report{finest.count};
  if (finest.count == 0 || !(scale > 0)) return report;
  parallel_for(ex, pressure_label, finest.count,
               StartResidual<Real>{view_of(finest), finest.cell.data(), b.data(), solver.q.data(), finest.b.data()});
  PressureSystem<Real> system(ex, solver);
  LargestResidual<Real> stop{ex, finest, scale, tolerance, 0};
  const linear::CgReport done = linear::conjugate_gradients(
      ex, pressure_label, system, {solver.q.data(), finest.b.data(), solver.p.data(), finest.r.data()}, stop, most);
  report.iterations = static_cast<int>(done.iterations);
  report.residual = stop.residual;
  report.converged = report.residual <= tolerance;
  return report;
}

template <class Real>
double largest_right_hand_side(Exec& ex, const Array<Real>& b, const PressureSolver<Real>& solver) {
  return largest_of(ex, solver.level[0], b);
}

#define TRIBO_INSTANTIATE(Real)                                                                                  \
  template void clear_pressure(Exec&, const CellGrid&, PressureSolver<Real>&);                                   \
  template void build_pressure(Exec&, PressureSolver<Real>&);                                                    \
  template PressureReport solve_pressure(Exec&, const Array<Real>&, double, double, int, PressureSolver<Real>&); \
  template double largest_right_hand_side(Exec&, const Array<Real>&, const PressureSolver<Real>&);
TRIBO_INSTANTIATE(float)
TRIBO_INSTANTIATE(double)
#undef TRIBO_INSTANTIATE

}  // namespace tribo::TRIBO_BACKEND

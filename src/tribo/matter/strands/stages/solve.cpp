#include <type_traits>

#include "tribo/matter/strands/stages/chain.h"

namespace tribo::TRIBO_BACKEND {
namespace {

constexpr const char* solves_label = "rod solves";

/// Impulses as given, on velocities as they are.
template <class Real>
struct GivenImpulse {
  FieldView<const Real, 3> impulse, v;
  TRIBO_HD Real right(Index i, int k) const { return impulse[k][i]; }
  TRIBO_HD Real base(Index i, int k) const { return v[k][i]; }
};
/// Those that changed v_lag into v, on v_lag.
template <class Real>
struct ChangeOfVelocity {
  const Real* mass;
  FieldView<const Real, 3> v_lag, v;
  TRIBO_HD Real right(Index i, int k) const { return mass[i] * (v[k][i] - v_lag[k][i]); }
  TRIBO_HD Real base(Index i, int k) const { return v_lag[k][i]; }
};

/// What is to be solved, by rows: a copy for the GPU to fetch ahead.
template <class Real, class Source>
struct EnterRows {
  Source source;
  const Index* slot;
  Real* solution;
  TRIBO_HD void operator()(Index i) const {
    const Real right[3] = {source.right(i, 0), source.right(i, 1), source.right(i, 2)};
    put_slot(solution, slot[i], 3, 3, right);
  }
};
template <class Real, class Source>
struct LeaveRows {
  Source source;
  const Index* touched;
  const Index* vertex_strand;
  SlotSolution<Real> solution;
  FieldView<Real, 3> v;
  TRIBO_HD void operator()(Index i) const {
    if (touched != nullptr && touched[vertex_strand[i]] == 0) return;
    const Vec<Real, 3> dv = solution(i);
    for (int k = 0; k < 3; ++k) v[k][i] = source.base(i, k) + dv[k];
  }
};
/// The same for a pack of strands, where rows are read in place.
template <class Real, class Source>
struct GatherRight {
  Source source;
  TRIBO_HD Vec<ParticlePack<Real>, 3> operator()(const StrandPack<Real>& pack, Index row) const {
    Vec<ParticlePack<Real>, 3> r;
    for (int k = 0; k < 3; ++k) {
      Real value[StrandPack<Real>::W];
      for (int l = 0; l < pack.W; ++l)
        value[l] = source.right(pack.vertex[l] + (row < pack.last[l] ? row : pack.last[l]), k);
      r[k] = load_pack<Real>(value, pack.W);
    }
    return r;
  }
};
template <class Real, class Source>
struct ScatterSum {
  Source source;
  FieldView<Real, 3> v;
  TRIBO_HD void operator()(const StrandPack<Real>& pack, Index row, const Vec<ParticlePack<Real>, 3>& dv) const {
    for (int k = 0; k < 3; ++k)
      for (int l = 0; l < pack.W; ++l)
        if (row < pack.end[l]) v[k][pack.vertex[l] + row] = source.base(pack.vertex[l] + row, k) + lane(dv[k], l);
  }
};

/// What a solve passes on to what clamps roots: of a strand, what it gets less what it keeps; and on the first vertex
/// of the root, by how that yields.
template <class Real>
struct PassOn {
  const Real* mass;
  const RodWeights<Real>* weights;  ///< of bodies
  const RootInertia* inertia;       ///< of strands
  RootPush* passed;                 ///< likewise; null: nobody asks

  /// Of a solve under way.
  struct Sums {
    static constexpr int W = pack_width<Real>;
    double all[3][W], root[2][3][W];
  };
  TRIBO_HD void clear(Sums& sums) const {
    for (int k = 0; k < 3; ++k)
      for (int l = 0; l < Sums::W; ++l) sums.all[k][l] = sums.root[0][k][l] = sums.root[1][k][l] = 0;
  }
  TRIBO_HD void get(const StrandPack<Real>& pack, Index row, const Vec<ParticlePack<Real>, 3>& impulse,
                    Sums& sums) const {
    for (int l = 0; l < pack.W; ++l)
      for (int k = 0; k < 3 && row < pack.end[l]; ++k) sums.all[k][l] += static_cast<double>(lane(impulse[k], l));
  }
  TRIBO_HD void keep(const StrandPack<Real>& pack, Index row, const Vec<ParticlePack<Real>, 3>& dv, Sums& sums) const {
    const auto dragged = 1 + static_cast<double>(weights[pack.group.body].drag);
    for (int l = 0; l < pack.W; ++l)
      for (int k = 0; k < 3 && row < pack.end[l]; ++k) {
        const auto change = static_cast<double>(lane(dv[k], l));
        sums.all[k][l] -= dragged * static_cast<double>(mass[pack.vertex[l] + row]) * change;
        if (row < 2) sums.root[row][k][l] = change;
      }
  }
  TRIBO_HD void put(const StrandPack<Real>& pack, const Sums& sums) const {
    for (int l = 0; l < pack.W; ++l) {
      if (pack.end[l] == 0) continue;
      const Index s = pack.group.first_strand + pack.lane + l;
      Vec<double, 3> dv[2];
      for (int k = 0; k < 3; ++k) {
        passed[s].all[k] += sums.all[k][l];
        for (int r = 0; r < 2; ++r) dv[r][k] = sums.root[r][k][l];
      }
      passed[s].first += inertia[s].own * dv[0] + inertia[s].between * dv[1];
    }
  }
};
template <class Real>
PassOn<Real> pass_on(const RodMesh<Real>& mesh, RodWorkspace<Real>& work) {
  return {mesh.mass.data(), work.weights.data(), work.root_inertia.data(),
          mesh.skin_vertices > 0 ? work.passed.data() : nullptr};
}
/// Of rows on the way back.
template <class Real, class Finish>
struct FinishAndPass {
  Finish finish;
  PassOn<Real> pass;
  typename PassOn<Real>::Sums& sums;
  TRIBO_HD void operator()(const StrandPack<Real>& pack, Index row, const Vec<ParticlePack<Real>, 3>& dv) const {
    finish(pack, row, dv);
    if (pass.passed != nullptr) pass.keep(pack, row, dv, sums);
  }
};

template <class Real, class Source>
struct SolveStrands {
  using T = ParticlePack<Real>;
  const Real* factor;
  const Index* touched;  ///< of strands, or null
  Source source;
  Real* solution;
  FieldView<Real, 3> v;
  PassOn<Real> pass;

  struct Factor {
    static constexpr int numbers = factor_numbers + (fetches_ahead ? 3 : 0);
    const Real *factor, *solution;
    template <class Put>
    TRIBO_HD void operator()(const StrandPack<Real>&, Index row, const Put& put) const {
      put.row(0, factor, factor_numbers, row, factor_numbers);
      if constexpr (fetches_ahead) put.row(factor_numbers, solution, 3, row, 3);
    }
  };
  using Pipe = RowPipe<Real, Factor::numbers, Factor>;
  union Memory {
    typename Pipe::Memory forward;
    typename BackPipe<Real>::Memory back;
  };

  TRIBO_HD void operator()(const StrandPack<Real>& pack, Memory& memory) const {
    if (touched != nullptr && !pack.has_some(touched)) return;
    typename PassOn<Real>::Sums sums;
    if (pass.passed != nullptr) pass.clear(sums);
    sweep_to_root(pack, memory.forward, sums);
    if constexpr (fetches_ahead)
      substitute_back(pack, memory.back, factor, solution,
                      FinishAndPass<Real, PutSolution<Real>>{{solution}, pass, sums});
    else
      substitute_back(pack, memory.back, factor, solution,
                      FinishAndPass<Real, ScatterSum<Real, Source>>{{source, v}, pass, sums});
    if (pass.passed != nullptr) pass.put(pack, sums);
  }

 private:
  TRIBO_HD void sweep_to_root(const StrandPack<Real>& pack, typename Pipe::Memory& memory,
                              typename PassOn<Real>::Sums& sums) const {
    const Factor list{factor, solution};
    const Index count = pack.rows();
    Pipe pipe(memory, list, pack, count - 1, -1, count);
    TipToRoot<T> sweep = TipToRoot<T>::start();
    FactorRow<T> f;
    for (Index i = count - 1; i >= 0; --i) {
      T n[Pipe::numbers];
      pipe.next(n);
      f.set(n);
      Vec<T, 3> right;
      if constexpr (fetches_ahead)
        right = {{n[factor_numbers], n[factor_numbers + 1], n[factor_numbers + 2]}};
      else
        right = GatherRight<Real, Source>{source}(pack, i);
      if (pass.passed != nullptr) pass.get(pack, i, right, sums);
      PutSolution<Real>{solution}(pack, i, sweep.next(f, right));
    }
  }
};

template <class Real, class Source>
void solve(Exec& ex, const RodMesh<Real>& mesh, const Source& source, const Array<Index>* touched,
           RodState<Real>& state, RodWorkspace<Real>& work) {
  const Index* const some = touched != nullptr ? touched->data() : nullptr;
  if constexpr (fetches_ahead)
    parallel_for(ex, solves_label, mesh.vertices,
                 EnterRows<Real, Source>{source, mesh.slot.data(), work.solution.data()});
  for_each_strand_pack<Real>(ex, solves_label, mesh,
                             SolveStrands<Real, Source>{work.factor.data(), some, source, work.solution.data(),
                                                        view(state.v), pass_on(mesh, work)});
  if constexpr (fetches_ahead)
    parallel_for(ex, solves_label, mesh.vertices,
                 LeaveRows<Real, Source>{
                     source, some, mesh.vertex_strand.data(), {mesh.slot.data(), work.solution.data()}, view(state.v)});
}

/// Eliminated rows of held strands on their way to memory and back, in double: a pack of strands is as many packs of
/// double as that takes, side by side.
template <class Real>
class HeldRows {
 public:
  using T = ParticlePack<Real>;
  using E = typename Wide<T>::type;
  static constexpr int parts = Wide<T>::parts;
  static_assert(std::is_same_v<E, ParticlePack<double>>);

  struct Row {
    Mat<E, 3> Lv, Lw;
    Vec<E, 3> scaled;
    template <class Change>
    TRIBO_HD void each(const Change& change) {
      for (int c = 0; c < 9; ++c) change(c, Lv.m[c / 3][c % 3]);
      for (int c = 0; c < 9; ++c) change(9 + c, Lw.m[c / 3][c % 3]);
      for (int k = 0; k < 3; ++k) change(18 + k, scaled[k]);
    }
  };
  struct List {
    const double* rows;
    template <class Put>
    TRIBO_HD void operator()(const StrandPack<double>&, Index row, const Put& put) const {
      put.row(0, rows, held_numbers, row, held_numbers);
    }
  };
  using Pipe = RowPipe<double, held_numbers, List>;
  using Memory = typename Pipe::Memory;

  static Size size(Index rows) {
    return fetches_ahead ? row_array_size<double>(rows, held_numbers) : row_array_size<Real>(rows, held_numbers);
  }
  TRIBO_HD static void put(const StrandPack<Real>& pack, double* rows, Index row, int part, Row& of) {
    E numbers[held_numbers];
    of.each([&](int c, E& x) { numbers[c] = x; });
    if constexpr (fetches_ahead)
      put_row(StrandPack<double>(pack), rows, held_numbers, row, held_numbers, numbers);
    else
      for (int c = 0; c < held_numbers; ++c)
        store_pack<double>(rows + place(pack, row, part, c), numbers[c], pack_width<double>);
  }
  /// finish(row, part, dv) from the root on.
  template <class Finish>
  TRIBO_HD static void substitute_back(const StrandPack<Real>& pack, Memory& memory, const double* rows,
                                       const Finish& finish) {
    finish_stores();
    const Index count = pack.rows();
    FactorRow<E> f;
    const auto go_on = [&](RootToTip<E>& sweep, const Row& row, Index i, int part) {
      f.Lv = row.Lv;
      f.Lw = row.Lw;
      finish(i, part, sweep.next(f, row.scaled));
    };
    Row next;
    if constexpr (fetches_ahead) {
      const List list{rows};
      const StrandPack<double> wide(pack);
      Pipe pipe(memory, list, wide, 0, 1, count);
      RootToTip<E> sweep = RootToTip<E>::start();
      for (Index i = 0; i < count; ++i) {
        E n[Pipe::numbers];
        pipe.next(n);
        next.each([&](int c, E& x) { x = n[c]; });
        go_on(sweep, next, i, 0);
      }
    } else {
      for (int part = 0; part < parts; ++part) {
        RootToTip<E> sweep = RootToTip<E>::start();
        for (Index i = 0; i < count; ++i) {
          next.each([&](int c, E& x) { x = load_pack<double>(rows + place(pack, i, part, c), pack_width<double>); });
          go_on(sweep, next, i, part);
        }
      }
    }
  }

 private:
  TRIBO_HD static Size place(const StrandPack<Real>& pack, Index row, int part, int c) {
    return pack.at(held_numbers, row, c) + Size{part} * pack_width<double>;
  }
};

/// A pack of strands follows its driven vertices, whatever the factor says of these.
template <class Real>
struct LeadStrands {
  using T = ParticlePack<Real>;
  struct Factor {
    const Real* factor;
    template <class Put>
    TRIBO_HD void operator()(const StrandPack<Real>&, Index row, const Put& put) const {
      put.row(0, factor, factor_numbers, row, factor_numbers);
    }
  };
  using Pipe = RowPipe<Real, factor_numbers, Factor>;
  using Memory = typename Pipe::Memory;
  const Real *factor, *rows, *mass;
  const RodWeights<Real>* weights;  ///< of bodies
  FieldView<const Real, 3> change;
  FieldView<Real, 3> v;
  RootPush* passed;

  TRIBO_HD void operator()(const StrandPack<Real>& pack, Memory& memory) const {
    const Factor list{factor};
    const Vec<T, 3> none = Vec<T, 3>::filled(T(Real(0)));
    Pipe pipe(memory, list, pack, 0, 1, pack.rows());
    RootToTip<T> sweep = RootToTip<T>::start();
    FactorRow<T> f;
    double sum[3][StrandPack<Real>::W] = {};
    const auto dragged = 1 + static_cast<double>(weights[pack.group.body].drag);
    for (Index i = 0; i < pack.rows(); ++i) {
      T n[Pipe::numbers];
      pipe.next(n);
      f.set(n);
      const Vec<T, 3> before = sweep.v, led = pack.gather(change, i);
      sweep.next(f, none);
      const auto held = pack.constant(rows, RodRow::free, i) < T(Real(0.5));
      sweep.v = select<T>(held, led, sweep.v);
      sweep.w = select<T>(held, before - led, sweep.w);
      for (int l = 0; l < pack.W; ++l)
        for (int k = 0; k < 3 && i < pack.end[l]; ++k) {
          const Index at = pack.vertex[l] + i;
          const Real dv = lane(sweep.v[k], l);
          v[k][at] += dv;
          sum[k][l] += dragged * static_cast<double>(mass[at]) * static_cast<double>(dv);
        }
    }
    for (int l = 0; l < pack.W; ++l)
      for (int k = 0; k < 3 && pack.end[l] > 0; ++k)
        passed[pack.group.first_strand + pack.lane + l].all[k] -= sum[k][l];
  }
};

/// Rows that are kept, with what holds their vertices, become dv.
template <class Real>
struct SolveHeld {
  using T = ParticlePack<Real>;
  using Rows = HeldRows<Real>;
  using E = typename Rows::E;
  const Real* chain;
  const VertexHold* hold;
  const Index* touched;
  double* rows;
  FieldView<double, 3> dv;
  RootPush* passed;  ///< of strands, or null

  using Pipe = KeptPipe<Real>;
  union Memory {
    typename Pipe::Memory forward;
    typename Rows::Memory back;
  };

  TRIBO_HD void operator()(const StrandPack<Real>& pack, Memory& memory) const {
    if (!pack.has_some(touched)) return;
    if (pack.group.twisted != 0)
      eliminate_rows<3>(pack, memory.forward);
    else
      eliminate_rows<2>(pack, memory.forward);
    Rows::substitute_back(pack, memory.back, rows, [&](Index row, int part, const Vec<E, 3>& change) {
      for (int k = 0; k < 3; ++k)
        for (int l = 0; l < pack_width<double>; ++l) {
          const int strand = part * pack_width<double> + l;
          if (row < pack.end[strand]) dv[k][pack.vertex[strand] + row] = lane(change[k], l);
        }
    });
  }

 private:
  template <int Springs>
  TRIBO_HD void eliminate_rows(const StrandPack<Real>& pack, typename Pipe::Memory& memory) const {
    const KeptRows<Real> list{chain};
    const Index count = pack.rows();
    Pipe pipe(memory, list, pack, count - 1, -1, count);
    ChainOf<T, HeldRest> elimination;
    for (Index i = count - 1; i >= 0; --i) {
      T n[Pipe::numbers];
      pipe.next(n);
      ChainRow<T> row;
      ChainRow<T>::each(row, [&](int c, T& x) { x = n[c]; });
      Mat<E, 3> S[Rows::parts];
      Vec<E, 3> r[Rows::parts];
      for (int part = 0; part < Rows::parts; ++part) hold_of(pack, i, part, S[part], r[part]);
      if (i == 1 && passed != nullptr)
        each_wide_strand(pack, [&](Index s, int part, int l) {
          for (int k = 0; k < 3; ++k) {
            passed[s].all[k] += lane(elimination.rest(part).a[k], l);
            passed[s].first[k] += lane(elimination.rest(part).b[k], l);
          }
        });
      FactorRow<E> f[Rows::parts];
      Vec<E, 3> scaled[Rows::parts];
      elimination.template next_wide<Springs>(row, f, scaled, S, r);
      for (int part = 0; part < Rows::parts; ++part) {
        typename Rows::Row eliminated{f[part].Lv, f[part].Lw, scaled[part]};
        Rows::put(pack, rows, i, part, eliminated);
      }
    }
  }
  TRIBO_HD void hold_of(const StrandPack<Real>& pack, Index row, int part, Mat<E, 3>& S, Vec<E, 3>& r) const {
    constexpr int W = pack_width<double>;
    double value[12][W];
    for (int l = 0; l < W; ++l) {
      const int strand = part * W + l;
      const bool acts = row < pack.end[strand] && touched[pack.group.first_strand + pack.lane + strand] != 0;
      const VertexHold& own = hold[pack.vertex[strand] + (acts ? row : 0)];
      for (int c = 0; c < 9; ++c) value[c][l] = acts ? own.S(c / 3, c % 3) : 0;
      for (int k = 0; k < 3; ++k) value[9 + k][l] = acts ? own.r[k] : 0;
    }
    for (int c = 0; c < 9; ++c) S(c / 3, c % 3) = load_pack<double>(value[c], W);
    for (int k = 0; k < 3; ++k) r[k] = load_pack<double>(value[9 + k], W);
  }
};

/// The blocks of Z = A^-1 next to its diagonal, from the root on, as covariances of v and w would come from one of the
/// right-hand side that is A (experiments_float_strands 3).
template <class Real>
struct InvertChain {
  using T = ParticlePack<Real>;
  const Real* factor;
  SegmentCompliance<Real>* compliance;

  struct Factor {
    const Real* factor;
    template <class Put>
    TRIBO_HD void operator()(const StrandPack<Real>&, Index row, const Put& put) const {
      put.row(0, factor, factor_numbers, row, factor_numbers);
    }
  };
  using Pipe = RowPipe<Real, factor_numbers, Factor>;
  using Memory = typename Pipe::Memory;

  TRIBO_HD void operator()(const StrandPack<Real>& pack, Memory& memory) const {
    const Factor list{factor};
    const Index count = pack.rows();
    Pipe pipe(memory, list, pack, 0, 1, count);
    const Mat<T, 3> none = Mat<T, 3>::zero();
    Mat<T, 3> vv = none, vw = none, ww = none;  // of v and w of the row before
    FactorRow<T> f;
    for (Index i = 0; i < count; ++i) {
      T n[Pipe::numbers];
      pipe.next(n);
      f.set(n);
      const Mat<T, 3> v_w = minus(vv * f.Lv, vw * f.Lw);  // of v before and w here
      const Mat<T, 3> w_w = minus(transpose(vw) * f.Lv, ww * f.Lw);
      const Mat<T, 3> beside = transpose(vv - v_w);  // of v here and v before
      if (i > 0) put(pack, i - 1, vv, beside);
      ww = symmetric(full(f.Q) - transpose(f.Lv) * v_w - transpose(f.Lw) * w_w);
      vv = symmetric(beside - v_w + ww);
      vw = v_w - ww;
    }
    put(pack, count - 1, vv, none);
  }

 private:
  /// -(a + b)
  TRIBO_HD static Mat<T, 3> minus(const Mat<T, 3>& a, const Mat<T, 3>& b) {
    Mat<T, 3> r;
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) r(i, j) = -(a(i, j) + b(i, j));
    return r;
  }
  /// As symmetric as it is in truth.
  TRIBO_HD static Mat<T, 3> symmetric(Mat<T, 3> a) {
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < i; ++j) a(i, j) = a(j, i);
    return a;
  }
  TRIBO_HD void put(const StrandPack<Real>& pack, Index row, const Mat<T, 3>& own, const Mat<T, 3>& next) const {
    for (int l = 0; l < pack.W; ++l) {
      if (row >= pack.end[l]) continue;
      SegmentCompliance<Real> out;
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
          if (i <= j) out.own[Sym<Real, 3>::at(i, j)] = lane(own(i, j), l);
          out.next[3 * i + j] = lane(next(i, j), l);
        }
      out.pad = Real(0);
      compliance[pack.vertex[l] + row] = out;  // at once
    }
  }
};

}  // namespace

template <class Real>
void solve_strands(Exec& ex, const RodMesh<Real>& mesh, const Field<Real, 3>& impulse, const Array<Index>* touched,
                   RodState<Real>& state, RodWorkspace<Real>& work) {
  const RodState<Real>& now = state;
  solve(ex, mesh, GivenImpulse<Real>{view(impulse), view(now.v)}, touched, state, work);
}

template <class Real>
void lead_roots(Exec& ex, const RodMesh<Real>& mesh, const Field<Real, 3>& change, RodState<Real>& state,
                RodWorkspace<Real>& work) {
  for_each_strand_pack<Real>(ex, solves_label, mesh,
                             LeadStrands<Real>{work.factor.data(), mesh.row.data(), mesh.mass.data(),
                                               work.weights.data(), view(change), view(state.v), work.passed.data()});
}

template <class Real>
void solve_held(Exec& ex, const RodMesh<Real>& mesh, const Array<VertexHold>& hold, const Array<Index>& touched,
                bool passes_on, RodWorkspace<Real>& work) {
  work.held_rows.resize_discard(HeldRows<Real>::size(mesh.rows));
  work.held_dv.resize_discard(mesh.vertices);
  for_each_strand_pack<Real>(
      ex, solves_label, mesh,
      SolveHeld<Real>{work.chain.data(), hold.data(), touched.data(), work.held_rows.data(), view(work.held_dv),
                      passes_on && mesh.skin_vertices > 0 ? work.passed.data() : nullptr});
}

template <class Real>
void filter_velocities(Exec& ex, const RodMesh<Real>& mesh, const Field<Real, 3>& v_lag, RodState<Real>& state,
                       RodWorkspace<Real>& work) {
  const RodState<Real>& now = state;
  solve(ex, mesh, ChangeOfVelocity<Real>{mesh.mass.data(), view(v_lag), view(now.v)}, nullptr, state, work);
}

template <class Real>
void segment_compliance(Exec& ex, const RodMesh<Real>& mesh, RodWorkspace<Real>& work) {
  if (work.compliance_valid) return;
  work.compliance.resize_discard(mesh.vertices);
  for_each_strand_pack<Real>(ex, solves_label, mesh, InvertChain<Real>{work.factor.data(), work.compliance.data()});
  work.compliance_valid = true;
}

#define TRIBO_INSTANTIATE(Real)                                                                                       \
  template void solve_strands(Exec&, const RodMesh<Real>&, const Field<Real, 3>&, const Array<Index>*,                \
                              RodState<Real>&, RodWorkspace<Real>&);                                                  \
  template void lead_roots(Exec&, const RodMesh<Real>&, const Field<Real, 3>&, RodState<Real>&, RodWorkspace<Real>&); \
  template void solve_held(Exec&, const RodMesh<Real>&, const Array<VertexHold>&, const Array<Index>&, bool,          \
                           RodWorkspace<Real>&);                                                                      \
  template void filter_velocities(Exec&, const RodMesh<Real>&, const Field<Real, 3>&, RodState<Real>&,                \
                                  RodWorkspace<Real>&);                                                               \
  template void segment_compliance(Exec&, const RodMesh<Real>&, RodWorkspace<Real>&);
TRIBO_FOR_EACH_ROD_REAL(TRIBO_INSTANTIATE)
#undef TRIBO_INSTANTIATE

}  // namespace tribo::TRIBO_BACKEND

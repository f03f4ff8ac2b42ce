#include "tribo/stages/rod/band.h"
#include "tribo/stages/rod/row_pipe.h"

namespace tribo::TRIBO_BACKEND {
namespace {

/// Impulses as given, on velocities as they are.
template <class Real>
struct GivenImpulse {
  using T = ParticlePack<Real>;
  static constexpr int right_numbers = 3;
  FieldView<const Real, 3> impulse, v;
  template <class Put>
  TRIBO_HD void list_right(const StrandPack<Real>& pack, Index row, int c, const Put& put) const {
    for (int k = 0; k < 3; ++k) put(c + k, RowNumber<Real>::of_vertex(pack, impulse[k], row));
  }
  TRIBO_HD static Vec<T, 3> right(const T* n) { return {{n[0], n[1], n[2]}}; }
  TRIBO_HD const Real* base(int k) const { return v[k]; }
};
/// Those that changed v_lag into v, on v_lag.
template <class Real>
struct ChangeOfVelocity {
  using T = ParticlePack<Real>;
  static constexpr int right_numbers = 7;
  const Real* rows;
  FieldView<const Real, 3> v_lag, v;
  template <class Put>
  TRIBO_HD void list_right(const StrandPack<Real>& pack, Index row, int c, const Put& put) const {
    for (int k = 0; k < 3; ++k) put(c + k, RowNumber<Real>::of_vertex(pack, v[k], row));
    for (int k = 0; k < 3; ++k) put(c + 3 + k, RowNumber<Real>::of_vertex(pack, v_lag[k], row));
    put(c + 6, RowNumber<Real>::of_constant(pack, rows, RodRow::mass, row));
  }
  TRIBO_HD static Vec<T, 3> right(const T* n) { return {{n[6] * (n[0] - n[3]), n[6] * (n[1] - n[4]), n[6] * (n[2] - n[5])}}; }
  TRIBO_HD const Real* base(int k) const { return v_lag[k]; }
};

template <class Real, class Source>
struct SolveStrands {
  using T = ParticlePack<Real>;
  const Real* factor;
  const Index* touched;  ///< of strands, or null
  Source source;
  Real* solution;
  FieldView<Real, 3> v;

  struct Forward {
    static constexpr int numbers = factor_numbers + Source::right_numbers;
    const Real* factor;
    Source source;
    template <class Put>
    TRIBO_HD void operator()(const StrandPack<Real>& pack, Index row, const Put& put) const {
      for (int c = 0; c < factor_numbers; ++c) put(c, RowNumber<Real>::of_row(pack, factor, factor_numbers, row, c));
      source.list_right(pack, row, factor_numbers, put);
    }
  };
  /// L1 and L2, then D^-1 y, then what the solution is added to.
  struct Back {
    static constexpr int numbers = 24;
    const Real* factor;
    const Real* solution;
    Source source;
    template <class Put>
    TRIBO_HD void operator()(const StrandPack<Real>& pack, Index row, const Put& put) const {
      for (int c = 0; c < 18; ++c) put(c, RowNumber<Real>::of_row(pack, factor, factor_numbers, row, 6 + c));
      for (int k = 0; k < 3; ++k) put(18 + k, RowNumber<Real>::of_row(pack, solution, 3, row, k));
      for (int k = 0; k < 3; ++k) put(21 + k, RowNumber<Real>::of_vertex(pack, source.base(k), row));
    }
  };
  using ForwardPipe = RowPipe<Real, Forward::numbers, Forward>;
  using BackPipe = RowPipe<Real, Back::numbers, Back>;
  union Memory {
    typename ForwardPipe::Memory forward;
    typename BackPipe::Memory back;
  };

  TRIBO_HD void operator()(const StrandPack<Real>& pack, Memory& memory) const {
    if (touched != nullptr) {
      bool some = false;
      for (int l = 0; l < pack.W; ++l)
        if (pack.end[l] > 0) some = some || touched[pack.group.first_strand + pack.lane + l] != 0;
      if (!some) return;
    }
    const Index count = pack.group.rows;
    FactorRow<T> f;
    {
      const Forward list{factor, source};
      ForwardPipe pipe(memory.forward, list, pack, 0, 1, count);
      ForwardSweep<T> sweep = ForwardSweep<T>::start();
      for (Index i = 0; i < count; ++i) {
        T n[Forward::numbers];
        pipe.next(n);
        f.set(n);
        const Vec<T, 3> y = sweep.next(f, source.right(n + factor_numbers));
        for (int k = 0; k < 3; ++k) pack.store(solution, 3, i, k, y[k]);
      }
    }
    finish_stores();
    const Back list{factor, solution, source};
    BackPipe pipe(memory.back, list, pack, count - 1, -1, count);
    BackSweep<T> sweep = BackSweep<T>::start();
    for (Index i = count - 1; i >= 0; --i) {
      T n[Back::numbers];
      pipe.next(n);
      f.set_lower(n);
      const Vec<T, 3> dv = sweep.next({{n[18], n[19], n[20]}}, f.L1, f.L2);
      pack.scatter(v, i, Vec<T, 3>{{n[21], n[22], n[23]}} + dv);
    }
  }
};

/// The blocks of Z = A^-1 inside the band, from the last row on (Takahashi's recursion):
///   Z_lk = -(Z_{l,k+1} L_{k+1,k} + Z_{l,k+2} L_{k+2,k}),  l = k + 1, k + 2,
///   Z_kk = D_k^-1 - L_{k+1,k}^T Z_{k+1,k} - L_{k+2,k}^T Z_{k+2,k}.
template <class Real>
struct InvertBand {
  using T = ParticlePack<Real>;
  const Real* factor;
  SegmentCompliance<Real>* compliance;

  struct Factor {
    const Real* factor;
    template <class Put>
    TRIBO_HD void operator()(const StrandPack<Real>& pack, Index row, const Put& put) const {
      for (int c = 0; c < factor_numbers; ++c) put(c, RowNumber<Real>::of_row(pack, factor, factor_numbers, row, c));
    }
  };
  using Pipe = RowPipe<Real, factor_numbers, Factor>;
  using Memory = typename Pipe::Memory;

  TRIBO_HD void operator()(const StrandPack<Real>& pack, Memory& memory) const {
    const Factor list{factor};
    Pipe pipe(memory, list, pack, pack.group.rows - 1, -1, pack.group.rows);
    const Mat<T, 3> none = Mat<T, 3>::zero();
    Mat<T, 3> Z11 = none, Z21 = none, Z22 = none;  // blocks of rows k + 1 and k + 2
    Mat<T, 3> L1 = none, L2 = none, L2_next = none;
    FactorRow<T> f;
    for (Index k = pack.group.rows - 1; k >= 0; --k) {
      T n[factor_numbers];
      pipe.next(n);
      f.set(n);
      const Mat<T, 3> Z10 = minus(Z11 * L1, transpose(Z21) * L2);
      const Mat<T, 3> Z20 = minus(Z21 * L1, Z22 * L2);
      Mat<T, 3> Z00 = full(f.D) - transpose(L1) * Z10 - transpose(L2) * Z20;
      for (int i = 0; i < 3; ++i)  // as symmetric as it is in truth
        for (int j = 0; j < i; ++j) Z00(i, j) = Z00(j, i);
      put(pack, k, Z00, Z10);
      Z22 = Z11;
      Z21 = Z10;
      Z11 = Z00;
      L1 = f.L1;
      L2 = L2_next;
      L2_next = f.L2;
    }
  }

 private:
  /// -(a + b)
  TRIBO_HD static Mat<T, 3> minus(const Mat<T, 3>& a, const Mat<T, 3>& b) {
    Mat<T, 3> r;
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) r(i, j) = -(a(i, j) + b(i, j));
    return r;
  }
  TRIBO_HD void put(const StrandPack<Real>& pack, Index row, const Mat<T, 3>& own, const Mat<T, 3>& next) const {
    for (int l = 0; l < pack.W; ++l) {
      if (row >= pack.end[l]) continue;
      SegmentCompliance<Real>& out = compliance[pack.vertex[l] + row];
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
          if (i <= j) out.own[Sym<Real, 3>::at(i, j)] = lane(own(i, j), l);
          out.next[3 * i + j] = lane(next(i, j), l);
        }
      out.pad = Real(0);
    }
  }
};

}  // namespace

template <class Real>
void solve_strands(Exec& ex, const RodMesh<Real>& mesh, const Field<Real, 3>& impulse, const Array<Index>* touched,
                   RodState<Real>& state, RodWorkspace<Real>& work) {
  const RodState<Real>& now = state;
  using Source = GivenImpulse<Real>;
  for_each_strand_pack<Real>(
      ex, "rods", mesh,
      SolveStrands<Real, Source>{work.factor.data(), touched != nullptr ? touched->data() : nullptr,
                                 Source{view(impulse), view(now.v)}, work.solution.data(), view(state.v)});
}

template <class Real>
void filter_velocities(Exec& ex, const RodMesh<Real>& mesh, const Field<Real, 3>& v_lag, RodState<Real>& state,
                       RodWorkspace<Real>& work) {
  const RodState<Real>& now = state;
  using Source = ChangeOfVelocity<Real>;
  for_each_strand_pack<Real>(
      ex, "rods", mesh,
      SolveStrands<Real, Source>{work.factor.data(), nullptr, Source{mesh.row.data(), view(v_lag), view(now.v)},
                                 work.solution.data(), view(state.v)});
}

template <class Real>
void segment_compliance(Exec& ex, const RodMesh<Real>& mesh, RodWorkspace<Real>& work) {
  if (work.compliance_valid) return;
  work.compliance.resize_discard(mesh.vertices);
  for_each_strand_pack<Real>(ex, "rods", mesh, InvertBand<Real>{work.factor.data(), work.compliance.data()});
  work.compliance_valid = true;
}

#define TRIBO_INSTANTIATE(Real)                                                                        \
  template void solve_strands(Exec&, const RodMesh<Real>&, const Field<Real, 3>&, const Array<Index>*, \
                              RodState<Real>&, RodWorkspace<Real>&);                                   \
  template void filter_velocities(Exec&, const RodMesh<Real>&, const Field<Real, 3>&, RodState<Real>&, \
                                  RodWorkspace<Real>&);                                                \
  template void segment_compliance(Exec&, const RodMesh<Real>&, RodWorkspace<Real>&);
TRIBO_FOR_EACH_ROD_REAL(TRIBO_INSTANTIATE)
#undef TRIBO_INSTANTIATE

}  // namespace tribo::TRIBO_BACKEND

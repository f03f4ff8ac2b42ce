#pragma once

#include "tribo/grid/stencil.h"
#include "tribo/matter/strands/stages/rod.h"
#include "tribo/models/rod/joint.h"

/// \file
/// The strands that one work item handles: a pack of them on the CPU, one on the GPU.

namespace tribo::TRIBO_BACKEND {

/// Strands of a group.
template <class Real>
inline constexpr int group_width = pack_width<Real> > 1 ? pack_width<Real> : 32;

/// Numbers of a row that lie side by side: on the GPU as many of one strand as a thread fetches at once; on the CPU one
/// number of all strands after the other.
template <class Real>
inline constexpr int row_piece = pack_width<Real> > 1 ? 1 : static_cast<int>(16 / sizeof(Real));
/// Of each strand in arrays by rows of N numbers.
template <class Real>
inline constexpr int row_pieces(int N) {
  return (N + row_piece<Real> - 1) / row_piece<Real>;
}
template <class Real>
inline Size row_array_size(Index rows, int N) {
  return Size{rows} * group_width<Real> * row_pieces<Real>(N) * row_piece<Real>;
}
/// Where number c of N is.
template <class Real>
TRIBO_HD Size row_place(Index row, Index lane, int N, int c) {
  constexpr int P = row_piece<Real>;
  return ((Size{row} * ((N + P - 1) / P) + c / P) * group_width<Real> + lane) * P + c % P;
}
/// Of a vertex by its slot, group_width x row + lane.
template <class Real>
TRIBO_HD Size slot_place(Index slot, int N, int c) {
  return row_place<Real>(slot / group_width<Real>, slot % group_width<Real>, N, c);
}

template <class Real>
struct StrandPack {
  using T = ParticlePack<Real>;
  static constexpr int W = pack_width<Real>;

  RodGroup group;
  int lane;
  Index vertex[W];  ///< first of each strand
  Index last[W];    ///< row of its last vertex
  Index end[W];     ///< rows it has; none where a lane has no strand and repeats another

  TRIBO_HD StrandPack(const RodGroup& of, int first_lane, const Index* start) : group(of), lane(first_lane) {
    for (int l = 0; l < W; ++l) {
      const bool present = lane + l < group.strands;
      const Index s = group.first_strand + (present ? lane + l : group.strands - 1);
      vertex[l] = start[s];
      last[l] = start[s + 1] - start[s] - 1;
      end[l] = present ? last[l] + 1 : 0;
    }
  }

  /// The same strands, with numbers of another kind.
  template <class Other>
  TRIBO_HD explicit StrandPack(const StrandPack<Other>& of) : group(of.group), lane(of.lane) {
    static_assert(StrandPack<Other>::W == W);
    for (int l = 0; l < W; ++l) {
      vertex[l] = of.vertex[l];
      last[l] = of.last[l];
      end[l] = of.end[l];
    }
  }

  /// Whether one of its strands has a mark.
  TRIBO_HD bool has_some(const Index* mark) const {
    bool some = false;
    for (int l = 0; l < W; ++l)
      if (end[l] > 0) some = some || mark[group.first_strand + lane + l] != 0;
    return some;
  }

  /// Where number c of N of a row is, for the first lane.
  TRIBO_HD Size at(int N, Index row, int c) const { return row_place<Real>(group.first_row + row, lane, N, c); }
  /// Rows to go through: those of the longest strand.
  TRIBO_HD Index rows() const { return W == 1 ? last[0] + 1 : group.rows; }
  TRIBO_HD T load(const Real* rows, int N, Index row, int c) const { return load_pack<Real>(rows + at(N, row, c), W); }
  TRIBO_HD void store(Real* rows, int N, Index row, int c, const T& value) const {
    store_pack<Real>(rows + at(N, row, c), value, W);
  }
  TRIBO_HD T constant(const Real* rows, RodRow which, Index row, int offset = 0) const {
    return load(rows, static_cast<int>(RodRow::count), row, static_cast<int>(which) + offset);
  }

  /// Numbers of vertices in their own order; lanes past their end repeat the last.
  TRIBO_HD T gather(const Real* column, Index row) const {
    Real value[W];
    for (int l = 0; l < W; ++l) value[l] = column[vertex[l] + (row < last[l] ? row : last[l])];
    return load_pack<Real>(value, W);
  }
  TRIBO_HD Vec<T, 3> gather(const FieldView<const Real, 3>& column, Index row) const {
    return {{gather(column[0], row), gather(column[1], row), gather(column[2], row)}};
  }
  /// Numbers of strands.
  TRIBO_HD T of_strands(const Real* column) const {
    Real value[W];
    for (int l = 0; l < W; ++l)
      value[l] = column[group.first_strand + (lane + l < group.strands ? lane + l : group.strands - 1)];
    return load_pack<Real>(value, W);
  }
  TRIBO_HD void scatter(Real* column, Index row, const T& value) const {
    Real out[W];
    store_pack<Real>(out, value, W);
    for (int l = 0; l < W; ++l)
      if (row < end[l]) column[vertex[l] + row] = out[l];
  }
  TRIBO_HD void scatter(const FieldView<Real, 3>& column, Index row, const Vec<T, 3>& value) const {
    for (int k = 0; k < 3; ++k) scatter(column[k], row, value[k]);
  }
};

/// Positions with what rounding left out of them, and edges between them.
template <class Real>
struct StrandPositions {
  using T = ParticlePack<Real>;
  FieldView<const Real, 3> x, tail;

  struct Point {
    Vec<T, 3> x, tail;
  };
  TRIBO_HD Point at(const StrandPack<Real>& pack, Index row) const {
    return {pack.gather(x, row), pack.gather(tail, row)};
  }
};
template <class Point>
TRIBO_HD auto edge_between(const Point& a, const Point& b) {
  return (b.x - a.x) + (b.tail - a.tail);
}

/// kernel(pack, memory) for every pack of strands, with memory of the kernel's own kind.
template <class Real, class Kernel>
struct EachStrandPack {
  const RodGroup* groups;
  const Index* start;
  Kernel kernel;

  TRIBO_HD void operator()(const Team& team, Index g, typename Kernel::Memory& memory) const {
    for (int lane = team.rank() * pack_width<Real>; lane < group_width<Real>; lane += Team::size * pack_width<Real>)
      if (lane < groups[g].strands) kernel(StrandPack<Real>(groups[g], lane, start), memory);
  }
};
template <class Real, class Kernel>
void for_each_strand_pack(Exec& ex, const char* label, const RodMesh<Real>& mesh, const Kernel& kernel) {
  for_each_team<typename Kernel::Memory>(ex, label, mesh.groups,
                                         EachStrandPack<Real, Kernel>{mesh.group.data(), mesh.start.data(), kernel});
}

}  // namespace tribo::TRIBO_BACKEND

#pragma once

#include "tribo/matter/strands/stages/strands.h"

/// \file
/// Rows of a strand on their way from memory. On the GPU a warp walks along its strands nearly alone on its
/// multiprocessor and would wait for memory at every row; so rows are asked for long before their turn, and lie in the
/// team's memory when it comes. On the CPU they are read where they are.

namespace tribo::TRIBO_BACKEND {

/// Numbers that are fetched at once.
template <class Real>
struct alignas(sizeof(Real) * row_piece<Real>) RowPiece {
  Real number[row_piece<Real>];
};

template <class Real, int N>
struct RowPipeMemory {
  static constexpr int lanes = group_width<Real>, pieces = row_pieces<Real>(N);
  /// Rows under way; a multiprocessor has room for several teams.
  static constexpr int depth = static_cast<int>((44 << 10) / (pieces * lanes * sizeof(RowPiece<Real>)));
  static_assert(depth >= 3);
  RowPiece<Real> piece[depth][pieces][lanes];
};
struct NoMemory {};

/// `List` is called as list(pack, row, put) and says what to fetch, N numbers at most:
///   put.row(c, rows, M, row, count, first)  `count` numbers of a row of M, those from `first` on, to c and on; c and
///                                           first are multiples of 4
/// Rows come in the order first, first + step, ..., `count` of them.
template <class Real, int N, class List>
class RowPipe {
 public:
  using T = ParticlePack<Real>;
  using Memory = std::conditional_t<fetches_ahead, RowPipeMemory<Real, N>, NoMemory>;
  static constexpr int numbers = row_pieces<Real>(N) * row_piece<Real>;

  TRIBO_HD RowPipe(Memory& memory, const List& list, const StrandPack<Real>& pack, Index first, Index step, Index count)
      : memory_(memory), list_(list), pack_(pack), row_(first), step_(step), left_(count) {
    if constexpr (fetches_ahead)
      for (int k = 0; k + 1 < Memory::depth; ++k) ask();
  }

  /// `numbers` of the next row.
  TRIBO_HD void next(T* to) {
    if constexpr (fetches_ahead) {
      await_batches<Memory::depth - 2>();
      TRIBO_UNROLL
      for (int p = 0; p < Memory::pieces; ++p) {
        const RowPiece<Real> piece = memory_.piece[read_][p][pack_.lane];
        TRIBO_UNROLL
        for (int k = 0; k < row_piece<Real>; ++k) to[p * row_piece<Real> + k] = piece.number[k];
      }
      read_ = read_ + 1 == Memory::depth ? 0 : read_ + 1;
      ask();  // into the slot of the row before this one
    } else {
      list_(pack_, row_, Load{pack_, to});
      row_ += step_;
    }
  }

 private:
  struct Load {
    const StrandPack<Real>& pack;
    T* to;
    TRIBO_HD void row(int c, const Real* rows, int M, Index row, int count, int first = 0) const {
      for (int k = 0; k < count; ++k) to[c + k] = pack.load(rows, M, row, first + k);
    }
  };
  struct Begin {
    const StrandPack<Real>& pack;
    Memory& memory;
    int slot;
    TRIBO_HD void row(int c, const Real* rows, int M, Index row, int count, int first = 0) const {
      constexpr int P = row_piece<Real>;
      TRIBO_UNROLL
      for (int k = 0; k < count; k += P)
        begin_copy(&memory.piece[slot][(c + k) / P][pack.lane],
                   reinterpret_cast<const RowPiece<Real>*>(rows + pack.at(M, row, first + k)));
    }
  };
  TRIBO_HD void ask() {
    if (left_ > 0) list_(pack_, row_, Begin{pack_, memory_, write_});
    end_batch();  // also where there is nothing more, so that batches count rows
    row_ += step_;
    --left_;
    write_ = write_ + 1 == Memory::depth ? 0 : write_ + 1;
  }

  Memory& memory_;
  const List& list_;
  const StrandPack<Real>& pack_;
  Index row_, step_, left_;  ///< next to be asked for, or read where nothing is
  int read_ = 0, write_ = 0;
};

/// `count` numbers of a row of M to memory, from `first` on. What shares a piece with the last of them is lost.
template <class Real>
TRIBO_HD void put_row(const StrandPack<Real>& pack, Real* rows, int M, Index row, int count,
                      const ParticlePack<Real>* numbers, int first = 0) {
  constexpr int P = row_piece<Real>;
  if constexpr (P == 1) {
    for (int k = 0; k < count; ++k) pack.store(rows, M, row, first + k, numbers[k]);
  } else {
    TRIBO_UNROLL
    for (int k = 0; k < count; k += P) {
      RowPiece<Real> piece;
      for (int j = 0; j < P; ++j) piece.number[j] = k + j < count ? numbers[k + j] : Real(0);
      *reinterpret_cast<RowPiece<Real>*>(rows + pack.at(M, row, first + k)) = piece;
    }
  }
}
/// The same for one vertex, by its slot.
template <class Real>
TRIBO_HD void put_slot(Real* rows, Index slot, int M, int count, const Real* numbers, int first = 0) {
  constexpr int P = row_piece<Real>;
  TRIBO_UNROLL
  for (int k = 0; k < count; k += P) {
    RowPiece<Real> piece;
    for (int j = 0; j < P; ++j) piece.number[j] = k + j < count ? numbers[k + j] : Real(0);
    *reinterpret_cast<RowPiece<Real>*>(rows + slot_place<Real>(slot, M, first + k)) = piece;
  }
}
template <class Real>
TRIBO_HD void take_slot(const Real* rows, Index slot, int M, int count, Real* numbers, int first = 0) {
  constexpr int P = row_piece<Real>;
  TRIBO_UNROLL
  for (int k = 0; k < count; k += P) {
    const auto piece = *reinterpret_cast<const RowPiece<Real>*>(rows + slot_place<Real>(slot, M, first + k));
    for (int j = 0; j < P; ++j)
      if (k + j < count) numbers[k + j] = piece.number[j];
  }
}

/// A joint's stiffness and rest shape, from a row of constants.
template <class T>
TRIBO_HD JointLaw<T> joint_law(const T* constants) {
  const auto at = [&](RodRow which, int k = 0) { return constants[static_cast<int>(which) + k]; };
  JointLaw<T> law;
  law.bend1 = at(RodRow::bend1);
  law.bend2 = at(RodRow::bend2);
  law.twist = at(RodRow::twist);
  law.rest_twist = at(RodRow::rest_twist);
  for (int k = 0; k < 4; ++k) law.rest[k] = at(RodRow::rest, k);
  return law;
}

}  // namespace tribo::TRIBO_BACKEND

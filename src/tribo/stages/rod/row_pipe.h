#pragma once

#include "tribo/stages/rod/strands.h"

/// \file
/// Rows of a strand on their way from memory. On the GPU a warp walks along its strands nearly alone on its
/// multiprocessor and would wait for memory at every row; so rows are asked for long before their turn, and lie in the
/// team's memory when it comes. On the CPU they are read where they are.

namespace tribo::TRIBO_BACKEND {

/// Numbers of a row, one of an array by rows or of a column by vertices after the other.
template <class Real>
struct RowNumber {
  const StrandPack<Real>& pack;
  const Real* from;
  Index row;  ///< of vertices; -1: `from` is the number itself, of the first lane

  using T = ParticlePack<Real>;
  TRIBO_HD static RowNumber of_row(const StrandPack<Real>& pack, const Real* rows, int N, Index row, int c) {
    return {pack, rows + pack.at(N, row, c), -1};
  }
  TRIBO_HD static RowNumber of_constant(const StrandPack<Real>& pack, const Real* rows, RodRow which, Index row,
                                        int offset = 0) {
    return of_row(pack, rows, static_cast<int>(RodRow::count), row, static_cast<int>(which) + offset);
  }
  TRIBO_HD static RowNumber of_vertex(const StrandPack<Real>& pack, const Real* column, Index row) {
    return {pack, column, row};
  }
  TRIBO_HD T load() const { return row < 0 ? load_pack<Real>(from, pack.W) : pack.gather(from, row); }
  /// Where a pack is one strand.
  TRIBO_HD const Real* address() const {
    return row < 0 ? from : from + pack.vertex[0] + (row < pack.last[0] ? row : pack.last[0]);
  }
};

/// A joint's stiffness and rest shape, as numbers of a row from c on.
inline constexpr int joint_numbers = 8;
template <class Real, class Put>
TRIBO_HD void list_joint(const StrandPack<Real>& pack, const Real* rows, Index row, int c, const Put& put) {
  using Number = RowNumber<Real>;
  put(c, Number::of_constant(pack, rows, RodRow::bend1, row));
  put(c + 1, Number::of_constant(pack, rows, RodRow::bend2, row));
  put(c + 2, Number::of_constant(pack, rows, RodRow::twist, row));
  put(c + 3, Number::of_constant(pack, rows, RodRow::rest_twist, row));
  for (int k = 0; k < 4; ++k) put(c + 4 + k, Number::of_constant(pack, rows, RodRow::rest, row, k));
}
template <class T>
TRIBO_HD JointLaw<T> joint_law(const T* numbers) {
  JointLaw<T> law;
  law.bend1 = numbers[0];
  law.bend2 = numbers[1];
  law.twist = numbers[2];
  law.rest_twist = numbers[3];
  for (int k = 0; k < 4; ++k) law.rest[k] = numbers[4 + k];
  return law;
}

template <class Real, int N>
struct RowPipeMemory {
  static constexpr int lanes = group_width<Real>;
  /// Rows under way, as many as fit beside a second team's.
  static constexpr int depth = static_cast<int>((44 << 10) / (N * lanes * sizeof(Real)));
  static_assert(depth >= 3);
  Real number[depth][N][lanes];
};
struct NoMemory {};

/// `List` is called as list(pack, row, put) and calls put(c, RowNumber) for c = 0 .. N - 1. Rows come in the order
/// first, first + step, ..., `count` of them.
template <class Real, int N, class List>
class RowPipe {
 public:
  using T = ParticlePack<Real>;
  using Memory = std::conditional_t<fetches_ahead, RowPipeMemory<Real, N>, NoMemory>;

  TRIBO_HD RowPipe(Memory& memory, const List& list, const StrandPack<Real>& pack, Index first, Index step, Index count)
      : memory_(memory), list_(list), pack_(pack), row_(first), step_(step), left_(count) {
    if constexpr (fetches_ahead)
      for (int k = 0; k + 1 < Memory::depth; ++k) ask();
  }

  /// Numbers of the next row.
  TRIBO_HD void next(T* numbers) {
    if constexpr (fetches_ahead) {
      await_batches<Memory::depth - 2>();
      TRIBO_UNROLL
      for (int c = 0; c < N; ++c) numbers[c] = memory_.number[read_][c][pack_.lane];
      read_ = read_ + 1 == Memory::depth ? 0 : read_ + 1;
      ask();  // into the slot of the row before this one
    } else {
      list_(pack_, row_, Load{numbers});
      row_ += step_;
    }
  }

 private:
  struct Load {
    T* numbers;
    TRIBO_HD void operator()(int c, const RowNumber<Real>& number) const { numbers[c] = number.load(); }
  };
  struct Begin {
    Memory& memory;
    int slot, lane;
    TRIBO_HD void operator()(int c, const RowNumber<Real>& number) const {
      begin_copy(&memory.number[slot][c][lane], number.address());
    }
  };
  TRIBO_HD void ask() {
    if (left_ > 0) list_(pack_, row_, Begin{memory_, write_, pack_.lane});
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

}  // namespace tribo::TRIBO_BACKEND

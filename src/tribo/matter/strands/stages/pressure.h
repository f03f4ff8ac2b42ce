#pragma once

#include <vector>

#include "tribo/exec/columns.h"

/// \file
/// Pressure of an incompressible volume on a dense window of cells (theory I.2): conjugate gradients, preconditioned
/// with one V-cycle of geometric multigrid. Only unknowns are visited, by lists; arrays of cells are dense, so that
/// neighbors are found by their index, and zero where there is no unknown.

namespace tribo::TRIBO_BACKEND {

/// Cells in rows along the last axis. The outermost ring is never an unknown: neighbors always exist.
struct CellGrid {
  Index size[3] = {0, 0, 0};

  TRIBO_HD Index stride(int k) const { return k == 0 ? size[1] * size[2] : k == 1 ? size[2] : 1; }
  TRIBO_HD Index at(Index i, Index j, Index k) const { return (i * size[1] + j) * size[2] + k; }
  TRIBO_HD void place(Index cell, Index* i) const {
    i[2] = cell % size[2];
    i[1] = cell / size[2] % size[1];
    i[0] = cell / (size[1] * size[2]);
  }
  TRIBO_HD bool inside(const Index* i) const {
    bool in = true;
    for (int k = 0; k < 3; ++k) in = in && i[k] > 0 && i[k] < size[k] - 1;
    return in;
  }
  Index count() const { return size[0] * size[1] * size[2]; }
};

/// One grid of the hierarchy. Cell I of the next one covers cells 2I - 1 and 2I of this one along each axis.
template <class Real>
struct PressureLevel {
  CellGrid grid;
  Field<Real, 3> coefficient;  ///< of the face toward the cell before, along each axis; where there is an unknown
  Array<Real> diagonal;        ///< zero where there is no unknown
  Array<Real> x, r;            ///< correction, residual; zero where there is no unknown
  Array<Real> b;               ///< right-hand side, of unknowns
  Array<Index> cell;           ///< unknowns: those with an even sum of indices first
  Index even = 0, count = 0;

  std::size_t bytes() const {
    return coefficient.bytes() + diagonal.bytes() + x.bytes() + b.bytes() + r.bytes() + cell.bytes();
  }
};

/// The system  sum over faces of c_f (q - q_neighbor) = b  of the finest level, q = 0 where there is no unknown.
/// Coefficients must be zero or positive. Scratch memory.
template <class Real>
struct PressureSolver {
  std::vector<PressureLevel<Real>> level;  ///< the finest first; in the solve its `b` is the residual
  int levels = 0;                          ///< in use
  Array<Real> q;                           ///< the solution, of cells of the finest level
  Array<Real> p;                           ///< direction of search
  Array<Index> flag;                       ///< for lists

  std::size_t bytes() const {
    std::size_t sum = q.bytes() + p.bytes() + flag.bytes();
    for (const PressureLevel<Real>& one : level) sum += one.bytes();
    return sum;
  }
};

struct PressureReport {
  Index unknowns = 0;
  int iterations = 0;
  double residual = 0;  ///< largest |b - A q| over the largest |b| of the problem
  bool converged = true;
};

/// Memory for a window of these cells, none of them an unknown yet.
template <class Real>
void clear_pressure(Exec& ex, const CellGrid& grid, PressureSolver<Real>& solver);

/// From coefficients and diagonal of the finest level, which say what is an unknown: lists, and all coarser levels.
template <class Real>
void build_pressure(Exec& ex, PressureSolver<Real>& solver);

/// Solves with the right-hand side `b`, of cells, beginning with q as it is: zero where there is no unknown. Stops
/// where the largest residual is below `tolerance` times `scale`, after `most` iterations, or where rounding ends it.
template <class Real>
PressureReport solve_pressure(Exec& ex, const Array<Real>& b, double scale, double tolerance, int most,
                              PressureSolver<Real>& solver);

/// Largest |b| of the unknowns.
template <class Real>
double largest_right_hand_side(Exec& ex, const Array<Real>& b, const PressureSolver<Real>& solver);

}  // namespace tribo::TRIBO_BACKEND

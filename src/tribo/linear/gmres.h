#pragma once

#include <limits>
#include <vector>

#include "tribo/linear/vectors.h"

/// \file
/// Generalized minimal residuals [Saad 1986] for any regular system, begun anew when the basis is full.
///
/// Preconditioned from the right, A M^-1 (M x) = b: what is least is then the residual itself, which is what callers
/// can ask for, whatever M is; from the left it would be that of another system. M need not be symmetric. The basis is
/// orthogonalized vector by vector (modified Gram-Schmidt), with which the method is as good as rounding lets it be
/// [Paige 2006].

namespace tribo::TRIBO_BACKEND::linear {

/// The least-squares problem of a cycle: the Hessenberg matrix, turned into a triangle column by column.
class HessenbergProblem {
 public:
  void resize(int columns) {
    most_ = columns;
    const auto n = static_cast<std::size_t>(columns);
    entries_.resize((n + 1) * n);
    for (std::vector<double>* a : {&cosine_, &sine_, &solution_}) a->resize(n);
    right_.resize(n + 1);
  }
  int most() const { return most_; }
  double& at(int row, int column) { return entries_[index(column) * (index(most_) + 1) + index(row)]; }

  void begin(double residual) { right_[0] = residual; }
  /// Turns column j, of j + 2 entries. False when it is none: a combination of those before, but for rounding.
  bool turn(int j, double negligible) {
    for (int i = 0; i < j; ++i) {
      const double up = at(i, j), down = at(i + 1, j), c = cosine_[index(i)], s = sine_[index(i)];
      at(i, j) = c * up + s * down;
      at(i + 1, j) = c * down - s * up;
    }
    const double length = std::hypot(at(j, j), at(j + 1, j));
    if (!(length > negligible)) return false;
    cosine_[index(j)] = at(j, j) / length;
    sine_[index(j)] = at(j + 1, j) / length;
    at(j, j) = length;
    right_[index(j + 1)] = -sine_[index(j)] * right_[index(j)];
    right_[index(j)] *= cosine_[index(j)];
    return true;
  }
  /// Residual with the columns up to j.
  double residual(int j) const { return std::abs(right_[index(j + 1)]); }
  /// Weights of the basis' vectors, by the first n columns.
  const std::vector<double>& solve(int n) {
    for (int i = n - 1; i >= 0; --i) {
      double sum = right_[index(i)];
      for (int k = i + 1; k < n; ++k) sum -= at(i, k) * solution_[index(k)];
      solution_[index(i)] = sum / at(i, i);
    }
    return solution_;
  }

 private:
  static std::size_t index(int i) { return static_cast<std::size_t>(i); }

  int most_ = 0;
  std::vector<double> entries_;  ///< column by column
  std::vector<double> cosine_, sine_, right_, solution_;
};

template <class Entry>
struct GmresWorkspace {
  Array<Entry> basis, z;
  HessenbergProblem problem;
  Size entries = 0;

  /// Vectors of as many entries, begun anew after `restart` iterations.
  void resize(Size each, int restart) {
    entries = each;
    basis.resize_discard((Size{restart} + 1) * each);
    z.resize_discard(each);
    problem.resize(restart);
  }
  Entry* vector(int k) { return basis.data() + Size{k} * entries; }
};

struct GmresReport {
  std::int64_t iterations = 0;  ///< not counting the product that each cycle begins with
  double residual = 0;          ///< |b - A x|, computed from x
  bool converged = false;
};

template <LinearSystem System>
class Gmres {
 public:
  using Space = SpaceOf<System>;
  using Entry = typename Space::Entry;

  Gmres(Exec& ex, const char* label, System& system, GmresWorkspace<Entry>& work)
      : system_(system), work_(work), on_(ex, label, system.space()) {}

  /// Solves A x = b from `x` as it is. Ends where the residual is at most `target`, after `most` iterations, or where a
  /// cycle has gained nothing: the next would be the same.
  GmresReport solve(const Entry* b, Entry* x, double target, int most) {
    GmresReport report;
    for (double before = std::numeric_limits<double>::infinity();; before = report.residual) {
      report.residual = begin(b, x);
      report.converged = report.residual <= target;
      if (report.converged || report.iterations >= most || !(report.residual < before)) return report;
      add_solution(cycle(report, target, most), x);
    }
  }

 private:
  /// What may be left where terms cancel, of their size.
  static constexpr double rounding = 16 * std::numeric_limits<typename Space::Scalar>::epsilon();

  /// The first vector: b - A x, not yet of length one. Returns its length.
  double begin(const Entry* b, const Entry* x) {
    Entry* const v = work_.vector(0);
    system_.apply(x, v);
    on_.scale(-1, v, v);
    on_.add(1, b, v);
    return on_.norm(v);
  }

  /// Returns how many vectors of the basis the solution is made of.
  int cycle(GmresReport& report, double target, int most) {
    work_.problem.begin(report.residual);
    on_.scale(1 / report.residual, work_.vector(0), work_.vector(0));
    for (int j = 0; j < work_.problem.most(); ++j) {
      if (report.iterations >= most) return j;
      const double length = extend(j);
      ++report.iterations;
      const double left = work_.problem.at(j + 1, j);
      if (!work_.problem.turn(j, rounding * length)) return j;
      if (work_.problem.residual(j) <= target || left <= rounding * length) return j + 1;
      on_.scale(1 / left, work_.vector(j + 1), work_.vector(j + 1));
    }
    return work_.problem.most();
  }

  /// A M^-1 of vector j, less what the basis has of it, is the next one. Returns its length before.
  double extend(int j) {
    Entry* const next = work_.vector(j + 1);
    on_.precondition(system_.precondition(work_.vector(j)), work_.vector(j), work_.z.data());
    system_.apply(work_.z.data(), next);
    const double length = on_.norm(next);
    for (int i = 0; i <= j; ++i) {
      const double shared = on_.dot(next, work_.vector(i));
      work_.problem.at(i, j) = shared;
      on_.add(-shared, work_.vector(i), next);
    }
    work_.problem.at(j + 1, j) = on_.norm(next);
    return length;
  }

  void add_solution(int vectors, Entry* x) {
    if (vectors == 0) return;
    const std::vector<double>& weight = work_.problem.solve(vectors);
    Entry* const sum = work_.vector(0);
    on_.scale(weight[0], sum, sum);
    for (int k = 1; k < vectors; ++k) on_.add(weight[static_cast<std::size_t>(k)], work_.vector(k), sum);
    on_.precondition(system_.precondition(sum), sum, work_.z.data());
    on_.add(1, work_.z.data(), x);
  }

  System& system_;
  GmresWorkspace<Entry>& work_;
  Vectors<Space> on_;
};

}  // namespace tribo::TRIBO_BACKEND::linear

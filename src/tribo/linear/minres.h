#pragma once

#include <algorithm>
#include <array>
#include <limits>

#include "tribo/linear/vectors.h"

/// \file
/// Minimal residuals [Paige 1975] for systems that are symmetric but of either sign, or singular: of all x in the
/// Krylov space the one whose residual is least, in the norm of M^-1. M must be positive all the same. As in
/// [Elman 2014]: Lanczos' recurrence makes A tridiagonal, rotations make that triangular, and both need no more than
/// the last two vectors.

namespace tribo::TRIBO_BACKEND::linear {

template <class Entry>
struct MinresWorkspace {
  Array<Entry> lanczos[3], z[2], search[2];

  void resize(Size entries) {
    for (Array<Entry>& a : lanczos) a.resize_discard(entries);
    for (Array<Entry>& a : z) a.resize_discard(entries);
    for (Array<Entry>& a : search) a.resize_discard(entries);
  }
};

struct MinresReport {
  std::int64_t iterations = 0;  ///< products with A
  double residual = 0;          ///< as the recurrence has it; never grows
  bool converged = false;
};

/// The next direction of search, in place of the last but one: (z - a before - b last) / c.
template <class Space>
struct NextSearch {
  Space space;
  typename Space::Scalar a, b, inverse_c;
  const typename Space::Entry* z;
  const typename Space::Entry* last;
  typename Space::Entry* before;
  TRIBO_HD void operator()(Index i) const {
    const Index at = space.at(i);
    const typename Space::Entry both = Space::sum(Space::sum(z[at], -a, before[at]), -b, last[at]);
    before[at] = both * typename Space::Entry(inverse_c);
  }
};

/// Two rotations back, one back, and the next: what the triangle's next column needs.
class MinresRotations {
 public:
  /// From the tridiagonal matrix' next column (`above`, `diagonal`, `below`) that of the triangle.
  void turn(double above, double diagonal, double below) {
    const double turned = cosine_[1] * diagonal - cosine_[0] * sine_[1] * above;
    column_ = {sine_[0] * above, sine_[1] * diagonal + cosine_[0] * cosine_[1] * above, std::hypot(turned, below)};
    cosine_ = {cosine_[1], turned / column_[2]};
    sine_ = {sine_[1], below / column_[2]};
  }
  const std::array<double, 3>& column() const { return column_; }
  double cosine() const { return cosine_[1]; }
  double sine() const { return sine_[1]; }

 private:
  std::array<double, 2> cosine_{1, 1}, sine_{0, 0};
  std::array<double, 3> column_{};
};

template <LinearSystem System>
class Minres {
 public:
  using Space = SpaceOf<System>;
  using Scalar = typename Space::Scalar;
  using Entry = typename Space::Entry;

  Minres(Exec& ex, const char* label, System& system, MinresWorkspace<Entry>& work)
      : system_(system),
        lanczos_{work.lanczos[0].data(), work.lanczos[1].data(), work.lanczos[2].data()},
        z_{work.z[0].data(), work.z[1].data()},
        search_{work.search[0].data(), work.search[1].data()},
        on_(ex, label, system.space()) {}

  /// Solves A x = b from `x` as it is. Ends where the residual is at most `target`, after `most` iterations, or where
  /// there is no more to gain: what is left then has no solution, or is rounding.
  MinresReport solve(const Entry* b, Entry* x, double target, int most) {
    MinresReport report;
    MinresRotations rotations;
    double gamma = begin(b, x), largest = 0;
    double left = gamma;  // with a sign
    report.residual = gamma;
    while (report.residual > target && report.iterations < most && gamma > rounding * largest) {
      const auto [delta, gamma_next] = extend(gamma);
      ++report.iterations;
      rotations.turn(gamma, delta, gamma_next);
      largest = std::max({largest, std::abs(delta), gamma_next});
      if (!(rotations.column()[2] > rounding * largest)) break;
      turn_search(rotations.column());
      on_.add(rotations.cosine() * left, search_[1], x);
      left *= -rotations.sine();
      report.residual = std::abs(left);
      std::swap(z_[0], z_[1]);
      gamma = gamma_next;
    }
    report.converged = report.residual <= target;
    return report;
  }

 private:
  /// What may be left where terms cancel, of their size.
  static constexpr double rounding = 16 * std::numeric_limits<Scalar>::epsilon();

  /// The first vector, b - A x. Returns its norm.
  double begin(const Entry* b, const Entry* x) {
    for (Entry* a : {lanczos_[0], search_[0], search_[1]}) on_.clear(a);
    system_.apply(x, lanczos_[1]);
    on_.scale(-1, lanczos_[1], lanczos_[1]);
    on_.add(1, b, lanczos_[1]);
    gamma_before_ = 1;
    return precondition(lanczos_[1], z_[0]);
  }

  /// z = M^-1 v. Returns the norm of v.
  double precondition(const Entry* v, Entry* z) {
    const auto inverse = system_.precondition(v);
    on_.precondition(inverse, v, z);
    return std::sqrt(on_.dot_preconditioned(inverse, v));
  }

  struct Column {
    double diagonal, below;
  };
  /// A times the present vector, of norm gamma, less what the last two have of it, is the next.
  Column extend(double gamma) {
    auto& [before, now, next] = lanczos_;
    on_.scale(1 / gamma, z_[0], z_[0]);
    system_.apply(z_[0], next);
    const double delta = on_.dot(z_[0], next);
    on_.add(-delta / gamma, now, next);
    on_.add(-gamma / gamma_before_, before, next);
    gamma_before_ = gamma;
    std::swap(before, now);
    std::swap(now, next);
    return {delta, precondition(now, z_[1])};
  }

  void turn_search(const std::array<double, 3>& column) {
    const auto a = static_cast<Scalar>(column[0]), b = static_cast<Scalar>(column[1]);
    on_.each(NextSearch<Space>{on_.space(), a, b, static_cast<Scalar>(1 / column[2]), z_[0], search_[1], search_[0]});
    std::swap(search_[0], search_[1]);
  }

  System& system_;
  std::array<Entry*, 3> lanczos_;  ///< the vector before, the present one, and room for the next
  std::array<Entry*, 2> z_;        ///< M^-1 of the present vector, and of the next
  std::array<Entry*, 2> search_;   ///< the direction before, and the last one
  Vectors<Space> on_;
  double gamma_before_ = 1;
};

}  // namespace tribo::TRIBO_BACKEND::linear

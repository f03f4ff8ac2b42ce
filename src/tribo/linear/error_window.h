#pragma once

#include <algorithm>
#include <array>

#include "tribo/linear/cg.h"

/// \file
/// When conjugate gradients may end that make a step of Newton's method.

namespace tribo::TRIBO_BACKEND::linear {

/// The error left, measured by the system itself, is what later iterations would still add: at least what the last few
/// have added [Hestenes 1952]. It may be a share of the whole, or a fifth of what is asked of the iterates.
class ErrorWindow {
 public:
  /// `target`: the square of what is asked, in the norm of the system.
  explicit ErrorWindow(double target) : target_(target) {}

  bool after_step(const CgReport& report) {
    if (report.iterations == 0) return false;
    recent_[static_cast<std::size_t>((report.iterations - 1) % window)] = report.last;
    double left = 0;
    for (const double part : recent_) left += part;
    return report.iterations >= window && left <= allowed(report);
  }
  bool at_residual(const CgReport&, double) const { return false; }

 protected:
  double allowed(const CgReport& report) const { return std::max(forcing * forcing * report.energy, 0.04 * target_); }

 private:
  /// Share of the remaining error a linear solve may leave to the next iterate.
  static constexpr double forcing = 0.05;
  /// Iterations over which progress is judged.
  static constexpr int window = 6;

  double target_;
  std::array<double, window> recent_{};
};

/// The same where M is never more than A: then r . M^-1 r is never less than the error.
class BoundedErrorWindow : public ErrorWindow {
 public:
  using ErrorWindow::ErrorWindow;
  bool at_residual(const CgReport& report, double rz) const { return report.iterations > 0 && rz <= allowed(report); }
};

}  // namespace tribo::TRIBO_BACKEND::linear

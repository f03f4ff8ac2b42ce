#pragma once

#include <chrono>
#include <string>

#include "tribo/run/runner.h"

namespace tribo {

/// Shows where a run stands: one changing line on a terminal, a plain line per frame elsewhere, nothing when quiet.
class ProgressDisplay {
 public:
  explicit ProgressDisplay(bool quiet);
  ~ProgressDisplay() { finish(); }

  /// Of work that is counted in frames: rendering, exporting.
  void count(const char* what, int done, int of);
  /// The same with parts of a frame, which only a terminal shows.
  void share(const char* what, double done, int of);
  void step(const RunProgress& progress);
  void frame(const RunProgress& progress);
  void note(const std::string& text);
  void finish();  ///< leaves the changing line behind

 private:
  void draw(double share, const std::string& text);
  void clear_line();

  bool quiet_;
  bool terminal_;
  bool line_open_ = false;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point last_draw_{};
};

}  // namespace tribo

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

  void step(const RunProgress& progress);
  void frame(const RunProgress& progress);
  void note(const std::string& text);
  void finish();  ///< leaves the changing line behind

 private:
  void draw(const RunProgress& progress);
  void clear_line();

  bool quiet_;
  bool terminal_;
  bool line_open_ = false;
  std::chrono::steady_clock::time_point last_draw_{};
};

}  // namespace tribo

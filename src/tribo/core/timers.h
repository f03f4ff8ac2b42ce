#pragma once

#include <chrono>
#include <cstring>
#include <utility>
#include <vector>

namespace tribo {

/// Seconds spent under each label, in order of first use. Labels are string literals.
class Timers {
 public:
  void add(const char* label, double seconds) {
    for (auto& [name, total] : entries_) {
      if (name == label || std::strcmp(name, label) == 0) {
        total += seconds;
        return;
      }
    }
    entries_.emplace_back(label, seconds);
  }
  const std::vector<std::pair<const char*, double>>& entries() const { return entries_; }
  void clear() { entries_.clear(); }

 private:
  std::vector<std::pair<const char*, double>> entries_;
};

/// Adds its own lifetime to a label.
class ScopedTimer {
 public:
  ScopedTimer(Timers& timers, const char* label) : timers_(timers), label_(label), start_(Clock::now()) {}
  ScopedTimer(const ScopedTimer&) = delete;
  ScopedTimer& operator=(const ScopedTimer&) = delete;
  ~ScopedTimer() { timers_.add(label_, std::chrono::duration<double>(Clock::now() - start_).count()); }

 private:
  using Clock = std::chrono::steady_clock;
  Timers& timers_;
  const char* label_;
  Clock::time_point start_;
};

}  // namespace tribo

#include "progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace tribo {
namespace {

std::string duration(double seconds) {
  if (seconds < 0) return "--";
  const long long s = std::llround(seconds);
  if (s >= 3600) return fmt::format("{}h{:02}m", s / 3600, s / 60 % 60);
  if (s >= 60) return fmt::format("{}m{:02}s", s / 60, s % 60);
  return fmt::format("{}s", s);
}

std::string count(std::int64_t n) {
  if (n >= 10'000'000) return fmt::format("{:.0f}M", static_cast<double>(n) * 1e-6);
  if (n >= 1'000'000) return fmt::format("{:.1f}M", static_cast<double>(n) * 1e-6);
  if (n >= 10'000) return fmt::format("{:.0f}k", static_cast<double>(n) * 1e-3);
  return std::to_string(n);
}

/// Never throws: a lost line of progress must not end a simulation. `main` reports a broken standard output at the end.
void show(const std::string& text) { std::fputs(text.c_str(), stdout); }

std::string summary(const RunProgress& p) {
  return fmt::format("frame {}/{}  t {:.3f} s  dt {:.2e} s ({})  {} particles  {} elapsed, {} left", p.frame, p.frames,
                     p.time, p.step.dt, p.step.limit, count(p.particles), duration(p.wall), duration(p.remaining));
}

double share_of(const RunProgress& p) { return p.end_time > 0 ? std::clamp(p.time / p.end_time, 0.0, 1.0) : 1.0; }

}  // namespace

ProgressDisplay::ProgressDisplay(bool quiet) : quiet_(quiet), terminal_(isatty(STDOUT_FILENO) != 0) {}

void ProgressDisplay::count(const char* what, int done, int of) { share(what, done, of); }

void ProgressDisplay::share(const char* what, double done, int of) {
  if (quiet_) return;
  const auto now = std::chrono::steady_clock::now();
  const bool whole = done == std::floor(done);
  if (!whole && (!terminal_ || now - last_draw_ < std::chrono::milliseconds(100))) return;
  last_draw_ = now;
  const double elapsed = std::chrono::duration<double>(now - start_).count();
  const double left = done > 0 ? elapsed / done * (of - done) : -1;
  const std::string text =
      fmt::format("{} {}/{}  {} elapsed, {} left", what, static_cast<int>(done), of, duration(elapsed), duration(left));
  if (terminal_) {
    draw(of > 0 ? done / of : 1.0, text);
  } else {
    show(text + "\n");
    std::fflush(stdout);
  }
}

void ProgressDisplay::step(const RunProgress& progress) {
  if (quiet_ || !terminal_) return;
  const auto now = std::chrono::steady_clock::now();
  if (now - last_draw_ < std::chrono::milliseconds(100)) return;
  last_draw_ = now;
  draw(share_of(progress), summary(progress));
}

void ProgressDisplay::frame(const RunProgress& progress) {
  if (quiet_) return;
  if (terminal_) {
    draw(share_of(progress), summary(progress));
  } else {
    show(summary(progress) + "\n");
    std::fflush(stdout);
  }
}

void ProgressDisplay::note(const std::string& text) {
  clear_line();
  fmt::print(stderr, "{}\n", text);
}

void ProgressDisplay::finish() {
  if (line_open_) show("\n");
  line_open_ = false;
  std::fflush(stdout);
}

void ProgressDisplay::draw(double share, const std::string& text) {
  constexpr int width = 24;
  const int filled = static_cast<int>(share * width);
  show("\r\033[K[" + std::string(static_cast<std::size_t>(filled), '#') +
       std::string(static_cast<std::size_t>(width - filled), '.') + "] " + text);
  std::fflush(stdout);
  line_open_ = true;
}

void ProgressDisplay::clear_line() {
  if (line_open_) show("\r\033[K");
  line_open_ = false;
  std::fflush(stdout);
}

}  // namespace tribo

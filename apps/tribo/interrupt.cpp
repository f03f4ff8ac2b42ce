#include "interrupt.h"

#include <csignal>

namespace tribo {

std::atomic<bool> stop_requested{false};

namespace {
extern "C" void on_signal(int signal) {
  stop_requested = true;
  std::signal(signal, SIG_DFL);
}
}  // namespace

void catch_interrupts() {
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
  if (std::signal(SIGHUP, on_signal) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);  // nohup
}

}  // namespace tribo

#pragma once

#include <atomic>

namespace tribo {

/// Set by the first Ctrl-C (or SIGTERM, SIGHUP) after `catch_interrupts`: an orderly end is asked for. The second ends
/// at once.
extern std::atomic<bool> stop_requested;
void catch_interrupts();

}  // namespace tribo

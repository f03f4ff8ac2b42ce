#include "tribo/core/memory.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

namespace tribo {
namespace {

/// First number in a file, or `otherwise` when there is none ("max" in control groups without a limit).
std::size_t number_in(const char* path, std::size_t otherwise) {
  std::ifstream file(path);
  std::size_t value = 0;
  return file >> value ? value : otherwise;
}

}  // namespace

std::size_t available_host_memory() {
  constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();
  std::size_t available = unlimited;
  std::ifstream meminfo("/proc/meminfo");
  for (std::string key; meminfo >> key;) {
    std::size_t kib = 0;
    if (key == "MemAvailable:" && meminfo >> kib) available = kib * 1024;
    meminfo.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  const std::size_t limit = number_in("/sys/fs/cgroup/memory.max", unlimited);
  const std::size_t used = number_in("/sys/fs/cgroup/memory.current", 0);
  return std::min(available, limit > used ? limit - used : 0);
}

}  // namespace tribo

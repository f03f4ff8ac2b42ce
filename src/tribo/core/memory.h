#pragma once

#include <cstddef>

namespace tribo {

/// Bytes of main memory the system says can be had without swapping; the limit of the enclosing control group counts.
std::size_t available_host_memory();

}  // namespace tribo

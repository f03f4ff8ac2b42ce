#pragma once

#include <variant>

#include "tribo/transfer/apic.h"

namespace tribo {

/// Every transfer scheme a scene can name in `grid.transfer`.
using Transfer = std::variant<Apic>;

}  // namespace tribo

#pragma once

#include <variant>

#include "tribo/transfer/apic.h"
#include "tribo/transfer/flip.h"
#include "tribo/transfer/pic.h"
#include "tribo/transfer/polypic.h"
#include "tribo/transfer/rpic.h"

namespace tribo {

/// Every transfer scheme a scene can name in `grid.transfer`. The first is what a scene gets that names none.
using Transfer = std::variant<Apic, Rpic, Pic, Flip, PolyPic>;

}  // namespace tribo

#pragma once

#include <cstdint>
#include <vector>

#include "tribo/math/small.h"
#include "tribo/matter/solids/seed.h"

namespace tribo {

struct BeadRow {
  int object = 0;  ///< index into Model::objects
  Run beads;
  double radius = 0;  ///< as they are drawn [m]
};

/// Beads of all rows, one after the other. A spring has the index of its first bead.
struct BeadSeed {
  std::vector<BeadRow> rows;
  std::vector<Vec<double, 3>> x;  ///< [m]
  std::vector<double> mass;       ///< [kg]; 0: it is held
  std::vector<double> stiffness;  ///< of springs [N/m]; 0 where a row ends
  std::vector<double> length;     ///< of springs at rest [m]
};

}  // namespace tribo

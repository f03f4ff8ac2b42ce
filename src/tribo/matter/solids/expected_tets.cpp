#include "tribo/matter/solids/expected_tets.h"

#include <algorithm>
#include <cmath>

#include "tribo/matter/solids/spec.h"

namespace tribo {

double expected_tets(const ObjectSpec& object) {
  const SolidSpec* solid = object.as<SolidSpec>();
  if (solid == nullptr) return 0;
  if (const TetSolid* given = given_tets(object.shape)) return static_cast<double>(given->mesh.tets.size());
  const double size = solid->element_size;
  if (const auto* box = std::get_if<Box<double>>(&object.shape)) {  // at least one cell along each edge, however thin
    double cells = 1;
    for (int k = 0; k < 3; ++k) cells *= std::max(1.0, std::round(box->size[k] / size));
    return 6 * cells;
  }
  const double volume = std::visit([](const auto& shape) { return shape.volume(3); }, object.shape);
  return 6 * volume / std::pow(size, 3);  // six to a cube of the edge length
}

}  // namespace tribo

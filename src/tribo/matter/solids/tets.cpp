#include "tribo/matter/solids/tets.h"

#include <fmt/format.h>

#include <cmath>

#include "tribo/core/errors.h"
#include "tribo/mesh/stuffing.h"

namespace tribo {

TetMesh tets_of(const Shape<double>& shape, double size, bool graded) {
  if (const TetSolid* given = given_tets(shape)) return given->mesh;
  if (!(size > 0) || !std::isfinite(size))
    throw Error(ExitCode::bad_input, fmt::format("expected a size of tets above 0, got {}", size));
  if (const auto* box = std::get_if<Box<double>>(&shape)) return tetrahedralized_box(box->size, size);
  return std::visit(
      [&](const auto& s) {
        const Bounds bounds = s.bounds();
        if (!bounds.bounded)
          throw Error(ExitCode::bad_input,
                      "a shape without bounds cannot be filled with tets; intersect it with a box");
        const auto distance = [&](const Vec<double, 3>& p) { return s.nearest(p).distance; };
        TetMesh mesh = tetrahedralize(distance, bounds.low, bounds.high, {size, graded});
        double filled = 0;
        for (std::size_t t = 0; t < mesh.tets.size(); ++t) filled += mesh.volume(t);
        const double volume = s.volume(3);
        if (std::isfinite(volume) && filled < 0.8 * volume)
          throw Error(ExitCode::bad_input,
                      fmt::format("tets of {:.3g} m fill {:.0f} % of the shape only; choose a smaller size, less than "
                                  "half of what is thinnest",
                                  size, 100 * filled / volume));
        return mesh;
      },
      shape);
}

}  // namespace tribo

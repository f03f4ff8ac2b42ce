#pragma once

#include <optional>

namespace tribo {

/// How bodies touch. Lengths in cells (experiments_solids "Recommended defaults").
struct ContactSpec {
  enum class Form { balanced, paper };
  Form form = Form::balanced;
  double samples_per_cell = 1;  ///< c: stratified samples for dx^2 of boundary, beside those at corners
  double rest_offset = 0.5;     ///< h0: gap at which bodies rest
  double push = 0;              ///< beta, part of a gap too small that is won back in a step; 0: by mesh and grid size
  bool affine = false;          ///< samples scatter their tet's velocity gradient, too (theory D.4)
};

/// How strands touch each other (Han 2019, 5.3; experiments_hair).
struct StrandContactSpec {
  enum class Form {
    /// Each iteration adds what is still missing, with friction bounded by its own normal impulse. Stops crossings best.
    plain,
    /// Impulses of a pair are summed over the iterations and their sum is bounded, so that later iterations can take
    /// back what earlier ones gave too much: friction of strands around strands (capstan). Wants 20 iterations or more.
    accumulated,
    none  ///< strands pass through each other
  };
  Form form = Form::plain;
  int iterations = 5;
  bool fail_safe = true;     ///< crossings are fed back as pairs until there are none, or tied
  bool count_missed = true;  ///< where there is no fail-safe, which counts anyway
  bool count_grid = false;   ///< crossings before any impulse too: one more search
};

/// How strands touch in bulk, on a grid of their own (Han 2019, sec. 5.1, 5.2; experiments_hair).
struct StrandGridSpec {
  bool on = true;
  std::optional<double> friction;    ///< c_F; nothing: that of each object
  std::optional<double> wave_speed;  ///< [m/s]; nothing: by how fast things may hit each other
  double blend = 0.05;               ///< xi of eq. 33, in `blend_time`
  double blend_time = 1.0 / 24;      ///< [s]; 0: in every step
};

}  // namespace tribo

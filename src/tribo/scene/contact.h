#pragma once

namespace tribo {

/// How bodies touch. Lengths in cells (experiments_solids.md, recommended defaults).
struct ContactSpec {
  enum class Form { balanced, paper };
  Form form = Form::balanced;
  double samples_per_cell = 1;  ///< c: stratified samples for dx^2 of boundary, beside those at corners
  double rest_offset = 0.5;     ///< h0: gap at which bodies rest
  double push = 0;              ///< beta, part of a gap too small that is won back in a step; 0: by mesh and grid size
  bool affine = false;          ///< samples scatter their tet's velocity gradient, too (D.4)
};

}  // namespace tribo

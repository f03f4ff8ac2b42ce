#pragma once

#include <string>
#include <vector>

#include "tribo/plot/svg.h"

namespace tribo {

/// A curve; values that are not finite (or not positive, on a logarithmic axis) leave gaps.
struct Curve {
  std::string name;
  std::vector<double> y;
  Stroke stroke;
};

/// One layer of a stack, lowest first. Values that are not finite or negative count as none.
struct Layer {
  std::string name;
  std::vector<double> y;
  std::string color;  ///< one of the palette's, in turn, when empty
};

/// A strip below the plot that shows when something held.
struct Lane {
  std::string name;
  std::string note;  ///< at its right end
  std::vector<bool> held;
};

/// A chart over one variable. Of curves and layers mostly one kind is used; all vectors are as long as `x`.
struct Chart {
  std::string title;
  std::string caption;  ///< beside the title
  std::string x_name, x_unit;
  std::string y_name, y_unit;
  bool logarithmic = false;  ///< the y axis
  bool from_zero = false;    ///< the y axis shows zero
  bool band = false;         ///< fills between the first two curves
  std::vector<double> x;     ///< ascending, finite
  std::vector<Curve> curves;
  std::vector<Layer> layers;
  std::vector<Lane> lanes;
};

/// The look of the k-th curve of a chart: colors that the color-blind tell apart (Okabe and Ito), dashes that a gray
/// print does.
Stroke curve_stroke(std::size_t k);

/// Left of the plot, for tick labels and the name of the axis: where titles begin [px].
inline constexpr double chart_left_margin = 104;

/// Draws the chart into `place`, legend and labels included. Long curves are thinned to what the width can show.
void draw_chart(Svg& svg, const Chart& chart, const Rect& place);

}  // namespace tribo

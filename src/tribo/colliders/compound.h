#pragma once

#include <cmath>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "tribo/colliders/compound_view.h"
#include "tribo/colliders/extract.h"
#include "tribo/core/errors.h"

namespace tribo {

/// Shapes joined, intersected or taken from each other, nested at will. The combined distance is exact away from seams
/// on the outside of unions and the inside of intersections, and nowhere larger than the true one.
template <class Simple>
class CompoundOf {
 public:
  static constexpr const char* name = "combination";
  template <class Real>
  using View = CompoundView<Real, Simple>;

  /// Where a part is in the compound.
  struct Placement {
    Vec<double, 3> at = Vec<double, 3>::zero();
    Mat<double, 3> rotation = Mat<double, 3>::identity();
  };
  struct Part {
    Placement placement;
    std::variant<Simple, CompoundOf> shape;
  };
  /// At least one part. Throws Error when parts are nested more deeply than kernels can follow.
  CompoundOf(Operation operation, double blend, const std::vector<Part>& parts);

  template <class Real, class Store>
  View<Real> view(const Store& store) const {
    std::vector<CompoundStep<Real, Simple>> steps;
    for (const Step& step : data_->steps) {
      CompoundStep<Real, Simple>& out = steps.emplace_back();
      out.at = cast<Real>(step.placement.at);
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) out.rotation(i, j) = static_cast<Real>(step.placement.rotation(i, j));
      out.blend = static_cast<Real>(step.blend);
      out.operation = step.operation;
      out.is_shape = step.shape ? 1 : 0;
      out.obstacle = step.obstacle;
      out.container = step.container;
      if (step.shape) {
        const auto index = static_cast<std::int32_t>(step.shape->index());
        std::visit([&](const auto& shape) { out.shape.set(index, device_form<Real>(shape, store)); }, *step.shape);
      }
    }
    return {store(std::move(steps)), static_cast<std::int32_t>(data_->steps.size())};
  }

  template <int D>
  SurfacePoint<double, D> nearest(const Vec<double, D>& p) const {
    return host_view().nearest(p);
  }
  template <int D, class Visit>
  void each_contact(const Vec<double, D>& p, bool inside, double slack, const Visit& visit) const {
    host_view().each_contact(p, inside, slack, visit);
  }
  Bounds bounds() const { return data_->bounds; }
  /// Measured on ever finer cells, to some tenths of a percent.
  double volume(int dimension) const;
  /// Extracted from the distance. Of a compound without bounds, the piece around its bounded parts.
  SurfaceMesh surface() const;

  /// Calls visit(shape, placement) for every simple shape in it.
  template <class Visit>
  void each_shape(const Visit& visit) const {
    for (const Step& step : data_->steps)
      if (step.shape) visit(*step.shape, step.placement);
  }
  /// What follows from the shapes in it as they are combined: leaf(shape, placement) of each, join(operation, blend,
  /// first, second) of two.
  template <class Leaf, class Join>
  auto fold(const Leaf& leaf, const Join& join) const {
    std::vector<decltype(leaf(std::declval<const Simple&>(), std::declval<const Placement&>()))> stack;
    for (const Step& step : data_->steps) {
      if (step.shape) {
        stack.push_back(leaf(*step.shape, step.placement));
        continue;
      }
      auto second = std::move(stack.back());
      stack.pop_back();
      auto first = std::move(stack.back());
      stack.back() = join(step.operation, step.blend, std::move(first), std::move(second));
    }
    return std::move(stack.back());
  }

 private:
  struct Step {
    std::optional<Simple> shape;  ///< none: an operation
    Placement placement;
    Operation operation = Operation::unite;
    double blend = 0;
    Sense obstacle = Sense::none;
    Sense container = Sense::none;
  };
  struct Data {
    std::vector<Step> steps;
    int depth = 0;  ///< of the stack
    Bounds bounds;
    Bounds surroundings;  ///< of the parts that have bounds
    mutable std::once_flag viewed, drawn, measured[2];
    mutable std::vector<CompoundStep<double, Simple>> host_steps;
    mutable SurfaceMesh surface;
    mutable double volume[2] = {0, 0};
  };

  void add(const Part& part, Operation operation, double blend, Data& out);
  View<double> host_view() const;

  std::shared_ptr<const Data> data_;
};

template <class Simple>
CompoundOf<Simple>::CompoundOf(Operation operation, double blend, const std::vector<Part>& parts) {
  auto data = std::make_shared<Data>();
  std::vector<Step>& steps = data->steps;
  for (const Part& part : parts) add(part, operation, blend, *data);
  if (data->depth > View<double>::stack_size)
    throw Error(ExitCode::bad_input, "shapes are nested too deeply; put the most nested one first in its list");
  // Where material must respect the parts one by one, their marks stay; else only the whole is marked.
  const bool several = parts.size() > 1;
  if (several && (operation != Operation::unite || blend > 0)) {
    for (Step& step : steps) step.obstacle = Sense::none;
    steps.back().obstacle = Sense::stay_outside;
  }
  if (several && (operation == Operation::unite || blend > 0)) {
    for (Step& step : steps) step.container = Sense::none;
    steps.back().container = Sense::stay_inside;
  }
  data_ = std::move(data);
}

template <class Simple>
void CompoundOf<Simple>::add(const Part& part, Operation operation, double blend, Data& out) {
  const bool first = out.steps.empty();
  const std::size_t begin = out.steps.size();
  int depth = 1;
  Bounds bounds, surroundings;
  if (const auto* nested = std::get_if<CompoundOf>(&part.shape)) {
    for (Step step : nested->data_->steps) {
      step.placement.at = part.placement.rotation * step.placement.at + part.placement.at;
      step.placement.rotation = part.placement.rotation * step.placement.rotation;
      out.steps.push_back(std::move(step));
    }
    depth = nested->data_->depth;
    bounds = nested->data_->bounds;
    surroundings = nested->data_->surroundings;
  } else {
    const Simple& shape = std::get<Simple>(part.shape);
    out.steps.push_back({shape, part.placement, {}, 0, Sense::stay_outside, Sense::stay_inside});
    bounds = surroundings = std::visit([](const auto& s) { return s.bounds(); }, shape);
  }
  bounds = turned(bounds, part.placement.rotation, part.placement.at);
  surroundings = turned(surroundings, part.placement.rotation, part.placement.at);
  out.depth = std::max(out.depth, first ? depth : depth + 1);
  out.surroundings = first ? surroundings : hull_of_bounded(out.surroundings, surroundings);
  if (first) {
    out.bounds = bounds;
    return;
  }
  if (operation == Operation::difference) {
    // What is taken away is an obstacle to whoever is inside of the rest.
    for (std::size_t i = begin; i < out.steps.size(); ++i) out.steps[i].container = out.steps[i].obstacle;
  } else if (operation == Operation::unite) {
    out.bounds = united(out.bounds, bounds, blend / 4);  // a blend fills the seam by that much
  } else {
    out.bounds = common(out.bounds, bounds);
  }
  Step& step = out.steps.emplace_back();
  step.operation = operation;
  step.blend = blend;
}

template <class Simple>
typename CompoundOf<Simple>::template View<double> CompoundOf<Simple>::host_view() const {
  std::call_once(data_->viewed, [&] {
    view<double>([&]<class Values>(Values&& values) {
      using Item = typename std::decay_t<Values>::value_type;
      if constexpr (std::is_same_v<Item, CompoundStep<double, Simple>>) data_->host_steps = std::move(values);
      return static_cast<const Item*>(values.data());
    });
  });
  return {data_->host_steps.data(), static_cast<std::int32_t>(data_->host_steps.size())};
}

template <class Simple>
double CompoundOf<Simple>::volume(int dimension) const {
  if (!data_->bounds.bounded) return std::numeric_limits<double>::infinity();
  const std::size_t which = dimension == 2 ? 0 : 1;
  std::call_once(data_->measured[which], [&] {
    const View<double> view = host_view();
    data_->volume[which] = dimension == 2
                               ? measure<2>([&](const Vec<double, 2>& p) { return view.nearest(p); }, data_->bounds)
                               : measure<3>([&](const Vec<double, 3>& p) { return view.nearest(p); }, data_->bounds);
  });
  return data_->volume[which];
}

template <class Simple>
SurfaceMesh CompoundOf<Simple>::surface() const {
  std::call_once(data_->drawn, [&] {
    Bounds region = data_->bounds;
    if (!region.bounded) region = widened(data_->surroundings);
    const View<double> view = host_view();
    data_->surface = extract_surface([&](const Vec<double, 3>& p) { return view.nearest(p); }, region);
  });
  return data_->surface;
}

}  // namespace tribo

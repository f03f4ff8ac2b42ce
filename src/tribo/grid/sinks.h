#pragma once

#include <tuple>
#include <variant>
#include <vector>

#include "tribo/colliders/all.h"
#include "tribo/contact/shape_store.h"
#include "tribo/exec/backend.h"
#include "tribo/math/small.h"
#include "tribo/scene/scene.h"

namespace tribo::TRIBO_BACKEND {

/// A sink in place.
template <class Real, int D, class S>
struct PlacedSink {
  S shape;
  Vec<Real, D> at;        ///< [m]
  Mat<Real, D> rotation;  ///< local to world
  double from;            ///< [s]
  double until;           ///< [s]
  Index number;           ///< in the scene's list

  TRIBO_HD bool holds(const Vec<Real, D>& x, double time) const {
    return time >= from && time < until && shape.nearest(transpose(rotation) * (x - at)).distance < Real(0);
  }
};

/// All sinks of one shape.
template <class Real, int D, class S>
struct SinkSpan {
  const PlacedSink<Real, D, S>* data = nullptr;
  Index count = 0;

  /// The lowest number among those that hold x, and `found`.
  TRIBO_HD Index lowest(const Vec<Real, D>& x, double time, Index found) const {
    for (Index i = 0; i < count; ++i)
      if (data[i].number < found && data[i].holds(x, time)) found = data[i].number;
    return found;
  }
};

/// All sinks, kept apart by shape as colliders are.
template <class Real, int D, class Shapes>
struct SinksOf;
template <class Real, int D, class... S>
struct SinksOf<Real, D, std::variant<S...>> {
  static constexpr Index none = no_index;
  struct View : SinkSpan<Real, D, DeviceForm<Real, S>>... {
    /// Number of the sink that takes a particle at x, or `none`.
    TRIBO_HD Index taking(const Vec<Real, D>& x, double time) const {
      Index found = none;
      ((found = SinkSpan<Real, D, DeviceForm<Real, S>>::lowest(x, time, found)), ...);
      return found;
    }
  };

  void place(Exec& ex, const std::vector<SinkSpec>& specs) {
    count = static_cast<Index>(specs.size());
    std::tuple<std::vector<PlacedSink<Real, D, DeviceForm<Real, S>>>...> host;
    for (std::size_t number = 0; number < specs.size(); ++number) {
      const SinkSpec& spec = specs[number];
      const Mat<double, 3> rotation = rotation_matrix(spec.placement.rotation);
      std::visit(
          [&]<class One>(const One& shape) {
            PlacedSink<Real, D, One> placed;
            placed.shape = shape;
            for (int i = 0; i < D; ++i) {
              placed.at[i] = static_cast<Real>(spec.placement.at[i]);
              for (int j = 0; j < D; ++j) placed.rotation(i, j) = static_cast<Real>(rotation(i, j));
            }
            placed.from = spec.from;
            placed.until = spec.until;
            placed.number = static_cast<Index>(number);
            std::get<std::vector<PlacedSink<Real, D, One>>>(host).push_back(placed);
          },
          store_.load(ex, spec.shape));
    }
    (upload(ex, std::get<std::vector<PlacedSink<Real, D, DeviceForm<Real, S>>>>(host)), ...);
  }

  View view() const {
    View v;
    (fill<DeviceForm<Real, S>>(v), ...);
    return v;
  }

  std::size_t kept_bytes() const { return store_.bytes(); }

  Index count = 0;

 private:
  template <class One>
  void fill(SinkSpan<Real, D, One>& span) const {
    span.data = array<One>().data();
    span.count = static_cast<Index>(array<One>().size());
  }
  template <class One>
  const Array<PlacedSink<Real, D, One>>& array() const {
    return std::get<Array<PlacedSink<Real, D, One>>>(all_);
  }
  template <class One>
  void upload(Exec& ex, const std::vector<PlacedSink<Real, D, One>>& host) {
    copy_to_device(ex, host.data(), std::get<Array<PlacedSink<Real, D, One>>>(all_), static_cast<Index>(host.size()));
  }

  ShapeStore<Real> store_;
  std::tuple<Array<PlacedSink<Real, D, DeviceForm<Real, S>>>...> all_;
};

template <class Real, int D>
using Sinks = SinksOf<Real, D, Shape<double>>;

}  // namespace tribo::TRIBO_BACKEND

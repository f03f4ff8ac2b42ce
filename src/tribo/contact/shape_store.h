#pragma once

#include <memory>
#include <variant>
#include <vector>

#include "tribo/colliders/all.h"
#include "tribo/colliders/device_form.h"
#include "tribo/exec/backend.h"

namespace tribo::TRIBO_BACKEND {

/// Shapes in the form kernels use. What they refer to is on the device for good, not sent in every step.
template <class Real, class Shapes>
class ShapeStoreOf;
template <class Real, class... S>
class ShapeStoreOf<Real, std::variant<S...>> {
 public:
  using Form = std::variant<DeviceForm<Real, S>...>;

  Form load(Exec& ex, const std::variant<S...>& any_shape) {
    const auto store = [&](const auto& values) {
      using Item = typename std::decay_t<decltype(values)>::value_type;
      auto array = std::make_shared<Array<Item>>();
      copy_to_device(ex, values.data(), *array, static_cast<Index>(values.size()));
      const Item* const address = array->data();
      bytes_ += array->bytes();
      kept_.push_back(std::move(array));
      return address;
    };
    return std::visit([&](const auto& shape) { return Form(device_form<Real>(shape, store)); }, any_shape);
  }
  std::size_t bytes() const { return bytes_; }

 private:
  std::vector<std::shared_ptr<void>> kept_;
  std::size_t bytes_ = 0;
};

template <class Real>
using ShapeStore = ShapeStoreOf<Real, Shape<double>>;

}  // namespace tribo::TRIBO_BACKEND

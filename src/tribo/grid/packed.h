#pragma once

#include <future>
#include <memory>

#include "tribo/exec/backend.h"

namespace tribo::TRIBO_BACKEND {

/// The copy of the particles that a backend steps on, where it has one of its own: what those need to know of it who
/// do not step.
struct PackedState {
  bool active = false;              ///< holds the state; the columns are a copy
  std::shared_future<void> reader;  ///< of the columns, in another thread; broken off when it gave up

  PackedState() = default;
  PackedState(const PackedState&) = delete;
  PackedState& operator=(const PackedState&) = delete;
  virtual ~PackedState() { await_reader(); }
  virtual std::size_t bytes() const = 0;

  /// Before columns are written to.
  void await_reader() {
    if (reader.valid()) reader.wait();
    reader = {};
  }
};

}  // namespace tribo::TRIBO_BACKEND

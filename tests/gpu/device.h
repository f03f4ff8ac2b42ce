#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "tribo/engine/engine.h"
#include "tribo/exec/gpu_memory.h"
#include "tribo/simulation.h"

namespace tribo::test {

/// The device under test: cuda, unless the tests test themselves with TRIBO_GPU_TEST_DEVICE=cpu.
inline std::string device() {
  const char* const name = std::getenv("TRIBO_GPU_TEST_DEVICE");
  return name == nullptr ? "cuda" : name;
}

/// Why there is nothing to test here; empty when there is.
inline std::string reason_to_skip() {
  if (device() != "cuda") return "";
  if (!has_cuda()) return "this tribo was built without CUDA";
  if (!gpu_memory()) return "there is no usable NVIDIA GPU on this machine";
  return "";
}

/// Tests of the device, skipped where there is none.
class OnDevice : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string reason = reason_to_skip();
    if (!reason.empty()) GTEST_SKIP() << reason;
  }
};
/// The same with a parameter.
template <class Parameter>
class OnDeviceWith : public OnDevice, public ::testing::WithParamInterface<Parameter> {};

/// What is compared with: the CPU. One thread of the least instruction set built where the CPU also stands in for the
/// device, so that the two differ in something.
inline EngineOptions reference(const std::string& precision = "double") {
  return {"cpu", precision, device() == "cpu" ? 1 : 0, device() == "cpu" ? available_isas().back() : ""};
}
inline EngineOptions tested(const std::string& precision = "double") { return {device(), precision, 0, ""}; }

/// A simulation on either.
inline SimulationOptions simulation_options(const EngineOptions& options) {
  return {options.device, options.threads, options.isa, {}};
}

}  // namespace tribo::test

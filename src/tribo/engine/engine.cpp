#include "tribo/engine/engine.h"

#include <cstring>

#include "tribo/core/errors.h"
#include "tribo/engine/backends.h"
#include "tribo/scene/room.h"

namespace tribo {
namespace {

using Factory = std::unique_ptr<Engine> (*)(const EngineOptions&, const Model&, const Seeds&);

struct CpuBackend {
  const char* isa;
  bool (*supported)();
  Factory make;
};

/// The x86-64 levels v3 and v4 by the features that tell them apart; clang 14 does not know the levels by name.
#if defined(__x86_64__)
[[maybe_unused]] bool has_avx2() {
  return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0 &&
         __builtin_cpu_supports("bmi2") != 0;
}
[[maybe_unused]] bool has_avx512() {
  return has_avx2() && __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
         __builtin_cpu_supports("avx512cd") != 0 && __builtin_cpu_supports("avx512dq") != 0 &&
         __builtin_cpu_supports("avx512vl") != 0;
}
#endif
[[maybe_unused]] bool always() { return true; }

/// CPU backends in this binary, best first. The build decides which there are.
const std::vector<CpuBackend>& cpu_backends() {
  static const std::vector<CpuBackend> all = {
#if defined(TRIBO_HAS_AVX512)
    {"avx512", has_avx512, &cpu_avx512::make_backend_engine},
#endif
#if defined(TRIBO_HAS_AVX2)
    {"avx2", has_avx2, &cpu_avx2::make_backend_engine},
#endif
#if defined(TRIBO_HAS_GENERIC)
    {"generic", always, &cpu_generic::make_backend_engine},
#endif
  };
  return all;
}

}  // namespace

std::vector<std::string> available_isas() {
  std::vector<std::string> names;
  for (const CpuBackend& backend : cpu_backends())
    if (backend.supported()) names.emplace_back(backend.isa);
  return names;
}

std::string built_isas() {
  std::string names;
  for (const CpuBackend& backend : cpu_backends()) names += (names.empty() ? "" : ", ") + std::string(backend.isa);
  return names;
}

bool has_cuda() {
#if defined(TRIBO_HAS_CUDA)
  return true;
#else
  return false;
#endif
}

double estimated_bytes(const EngineOptions& options, const Model& model, const Amounts& amounts) {
  const MemoryRules rules{options.device == "cuda", options.precision == "double" ? 8.0 : 4.0};
  double sum = 0;
  for (const Room* room : rooms()) sum += room->outlay(rules, model, amounts).bytes;
  return sum;
}

std::unique_ptr<Engine> make_engine(const EngineOptions& options, const Model& model, const Seeds& seeds) {
  if (options.device == "cuda") {
#if defined(TRIBO_HAS_CUDA)
    return cuda::make_backend_engine(options, model, seeds);
#else
    throw DeviceError(
        "--device cuda: this tribo was built without CUDA; rebuild it with nvcc (TRIBO_CUDA=ON ./run), or use "
        "--device cpu");
#endif
  }
  if (options.device != "cpu") throw DeviceError("unknown device '" + options.device + "'; use cpu or cuda");
  for (const CpuBackend& backend : cpu_backends()) {
    if (!options.isa.empty() && options.isa != backend.isa) continue;
    if (backend.supported()) return backend.make(options, model, seeds);
  }
  throw DeviceError(options.isa.empty() ? "this processor has none of the instruction sets this tribo was built for (" +
                                              built_isas() + "); build it with -DTRIBO_ISAS=ALL"
                                        : "instruction set '" + options.isa +
                                              "' is not available here; this tribo was built for " + built_isas());
}

Container save_state(Engine& engine) {
  Container checkpoint;
  checkpoint.kind = "checkpoint";
  engine.visit_state([&](const char* name, DType type, std::int64_t count, const void* data) {
    NamedArray array;
    array.name = name;
    array.type = type;
    array.count = static_cast<std::uint64_t>(count);
    array.data.resize(static_cast<std::size_t>(count) * size_of(type));
    if (count > 0) std::memcpy(array.data.data(), data, array.data.size());
    checkpoint.arrays.push_back(std::move(array));
  });
  return checkpoint;
}

}  // namespace tribo

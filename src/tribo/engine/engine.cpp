#include "tribo/engine/engine.h"

#include <cmath>
#include <cstring>

#include "tribo/core/errors.h"
#include "tribo/engine/backends.h"

namespace tribo {
namespace {

using Factory = std::unique_ptr<Engine> (*)(const EngineOptions&, const Model&, const ParticleSeed&, const SolidSeed&,
                                            const RodSeed&);

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

double estimated_bytes(const EngineOptions& options, const Model& model, double particles, const MeshAmounts& meshes) {
  const int D = model.dimension;
  const bool cuda = options.device == "cuda";
  const double real = options.precision == "double" ? 8 : 4;
  const double pack = 4 * real;  // of a node
  const bool poly = model.transfer.poly_degree > 0;
  const bool general = poly || model.gradient_forces || model.kernel_nodes != 3;  // the gradient waits in a column
  const double modes = poly ? D * (std::pow(3.0, D) - 1 - D) : 0;
  const double columns = real * (2 * D + 2 * D * D + 2 + D * (D + 1) / 2.0 + 1 + modes + (general ? D * D : 0)) + 8;
  const double nodes = std::pow(4.0, D);  // of a grid block; and the cells of one
  double per_particle = columns;
  double per_block = 2 * nodes * pack;          // a block of particles has about two of the grid
  const double sorting = 2 * 8 + 3 * 4 + real;  // keys and order in two copies, flags, a spare column
  const double arena = std::pow(model.kernel_nodes + (cuda ? 3.0 : 5.0), D);
  double counters = 0;  // of a block of packed particles
  if (cuda && !model.time.implicit) {
    const double records = D == 3 ? 8 : 5;                    // of four numbers, packed for kernels
    const double copy = records * pack + (2 + modes) * real;  // and history, and PolyPIC's modes
    const bool sorts_again = !model.emitters.empty() || !model.sinks.empty();
    per_particle += 2 * copy + 2 * 4 + 4 + 1 + (sorts_again ? sorting : 0);  // two copies, id and object, order, key
    counters = 2 * std::pow(6.0, D) * 4  // two for each of the cells in reach
               + std::pow(3.0, D) * 4    // numbers of neighbors
               + 2 * nodes * 4;          // where cells begin, in two copies
    per_block += arena * pack + counters;
  } else {
    per_particle += sorting;
    per_block += arena * pack;
  }
  if (model.time.implicit) {  // a tangent for each particle, and six vectors over the grid
    per_particle += real * D * D * (D * D + 1) / 2.0;
    per_block += 2 * nodes * (6 * pack + 4);
  }
  per_particle += 3 * real;                                              // what a frame shows beside the state
  if (model.transfer.flip > 0) per_block += (arena + 2 * nodes) * pack;  // before forces act
  // A block holds at most 4^D cells of particles, in thin bodies far fewer. A quarter-full block is a fair guess before
  // the particles exist.
  // Those of curves are on lines, which have blocks of their own.
  const double blocks = std::fmax(particles - 2 * meshes.curve_segments, 0) / (0.25 * 8 * nodes);
  // Corners, inverse rest shape and rate of each tet; a quarter as many vertices, each with some twenty corners.
  double per_tet = 4 * pack + 12 * real + 10 * 4 + 0.25 * (12 * real + 5 * 4);
  if (model.time.implicit) per_tet += 45 * real + 0.25 * (7 * pack + 6 * real);
  // Collision particles: weights, places and order; and for the field they make with other bodies or particles, and for
  // those by direction in which a body meets itself, what each adds to the grid, impulses, and the sums at nodes with
  // their changes. A block of a field has about five cells of surface, of one by direction not two, where bodies are
  // large; kernels of a body as small as a cell reach six, and those of its six sides six each. Each meeting with
  // another body has a slot for every sample around, and small bodies have many neighbors.
  double per_sample = 14 * real + 72, per_surface_cell = 0, per_body = meshes.bodies * real;  // friction by pairs
  const double sums = 64 * (32 + 3) * real;
  if (meshes.bodies > 1 || particles > 0) {
    per_sample += 36 * real + 4 + 4 * real * std::fmin(std::fmax(meshes.bodies - 1, 0), 8);
    per_surface_cell += sums / 5;
    per_body += 6 * sums;
  }
  if (meshes.self_contact) {
    per_sample += 55 * real + 80;
    per_surface_cell += sums / 1.7;
    per_body += 38 * sums;
  }
  // Strands: state, rest shape, the factor of A with what solves, frames and compliance take.
  double per_segment = (13 + 19 + 68) * real + 3 * 4;
  if (cuda) per_segment += 39 * real;  // the matrix itself, and rows of whole pieces of 16 bytes
  const double per_curve = per_segment;
  // Contact between them: boxes and their places in pads, impulses of vertices; and one pair for each segment, with its
  // impulse and the lists by segments. Hair that rubs has some pairs, hair that flies none.
  if (model.strand_contact.form != StrandContactSpec::Form::none)
    per_segment += (6 + 13) * real + 160 + (16 + 11) * real + 56;
  if (!model.colliders.empty()) per_segment += 39 * real + 8;
  // On their own grid: columns of a particle, a copy of what a step changes, sorting; and for each block that strands
  // are in a pair of arenas, and with what kernels reach some blocks of nodes, before and after forces act.
  const double strand_arena = std::pow(cuda ? 6.0 : 8.0, 3), reached = 3.5;
  const double per_grid_segment = (33 + 29 + (particles > 0 ? 3 : 0)) * real + 2 * 4 + sorting;
  const double per_strand_block = 1.1 * 2 * (strand_arena + reached * 64) * pack;
  // As a volume: what is staggered and solved for on a window, and the multigrid of its pressure.
  const double per_volume_cell = 50 * real + 40;
  const double strands = meshes.segments * per_segment + meshes.grid_segments * per_grid_segment +
                         meshes.strand_blocks * per_strand_block + meshes.volume_cells * per_volume_cell +
                         meshes.curve_segments * per_curve +
                         meshes.curve_blocks * 1.1 * ((strand_arena + reached * 64) * pack + counters);
  return particles * per_particle + blocks * per_block + meshes.tets * per_tet + meshes.samples * per_sample +
         meshes.surface_cells * per_surface_cell + meshes.bodies * per_body + strands;
}

std::unique_ptr<Engine> make_engine(const EngineOptions& options, const Model& model, const ParticleSeed& seed,
                                    const SolidSeed& solids, const RodSeed& rods) {
  if (options.device == "cuda") {
#if defined(TRIBO_HAS_CUDA)
    return cuda::make_backend_engine(options, model, seed, solids, rods);
#else
    throw DeviceError(
        "--device cuda: this tribo was built without CUDA; rebuild it with nvcc (TRIBO_CUDA=ON ./run), or use "
        "--device cpu");
#endif
  }
  if (options.device != "cpu") throw DeviceError("unknown device '" + options.device + "'; use cpu or cuda");
  for (const CpuBackend& backend : cpu_backends()) {
    if (!options.isa.empty() && options.isa != backend.isa) continue;
    if (backend.supported()) return backend.make(options, model, seed, solids, rods);
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

#include "render.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>
#include <cmath>
#include <string>

#include "tribo/matter/particles/seed.h"
#include "tribo/render/renderer.h"
#include "tribo/scene/reader.h"
#include "tribo/setup/model.h"

namespace tribo {
namespace {

/// A block of sand on the ground; dx such that it has so many particles.
Scene block_scene(double particles, const char* as, const RenderBenchOptions& options) {
  const double volume = 1.2 * 0.6 * 0.8;
  return parse_scene(fmt::format(R"({{"tribo": 1, "duration": 1, "grid": {{"dx": {}}},
    "objects": [{{"type": "particles", "shape": {{"box": [1.2, 0.6, 0.8]}}, "at": [0, 0.3, 0], "material": "dry_sand",
                  "look": {{"as": "{}"}}}}],
    "colliders": [{{"shape": {{"half_space": [0, 1, 0]}}}}],
    "render": {{"width": {}, "height": {}, "samples": {}}}}})",
                                 std::cbrt(8 * volume / particles), as, options.width, options.height, options.samples),
                     "bench");
}

Frame frame_of(const ParticleSeed& seed) {
  std::vector<float> x;
  x.reserve(3 * seed.x.size());
  for (const Vec<double, 3>& p : seed.x)
    for (int k = 0; k < 3; ++k) x.push_back(static_cast<float>(p[k]));
  Frame frame;
  frame.objects = {"sand"};
  frame.columns = {make_array<float>("x", 3, x), make_array<std::int32_t>("object", 1, seed.object)};
  return frame;
}

/// Most memory this process has had so far [MiB].
double peak_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

}  // namespace

void bench_render(const RenderBenchOptions& options) {
  fmt::print("picture of {}x{} pixels, {} light paths a pixel\n", options.width, options.height, options.samples);
  fmt::print("{:<10}{:>11}{:>10}{:>16}\n", "as", "particles", "seconds", "peak so far MiB");
  for (const double particles : options.particles)
    for (const char* as : {"spheres", "surface"}) {
      const Scene scene = block_scene(particles, as, options);
      const Frame frame = frame_of(make_seeds(scene).of<ParticleSeed>());
      const Renderer renderer(scene, expected_motion(scene), {});
      const auto start = std::chrono::steady_clock::now();
      renderer.draw(frame, {});
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      fmt::print("{:<10}{:>11}{:>10.2f}{:>16.0f}\n", as, frame.find("x")->count, seconds, peak_memory());
      std::fflush(stdout);
    }
}

}  // namespace tribo

#pragma once

#include <vector>

namespace tribo {

struct RenderBenchOptions {
  std::vector<double> particles = {1e6, 5e6};
  int width = 1280;
  int height = 720;
  int samples = 16;
};

/// Seconds and memory that a picture takes, from a frame in memory to pixels: a block of particles that fills much of
/// the view, as spheres and as a surface. Prints a table.
void bench_render(const RenderBenchOptions& options);

}  // namespace tribo

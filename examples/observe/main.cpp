// Opens a scene, simulates it and follows its highest particle, frame by frame: tribo as a library.
#include <tribo/core/errors.h>
#include <tribo/simulation.h>

#include <algorithm>
#include <cstdio>
#include <span>

int main(int argc, char** argv) try {
  if (argc != 2) {
    std::fprintf(stderr, "usage: observe SCENE.json\n");
    return 2;
  }
  tribo::SimulationOptions options;
  options.overrides.push_back(tribo::parse_override("/precision=float"));  // the type of the columns below
  tribo::Simulation simulation = tribo::Simulation::open(argv[1], options);
  std::printf("%8s %9s %12s %10s  %s\n", "time s", "substeps", "particles", "highest m", "state");
  while (simulation.frame() < simulation.frame_count()) {
    simulation.advance_frame();
    const tribo::Frame frame = simulation.observe();
    const std::span<const float> x = frame.find("x")->as<float>();  // x0 y0 z0 x1 y1 z1 ...
    float highest = x[1];
    for (std::size_t i = 1; i < x.size(); i += 3) highest = std::max(highest, x[i]);
    std::printf("%8.4f %9lld %12zu %10.4f  %016llx\n", frame.time,
                static_cast<long long>(simulation.progress().substeps), x.size() / 3, static_cast<double>(highest),
                static_cast<unsigned long long>(simulation.state_hash()));
  }
  return 0;
} catch (const tribo::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return static_cast<int>(error.code());
}

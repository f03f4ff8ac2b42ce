#pragma once

#include <string>

#include "heap.h"

/// \file
/// The scenes of sand under scenes/validation/, run to their end and measured.

namespace tribo::test {

inline std::string validation_scene(const char* name) { return std::string(TRIBO_SCENE_DIR "/validation/") + name; }

/// Run-out and height of a collapsed column over its first radius.
struct Deposit {
  double run_out;           ///< (r - r0) / r0
  double height;            ///< at the axis
  double kinetic_per_mass;  ///< [J/kg], at the end
};
/// Run-out that Lube et al. 2004 measured for columns of aspect ratio a, over the first radius.
inline double lube_run_out(double a) { return a < 1.7 ? 1.24 * a : 1.6 * std::sqrt(a); }
/// Height that they measured, over the first radius; columns lower than their radius keep a part of their top.
inline double lube_height(double a) { return a < 1.7 ? std::min(a, 1.0) : 0.88 * std::pow(a, 1.0 / 6); }

/// The column of sand_collapse.json with the height `aspect` times its radius, on a grid of `cells` per radius. The
/// edge is where the deposit is thinner than half the spacing of particles.
inline Deposit collapse(double aspect, double cells) {
  const double radius = 0.1, height = aspect * radius, dx = radius / cells;
  SimulationOptions options;
  options.overrides = {{"/objects/0/shape/cylinder/height", fmt::format("{}", height)},
                       {"/objects/0/at/1", fmt::format("{}", height / 2)},
                       {"/grid/dx", fmt::format("{}", dx)}};
  Simulation simulation = Simulation::open(validation_scene("sand_collapse.json"), options);
  while (simulation.frame() < simulation.frame_count()) simulation.advance_frame();
  const ObjectSums sums = simulation.measure()[0];
  const double volume_each = pi * radius * radius * height / static_cast<double>(sums.particles);
  const Profile profile = rings(simulation.observe(), volume_each, dx / 2);
  const double end = edge(profile, std::cbrt(volume_each) / 2);
  return {(end - radius) / radius, height_within(profile, radius / 4) / radius, sums.kinetic / sums.mass};
}

/// Slope at which the sand of sand_repose.json comes to rest [degrees].
inline double angle_of_repose(double friction_angle, double dx) {
  SimulationOptions options;
  options.overrides = {{"/materials/sand/friction_angle", fmt::format("{}", friction_angle)},
                       {"/grid/dx", fmt::format("{}", dx)}};
  Simulation simulation = Simulation::open(validation_scene("sand_repose.json"), options);
  while (simulation.frame() < simulation.frame_count()) simulation.advance_frame();
  const double height = 0.12, volume_each = 0.2 * height / static_cast<double>(simulation.measure()[0].particles);
  return flank_degrees(strips(simulation.observe(), volume_each, 0.01), height);
}

}  // namespace tribo::test

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "tribo/core/errors.h"
#include "tribo/io/run_directory.h"
#include "tribo/scene/reader.h"

/// \file
/// leak_check DIR LIMIT: how far particles of a run are beyond the colliders' surfaces, which may move, in each frame.
/// Exits with 1 when any is further than LIMIT cells.

namespace tribo {
namespace {

struct Depths {
  double deepest = 0;      ///< [m]
  std::size_t beyond = 0;  ///< particles beyond a surface at all
  std::size_t half = 0;    ///< by more than half a cell
};

template <class Real>
void measure(const Frame& frame, const Scene& scene, Depths& depths) {
  const auto x = frame.find("x")->as<Real>();
  for (const ColliderSpec& collider : scene.colliders) {
    const Pose pose = collider.motion.pose(frame.time);
    std::visit(
        [&](const auto& shape) {
          for (std::size_t i = 0; i < x.size(); i += 3) {
            const Vec<double, 3> world{{double(x[i]), double(x[i + 1]), double(x[i + 2])}};
            double depth = 0;
            shape.each_contact(transpose(pose.rotation) * (world - pose.at), collider.inside, 0.0,
                               [&](const SurfacePoint<double, 3>& s) { depth = std::max(depth, -s.distance); });
            depths.deepest = std::max(depths.deepest, depth);
            if (depth > 0) ++depths.beyond;
            if (depth > 0.5 * scene.grid.dx) ++depths.half;
          }
        },
        collider.shape);
  }
}

int check(const std::string& directory, double limit) {
  const RunDirectory run(directory, RunDirectory::Mode::read);
  const Scene scene = read_scene(directory + "/scene.json", {});
  if (scene.dimension != 3) throw Error(ExitCode::bad_input, "only for runs in three dimensions");
  double deepest = 0;
  std::size_t most_beyond = 0, most_half = 0, count = 0;
  for (const int number : run.frames()) {
    const Frame frame = run.read_frame(number);
    count = frame.find("x")->count;
    Depths depths;
    if (frame.find("x")->type == dtype_of<float>()) {
      measure<float>(frame, scene, depths);
    } else {
      measure<double>(frame, scene, depths);
    }
    fmt::print("frame {:5}: deepest {:.3f} dx, {} beyond, {} by more than dx/2\n", number,
               depths.deepest / scene.grid.dx, depths.beyond, depths.half);
    deepest = std::max(deepest, depths.deepest / scene.grid.dx);
    most_beyond = std::max(most_beyond, depths.beyond);
    most_half = std::max(most_half, depths.half);
  }
  fmt::print("{} particles, {} frames: deepest {:.3f} dx; at most {} beyond a wall, {} by more than dx/2\n", count,
             run.frames().size(), deepest, most_beyond, most_half);
  return deepest <= limit ? 0 : 1;
}

}  // namespace
}  // namespace tribo

int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "usage: leak_check DIR LIMIT_IN_CELLS\n");
    return 2;
  }
  try {
    return tribo::check(argv[1], std::atof(argv[2]));
  } catch (const tribo::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
}

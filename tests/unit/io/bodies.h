#pragma once

#include <cmath>

#include "scratch.h"
#include "tribo/io/run_info.h"

namespace tribo {

/// What some_frame and frame_with_bodies are of.
inline RunInfo some_run() {
  RunInfo info;
  info.name = "scene";
  info.fps = 40;
  info.bodies = {{"jello", "jelly", {{1, 0, 0}}, 0.5f, false, true},
                 {"sand", "dry_sand", {{0.5f, 0.5f, 0.5f}}, 0.25f, false, false},  // hidden in pictures
                 {"floor", "", {{0, 0, 1}}, 0, true, true},
                 {"<&\" wall", "", {{0, 1, 0.5f}}, 0, true, true}};
  return info;
}

/// Particles, two meshes of which one has velocities and doubles, strands of two objects of which one has radii, and a collider.
inline Frame frame_with_bodies(int number) {
  Frame frame = some_frame(number, 5);
  frame.meshes.push_back({"jello", array_of<float>("x", 3, {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0}),
                          array_of<float>("v", 3, {}), array_of<std::int32_t>("triangles", 3, {0, 1, 2, 0, 2, 3})});
  frame.meshes.push_back({"sand", array_of<double>("x", 3, {0.1, 0.2, 0.3, 1, 0, 0, 0, 1, 0}),
                          array_of<double>("v", 3, {1, 2, 3, 4, 5, 6, 7, 8, 9}),
                          array_of<std::int32_t>("triangles", 3, {0, 1, 2})});
  frame.meshes.push_back({"<&\" wall", array_of<float>("x", 3, {0, 0, 0, 1, 0, 0, 0, 0, 1}),
                          array_of<float>("v", 3, {}), array_of<std::int32_t>("triangles", 3, {0, 2, 1})});
  frame.curves.push_back({"sand", array_of<float>("x", 3, {0, 0, 0, 0, 1, 0, 0, 2, 0, 5, 0, 0, 5, 1, 0}),
                          array_of<float>("v", 3, {}), array_of<std::int32_t>("sizes", 1, {3, 2})});
  frame.curves.push_back({"jello", array_of<float>("x", 3, {7, 0, 0, 7, 1, 0}),
                          array_of<float>("v", 3, {1, 2, 3, 4, 5, 6}), array_of<std::int32_t>("sizes", 1, {2}),
                          array_of<double>("radius", 1, {0.75, 0.125})});
  return frame;
}

/// Two rigid bodies of one triangle each, and one that is alone; `turns` quarter turns about z.
inline FrameMesh rigid_bodies(const std::string& name, int turns) {
  const double c = turns % 2 == 0 ? 1 : 0.5 * std::sqrt(2.0), s = turns % 2 == 0 ? 0 : c;
  const std::vector<float> x = turns % 2 == 0 ? std::vector<float>{1, 2, 3, 2, 2, 3, 1, 4, 3, -1, 0, 0, 0, 0, 0, -1, 2, 0}
                                              : std::vector<float>{1, 2, 3, 1, 3, 3, -1, 2, 3, -1, 0, 0, -1, 1, 0, -3, 0, 0};
  FrameMesh mesh{name, array_of<float>("x", 3, {}), array_of<float>("v", 3, {}),
                 array_of<std::int32_t>("triangles", 3, {0, 1, 2, 3, 4, 5}),
                 array_of<float>("rest", 3, {0, 0, 0, 1, 0, 0, 0, 2, 0}),
                 array_of<double>("placement", 7, {1, 2, 3, c, 0, 0, s, -1, 0, 0, c, 0, 0, s})};
  mesh.x = make_array<float>("x", 3, x);
  return mesh;
}

/// The same with two tets of an object.
inline Frame frame_with_tets(int number) {
  Frame frame = frame_with_bodies(number);
  frame.tets.push_back({"sand", array_of<float>("x", 3, {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1}),
                        array_of<float>("v", 3, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}),
                        array_of<std::int32_t>("tets", 4, {0, 1, 2, 3, 1, 2, 3, 4}),
                        array_of<float>("J", 1, {1, 0.5F})});
  return frame;
}

}  // namespace tribo

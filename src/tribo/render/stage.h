#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "tribo/io/frame.h"
#include "tribo/render/camera.h"
#include "tribo/render/colors.h"
#include "tribo/scene/scene.h"

/// \file
/// What the tracer sees: geometry with surfaces, in single precision about an origin near the scene's middle.

namespace tribo {

/// How a surface answers light.
struct Surface {
  Color color{{0.8F, 0.8F, 0.8F}};
  float roughness = 0.7F;
  float metallic = 0;
  float opacity = 1;
  float variation = 0;  ///< in brightness, from particle to particle or strand to strand
};

struct StageSpheres {
  std::vector<Vec<float, 4>> centers;  ///< and radii
  std::vector<std::uint32_t> surface;  ///< of each, into Stage::surfaces
  std::vector<std::uint32_t> id;       ///< for variation
  std::vector<float> scale;            ///< place on the color scale, when colors show a value; else empty
};

struct StageMesh {
  std::vector<Vec<float, 3>> vertices;
  std::vector<Vec<float, 3>> normals;  ///< at vertices
  std::vector<Vec<std::uint32_t, 3>> triangles;
  std::uint32_t surface = 0;
  /// Glass walls and the like: seen from their front only, by the camera only, without shadow.
  bool clear = false;
  /// The camera sees it from its front only, as it looks into a container from below; light does not pass.
  bool one_sided = false;
};

struct StageCurves {
  std::vector<Vec<float, 4>> points;  ///< and radii; each strand is led in and out by one more point
  std::vector<std::uint32_t> first;   ///< of the four points of each segment
  std::vector<std::uint32_t> strand;  ///< of each segment, for variation
  std::uint32_t surface = 0;
  bool clear = false;  ///< seen by the camera only, without shadow
  bool fiber = false;  ///< hair and the like: light is scattered about the strand, and goes through
};

/// Everything on and below a plane; it goes on forever, and in pictures fades into the distance.
struct StagePlane {
  Vec<float, 3> normal;
  float offset;  ///< points with normal . p = offset
  std::uint32_t surface = 0;
};

struct Stage {
  Vec<double, 3> origin = Vec<double, 3>::zero();  ///< of its coordinates, in those of the scene
  float radius = 1;                                ///< of what is to be seen
  Vec<float, 3> up{{0, 1, 0}};
  std::vector<Surface> surfaces;
  StageSpheres spheres;
  std::vector<StageMesh> meshes;
  std::vector<StageCurves> curves;
  std::vector<StagePlane> planes;
};

/// Widens fibers that would be thinner than a pixel of so many rows: not to glitter, and to be seen from afar at all.
void keep_fibers_visible(Stage& stage, const Camera& camera, int rows);

/// A frame dressed with the scene's looks and its colliders. `shown` are the bounds of what pictures are about.
Stage build_stage(const Scene& scene, const Frame& frame, const Coloring& coloring, const ViewBounds& shown);

}  // namespace tribo

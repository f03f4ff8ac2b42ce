#pragma once

#include "tribo/math/small.h"
#include "tribo/scene/scene.h"

namespace tribo {

/// An axis-aligned box that grows.
struct ViewBounds {
  Vec<double, 3> low = Vec<double, 3>::filled(1e300);
  Vec<double, 3> high = Vec<double, 3>::filled(-1e300);

  bool empty() const { return !(low[0] <= high[0]); }
  void include(const Vec<double, 3>& point);
  void include(const ViewBounds& other);
  void grow(double margin);
  Vec<double, 3> center() const { return 0.5 * (low + high); }
  Vec<double, 3> corner(int index) const;  ///< 0 to 7
  double radius() const;                   ///< of the sphere around the box
};

/// A pinhole camera: directions are unit vectors, `tan_half_fov` is of the vertical field of view.
struct Camera {
  Vec<double, 3> from;
  Vec<double, 3> forward, right, up;
  double tan_half_fov = 0.3;
};

/// A right-handed frame about the vertical: azimuth 0 is the front.
struct Horizon {
  Vec<double, 3> up, front, side;
  explicit Horizon(const Vec<double, 3>& up_direction);
  /// The unit vector at those angles [deg].
  Vec<double, 3> direction(double azimuth, double elevation) const;
};

/// What a picture of the scene should show: the objects within `motion`, bounded colliders near them, the floor of
/// containers.
ViewBounds interesting_bounds(const Scene& scene, const ViewBounds& motion);

/// Where objects are at the start and may be expected to come to: down to the ground, across the floor of a container.
/// For pictures of a run that has not been simulated yet.
ViewBounds expected_motion(const Scene& scene);

/// The camera moved back until `bounds` are in the picture from wherever `turned` may carry it.
Camera drawn_back(const Camera& camera, const ViewBounds& bounds, const Vec<double, 3>& center, const Horizon& horizon,
                  double aspect);

/// The camera carried around the vertical through `center` [deg].
Camera turned(const Camera& camera, const Vec<double, 3>& center, const Horizon& horizon, double degrees);

/// The camera the scene asks for. Where it leaves the choice open, everything in `bounds` is seen.
Camera place_camera(const CameraSpec& spec, const ViewBounds& bounds, const Horizon& horizon, double aspect);

}  // namespace tribo

#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "scene_text.h"

/// \file
/// Scenes of rigid bodies as text, and what is asked of them.

namespace tribo::test {

inline std::string text(const Vec<double, 3>& v) {
  return fmt::format("[{:.17g}, {:.17g}, {:.17g}]", v[0], v[1], v[2]);
}

/// A scene of rigid bodies.
struct Bodies {
  const char* precision = "double";
  double fps = 100, dx = 0.05, dt = 1e-3;  ///< [1/s], [m], [s]
  Vec<double, 3> gravity{{0, -9.81, 0}};
  std::string objects, colliders, joints;

  static void add(std::string& list, const std::string& one) { list += (list.empty() ? "" : ", ") + ("{" + one + "}"); }
  void body(const std::string& one) { add(objects, R"("type": "rigid", )" + one); }
  void collider(const std::string& one) { add(colliders, one); }
  void joint(const std::string& one) { add(joints, one); }
  void floor(double friction, double at = 0) {
    collider(fmt::format(R"("shape": {{"half_space": [0, 1, 0]}}, "at": [0, {}, 0], "friction": {})", at, friction));
  }
  std::string scene() const {
    return fmt::format(
        R"({{"tribo": 1, "precision": "{}", "fps": {}, "duration": 1000, "gravity": {}, "grid": {{"dx": {}}},
             "time": {{"dt_max": {}}}, "objects": [{}], "joints": [{}], "colliders": [{}]}})",
        precision, fps, text(gravity), dx, dt, objects, joints, colliders);
  }
  Simulation simulation(const SimulationOptions& options = {}) const { return simulate(scene(), options); }
  /// What bodies rest above whom they touch [m].
  double rest() const { return 0.02 * dx; }
};

inline ObjectSums all(Simulation& simulation) {
  ObjectSums sum;
  for (const ObjectSums& one : simulation.measure()) sum.add(one);
  return sum;
}
inline double all_energy(Simulation& simulation) {
  const ObjectSums sum = all(simulation);
  return sum.kinetic + sum.gravity;
}
inline void advance(Simulation& simulation, int frames) {
  for (int k = 0; k < frames; ++k) simulation.advance_frame();
}

/// Its inertia from sums, and from that its spin.
inline Vec<double, 3> spin(const ObjectSums& s) {
  const Vec<double, 3> x = center(s);
  double moment[3][3], trace = 0;
  for (int a = 0; a < 3; ++a)
    for (int b = 0; b < 3; ++b) moment[a][b] = s.second_moment(a, b) - s.mass * x[a] * x[b];
  for (int a = 0; a < 3; ++a) trace += moment[a][a];
  Mat<double, 3> inertia;
  for (int a = 0; a < 3; ++a)
    for (int b = 0; b < 3; ++b) inertia(a, b) = (a == b ? trace : 0) - moment[a][b];
  const Vec<double, 3> l = s.angular_momentum - cross(x, s.momentum);
  const double det = determinant(inertia);
  Vec<double, 3> w;
  for (int k = 0; k < 3; ++k) {
    Mat<double, 3> replaced = inertia;
    for (int a = 0; a < 3; ++a) replaced(a, k) = l[a];
    w[k] = determinant(replaced) / det;
  }
  return w;
}

}  // namespace tribo::test

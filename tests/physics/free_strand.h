#pragma once

#include <algorithm>
#include <string>

#include "rod_world.h"

/// \file
/// Strands without damping that touch nothing, and what becomes of their energy.

namespace tribo::TRIBO_BACKEND::test {

enum class StrandShape { line, curl, ring };
struct StrandKind {
  int segments;
  double radius;  ///< [m]
  double stretch_scale;
  StrandShape shape;
  bool oblique;
  double dt;  ///< [s]

  std::string name() const {
    constexpr const char* shapes[] = {", straight", ", curled", ", ring"};
    return std::to_string(segments) + " segments, radius " + std::to_string(1e6 * radius) + " um, stretch_scale " +
           std::to_string(stretch_scale) + shapes[static_cast<int>(shape)] + (oblique ? ", oblique" : "") + ", dt " +
           std::to_string(1e6 * dt) + " us";
  }
  /// 20 cm long, or nearly so.
  std::vector<Vec3> points() const {
    std::vector<Vec3> points = shape == StrandShape::curl ? helix(0.004, 0.04, 4, segments)
                                                          : straight_line(Vec3::zero(), {{0.2, 0, 0}}, segments);
    for (int i = 0; shape == StrandShape::ring && i <= segments; ++i) {
      const double a = 2 * pi * 0.97 * i / segments;
      points[std::size_t(i)] = {{0.03 * std::cos(a), 0.03 * std::sin(a), 0}};
    }
    for (Vec3& p : points) p = turned(p);
    return points;
  }
  /// As the whole strand is.
  Vec3 turned(const Vec3& a) const {
    if (!oblique) return a;
    const Vec3 axis = (1 / std::sqrt(14.0)) * Vec3{{1, 2, 3}};
    return std::cos(0.7) * a + std::sin(0.7) * cross(axis, a) + ((1 - std::cos(0.7)) * dot(axis, a)) * axis;
  }
};

template <class Real>
class FreeStrand {
 public:
  FreeStrand(const StrandKind& kind, bool clamped) : kind_(kind) {
    StrandRules rules;
    rules.radius = kind.radius;
    rules.material.stretch_scale = kind.stretch_scale;
    rules.clamp_root = clamped;
    add_strands(world_.seed, strands_of({kind.points()}), rules);
    world_.load();
  }

  void swing() {
    world_.set_gravity(kind_.turned({{0, -9.81, 0}}));
    scale_ = world_.sums().mass * 9.81 * 0.2;
  }
  /// A quarter of it, with 1 m/s.
  void strike() {
    for (Index i = 0; i < world_.mesh.vertices / 4; ++i) set_velocity(i, kind_.turned({{0, 1, 0}}));
    scale_ = world_.sums().kinetic;
  }
  /// Across its length or, of rings, about their axis [rad/s].
  void turn(double spin) {
    Vec3 center = Vec3::zero();
    for (Index i = 0; i < world_.mesh.vertices; ++i) center += (1.0 / world_.mesh.vertices) * world_.x(i);
    for (Index i = 0; i < world_.mesh.vertices; ++i)
      set_velocity(i, cross(kind_.turned({{0, 0, spin}}), world_.x(i) - center));
    scale_ = world_.sums().kinetic;
    spin_ = angular_momentum();
  }

  /// The most that energy was above what it was at the start, over m g l or the first kinetic energy.
  double largest_gain(int steps) {
    const double start = energy();
    double most = 0;
    for (int s = 0; s < steps; ++s) {
      world_.step(kind_.dt);
      if (s < 20 || s % 10 == 0) most = std::max(most, energy() - start);
    }
    return most / scale_;
  }
  /// Of the angular momentum about the center.
  double spin_left() { return dot(angular_momentum(), spin_) / squared_norm(spin_); }

 private:
  void set_velocity(Index i, const Vec3& v) {
    for (int k = 0; k < 3; ++k) world_.state.v.c[k].data()[i] = static_cast<Real>(v[k]);
  }
  double energy() {
    const ObjectSums now = world_.sums();
    return now.kinetic + now.elastic + now.gravity;
  }
  Vec3 angular_momentum() {
    const ObjectSums now = world_.sums();
    return now.angular_momentum - cross((1 / now.mass) * now.mass_position, now.momentum);
  }

  StrandKind kind_;
  RodWorldOf<Real> world_;
  double scale_ = 0;
  Vec3 spin_ = Vec3::zero();
};

}  // namespace tribo::TRIBO_BACKEND::test

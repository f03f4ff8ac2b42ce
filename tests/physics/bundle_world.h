#pragma once

#include "strand_world.h"
#include "tribo/matter/strands/stages/bundle.h"

/// \file
/// Strands with a grid of their own (Han 2019, sec. 5.1, 5.2), without a scene; centimeters and grams.

namespace tribo::TRIBO_BACKEND::test {

template <class Real>
struct BundleWorldOf : ContactWorldOf<Real> {
  double dx = 0.16;            ///< h = 2 s (experiments_hair default 9)
  double wave_speed = 200;     ///< c
  double grid_friction = 0.3;  ///< c_F
  bool impulses = false;       ///< between segments, too
  RodBundle<Real> bundle;

  explicit BundleWorldOf(int threads = 1) : ContactWorldOf<Real>(threads) {}

  void load() {
    for (RodBody& body : this->seed.bodies) {
      body.wave_speed = wave_speed;
      body.grid_friction = grid_friction;
    }
    ContactWorldOf<Real>::load();
    bundle.load(this->ex, dx, this->seed);
  }
  /// Up to v_lag.
  void push(double dt) {
    begin_rods(this->ex, this->state, this->work);
    bundle.begin(this->ex, this->state);
    rod_step(this->ex, this->constants, this->mesh, this->time, dt, this->state, this->work);
  }
  void blend(double dt) { bundle.blend(this->ex, this->mesh, dt, false, this->state, this->work); }
  void move(double dt) {
    move_rods(this->ex, this->mesh, dt, this->state, this->work);
    evaluate_rods(this->ex, this->mesh, this->state);
    bundle.accept(this->state.speed * dt);
    this->time += dt;
  }
  void step(double dt) {
    push(dt);
    bundle.scatter(this->ex, this->state, dt);
    blend(dt);
    if (impulses) {
      const StrandContactReport report =
          collide_strands(this->ex, this->rules, this->mesh, dt, this->state, this->work, this->collisions);
      this->clean = this->clean && report.clean;
      this->missed += report.missed.pairs;
    }
    move(dt);
  }
  void set_velocity(Index i, const Vec3& v) {
    for (int k = 0; k < 3; ++k) this->state.v.c[k].data()[i] = static_cast<Real>(v[k]);
  }
};
using BundleWorld = BundleWorldOf<double>;

/// Parallel strands along x at the places of a square lattice with the spacing s, about the origin.
inline std::vector<std::vector<Vec3>> parallel_strands(int n, double s, double length, int edges) {
  std::vector<std::vector<Vec3>> lines;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      const double y = s * (i - 0.5 * (n - 1)), z = s * (j - 0.5 * (n - 1));
      lines.push_back(straight_line({{-0.5 * length, y, z}}, {{0.5 * length, y, z}}, edges));
    }
  return lines;
}

}  // namespace tribo::TRIBO_BACKEND::test

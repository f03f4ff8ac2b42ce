#pragma once

#include <random>
#include <vector>

#include "rod_world.h"
#include "tribo/matter/strands/contact/collide.h"

/// \file
/// Strands in contact, without a scene or a grid. Lengths are in centimeters and masses in grams, as in
/// experiments_hair: hair of radius 0.004, 1.3 g/cm^3.

namespace tribo::TRIBO_BACKEND::test {

constexpr double gravity = 981, radius = 0.004, dmin = 2 * radius;

inline RodMaterial hair() {
  RodMaterial material;
  material.density = 1.3;
  material.youngs_modulus = 4e10;
  material.stretch_scale = 1e-3;
  return material;
}

enum class Held { nowhere, at_ends, everywhere };

template <class Real>
struct ContactWorldOf : RodWorldOf<Real> {
  RodMaterial material = hair();  ///< of strands to come
  StrandContactRules rules;
  StrandCollisions<Real> collisions;
  Size pairs = 0, missed_pairs = 0, tied = 0, missed = 0, rounds = 0;
  bool clean = true;

  explicit ContactWorldOf(int threads = 1) : RodWorldOf<Real>(threads) {}

  void add(const std::vector<std::vector<Vec3>>& lines, Held held, double friction,
           const Vec3& velocity = Vec3::zero()) {
    StrandRules strand;
    strand.material = material;
    strand.radius = radius;
    strand.friction = friction;
    strand.clamp_root = strand.clamp_tip = held != Held::nowhere;
    strand.velocity = velocity;
    const std::size_t first = this->seed.x.size();
    add_strands(this->seed, strands_of(lines), strand);
    for (std::size_t i = first; held == Held::everywhere && i < this->seed.x.size(); ++i) {
      this->seed.drive[i] = this->seed.drive[first];
      this->seed.v[i] = Vec3::zero();
    }
  }
  void step(double dt) {
    begin_rods(this->ex, this->state, this->work);
    rod_step(this->ex, this->constants, this->mesh, this->time, dt, this->state, this->work);
    const StrandContactReport report =
        collide_strands(this->ex, rules, this->mesh, dt, this->state, this->work, collisions);
    keep_pressed(this->ex, this->mesh, dt, collisions.work, this->state.pressed);
    move_rods(this->ex, this->mesh, dt, this->state, this->work);
    this->time += dt;
    pairs += report.pairs;
    missed_pairs += report.missed_pairs.pairs;
    tied += report.tied;
    missed += report.missed.pairs;
    rounds += report.rounds;
    clean = clean && report.clean;
  }
  double energy() {
    double sum = 0;
    for (const ObjectSums& s : measure_rods(this->ex, this->constants, this->mesh, this->state))
      sum += s.kinetic + s.elastic + s.gravity;
    return sum;
  }
  Vec3 momentum() {
    Vec3 sum = Vec3::zero();
    for (Index i = 0; i < this->mesh.vertices; ++i) sum += this->seed.mass[std::size_t(i)] * this->v(i);
    return sum;
  }
};
using ContactWorld = ContactWorldOf<double>;

/// Two bundles of n x n strands across each other, the upper one thrown down; a tenth of spacing of disorder.
template <class Real>
struct Bundles : ContactWorldOf<Real> {
  Bundles(int n, int edges, Held lower, double friction, int threads = 1, double stretch_scale = 1e-3)
      : ContactWorldOf<Real>(threads) {
    this->material.stretch_scale = stretch_scale;
    std::mt19937 random(5);
    std::uniform_real_distribution<double> any(-0.5, 0.5);
    const double s = 0.04, half = 0.08 * edges, top = 0.5 * s * n;
    std::vector<std::vector<Vec3>> below, above;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        const double u = s * (i + 0.5 * any(random)) - top, w = s * (j + 0.5 * any(random));
        below.push_back(straight_line({{-half, u, -w}}, {{half, u, -w}}, edges));
        above.push_back(straight_line({{u, -half, 0.1 + w}}, {{u, half, 0.1 + w}}, edges));
      }
    this->add(below, lower, friction);
    this->add(above, Held::nowhere, friction, {{3, 7, -100}});
    this->load();
  }
};

}  // namespace tribo::TRIBO_BACKEND::test

#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "strand_world.h"
#include "tribo/matter/strands/contact/obstacles.h"

/// \file
/// A cord around a fixed drum with weights at its ends, in meters and kilograms.

namespace tribo::TRIBO_BACKEND::test {

struct Capstan {
  double friction = 0.3;
  double turns = 0.5;        ///< 0.5, 1 or 1.5
  double segment = 2e-3;     ///< [m]
  double load = 1;           ///< ratio of the weights over that at which the cord slips
  double dt = 1e-3;          ///< the longest [s]
  double stretch_scale = 1;  ///< of EA = 251 N
  bool stretched = true;     ///< from the start
  double drum_speed = 0;     ///< [rad/s], down with the heavier weight where it is positive

  double angle() const { return 2 * pi * turns; }
  double ratio() const { return load * std::exp(friction * angle()); }
};

/// It starts at rest, stretched as it would be if friction were used everywhere alike, so that nothing bounces. Turns
/// lie side by side. After a whole turn a cord goes up; a wheel without friction leads it to where its weight can hang.
template <class Real>
struct CapstanWorld : ContactWorldOf<Real> {
  static constexpr double drum = 0.05, wheel = 0.02, thickness = 2e-4, light = 0.01, g = 9.81;

  explicit CapstanWorld(const Capstan& capstan) : c(capstan) {
    this->material.density = 1000;
    this->material.youngs_modulus = 2e9;
    this->material.stretch_scale = c.stretch_scale;
    this->material.bend_damping = this->material.stretch_damping = 1e-3;  // as a scene has by default
    // Turns lie apart. Before colliders hold them they would seem to be about to meet, by tension alone.
    this->rules.form = ImpulseForm::none;
    make_path();
    StrandRules cord;
    cord.material = this->material;
    cord.radius = thickness;
    cord.clamp_root = false;
    RodSeed& made = this->seed;
    add_strands(made, strands_of({path_}), cord);
    for (auto* stiffness : {&made.bend1, &made.bend2, &made.twist_stiffness})  // to bend a rope costs next to nothing
      for (double& k : *stiffness) k *= 0.01;
    double hanging[2] = {0, 0};  // mass of cord at each weight
    for (std::size_t i = 0; i < path_.size(); ++i) {
      if (used_[i] <= 0) hanging[0] += made.mass[i];
      if (used_[i] >= 1 && !over_wheel(i)) hanging[1] += made.mass[i];
    }
    made.mass.front() += c.ratio() * light - hanging[0];
    made.mass.back() += light - hanging[1];
    for (std::size_t i = 0; i + 1 < path_.size(); ++i) {
      const double used = std::clamp(0.5 * (used_[i] + used_[i + 1]), 0.0, 1.0);
      if (c.stretched) made.length[i] /= 1 + light * g * std::pow(c.ratio(), 1 - used) / made.stretch[i];
    }
    this->load();
    this->set_gravity({{0, 0, -g}});
    ColliderSpec spec;
    spec.shape = Cylinder<double>{drum, 0.2};
    spec.friction = c.friction;
    if (c.drum_speed != 0) {
      std::vector<Keyframe> keys(2);
      keys[1].time = 1;
      keys[1].rotation = {{{0, 1, 0}}, c.drum_speed * 180 / pi};
      spec.motion = Motion(keys);
    }
    specs_.push_back(spec);
    if (c.turns == 1) {
      spec.shape = Cylinder<double>{wheel, 0.2};
      spec.friction = 0;
      std::vector<Keyframe> keys(1);
      keys[0].at = wheel_at_;
      spec.motion = Motion(keys);
      specs_.push_back(spec);
    }
    colliders_.load(this->ex, specs_, {});
  }

  /// As the engine does, with its rule for dt.
  void step() {
    double speed = 1e-9;
    for (Index i = 0; i < this->mesh.vertices; ++i) speed = std::max(speed, length(this->v(i)));
    const double dt = std::min(c.dt, 0.25 * c.segment / speed);
    begin_rods(this->ex, this->state, this->work);
    rod_step(this->ex, this->constants, this->mesh, this->time, dt, this->state, this->work);
    ObstacleHolder<Real> holder(this->ex, this->mesh, colliders_.place(this->ex, specs_, this->time, dt, {}), 0.02, dt,
                                this->state, this->work, obstacles_);
    const StrandContactReport report =
        collide_strands(this->ex, this->rules, this->mesh, dt, this->state, this->work, this->collisions, &holder);
    move_rods(this->ex, this->mesh, dt, this->state, this->work);
    this->time += dt;
    this->pairs += report.pairs;
  }
  /// By how much the heavier weight is below where it was [m], and the lighter above.
  double fallen() { return path_.front()[2] - this->x(0)[2]; }
  double risen() { return this->x(this->mesh.vertices - 1)[2] - path_.back()[2]; }
  double speed() { return -this->v(0)[2]; }
  /// Of sliding, by Euler: (m1 - k m2) g / (m1 + k m2), k = exp(mu angle) [m/s^2].
  double acceleration() const { return g * (c.load - 1) / (c.load + 1); }
  /// An energy to compare with: the heavier weight lifted by the radius of the drum [J].
  double scale() const { return c.ratio() * light * g * drum; }

  Capstan c;

 private:
  bool over_wheel(std::size_t i) const { return used_[i] < 2 && c.turns == 1; }

  /// Points at equal distances, the heavier end first, and how far around the drum each is: 0 to 1, past the wheel 2.
  void make_path() {
    const double R = drum + thickness, W = wheel + thickness, pitch = 4 * thickness, hang = 0.1;
    const double around = std::round(c.angle() * R / c.segment), step = c.angle() / around, l = step * R;
    const int down = static_cast<int>(std::lround(hang / l));
    const auto add = [&](double x, double y, double z, double used) {
      path_.push_back({{x, y, z}});
      used_.push_back(used);
    };
    for (int k = down; k > 0; --k) add(R, 0, -l * k, 0);
    for (int k = 0; k <= static_cast<int>(around); ++k)
      add(R * std::cos(step * k), pitch * step * k / (2 * pi), R * std::sin(step * k), k / around);
    const double y = pitch * c.turns;
    if (c.turns != 1) {
      for (int k = 1; k <= down; ++k) add(-R, y, -l * k, 2);
      return;
    }
    const int up = static_cast<int>(std::lround(0.08 / l)), over = static_cast<int>(std::lround(pi * W / l));
    for (int k = 1; k <= up; ++k) add(R, y, l * k, 1);
    wheel_at_ = {{R + W, y, l * up}};
    for (int k = 1; k <= over; ++k)
      add(R + W - W * std::cos(pi * k / over), y, l * up + W * std::sin(pi * k / over), 1);
    for (int k = 1; k <= down; ++k) add(R + 2 * W, y, l * (up - k), 2);
  }

  std::vector<Vec3> path_;
  std::vector<double> used_;
  Vec3 wheel_at_ = Vec3::zero();
  std::vector<ColliderSpec> specs_;
  Colliders<Real, 3> colliders_;
  RodObstacles<Real> obstacles_;
};

/// Within 5 % of Euler's ratio it stays where it is, but for a quarter of a millimeter in a second, and slips. What it
/// falls by within `duration` while it slips is theory's but for the time that weights take to stretch it further.
template <class Real>
void expect_euler(Capstan one, double duration) {
  for (const double load : {0.95, 1.05}) {
    one.load = load;
    CapstanWorld<Real> world(one);
    const double before = world.energy();
    double most = 0;
    while (world.time < duration) {
      world.step();
      most = std::max(most, world.energy() - before);
    }
    const std::string what = std::to_string(one.turns) + " turns, friction " + std::to_string(one.friction) +
                             ", segments of " + std::to_string(1e3 * one.segment) + " mm, load " + std::to_string(load);
    EXPECT_LT(most, 1e-5 * world.scale()) << what;
    if (load < 1) {
      EXPECT_NEAR(world.fallen(), 0, 2.5e-4 * duration) << what;
      EXPECT_NEAR(world.risen(), 0, 2.5e-4 * duration) << what;
    } else {
      const double expected = 0.5 * world.acceleration() * duration * duration;
      EXPECT_GT(world.fallen(), 0.4 * expected) << what;
      EXPECT_LT(world.fallen(), 1.2 * expected) << what;
    }
  }
}

}  // namespace tribo::TRIBO_BACKEND::test

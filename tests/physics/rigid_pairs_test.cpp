#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "scene_text.h"

/// \file
/// Rigid bodies and everything else, both ways, in whole scenes. Longer ones are in tests/validation.

namespace tribo::test {
namespace {

using V = Vec<double, 3>;

/// Some matter that fills a cube of 0.2 m, or as many strands.
struct Matter {
  const char* name;
  const char* object;
  double mass;       ///< about [kg]
  double turns = 0;  ///< angular momentum that it does not keep by itself, over that of the impact
  const char* more = "";
};
const std::vector<Matter>& matters() {
  static const std::vector<Matter> all = {
      {"jelly", R"("type": "particles", "shape": {"box": [0.2, 0.2, 0.2]}, "material": "soft")", 8},
      {"sand", R"("type": "particles", "shape": {"box": [0.2, 0.2, 0.2]}, "material": "dry_sand")", 12.8},
      {"water", R"("type": "particles", "shape": {"box": [0.2, 0.2, 0.2]}, "material": "water")", 8},
      {"snow", R"("type": "particles", "shape": {"box": [0.2, 0.2, 0.2]}, "material": "snow")", 3.2},
      {"tets", R"("type": "solid", "shape": {"box": [0.2, 0.2, 0.2]}, "material": "soft", "friction": 0.4)", 8},
      {"vertices", R"("type": "solid", "method": "updated_lagrangian", "shape": {"box": [0.2, 0.2, 0.2]},
                      "material": "soft")",
       8},
      // Implicit steps of strands do not keep angular momentum, nor do knots that the fail-safe ties.
      {"hair",
       R"("type": "hair", "roots": "free", "radius": 2e-3, "segments": 10, "youngs_modulus": 1e7, "density": 1000,
                  "friction": 0.3, "scheme": "explicit", "bend_damping": 0, "stretch_damping": 0,
                  "strands": {"tube": {"count": 19, "length": 0.2, "spacing": 0.02}})",
       0.048, 0, R"(, "strand_contact": {"impulses": "none", "fail_safe": false, "grid": {"on": false}})"},
      {"curves", R"("type": "hair", "method": "mpm", "roots": "free", "radius": 4e-3, "segments": 20,
                    "youngs_modulus": 1e6, "stretch_scale": 0.1, "density": 1000,
                    "strands": {"tube": {"count": 19, "length": 0.2, "spacing": 0.02}})",
       0.19, 1e-4},
  };
  return all;
}

std::string thrown(const Matter& matter, const std::string& box, const char* precision) {
  return fmt::format(
      R"({{"tribo": 1, "precision": "{}", "fps": 100, "duration": 1, "gravity": [0, 0, 0], "grid": {{"dx": 0.05}},
           "materials": {{"soft": {{"model": "fixed_corotated", "density": 1000, "youngs_modulus": 2.5e5,
                                    "poisson_ratio": 0.3}}}},
           "objects": [{{"name": "matter", {}, "at": [0.2, 0.07, 0.03], "rotation": {{"axis": [0, 0, 1], "degrees": 20}},
                         "velocity": [-1, 0, 0]}},
                       {{"name": "box", "type": "rigid", "shape": {{"box": [0.2, 0.2, 0.2]}}, "friction": 0.4, {}}}]{}}})",
      precision, matter.object, box, matter.more);
}
ObjectSums all_of(const std::vector<ObjectSums>& sums) {
  ObjectSums sum;
  for (const ObjectSums& one : sums) sum.add(one);
  return sum;
}
double energy(const ObjectSums& sums) { return sums.kinetic + sums.elastic; }

class RigidPairs : public ::testing::TestWithParam<Matter> {};
INSTANTIATE_TEST_SUITE_P(Matters, RigidPairs, ::testing::ValuesIn(matters()),
                         [](const auto& one) { return std::string(one.param.name); });

/// Promise: whatever a rigid body of any mass flies into, off center and turning, both keep their momenta to rounding,
/// and no energy is gained.
TEST_P(RigidPairs, KeepMomentaAndGainNoEnergy) {
  const Matter& matter = GetParam();
  for (const bool single : {false, true})
    for (const double ratio : {1e-3, 0.1, 1.0, 1e2, 1e4}) {
      SCOPED_TRACE(fmt::format("{} ratio {}", single ? "float" : "double", ratio));
      const std::string box = fmt::format(
          R"("mass": {}, "at": [-0.1, 0, 0], "rotation": {{"axis": [0, 1, 0], "degrees": 15}}, "velocity": [1, 0, 0],
             "angular_velocity": [0.5, -1, 2])",
          ratio * matter.mass);
      Simulation simulation = simulate(thrown(matter, box, single ? "float" : "double"));
      const std::vector<ObjectSums> start = simulation.measure();
      const ObjectSums before = all_of(start);
      double highest = 0;
      for (int frame = 0; frame < 20; ++frame) {
        simulation.advance_frame();
        highest = std::max(highest, energy(all_of(simulation.measure())));
      }
      const std::vector<ObjectSums> end = simulation.measure();
      const ObjectSums after = all_of(end);
      const double exchanged = norm(end[1].momentum - start[1].momentum), arm = 0.2;
      EXPECT_GT(exchanged, 0.3 * std::min(start[0].mass, start[1].mass));
      // Some hundred steps round each time: the body in double, what is in floats as its own momentum.
      const double rounding = 1e-14 * (start[0].mass + start[1].mass) + (single ? 5e-6 * start[0].mass : 0);
      const double part = single ? 1e-5 : 1e-12;
      EXPECT_LT(norm(after.momentum - before.momentum), part * exchanged + rounding);
      EXPECT_LT(norm(after.angular_momentum - before.angular_momentum),
                arm * ((part + matter.turns) * exchanged + 2 * rounding));
      EXPECT_LE(highest, energy(before) * (1 + (single ? 1e-6 : 1e-12)));
    }
}

/// Promise: what flies at a body that follows keyframes and rests gains no energy either, and does not come in.
TEST_P(RigidPairs, GainNoEnergyFromWhatStands) {
  for (const char* precision : {"float", "double"}) {
    SCOPED_TRACE(precision);
    Simulation simulation = simulate(thrown(GetParam(), R"("motion": [{"time": 0, "at": [-0.05, 0, 0]}])", precision));
    const double before = energy(simulation.measure()[0]);
    for (int frame = 0; frame < 20; ++frame) {
      simulation.advance_frame();
      EXPECT_LE(energy(simulation.measure()[0]), before * (1 + (precision[0] == 'f' ? 1e-6 : 1e-12)));
    }
    EXPECT_GT(simulation.measure()[0].momentum[0], -0.5 * simulation.measure()[0].mass);
  }
}

/// Deepest place of a particle beyond the inside of a closed box of 0.4 m [m].
double beyond(const Frame& frame, const Pose& pose) {
  const NamedArray& x = *frame.find("x");
  double most = -1;
  for (std::size_t i = 0; i < x.count; ++i) {
    V at;
    for (int k = 0; k < 3; ++k)
      at[k] = x.type == DType::f64 ? x.as<double>()[3 * i + static_cast<std::size_t>(k)]
                                   : static_cast<double>(x.as<float>()[3 * i + static_cast<std::size_t>(k)]);
    const V local = transpose(pose.rotation) * (at - pose.at);
    for (int k = 0; k < 3; ++k) most = std::max(most, std::abs(local[k]) - 0.2);
  }
  return most;
}

/// Promise: a closed box that is shaken and turned holds sand, water, snow and jelly with walls of half a cell: nothing
/// is ever farther in one than that, the distance from which nodes hold.
TEST(RigidContainer, HoldsWhateverIsInIt) {
  for (const char* material : {"dry_sand", "water", "snow", "jelly"}) {
    SCOPED_TRACE(material);
    const double thickness = 0.025, outer = 0.4 + 2 * thickness;
    const std::vector<std::pair<V, double>> keys = {
        {{{0, 0, 0}}, 17}, {{{0.2, 0, 0}}, 17}, {{{-0.05, 0.1, 0}}, 50}, {{{0, 0.2, 0}}, -20}};
    std::string motion;
    std::vector<Keyframe> path;
    for (std::size_t k = 0; k < keys.size(); ++k) {
      const auto& [at, degrees] = keys[k];
      const double time = 0.2 * static_cast<double>(k);
      motion += fmt::format(R"({}{{"time": {}, "at": [{}, {}, {}], "rotation": {{"axis": [0, 0, 1], "degrees": {}}}}})",
                            k > 0 ? ", " : "", time, at[0], at[1], at[2], degrees);
      Keyframe key;
      key.time = time;
      key.at = at;
      key.rotation = {{{0, 0, 1}}, degrees};
      path.push_back(key);
    }
    Simulation simulation = simulate(fmt::format(
        R"({{"tribo": 1, "fps": 20, "duration": 0.6, "grid": {{"dx": 0.05}},
               "objects": [{{"type": "particles", "shape": {{"box": [0.3, 0.2, 0.3]}}, "material": "{}"}},
                           {{"type": "rigid", "friction": 0.3, "motion": [{}], "shape": {{"difference": {{"shapes": [
                             {{"shape": {{"box": [{}, {}, {}]}}}}, {{"shape": {{"box": [0.4, 0.4, 0.4]}}}}]}}}}}}]}})",
        material, motion, outer, outer, outer));
    const Motion moves(path);
    double most = -1;
    while (simulation.frame() < simulation.frame_count()) {
      simulation.advance_frame();
      most = std::max(most, beyond(simulation.observe(), moves.pose(simulation.time())));
    }
    RecordProperty(material, fmt::format("{}", most));
    EXPECT_LT(most, thickness);
    EXPECT_GT(most, -0.03) << "the walls were not put to the test";
  }
}

/// Promise: sand that falls on a hinged plate, thin or thick, turns it and slides off, and none comes through. About
/// the hinge, which holds no such moment, plate and sand have the angular momentum that gravity has given them: to
/// rounding.
TEST(RigidPinwheel, IsTurnedBySandThatDoesNotLeak) {
  constexpr double dx = 0.05, gravity = 9.81;
  for (const char* precision : {"float", "double"})
    for (const double thickness : {0.5, 1.0, 2.0, 4.0})
      for (const double speed : {0.0, 5.0}) {
        SCOPED_TRACE(fmt::format("{} {} cells, {} m/s", precision, thickness, speed));
        Simulation simulation = simulate(fmt::format(
            R"({{"tribo": 1, "precision": "{}", "fps": 20, "duration": 1, "grid": {{"dx": {}}},
                 "objects": [{{"type": "particles", "shape": {{"box": [0.15, 0.15, 0.2]}}, "at": [0.13, {}, 0],
                               "material": "dry_sand", "velocity": [0, {}, 0]}},
                             {{"name": "plate", "type": "rigid", "shape": {{"box": [0.5, {}, 0.3]}}, "mass": 30,
                               "friction": 0.3, "rotation": {{"axis": [0, 0, 1], "degrees": 10}}}}],
                 "joints": [{{"name": "hinge", "type": "hinge", "axis": [0, 0, 1], "at": [0, 0, 0], "between": "plate", "and": "world"}}]}})",
            precision, dx, 0.15 + thickness * dx / 2, -speed, thickness * dx));
        double given = 0, most = 0, turned = 0;
        const double start = all_of(simulation.measure()).angular_momentum[2];
        std::vector<int> side;  // of each particle, while it is over the plate: 1 above, -1 below
        while (simulation.frame() < 14) {
          const int next = simulation.frame() + 1;
          while (simulation.frame() < next) {
            const V moment = simulation.measure()[0].mass_position;
            given -= simulation.step().dt * gravity * moment[0];
          }
          const std::vector<ObjectSums> now = simulation.measure();
          turned = std::max(turned, std::abs(now[1].angular_momentum[2]));
          most = std::max(most, std::abs(now[0].angular_momentum[2]) + std::abs(now[1].angular_momentum[2]));
          EXPECT_NEAR(all_of(now).angular_momentum[2], start + given, (precision[0] == 'f' ? 1e-5 : 1e-12) * most);

          const Frame frame = simulation.observe();
          const NamedArray& placement = frame.meshes.at(0).placement;
          const double* const p = placement.as<double>().data();
          const double angle = 2 * std::atan2(p[6], p[3]), cosine = std::cos(angle), sine = std::sin(angle);
          const NamedArray& x = *frame.find("x");
          side.resize(x.count);
          int leaked = 0;
          for (std::size_t i = 0; i < x.count; ++i) {
            const auto at = [&](std::size_t k) {
              return x.type == DType::f64 ? x.as<double>()[3 * i + k] : static_cast<double>(x.as<float>()[3 * i + k]);
            };
            const double along = cosine * at(0) + sine * at(1), above = cosine * at(1) - sine * at(0);
            if (std::abs(along) > 0.25 || std::abs(at(2)) > 0.15) side[i] = 2;  // has left over an edge, and may return
            const int now_on = above > 0 ? 1 : -1;
            if (side[i] == 0) side[i] = now_on;
            if (side[i] != 2 && side[i] != now_on) ++leaked;
          }
          EXPECT_EQ(leaked, 0);
        }
        EXPECT_GT(turned, 0.5);
      }
}

}  // namespace
}  // namespace tribo::test

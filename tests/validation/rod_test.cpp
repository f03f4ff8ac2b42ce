#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "../physics/rod_world.h"

/// \file
/// Rods against solutions of Kirchhoff's equations (theory E.8).

namespace tribo::TRIBO_BACKEND::test {
namespace {

// ---------------------------------------------------------------------------------------------------------------------
// The heavy elastica: a rod clamped horizontally under its own weight, Gamma = rho A g L^3 / (E I).

struct Elastica {
  double gamma, drop, reach;
};
/// By shooting (theory E.8): delta'' = Gamma sigma sin(delta), with the angle delta from the vertical and sigma from
/// the tip; delta' = 0 there, delta = pi/2 at the clamp.
Elastica shoot(double gamma) {
  const int n = 20000;
  double drop = 0, reach = 0;
  const auto at_clamp = [&](double tip) {
    double angle = tip, rate = 0;
    drop = reach = 0;
    const double h = 1.0 / n;
    for (int i = 0; i < n; ++i) {  // leapfrog about midpoints: second order
      const double s = (i + 0.5) * h, middle = angle + 0.5 * h * rate;
      const double slope = gamma * s * std::sin(middle);
      drop += h * std::cos(middle);
      reach += h * std::sin(middle);
      angle += h * (rate + 0.5 * h * slope);
      rate += h * slope;
    }
    return angle;
  };
  double low = std::log(1e-30), high = std::log(pi / 2);
  for (int k = 0; k < 100; ++k) {
    const double middle = 0.5 * (low + high);
    (at_clamp(std::exp(middle)) < pi / 2 ? low : high) = middle;
  }
  at_clamp(std::exp(0.5 * (low + high)));
  return {gamma, drop, reach};
}

/// The tip of a rod of length 1 that came to rest. Backward Euler loses what swings.
Vec3 hang(double gamma, int edges, RodScheme scheme) {
  RodWorld world;
  StrandRules rules;
  rules.radius = 1e-3;  // so thin that it does not stretch
  rules.material = material_of(gamma, 1, rules.radius);
  if (scheme == RodScheme::implicit) rules.material.bend_damping = 0.05 * std::sqrt(gamma);
  rules.keeps_shape = false;
  add_strands(world.seed, strands_of({straight_line({{-1.0 / edges, 0, 0}}, {{1, 0, 0}}, edges + 1)}), rules);
  world.constants.scheme = scheme;
  world.load();
  world.set_gravity({{0, -1, 0}});
  const double dt = 0.03 * std::sqrt(std::min(gamma, 10.0));
  for (int s = 0; s < 20000; ++s) {
    world.step(dt);
    if (s % 100 != 99) continue;
    evaluate_rods(world.ex, world.mesh, world.state);
    if (world.state.speed < 1e-8) break;
  }
  EXPECT_LT(world.state.speed, 1e-6);
  return world.x(edges + 1);
}

TEST(RodElastica, HangsAsTheoryOverFourDecades) {
  // Values of the sheet, so that the reference is not only our own.
  EXPECT_NEAR(shoot(10).drop, 0.700200, 1e-5);
  EXPECT_NEAR(shoot(10).reach, 0.656354, 1e-5);
  EXPECT_NEAR(shoot(1000).reach, 0.045986, 1e-5);
  double worst = 0;
  for (const double gamma : {0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0}) {
    const Elastica theory = shoot(gamma);
    const Vec3 tip = hang(gamma, 160, RodScheme::backward_euler);
    const double drop = std::abs(-tip[1] / theory.drop - 1), reach = std::abs(tip[0] / theory.reach - 1);
    worst = std::max({worst, drop, reach});
    EXPECT_LT(drop, 0.01) << "Gamma " << gamma;
    EXPECT_LT(reach, 0.01) << "Gamma " << gamma;
    RecordProperty(fmt::format("gamma_{}", gamma), fmt::format("drop off by {:.2e}, reach by {:.2e}", drop, reach));
  }
  RecordProperty("worst", fmt::format("{:.4f}", worst));
  fmt::print("heavy elastica, 160 edges: drop and reach within {:.2e} of theory\n", worst);
}

/// Halving edges takes more than three quarters of the error away: the half cell at the clamp makes it second order,
/// or nearly (theory E.6).
TEST(RodElastica, ConvergesWithSegments) {
  const Elastica theory = shoot(10);
  double before = 0;
  for (const int edges : {10, 20, 40, 80}) {
    const Vec3 tip = hang(10, edges, RodScheme::backward_euler);
    const double error = length(tip - Vec3{{theory.reach, -theory.drop, 0}});
    fmt::print("heavy elastica, Gamma 10, {} edges: tip off by {:.2e} L\n", edges, error);
    if (before > 0) {
      EXPECT_GT(before / error, 3);
    }
    before = error;
  }
  EXPECT_LT(before, 1e-4);
}

/// The rest shape is no matter of the scheme.
TEST(RodElastica, HangsTheSameByTheLeapfrog) {
  const Vec3 a = hang(10, 20, RodScheme::backward_euler), b = hang(10, 20, RodScheme::implicit);
  EXPECT_LT(length(a - b), 1e-5);
}

// ---------------------------------------------------------------------------------------------------------------------
// Michell's ring: a straight rod closed to a ring buckles out of its plane when its twist exceeds 2 pi sqrt(3) EI/GJ.
// The ring is cut at an edge that is held at both its ends; to hold an edge with its frame takes away rigid motion
// only.

/// By how much a small out-of-plane shape of a ring of n vertices grows, with the total twist it has.
double growth_out_of_plane(int n, double total_twist) {
  RodWorld world;
  StrandRules rules;
  rules.radius = 0.05;
  rules.material = material_of(1, 1, rules.radius, 1);
  rules.material.bend_damping = 0.02;
  rules.keeps_shape = false;
  rules.half_cells = false;
  rules.clamp_tip = true;
  rules.director = {{0, 0, 1}};
  std::vector<Vec3> points;
  for (int i = 0; i <= n + 1; ++i) points.push_back({{std::cos(2 * pi * i / n), std::sin(2 * pi * i / n), 0}});
  add_strands(world.seed, strands_of({points}), rules);
  // A twist that is the same everywhere; the edge that closes the ring has its director turned by all of it.
  for (std::size_t i = 1; i <= std::size_t(n); ++i) {
    world.seed.twist[i] = total_twist / n;
    const Vec3 t = (1 / length(points[i + 1] - points[i])) * (points[i + 1] - points[i]), up{{0, 0, 1}};
    const double angle = total_twist * double(i) / n;
    world.seed.director[i] = std::cos(angle) * up + std::sin(angle) * cross(t, up);
  }
  // Two waves around, which is what goes first; the held edge stays flat.
  for (std::size_t i = 2; i < std::size_t(n); ++i) {
    const double a = 2 * pi * (double(i) - 0.5) / n;
    world.seed.x[i][2] = 1e-5 * (1 - std::cos(2 * a)) * std::sin(a / 2);
  }
  world.load();
  const auto size = [&] {
    double low = 1e9, high = -1e9;
    for (Index i = 0; i < n; ++i) {
      low = std::min(low, world.x(i)[2]);
      high = std::max(high, world.x(i)[2]);
    }
    return high - low;
  };
  const double start = size();
  for (int s = 0; s < 4000; ++s) world.step(0.02);
  return size() / start;
}

TEST(RodRing, BucklesAtMichellsTwist) {
  const double theory = 2 * pi * std::sqrt(3.0);
  double critical[2];
  for (const int n : {40, 60}) {
    double low = 0.9, high = 1.1;
    EXPECT_LT(growth_out_of_plane(n, low * theory), 3);
    EXPECT_GT(growth_out_of_plane(n, high * theory), 3);
    while (high - low > 0.004) {
      const double middle = 0.5 * (low + high);
      (growth_out_of_plane(n, middle * theory) < 3 ? low : high) = middle;
    }
    critical[n == 60] = 0.5 * (low + high);
    fmt::print("Michell's ring, {} vertices: buckles at {:.4f} of theory\n", n, critical[n == 60]);
  }
  EXPECT_NEAR(critical[0], 1, 0.03);
  EXPECT_NEAR(critical[1], 1, 0.02);
  EXPECT_LT(critical[1], critical[0]);
}

// ---------------------------------------------------------------------------------------------------------------------
// Localized helical buckling: a long rod, its ends twisted and let come closer. The angle phi between tangent and axis
// has (cos phi - cos phi0) / (1 - cos phi0) = tanh^2(s/s*), 1/s* = M/(2 EI) sqrt((1 - cos phi0)/(1 + cos phi0)), and
// the tension is T = M^2 / (2 EI (1 + cos phi0)). The rod is that of Bergou 2008.

TEST(RodHelix, BucklesIntoTheEnvelopeOfTheory) {
  const double L = 9.29, EI = 1.345, GJ = 0.789, turns = 27, shortening = 0.3;
  const int edges = 240;
  RodWorld world;
  StrandRules rules;
  rules.radius = 0.01;
  rules.material = material_of(1, EI, rules.radius, GJ / EI);
  rules.material.drag = 1;
  rules.clamp_tip = true;
  rules.half_cells = false;
  rules.keeps_shape = false;
  rules.director = {{0, 1, 0}};
  const double l = L / edges;
  add_strands(world.seed, strands_of({straight_line({{0, 0, 0}}, {{L, 0, 0}}, edges)}), rules);
  const double total = 2 * pi * turns;
  for (std::size_t i = 1; i < std::size_t(edges); ++i) {
    const double angle = total * double(i) / (edges - 1);
    world.seed.twist[i] = total / (edges - 1);
    world.seed.director[i] = {{0, std::cos(angle), std::sin(angle)}};
    const double s = (double(i) * l - L / 2), bump = 1e-2 * std::exp(-s * s);
    if (i > 1 && i + 2 < std::size_t(edges))
      world.seed.x[i] = world.seed.x[i] + Vec3{{0, bump * std::cos(5.6 * s), bump * std::sin(5.6 * s)}};
  }
  const double time = 20;
  world.seed.drives.push_back(Motion({{0, {{0, 0, 0}}, {}}, {time, {{-shortening, 0, 0}}, {}}}));
  for (const int i : {edges - 1, edges}) world.seed.drive[std::size_t(i)] = 1;
  world.constants.scheme = RodScheme::backward_euler;
  world.load();
  for (int s = 0; s < 4000; ++s) world.step(0.01);
  evaluate_rods(world.ex, world.mesh, world.state);
  EXPECT_LT(world.state.speed, 1e-6);

  double M = 0, weight = 0, middle = 0;
  std::vector<double> cosine;
  for (Index j = 0; j < edges; ++j) {
    const Vec3 e = world.x(j + 1) - world.x(j);
    cosine.push_back(e[0] / length(e));
    weight += 1 - cosine.back();
    middle += (1 - cosine.back()) * j;
    if (j > 0) M += GJ * world.twist(j) / l / (edges - 1);
  }
  middle /= weight;
  // cos phi0 from the parabola through the edges next to the middle.
  const auto j0 = static_cast<std::size_t>(std::lround(middle));
  const double u = middle - double(j0), slope = 0.5 * (cosine[j0 + 1] - cosine[j0 - 1]);
  const double c0 = cosine[j0] + u * slope + 0.5 * u * u * (cosine[j0 + 1] - 2 * cosine[j0] + cosine[j0 - 1]);
  const double s_star = 2 * EI / M * std::sqrt((1 + c0) / (1 - c0));
  double worst = 0;
  for (std::size_t j = 0; j < cosine.size(); ++j) {
    const double z = std::tanh((double(j) - middle) * l / s_star);
    worst = std::max(worst, std::abs((cosine[j] - c0) / (1 - c0) - z * z));
  }
  const Vec3 e = world.x(11) - world.x(10);  // far from the helix
  const double T = world.seed.stretch[0] * (length(e) / l - 1), theory = M * M / (2 * EI * (1 + c0));
  fmt::print("helical buckling, {} edges: envelope within {:.4f}, tension {:.4f} of theory\n", edges, worst,
             T / theory);
  EXPECT_LT(c0, 0.7);  // it did buckle
  EXPECT_LT(worst, 0.05);
  EXPECT_NEAR(T / theory, 1, 0.05);
}

// ---------------------------------------------------------------------------------------------------------------------

double energy_of(RodWorld& world) {
  const ObjectSums sums = world.sums();
  return sums.kinetic + sums.elastic + sums.gravity;
}

/// What a run did to energy, in units of what goes to and fro.
struct EnergyOfRun {
  double gain;      ///< at most
  double loss;      ///< in the end
  double expected;  ///< of `loss`, by backward Euler
};
/// A step M dv = -dt grad V(x + p), p = dt v, takes |dv|^2 / 2 + p K p / 2 of energy, with the norm of M and K = V''.
/// As M (dv' - dv) = -dt K p from one step to the next, the second half sums up to (dv . dv' - v . dv of the last step)
/// / 2, so that velocities alone tell the loss: dt omega^2 in unit time of a vibration's energy, half of that of its
/// amplitude. It is exact where K is constant.
EnergyOfRun run_steps(RodWorld& world, double dt, int steps) {
  const auto n = static_cast<std::size_t>(world.mesh.vertices);
  std::vector<Vec3> v(n, Vec3::zero()), dv = v;
  const double start = energy_of(world);
  double scale = 0, largest = start, taken = 0, last = 0;
  for (int s = 0; s < steps; ++s) {
    world.step(dt);
    last = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const Vec3 now = world.v(Index(i)), change = now - v[i];
      taken += 0.5 * world.seed.mass[i] * (squared_norm(change) + dot(change, dv[i]));
      last += 0.5 * world.seed.mass[i] * dot(now, change);
      v[i] = now;
      dv[i] = change;
    }
    if (s % 50 != 0) continue;
    scale = std::max(scale, world.sums().kinetic);
    largest = std::max(largest, energy_of(world));
  }
  return {(largest - start) / scale, (start - energy_of(world)) / scale, (taken - last) / scale};
}

/// Strands that swing widely for 100 000 steps without damping: their energy must not rise, and backward Euler takes
/// from it what it should. Within 5 %: edges turn by some 0.02 rad in the longest of these steps, and K with them.
/// Curls would be far stiffer with directors that do not turn about their edges, and lost 7 to 13 times as much. They
/// do turn, as long as no faster than the edge does, which is so where a curl has less than 45 degrees to its axis;
/// those lose the more what changes the direction in which edges turn. Steep curls lose some of what they lost.
TEST(RodEnergy, IsBoundedOverManySteps) {
  struct Case {
    const char* name;
    RodScheme scheme;
    double aspect;
    double curl;  ///< radius
    double dt;    ///< in stable explicit steps
    double stretch = 1;
  };
  for (const Case& c : {Case{"straight, explicit", RodScheme::explicit_euler, 1, 0, 0.5},
                        Case{"curled ribbon, explicit", RodScheme::explicit_euler, 2, 0.1, 0.5},
                        Case{"straight, implicit", RodScheme::implicit, 1, 0, 5},
                        Case{"curled ribbon, implicit", RodScheme::implicit, 2, 0.05, 5},
                        Case{"steeply curled ribbon, implicit", RodScheme::implicit, 2, 0.1, 5},
                        Case{"straight, implicit", RodScheme::implicit, 1, 0, 50},
                        Case{"curled ribbon, implicit", RodScheme::implicit, 2, 0.05, 50},
                        Case{"steeply curled ribbon, implicit", RodScheme::implicit, 2, 0.1, 50},
                        Case{"soft and straight, implicit", RodScheme::implicit, 1, 0, 20, 1e-3},
                        Case{"soft curled ribbon, implicit", RodScheme::implicit, 2, 0.05, 20, 1e-3}}) {
    RodWorld world;
    StrandRules rules;
    rules.radius = 0.01;
    rules.material = material_of(1, 1, rules.radius);
    rules.material.aspect = c.aspect;
    rules.material.stretch_scale = c.stretch;
    const auto line = c.curl > 0 ? helix(c.curl, 0.4, 2, 30) : straight_line({{0, 0, 0}}, {{1, 0, 0}}, 20);
    add_strands(world.seed, strands_of({line}), rules);
    world.constants.scheme = c.scheme;
    world.load();
    world.set_gravity({{0, -4, 1}});
    evaluate_rods(world.ex, world.mesh, world.state);
    const double dt = c.dt * world.state.stable_dt;
    const EnergyOfRun run = run_steps(world, dt, 100000);
    const std::string what = fmt::format("{}, dt {:.2e} ({} x explicit)", c.name, dt, c.dt);
    fmt::print("{}, 100 000 steps = {:.0f} s: energy rises by {:.4f} of its swing at most, loses {:.4f}", what,
               1e5 * dt, run.gain, run.loss);
    EXPECT_LT(run.gain, 1e-3) << what;
    if (c.scheme == RodScheme::explicit_euler) {
      fmt::print("\n");
      EXPECT_NEAR(run.loss, 0, 1e-3) << what;
      continue;
    }
    fmt::print(", {:.3f} times what backward Euler takes\n", run.loss / run.expected);
    EXPECT_GT(run.loss, 0.95 * run.expected) << what;
    EXPECT_LT(run.loss, (c.curl > 0.06 ? 5 : c.curl > 0 ? 1.35 : 1.05) * run.expected) << what;
  }
}

/// Small swings of a cantilever that is let go under its weight, by their modes: of q^2 L^5 / (40 EI), the energy above
/// rest, mode n has a part as (c / omega)^2, with c the share of a uniform load that drives it, and keeps
/// 1 / (1 + omega^2 dt^2) of it in a step. The first mode of 20 edges is within half a percent, and the loss goes with
/// the square of omega.
TEST(RodEnergy, OfSmallSwingsIsTakenByModes) {
  constexpr double omega[] = {3.51602, 22.0345, 61.6972}, c[] = {0.78299, 0.43394, 0.25442};
  double parts = 0;
  for (int n = 0; n < 3; ++n) parts += c[n] * c[n] / (omega[n] * omega[n]);
  for (const double steps_explicit : {5.0, 50.0})
    for (const double decay : {0.1, 0.5, 2.0}) {
      RodWorld world;
      StrandRules rules;
      rules.radius = 0.01;
      rules.material = material_of(1, 1, rules.radius);
      const int edges = 20;
      add_strands(world.seed, strands_of({straight_line({{-1.0 / edges, 0, 0}}, {{1, 0, 0}}, edges + 1)}), rules);
      world.load();
      const double g = 0.05;
      world.set_gravity({{0, -g, 0}});
      evaluate_rods(world.ex, world.mesh, world.state);
      const double dt = steps_explicit * world.state.stable_dt, start = energy_of(world);
      const int steps = static_cast<int>(decay / (omega[0] * omega[0] * dt * dt));
      for (int s = 0; s < steps; ++s) world.step(dt);
      double left = 0;
      for (int n = 0; n < 3; ++n)
        left += c[n] * c[n] / (omega[n] * omega[n]) / parts * std::pow(1 + omega[n] * omega[n] * dt * dt, -steps);
      const double loss = (start - energy_of(world)) / (g * g / 40);
      fmt::print("small swings, {} x explicit, {} steps: lose {:.4f}, by theory {:.4f}\n", steps_explicit, steps, loss,
                 1 - left);
      EXPECT_NEAR(loss, 1 - left, 0.01 * (1 - left));
    }
}

/// Steps so long that short waves move by much more than their length, in large swings: Gauss-Newton leaves out a part
/// of the stiffness that grows with the square of angles, and the leapfrog gains energy where the matrix lacks it.
TEST(RodEnergy, LongStepsOfLargeSwingsGainNone) {
  for (const double gravity : {4.0, 20.0}) {
    RodWorld world;
    StrandRules rules;
    rules.radius = 0.005;
    rules.material = material_of(1, 1, rules.radius);
    rules.material.stretch_scale = 1e-3;  // as hair is
    const int edges = 40;
    add_strands(world.seed, strands_of({straight_line({{0, 0, 0}}, {{1, 0, 0}}, edges)}), rules);
    world.load();
    world.set_gravity({{0, -gravity, gravity / 4}});
    const double limit = 0.5 / (edges * edges);  // of explicit bending
    const auto energy = [&] { return world.sums().kinetic + world.sums().elastic + world.sums().gravity; };
    const double start = energy();
    for (int s = 0; s < 10000; ++s) {
      world.step((gravity < 10 ? 40 : 20) * limit);
      if (s % 20 == 0) {
        ASSERT_LT(energy(), start) << "gravity " << gravity << ", step " << s;
      }
    }
  }
}

}  // namespace
}  // namespace tribo::TRIBO_BACKEND::test

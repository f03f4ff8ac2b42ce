#pragma once

#include <cmath>
#include <vector>

#include "tribo/matter/strands/seed.h"
#include "tribo/matter/strands/stages/rod.h"
#include "tribo/models/all.h"

/// \file
/// Strands without a scene: hand-made polylines and the rod stages as they are.

namespace tribo::TRIBO_BACKEND::test {

using Vec3 = Vec<double, 3>;
constexpr double pi = 3.14159265358979323846;

inline double length(const Vec3& a) { return std::sqrt(squared_norm(a)); }

/// Strands, one after the other.
inline Strands strands_of(const std::vector<std::vector<Vec3>>& lines) {
  Strands strands;
  strands.start.push_back(0);
  for (const auto& line : lines) {
    strands.points.insert(strands.points.end(), line.begin(), line.end());
    strands.start.push_back(static_cast<std::int32_t>(strands.points.size()));
  }
  return strands;
}
inline std::vector<Vec3> straight_line(const Vec3& from, const Vec3& to, int edges) {
  std::vector<Vec3> points;
  for (int i = 0; i <= edges; ++i) points.push_back(from + (double(i) / edges) * (to - from));
  return points;
}
/// `turns` of a helix around the x axis.
inline std::vector<Vec3> helix(double radius, double pitch, double turns, int edges) {
  std::vector<Vec3> points;
  for (int i = 0; i <= edges; ++i) {
    const double a = 2 * pi * turns * i / edges;
    points.push_back({{pitch * a / (2 * pi), radius * std::cos(a), radius * std::sin(a)}});
  }
  return points;
}

/// A material of which a rod of radius `radius` has the given stiffness, to which EA follows.
inline RodMaterial material_of(double line_density, double EI, double radius, double GJ_over_EI = 2.0 / 3) {
  RodMaterial material;
  const double area = pi * radius * radius;
  material.density = line_density / area;
  material.youngs_modulus = EI / (area * radius * radius / 4);
  material.shear_modulus = GJ_over_EI * material.youngs_modulus / 2;
  material.stretch_scale = 1;
  return material;
}

template <class Real>
struct RodWorldOf {
  Exec ex;
  RodSeed seed;
  RodMesh<Real> mesh;
  RodState<Real> state;
  RodWorkspace<Real> work;
  RodConstants<Real> constants;
  double time = 0;

  explicit RodWorldOf(int threads = 1) : ex(threads) {}

  void load() {
    load_rods(ex, seed, mesh, state);
    constants.drives = seed.drives;
  }
  void set_gravity(const Vec3& g) { constants.gravity = cast<Real>(g); }
  void step(double dt) {
    begin_rods(ex, state, work);
    rod_step(ex, constants, mesh, time, dt, state, work);
    move_rods(ex, mesh, dt, state, work);
    time += dt;
  }
  ObjectSums sums(std::size_t body = 0) { return measure_rods(ex, constants, mesh, state)[body]; }

  Vec3 read(const Field<Real, 3>& column, Index i) {
    Vec3 r;
    for (int k = 0; k < 3; ++k) {
      Real value;
      copy_to_host(ex, column.c[k], &value, 1, i);
      r[k] = static_cast<double>(value);
    }
    return r;
  }
  Vec3 x(Index i) { return read(state.x, i) + read(state.x_tail, i); }
  Vec3 v(Index i) { return read(state.v, i); }
  Vec3 director(Index i) { return read(state.director, i); }
  double twist(Index i) {
    Real value;
    copy_to_host(ex, state.twist.c[0], &value, 1, i);
    return static_cast<double>(value);
  }
  /// Puts vertices elsewhere, with frames that follow.
  void place(const std::vector<Vec3>& points) {
    work.director_next.resize_discard(mesh.vertices);
    for (int k = 0; k < 3; ++k)
      for (std::size_t i = 0; i < points.size(); ++i) {
        const Real rounded = static_cast<Real>(points[i][k]);
        state.x.c[k].data()[i] = rounded;
        state.x_tail.c[k].data()[i] = static_cast<Real>(points[i][k] - static_cast<double>(rounded));
      }
  }
};
using RodWorld = RodWorldOf<double>;

}  // namespace tribo::TRIBO_BACKEND::test

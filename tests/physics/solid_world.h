#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <vector>

#include "tribo/math/svd.h"
#include "tribo/matter/solids/contact/contact.h"
#include "tribo/matter/solids/contact_samples.h"

/// \file
/// Tet bodies in contact without a scene: hand-made meshes, plain explicit elasticity (fixed corotated with corotated
/// Kelvin-Voigt damping) and the contact stages as they are.

namespace tribo::TRIBO_BACKEND::test {

using Vec3 = Vec<double, 3>;
using Mat3 = Mat<double, 3>;

inline double length(const Vec3& a) { return std::sqrt(squared_norm(a)); }

inline Mat3 rotation(int axis, double degrees) {
  const double a = degrees * 3.14159265358979323846 / 180;
  const int i = (axis + 1) % 3, j = (axis + 2) % 3;
  Mat3 r = Mat3::identity();
  r(i, i) = r(j, j) = std::cos(a);
  r(i, j) = -std::sin(a);
  r(j, i) = std::sin(a);
  return r;
}

/// Vertices and tets of one body.
struct Lump {
  std::vector<Vec3> vertices;
  std::vector<Vec<std::int32_t, 4>> tets;

  Lump& turn(const Mat3& r) {
    for (Vec3& x : vertices) x = r * x;
    return *this;
  }
  Lump& shift(const Vec3& by) {
    for (Vec3& x : vertices) x = x + by;
    return *this;
  }
  Lump& add(const Lump& other) {
    const auto first = static_cast<std::int32_t>(vertices.size());
    vertices.insert(vertices.end(), other.vertices.begin(), other.vertices.end());
    for (Vec<std::int32_t, 4> t : other.tets) {
      for (int k = 0; k < 4; ++k) t[k] += first;
      tets.push_back(t);
    }
    return *this;
  }
};

/// A box around the origin of n[0] x n[1] x n[2] cells, each of six tets along its diagonal.
inline Lump box(const Vec3& size, const std::array<int, 3>& n) {
  Lump lump;
  const auto at = [&](int x, int y, int z) { return (x * (n[1] + 1) + y) * (n[2] + 1) + z; };
  for (int x = 0; x <= n[0]; ++x)
    for (int y = 0; y <= n[1]; ++y)
      for (int z = 0; z <= n[2]; ++z)
        lump.vertices.push_back({{size[0] * (double(x) / n[0] - 0.5), size[1] * (double(y) / n[1] - 0.5),
                                  size[2] * (double(z) / n[2] - 0.5)}});
  constexpr int paths[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
  for (int x = 0; x < n[0]; ++x)
    for (int y = 0; y < n[1]; ++y)
      for (int z = 0; z < n[2]; ++z)
        for (int p = 0; p < 6; ++p) {
          int c[3] = {x, y, z};
          Vec<std::int32_t, 4> tet;
          tet[0] = at(c[0], c[1], c[2]);
          for (int k = 0; k < 3; ++k) {
            ++c[paths[p][k]];
            tet[k + 1] = at(c[0], c[1], c[2]);
          }
          if (p >= 3) std::swap(tet[2], tet[3]);  // odd permutations turn the other way
          lump.tets.push_back(tet);
        }
  return lump;
}
inline Lump cube(double size, int n) { return box({{size, size, size}}, {n, n, n}); }

/// A ball: shells of an icosahedron's faces cut in four `levels` times, with prisms between them cut in three.
inline Lump ball(double radius, int levels, int shells) {
  const double g = 0.5 * (1 + std::sqrt(5.0));
  std::vector<Vec3> points = {{{-1, g, 0}},  {{1, g, 0}},  {{-1, -g, 0}}, {{1, -g, 0}}, {{0, -1, g}},  {{0, 1, g}},
                              {{0, -1, -g}}, {{0, 1, -g}}, {{g, 0, -1}},  {{g, 0, 1}},  {{-g, 0, -1}}, {{-g, 0, 1}}};
  std::vector<std::array<int, 3>> faces = {{0, 11, 5}, {0, 5, 1},  {0, 1, 7},   {0, 7, 10}, {0, 10, 11},
                                           {1, 5, 9},  {5, 11, 4}, {11, 10, 2}, {10, 7, 6}, {7, 1, 8},
                                           {3, 9, 4},  {3, 4, 2},  {3, 2, 6},   {3, 6, 8},  {3, 8, 9},
                                           {4, 9, 5},  {2, 4, 11}, {6, 2, 10},  {8, 6, 7},  {9, 8, 1}};
  for (int level = 0; level < levels; ++level) {
    std::map<std::pair<int, int>, int> middles;
    const auto middle = [&](int a, int b) {
      const auto [at, fresh] = middles.try_emplace(std::minmax(a, b), static_cast<int>(points.size()));
      if (fresh) points.push_back(points[static_cast<std::size_t>(a)] + points[static_cast<std::size_t>(b)]);
      return at->second;
    };
    std::vector<std::array<int, 3>> finer;
    for (const auto& f : faces) {
      const int a = middle(f[0], f[1]), b = middle(f[1], f[2]), c = middle(f[2], f[0]);
      finer.insert(finer.end(), {{f[0], a, c}, {f[1], b, a}, {f[2], c, b}, {a, b, c}});
    }
    faces = finer;
    for (Vec3& p : points) p = (1 / length(p)) * p;
  }
  Lump lump;
  lump.vertices.push_back(Vec3::zero());
  for (int s = 1; s <= shells; ++s)
    for (const Vec3& p : points) lump.vertices.push_back((radius * s / shells / length(p)) * p);
  const auto n = static_cast<std::int32_t>(points.size());
  const auto add = [&](Vec<std::int32_t, 4> t) {
    Mat3 D;
    for (int k = 0; k < 3; ++k)
      for (int r = 0; r < 3; ++r)
        D(r, k) =
            lump.vertices[static_cast<std::size_t>(t[k + 1])][r] - lump.vertices[static_cast<std::size_t>(t[0])][r];
    if (determinant(D) < 0) std::swap(t[2], t[3]);
    lump.tets.push_back(t);
  };
  for (const auto& face : faces) {
    add({{0, 1 + face[0], 1 + face[1], 1 + face[2]}});
    std::array<int, 3> f = face;
    std::sort(f.begin(), f.end());  // diagonals from the lowest number: the same seen from both sides
    for (int s = 1; s < shells; ++s) {
      const std::int32_t in = 1 + (s - 1) * n, out = in + n;
      add({{in + f[0], in + f[1], in + f[2], out + f[2]}});
      add({{in + f[0], in + f[1], out + f[1], out + f[2]}});
      add({{in + f[0], out + f[0], out + f[1], out + f[2]}});
    }
  }
  return lump;
}

struct Stuff {
  double density = 1000;     ///< [kg/m^3]
  double stiffness = 2.5e5;  ///< E [Pa]
  double poisson = 0.3;
  double damping = 50;  ///< eta [Pa s]
  double friction = 0;
  bool kinematic = false;
  bool self_contact = false;
};

struct SolidWorld {
  Exec ex;
  SolidSeed seed;
  std::vector<Stuff> stuff;
  std::vector<Mat3> inverse_rest;
  std::vector<double> volume;
  std::vector<std::int32_t> tet_body;
  SolidMesh<double> mesh;
  SolidState<double> state;
  ContactWorkspace<double> work;
  ContactConstants constants;
  Colliders<double, 3> colliders;
  std::vector<ColliderSpec> collider_specs;
  Vec3 gravity = Vec3::zero();
  ContactCounts counts;
  std::vector<bool> held;  ///< vertices that `pin` holds
  Field<double, 3> begin_velocity;
  bool hold = true;

  explicit SolidWorld(int threads = 1) : ex(threads) {}

  int add(const Lump& lump, const Stuff& of, const Vec3& velocity = Vec3::zero()) {
    SolidBody body;
    const auto v0 = static_cast<std::int32_t>(seed.rest.size());
    body.vertices = {v0, v0 + static_cast<std::int32_t>(lump.vertices.size())};
    body.tets.begin = static_cast<std::int32_t>(seed.tets.size());
    body.triangles.begin = static_cast<std::int32_t>(seed.triangles.size());
    body.friction = of.friction;
    body.kinematic = of.kinematic;
    body.self_contact = of.self_contact;
    seed.rest.insert(seed.rest.end(), lump.vertices.begin(), lump.vertices.end());
    seed.mass.resize(seed.rest.size(), 0);
    seed.v.resize(seed.rest.size(), velocity);
    const auto b = static_cast<std::int32_t>(seed.bodies.size());
    std::map<std::array<std::int32_t, 3>, std::pair<Vec<std::int32_t, 3>, std::int32_t>> faces;
    for (Vec<std::int32_t, 4> t : lump.tets) {
      for (int k = 0; k < 4; ++k) t[k] += v0;
      Mat3 Dm;
      for (int k = 0; k < 3; ++k)
        for (int r = 0; r < 3; ++r) Dm(r, k) = rest(t[k + 1])[r] - rest(t[0])[r];
      const double V = determinant(Dm) / 6;
      inverse_rest.push_back(inverse(Dm));
      volume.push_back(V);
      tet_body.push_back(b);
      const auto index = static_cast<std::int32_t>(seed.tets.size());
      seed.tets.push_back(t);
      for (int k = 0; k < 4; ++k) seed.mass[static_cast<std::size_t>(t[k])] += of.density * V / 4;
      constexpr int face[4][3] = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {0, 3, 2}};
      for (const auto& f : face) {
        const Vec<std::int32_t, 3> tri{{t[f[0]], t[f[1]], t[f[2]]}};
        std::array<std::int32_t, 3> key = {tri[0], tri[1], tri[2]};
        std::sort(key.begin(), key.end());
        if (!faces.erase(key)) faces[key] = {tri, index};
      }
    }
    for (const auto& [key, value] : faces) {
      seed.triangles.push_back(value.first);
      seed.triangle_tet.push_back(value.second);
    }
    body.tets.end = static_cast<std::int32_t>(seed.tets.size());
    body.triangles.end = static_cast<std::int32_t>(seed.triangles.size());
    seed.bodies.push_back(body);
    stuff.push_back(of);
    return b;
  }
  /// Holds the vertices of a body that `where` names, by their places at rest.
  template <class Where>
  void pin(int b, const Where& where) {
    held.resize(seed.rest.size(), false);
    each(b, [&](std::int32_t p) {
      if (where(rest(p))) held[static_cast<std::size_t>(p)] = true;
    });
  }
  void add_collider(const Shape<double>& shape, double friction) {
    ColliderSpec spec;
    spec.shape = shape;
    spec.friction = friction;
    spec.boundary = Boundary::separate;
    collider_specs.push_back(spec);
  }

  /// Everything on the device, for a contact grid of spacing dx.
  void begin(double dx) {
    held.resize(seed.rest.size(), false);
    constants.dx = dx;
    constants.gravity = length(gravity);
    constants.spec = seed.contact;
    seed.x = seed.rest;
    seed.samples = place_samples(seed, dx);
    assign_samples(seed.samples, seed.bodies);
    load();
    load_contact(ex, seed, constants, work);
    colliders.load(ex, collider_specs, {});
  }

  /// A step of elasticity, contact and motion.
  void step(double dt) {
    begin_velocity.resize_discard(state.count);
    for (int k = 0; k < 3; ++k) std::copy_n(state.v.c[k].data(), state.count, begin_velocity.c[k].data());
    work.begin = hold ? &begin_velocity : nullptr;
    elastic(dt);
    const auto placed = colliders.place(ex, collider_specs, 0, dt, {});
    counts = contact_step(ex, mesh, constants, placed, dt, state, work);
    for (Index p = 0; p < state.count; ++p)
      for (int k = 0; k < 3; ++k) state.x.c[k].data()[p] += dt * state.v.c[k].data()[p];
  }
  /// Half of the shortest time a wave takes through a tet of the rest shapes (experiments_solids Q9), with damping.
  double stable_dt() const {
    double r = 1e300;
    for (std::size_t e = 0; e < seed.tets.size(); ++e) {
      const Stuff& s = stuff[static_cast<std::size_t>(tet_body[e])];
      if (s.kinematic) continue;
      double steepest = 0;
      const Mat3& B = inverse_rest[e];  // rows are gradients of the corners' hat functions: one over altitudes
      Vec3 first = Vec3::zero();
      for (int i = 0; i < 3; ++i) {
        const Vec3 row{{B(i, 0), B(i, 1), B(i, 2)}};
        first += row;
        steepest = std::max(steepest, length(row));
      }
      steepest = std::max(steepest, length(first));
      const double bulk = s.stiffness * (1 - s.poisson) / ((1 + s.poisson) * (1 - 2 * s.poisson));
      const double T = 1 / (steepest * std::sqrt(bulk / s.density));
      const double tau = 2 * s.damping / bulk / T;
      r = std::min(r, 0.5 * T * (std::sqrt(1 + tau * tau) - tau));
    }
    return r;
  }
  void run(double time, double dt) {
    const int steps = static_cast<int>(std::ceil(time / dt - 1e-9));
    for (int i = 0; i < steps; ++i) step(time / steps);
  }

  Vec3 x(std::int32_t p) const { return get(state.x, p); }
  Vec3 v(std::int32_t p) const { return get(state.v, p); }
  double m(std::int32_t p) const { return seed.mass[static_cast<std::size_t>(p)]; }

  double mass(int b) const {
    double sum = 0;
    each(b, [&](std::int32_t p) { sum += m(p); });
    return sum;
  }
  Vec3 center(int b) const {
    Vec3 sum = Vec3::zero();
    each(b, [&](std::int32_t p) { sum += m(p) * x(p); });
    return (1 / mass(b)) * sum;
  }
  Vec3 momentum(int b) const {
    Vec3 sum = Vec3::zero();
    each(b, [&](std::int32_t p) { sum += m(p) * v(p); });
    return sum;
  }
  Vec3 velocity(int b) const { return (1 / mass(b)) * momentum(b); }
  Vec3 angular_momentum(int b, const Vec3& about = Vec3::zero()) const {
    Vec3 sum = Vec3::zero();
    each(b, [&](std::int32_t p) { sum += m(p) * cross(x(p) - about, v(p)); });
    return sum;
  }
  double kinetic(int b) const {
    double sum = 0;
    each(b, [&](std::int32_t p) { sum += 0.5 * m(p) * squared_norm(v(p)); });
    return sum;
  }
  /// psi = mu |F - R|^2 + lambda/2 (J - 1)^2, over the volume.
  double elastic_energy(int b) const {
    const Stuff& s = stuff[static_cast<std::size_t>(b)];
    const double mu = s.stiffness / (2 * (1 + s.poisson));
    const double lambda = s.stiffness * s.poisson / ((1 + s.poisson) * (1 - 2 * s.poisson));
    double sum = 0;
    const Run run = seed.bodies[static_cast<std::size_t>(b)].tets;
    for (auto e = static_cast<std::size_t>(run.begin); e < static_cast<std::size_t>(run.end); ++e) {
      const Mat3 F = edges(state.x, seed.tets[e]) * inverse_rest[e];
      const Mat3 D = F - polar_rotation(F);
      const double J = determinant(F);
      double square = 0;
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) square += D(i, j) * D(i, j);
      sum += volume[e] * (mu * square + 0.5 * lambda * (J - 1) * (J - 1));
    }
    return sum;
  }
  /// Least of a coordinate along `n`.
  double lowest(int b, const Vec3& n) const {
    double r = 1e300;
    each(b, [&](std::int32_t p) { r = std::min(r, dot(n, x(p))); });
    return r;
  }
  void set_position(std::int32_t p, const Vec3& to) {
    for (int k = 0; k < 3; ++k) state.x.c[k].data()[p] = to[k];
  }
  void set_velocity(std::int32_t p, const Vec3& to) {
    for (int k = 0; k < 3; ++k) state.v.c[k].data()[p] = to[k];
  }
  template <class Visit>
  void each(int b, const Visit& visit) const {
    const Run run = seed.bodies[static_cast<std::size_t>(b)].vertices;
    for (std::int32_t p = run.begin; p < run.end; ++p) visit(p);
  }

  static Mat3 inverse(const Mat3& a) {
    Mat3 r;
    const double J = determinant(a);
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) {
        const int p = (j + 1) % 3, q = (j + 2) % 3, s = (i + 1) % 3, t = (i + 2) % 3;
        r(i, j) = (a(p, s) * a(q, t) - a(p, t) * a(q, s)) / J;
      }
    return r;
  }

  /// v_lag: fixed corotated P = 2 mu (F - R) + lambda (J - 1) cof F, damping P += eta R (S + S^T), S = R^T dF/dt.
  void elastic(double dt) {
    std::vector<Vec3> f(seed.rest.size(), Vec3::zero());
    for (std::size_t e = 0; e < seed.tets.size(); ++e) {
      const Stuff& s = stuff[static_cast<std::size_t>(tet_body[e])];
      if (s.kinematic) continue;
      const double mu = s.stiffness / (2 * (1 + s.poisson));
      const double lambda = s.stiffness * s.poisson / ((1 + s.poisson) * (1 - 2 * s.poisson));
      const Vec<std::int32_t, 4>& t = seed.tets[e];
      const Mat3 F = edges(state.x, t) * inverse_rest[e];
      const Mat3 R = polar_rotation(F);
      const double J = determinant(F);
      Mat3 cof;
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
          const int p = (i + 1) % 3, q = (i + 2) % 3, a = (j + 1) % 3, b = (j + 2) % 3;
          cof(i, j) = F(p, a) * F(q, b) - F(p, b) * F(q, a);
        }
      const Mat3 S = transpose(R) * (edges(state.v, t) * inverse_rest[e]);
      const Mat3 P = (F - R) * (2 * mu) + cof * (lambda * (J - 1)) + R * (S + transpose(S)) * s.damping;
      const Mat3 H = P * transpose(inverse_rest[e]) * (-volume[e]);
      for (int k = 0; k < 3; ++k) {
        const Vec3 force{{H(0, k), H(1, k), H(2, k)}};
        f[static_cast<std::size_t>(t[k + 1])] += force;
        f[static_cast<std::size_t>(t[0])] += -force;
      }
    }
    for (std::size_t b = 0; b < seed.bodies.size(); ++b)
      if (!stuff[b].kinematic)
        each(static_cast<int>(b), [&](std::int32_t p) {
          if (!held[static_cast<std::size_t>(p)])
            set_velocity(p, v(p) + dt * (gravity + (1 / m(p)) * f[static_cast<std::size_t>(p)]));
        });
  }

 private:
  const Vec3& rest(std::int32_t p) const { return seed.rest[static_cast<std::size_t>(p)]; }
  /// Of a column over vertices, from the first corner of a tet.
  static Mat3 edges(const Field<double, 3>& field, const Vec<std::int32_t, 4>& t) {
    Mat3 D;
    for (int k = 0; k < 3; ++k) {
      const Vec3 edge = get(field, t[k + 1]) - get(field, t[0]);
      for (int r = 0; r < 3; ++r) D(r, k) = edge[r];
    }
    return D;
  }
  static Vec3 get(const Field<double, 3>& field, std::int32_t p) {
    return {{field.c[0].data()[p], field.c[1].data()[p], field.c[2].data()[p]}};
  }
  template <class To, class From>
  void send(const std::vector<From>& from, Array<To>& to) {
    std::vector<To> values(from.begin(), from.end());
    copy_to_device(ex, values.data(), to, static_cast<Index>(values.size()));
  }
  template <class To, int N, class From>
  void send(const std::vector<Vec<From, N>>& from, Field<To, N>& to) {
    for (int k = 0; k < N; ++k) {
      std::vector<To> values;
      for (const auto& item : from) values.push_back(static_cast<To>(item[k]));
      copy_to_device(ex, values.data(), to.c[k], static_cast<Index>(values.size()));
    }
  }
  /// Lists one after the other, and where each begins.
  static std::pair<std::vector<Index>, std::vector<Index>> joined(const std::vector<std::vector<Index>>& lists) {
    std::vector<Index> start, all;
    for (const auto& list : lists) {
      start.push_back(static_cast<Index>(all.size()));
      all.insert(all.end(), list.begin(), list.end());
    }
    start.push_back(static_cast<Index>(all.size()));
    return {start, all};
  }
  void load() {
    mesh.vertices = static_cast<Index>(seed.rest.size());
    mesh.tets = static_cast<Index>(seed.tets.size());
    mesh.triangles = static_cast<Index>(seed.triangles.size());
    mesh.samples = static_cast<Index>(seed.samples.size());
    mesh.bodies = static_cast<Index>(seed.bodies.size());
    std::vector<double> inverse_mass(seed.mass.size()), friction, restitution, sample_mass;
    std::vector<Index> vertex_body, kinematic, self_contact, sample_triangle, sample_body;
    std::vector<Vec3> weight;
    std::vector<std::vector<Index>> corners(seed.rest.size());
    for (std::size_t b = 0; b < seed.bodies.size(); ++b) {
      const SolidBody& body = seed.bodies[b];
      each(static_cast<int>(b), [&](std::int32_t p) {
        vertex_body.push_back(static_cast<Index>(b));
        inverse_mass[static_cast<std::size_t>(p)] =
            body.kinematic || held[static_cast<std::size_t>(p)] ? 0 : 1 / seed.mass[static_cast<std::size_t>(p)];
      });
      kinematic.push_back(body.kinematic ? 1 : 0);
      self_contact.push_back(body.self_contact ? 1 : 0);
      restitution.push_back(body.restitution);
      for (const SolidBody& other : seed.bodies) friction.push_back(std::min(body.friction, other.friction));
      for (std::int32_t q = body.samples.begin; q < body.samples.end; ++q) sample_body.push_back(static_cast<Index>(b));
    }
    for (std::size_t q = 0; q < seed.samples.size(); ++q) {
      const ContactSample& s = seed.samples[q];
      sample_triangle.push_back(s.triangle);
      sample_mass.push_back(s.mass);
      weight.push_back(s.weight);
      for (int k = 0; k < 3; ++k)
        corners[static_cast<std::size_t>(seed.triangles[static_cast<std::size_t>(s.triangle)][k])].push_back(
            static_cast<Index>(3 * q) + k);
    }
    const auto [start, corner] = joined(corners);
    send(inverse_mass, mesh.inverse_mass);
    send(vertex_body, mesh.vertex_body);
    send(friction, mesh.friction);
    send(restitution, mesh.restitution);
    send(kinematic, mesh.kinematic);
    send(self_contact, mesh.self_contact);
    send(sample_triangle, mesh.sample_triangle);
    send(sample_body, mesh.sample_body);
    send(sample_mass, mesh.sample_mass);
    send(weight, mesh.sample_weight);
    send(start, mesh.sample_corner_start);
    send(corner, mesh.sample_corner);
    std::vector<std::vector<Index>> tets(seed.rest.size());
    for (std::size_t e = 0; e < seed.tets.size(); ++e)
      for (int k = 0; k < 4; ++k)
        tets[static_cast<std::size_t>(seed.tets[e][k])].push_back(static_cast<Index>(4 * e) + k);
    const auto [tet_start, tet_corner] = joined(tets);
    send(tet_start, mesh.tet_corner_start);
    send(tet_corner, mesh.tet_corner);
    send(seed.triangles, mesh.triangle);
    send(seed.triangle_tet, mesh.triangle_tet);
    send(seed.tets, mesh.tet);
    send(volume, mesh.volume);
    send(seed.x, state.x);
    send(seed.v, state.v);
    send(std::vector<Vec3>(seed.samples.size(), Vec3::zero()), state.slip);
    state.count = mesh.vertices;
  }
};

}  // namespace tribo::TRIBO_BACKEND::test

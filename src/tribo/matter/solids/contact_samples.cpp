#include "tribo/matter/solids/contact_samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tribo/core/errors.h"
#include "tribo/matter/solids/amounts.h"
#include "tribo/matter/solids/expected_tets.h"
#include "tribo/matter/solids/spec.h"
#include "tribo/mesh/tet_mesh.h"
#include "tribo/mesh/triangle_tree.h"
#include "tribo/scene/scene.h"
#include "tribo/setup/random.h"

namespace tribo {
namespace {

using Vec3 = Vec<double, 3>;

struct Corners {
  Vec3 a, b, c;

  Vec3 twice_area() const { return cross(b - a, c - a); }
  Vec3 at(const Vec3& weight) const { return weight[0] * a + weight[1] * b + weight[2] * c; }
};

Corners corners(const SolidSeed& seed, std::int32_t triangle) {
  const Vec<std::int32_t, 3>& t = seed.triangles[static_cast<std::size_t>(triangle)];
  const auto vertex = [&](int k) { return seed.rest[static_cast<std::size_t>(t[k])]; };
  return {vertex(0), vertex(1), vertex(2)};
}

/// Half of a triangle's area goes to `count` points of equal share, the other half to its corners, or none when there
/// shall be no points there: impulses as they are printed (Han 2019) are too strong for them. The points are one
/// in each of `count` strips of equal area, and along the strips they follow the golden section: any part of the
/// triangle has its share of them, which points at random do not give (experiments_solids Q1).
void sample_triangle(std::int32_t triangle, double area, int count, bool corners_too,
                     std::vector<ContactSample>& samples) {
  const Random random(triangle);
  const double shift = random.at(0);
  for (int j = 0; j < count; ++j) {
    const double u = std::sqrt((j + random.at(static_cast<std::uint64_t>(j) + 1)) / count);
    const double along = shift + 0.6180339887498949 * j;
    const double v = along - std::floor(along);
    samples.push_back({triangle, {{1 - u, u * (1 - v), u * v}}, 0, (corners_too ? 0.5 : 1) * area / count});
  }
  for (int k = 0; k < 3 && corners_too; ++k) {
    Vec3 weight = Vec3::zero();
    weight[k] = 1;
    samples.push_back({triangle, weight, 0, area / 6});
  }
}

/// Masses and weights that agree with the masses of the vertices (experiments_solids "Consistent masses"):
///   beta_pq = m_p b_pq a_q / S_p,   S_p = sum_q b_pq a_q;   m_q = sum_p beta_pq,   b_pq <- beta_pq / m_q.
/// Weights stay convex: a sample moves in its triangle, toward heavier corners.
void make_consistent(const SolidSeed& seed, std::vector<ContactSample>& samples) {
  std::vector<double> share(seed.rest.size(), 0);
  const auto vertex = [&](const ContactSample& q, int k) {
    return static_cast<std::size_t>(seed.triangles[static_cast<std::size_t>(q.triangle)][k]);
  };
  for (const ContactSample& q : samples)
    for (int k = 0; k < 3; ++k) share[vertex(q, k)] += q.weight[k] * q.area;
  for (ContactSample& q : samples) {
    Vec3 beta;
    for (int k = 0; k < 3; ++k) beta[k] = seed.mass[vertex(q, k)] * q.weight[k] * q.area / share[vertex(q, k)];
    q.mass = beta[0] + beta[1] + beta[2];
    for (int k = 0; k < 3; ++k) q.weight[k] = beta[k] / q.mass;
  }
}

/// How thick a body is behind a point of its boundary: the diameter of the largest ball within it that touches the
/// boundary there, or `enough` when that is smaller. Balls that touch in one point hold each other, so bisection finds
/// the largest.
double thickness_at(const TriangleTree& boundary, const Vec3& x, const Vec3& normal, double enough) {
  const auto fits = [&](double radius) {
    return boundary.distance(x - radius * normal, radius) >= radius * (1 - 1e-6);
  };
  double high = 0.5 * enough;
  if (fits(high)) return enough;
  double low = 0;
  for (int i = 0; i < 10; ++i) {
    const double middle = 0.5 * (low + high);
    (fits(middle) ? low : high) = middle;
  }
  return 2 * low;
}

void measure_thickness(const SolidSeed& seed, const SolidBody& body, double enough, ContactSample* begin,
                       const ContactSample* end) {
  SurfaceMesh surface;
  surface.vertices.assign(seed.rest.begin() + body.vertices.begin, seed.rest.begin() + body.vertices.end);
  for (std::int32_t t = body.triangles.begin; t < body.triangles.end; ++t) {
    const Vec<std::int32_t, 3>& v = seed.triangles[static_cast<std::size_t>(t)];
    surface.triangles.push_back({{v[0] - body.vertices.begin, v[1] - body.vertices.begin, v[2] - body.vertices.begin}});
  }
  const TriangleTree tree(surface);
  for (ContactSample* q = begin; q != end; ++q) {
    const Corners c = corners(seed, q->triangle);
    const Vec3 n = c.twice_area();
    const double length = std::sqrt(squared_norm(n));
    q->thickness = length > 0 ? thickness_at(tree, c.at(q->weight), (1 / length) * n, enough) : 0;
  }
}

double area_of(const SolidSeed& seed, std::int32_t triangle) {
  return 0.5 * std::sqrt(squared_norm(corners(seed, triangle).twice_area()));
}

/// Points within a triangle, beside those at its corners.
double spread_over(const SolidSeed& seed, double area, double dx) {
  return std::max(1.0, std::ceil(seed.contact.samples_per_cell * area / (dx * dx)));
}

bool has_corners(const SolidSeed& seed) { return seed.contact.form == ContactSpec::Form::balanced; }

}  // namespace

SolidAmounts expected_solids(const Scene& scene, const ObjectSpec& object) {
  SolidAmounts amounts;
  amounts.tets = expected_tets(object);
  const SolidSpec* solid = hybrid_mesh(object);
  if (solid == nullptr) return amounts;
  double area = 0, triangles = 0;
  if (const TetSolid* given = given_tets(object.shape)) {
    for (const auto& t : boundary_of(given->mesh).triangles) {
      const auto x = [&](int k) { return given->mesh.vertices[static_cast<std::size_t>(t[k])]; };
      area += 0.5 * std::sqrt(squared_norm(Corners{x(0), x(1), x(2)}.twice_area()));
      ++triangles;
    }
  } else {
    const Bounds bounds = std::visit([](const auto& shape) { return shape.bounds(); }, object.shape);
    const Vec3 size = bounds.high - bounds.low;
    area = 2 * (size[0] * size[1] + size[1] * size[2] + size[2] * size[0]);
    if (!std::holds_alternative<Box<double>>(object.shape)) area *= 0.6;  // a ball's part of its box is 0.52
    triangles = 2 * area / (solid->element_size * solid->element_size);
  }
  amounts.bodies = 1;
  amounts.self_contact = solid->self_contact;
  amounts.surface_cells = area / (scene.grid.dx * scene.grid.dx);
  const double corners = scene.contact.form == ContactSpec::Form::balanced ? 3 : 0;
  // At least one within each triangle; where it takes several, half of them have one more than their area asks for.
  const double asked = scene.contact.samples_per_cell * amounts.surface_cells;
  amounts.samples = corners * triangles + std::max(triangles, asked + 0.5 * std::min(triangles, asked));
  return amounts;
}

SolidAmounts expected_solids(const Scene& scene) {
  SolidAmounts sum;
  for (const ObjectSpec& object : scene.objects) sum += expected_solids(scene, object);
  return sum;
}

SolidAmounts amounts_of(const SolidSeed& seed, double dx) {
  SolidAmounts amounts;
  amounts.tets = static_cast<double>(seed.tets.size());
  amounts.samples = static_cast<double>(seed.samples.size());
  amounts.bodies = static_cast<double>(seed.bodies.size());
  for (const ContactSample& q : seed.samples) amounts.surface_cells += q.area / (dx * dx);
  for (const SolidBody& body : seed.bodies) amounts.self_contact = amounts.self_contact || body.self_contact;
  return amounts;
}

void check_sample_count(const Scene& scene, const ObjectSpec& object, double count) {
  constexpr double most = 7e8;  // three corners of each need numbers
  if (count <= most) return;
  throw SceneError({Finding{
      scene.file, 0, 0, "/contact/samples_per_cell",
      fmt::format("{:.3g} would put {:.3g} collision particles on object '{}', with a grid spacing of {:.3g} m; a "
                  "scene can have {:.2g}: lower it, usual is 1, or raise grid.dx",
                  scene.contact.samples_per_cell, count, object.name, scene.grid.dx, most)}});
}

double expected_samples(const SolidSeed& seed, const SolidBody& body, double dx) {
  double sum = 0;
  for (std::int32_t t = body.triangles.begin; t < body.triangles.end; ++t)
    sum += spread_over(seed, area_of(seed, t), dx) + (has_corners(seed) ? 3 : 0);
  return sum;
}

std::vector<ContactSample> place_samples(const SolidSeed& seed, double dx) {
  std::vector<ContactSample> samples;
  std::vector<std::size_t> first;
  for (const SolidBody& body : seed.bodies) {
    first.push_back(samples.size());
    for (std::int32_t t = body.triangles.begin; t < body.triangles.end; ++t) {
      const double area = area_of(seed, t);
      sample_triangle(t, area, static_cast<int>(spread_over(seed, area, dx)), has_corners(seed), samples);
    }
  }
  first.push_back(samples.size());
  make_consistent(seed, samples);
  for (std::size_t b = 0; b < seed.bodies.size(); ++b)
    if (seed.bodies[b].self_contact)
      measure_thickness(seed, seed.bodies[b], thick_cells * dx, samples.data() + first[b],
                        samples.data() + first[b + 1]);
  return samples;
}

void assign_samples(const std::vector<ContactSample>& samples, std::vector<SolidBody>& bodies) {
  std::int32_t next = 0;
  const auto count = static_cast<std::int32_t>(samples.size());
  for (SolidBody& body : bodies) {
    body.samples.begin = next;
    while (next < count && samples[static_cast<std::size_t>(next)].triangle < body.triangles.end) ++next;
    body.samples.end = next;
  }
}

}  // namespace tribo

#include "tribo/matter/rigid/mass.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "tribo/colliders/extract.h"

namespace tribo {
namespace {

using Vec3 = Vec<double, 3>;

void add_product(Sym<double, 3>& to, double factor, const Vec3& a, const Vec3& b) {
  for (int i = 0; i < 3; ++i)
    for (int j = i; j < 3; ++j) to(i, j) += factor * 0.5 * (a[i] * b[j] + a[j] * b[i]);
}

/// Centered at the origin, with its axes along the coordinate axes; `mean` are the mean squares of the coordinates.
Moments centered(double volume, const Vec3& mean) {
  Moments m;
  m.volume = volume;
  for (int k = 0; k < 3; ++k) m.second(k, k) = volume * mean[k];
  return m;
}

Moments of(const HalfSpace<double>&) { return {.volume = std::numeric_limits<double>::infinity()}; }
Moments of(const Box<double>& box) {
  Vec3 mean;
  for (int k = 0; k < 3; ++k) mean[k] = box.size[k] * box.size[k] / 12;
  return centered(box.volume(3), mean);
}
Moments of(const Sphere<double>& sphere) {
  return centered(sphere.volume(3), Vec3::filled(sphere.radius * sphere.radius / 5));
}
Moments of(const Cylinder<double>& cylinder) {
  const double across = cylinder.radius * cylinder.radius / 4;
  return centered(cylinder.volume(3), {{across, cylinder.height * cylinder.height / 12, across}});
}
/// The straight part and two halves of a ball, whose centers are 3/8 r beyond it.
Moments of(const Capsule<double>& capsule) {
  const double r = capsule.radius, h = capsule.height;
  const Sphere<double> ball{r};
  const double ends = ball.volume(3), across = r * r / 5;
  Moments m = centered(ends, {{across, across + 0.375 * r * h + 0.25 * h * h, across}});
  if (h > 0) m += of(Cylinder<double>{r, h});
  return m;
}
/// With R and a: mean of y^2 is a^2/4, of x^2 + z^2 it is R^2 + 3/4 a^2.
Moments of(const Torus<double>& torus) {
  const double R2 = torus.ring * torus.ring, a2 = torus.tube * torus.tube;
  const double across = 0.5 * R2 + 0.375 * a2;
  return centered(torus.volume(3), {{across, 0.25 * a2, across}});
}
Moments of(const Mesh& mesh) { return moments_of(mesh.solid().mesh); }

using Surface = std::function<SurfacePoint<double, 3>(const Vec3&)>;

/// A triangle with curved sides: corners, then the middles of its sides a-b, b-c and c-a.
struct CurvedTriangle {
  Vec3 node[6];

  /// The place of (u, v), where a is (0, 0), b (1, 0) and c (0, 1), and the normal there, as long as the area of the
  /// surface over that of u and v.
  void at(double u, double v, Vec3& x, Vec3& normal) const {
    const double w = 1 - u - v;
    const double shape[6] = {w * (2 * w - 1), u * (2 * u - 1), v * (2 * v - 1), 4 * w * u, 4 * u * v, 4 * v * w};
    const double by_u[6] = {1 - 4 * w, 4 * u - 1, 0, 4 * (w - u), 4 * v, -4 * v};
    const double by_v[6] = {1 - 4 * w, 0, 4 * v - 1, -4 * u, 4 * u, 4 * (w - v)};
    Vec3 along_u = Vec3::zero(), along_v = Vec3::zero();
    x = Vec3::zero();
    for (int i = 0; i < 6; ++i) {
      x += shape[i] * node[i];
      along_u += by_u[i] * node[i];
      along_v += by_v[i] * node[i];
    }
    normal = cross(along_u, along_v);
  }
};

/// By Gauss's theorem, since div(f x) = (3 + degree) f: of f = 1, x and x x^T. On a triangle with curved sides these
/// are polynomials of degree 8 at most, for which five points of Gauss in either direction are exact.
void add_curved(const CurvedTriangle& triangle, Moments& m) {
  constexpr double point[5] = {0.046910077030668, 0.230765344947158, 0.5, 0.769234655052842, 0.953089922969332};
  constexpr double weight[5] = {0.118463442528095, 0.239314335249683, 0.284444444444444, 0.239314335249683,
                                0.118463442528095};
  for (int i = 0; i < 5; ++i)
    for (int j = 0; j < 5; ++j) {
      const double u = point[i], v = (1 - u) * point[j], w = weight[i] * weight[j] * (1 - u);
      Vec3 x, normal;
      triangle.at(u, v, x, normal);
      const double flux = w * dot(x, normal);
      m.volume += flux / 3;
      m.first += (flux / 4) * x;
      add_product(m.second, flux / 5, x, x);
    }
}

/// What a distance encloses within bounds, to the fourth order of the cells it is looked at with.
Moments measured(const Surface& nearest, const Bounds& bounds) {
  const SurfaceMesh surface = extract_surface(nearest, bounds);
  const Vec3 about = 0.5 * (bounds.low + bounds.high);
  const auto on_surface = [&](const Vec3& a, const Vec3& b) {
    const Vec3 middle = 0.5 * (a + b);
    Vec3 x = middle;
    for (int k = 0; k < 3; ++k) {
      const SurfacePoint<double, 3> s = nearest(x);
      x = x - s.distance * s.normal;
    }
    // Where a side leads along a crease it may be drawn to either face of that.
    return squared_norm(x - middle) < 0.04 * squared_norm(b - a) ? x : middle;
  };
  Moments m;
  for (std::size_t t = 0; t < surface.triangles.size(); ++t) {
    CurvedTriangle triangle;
    for (int k = 0; k < 3; ++k) {
      triangle.node[k] = surface.corner(t, k) - about;
      triangle.node[3 + k] = on_surface(surface.corner(t, k), surface.corner(t, (k + 1) % 3)) - about;
    }
    add_curved(triangle, m);
  }
  return placed(m, Mat<double, 3>::identity(), about);
}

/// The same where that is too thin for cubes: on 128 cells in each direction, in each of which the surface is flat.
Moments measured_in_slabs(const Surface& nearest, const Bounds& bounds) {
  constexpr int cells = 128;
  Vec3 half;
  for (int k = 0; k < 3; ++k) half[k] = 0.5 * (bounds.high[k] - bounds.low[k]) / cells;
  Moments m;
  for (int i = 0; i < cells * cells * cells; ++i) {
    const Vec<int, 3> cell{{i % cells, i / cells % cells, i / (cells * cells)}};
    Vec3 x;
    for (int k = 0; k < 3; ++k) x[k] = bounds.low[k] + (2 * cell[k] + 1) * half[k];
    const SurfacePoint<double, 3> s = nearest(x);
    double width = 0;
    for (int k = 0; k < 3; ++k) width += 2 * half[k] * std::abs(s.normal[k]);
    const double volume = 8 * half[0] * half[1] * half[2] * std::clamp(0.5 - s.distance / width, 0.0, 1.0);
    m.volume += volume;
    m.first += volume * x;
    add_product(m.second, volume, x, x);
  }
  return m;
}

/// Part of a compound. Where it has bounds its moments are known.
struct Measured {
  Moments moments;
  Surface nearest;
  Bounds bounds;
};

/// What two have in common.
Moments common_moments(const Measured& a, const Measured& b) {
  const Bounds bounds = common(a.bounds, b.bounds);
  const Vec3 size = bounds.high - bounds.low;
  const double largest = std::max({size[0], size[1], size[2]}), least = std::min({size[0], size[1], size[2]});
  if (!(least > 1e-12 * largest)) return {};
  const auto nearest = [&](const Vec3& p) { return combined(Operation::intersect, a.nearest(p), b.nearest(p), 0.0); };
  return least < largest / 30 ? measured_in_slabs(nearest, bounds) : measured(nearest, bounds);
}

Measured joined(Operation operation, double blend, const Measured& a, const Measured& b) {
  Measured both;
  both.nearest = [operation, blend, a = a.nearest, b = b.nearest](const Vec3& p) {
    return combined(operation, a(p), b(p), blend);
  };
  both.bounds = operation == Operation::unite       ? united(a.bounds, b.bounds, 0.25 * blend)
                : operation == Operation::intersect ? common(a.bounds, b.bounds)
                                                    : a.bounds;
  if (!both.bounds.bounded) return both;
  if (blend > 0) {
    both.moments = measured(both.nearest, both.bounds);
    return both;
  }
  const Moments shared = common_moments(a, b);
  if (operation == Operation::intersect) {
    both.moments = shared;
    return both;
  }
  both.moments = a.moments;
  if (operation == Operation::unite) both.moments += b.moments;
  both.moments -= shared;
  return both;
}

Moments of(const Compound& compound) {
  return compound
      .fold(
          [](const SimpleShape& shape, const Compound::Placement& place) {
            const Mat<double, 3> to_local = transpose(place.rotation);
            return std::visit(
                [&](const auto& s) {
                  return Measured{placed(of(s), place.rotation, place.at),
                                  [s, place, to_local](const Vec3& p) {
                                    SurfacePoint<double, 3> found = s.nearest(to_local * (p - place.at));
                                    found.normal = place.rotation * found.normal;
                                    return found;
                                  },
                                  turned(s.bounds(), place.rotation, place.at)};
                },
                shape);
          },
          joined)
      .moments;
}

}  // namespace

Sym<double, 3> Moments::inertia() const {
  const Vec3 c = center();
  Sym<double, 3> about = second;
  add_product(about, -volume, c, c);
  Sym<double, 3> inertia = Sym<double, 3>::isotropic(trace(about));
  for (int i = 0; i < 3; ++i)
    for (int j = i; j < 3; ++j) inertia(i, j) -= about(i, j);
  return inertia;
}

Moments& Moments::operator+=(const Moments& other) {
  volume += other.volume;
  first += other.first;
  for (int k = 0; k < 6; ++k) second.s[k] += other.second.s[k];
  return *this;
}

Moments& Moments::operator-=(const Moments& other) {
  volume -= other.volume;
  first = first - other.first;
  for (int k = 0; k < 6; ++k) second.s[k] -= other.second.s[k];
  return *this;
}

Moments placed(const Moments& m, const Mat<double, 3>& rotation, const Vec3& at) {
  Moments r;
  r.volume = m.volume;
  const Vec3 turned = rotation * m.first;
  r.first = turned + m.volume * at;
  for (int i = 0; i < 3; ++i)
    for (int j = i; j < 3; ++j) {
      double sum = 0;
      for (int a = 0; a < 3; ++a)
        for (int b = 0; b < 3; ++b) sum += rotation(i, a) * m.second(a, b) * rotation(j, b);
      r.second(i, j) = sum;
    }
  add_product(r.second, 2, turned, at);
  add_product(r.second, m.volume, at, at);
  return r;
}

/// Of the tetrahedra from a point near the surface to its triangles: with that point as origin each has the volume
/// V = a . (b x c) / 6 and the integral of x x^T is V / 20 (a a^T + b b^T + c c^T + s s^T), s = a + b + c.
Moments moments_of(const SurfaceMesh& surface) {
  Moments m;
  if (surface.vertices.empty()) return m;
  Vec3 about = Vec3::zero();
  for (const Vec3& x : surface.vertices) about += (1 / static_cast<double>(surface.vertices.size())) * x;
  for (std::size_t t = 0; t < surface.triangles.size(); ++t) {
    const Vec3 a = surface.corner(t, 0) - about, b = surface.corner(t, 1) - about, c = surface.corner(t, 2) - about;
    const double volume = dot(a, cross(b, c)) / 6;
    const Vec3 sum = a + b + c;
    m.volume += volume;
    m.first += (0.25 * volume) * sum;
    for (const Vec3& v : {a, b, c, sum}) add_product(m.second, 0.05 * volume, v, v);
  }
  return placed(m, Mat<double, 3>::identity(), about);
}

Moments moments_of(const Shape<double>& shape) {
  return std::visit([](const auto& s) { return of(s); }, shape);
}

}  // namespace tribo

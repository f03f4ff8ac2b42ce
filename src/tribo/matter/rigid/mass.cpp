#include "tribo/matter/rigid/mass.h"

#include <limits>
#include <numbers>

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
Moments of(const Compound& compound) { return moments_of(compound.surface()); }

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

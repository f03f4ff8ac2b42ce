#pragma once

#include "tribo/colliders/all.h"

namespace tribo {

/// Integrals over a solid of density 1.
struct Moments {
  double volume = 0;                                     ///< [m^3]
  Vec<double, 3> first = Vec<double, 3>::zero();         ///< of x [m^4]
  Sym<double, 3> second = Sym<double, 3>::isotropic(0);  ///< of x x^T [m^5]

  Vec<double, 3> center() const { return (1 / volume) * first; }
  /// Tensor of inertia about the center, for density 1 [m^5].
  Sym<double, 3> inertia() const;
  Moments& operator+=(const Moments& other);
  Moments& operator-=(const Moments& other);
};

/// Of what is turned, then moved.
Moments placed(const Moments& m, const Mat<double, 3>& rotation, const Vec<double, 3>& at);

/// Over what a closed surface encloses: exact, by integrals of polynomials over its triangles.
Moments moments_of(const SurfaceMesh& surface);

/// Over a bounded shape: in closed form, or exact over the triangles of a mesh. What parts of a compound have in common
/// is measured on curved triangles, to 1e-5 of it or better; parts that do not overlap add up exactly.
Moments moments_of(const Shape<double>& shape);

}  // namespace tribo

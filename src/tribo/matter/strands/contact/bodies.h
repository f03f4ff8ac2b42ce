#pragma once

#include "tribo/math/closest.h"
#include "tribo/matter/solids/stages/state.h"
#include "tribo/matter/strands/stages/rod.h"
#include "tribo/search/box_search.h"

/// \file
/// Boundaries of solids as obstacles of strands: the triangle of each body that is next to a vertex, as a plane that
/// moves. What holds a strand out of a body acts on the triangle's corners.

namespace tribo::TRIBO_BACKEND {

/// The place on a body's boundary that is next to a vertex.
template <class Real>
struct BodyContact {
  Real distance;          ///< negative inside [m]
  Vec<Real, 3> normal;    ///< outward
  Vec<Real, 3> velocity;  ///< [m/s]
  Real friction;
  double gives;  ///< how much the place yields to an impulse [1/kg]
  Index triangle;
  Vec<Real, 3> share;  ///< of its corners
};

/// Which triangles are near which vertices, by rising vertices and bodies.
template <class Real>
struct NearTriangles {
  const std::uint64_t* key;  ///< vertex * bodies + body
  const Index* entry;
  const NearPair* near;
  Index entries = 0, bodies = 0;
  FieldView<const Index, 3> triangle;
  FieldView<const Real, 3> body_x, body_v;
  const Real* friction;      ///< of bodies
  const Real* inverse_mass;  ///< of their vertices, 0 of driven ones
  FieldView<const Real, 3> x, tail;

  /// visit(BodyContact) for each body near a vertex.
  template <class Visit>
  TRIBO_HD void each(Index vertex, const Visit& visit) const {
    if (entries == 0) return;
    const auto bodies_of = static_cast<std::uint64_t>(bodies);
    Index e = first_from(key, entries, 0, static_cast<std::uint64_t>(vertex) * bodies_of);
    while (e < entries && key[e] / bodies_of == static_cast<std::uint64_t>(vertex)) {
      const std::uint64_t own = key[e];
      Nearest best{Real(-1), Real(0), {}, -1};
      for (; e < entries && key[e] == own; ++e) look(vertex, near[entry[e]].second, best);
      visit(contact(best, static_cast<Index>(own % bodies_of)));
    }
  }

 private:
  struct Nearest {
    Real distance2, facing;  ///< facing: |cosine| between the way there and the triangle's normal, with its sign
    PointOnTriangle<Real> on;
    Index triangle;
  };
  TRIBO_HD Vec<Real, 3> corner(Index t, int c) const { return vector_at(body_x, triangle[c][t]); }
  TRIBO_HD Vec<Real, 3> normal_of(Index t) const {
    const Vec<Real, 3> a = corner(t, 0);
    const Vec<Real, 3> n = cross(corner(t, 1) - a, corner(t, 2) - a);
    const Real size = sqrt(squared_norm(n));
    return size > Real(0) ? (Real(1) / size) * n : n;
  }
  /// Of triangles that meet where a body is next to the vertex, the one that it is most in front of, or behind of,
  /// knows on which side it is.
  TRIBO_HD void look(Index vertex, Index t, Nearest& best) const {
    const Vec<Real, 3> origin = corner(t, 0), at = (vector_at(x, vertex) - origin) + vector_at(tail, vertex);
    const PointOnTriangle<Real> on =
        closest_on_triangle(at, Vec<Real, 3>::zero(), corner(t, 1) - origin, corner(t, 2) - origin);
    const Real distance2 = squared_norm(on.gap), size = sqrt(distance2);
    const Real facing = size > Real(0) ? dot(on.gap, normal_of(t)) / size : Real(1);
    constexpr Real same = Real(sizeof(Real) == 4 ? 1e-4 : 1e-9);  // of squared distances
    const bool nearer = best.triangle < 0 || distance2 < (Real(1) - same) * best.distance2;
    const bool as_near = distance2 <= (Real(1) + same) * best.distance2;
    if (nearer || (as_near && abs(facing) > abs(best.facing))) best = {distance2, facing, on, t};
  }
  TRIBO_HD BodyContact<Real> contact(const Nearest& best, Index body) const {
    const Real size = sqrt(best.distance2), side = best.facing < Real(0) ? Real(-1) : Real(1);
    BodyContact<Real> to;
    to.distance = side * size;
    to.normal =
        abs(best.facing) > Real(0.01) && size > Real(0) ? (side / size) * best.on.gap : normal_of(best.triangle);
    to.velocity = Vec<Real, 3>::zero();
    to.gives = 0;
    for (int c = 0; c < 3; ++c) {
      to.share[c] = best.on.weight[c];
      const Index vertex = triangle[c][best.triangle];
      to.velocity += to.share[c] * vector_at(body_v, vertex);
      to.gives += static_cast<double>(to.share[c] * to.share[c]) * static_cast<double>(inverse_mass[vertex]);
    }
    to.friction = friction[body];
    to.triangle = best.triangle;
    return to;
  }
};

/// Bodies beside strands, and scratch memory.
template <class Real>
struct StrandBodies {
  const SolidMesh<Real>* mesh = nullptr;  ///< null: there are none
  SolidState<Real>* state = nullptr;
  Array<Index> triangle_body;
  Array<Index> own_body;   ///< of strands: what they grow on, or -1
  Array<Index> own_count;  ///< likewise, vertices from the root on that do not meet it
  BoxSearch<Real> search;
  Array<std::uint64_t> key;
  Array<Index> entry;
  Array<Index> flag, contact;  ///< obstacles that are a body's
  Index contacts = 0;
  Array<std::uint64_t> corner_key;  ///< vertices of bodies that these are at, rising
  Array<Index> corner;              ///< 3 contact + corner
  RadixSorter sorter;

  NearTriangles<Real> view_of(const RodState<Real>& rods) const {
    if (mesh == nullptr) return {};
    return {key.data(),
            entry.data(),
            search.near.data(),
            search.near_count,
            mesh->bodies,
            view(mesh->triangle),
            view(std::as_const(state->x)),
            view(std::as_const(state->v)),
            mesh->phase_friction[1].data(),
            mesh->inverse_mass.data(),
            view(rods.x),
            view(rods.x_tail)};
  }
  std::size_t bytes() const {
    return triangle_body.bytes() + own_body.bytes() + own_count.bytes() + search.bytes() + key.bytes() + entry.bytes() +
           flag.bytes() + contact.bytes() + corner_key.bytes() + corner.bytes() + sorter.bytes();
  }
};

/// Which triangles of bodies vertices may come to in a step, with velocities as they are.
template <class Real>
void list_near_bodies(Exec& ex, const RodMesh<Real>& mesh, const RodState<Real>& state, double dt,
                      StrandBodies<Real>& bodies);

}  // namespace tribo::TRIBO_BACKEND

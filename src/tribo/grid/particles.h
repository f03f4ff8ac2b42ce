#pragma once

#include "tribo/exec/columns.h"
#include "tribo/math/small.h"

namespace tribo::TRIBO_BACKEND {

/// Numbers of PolyPIC beyond v and C: a vector for each of 3^D modes but the constant and the linear ones.
template <int D>
inline constexpr int poly_numbers = D == 3 ? 3 * (27 - 4) : 2 * (9 - 3);

/// Everything a material point carries. `Column` is Field (storage) or FieldView (inside kernels). A new
/// quantity is a member here and a line in `columns()`: it is then copied, sorted, checkpointed and hashed.
template <class Real, int D, template <class, int> class Column>
struct ParticlesOf {
  Column<Real, D> x;                     ///< position [m]
  Column<Real, D> v;                     ///< velocity [m/s]
  Column<Real, D * D> C;                 ///< affine velocity [1/s], row-major (Jiang 2017, sec. 4.2)
  Column<Real, D * D> F;                 ///< elastic deformation gradient, row-major
  Column<Real, 2> history;               ///< what else the law remembers
  Column<Real, Sym<Real, D>::size> tau;  ///< Kirchhoff stress at F [Pa]
  Column<Real, 1> m;                     ///< mass [kg]
  Column<Index, 1> id;                   ///< given once, in order of creation
  Column<Index, 1> object;               ///< index of the scene's object
  Column<Real, poly_numbers<D>> poly;    ///< higher velocity modes [m/s]; only PolyPIC uses them

  static constexpr auto columns() {
    return std::tuple{NamedColumn{"x", &ParticlesOf::x},
                      NamedColumn{"v", &ParticlesOf::v},
                      NamedColumn{"C", &ParticlesOf::C},
                      NamedColumn{"F", &ParticlesOf::F},
                      NamedColumn{"history", &ParticlesOf::history},
                      NamedColumn{"tau", &ParticlesOf::tau},
                      NamedColumn{"m", &ParticlesOf::m},
                      NamedColumn{"id", &ParticlesOf::id},
                      NamedColumn{"object", &ParticlesOf::object},
                      NamedColumn{"poly", &ParticlesOf::poly}};
  }
};

template <class Real, int D>
using Particles = ParticlesOf<Real, D, Field>;
template <class Real, int D>
using ParticlesView = ParticlesOf<Real, D, FieldView>;

template <class Real, int D>
ParticlesView<Real, D> view(Particles<Real, D>& p) {
  return {view(p.x),   view(p.v), view(p.C),  view(p.F),      view(p.history),
          view(p.tau), view(p.m), view(p.id), view(p.object), view(p.poly)};
}

}  // namespace tribo::TRIBO_BACKEND

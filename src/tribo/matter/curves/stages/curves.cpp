#include "tribo/matter/curves/stages/curves.h"

#include <algorithm>

#include "tribo/core/cast_numbers.h"
#include "tribo/grid/particle_access.h"
#include "tribo/matter/strands/stages/frames.h"

namespace tribo::TRIBO_BACKEND {
namespace {

template <class Real>
TRIBO_HD Mat<Real, 3> matrix_at(const FieldView<const Real, 9>& column, Index i) {
  Mat<Real, 3> A;
  for (int k = 0; k < 9; ++k) (&A.m[0][0])[k] = column[k][i];
  return A;
}
template <class Real>
TRIBO_HD void put_matrix(const FieldView<Real, 9>& column, Index i, const Mat<Real, 3>& A) {
  for (int k = 0; k < 9; ++k) column[k][i] = (&A.m[0][0])[k];
}

template <class Real, class Access>
struct TakeCurveVertex {
  Access particles;
  const Index* place;
  FieldView<Real, 3> x, tail, v;
  TRIBO_HD void operator()(Index i) const {
    const Vec<Real, 3> at = particles.x(place[i]), going = particles.v(place[i]);
    for (int k = 0; k < 3; ++k) {
      x[k][i] = at[k];
      tail[k][i] = Real(0);
      v[k][i] = going[k];
    }
  }
};

/// The deformed directions of an element, tangent from its vertices and normals from its particle.
template <class Real, class Access>
struct ElementShape {
  Access particles;
  const Index* first;
  const Real* length;  ///< of edges, by their first vertices
  const Index* place;  ///< of elements
  FieldView<const Real, 3> x;

  TRIBO_HD Mat<Real, 3> operator()(Index e) const {
    const Index i = first[e];
    Mat<Real, 3> shape = particles.F(place[e]);
    put_column(shape, 0, (Real(1) / length[i]) * (vector_at(x, i + 1) - vector_at(x, i)));
    return shape;
  }
};
template <class Real, class Access>
ElementShape<Real, Access> shapes(const Access& particles, const CurveMesh<Real>& mesh, const RodMesh<Real>& strands,
                                  const RodState<Real>& rods, const CurveWorkspace<Real>& work) {
  return {particles, mesh.first.data(), strands.length.data(), work.place.data() + mesh.vertices, view(rods.x)};
}

/// Forces of one element, Jiang 2017, eqs. 5 and 6 (theory C.4).
template <class Real, class Access>
struct EvaluateElement {
  ElementShape<Real, Access> shape;
  const CurveLaw<Real>* laws;
  const Real* inverse_density;
  const Index* body;
  const Real* volume;
  const Real* tangent_rate2;
  Real dx;
  FieldView<Real, 3> pull;
  FieldView<Real, 9> slope, C_start;
  Real* rate2;

  TRIBO_HD void operator()(Index e) const {
    const Index q = shape.place[e];
    const CurveLaw<Real> law = laws[body[e]];
    const Mat<Real, 3> F = shape(e);
    const CodimFrame<Real> frame(F);
    Mat<Real, 3> P = Mat<Real, 3>::zero();
    Real stiffness = Real(0);
    if (frame.defined && frame.R(2, 2) > Real(0)) {
      P = frame.piola(law.slope(frame.R));
      stiffness = law.section_stiffness(frame.R);
    }
    const Real V = volume[e], per_length = V / shape.length[shape.first[e]];
    const Real scale = V * Real(4) / (dx * dx * shape.particles.mass(q));
    Real sum = Real(0);
    for (int a = 0; a < 3; ++a) {
      pull[a][e] = per_length * P(a, 0);
      sum = sum + P(a, 0);
      for (int b = 0; b < 3; ++b) {
        const Real stress = P(a, 1) * F(b, 1) + P(a, 2) * F(b, 2);
        slope[3 * a + b][e] = scale * stress;
        sum = sum + stress;
      }
    }
    put_matrix(C_start, e, shape.particles.C(q));
    // Of the particle's mass alone, a third of the element's: an upper bound, for vertices share its nodes (theory
    // J).
    const Real section = Real(3) * stiffness * inverse_density[body[e]] / (dx * dx);
    rate2[e] = tangent_rate2[e] + section + (sum - sum);
  }
};

template <class Real>
struct LoadCurveBounds {
  const Real* rate2;
  TRIBO_HD CurveBounds operator()(Index e) const {
    const auto rate = static_cast<double>(rate2[e]);
    return {rate, rate - rate == 0 ? Index{no_index} : e};
  }
};
struct JoinCurveBounds {
  TRIBO_HD CurveBounds operator()(const CurveBounds& a, const CurveBounds& b) const {
    return {max(a.rate2, b.rate2), min(a.bad, b.bad)};
  }
};

template <class Real, class Access>
struct PushCurveVertex {
  Access particles;
  const Index* place;
  const Index* strand;
  const Real* length;
  const Real* inverse_mass;
  FieldView<const Real, 3> pull, from;
  Real dt;
  TRIBO_HD void operator()(Index i) const {
    const bool begins = length[i] > Real(0), ends = i > 0 && strand[i - 1] == strand[i];
    const Index e = i - strand[i];  // a strand has one element less than vertices
    const Real scale = dt * inverse_mass[i];
    Vec<Real, 3> v = vector_at(from, i);
    for (int k = 0; k < 3; ++k) {
      const Real force = (begins ? pull[k][e] : Real(0)) - (ends ? pull[k][e - 1] : Real(0));
      v[k] = v[k] + scale * force;
    }
    particles.put_v(place[i], v);
  }
};
template <class Real, class Access>
struct PushElement {
  Access particles;
  const Index* place;
  FieldView<const Real, 9> C_start, slope;
  Real dt;
  TRIBO_HD void operator()(Index e) const {
    particles.put_C(place[e], matrix_at(C_start, e) - matrix_at(slope, e) * dt);
  }
};

template <class Real, class Access>
struct RestoreVelocity {
  Access particles;
  const Index* place;
  FieldView<const Real, 3> v;
  TRIBO_HD void operator()(Index i) const { particles.put_v(place[i], vector_at(v, i)); }
};
template <class Real, class Access>
struct RestoreSlope {
  Access particles;
  const Index* place;
  FieldView<const Real, 9> C;
  TRIBO_HD void operator()(Index e) const { particles.put_C(place[e], matrix_at(C, e)); }
};

template <class Real, class Access>
struct TakeMovedVertex {
  Access particles;
  const Index* place;
  FieldView<Real, 3> x_next, tail_next;
  TRIBO_HD void operator()(Index i) const {
    const Vec<Real, 3> x = particles.x(place[i]);
    for (int k = 0; k < 3; ++k) {
      x_next[k][i] = x[k];
      tail_next[k][i] = Real(0);
    }
  }
};
template <class Real, class Access>
struct LandDriven {
  Access particles;
  const Index* vertex;
  const Index* place;
  FieldView<const Real, 3> x;
  TRIBO_HD void operator()(Index d) const { particles.put_x(place[vertex[d]], vector_at(x, vertex[d])); }
};
template <class Real, class Access>
struct LandElement {
  Access particles;
  const Index* first;
  const Index* place;
  FieldView<const Real, 3> x;
  TRIBO_HD void operator()(Index e) const {
    const Index i = first[e];
    particles.put_x(place[e], Real(0.5) * (vector_at(x, i) + vector_at(x, i + 1)));
  }
};

/// The grid deforms the vertices' F with that of all particles; nobody asks for it, and it must not grow for ever.
template <class Real, class Access>
struct ForgetStrain {
  Access particles;
  const Index* place;
  TRIBO_HD void operator()(Index i) const { particles.put_F(place[i], Mat<Real, 3>::identity()); }
};
template <class Real, class Access>
struct SettleDriven {
  Access particles;
  const Index* vertex;
  const Index* place;
  FieldView<const Real, 3> v;
  TRIBO_HD void operator()(Index d) const { particles.put_v(place[vertex[d]], vector_at(v, vertex[d])); }
};
template <class Real, class Access>
struct SettleElement {
  ElementShape<Real, Access> shape;
  const CurveLaw<Real>* laws;
  const Index* body;

  TRIBO_HD void operator()(Index e) const {
    Mat<Real, 3> deformed = shape(e);
    const CodimFrame<Real> frame(deformed);
    Vec<Real, 3> d2, d3;
    if (frame.defined)
      laws[body[e]].project(frame, d2, d3);
    else
      any_normals(column_of(deformed, 0), d2, d3);
    put_column(deformed, 1, d2);
    put_column(deformed, 2, d3);
    shape.particles.put_F(shape.place[e], deformed);
  }

 private:
  /// Where a normal has vanished, or the segment has.
  TRIBO_HD static void any_normals(const Vec<Real, 3>& along, Vec<Real, 3>& a, Vec<Real, 3>& b) {
    const Vec<Real, 3> t = (Real(1) / max(sqrt(squared_norm(along)), Real(1e-12))) * along;
    const bool along_x = abs(t[0]) > Real(0.6);
    const Vec<Real, 3> axis{{Real(along_x ? 0 : 1), Real(along_x ? 1 : 0), Real(0)}};
    a = axis - dot(axis, t) * t;
    a = (Real(1) / sqrt(squared_norm(a))) * a;
    b = cross(t, a);
  }
};

template <class Real, class Access>
struct ElementEnergy {
  ElementShape<Real, Access> shape;
  const CurveLaw<Real>* laws;
  const Index* body;
  const Real* volume;
  Index first;
  TRIBO_HD double operator()(Index item) const {
    const Index e = first + item;
    const CodimFrame<Real> frame(shape(e));
    if (!frame.defined || !(frame.R(2, 2) > Real(0))) return 0;
    return static_cast<double>(volume[e] * laws[body[e]].energy(frame.R));
  }
};

}  // namespace

template <class Real>
void load_curves(Exec& ex, const CurveSeed& seed, Index first_id, Index group, double dx, CurveMesh<Real>& mesh) {
  mesh.group = group;
  mesh.vertices = static_cast<Index>(seed.strands.x.size());
  mesh.elements = static_cast<Index>(seed.first.size());
  mesh.first_id = first_id;
  mesh.body = seed.bodies;
  std::vector<CurveLaw<Real>> laws;
  std::vector<Real> inverse_density, volume, rate2;
  std::vector<Index> body;
  for (std::size_t b = 0; b < seed.bodies.size(); ++b) {
    const CurveLaw<double>& law = seed.bodies[b].law;
    laws.push_back(cast_numbers<CurveLaw, Real, double>(law));
    inverse_density.push_back(static_cast<Real>(1 / seed.bodies[b].density));
    for (auto e = static_cast<std::size_t>(seed.bodies[b].elements.begin);
         e < static_cast<std::size_t>(seed.bodies[b].elements.end); ++e) {
      body.push_back(static_cast<Index>(b));
      volume.push_back(static_cast<Real>(seed.volume[e]));
      // Vertices have two thirds of the mass: a chain of them bears dt = l sqrt(2/3 rho/k). Where segments are shorter
      // than cells the grid makes waves of them as slow as its own, S = 6 of theory J: the same with dx for l.
      const double l = std::max(seed.strands.length[static_cast<std::size_t>(seed.first[e])], dx);
      rate2.push_back(static_cast<Real>(1.5 * (law.fiber + law.shear) / (seed.bodies[b].density * l * l)));
    }
  }
  copy_to_device(ex, laws.data(), mesh.law, static_cast<Index>(laws.size()));
  copy_to_device(ex, inverse_density.data(), mesh.inverse_density, static_cast<Index>(laws.size()));
  copy_to_device(ex, body.data(), mesh.element_body, mesh.elements);
  copy_to_device(ex, seed.first.data(), mesh.first, mesh.elements);
  copy_to_device(ex, volume.data(), mesh.volume, mesh.elements);
  copy_to_device(ex, rate2.data(), mesh.tangent_rate2, mesh.elements);
}

template <class Real>
void find_curves(Exec& ex, const CurveMesh<Real>& mesh, State<Real, 3>& state, Workspace<Real, 3>& grid,
                 CurveWorkspace<Real>& work) {
  find_places(ex, "curves", mesh.group, mesh.first_id, mesh.vertices + mesh.elements, state, grid, work.place);
}

template <class Real>
CurveBounds evaluate_curves(Exec& ex, const CurveMesh<Real>& mesh, const RodMesh<Real>& strands, Real dx,
                            State<Real, 3>& state, Workspace<Real, 3>& grid, RodState<Real>& rods,
                            CurveWorkspace<Real>& work) {
  work.pull.resize_discard(mesh.elements);
  work.slope.resize_discard(mesh.elements);
  work.C_start.resize_discard(mesh.elements);
  work.rate2.resize_discard(mesh.elements);
  read_particles(state, grid, [&]<class Access>(const Access& particles) {
    parallel_for(
        ex, "curves", mesh.vertices,
        TakeCurveVertex<Real, Access>{particles, work.place.data(), view(rods.x), view(rods.x_tail), view(rods.v)});
    parallel_for(ex, "curves", mesh.elements,
                 EvaluateElement<Real, Access>{shapes(particles, mesh, strands, rods, work), mesh.law.data(),
                                               mesh.inverse_density.data(), mesh.element_body.data(),
                                               mesh.volume.data(), mesh.tangent_rate2.data(), dx, view(work.pull),
                                               view(work.slope), view(work.C_start), work.rate2.data()});
  });
  return reduce(ex, "curves", mesh.elements, CurveBounds{}, LoadCurveBounds<Real>{work.rate2.data()},
                JoinCurveBounds{});
}

template <class Real>
void push_curves(Exec& ex, const CurveMesh<Real>& mesh, const RodMesh<Real>& strands, double dt,
                 const RodState<Real>& rods, const CurveWorkspace<Real>& work, State<Real, 3>& state,
                 Workspace<Real, 3>& grid) {
  change_particles(state, grid, [&]<class Access>(const Access& particles) {
    parallel_for(ex, "curves", mesh.vertices,
                 PushCurveVertex<Real, Access>{particles, work.place.data(), strands.vertex_strand.data(),
                                               strands.length.data(), strands.inverse_mass.data(), view(work.pull),
                                               view(rods.v), static_cast<Real>(dt)});
    parallel_for(ex, "curves", mesh.elements,
                 PushElement<Real, Access>{particles, work.place.data() + mesh.vertices, view(work.C_start),
                                           view(work.slope), static_cast<Real>(dt)});
  });
}

template <class Real>
void restore_curves(Exec& ex, const CurveMesh<Real>& mesh, const Field<Real, 3>& v, const CurveWorkspace<Real>& work,
                    State<Real, 3>& state, Workspace<Real, 3>& grid) {
  change_particles(state, grid, [&]<class Access>(const Access& particles) {
    parallel_for(ex, "curves", mesh.vertices, RestoreVelocity<Real, Access>{particles, work.place.data(), view(v)});
    parallel_for(ex, "curves", mesh.elements,
                 RestoreSlope<Real, Access>{particles, work.place.data() + mesh.vertices, view(work.C_start)});
  });
}

template <class Real>
void land_curves(Exec& ex, const CurveMesh<Real>& mesh, const RodMesh<Real>& strands, const CurveWorkspace<Real>& work,
                 const RodState<Real>& rods, RodWorkspace<Real>& rod_work, State<Real, 3>& state,
                 Workspace<Real, 3>& grid) {
  rod_work.x_next.resize_discard(mesh.vertices);
  rod_work.tail_next.resize_discard(mesh.vertices);
  const Index* const place = work.place.data();
  change_particles(state, grid, [&]<class Access>(const Access& particles) {
    parallel_for(ex, "curves", mesh.vertices,
                 TakeMovedVertex<Real, Access>{particles, place, view(rod_work.x_next), view(rod_work.tail_next)});
    place_driven(ex, strands, rods, rod_work);
    const Field<Real, 3>& x = rod_work.x_next;
    parallel_for(ex, "curves", strands.driven,
                 LandDriven<Real, Access>{particles, strands.driven_vertex.data(), place, view(x)});
    parallel_for(ex, "curves", mesh.elements,
                 LandElement<Real, Access>{particles, mesh.first.data(), place + mesh.vertices, view(x)});
  });
}

template <class Real>
void settle_curves(Exec& ex, const CurveMesh<Real>& mesh, const RodMesh<Real>& strands,
                   const CurveWorkspace<Real>& work, RodState<Real>& rods, RodWorkspace<Real>& rod_work,
                   State<Real, 3>& state, Workspace<Real, 3>& grid) {
  arrive_rods(ex, strands, rods, rod_work);
  const Index* const place = work.place.data();
  const RodState<Real>& now = rods;
  change_particles(state, grid, [&]<class Access>(const Access& particles) {
    parallel_for(ex, "curves", strands.driven,
                 SettleDriven<Real, Access>{particles, strands.driven_vertex.data(), place, view(now.v)});
    parallel_for(ex, "curves", mesh.vertices, ForgetStrain<Real, Access>{particles, place});
    parallel_for(ex, "curves", mesh.elements,
                 SettleElement<Real, Access>{shapes(particles, mesh, strands, rods, work), mesh.law.data(),
                                             mesh.element_body.data()});
  });
}

template <class Real>
std::vector<double> curve_energies(Exec& ex, const CurveMesh<Real>& mesh, const RodMesh<Real>& strands,
                                   const RodState<Real>& rods, State<Real, 3>& state, Workspace<Real, 3>& grid,
                                   const CurveWorkspace<Real>& work) {
  std::vector<double> energies;
  read_particles(state, grid, [&]<class Access>(const Access& particles) {
    for (const CurveBody& body : mesh.body)
      energies.push_back(
          reduce(ex, "measure", body.elements.end - body.elements.begin, 0.0,
                 ElementEnergy<Real, Access>{shapes(particles, mesh, strands, rods, work), mesh.law.data(),
                                             mesh.element_body.data(), mesh.volume.data(), body.elements.begin},
                 Plus<double>{}));
  });
  return energies;
}

#define TRIBO_INSTANTIATE(Real)                                                                                    \
  template void load_curves(Exec&, const CurveSeed&, Index, Index, double, CurveMesh<Real>&);                      \
  template void find_curves(Exec&, const CurveMesh<Real>&, State<Real, 3>&, Workspace<Real, 3>&,                   \
                            CurveWorkspace<Real>&);                                                                \
  template CurveBounds evaluate_curves(Exec&, const CurveMesh<Real>&, const RodMesh<Real>&, Real, State<Real, 3>&, \
                                       Workspace<Real, 3>&, RodState<Real>&, CurveWorkspace<Real>&);               \
  template void push_curves(Exec&, const CurveMesh<Real>&, const RodMesh<Real>&, double, const RodState<Real>&,    \
                            const CurveWorkspace<Real>&, State<Real, 3>&, Workspace<Real, 3>&);                    \
  template void restore_curves(Exec&, const CurveMesh<Real>&, const Field<Real, 3>&, const CurveWorkspace<Real>&,  \
                               State<Real, 3>&, Workspace<Real, 3>&);                                              \
  template void land_curves(Exec&, const CurveMesh<Real>&, const RodMesh<Real>&, const CurveWorkspace<Real>&,      \
                            const RodState<Real>&, RodWorkspace<Real>&, State<Real, 3>&, Workspace<Real, 3>&);     \
  template void settle_curves(Exec&, const CurveMesh<Real>&, const RodMesh<Real>&, const CurveWorkspace<Real>&,    \
                              RodState<Real>&, RodWorkspace<Real>&, State<Real, 3>&, Workspace<Real, 3>&);         \
  template std::vector<double> curve_energies(Exec&, const CurveMesh<Real>&, const RodMesh<Real>&,                 \
                                              const RodState<Real>&, State<Real, 3>&, Workspace<Real, 3>&,         \
                                              const CurveWorkspace<Real>&);
TRIBO_FOR_EACH_ROD_REAL(TRIBO_INSTANTIATE)
#undef TRIBO_INSTANTIATE

}  // namespace tribo::TRIBO_BACKEND

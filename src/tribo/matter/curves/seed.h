#pragma once

#include <cstdint>
#include <vector>

#include "tribo/matter/strands/seed.h"
#include "tribo/models/codim/curve.h"

/// \file
/// Hair of method "mpm": curves whose vertices and segments are particles (Jiang 2017, 4.1, types ii and iii; theory
/// C). The volume of a segment is shared equally by its two vertices and the one particle at its middle, which carries
/// its normals; all of its energy is evaluated there (theory C.4, V_q = V_e).

namespace tribo {

struct ParticleSeed;
struct Scene;

struct CurveBody {
  int object = 0;  ///< index into Model::objects
  Run elements;
  CurveLaw<double> law;
  double density = 0;  ///< [kg/m^3]
};

struct CurveSeed {
  /// Vertices, with their share of the mass; bending and twist are theirs, stretching is not: elements do it.
  RodSeed strands;
  std::vector<CurveBody> bodies;  ///< in the order of strands.bodies

  // of elements: segments, in the order of their first vertices
  std::vector<std::int32_t> first;  ///< vertex where it begins
  std::vector<double> volume;       ///< of which its energy is [m^3]
  std::vector<double> mass;         ///< of its particle [kg]

  std::int32_t first_particle = 0;  ///< id of the first vertex; the others follow, then elements
};

/// Of a section with Young's modulus E and Poisson's ratio nu, with slip by Coulomb's coefficient tan(phi):
///   alpha = sqrt(2/3) 2 sin(phi) / (3 - sin(phi)),   beta = tan(phi)   (Jiang 2017, table 1).
CurveLaw<double> curve_law(double fiber, double shear, double youngs_modulus, double poisson_ratio, double friction);

/// The curves of a scene at time 0, with a sentence in `warnings` for what their files had that was put right. Throws
/// SceneError for strands that cannot be made.
CurveSeed sample_curves(const Scene& scene, std::vector<std::string>& warnings);

/// Adds a body of strands as curves.
void add_curve_body(CurveSeed& seed, const Strands& strands, const StrandRules& rules, const CurveLaw<double>& law);

/// Adds their particles behind those there are: all vertices, then all elements with their normals in F.
void add_curves(CurveSeed& curves, ParticleSeed& seed);

}  // namespace tribo

#include "tribo/matter/curves/seed.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "tribo/core/errors.h"
#include "tribo/matter/particles/seed.h"
#include "tribo/matter/strands/hair.h"
#include "tribo/matter/strands/making.h"
#include "tribo/models/law.h"
#include "tribo/scene/scene.h"

namespace tribo {

CurveLaw<double> curve_law(double fiber, double shear, double youngs_modulus, double poisson_ratio, double friction) {
  const double sine = std::sin(std::atan(friction));
  return {fiber,
          shear,
          shear_modulus(youngs_modulus, poisson_ratio),
          lame_lambda(youngs_modulus, poisson_ratio),
          std::sqrt(2.0 / 3) * 2 * sine / (3 - sine),
          friction};
}

void add_curve_body(CurveSeed& seed, const Strands& strands, const StrandRules& rules, const CurveLaw<double>& law) {
  RodSeed& rods = seed.strands;
  add_strands(rods, strands, rules);
  RodBody& body = rods.bodies.back();
  // Damping in explicit steps would shorten them, and the grid damps. Drag acts at vertices for all of the mass.
  body.bend_damping = body.stretch_damping = 0;
  body.drag *= 1.5;
  CurveBody curve{body.object, {static_cast<std::int32_t>(seed.first.size()), 0}, law, rules.material.density};
  const double EA_per_area = rules.material.youngs_modulus * rules.material.stretch_scale;
  for (std::int32_t s = body.strands.begin; s < body.strands.end; ++s)
    for (std::int32_t i = rods.start[static_cast<std::size_t>(s)]; i < rods.start[static_cast<std::size_t>(s) + 1];
         ++i) {
      const auto v = static_cast<std::size_t>(i);
      rods.mass[v] *= 2.0 / 3;
      if (i + 1 == rods.start[static_cast<std::size_t>(s) + 1]) continue;
      const double volume = rods.stretch[v] / EA_per_area * rods.length[v];
      rods.stretch[v] = 0;
      seed.first.push_back(i);
      seed.volume.push_back(volume);
      seed.mass.push_back(rules.material.density * volume / 3);
    }
  curve.elements.end = static_cast<std::int32_t>(seed.first.size());
  seed.bodies.push_back(curve);
}

CurveSeed sample_curves(const Scene& scene, std::vector<std::string>& warnings) {
  CurveSeed seed;
  std::vector<Finding> findings;
  for (std::size_t o = 0; o < scene.objects.size(); ++o) {
    if (curves_of(scene.objects[o]) == nullptr) continue;
    const StrandsSpec& hair = *curves_of(scene.objects[o]);
    warn_of_file(scene.objects[o], hair, warnings);
    const RodMaterial& rod = hair.material;
    try {
      add_curve_body(seed, placed(make_strands(hair.made), hair.motion.pose(0)), strand_rules(scene, o),
                     curve_law(rod.youngs_modulus * rod.stretch_scale, hair.curve.contact_shear,
                               hair.curve.contact_stiffness, rod.poisson_ratio, scene.objects[o].friction));
    } catch (const SceneError&) {
      throw;
    } catch (const Error& error) {
      findings.push_back({scene.file, 0, 0, fmt::format("/objects/{}/strands", o), error.what()});
    }
  }
  if (!findings.empty()) throw SceneError(std::move(findings));
  return seed;
}

void add_curves(CurveSeed& curves, ParticleSeed& seed) {
  if (curves.bodies.empty()) return;
  curves.first_particle = static_cast<std::int32_t>(seed.x.size());
  const RodSeed& rods = curves.strands;
  for (const RodBody& body : rods.bodies)
    for (auto i = static_cast<std::size_t>(body.vertices.begin); std::cmp_less(i, body.vertices.end); ++i)
      seed.add(rods.x[i], rods.v[i], rods.mass[i], body.object);
  seed.F.resize(seed.x.size(), Mat<double, 3>::identity());
  for (const CurveBody& body : curves.bodies) {
    seed.stress_elsewhere.push_back({body.object, true});
    for (auto e = static_cast<std::size_t>(body.elements.begin); std::cmp_less(e, body.elements.end); ++e) {
      const auto i = static_cast<std::size_t>(curves.first[e]);
      seed.add(0.5 * (rods.x[i] + rods.x[i + 1]), 0.5 * (rods.v[i] + rods.v[i + 1]), curves.mass[e], body.object);
      const Vec<double, 3> t = (1 / rods.length[i]) * (rods.x[i + 1] - rods.x[i]), m = rods.director[i];
      Mat<double, 3>& F = seed.F.emplace_back();
      put_column(F, 0, t);
      put_column(F, 1, m);
      put_column(F, 2, cross(t, m));
    }
  }
}

}  // namespace tribo

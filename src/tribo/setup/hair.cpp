#include "tribo/setup/hair.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tribo/core/errors.h"
#include "tribo/scene/scene.h"
#include "tribo/setup/hair_making.h"

namespace tribo {

StrandRules strand_rules(const Scene& scene, std::size_t o) {
  const ObjectSpec& object = scene.objects[o];
  const StrandsSpec& hair = *object.strands;
  StrandRules rules;
  rules.name = "object '" + object.name + "'";
  rules.object = static_cast<int>(o);
  rules.material_index = object.material;
  rules.method = hair.method;
  rules.material = hair.material;
  rules.friction = hair.friction;
  rules.clamp_root = hair.clamp_root;
  rules.clamp_tip = hair.clamp_tip;
  rules.motion = hair.motion;
  rules.keeps_shape = hair.keeps_shape;
  rules.velocity = object.velocity;
  return rules;
}

namespace {

/// All strands of a scene meet, whatever object they belong to.
void warn_of_contact(const Strands& all, std::vector<std::string>& warnings) {
  const double thickest = 2 * *std::max_element(all.radius.begin(), all.radius.end());
  const StrandGap gap = closest_strands(all, thickest);
  if (gap.pair_count == 0) return;
  warnings.push_back(fmt::format(
      "{} pairs of segments begin nearer to each other than strands are thick, {:.3g} m; the nearest, of strands {} "
      "and "
      "{}, are {:.3g} m apart: strands that begin crossed stay so; make them thinner, fewer, or use another seed",
      gap.pair_count, thickest, gap.one, gap.other, gap.distance));
}

}  // namespace

RodSeed sample_hair(const Scene& scene, std::vector<std::string>& warnings) {
  RodSeed seed;
  Strands all;
  std::vector<Finding> findings;
  for (std::size_t o = 0; o < scene.objects.size(); ++o) {
    if (!scene.objects[o].strands) continue;
    const StrandsSpec& hair = *scene.objects[o].strands;
    if (const auto* file = std::get_if<StrandFileSpec>(&hair.made.source))
      for (const std::string& note : file->content->notes)
        warnings.push_back(fmt::format("strands {} of '{}': {}", file->file, scene.objects[o].name, note));
    if (scene.objects[o].is_curves()) continue;  // those are particles: sample_curves
    try {
      const Strands strands = placed(make_strands(hair.made), hair.motion.pose(0));
      add_strands(seed, strands, strand_rules(scene, o));
      for (std::size_t s = 0; s < strand_count(strands); ++s) {
        const auto first = static_cast<std::size_t>(strands.start[s]);
        const std::span<const Vec<double, 3>> points = strand_points(strands, s);
        all.points.insert(all.points.end(), points.begin(), points.end());
        all.radius.insert(all.radius.end(), strands.radius.begin() + static_cast<std::ptrdiff_t>(first),
                          strands.radius.begin() + static_cast<std::ptrdiff_t>(first + points.size()));
        if (all.start.empty()) all.start.push_back(0);
        all.start.push_back(static_cast<std::int32_t>(all.points.size()));
      }
    } catch (const SceneError&) {
      throw;
    } catch (const Error& error) {
      findings.push_back({scene.file, 0, 0, fmt::format("/objects/{}/strands", o), error.what()});
    }
  }
  if (!findings.empty()) throw SceneError(std::move(findings));
  if (all.points.empty()) return seed;
  warn_of_contact(all, warnings);
  for (const ObjectSpec& object : scene.objects)
    if (!object.strands || object.is_curves()) {
      warnings.push_back("hair touches colliders, not particles and meshes: object '" + object.name +
                         "' passes through it");
      break;
    }
  return seed;
}

}  // namespace tribo

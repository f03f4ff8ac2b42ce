#pragma once

#include "tribo/scene/findings.h"
#include "tribo/scene/scene.h"

namespace tribo {

Touch touch_of(const Scene& scene, const Party& party);

/// Friction of any two of a scene.
class FrictionTable {
 public:
  explicit FrictionTable(const Scene& scene) : scene_(scene) {}

  /// Coulomb coefficient of two, in either order. Where the scene does not name the pair: a collider's own, a mesh's
  /// own against particles and strands, the smaller one of two meshes or of two objects of hair, and the least of all
  /// hair against particles.
  double between(const Party& one, const Party& other) const;

  /// Grid nodes do not know whose matter they move. So one coefficient counts against all particles, and one against
  /// all strands in bulk; check_friction makes sure that a scene has no other.
  double with_particles(const Party& one) const { return with(one, Touch::particles); }
  double with_strands(const Party& one) const { return with(one, Touch::strands); }
  /// Of strands in bulk with particles, where the scene names such a pair.
  std::optional<double> strands_with_particles() const;

  /// Whether the scene names a pair with a collider. Where it does not, colliders have the same friction for all.
  bool names_colliders() const;

  /// Who shares the nodes on which `one` meets `other`, itself included.
  std::vector<Party> sharing(const Party& one, const Party& other) const;

 private:
  double own(const Party& party) const;
  double usual(const Party& one, const Party& other) const;
  double with(const Party& one, Touch others) const;

  const Scene& scene_;
};

/// Pairs of the scene's `friction` that stand there twice, cannot touch, or contradict each other.
void check_friction(const Scene& scene, Findings& findings);

}  // namespace tribo

#include "tribo/scene/friction.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "tribo/matter/rigid/spec.h"
#include "tribo/matter/solids/spec.h"
#include "tribo/matter/strands/spec.h"

namespace tribo {
namespace {

const ObjectSpec& object_of(const Scene& scene, const Party& party) {
  return scene.objects[static_cast<std::size_t>(party.index)];
}
const ColliderSpec& collider_of(const Scene& scene, const Party& party) {
  return scene.colliders[static_cast<std::size_t>(party.index)];
}
const std::string& name_of(const Scene& scene, const Party& party) {
  return party.collider ? collider_of(scene, party).name : object_of(scene, party).name;
}

/// Strands that meet particles and meshes, on a grid of their own.
bool is_bulk(const ObjectSpec& object) {
  const StrandsSpec* hair = rods_of(object);
  return hair != nullptr && hair->method == HairMethod::hybrid;
}

bool same_pair(const PairFriction& pair, const Party& one, const Party& other) {
  return (pair.one == one && pair.other == other) || (pair.one == other && pair.other == one);
}

/// Why two do not touch, or do not rub, and what would help; nothing where they do.
class Untouched {
 public:
  Untouched(const Scene& scene, const PairFriction& pair) : scene_(scene), one_(pair.one), other_(pair.other) {
    if (touch_of(scene, one_) < touch_of(scene, other_)) std::swap(one_, other_);
  }

  std::string reason() const {
    const Touch first = touch_of(scene_, one_), second = touch_of(scene_, other_);
    if (second == Touch::nothing) return fmt::format("{} passes through everything; leave the pair out", name(other_));
    if (first == Touch::collider) return of_collider(second);
    if (first == Touch::particles)
      return "on the particles' grid matter moves together and does not slide; leave the pair out, or use a solid of "
             "method \"hybrid\"";
    if (first == Touch::rigid) return of_rigid();
    if (first == Touch::mesh && second == Touch::mesh) return of_meshes();
    if (first == Touch::mesh) return of_mesh(second);
    return second == Touch::strands ? of_strands() : of_bulk(other_, one_);
  }

 private:
  std::string name(const Party& party) const { return "\"" + name_of(scene_, party) + "\""; }

  std::string of_collider(Touch second) const {
    if (second == Touch::collider) return "colliders do not touch each other; name an object";
    const Boundary boundary = collider_of(scene_, one_).boundary;
    if (boundary != Boundary::separate)
      return fmt::format("collider {} is \"{}\", which knows no coefficient; set its boundary to \"separate\"",
                         name(one_), boundary == Boundary::slip ? "slip" : "sticky");
    if ((second == Touch::mesh || second == Touch::rigid) && is_driven(other_))
      return fmt::format("{} is kinematic, and colliders do not act on it; leave the pair out", name(other_));
    return "";
  }
  bool is_driven(const Party& party) const {
    const auto* rigid = object_of(scene_, party).as<RigidSpec>();
    const auto* solid = object_of(scene_, party).as<SolidSpec>();
    return (rigid != nullptr && rigid->kinematic) || (solid != nullptr && solid->kinematic);
  }
  std::string of_rigid() const {
    const auto& rigid = *object_of(scene_, one_).as<RigidSpec>();
    if (one_ == other_ && copies_of(rigid).size() == 1)
      return fmt::format("{} is one body and does not touch itself; leave the pair out", name(one_));
    if (is_driven(one_) && is_driven(other_)) return "what follows keyframes goes where it is told; leave the pair out";
    return "";
  }
  std::string of_meshes() const {
    const auto &a = *object_of(scene_, one_).as<SolidSpec>(), &b = *object_of(scene_, other_).as<SolidSpec>();
    if (a.kinematic && b.kinematic) return "what is kinematic goes where it is told; leave the pair out";
    if (one_ == other_ && !a.self_contact)
      return fmt::format("{} does not touch itself; set its self_contact to true", name(one_));
    return one_ == other_ ? "" : in_printed_form();
  }
  /// Strands meet triangles of meshes in any form.
  std::string of_mesh(Touch second) const { return second == Touch::particles ? in_printed_form() : ""; }
  std::string of_strands() const {
    if (scene_.strand_contact.form == StrandContactSpec::Form::none)
      return "strand_contact.impulses is \"none\", and strands pass through each other; set it to \"plain\"";
    return "";
  }
  std::string of_bulk(const Party& met, const Party& strands) const {
    if (!scene_.strand_grid.on)
      return fmt::format("{} passes through {}; set strand_contact.grid.on to true", name(strands), name(met));
    return "";
  }
  std::string in_printed_form() const {
    if (scene_.contact.form != ContactSpec::Form::paper) return "";
    return "contact.form \"paper\" has one field for all bodies and knows no pairs; set it to \"balanced\"";
  }

  const Scene& scene_;
  Party one_, other_;  ///< the later one in Touch first
};

/// One coefficient counts for all that share nodes.
void check_shared(const Scene& scene, const PairFriction& pair, const std::string& pointer, Findings& findings) {
  const FrictionTable table(scene);
  for (const Party& a : table.sharing(pair.one, pair.other))
    for (const Party& b : table.sharing(pair.other, pair.one)) {
      const double has = table.between(a, b);
      if (has == pair.coefficient) continue;
      findings.add(
          pointer + "/coefficient",
          fmt::format("grid nodes have one coefficient for all that share them, and \"{}\" and \"{}\" have {}; "
                      "give that pair {}, too",
                      name_of(scene, a), name_of(scene, b), has, pair.coefficient));
      return;
    }
}

}  // namespace

Touch touch_of(const Scene& scene, const Party& party) {
  return party.collider ? Touch::collider : object_of(scene, party).touch;
}

double FrictionTable::between(const Party& one, const Party& other) const {
  for (const PairFriction& pair : scene_.friction)
    if (same_pair(pair, one, other)) return pair.coefficient;
  return usual(one, other);
}

double FrictionTable::own(const Party& party) const {
  return party.collider ? collider_of(scene_, party).friction : object_of(scene_, party).friction;
}

double FrictionTable::usual(const Party& one, const Party& other) const {
  const Touch a = touch_of(scene_, one), b = touch_of(scene_, other);
  if (a < b) return usual(other, one);
  if (a == Touch::collider) return own(one);
  if (a == b) return std::min(own(one), own(other));
  if (a == Touch::rigid || a == Touch::mesh) return own(one);
  if (scene_.strand_grid.friction) return *scene_.strand_grid.friction;
  double least = std::numeric_limits<double>::infinity();
  for (const ObjectSpec& object : scene_.objects)
    if (is_bulk(object)) least = std::min(least, object.friction);
  return least;
}

double FrictionTable::with(const Party& one, Touch others) const {
  for (std::size_t o = 0; o < scene_.objects.size(); ++o) {
    const Party other{.index = static_cast<int>(o)};
    const bool meets = touch_of(scene_, other) == others &&
                       (others != Touch::strands || touch_of(scene_, one) == Touch::rigid || is_bulk(scene_.objects[o]));
    if (meets) return between(one, other);
  }
  return own(one);
}

std::optional<double> FrictionTable::strands_with_particles() const {
  for (const PairFriction& pair : scene_.friction) {
    const Touch a = touch_of(scene_, pair.one), b = touch_of(scene_, pair.other);
    if (std::min(a, b) == Touch::particles && std::max(a, b) == Touch::strands) return pair.coefficient;
  }
  return {};
}

bool FrictionTable::names_colliders() const {
  return std::any_of(scene_.friction.begin(), scene_.friction.end(),
                     [](const PairFriction& pair) { return pair.one.collider || pair.other.collider; });
}

std::vector<Party> FrictionTable::sharing(const Party& one, const Party& other) const {
  const Touch kind = touch_of(scene_, one), met = touch_of(scene_, other);
  const bool bulk = kind == Touch::strands && (met == Touch::particles || met == Touch::mesh);
  const bool on_rigid = kind == Touch::strands && met == Touch::rigid;
  if (kind != Touch::particles && !bulk && !on_rigid) return {one};
  std::vector<Party> all;
  for (std::size_t o = 0; o < scene_.objects.size(); ++o) {
    const Party party{.index = static_cast<int>(o)};
    if (touch_of(scene_, party) == kind && (!bulk || is_bulk(scene_.objects[o]))) all.push_back(party);
  }
  return all;
}

void check_friction(const Scene& scene, Findings& findings) {
  const auto known = [&](const Party& party) {
    return findings.clean(fmt::format("/{}/{}", party.collider ? "colliders" : "objects", party.index));
  };
  for (std::size_t i = 0; i < scene.friction.size(); ++i) {
    const PairFriction& pair = scene.friction[i];
    const std::string pointer = fmt::format("/friction/{}", i);
    if (!findings.clean(pointer) || !known(pair.one) || !known(pair.other)) continue;
    const auto before = std::find_if(scene.friction.begin(), scene.friction.begin() + static_cast<std::ptrdiff_t>(i),
                                     [&](const PairFriction& other) { return same_pair(other, pair.one, pair.other); });
    if (before - scene.friction.begin() < static_cast<std::ptrdiff_t>(i)) {
      findings.add(pointer + "/and", fmt::format("\"{}\" and \"{}\" are in the list already; leave out one of the two",
                                                 name_of(scene, pair.one), name_of(scene, pair.other)));
      continue;
    }
    const std::string reason = Untouched(scene, pair).reason();
    if (!reason.empty())
      findings.add(pointer + "/and", fmt::format("\"{}\" and \"{}\" do not rub: {}", name_of(scene, pair.one),
                                                 name_of(scene, pair.other), reason));
    else
      check_shared(scene, pair, pointer, findings);
  }
}

}  // namespace tribo

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tribo/core/params.h"
#include "tribo/scene/scene.h"

/// \file
/// The rooms of `matter/` as scenes and those who set them up see them: one list, from which the scene's keys, schema,
/// manual, checks, what is simulated and the memory it takes follow.

namespace tribo {

class Findings;
class Seeds;
class Amounts;
struct Model;

/// A kind of object, chosen by its key `type`.
struct ObjectType {
  const char* name;
  const char* doc;
  /// `materials` is null when the scene's materials cannot be read, so that references to them cannot be judged.
  void (*read)(ParamReader& in, const std::vector<MaterialSpec>* materials, ObjectSpec& object);
};

/// What numbers take on a device.
struct MemoryRules {
  bool cuda = false;
  double real = 4;  ///< bytes of a Real
};

/// What so much of a room's matter asks for.
struct Outlay {
  double bytes = 0;       ///< on the device, for as long as it is simulated
  double seed_bytes = 0;  ///< on the host until then
  bool countable = true;  ///< whether there are numbers for so many
  std::string amount;     ///< in words: "2e6 tets"; empty where there is nothing
  std::string remedy;     ///< what makes it less: "raise element_size"
};

class Room {
 public:
  Room() = default;
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;
  virtual ~Room() = default;

  /// What `type` of an object may be here.
  virtual std::vector<ObjectType> types() const { return {}; }
  /// What its objects take from the rest of the scene, which has been read.
  virtual void complete(Scene&) const {}

  // Of an object of its types.
  /// Why it cannot be in two dimensions; null where it can.
  virtual const char* spatial(const ObjectSpec&) const { return nullptr; }
  /// Mistakes that show when parts of the scene are seen together; `pointer` is the object's.
  virtual void check(const Scene&, const ObjectSpec&, const std::string& pointer, Findings&) const = 0;
  /// Shapes that it has beside its own.
  using ShapeVisitor = std::function<void(const Shape<double>&)>;
  virtual void each_shape(const ObjectSpec&, const ShapeVisitor&) const {}
  /// Whether it has the tets of a file, and nobody asks for the distance to their surface.
  virtual bool takes_tets(const ObjectSpec&) const { return false; }
  /// Whether it has any tets.
  virtual bool has_tets(const ObjectSpec&) const { return false; }
  /// Files that it was read from, beside meshes.
  virtual std::vector<NamedBytes> files(const ObjectSpec&) const { return {}; }

  // Of all that a scene has of this kind of matter.
  /// How much there will be, roughly, before it is made.
  virtual void expect(const Scene&, Amounts&) const = 0;
  /// Makes it as of time 0, after the rooms before it in the list, with a sentence in `warnings` for what can be
  /// simulated but is hardly meant. Throws SceneError for what cannot be made.
  virtual void seed(const Scene&, Seeds&, std::vector<std::string>& warnings) const = 0;
  /// Warnings that need what other rooms have made.
  virtual void look(const Scene&, const Seeds&, std::vector<std::string>& /*warnings*/) const {}
  /// How much has been made; dx is the grid's spacing.
  virtual void count(const Seeds&, double dx, Amounts&) const = 0;
  virtual Outlay outlay(const MemoryRules&, const Model&, const Amounts&) const = 0;
};

/// All, in the order in which they are seeded.
const std::vector<const Room*>& rooms();

/// Every object type; `room_of`: whose it is.
const std::vector<ObjectType>& object_types();
const Room& room_of(const ObjectSpec& object);

}  // namespace tribo

#pragma once

#include <vector>

#include "tribo/core/params.h"
#include "tribo/scene/scene.h"

/// \file
/// The scene format: every key, once. Reading, schema and manual all run through read_format.

namespace tribo {

/// Asks `in` for everything a scene can say. `scene.file` gives the default name.
void read_format(ParamReader& in, Scene& scene);

/// A kind of object, chosen by its key `type`.
struct ObjectType {
  const char* name;
  const char* doc;
  /// `materials` is null when the scene's materials cannot be read, so that references to them cannot be judged.
  void (*read)(ParamReader& in, const std::vector<MaterialSpec>* materials, ObjectSpec& object);
};

/// Every object type; a new one is a line here and the function it names.
const std::vector<ObjectType>& object_types();

/// What `grid.transfer` and `grid.kernel` may be.
const std::vector<Choice>& transfers();
const std::vector<Choice>& kernels();

}  // namespace tribo

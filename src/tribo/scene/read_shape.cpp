#include "tribo/scene/read_shape.h"

#include <cmath>
#include <vector>

#include "tribo/core/errors.h"

namespace tribo {
namespace {

struct CombinationKey {
  Operation operation;
  const char* name;
  const char* doc;
};
constexpr CombinationKey combinations[] = {{Operation::unite, "union", "shapes joined into one"},
                                           {Operation::intersect, "intersection", "what is in all of several shapes"},
                                           {Operation::difference, "difference", "the first shape without the others"}};

/// A placeholder where there is nothing to read, or nothing that can be used.
Compound one_ball(Operation operation) { return {operation, 0, {{{}, SimpleShape(Sphere<double>{})}}}; }

Compound read_compound(ParamReader& in, Operation operation) {
  std::vector<Compound::Part> parts;
  const bool readable = in.list("shapes", "two or more shapes, each with a place of its own", true,
                                [&](ParamReader& entry, const std::string&) {
                                  Shape<double> shape;
                                  read_shape(entry, shape, "a part; may be a union, intersection or difference itself");
                                  Keyframe key;
                                  read_placement(entry, key);
                                  Compound::Part part{{key.at, rotation_matrix(key.rotation)}, SimpleShape()};
                                  std::visit([&](const auto& s) { part.shape = s; }, shape);
                                  parts.push_back(std::move(part));
                                });
  const double blend =
      in.number("blend", "m", at_least(0),
                "rounds the seams: by a quarter of this at most, and only where the distances to two parts differ by "
                "less than this (quadratic smooth minimum, part by part in the order of the list)",
                0);
  if (in.describing() || !readable) return one_ball(operation);
  if (parts.size() < 2) {
    in.complain("shapes", "expected two shapes or more");
    return one_ball(operation);
  }
  try {
    return {operation, blend, parts};
  } catch (const Error& error) {
    in.complain("shapes", error.what());
  }
  return one_ball(operation);
}

}  // namespace

void read_shape(ParamReader& in, Shape<double>& shape, const char* doc, bool required) {
  Alternatives shapes{"shape", {}, required};
  each_alternative(&shape, [&]<class T>() {
    if constexpr (std::is_same_v<T, Compound>) {
      for (const CombinationKey& key : combinations)
        shapes.all.push_back(
            {key.name, key.doc, [&](ParamReader& inner) { shape = read_compound(inner, key.operation); }});
    } else {
      shapes.all.push_back({T::name, T::doc, [&](ParamReader& inner) { shape = T::read(inner); }, T::shorthand});
    }
    if constexpr (std::is_same_v<T, Mesh>)
      shapes.all.push_back(
          {T::tets_name, T::tets_doc, [&](ParamReader& inner) { shape = T::read_tets(inner); }, T::shorthand});
  });
  in.one_of("shape", shapes, doc);
}

void read_placement(ParamReader& in, Keyframe& key) {
  key.at = in.vector("at", "m", anything(), "where the origin of the shape is", Vec<double, 3>::zero());
  in.object("rotation", "how the shape is turned about its origin", false, [&](ParamReader& rotation) {
    key.rotation.axis =
        rotation.vector("axis", "1", anything(), "axis of rotation, of any length", Vec<double, 3>{{0, 0, 1}});
    key.rotation.degrees = rotation.number("degrees", "deg", anything(), "angle; more than 360 is more than a turn", 0);
    const double length = squared_norm(key.rotation.axis);
    if (!(length > 0 && std::isfinite(length))) {
      rotation.complain("axis", "expected a direction, got a vector whose length is 0 or too large");
      key.rotation.axis = {{0, 0, 1}};
    }
  });
}

}  // namespace tribo

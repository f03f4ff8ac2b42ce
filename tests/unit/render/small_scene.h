#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tribo/core/errors.h"
#include "tribo/io/frame.h"
#include "tribo/scene/reader.h"

namespace tribo::test {

/// A scene with two objects and no collider. Its looks are strong colors without variation.
inline Scene small_scene(const std::vector<Override>& overrides = {}) {
  constexpr const char* text = R"json({
    "tribo": 1, "name": "small", "fps": 25, "duration": 1, "grid": {"dx": 0.1},
    "materials": {
      "rubber": {"preset": "jelly", "density": 500, "look": {"color": "#ff0000", "variation": 0}},
      "sand": {"preset": "dry_sand", "density": 2000, "look": {"color": "#0000ff", "variation": 0}}
    },
    "objects": [
      {"name": "ball", "type": "particles", "shape": {"sphere": 0.2}, "material": "rubber", "at": [0, 1, 0]},
      {"name": "pile", "type": "particles", "shape": {"box": [0.4, 0.2, 0.2]}, "material": "sand", "at": [1, 1, 0]}
    ]
  })json";
  return parse_scene(text, "small.json", overrides);
}

template <class T>
NamedArray array_of(const std::string& name, std::uint32_t components, const std::vector<T>& values) {
  return make_array(name, components, std::span<const T>(values));
}

/// Particles of both objects in turn at these points.
template <class Real>
Frame frame_of(const std::vector<Real>& x, std::uint32_t components = 3) {
  const std::size_t count = x.size() / components;
  std::vector<std::int32_t> object(count);
  std::vector<std::uint32_t> id(count);
  for (std::size_t i = 0; i < count; ++i) {
    object[i] = static_cast<std::int32_t>(i % 2);
    id[i] = static_cast<std::uint32_t>(i);
  }
  Frame frame;
  frame.number = 7;
  frame.objects = {"ball", "pile"};
  frame.materials = {"rubber", "sand"};
  frame.columns = {array_of("x", components, x), array_of("object", 1, object), array_of("id", 1, id)};
  return frame;
}

/// What an Error says; fails when there is none.
template <class Call>
std::string message_of(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace tribo::test

#include "tribo/io/writers/frame_parts.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <numeric>

#include "tribo/core/errors.h"
#include "tribo/io/writers/convert.h"

namespace tribo {
namespace {

using Color = std::array<std::uint8_t, 3>;

/// How the points of one body look.
struct Look {
  Color color{};
  float radius = 0;
};

/// Of a body the run does not know: middle gray.
constexpr Vec<float, 3> unknown_color = {{0.2F, 0.2F, 0.2F}};

Look look_of(const RunInfo::Body* body) {
  Look look;
  const Vec<float, 3>& linear = body ? body->color : unknown_color;
  for (int k = 0; k < 3; ++k)
    look.color[static_cast<std::size_t>(k)] = static_cast<std::uint8_t>(std::lround(255 * to_srgb(linear[k])));
  if (body) look.radius = body->radius;
  return look;
}

/// An object and a collider may have the same name.
const RunInfo::Body* find_body(const RunInfo& info, const std::string& name, bool collider) {
  for (const RunInfo::Body& body : info.bodies)
    if (body.name == name && body.collider == collider) return &body;
  return nullptr;
}

/// The index of `name` at or after `begin`, or -1.
std::int32_t index_of(const std::vector<std::string>& names, const std::string& name, std::size_t begin = 0) {
  const auto found = std::find(names.begin() + static_cast<std::ptrdiff_t>(begin), names.end(), name);
  return found == names.end() ? -1 : static_cast<std::int32_t>(found - names.begin());
}

void copy_row(const NamedArray& array, std::uint64_t row, std::byte* to) {
  const std::size_t size = array.components * size_of(array.type);
  std::memcpy(to, array.data.data() + row * size, size);
}

template <class T>
void put(T value, std::byte* to) {
  std::memcpy(to, &value, sizeof value);
}

/// An index into names, from a column of any integer type.
std::int32_t index_at(const NamedArray& column, std::uint64_t row) {
  return visit_type(column.type, [&]<class T>(T) {
    return static_cast<std::int32_t>(column.as<T>()[static_cast<std::size_t>(row)]);
  });
}

FramePart particles_of(const Frame& frame, const RunInfo& info) {
  const NamedArray* x = frame.find("x");
  if (!x) throw Error(ExitCode::internal, "writing frame " + std::to_string(frame.number) + ": it has no positions");
  FramePart part;
  part.kind = PartKind::particles;
  part.group_sizes = {x->count};
  const auto add = [&](const char* name, const NamedArray& column, std::uint32_t components) {
    part.columns.push_back({name, column.type, components,
                            [&column](std::size_t, std::uint64_t row, std::byte* to) { copy_row(column, row, to); }});
  };
  add("position", *x, 3);
  if (const NamedArray* v = frame.find("v")) add("velocity", *v, 3);
  if (const NamedArray* id = frame.find("id")) add("id", *id, 1);
  for (const char* name : {"object", "material"}) {
    if (const NamedArray* column = frame.find(name)) {
      part.columns.push_back({name, DType::i32, 1, [column](std::size_t, std::uint64_t row, std::byte* to) {
                                put(index_at(*column, row), to);
                              }});
    }
  }
  for (const NamedArray& column : frame.columns) {
    constexpr std::array placed = {"x", "v", "id", "object", "material"};
    if (std::find(placed.begin(), placed.end(), column.name) == placed.end())
      add(column.name.c_str(), column, column.components);
  }
  if (const NamedArray* object = frame.find("object")) {
    const auto looks = std::make_shared<std::vector<Look>>();
    for (const std::string& name : frame.objects) looks->push_back(look_of(find_body(info, name, false)));
    const auto look_at = [looks, object](std::uint64_t row) -> const Look& {
      return (*looks)[static_cast<std::size_t>(index_at(*object, row))];
    };
    part.columns.push_back({"radius", DType::f32, 1, [look_at](std::size_t, std::uint64_t row, std::byte* to) {
                              put(look_at(row).radius, to);
                            }});
    part.columns.push_back({"color", DType::u8, 3,
                            [look_at](std::size_t, std::uint64_t row, std::byte* to) { put(look_at(row).color, to); }});
  }
  return part;
}

/// Numbers of one precision from arrays of either.
void copy_floats(const NamedArray& array, std::uint64_t row, DType type, std::byte* to) {
  if (array.type == type) return copy_row(array, row, to);
  visit_type(array.type, [&]<class From>(From) {
    visit_type(type, [&]<class To>(To) {
      const auto values = array.as<From>().subspan(static_cast<std::size_t>(row) * array.components, array.components);
      for (std::size_t k = 0; k < values.size(); ++k) put(static_cast<To>(values[k]), to + k * sizeof(To));
    });
  });
}

/// The columns of meshes or strands, which are `bodies`.
template <class Geometry>
void add_columns(const Frame& frame, const RunInfo& info, const std::vector<const Geometry*>& bodies, FramePart& part) {
  struct Source {
    const NamedArray* x;
    const NamedArray* v;
    const NamedArray* radius;
    std::int32_t object, material;
    Look look;
  };
  const bool collider = part.kind == PartKind::colliders;
  const std::vector<std::string> names = body_names(frame, info);
  const auto sources = std::make_shared<std::vector<Source>>();
  DType type = DType::f32;
  for (const Geometry* body : bodies) {
    const RunInfo::Body* known = find_body(info, body->name, collider);
    const NamedArray* radius = nullptr;
    if constexpr (std::is_same_v<Geometry, FrameCurves>) radius = body->radius.count != 0 ? &body->radius : nullptr;
    sources->push_back({&body->x, body->v.count != 0 ? &body->v : nullptr, radius,
                        index_of(names, body->name, collider ? frame.objects.size() : 0),
                        known ? index_of(frame.materials, known->material) : -1, look_of(known)});
    part.group_sizes.push_back(body->x.count);
    if (body->x.type == DType::f64) type = DType::f64;
  }
  const auto add = [&](const char* name, DType column_type, std::uint32_t components, const auto& copy) {
    part.columns.push_back(
        {name, column_type, components,
         [sources, copy](std::size_t group, std::uint64_t row, std::byte* to) { copy((*sources)[group], row, to); }});
  };
  using Row = std::uint64_t;
  add("position", type, 3, [type](const Source& s, Row row, std::byte* to) { copy_floats(*s.x, row, type, to); });
  add("velocity", type, 3, [type](const Source& s, Row row, std::byte* to) {
    if (s.v) copy_floats(*s.v, row, type, to);
  });
  add("object", DType::i32, 1, [](const Source& s, Row, std::byte* to) { put(s.object, to); });
  add("material", DType::i32, 1, [](const Source& s, Row, std::byte* to) { put(s.material, to); });
  if (part.kind == PartKind::strands)
    add("radius", DType::f32, 1, [](const Source& s, Row row, std::byte* to) {
      if (s.radius) return copy_floats(*s.radius, row, DType::f32, to);
      put(s.look.radius, to);
    });
  add("color", DType::u8, 3, [](const Source& s, Row, std::byte* to) { put(s.look.color, to); });
}

}  // namespace

const char* name_of(PartKind kind) {
  constexpr std::array names = {"particles", "strands", "meshes", "colliders"};
  return names[static_cast<std::size_t>(kind)];
}

std::uint64_t FramePart::point_count() const {
  return std::accumulate(group_sizes.begin(), group_sizes.end(), std::uint64_t{0});
}

std::vector<std::string> body_names(const Frame& frame, const RunInfo& info) {
  std::vector<std::string> names = frame.objects;
  for (const RunInfo::Body& body : info.bodies)
    if (body.collider) names.push_back(body.name);
  return names;
}

std::vector<FramePart> parts_of(const Frame& frame, const RunInfo& info) {
  std::vector<FramePart> parts;
  parts.push_back(particles_of(frame, info));
  FramePart strands, meshes, colliders;
  strands.kind = PartKind::strands;
  meshes.kind = PartKind::meshes;
  colliders.kind = PartKind::colliders;
  for (const FrameCurves& curves : frame.curves) strands.curves.push_back(&curves);
  for (const FrameMesh& mesh : frame.meshes)
    (find_body(info, mesh.name, true) ? colliders : meshes).meshes.push_back(&mesh);
  add_columns(frame, info, strands.curves, strands);
  add_columns(frame, info, meshes.meshes, meshes);
  add_columns(frame, info, colliders.meshes, colliders);
  for (FramePart* part : {&strands, &meshes, &colliders})
    if (!part->group_sizes.empty()) parts.push_back(std::move(*part));
  return parts;
}

PartFiles::PartFiles(const std::string& directory, const std::string& name, const std::string& extension) {
  for (const PartKind kind : all_part_kinds)
    sequences_.emplace_back(directory, name, extension, kind == PartKind::particles ? "" : name_of(kind));
}

void PartFiles::remove_others(int frame, const std::vector<FramePart>& parts) const {
  for (const PartKind kind : all_part_kinds) {
    const auto is_kind = [&](const FramePart& part) { return part.kind == kind; };
    if (std::none_of(parts.begin(), parts.end(), is_kind)) of(kind).remove(frame);
  }
}

void PartFiles::remove_after(int frame) const {
  for (const FileSequence& sequence : sequences_) sequence.remove_after(frame);
}

}  // namespace tribo

#include "tribo/io/frame.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <span>
#include <utility>

#include "tribo/core/errors.h"

namespace tribo {
namespace {

using nlohmann::json;

bool is_floating(DType type) { return type == DType::f32 || type == DType::f64; }

template <class T>
bool all_below(const NamedArray& column, std::size_t limit) {
  const auto values = column.as<T>();
  return std::all_of(values.begin(), values.end(),
                     [&](T value) { return std::cmp_greater_equal(value, 0) && std::cmp_less(value, limit); });
}

bool indexes(const NamedArray& column, std::size_t limit) {
  switch (column.type) {
    case DType::i32:
      return all_below<std::int32_t>(column, limit);
    case DType::i64:
      return all_below<std::int64_t>(column, limit);
    case DType::u32:
      return all_below<std::uint32_t>(column, limit);
    case DType::u64:
      return all_below<std::uint64_t>(column, limit);
    case DType::u8:
      return all_below<std::uint8_t>(column, limit);
    case DType::f32:
    case DType::f64:
      return false;
  }
  return false;
}

/// What is wrong with the columns; empty when nothing is.
std::string column_mistake(const Frame& frame) {
  const NamedArray* x = frame.find("x");
  if (!x) return "column x is missing";
  if (!is_floating(x->type) || (x->components != 2 && x->components != 3)) return "column x is not 2 or 3 floats a row";
  for (const NamedArray& column : frame.columns) {
    const std::string label = "column " + column.name;
    if (column.count != x->count) {
      return label + " has " + std::to_string(column.count) + " rows where x has " + std::to_string(x->count);
    }
    if (column.data.size() != column.count * column.components * size_of(column.type)) {
      return label + " has " + std::to_string(column.data.size()) + " bytes, not what its shape needs";
    }
    const auto shape_is = [&](std::uint32_t components, bool floating) {
      return column.components == components && is_floating(column.type) == floating;
    };
    if (column.name == "v" && !shape_is(x->components, true)) return label + " is not of the same shape as x";
    if ((column.name == "J" || column.name == "strain") && !shape_is(1, true)) return label + " is not one float a row";
    if (column.name == "id" && !shape_is(1, false)) return label + " is not one integer a row";
    for (const auto& [name, names] : {std::pair{"object", &frame.objects}, std::pair{"material", &frame.materials}}) {
      if (column.name == name && (!shape_is(1, false) || !indexes(column, names->size()))) {
        return label + " does not index the " + std::to_string(names->size()) + " " + name + " names";
      }
    }
  }
  return "";
}

bool has_shape(const NamedArray& array, std::uint64_t count, std::uint32_t components, DType type) {
  return array.count == count && array.components == components && array.type == type &&
         array.data.size() == count * components * size_of(type);
}

/// What is wrong with the points of a mesh or of curves; empty when nothing is.
std::string points_mistake(const NamedArray& points, const NamedArray& x, const NamedArray& v) {
  if (!is_floating(x.type) || !has_shape(x, x.count, points.components, x.type)) return "has points of another shape";
  if (v.count != 0 && !has_shape(v, x.count, x.components, x.type)) return "has velocities that do not fit its points";
  if (std::cmp_greater(x.count, std::numeric_limits<std::int32_t>::max())) return "has too many points";
  return "";
}

/// What is wrong with where rigid bodies are.
std::string placement_mistake(const FrameMesh& mesh) {
  const NamedArray &rest = mesh.rest, &placement = mesh.placement;
  if (rest.count == 0 && placement.count == 0) return "";
  if (mesh.x.components != 3 || !has_shape(rest, rest.count, 3, mesh.x.type) || placement.count == 0 ||
      !has_shape(placement, placement.count, 7, DType::f64) || rest.count * placement.count != mesh.x.count ||
      mesh.triangles.count % placement.count != 0)
    return "has rigid bodies that do not fit its vertices";
  return "";
}

std::string mesh_mistake(const FrameMesh& mesh, const NamedArray& points) {
  std::string mistake = points_mistake(points, mesh.x, mesh.v);
  const NamedArray& triangles = mesh.triangles;
  if (mistake.empty() && (!has_shape(triangles, triangles.count, 3, DType::i32) || !indexes(triangles, mesh.x.count)))
    mistake = "has triangles of vertices it does not have";
  if (mistake.empty()) mistake = placement_mistake(mesh);
  return mistake.empty() ? "" : "mesh " + mesh.name + " " + mistake;
}

std::string tets_mistake(const FrameTets& body, const NamedArray& points) {
  std::string mistake = points_mistake(points, body.x, body.v);
  const NamedArray& tets = body.tets;
  if (mistake.empty() && (!has_shape(tets, tets.count, 4, DType::i32) || !indexes(tets, body.x.count)))
    mistake = "has tets of vertices it does not have";
  if (mistake.empty() && !has_shape(body.J, tets.count, 1, body.x.type)) mistake = "has a J that does not fit its tets";
  return mistake.empty() ? "" : "tets of " + body.name + " " + mistake;
}

std::string curves_mistake(const FrameCurves& curves, const NamedArray& points) {
  std::string mistake = points_mistake(points, curves.x, curves.v);
  if (mistake.empty()) {
    const NamedArray& sizes = curves.sizes;
    std::uint64_t sum = 0;
    bool good = has_shape(sizes, sizes.count, 1, DType::i32);
    for (std::uint64_t i = 0; good && i < sizes.count; ++i) {
      const std::int32_t size = sizes.as<std::int32_t>()[i];
      good = size >= 2;
      sum += static_cast<std::uint64_t>(size);
    }
    if (!good || sum != curves.x.count) mistake = "has strands whose sizes do not fit its points";
    const NamedArray& radius = curves.radius;
    if (mistake.empty() && radius.count != 0 &&
        (!is_floating(radius.type) || !has_shape(radius, curves.x.count, 1, radius.type)))
      mistake = "has radii that do not fit its points";
  }
  return mistake.empty() ? "" : "strands " + curves.name + " " + mistake;
}

std::string mistake_in(const Frame& frame) {
  std::string mistake = column_mistake(frame);
  if (!mistake.empty()) return mistake;
  for (const FrameMesh& mesh : frame.meshes)
    if (mistake = mesh_mistake(mesh, *frame.find("x")); !mistake.empty()) return mistake;
  for (const FrameTets& body : frame.tets)
    if (mistake = tets_mistake(body, *frame.find("x")); !mistake.empty()) return mistake;
  for (const FrameCurves& curves : frame.curves)
    if (mistake = curves_mistake(curves, *frame.find("x")); !mistake.empty()) return mistake;
  return "";
}

/// How the arrays of meshes, tets and curves are called in the file: "mesh 0/x", "tets 1/J", "curves 2/sizes".
std::string array_prefix(const char* kind, std::size_t index) {
  return std::string(kind) + " " + std::to_string(index) + "/";
}

/// Visits the arrays of every mesh, set of tets and curve set with their prefix: visit(prefix, array).
template <class AnyFrame, class Visit>
void each_geometry_array(AnyFrame& frame, const Visit& visit) {
  for (std::size_t i = 0; i < frame.meshes.size(); ++i)
    for (auto* array : {&frame.meshes[i].x, &frame.meshes[i].v, &frame.meshes[i].triangles, &frame.meshes[i].rest,
                        &frame.meshes[i].placement})
      visit(array_prefix("mesh", i), *array);
  for (std::size_t i = 0; i < frame.tets.size(); ++i)
    for (auto* array : {&frame.tets[i].x, &frame.tets[i].v, &frame.tets[i].tets, &frame.tets[i].J})
      visit(array_prefix("tets", i), *array);
  for (std::size_t i = 0; i < frame.curves.size(); ++i)
    for (auto* array : {&frame.curves[i].x, &frame.curves[i].v, &frame.curves[i].sizes, &frame.curves[i].radius})
      visit(array_prefix("curves", i), *array);
}

/// Not in the file when it has no rows.
bool is_optional(const NamedArray& array) {
  return array.name == "radius" || array.name == "rest" || array.name == "placement";
}

/// The frame's JSON, once everything about the frame is found right.
std::string checked_meta(const Frame& frame) {
  std::string mistake = mistake_in(frame);
  if (frame.number < 0) mistake = "its number is negative";
  if (!std::isfinite(frame.time)) mistake = "its time is not finite";
  std::string meta;
  try {
    json header{
        {"number", frame.number}, {"time", frame.time}, {"objects", frame.objects}, {"materials", frame.materials}};
    for (const FrameMesh& mesh : frame.meshes) header["meshes"].push_back(mesh.name);
    for (const FrameTets& body : frame.tets) header["tets"].push_back(body.name);
    for (const FrameCurves& curves : frame.curves) header["curves"].push_back(curves.name);
    meta = header.dump();
  } catch (const json::exception&) {
    mistake = "a name is not UTF-8";
  }
  if (!mistake.empty()) throw Error(ExitCode::internal, "frame " + std::to_string(frame.number) + ": " + mistake);
  return meta;
}

/// Row of each particle when they are in order of id.
std::vector<std::int32_t> rows_by_id(std::span<const std::int32_t> ids) {
  std::vector<std::int32_t> row(ids.begin(), ids.end());
  const auto highest = std::max_element(ids.begin(), ids.end());
  if (ids.empty() || std::cmp_equal(*highest + std::int64_t{1}, ids.size())) return row;  // nobody is missing
  std::vector<std::int32_t> order(ids.size());
  std::iota(order.begin(), order.end(), 0);
  const auto id = [&](std::int32_t i) { return ids[static_cast<std::size_t>(i)]; };
  std::sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) { return id(a) < id(b); });
  for (std::size_t r = 0; r < order.size(); ++r) row[static_cast<std::size_t>(order[r])] = static_cast<std::int32_t>(r);
  return row;
}

/// Takes the rows away that are vertices of meshes.
void drop_hidden(RawFrame& raw) {
  if (raw.hidden == 0) return;
  std::vector<std::size_t> kept;
  const auto ids = raw.frame.find("id")->as<std::int32_t>();
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (ids[i] < raw.first_hidden || ids[i] - raw.first_hidden >= raw.hidden) kept.push_back(i);
  for (NamedArray& column : raw.frame.columns) {
    const std::size_t size = size_of(column.type);
    std::vector<std::byte> data(kept.size() * column.components * size);
    std::byte* to = data.data();
    for (std::size_t k = 0; k < column.components; ++k)
      for (const std::size_t i : kept) {
        std::memcpy(to, column.data.data() + (k * column.count + i) * size, size);
        to += size;
      }
    column.data = std::move(data);
    column.count = kept.size();
  }
}

/// Component after component to row after row; T is any number of the column's size.
template <class T>
void arrange_column(std::span<const std::int32_t> row, NamedArray& column) {
  std::vector<std::byte> arranged(column.data.size());
  const T* from = reinterpret_cast<const T*>(column.data.data());
  T* const to = reinterpret_cast<T*>(arranged.data());
  for (std::size_t k = 0; k < column.components; ++k)
    for (const std::int32_t r : row) to[static_cast<std::size_t>(r) * column.components + k] = *from++;
  column.data = std::move(arranged);
}

}  // namespace

const NamedArray* Frame::find(const std::string& name) const {
  const auto found = std::find_if(columns.begin(), columns.end(), [&](const NamedArray& a) { return a.name == name; });
  return found == columns.end() ? nullptr : &*found;
}

Frame arrange(RawFrame raw) {
  Frame& frame = raw.frame;
  if (const auto fetch = std::exchange(raw.fetch, nullptr)) fetch(frame);
  drop_hidden(raw);
  const std::vector<std::int32_t> row = rows_by_id(frame.find("id")->as<std::int32_t>());
  for (NamedArray& column : frame.columns) {
    if (size_of(column.type) == 8) {
      arrange_column<std::uint64_t>(row, column);
    } else {
      arrange_column<std::uint32_t>(row, column);
    }
  }
  std::vector<std::int32_t> material;
  material.reserve(row.size());
  for (const std::int32_t object : frame.find("object")->as<std::int32_t>())
    material.push_back(raw.object_materials[static_cast<std::size_t>(object)]);
  frame.columns.push_back(make_array<std::int32_t>("material", 1, material));
  return std::move(frame);
}

Container to_container(const Frame& frame) {
  Container container{"frame", checked_meta(frame), frame.columns};
  each_geometry_array(frame, [&](const std::string& prefix, const NamedArray& array) {
    if (is_optional(array) && array.count == 0) return;
    container.arrays.push_back(array);
    container.arrays.back().name = prefix + array.name;
  });
  return container;
}

Frame to_frame(Container container, const std::string& path) {
  const auto fail = [&](const std::string& what) {
    throw IoError(path + " is damaged: " + what + " (restore it from a copy or simulate it again)");
  };
  Frame frame;
  try {
    const json meta = json::parse(container.meta);
    const auto& number = meta.at("number");
    if (!number.is_number_integer() || number < 0 || number > std::numeric_limits<int>::max()) fail("no frame number");
    if (!meta.at("time").is_number()) fail("no frame time");
    frame.number = number.get<int>();
    frame.time = meta.at("time").get<double>();
    frame.objects = meta.at("objects").get<std::vector<std::string>>();
    frame.materials = meta.at("materials").get<std::vector<std::string>>();
    for (const auto& name : meta.value("meshes", json::array()))
      frame.meshes.emplace_back().name = name.get_ref<const std::string&>();
    for (const auto& name : meta.value("tets", json::array()))
      frame.tets.emplace_back().name = name.get_ref<const std::string&>();
    for (const auto& name : meta.value("curves", json::array()))
      frame.curves.emplace_back().name = name.get_ref<const std::string&>();
  } catch (const json::exception& e) {
    fail(std::string("its header lacks something: ") + e.what());
  }
  for (FrameMesh& mesh : frame.meshes) mesh.x.name = "x", mesh.v.name = "v", mesh.triangles.name = "triangles";
  for (FrameTets& body : frame.tets) body.x.name = "x", body.v.name = "v", body.tets.name = "tets", body.J.name = "J";
  for (FrameCurves& curves : frame.curves) curves.x.name = "x", curves.v.name = "v", curves.sizes.name = "sizes";
  each_geometry_array(frame, [&](const std::string& prefix, NamedArray& array) {
    const std::string name = prefix + array.name;
    const auto found = std::find_if(container.arrays.begin(), container.arrays.end(),
                                    [&](const NamedArray& candidate) { return candidate.name == name; });
    if (found == container.arrays.end() && is_optional(array)) return;
    if (found == container.arrays.end()) fail("array " + name + " is missing");
    const std::string own_name = array.name;
    array = std::move(*found);
    array.name = own_name;
    container.arrays.erase(found);
  });
  frame.columns = std::move(container.arrays);
  if (const std::string mistake = mistake_in(frame); !mistake.empty()) fail(mistake);
  return frame;
}

void write_frame(const std::string& path, const Frame& frame) {
  if (frame.meshes.empty() && frame.tets.empty() && frame.curves.empty()) {
    write_container(path, "frame", checked_meta(frame), frame.columns);
  } else {
    write_container(path, to_container(frame));
  }
}

Frame read_frame(const std::string& path) { return to_frame(read_container(path, "frame"), path); }

}  // namespace tribo

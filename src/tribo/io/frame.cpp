#include "tribo/io/frame.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
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
    if (column.name == "J" && !shape_is(1, true)) return label + " is not one float a row";
    if (column.name == "id" && !shape_is(1, false)) return label + " is not one integer a row";
    for (const auto& [name, names] : {std::pair{"object", &frame.objects}, std::pair{"material", &frame.materials}}) {
      if (column.name == name && (!shape_is(1, false) || !indexes(column, names->size()))) {
        return label + " does not index the " + std::to_string(names->size()) + " " + name + " names";
      }
    }
  }
  return "";
}

/// The frame's JSON, once everything about the frame is found right.
std::string checked_meta(const Frame& frame) {
  std::string mistake = column_mistake(frame);
  if (frame.number < 0) mistake = "its number is negative";
  if (!std::isfinite(frame.time)) mistake = "its time is not finite";
  std::string meta;
  try {
    meta =
        json{{"number", frame.number}, {"time", frame.time}, {"objects", frame.objects}, {"materials", frame.materials}}
            .dump();
  } catch (const json::exception&) {
    mistake = "a name is not UTF-8";
  }
  if (!mistake.empty()) throw Error(ExitCode::internal, "frame " + std::to_string(frame.number) + ": " + mistake);
  return meta;
}

}  // namespace

const NamedArray* Frame::find(const std::string& name) const {
  const auto found = std::find_if(columns.begin(), columns.end(), [&](const NamedArray& a) { return a.name == name; });
  return found == columns.end() ? nullptr : &*found;
}

Container to_container(const Frame& frame) { return {"frame", checked_meta(frame), frame.columns}; }

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
  } catch (const json::exception& e) {
    fail(std::string("its header lacks something: ") + e.what());
  }
  frame.columns = std::move(container.arrays);
  if (const std::string mistake = column_mistake(frame); !mistake.empty()) fail(mistake);
  return frame;
}

void write_frame(const std::string& path, const Frame& frame) {
  write_container(path, "frame", checked_meta(frame), frame.columns);
}

Frame read_frame(const std::string& path) { return to_frame(read_container(path, "frame"), path); }

}  // namespace tribo

#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "tribo/core/errors.h"
#include "tribo/io/container.h"
#include "tribo/io/frame.h"

namespace tribo {

/// A directory of the test's own, removed with all it holds.
class Scratch {
 public:
  Scratch() {
    std::string name = (std::filesystem::temp_directory_path() / "tribo_io_XXXXXX").string();
    if (!::mkdtemp(name.data())) throw std::runtime_error("no temporary directory");
    path_ = name;
  }
  ~Scratch() { std::filesystem::remove_all(path_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

inline std::string read_bytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline void write_bytes(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

/// Names in a directory, hidden ones included.
inline std::vector<std::string> listing(const std::string& path) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path)) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

/// The message of the IoError that `call` throws; fails the test when it throws none.
template <class Call>
std::string io_error_of(Call&& call) {
  try {
    call();
  } catch (const IoError& error) {
    return error.what();
  }
  ADD_FAILURE() << "no IoError";
  return "";
}

inline ::testing::AssertionResult contains(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "\"" << part << "\" is not in \"" << text << "\"";
}

template <class T>
NamedArray array_of(const std::string& name, std::uint32_t components, const std::vector<T>& values) {
  return make_array(name, components, std::span<const T>(values));
}

inline bool equal(const NamedArray& a, const NamedArray& b) {
  return a.name == b.name && a.type == b.type && a.components == b.components && a.count == b.count && a.data == b.data;
}

inline bool equal(const Container& a, const Container& b) {
  return a.kind == b.kind && a.meta == b.meta &&
         std::equal(a.arrays.begin(), a.arrays.end(), b.arrays.begin(), b.arrays.end(),
                    [](const NamedArray& p, const NamedArray& q) { return equal(p, q); });
}

inline bool equal(const FrameMesh& a, const FrameMesh& b) {
  return a.name == b.name && equal(a.x, b.x) && equal(a.v, b.v) && equal(a.triangles, b.triangles) &&
         equal(a.rest, b.rest) && equal(a.placement, b.placement);
}
inline bool equal(const FrameTets& a, const FrameTets& b) {
  return a.name == b.name && equal(a.x, b.x) && equal(a.v, b.v) && equal(a.tets, b.tets) && equal(a.J, b.J);
}
inline bool equal(const FrameCurves& a, const FrameCurves& b) {
  return a.name == b.name && equal(a.x, b.x) && equal(a.v, b.v) && equal(a.sizes, b.sizes) && equal(a.radius, b.radius);
}
inline bool equal(const Frame& a, const Frame& b) {
  const auto same = [](const auto& p, const auto& q) {
    return std::equal(p.begin(), p.end(), q.begin(), q.end(), [](const auto& r, const auto& s) { return equal(r, s); });
  };
  return a.number == b.number && a.time == b.time && a.objects == b.objects && a.materials == b.materials &&
         same(a.columns, b.columns) && same(a.meshes, b.meshes) && same(a.tets, b.tets) &&
         same(a.curves, b.curves);
}

/// `count` particles scattered over a lattice, two objects of one material each.
inline Frame some_frame(int number, std::size_t count = 500) {
  std::mt19937 random(static_cast<unsigned>(number) + 1);
  std::vector<float> x(3 * count), v(3 * count), J(count);
  std::vector<std::uint32_t> id(count);
  std::vector<std::int32_t> object(count), material(count);
  const auto unit = [&] { return static_cast<float>(random() >> 8) * 0x1p-24f; };
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t k = 0; k < 3; ++k) {
      x[3 * i + k] = 0.01f * (static_cast<float>((i + k) % 100) + unit());
      v[3 * i + k] = -2.f + 0.01f * unit();
    }
    J[i] = 1.f + 0.01f * unit();
    id[i] = static_cast<std::uint32_t>(i);
    object[i] = i % 2 == 0 ? 0 : 1;
    material[i] = 1 - object[i];
  }
  Frame frame;
  frame.number = number;
  frame.time = number / 24.0;
  frame.objects = {"jello", "sand"};
  frame.materials = {"dry_sand", "jelly"};
  frame.columns = {array_of("x", 3, x), array_of("v", 3, v),           array_of("id", 1, id),
                   array_of("J", 1, J), array_of("object", 1, object), array_of("material", 1, material)};
  return frame;
}

inline Container some_checkpoint(int frame, std::size_t count = 500) {
  Container checkpoint{"checkpoint", "{\"frame\":" + std::to_string(frame) + ",\"step\":123}", {}};
  for (NamedArray& column : some_frame(frame, count).columns) checkpoint.arrays.push_back(std::move(column));
  checkpoint.arrays.push_back(array_of<double>("time", 1, {frame / 24.0}));
  return checkpoint;
}

}  // namespace tribo

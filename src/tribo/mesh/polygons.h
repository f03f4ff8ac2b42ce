#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tribo/math/small.h"

/// \file
/// Faces as a file has them, before anything is known to be right about them. Readers throw Error (bad input) whose
/// text begins with the file's name and names the line or the element.

namespace tribo {

struct Polygons {
  std::vector<Vec<double, 3>> vertices;
  std::vector<std::int64_t> corners;  ///< of all faces, one face after the other; as in the file, not yet checked
  std::vector<std::size_t> begin;     ///< first corner of each face
  bool ends_known = false;            ///< (set by `finish`) `begin` has one more entry, the end

  void begin_face() { begin.push_back(corners.size()); }
  std::size_t face_count() const { return begin.size() - (ends_known ? 1 : 0); }
  void finish() {
    begin.push_back(corners.size());
    ends_known = true;
  }
};

Polygons parse_obj(std::string_view text, const std::string& file);
Polygons parse_ply(std::string_view bytes, const std::string& file);
Polygons parse_stl(std::string_view bytes, const std::string& file);

}  // namespace tribo

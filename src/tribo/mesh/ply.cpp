#include <optional>

#include "tribo/mesh/ply_reader.h"
#include "tribo/mesh/polygons.h"

namespace tribo {
namespace {

/// Vertices and faces of a PLY file; whatever else it has is passed over.
class PolygonMaker {
 public:
  explicit PolygonMaker(const std::string& file) : file_(file) {}

  void begin(const PlyElement& element) {
    position_.reset();
    corners_ = -1;
    if (element.name == "vertex") position_.emplace(element, file_);
    if (element.name != "face") return;
    for (std::size_t i = 0; i < element.properties.size(); ++i) {
      const PlyProperty& p = element.properties[i];
      if (p.count && (p.name == "vertex_indices" || p.name == "vertex_index")) corners_ = static_cast<int>(i);
    }
    if (corners_ < 0) fail_in_file(file_, "faces do not have the property list vertex_indices");
  }
  void list(std::uint64_t row, int property, double length) {
    if (property != corners_) return;
    if (length < 3) fail_in_file(file_, "face " + std::to_string(row + 1) + " has fewer than three corners");
    out_.begin_face();
  }
  void value(std::uint64_t /*row*/, int property, double number) {
    if (position_) position_->value(property, number);
    if (property == corners_) out_.corners.push_back(ply_index(number));
  }
  void end_row(std::uint64_t row) {
    if (position_) out_.vertices.push_back(position_->end_row(row, file_));
  }
  Polygons finish() {
    out_.finish();
    return std::move(out_);
  }

 private:
  const std::string& file_;
  std::optional<PlyPosition> position_;  ///< while vertices are read
  int corners_ = -1;                     ///< the property that is a face's corners, while faces are read
  Polygons out_;
};

}  // namespace

Polygons parse_ply(std::string_view bytes, const std::string& file) {
  PlyReader reader(bytes, file);
  if (!reader.has("vertex")) fail_in_file(file, "the header has no element \"vertex\"");
  if (!reader.has("face"))
    fail_in_file(file, reader.has("tristrips") ? "holds strips of triangles; export plain faces"
                                               : "the header has no element \"face\"");
  PolygonMaker maker(file);
  reader.read(maker);
  return maker.finish();
}

}  // namespace tribo

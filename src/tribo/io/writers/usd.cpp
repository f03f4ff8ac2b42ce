#include "tribo/io/writers/usd.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <sstream>
#include <utility>

#include "tribo/io/file.h"
#include "tribo/io/writers/file_sequence.h"
#include "tribo/io/writers/usd_text.h"

// How the files hang together. Every frame is a layer of its own, whole, with what moves as time samples at its one
// time code. The top layer defines the same prims again: what never changes with its value, what does without one.
// There the value clips come in, which are weaker than values of the layer that names them: USD looks up every
// attribute that the manifest lists in the one frame that is active. Times and names of frames are all that grows.
//
// Rigid bodies have a transform in each frame, and points that are as constant as triangles. Of an object with many, the
// first is a mesh and the others refer to it: all that is theirs is where they are.

namespace tribo {
namespace {

/// An attribute as a layer declares it.
struct Attribute {
  std::string type;
  std::string name;
  friend bool operator==(const Attribute&, const Attribute&) = default;
};

/// An attribute that connects points. In the top layer it has a value when that is the same in all frames, so that
/// readers need not think of every frame as a new mesh.
bool is_topology(const std::string& attribute) {
  return attribute == "faceVertexCounts" || attribute == "faceVertexIndices" || attribute == "curveVertexCounts";
}

/// The same of a prim that moves as a whole.
constexpr std::string_view translate = "xformOp:translate", orient = "xformOp:orient";
bool is_shape(const std::string& attribute) {
  return is_topology(attribute) || attribute == "points" || attribute == "extent";
}

/// An attribute that must be told to have a value for every point.
bool is_interpolated(const std::string& attribute) {
  return attribute.starts_with("primvars:") || attribute == "widths";
}

/// What the top layer must know of a prim; each frame begins with a list of its own.
struct PrimOutline {
  std::string body;  ///< identifier of its parent
  std::string name;
  std::string type;
  std::uint64_t topology = 0;         ///< hash of how points are connected
  std::vector<Attribute> attributes;  ///< those with time samples
  std::string copy_of;                ///< prim of the same body that it refers to, or nothing

  /// Whether it moves as a whole.
  bool placed() const {
    return std::any_of(attributes.begin(), attributes.end(), [](const Attribute& a) { return a.name == translate; });
  }
  /// An attribute that the top layer may have once for all.
  bool may_be_constant(const std::string& attribute) const {
    return placed() ? is_shape(attribute) : is_topology(attribute);
  }
};

/// An attribute and how its value is written.
struct Sample {
  Attribute attribute;
  std::function<void(UsdFile&)> write;
};

/// A prim of one frame with its data.
struct Prim {
  PrimOutline outline;
  std::vector<Sample> samples;

  void add(const char* type, const std::string& name, std::function<void(UsdFile&)> write) {
    outline.attributes.push_back({type, name});
    samples.push_back({outline.attributes.back(), std::move(write)});
  }
};

/// Calls `visit` with the values of an array in their own type.
template <class Visit>
void visit_values(const NamedArray& array, Visit&& visit) {
  switch (array.type) {
    case DType::f32:
      return visit(array.as<float>());
    case DType::f64:
      return visit(array.as<double>());
    case DType::i32:
      return visit(array.as<std::int32_t>());
    case DType::i64:
      return visit(array.as<std::int64_t>());
    case DType::u32:
      return visit(array.as<std::uint32_t>());
    case DType::u64:
      return visit(array.as<std::uint64_t>());
    case DType::u8:
      return visit(array.as<std::uint8_t>());
  }
}

/// Some rows of an array: all, or those that are listed.
struct Rows {
  const NamedArray* array;
  std::span<const std::uint64_t> listed;
  std::uint64_t count;

  explicit Rows(const NamedArray& whole) : array(&whole), count(whole.count) {}
  Rows(const NamedArray& whole, std::span<const std::uint64_t> list)
      : array(&whole), listed(list), count(list.size()) {}
  std::uint64_t operator[](std::uint64_t i) const { return listed.empty() ? i : listed[i]; }
};

/// [(x,y,z),...]; a third component missing in 2D is 0.
void write_vectors(UsdFile& out, const Rows& rows) {
  visit_values(*rows.array, [&](auto values) {
    const std::uint32_t components = rows.array->components;
    out << '[';
    for (std::uint64_t i = 0; i < rows.count; ++i) {
      const auto* value = values.data() + rows[i] * components;
      out << (i == 0 ? "(" : ",(");
      for (std::uint32_t k = 0; k < 3; ++k) {
        if (k > 0) out << ',';
        out << (k < components ? static_cast<float>(value[k]) : 0.f);
      }
      out << ')';
    }
    out << ']';
  });
}

/// [a,b,...] with every number as a To.
template <class To>
void write_numbers(UsdFile& out, const Rows& rows) {
  visit_values(*rows.array, [&](auto values) {
    const std::uint32_t components = rows.array->components;
    out << '[';
    for (std::uint64_t i = 0; i < rows.count; ++i) {
      for (std::uint32_t k = 0; k < components; ++k) {
        const auto value = values[rows[i] * components + k];
        if constexpr (std::is_integral_v<To> && std::is_integral_v<std::remove_cv_t<decltype(value)>>) {
          if (!std::in_range<To>(value)) {
            throw IoError(fmt::format("USD files cannot hold {} {}: it is beyond {} (choose another format)",
                                      rows.array->name, value, std::numeric_limits<To>::max()));
          }
        }
        if (i + k > 0) out << ',';
        out << static_cast<To>(value);
      }
    }
    out << ']';
  });
}

/// The box around points of the given radius. Without points it is inverted, which USD knows as empty.
void write_extent(UsdFile& out, const Rows& points, float radius) {
  constexpr float largest = std::numeric_limits<float>::max();
  std::array<float, 3> low, high;
  low.fill(largest);
  high.fill(-largest);
  visit_values(*points.array, [&](auto values) {
    const std::uint32_t components = points.array->components;
    for (std::uint64_t i = 0; i < points.count; ++i) {
      for (std::uint32_t k = 0; k < 3; ++k) {
        const float c = k < components ? static_cast<float>(values[points[i] * components + k]) : 0.f;
        low[k] = std::min(low[k], c);
        high[k] = std::max(high[k], c);
      }
    }
  });
  if (points.count > 0) {
    for (float& c : low) c -= radius;
    for (float& c : high) c += radius;
  }
  out << "[(" << low[0] << ',' << low[1] << ',' << low[2] << "),(" << high[0] << ',' << high[1] << ',' << high[2]
      << ")]";
}

std::uint64_t hash_of(const NamedArray& array) { return XXH3_64bits(array.data.data(), array.data.size()); }

/// What all prims made of points share.
void add_points(Prim& prim, const Rows& x, const Rows* v, float radius) {
  prim.add("float3[]", "extent", [=](UsdFile& out) { write_extent(out, x, radius); });
  prim.add("point3f[]", "points", [=](UsdFile& out) { write_vectors(out, x); });
  if (v == nullptr) return;
  const Rows velocities = *v;
  prim.add("vector3f[]", "velocities", [=](UsdFile& out) { write_vectors(out, velocities); });
}

void add_points(Prim& prim, const NamedArray& x, const NamedArray& v, float radius) {
  const Rows velocities(v);
  add_points(prim, Rows(x), v.count == x.count ? &velocities : nullptr, radius);
}

/// `rows` lists which particles are the prim's; columns and list must outlive it.
Prim particles_prim(const Frame& frame, std::span<const std::uint64_t> rows, float radius) {
  Prim prim{{"", "particles", "Points", 0, {}, {}}, {}};
  const auto of = [&](const NamedArray& column) { return Rows(column, rows); };
  const Rows x = of(*frame.find("x"));
  if (const NamedArray* v = frame.find("v")) {
    const Rows velocities = of(*v);
    add_points(prim, x, &velocities, radius);
  } else {
    add_points(prim, x, nullptr, radius);
  }
  if (const NamedArray* id = frame.find("id")) {
    prim.add("int64[]", "ids", [r = of(*id)](UsdFile& out) { write_numbers<std::int64_t>(out, r); });
  }
  for (const NamedArray& column : frame.columns) {
    if (column.components != 1 || (column.type != DType::f32 && column.type != DType::f64)) continue;
    prim.add("float[]", "primvars:" + as_usd_identifier(column.name, "column"),
             [r = of(column)](UsdFile& out) { write_numbers<float>(out, r); });
  }
  return prim;
}

/// Where a rigid body is.
void add_placement(Prim& prim, const FrameMesh& mesh, std::uint64_t body) {
  const double* const row = mesh.placement.as<double>().data() + 7 * body;
  prim.add("double3", std::string(translate),
           [=](UsdFile& out) { out << '(' << row[0] << ',' << row[1] << ',' << row[2] << ')'; });
  prim.add("quatd", std::string(orient), [=](UsdFile& out) {
    out << '(' << row[3] << ',' << row[4] << ',' << row[5] << ',' << row[6] << ')';
  });
}

/// Another body of the same shape. The prim that it refers to is the nearest before it that is no copy.
Prim copy_prim(const FrameMesh& mesh, std::uint64_t body) {
  Prim prim{{"", "surface", "Mesh", 0, {}, "surface"}, {}};
  add_placement(prim, mesh, body);
  return prim;
}

Prim mesh_prim(const FrameMesh& mesh) {
  Prim prim{{"", "surface", "Mesh", hash_of(mesh.triangles) ^ hash_of(mesh.rest), {}, {}}, {}};
  const bool rigid = mesh.bodies() > 0;
  if (rigid) {
    add_placement(prim, mesh, 0);
    add_points(prim, Rows(mesh.rest), nullptr, 0);
  } else {
    add_points(prim, mesh.x, mesh.v, 0);
  }
  Rows triangles(mesh.triangles);
  if (rigid) triangles.count /= mesh.bodies();
  const std::uint64_t count = triangles.count;
  prim.add("int[]", "faceVertexCounts", [=](UsdFile& out) {
    out << '[';
    for (std::uint64_t i = 0; i < count; ++i) out << (i == 0 ? "3" : ",3");
    out << ']';
  });
  prim.add("int[]", "faceVertexIndices", [=](UsdFile& out) { write_numbers<int>(out, triangles); });
  return prim;
}

/// Twice the radii.
void write_widths(UsdFile& out, const NamedArray& radius) {
  visit_values(radius, [&](auto values) {
    out << '[';
    for (std::size_t i = 0; i < radius.count; ++i) {
      if (i > 0) out << ',';
      out << static_cast<float>(2 * values[i]);
    }
    out << ']';
  });
}

/// The largest of them, or what stands for them.
float largest_radius(const FrameCurves& curves, float otherwise) {
  if (curves.radius.count == 0) return otherwise;
  float largest = 0;
  visit_values(curves.radius, [&](auto values) {
    for (std::size_t i = 0; i < curves.radius.count; ++i) largest = std::max(largest, static_cast<float>(values[i]));
  });
  return largest;
}

Prim strands_prim(const FrameCurves& curves, float radius) {
  Prim prim{{"", "strands", "BasisCurves", hash_of(curves.sizes), {}, {}}, {}};
  add_points(prim, curves.x, curves.v, largest_radius(curves, radius));
  prim.add("int[]", "curveVertexCounts", [&curves](UsdFile& out) { write_numbers<int>(out, Rows(curves.sizes)); });
  if (curves.radius.count != 0)
    prim.add("float[]", "widths", [&curves](UsdFile& out) { write_widths(out, curves.radius); });
  return prim;
}

/// Particles sorted by object, in their order within each.
struct ByObject {
  std::vector<std::uint64_t> rows;
  std::vector<std::uint64_t> begin;  ///< of each object's rows, and the end of the last

  ByObject(const Frame& frame, std::size_t object_count) : begin(object_count + 1, 0) {
    const NamedArray& x = *frame.find("x");
    std::vector<std::size_t> objects(x.count, 0);
    if (const NamedArray* column = frame.find("object")) {
      visit_values(*column, [&](auto values) {
        for (std::size_t i = 0; i < objects.size(); ++i) objects[i] = static_cast<std::size_t>(values[i]);
      });
    }
    for (const std::size_t object : objects) {
      if (object >= object_count)
        throw Error(ExitCode::internal, "USD writer: a particle of an object that is not there");
      ++begin[object + 1];
    }
    for (std::size_t i = 0; i < object_count; ++i) begin[i + 1] += begin[i];
    rows.resize(x.count);
    std::vector<std::uint64_t> next = begin;
    for (std::size_t i = 0; i < objects.size(); ++i) rows[next[objects[i]]++] = i;
  }
  std::span<const std::uint64_t> of(std::size_t object) const {
    return std::span(rows).subspan(begin[object], begin[object + 1] - begin[object]);
  }
};

/// The list of prims at the beginning of a frame: an entry of the layer's custom data.
constexpr std::string_view outline_key = "string[] tribo_prims = [";

std::string outline_text(const PrimOutline& prim) {
  const std::string type = prim.copy_of.empty() ? prim.type : prim.type + ">" + prim.copy_of;
  std::string text = fmt::format("{} {} {} {:016x}", prim.body, prim.name, type, prim.topology);
  for (const Attribute& attribute : prim.attributes) text += " " + attribute.type + " " + attribute.name;
  return text;
}

/// The reverse, from the beginning of a frame file; throws IoError when it is not one of ours.
std::vector<PrimOutline> read_outlines(const std::string& path) {
  std::uint64_t size = 0;
  const FileDescriptor file = open_for_reading(path, size);
  std::string text;
  while (text.find("\n)\n") == std::string::npos && text.size() < size) {
    const std::size_t begin = text.size();
    text.resize(std::min<std::uint64_t>(size, std::max<std::size_t>(4096, 2 * begin)));
    read_at(file, path, begin, std::as_writable_bytes(std::span(text).subspan(begin)));
  }
  std::size_t at = text.find(outline_key);
  const std::size_t end = text.find("]\n", at == std::string::npos ? 0 : at + outline_key.size());
  if (at == std::string::npos || end == std::string::npos) {
    throw IoError("cannot use " + path + ": it is not a frame that tribo wrote (remove it, or export again)");
  }
  std::vector<PrimOutline> prims;
  while ((at = text.find('"', at)) < end) {
    const std::size_t close = text.find('"', at + 1);
    std::istringstream words(text.substr(at + 1, close - at - 1));
    PrimOutline& prim = prims.emplace_back();
    words >> prim.body >> prim.name >> prim.type >> std::hex >> prim.topology;
    if (const std::size_t mark = prim.type.find('>'); mark != std::string::npos) {
      prim.copy_of = prim.type.substr(mark + 1);
      prim.type.resize(mark);
    }
    for (Attribute attribute; words >> attribute.type >> attribute.name;) prim.attributes.push_back(attribute);
    at = close + 1;
  }
  return prims;
}

/// A prim of the top layer: the union of what frames say of it.
struct TopPrim {
  PrimOutline outline;
  std::size_t frame_count = 0;  ///< frames that have it
  bool same_topology = true;

  std::string path() const { return outline.body + "/" + outline.name; }
};

/// `places` says where in the list a prim is, by its path.
void merge(std::vector<TopPrim>& prims, std::map<std::string, std::size_t>& places, const PrimOutline& outline) {
  const auto [place, is_new] = places.emplace(outline.body + "/" + outline.name, prims.size());
  if (is_new) {
    prims.push_back({outline, 1, true});
    return;
  }
  TopPrim* const found = &prims[place->second];
  ++found->frame_count;
  if (found->outline.topology != outline.topology) found->same_topology = false;
  std::vector<Attribute>& known = found->outline.attributes;
  for (const Attribute& attribute : outline.attributes)
    if (std::find(known.begin(), known.end(), attribute) == known.end()) known.push_back(attribute);
}

/// How points are connected, as the text of a frame has it: the values of "BODY/PRIM.ATTRIBUTE". Other arrays, which
/// may be large, are skipped.
std::map<std::string, std::string> read_topology(const std::string& path) {
  std::map<std::string, std::string> values;
  std::ifstream in(path);
  std::string line, body, prim;
  bool placed = false;
  while (std::getline(in, line)) {
    const std::size_t depth = std::min(line.find_first_not_of(' '), line.size());
    if (line.compare(depth, 4, "def ") == 0) {
      const std::size_t quote = line.find('"');
      (depth == 4 ? body : prim) = line.substr(quote + 1, line.rfind('"') - quote - 1);
      placed = false;
    } else if (constexpr std::string_view tail = ".timeSamples = {"; line.ends_with(tail)) {
      const std::size_t name = line.rfind(' ', line.size() - tail.size()) + 1;
      const std::string attribute = line.substr(name, line.size() - tail.size() - name);
      placed = placed || attribute == translate;  // comes first
      if (placed ? is_shape(attribute) : is_topology(attribute)) {
        std::getline(in, line);
        const std::size_t open = std::min(line.find('['), line.size());
        values[body + "/" + prim + "." + attribute] = line.substr(open, line.rfind(']') + 1 - open);
      } else {
        in.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
      }
    }
  }
  return values;
}

class UsdWriter : public FrameWriter {
 public:
  UsdWriter(const std::string& directory, const RunInfo& info)
      : files_(directory, info.name, ".usda"), info_(info), root_(as_usd_identifier(info.name, "scene")) {
    for (const RunInfo::Body& body : info.bodies) add_body(body);
  }

  void write(const Frame& frame) override {
    if (frame.find("x") == nullptr) throw Error(ExitCode::internal, "USD writer: the frame has no positions");
    const ByObject by_object(frame, std::max<std::size_t>(frame.objects.size(), 1));
    const std::vector<Prim> prims = prims_of(frame, by_object);

    UsdFile out(files_.path_to_write(frame.number));
    out << "#usda 1.0\n(\n    customLayerData = {\n        " << outline_key;
    for (std::size_t i = 0; i < prims.size(); ++i)
      out << (i == 0 ? "\"" : ", \"") << outline_text(prims[i].outline) << '"';
    out << "]\n    }\n";
    write_stage_data(out, frame.number, frame.number);
    out << ")\n\ndef Xform \"" << root_ << "\"\n{\n";
    write_up_turn(out);
    for (std::size_t i = 0; i < prims.size(); ++i) {
      const Body* body = find_body(prims[i].outline.body);
      if (i == 0 || prims[i].outline.body != prims[i - 1].outline.body) open_body(out, prims[i].outline.body, body);
      open_prim(out, prims[i].outline, body);
      for (const Sample& sample : prims[i].samples) {
        const auto& [type, name] = sample.attribute;
        // On one line, because parsers were seen to stumble over metadata of an attribute without a value.
        if (is_interpolated(name)) out << indent(3) << type << ' ' << name << " (interpolation = \"vertex\")\n";
        out << indent(3) << type << ' ' << name << ".timeSamples = {\n" << indent(4) << frame.number << ": ";
        sample.write(out);
        out << ",\n" << indent(3) << "}\n";
      }
      out << indent(2) << "}\n";
      if (i + 1 == prims.size() || prims[i].outline.body != prims[i + 1].outline.body) out << indent(1) << "}\n";
    }
    out << "}\n";
    out.commit();
  }

  void remove_after(int frame) override {
    files_.remove_after(frame);
    // They may speak of frames that are gone; `finish` makes them anew.
    for (const std::string& path : {top_path(), manifest_path()}) {
      std::error_code error;
      std::filesystem::remove(path, error);
      if (error && error != std::errc::not_a_directory) throw io_error("remove", path, error.value());
    }
  }

  void finish() override {
    const std::vector<int> frames = files_.frames();
    if (frames.empty()) return;
    std::vector<TopPrim> prims;
    std::map<std::string, std::size_t> places;
    for (const int frame : frames)
      for (const PrimOutline& outline : read_outlines(path_of(frame))) merge(prims, places, outline);
    std::map<std::string, std::string> topology;
    const auto is_constant = [&](const TopPrim& prim) {
      return prim.same_topology && prim.frame_count == frames.size();
    };
    if (std::any_of(prims.begin(), prims.end(),
                    [&](const TopPrim& prim) { return prim.outline.type != "Points" && is_constant(prim); })) {
      topology = read_topology(path_of(frames.front()));
    }
    for (TopPrim& prim : prims) {
      prim.same_topology = is_constant(prim);
      for (const Attribute& attribute : prim.outline.attributes)
        if (prim.outline.may_be_constant(attribute.name) && !topology.contains(prim.path() + "." + attribute.name))
          prim.same_topology = false;
    }
    std::stable_sort(prims.begin(), prims.end(),
                     [&](const TopPrim& a, const TopPrim& b) { return rank(a.outline.body) < rank(b.outline.body); });
    write_manifest(prims);
    write_top(prims, topology, frames);
  }

 private:
  /// An object or a collider and the prim it becomes.
  struct Body {
    RunInfo::Body info;
    std::string identifier;
  };

  static std::string indent(int depth) { return std::string(static_cast<std::size_t>(4 * depth), ' '); }
  std::string path_of(int frame) const { return files_.directory() + "/" + files_.file_name(frame); }
  std::string top_path() const { return files_.directory() + "/" + files_.stem() + ".usda"; }
  std::string manifest_name() const { return files_.stem() + "_manifest.usda"; }
  std::string manifest_path() const { return files_.directory() + "/" + manifest_name(); }

  std::size_t add_body(const RunInfo::Body& body) {
    std::vector<std::string> taken;
    for (const Body& other : bodies_) taken.push_back(other.identifier);
    bodies_.push_back({body, not_taken(as_usd_identifier(body.name, "body"), taken)});
    return bodies_.size() - 1;
  }

  const Body* find_body(const std::string& identifier) const {
    for (const Body& body : bodies_)
      if (body.identifier == identifier) return &body;
    return nullptr;
  }
  /// Where a body stands in the list; strangers come last.
  std::size_t rank(const std::string& identifier) const {
    const Body* body = find_body(identifier);
    return body != nullptr ? static_cast<std::size_t>(body - bodies_.data()) : bodies_.size();
  }

  /// The body of that name, made when RunInfo does not know it. An object and a collider may share a name.
  std::size_t body_named(const std::string& name, bool prefer_collider) {
    std::size_t found = bodies_.size();
    for (std::size_t i = 0; i < bodies_.size(); ++i) {
      if (bodies_[i].info.name != name) continue;
      if (bodies_[i].info.collider == prefer_collider) return i;
      found = i;
    }
    if (found < bodies_.size()) return found;
    return add_body({name, "", {{0, 0, 0}}, 0, false, true});
  }

  /// Prims of a frame, body by body. An object without particles is one nevertheless, unless it is a mesh or strands.
  std::vector<Prim> prims_of(const Frame& frame, const ByObject& by_object) {
    std::vector<std::pair<std::size_t, Prim>> prims;  // with the index of the body
    for (std::size_t i = 0; i < frame.meshes.size(); ++i) {
      // Colliders are added after the objects: the last mesh of a name is the collider's, if there is one.
      const std::string& name = frame.meshes[i].name;
      const bool last = std::none_of(frame.meshes.begin() + static_cast<std::ptrdiff_t>(i) + 1, frame.meshes.end(),
                                     [&](const FrameMesh& mesh) { return mesh.name == name; });
      const std::size_t body = body_named(name, last);
      prims.emplace_back(body, mesh_prim(frame.meshes[i]));
      for (std::uint64_t b = 1; b < frame.meshes[i].bodies(); ++b)
        prims.emplace_back(body, copy_prim(frame.meshes[i], b));
    }
    for (const FrameCurves& curves : frame.curves) {
      const std::size_t body = body_named(curves.name, false);
      prims.emplace_back(body, strands_prim(curves, bodies_[body].info.radius));
    }
    const std::size_t others = prims.size();
    std::vector<std::string> objects = frame.objects;
    if (objects.empty() && !by_object.rows.empty()) objects.emplace_back("particles");
    for (std::size_t i = 0; i < objects.size(); ++i) {
      const std::size_t body = body_named(objects[i], false);
      const bool is_other = std::any_of(prims.begin(), prims.begin() + static_cast<std::ptrdiff_t>(others),
                                        [&](const auto& prim) { return prim.first == body; });
      const std::span<const std::uint64_t> rows = by_object.of(i);
      if (rows.empty() && is_other) continue;
      prims.emplace_back(body, particles_prim(frame, rows, bodies_[body].info.radius));
    }
    std::stable_sort(prims.begin(), prims.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<Prim> sorted;
    std::set<std::string> taken;
    std::string original;
    std::uint64_t copy = 1;
    for (std::size_t i = 0; i < prims.size(); ++i) {
      auto& [body, prim] = prims[i];
      if (i > 0 && prims[i - 1].first != body) taken.clear();
      prim.outline.body = bodies_[body].identifier;
      const bool copies = !prim.outline.copy_of.empty();
      if (copies) {
        // By its place among the bodies, since names tell which body is which from frame to frame.
        prim.outline.copy_of = original;
        ++copy;
        prim.outline.name = fmt::format("{}_{}", original, copy);
      } else {
        prim.outline.name = not_taken(prim.outline.name, {taken.begin(), taken.end()});
        original = prim.outline.name;
        copy = 1;
      }
      taken.insert(prim.outline.name);
      sorted.push_back(std::move(prim));
    }
    return sorted;
  }

  void write_stage_data(UsdFile& out, int first, int last) const {
    out << "    defaultPrim = \"" << root_ << "\"\n    endTimeCode = " << last
        << "\n    framesPerSecond = " << info_.fps << "\n    metersPerUnit = 1\n    startTimeCode = " << first
        << "\n    timeCodesPerSecond = " << info_.fps << "\n    upAxis = \"" << (info_.up == 'Z' ? 'Z' : 'Y') << "\"\n";
  }

  /// USD knows only Y and Z as up: what rises along X is turned to rise along Y.
  void write_up_turn(UsdFile& out) const {
    if (info_.up != 'X') return;
    out << "    float xformOp:rotateZ = 90\n    uniform token[] xformOpOrder = [\"xformOp:rotateZ\"]\n";
  }

  static void open_body(UsdFile& out, const std::string& identifier, const Body* body) {
    out << '\n' << indent(1) << "def Xform \"" << identifier << "\"\n" << indent(1) << "{\n";
    if (body == nullptr) return;
    if (!body->info.material.empty()) {
      out << indent(2) << "custom string tribo:material = " << usd_string(body->info.material) << '\n';
    }
    out << indent(2) << "custom string tribo:name = " << usd_string(body->info.name) << '\n';
    if (!body->info.visible) out << indent(2) << "token visibility = \"invisible\"\n";
  }

  /// The prim's beginning with all that does not change in time.
  void open_prim(UsdFile& out, const PrimOutline& prim, const Body* body) const {
    const auto constant = [&](std::string_view what, const auto& write_value) {
      out << indent(3) << what << " = [";
      write_value();
      out << "] (\n" << indent(4) << "interpolation = \"constant\"\n" << indent(3) << ")\n";
    };
    out << '\n' << indent(2) << "def " << prim.type << " \"" << prim.name << '"';
    if (!prim.copy_of.empty())
      out << " (\n" << indent(3) << "prepend references = </" << root_ << '/' << prim.body << '/' << prim.copy_of << ">\n"
          << indent(2) << ')';
    out << '\n' << indent(2) << "{\n";
    if (prim.placed())
      out << indent(3) << "uniform token[] xformOpOrder = [\"" << translate << "\", \"" << orient << "\"]\n";
    if (prim.type == "Mesh") {
      out << indent(3) << "uniform bool doubleSided = 1\n"
          << indent(3) << "uniform token subdivisionScheme = \"none\"\n";
    }
    if (prim.type == "BasisCurves") out << indent(3) << "uniform token type = \"linear\"\n";
    if (body == nullptr) return;
    const bool has_widths = std::any_of(prim.attributes.begin(), prim.attributes.end(),
                                        [](const Attribute& a) { return a.name == "widths"; });
    if (prim.type != "Mesh" && !has_widths && body->info.radius > 0) {
      constant("float[] widths", [&] { out << 2 * body->info.radius; });
    }
    if (info_.find(body->info.name) != nullptr) {
      const Vec<float, 3>& color = body->info.color;
      constant("color3f[] primvars:displayColor",
               [&] { out << '(' << color[0] << ", " << color[1] << ", " << color[2] << ')'; });
    }
  }

  /// Calls `open` and `close` around the prims of each body, and `each` for every prim.
  template <class Open, class Each>
  static void each_prim(UsdFile& out, const std::vector<TopPrim>& prims, const Open& open, const Each& each) {
    std::vector<std::string> done;
    for (const TopPrim& first : prims) {
      const std::string& body = first.outline.body;
      if (std::find(done.begin(), done.end(), body) != done.end()) continue;
      done.push_back(body);
      open(body);
      for (const TopPrim& prim : prims)
        if (prim.outline.body == body) each(prim);
      out << indent(1) << "}\n";
    }
  }

  /// Whether USD must look the attribute up in the frames.
  static bool is_clipped(const TopPrim& prim, const Attribute& attribute) {
    return !(prim.outline.may_be_constant(attribute.name) && prim.same_topology);
  }

  /// Lists the attributes that are in the clips, so that USD need not open them all to find out.
  void write_manifest(const std::vector<TopPrim>& prims) const {
    UsdFile out(manifest_path());
    out << "#usda 1.0\n\nover \"" << root_ << "\"\n{\n";
    each_prim(
        out, prims,
        [&](const std::string& body) { out << indent(1) << "over \"" << body << "\"\n"
                                           << indent(1) << "{\n"; },
        [&](const TopPrim& prim) {
          out << indent(2) << "over \"" << prim.outline.name << "\"\n" << indent(2) << "{\n";
          for (const Attribute& attribute : prim.outline.attributes)
            if (is_clipped(prim, attribute)) out << indent(3) << attribute.type << ' ' << attribute.name << '\n';
          out << indent(2) << "}\n";
        });
    out << "}\n";
    out.commit();
  }

  void write_top(const std::vector<TopPrim>& prims, const std::map<std::string, std::string>& topology,
                 const std::vector<int>& frames) const {
    UsdFile out(top_path());
    out << "#usda 1.0\n(\n";
    write_stage_data(out, frames.front(), frames.back());
    out << ")\n\ndef Xform \"" << root_ << "\" (\n    clips = {\n        dictionary default = {\n";
    const auto list = [&](std::string_view what, const auto& write_item) {
      out << indent(3) << what << " = [";
      for (std::size_t i = 0; i < frames.size(); ++i) {
        if (i > 0) out << ", ";
        write_item(i);
      }
      out << "]\n";
    };
    list("double2[] active", [&](std::size_t i) { out << '(' << frames[i] << ", " << i << ')'; });
    list("asset[] assetPaths", [&](std::size_t i) { out << usd_asset(files_.file_name(frames[i])); });
    out << indent(3) << "asset manifestAssetPath = " << usd_asset(manifest_name()) << '\n';
    out << indent(3) << "string primPath = \"/" << root_ << "\"\n";
    list("double2[] times", [&](std::size_t i) { out << '(' << frames[i] << ", " << frames[i] << ')'; });
    out << "        }\n    }\n)\n{\n";
    write_up_turn(out);
    each_prim(
        out, prims, [&](const std::string& body) { open_body(out, body, find_body(body)); },
        [&](const TopPrim& prim) {
          open_prim(out, prim.outline, find_body(prim.outline.body));
          for (const Attribute& attribute : prim.outline.attributes) {
            out << indent(3) << attribute.type << ' ' << attribute.name;
            if (is_interpolated(attribute.name)) out << " (interpolation = \"vertex\")";
            if (!is_clipped(prim, attribute)) out << " = " << topology.at(prim.path() + "." + attribute.name);
            out << '\n';
          }
          out << indent(2) << "}\n";
        });
    out << "}\n";
    out.commit();
  }

  FileSequence files_;
  RunInfo info_;
  std::string root_;
  std::vector<Body> bodies_;  ///< RunInfo's in their order, then others met in frames
};

}  // namespace

std::unique_ptr<FrameWriter> open_usd_writer(const std::string& directory, const RunInfo& info) {
  return std::make_unique<UsdWriter>(directory, info);
}

}  // namespace tribo

#include "tribo/io/writers/bgeo.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "tribo/io/file.h"
#include "tribo/io/writers/binary_json.h"
#include "tribo/io/writers/convert.h"
#include "tribo/io/writers/file_sequence.h"

namespace tribo {
namespace {

constexpr std::uint64_t rows_per_block = 1 << 14;
constexpr int page_size = 1024;  // of Houdini's attributes; as tuples are not split, values simply follow each other
constexpr const char* file_version = "18.0.0";  // of the Houdini that wrote such a layout

/// What is said of all points of an object or collider.
struct Body {
  std::string name;
  std::string material;
  Vec<float, 3> color = {{1, 1, 1}};
  float radius = 1;
  std::int32_t object = -1;      ///< as the column `object` counts; colliders come after the objects
  std::int32_t name_index = -1;  ///< in the table of names
};

/// Points that lie one after the other in the file: the particles, or the vertices of a mesh or of an object's strands.
struct Part {
  const NamedArray* x;
  const NamedArray* v;  ///< nullptr or no rows: at rest
  std::size_t body;     ///< of all points; not of particles, each of which knows its own
  bool particles;
  const NamedArray* radius = nullptr;  ///< of strands; nullptr or no rows: that of the body
};

/// Different strings in order of their first use.
struct StringTable {
  std::vector<std::string> strings;

  /// Houdini has no entry for the empty string: it is -1.
  std::int32_t index(const std::string& string) {
    if (string.empty()) return -1;
    const auto found = std::find(strings.begin(), strings.end(), string);
    const auto index = found - strings.begin();
    if (found == strings.end()) strings.push_back(string);
    return static_cast<std::int32_t>(index);
  }
};

template <class T>
const char* storage_name() {
  if (std::is_floating_point_v<T>) return sizeof(T) == 4 ? "fpreal32" : "fpreal64";
  return sizeof(T) == 4 ? "int32" : "int64";
}

bool is_double(const NamedArray* array) { return array != nullptr && array->type == DType::f64; }

/// One frame on its way into a file.
class Geometry {
 public:
  Geometry(AtomicFile& file, const Frame& frame, const RunInfo& info) : json_(file), frame_(frame) {
    for (std::size_t i = 0; i < frame.objects.size(); ++i) {
      bodies_.push_back(described(frame.objects[i], info));
      bodies_.back().object = static_cast<std::int32_t>(i);
    }
    parts_.push_back({frame.find("x"), frame.find("v"), 0, true});
    if (parts_.back().x == nullptr) throw Error(ExitCode::internal, "bgeo writer: the frame has no positions");
    for (const FrameCurves& curves : frame.curves)
      parts_.push_back({&curves.x, &curves.v, body_named(curves.name, info), false, &curves.radius});
    for (const FrameMesh& mesh : frame.meshes) parts_.push_back({&mesh.x, &mesh.v, body_named(mesh.name, info), false});
    for (const Part& part : parts_) point_count_ += part.x->count;
    for (const FrameCurves& curves : frame.curves) {
      vertex_count_ += curves.x.count;
      primitive_count_ += curves.sizes.count;
    }
    for (const FrameMesh& mesh : frame.meshes) {
      vertex_count_ += 3 * mesh.triangles.count;
      primitive_count_ += mesh.triangles.count;
    }
  }

  void write() {
    json_.begin_array();
    json_.word("fileversion");
    json_.text(file_version);
    json_.word("hasindex");
    json_.boolean(false);
    count("pointcount", point_count_);
    count("vertexcount", vertex_count_);
    count("primitivecount", primitive_count_);
    json_.word("info");
    json_.begin_map();
    json_.word("software");
    json_.text("tribo " TRIBO_VERSION);
    json_.word("time");
    json_.real(frame_.time);
    json_.end_map();
    write_topology();
    json_.word("attributes");
    json_.begin_array();
    write_point_attributes();
    write_primitive_attributes();
    write_global_attributes();
    json_.end_array();
    write_primitives();
    json_.end_array();
    json_.flush();
  }

 private:
  static Body described(const std::string& name, const RunInfo& info) {
    Body body;
    body.name = name;
    if (const RunInfo::Body* known = info.find(name)) {
      body.material = known->material;
      body.color = known->color;
      body.radius = known->radius;
      body.object = static_cast<std::int32_t>(known - info.bodies.data());
    }
    return body;
  }

  std::size_t body_named(const std::string& name, const RunInfo& info) {
    for (std::size_t i = 0; i < bodies_.size(); ++i)
      if (bodies_[i].name == name) return i;
    bodies_.push_back(described(name, info));
    return bodies_.size() - 1;
  }

  void count(const char* key, std::uint64_t value) {
    json_.word(key);
    json_.integer(static_cast<std::int64_t>(value));
  }

  void option(const char* key, const char* value) {
    json_.word(key);
    json_.word(value);
  }

  // Topology: which point each vertex of the primitives is at.

  void write_topology() {
    json_.word("topology");
    json_.begin_array();
    json_.word("pointref");
    json_.begin_array();
    json_.word("indices");
    if (point_count_ <= std::numeric_limits<std::int32_t>::max()) {
      write_vertices<std::int32_t>();
    } else {
      write_vertices<std::int64_t>();
    }
    json_.end_array();
    json_.end_array();
  }

  template <class Index>
  void write_vertices() {
    json_.begin_numbers<Index>(vertex_count_);
    std::vector<Index> block;
    const auto put = [&](std::uint64_t point) {
      block.push_back(static_cast<Index>(point));
      if (block.size() == rows_per_block) put_block(block);
    };
    std::uint64_t first = parts_.front().x->count;
    for (const FrameCurves& curves : frame_.curves) {
      for (std::uint64_t i = 0; i < curves.x.count; ++i) put(first + i);
      first += curves.x.count;
    }
    for (const FrameMesh& mesh : frame_.meshes) {
      const auto corners = mesh.triangles.as<std::int32_t>();
      // Seen from outside, Houdini's polygons run clockwise, ours counterclockwise.
      for (std::uint64_t i = 0; i < mesh.triangles.count; ++i)
        for (const std::size_t corner : {0, 2, 1}) put(first + static_cast<std::uint64_t>(corners[3 * i + corner]));
      first += mesh.x.count;
    }
    put_block(block);
  }

  template <class T>
  void put_block(std::vector<T>& block) {
    json_.numbers<T>(block);
    block.clear();
  }

  // Attributes: a definition and the values.

  void begin_attribute(const char* name, const char* type, const char* meaning) {
    json_.begin_array();
    json_.begin_array();
    option("scope", "public");
    option("type", type);
    option("name", name);
    json_.word("options");
    json_.begin_map();
    if (meaning != nullptr) {  // tells Houdini how to transform the numbers
      json_.word("type");
      json_.begin_map();
      option("type", "string");
      option("value", meaning);
      json_.end_map();
    }
    json_.end_map();
    json_.end_array();
    json_.begin_array();
  }

  void end_attribute() {
    json_.end_array();
    json_.end_array();
  }

  template <class T>
  void tuple(std::uint32_t size) {
    count("size", size);
    option("storage", storage_name<T>());
  }

  /// `values` writes the numbers.
  template <class T, class Values>
  void numeric(const char* name, std::uint32_t size, const char* meaning, const Values& values) {
    using Default = std::conditional_t<std::is_floating_point_v<T>, double, std::int64_t>;
    begin_attribute(name, "numeric", meaning);
    tuple<T>(size);
    json_.word("defaults");
    json_.begin_array();
    tuple<Default>(1);
    json_.word("values");
    one_number(Default(0));
    json_.end_array();
    json_.word("values");
    json_.begin_array();
    tuple<T>(size);
    count("pagesize", page_size);
    json_.word("rawpagedata");
    values();
    json_.end_array();
    end_attribute();
  }

  /// `indices` writes where in the table each string is.
  template <class Indices>
  void strings(const char* name, const StringTable& table, const Indices& indices) {
    begin_attribute(name, "string", nullptr);
    tuple<std::int32_t>(1);
    json_.word("strings");
    json_.begin_array();
    for (const std::string& string : table.strings) json_.text(string);
    json_.end_array();
    json_.word("indices");
    json_.begin_array();
    tuple<std::int32_t>(1);
    count("pagesize", page_size);
    json_.word("rawpagedata");
    indices();
    json_.end_array();
    end_attribute();
  }

  template <class T>
  void one_number(T value) {
    json_.begin_numbers<T>(1);
    json_.numbers<T>({&value, 1});
  }

  // Points.

  /// Numbers of all points, `size` each, block by block: fill(part, begin, rows, to).
  template <class T, class Fill>
  void point_values(std::uint32_t size, const Fill& fill) {
    json_.begin_numbers<T>(point_count_ * size);
    std::vector<T> block;
    for (const Part& part : parts_) {
      for (std::uint64_t begin = 0; begin < part.x->count; begin += rows_per_block) {
        const std::uint64_t rows = std::min(rows_per_block, part.x->count - begin);
        block.resize(rows * size);
        fill(part, begin, rows, block.data());
        put_block(block);
      }
    }
  }

  /// A vector that every part has, in the precision of the finest.
  void point_vectors(const char* name, const char* meaning, const NamedArray* Part::*column) {
    const auto write_as = [&]<class T>(T) {
      numeric<T>(name, 3, meaning, [&] {
        point_values<T>(3, [&](const Part& part, std::uint64_t begin, std::uint64_t rows, T* to) {
          const NamedArray* array = part.*column;
          if (array != nullptr && array->count == part.x->count) {
            convert_rows(*array, begin, rows, 3, to);
          } else {
            std::fill_n(to, 3 * rows, T(0));
          }
        });
      });
    };
    if (std::any_of(parts_.begin(), parts_.end(), [&](const Part& part) { return is_double(part.*column); })) {
      write_as(double());
    } else {
      write_as(float());
    }
  }

  /// A column of the particles; other points get `otherwise`.
  template <class T>
  void particle_numbers(const char* name, const NamedArray& column, T otherwise) {
    numeric<T>(name, 1, nullptr, [&] {
      point_values<T>(1, [&](const Part& part, std::uint64_t begin, std::uint64_t rows, T* to) {
        if (part.particles) {
          convert_rows(column, begin, rows, 1, to);
        } else {
          std::fill_n(to, rows, otherwise);
        }
      });
    });
  }

  /// Numbers that follow from the body a point belongs to: put(body, to); or which a part has itself.
  template <class T, class Put>
  void body_values(std::uint32_t size, const Put& put, const NamedArray* Part::*own = nullptr) {
    const NamedArray* object = frame_.find("object");
    const Body none;
    std::vector<std::int64_t> indices;
    point_values<T>(size, [&](const Part& part, std::uint64_t begin, std::uint64_t rows, T* to) {
      if (own != nullptr && part.*own != nullptr && (part.*own)->count > 0)
        return convert_rows(*(part.*own), begin, rows, size, to);
      indices.assign(rows, part.particles ? -1 : static_cast<std::int64_t>(part.body));
      if (part.particles && object != nullptr) convert_rows(*object, begin, rows, 1, indices.data());
      for (std::uint64_t i = 0; i < rows; ++i)
        put(indices[i] < 0 ? none : bodies_[static_cast<std::size_t>(indices[i])], to + i * size);
    });
  }

  void write_point_attributes() {
    json_.word("pointattributes");
    json_.begin_array();
    point_vectors("P", "point", &Part::x);
    if (std::any_of(parts_.begin(), parts_.end(), [](const Part& part) { return part.v && part.v->count > 0; }))
      point_vectors("v", "vector", &Part::v);
    if (const NamedArray* id = frame_.find("id")) {
      if (all_fit<std::int32_t>(*id)) {
        particle_numbers<std::int32_t>("id", *id, -1);
      } else if (all_fit<std::int64_t>(*id)) {
        particle_numbers<std::int64_t>("id", *id, -1);
      } else {
        throw IoError("bgeo files cannot hold ids of 2^63 and above (choose another format)");
      }
    }
    numeric<std::int32_t>("object", 1, nullptr,
                          [&] { body_values<std::int32_t>(1, [](const Body& b, auto* to) { *to = b.object; }); });
    numeric<float>("pscale", 1, nullptr, [&] {
      body_values<float>(
          1, [](const Body& b, float* to) { *to = b.radius; }, &Part::radius);
    });
    numeric<float>("Cd", 3, "color", [&] {
      body_values<float>(3, [](const Body& b, float* to) { std::copy(b.color.c, b.color.c + 3, to); });
    });
    StringTable names;
    for (Body& body : bodies_) body.name_index = names.index(body.name);
    strings("name", names, [&] { body_values<std::int32_t>(1, [](const Body& b, auto* to) { *to = b.name_index; }); });
    write_materials();
    for (const auto& [name, otherwise] : {std::pair{"J", 1.0}, std::pair{"strain", 0.0}}) {
      const NamedArray* column = frame_.find(name);
      if (column == nullptr) continue;
      if (is_double(column)) {
        particle_numbers<double>(name, *column, otherwise);
      } else {
        particle_numbers<float>(name, *column, static_cast<float>(otherwise));
      }
    }
    json_.end_array();
  }

  /// Particles know their material; of other bodies it is the one that the scene gives them.
  void write_materials() {
    StringTable table;
    std::vector<std::int32_t> of_material;
    for (const std::string& material : frame_.materials) of_material.push_back(table.index(material));
    for (const Body& body : bodies_) table.index(body.material);
    const NamedArray* material = frame_.find("material");
    strings("material", table, [&] {
      point_values<std::int32_t>(1, [&](const Part& part, std::uint64_t begin, std::uint64_t rows, std::int32_t* to) {
        std::fill_n(to, rows, part.particles ? -1 : table.index(bodies_[part.body].material));
        if (!part.particles || material == nullptr) return;
        convert_rows(*material, begin, rows, 1, to);
        for (std::uint64_t i = 0; i < rows; ++i) to[i] = of_material[static_cast<std::size_t>(to[i])];
      });
    });
  }

  // Primitives: strands, then triangles.

  void write_primitive_attributes() {
    if (primitive_count_ == 0) return;
    json_.word("primitiveattributes");
    json_.begin_array();
    StringTable names;
    for (const FrameCurves& curves : frame_.curves) names.index(curves.name);
    for (const FrameMesh& mesh : frame_.meshes) names.index(mesh.name);
    strings("name", names, [&] {
      json_.begin_numbers<std::int32_t>(primitive_count_);
      for (const FrameCurves& curves : frame_.curves) repeat(names.index(curves.name), curves.sizes.count);
      for (const FrameMesh& mesh : frame_.meshes) repeat(names.index(mesh.name), mesh.triangles.count);
    });
    json_.end_array();
  }

  void repeat(std::int32_t value, std::uint64_t times) {
    const std::vector<std::int32_t> block(std::min(times, rows_per_block), value);
    for (std::uint64_t begin = 0; begin < times; begin += rows_per_block)
      json_.numbers<std::int32_t>(std::span(block).first(std::min(rows_per_block, times - begin)));
  }

  void write_primitives() {
    json_.word("primitives");
    json_.begin_array();
    std::uint64_t vertex = 0;
    for (const FrameCurves& curves : frame_.curves) {
      std::vector<std::int32_t> runs;  // how many points, how many such strands
      for (const std::int32_t size : curves.sizes.as<std::int32_t>()) {
        if (runs.empty() || runs[runs.size() - 2] != size) runs.insert(runs.end(), {size, 0});
        ++runs.back();
      }
      polygons("PolygonCurve_run", vertex, curves.sizes.count, runs);
      vertex += curves.x.count;
    }
    for (const FrameMesh& mesh : frame_.meshes) {
      polygons("Polygon_run", vertex, mesh.triangles.count, {3, static_cast<std::int32_t>(mesh.triangles.count)});
      vertex += 3 * mesh.triangles.count;
    }
    json_.end_array();
  }

  void polygons(const char* type, std::uint64_t first_vertex, std::uint64_t number,
                const std::vector<std::int32_t>& runs) {
    if (number == 0) return;
    json_.begin_array();
    json_.begin_array();
    option("type", type);
    json_.end_array();
    json_.begin_array();
    count("startvertex", first_vertex);
    count("nprimitives", number);
    json_.word("nvertices_rle");
    json_.begin_numbers<std::int32_t>(runs.size());
    json_.numbers<std::int32_t>(runs);
    json_.end_array();
    json_.end_array();
  }

  void write_global_attributes() {
    json_.word("globalattributes");
    json_.begin_array();
    numeric<double>("time", 1, nullptr, [&] { one_number(frame_.time); });
    numeric<std::int32_t>("frame", 1, nullptr, [&] { one_number(std::int32_t{frame_.number}); });
    json_.end_array();
  }

  BinaryJson json_;
  const Frame& frame_;
  std::vector<Body> bodies_;  ///< the frame's objects, then what else has meshes or strands
  std::vector<Part> parts_;
  std::uint64_t point_count_ = 0, vertex_count_ = 0, primitive_count_ = 0;
};

class BgeoWriter : public FrameWriter {
 public:
  BgeoWriter(const std::string& directory, RunInfo info)
      : files_(directory, info.name, ".bgeo"), info_(std::move(info)) {}

  void write(const Frame& frame) override {
    AtomicFile file(files_.path_to_write(frame.number));
    Geometry(file, frame, info_).write();
    file.commit();
  }

  void remove_after(int frame) override { files_.remove_after(frame); }

 private:
  FileSequence files_;
  RunInfo info_;
};

}  // namespace

std::unique_ptr<FrameWriter> open_bgeo_writer(const std::string& directory, const RunInfo& info) {
  return std::make_unique<BgeoWriter>(directory, info);
}

}  // namespace tribo

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <variant>

#include "scratch.h"
#include "tribo/io/writer.h"

namespace tribo {
namespace {

/// A value of binary JSON. Arrays of numbers, uniform or not, become plain arrays; numbers become doubles, which hold
/// every integer of these tests.
struct Json {
  std::variant<double, bool, std::string, std::vector<Json>> value;
  std::string id;  ///< the type numbers had in the file, also of the numbers of a uniform array

  const std::vector<Json>& items() const { return std::get<std::vector<Json>>(value); }
  const std::string& text() const { return std::get<std::string>(value); }
  double number() const { return std::get<double>(value); }
  const Json& operator[](std::size_t i) const { return items().at(i); }
  /// Of a map or a list of keys and values.
  const Json* find(const std::string& key) const {
    for (std::size_t i = 0; i + 1 < items().size(); i += 2)
      if (items()[i].text() == key) return &items()[i + 1];
    return nullptr;
  }
  const Json& at(const std::string& key) const {
    if (const Json* found = find(key)) return *found;
    throw std::runtime_error("no key " + key);
  }
  std::vector<double> numbers() const {
    std::vector<double> all;
    for (const Json& item : items()) all.push_back(item.number());
    return all;
  }
};

class Reader {
 public:
  explicit Reader(std::string bytes) : bytes_(std::move(bytes)) {}

  Json document() {
    EXPECT_EQ(take(5), "\x7fNSJb");
    Json json = value();
    EXPECT_EQ(at_, bytes_.size());
    return json;
  }

 private:
  std::string take(std::size_t size) {
    if (at_ + size > bytes_.size()) throw std::runtime_error("cut short");
    at_ += size;
    return bytes_.substr(at_ - size, size);
  }
  template <class T>
  T raw() {
    T value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  std::uint64_t length() {
    const auto first = raw<std::uint8_t>();
    if (first < 0xf1) return first;
    if (first == 0xf2) return raw<std::uint16_t>();
    if (first == 0xf4) return raw<std::uint32_t>();
    return raw<std::uint64_t>();
  }
  int id() {
    int kind = raw<std::uint8_t>();
    for (; kind == 0x2b; kind = raw<std::uint8_t>()) {
      const std::uint64_t word = length();
      words_[word] = take(length());
    }
    return kind;
  }
  Json number(int kind) {
    switch (kind) {
      case 0x11:
        return {double(raw<std::int8_t>()), "int8"};
      case 0x12:
        return {double(raw<std::int16_t>()), "int16"};
      case 0x13:
        return {double(raw<std::int32_t>()), "int32"};
      case 0x14:
        return {double(raw<std::int64_t>()), "int64"};
      case 0x19:
        return {double(raw<float>()), "fpreal32"};
      case 0x1a:
        return {raw<double>(), "fpreal64"};
      default:
        throw std::runtime_error("unknown kind " + std::to_string(kind));
    }
  }
  Json value() { return value(id()); }
  Json value(int kind) {
    if (kind == 0x26) return {words_.at(length()), ""};
    if (kind == 0x27) return {take(length()), ""};
    if (kind == 0x30 || kind == 0x31) return {kind == 0x31, ""};
    if (kind == 0x40) {
      kind = raw<std::uint8_t>();
      std::vector<Json> items(length());
      for (Json& item : items) item = number(kind);
      return {std::move(items), ""};
    }
    if (kind != 0x5b && kind != 0x7b) return number(kind);
    std::vector<Json> items;
    for (int next = id(); next != kind + 2; next = id()) items.push_back(value(next));
    return {std::move(items), ""};
  }

  std::string bytes_;
  std::size_t at_ = 0;
  std::map<std::uint64_t, std::string> words_;
};

/// An attribute as a list of numbers or of strings.
struct Attribute {
  double size = 0;
  std::string storage;
  std::vector<double> numbers;
  std::vector<std::string> strings;
};

struct Bgeo {
  Json json;
  std::map<std::string, Attribute> point, primitive, global;

  explicit Bgeo(const std::string& path) : json(Reader(read_bytes(path)).document()) {
    const Json& attributes = json.at("attributes");
    point = read(attributes.at("pointattributes"));
    if (const Json* list = attributes.find("primitiveattributes")) primitive = read(*list);
    global = read(attributes.at("globalattributes"));
  }

  static std::map<std::string, Attribute> read(const Json& list) {
    std::map<std::string, Attribute> all;
    for (const Json& item : list.items()) {
      const bool is_string = item[0].at("type").text() == "string";
      const Json& values = item[1].at(is_string ? "indices" : "values");
      Attribute attribute{
          values.at("size").number(), values.at("storage").text(), values.at("rawpagedata").numbers(), {}};
      for (const Json& number : values.at("rawpagedata").items()) EXPECT_EQ(number.id, attribute.storage);
      if (is_string) {
        const Json& strings = item[1].at("strings");
        for (const double index : attribute.numbers)
          attribute.strings.push_back(index < 0 ? "" : strings[static_cast<std::size_t>(index)].text());
      }
      EXPECT_TRUE(all.emplace(item[0].at("name").text(), attribute).second);
    }
    return all;
  }

  std::vector<double> counts() const {
    return {json.at("pointcount").number(), json.at("vertexcount").number(), json.at("primitivecount").number()};
  }
  std::vector<double> vertices() const { return json.at("topology").at("pointref").at("indices").numbers(); }
};

const WriterEntry& bgeo() {
  for (const WriterEntry& entry : all_writers())
    if (entry.name == std::string("bgeo")) return entry;
  throw std::logic_error("no writer");
}

RunInfo some_info() {
  RunInfo info;
  info.name = "scene";
  info.bodies = {{"jello", "jelly", {{0.25f, 0.5f, 1}}, 0.01f},
                 {"sand", "dry_sand", {{1, 0.75f, 0}}, 0.02f},
                 {"floor", "", {{0.5f, 0.5f, 0.5f}}, 0, true}};
  return info;
}

Bgeo written(const Frame& frame, const RunInfo& info = some_info()) {
  const Scratch dir;
  bgeo().open(dir / "out", info)->write(frame);
  EXPECT_EQ(listing(dir / "out").size(), 1u);
  return Bgeo(dir / "out/" + listing(dir / "out").at(0));
}

using Numbers = std::vector<double>;
using Strings = std::vector<std::string>;

template <class T>
Numbers doubles(const NamedArray& array) {
  const auto values = array.as<T>();
  return {values.begin(), values.end()};
}

TEST(BgeoWriter, holds_every_column) {
  Frame frame = some_frame(12, 40000);  // several blocks
  std::vector<float> strain(40000);
  for (std::size_t i = 0; i < strain.size(); ++i) strain[i] = 1e-3f * static_cast<float>(i);
  frame.columns.push_back(array_of("strain", 1, strain));
  Bgeo file = written(frame);
  EXPECT_EQ(file.counts(), (Numbers{40000, 0, 0}));
  EXPECT_TRUE(file.vertices().empty());
  EXPECT_TRUE(file.json.at("primitives").items().empty());
  EXPECT_TRUE(file.primitive.empty());
  EXPECT_EQ(file.point["P"].storage, "fpreal32");
  EXPECT_EQ(file.point["P"].size, 3);
  EXPECT_EQ(file.point["P"].numbers, doubles<float>(*frame.find("x")));
  EXPECT_EQ(file.point["v"].numbers, doubles<float>(*frame.find("v")));
  EXPECT_EQ(file.point["id"].storage, "int32");
  EXPECT_EQ(file.point["id"].numbers, doubles<std::uint32_t>(*frame.find("id")));
  EXPECT_EQ(file.point["J"].numbers, doubles<float>(*frame.find("J")));
  EXPECT_EQ(file.point["strain"].numbers, doubles<float>(*frame.find("strain")));
  EXPECT_EQ(file.point["object"].numbers, doubles<std::int32_t>(*frame.find("object")));
  EXPECT_EQ(file.point["Cd"].numbers.size(), 120000u);
  for (const std::size_t i : {0u, 1u, 16383u, 16384u, 39999u}) {
    const bool sand = i % 2 == 1;
    EXPECT_EQ(file.point["name"].strings[i], sand ? "sand" : "jello");
    EXPECT_EQ(file.point["material"].strings[i], sand ? "dry_sand" : "jelly");
    EXPECT_EQ(file.point["pscale"].numbers[i], sand ? 0.02f : 0.01f);
    EXPECT_EQ(file.point["Cd"].numbers[3 * i + 1], sand ? 0.75 : 0.5);
  }
  EXPECT_EQ(file.global["time"].numbers, Numbers{0.5});
  EXPECT_EQ(file.global["frame"].numbers, Numbers{12});
}

TEST(BgeoWriter, keeps_doubles_and_two_dimensions) {
  Frame frame;
  frame.columns = {array_of<double>("x", 2, {0.1, 0.2, 0.3, 0.4}), array_of<double>("v", 2, {1.1, 1.2, 1.3, 1.4}),
                   array_of<double>("J", 1, {0.9, 1.1})};
  Bgeo file = written(frame);
  EXPECT_EQ(file.point["P"].storage, "fpreal64");
  EXPECT_EQ(file.point["P"].numbers, (Numbers{0.1, 0.2, 0, 0.3, 0.4, 0}));
  EXPECT_EQ(file.point["v"].storage, "fpreal64");
  EXPECT_EQ(file.point["v"].numbers, (Numbers{1.1, 1.2, 0, 1.3, 1.4, 0}));
  EXPECT_EQ(file.point["J"].numbers, (Numbers{0.9, 1.1}));
  EXPECT_EQ(file.point["name"].strings, (Strings{"", ""}));  // it has no objects
  EXPECT_FALSE(file.point.contains("id"));
}

TEST(BgeoWriter, takes_ids_of_any_integer_type) {
  Frame frame;
  const auto id_of = [&](const NamedArray& id) {
    frame.columns = {array_of<float>("x", 3, {0, 0, 0, 1, 1, 1}), id};
    return written(frame).point["id"];
  };
  EXPECT_EQ(id_of(array_of<std::uint8_t>("id", 1, {7, 255})).storage, "int32");
  EXPECT_EQ(id_of(array_of<std::uint64_t>("id", 1, {7, 2147483647})).storage, "int32");
  for (const Attribute& id : {id_of(array_of<std::uint32_t>("id", 1, {7, 2147483648u})),
                              id_of(array_of<std::uint64_t>("id", 1, {7, 2147483648u})),
                              id_of(array_of<std::int64_t>("id", 1, {7, 2147483648}))}) {
    EXPECT_EQ(id.storage, "int64");
    EXPECT_EQ(id.numbers, (Numbers{7, 2147483648}));
  }
  EXPECT_EQ(id_of(array_of<std::int64_t>("id", 1, {-1, std::int64_t{1} << 62})).numbers[1], 0x1p62);
  const Scratch dir;
  frame.columns.back() = array_of<std::uint64_t>("id", 1, {7, std::uint64_t{1} << 63});
  EXPECT_TRUE(contains(io_error_of([&] { bgeo().open(dir / "out", some_info())->write(frame); }), "2^63"));
  EXPECT_TRUE(listing(dir / "out").empty());
}

TEST(BgeoWriter, holds_no_points) {
  Frame frame;
  frame.objects = {"jello"};
  frame.columns = {array_of<float>("x", 3, {}), array_of<float>("v", 3, {}), array_of<std::int32_t>("id", 1, {})};
  Bgeo file = written(frame);
  EXPECT_EQ(file.counts(), (Numbers{0, 0, 0}));
  EXPECT_EQ(file.point["P"].size, 3);
}

/// One particle, three strands of two lengths, and a triangle.
Frame mixed_frame() {
  Frame frame;
  frame.objects = {"jello", "hair"};
  frame.materials = {"jelly"};
  frame.columns = {array_of<float>("x", 3, {1, 2, 3}), array_of<std::int32_t>("id", 1, {5}),
                   array_of<std::int32_t>("object", 1, {0}), array_of<std::int32_t>("material", 1, {0}),
                   array_of<float>("J", 1, {0.5f})};
  FrameCurves hair{"hair", array_of<double>("x", 3, std::vector<double>(21, 0.1)), array_of<double>("v", 3, {}),
                   array_of<std::int32_t>("sizes", 1, {2, 2, 3})};
  FrameMesh floor{"floor", array_of<float>("x", 3, {0, 0, 0, 1, 0, 0, 0, 0, -1}),
                  array_of<float>("v", 3, {0, 1, 0, 0, 1, 0, 0, 1, 0}),
                  array_of<std::int32_t>("triangles", 3, {0, 1, 2})};
  frame.curves = {hair};
  frame.meshes = {floor};
  return frame;
}

TEST(BgeoWriter, puts_strands_and_meshes_beside_particles) {
  Bgeo file = written(mixed_frame());
  EXPECT_EQ(file.counts(), (Numbers{11, 10, 4}));
  // Points: the particle, seven of the strands, three of the triangle, which turns the other way in Houdini.
  EXPECT_EQ(file.vertices(), (Numbers{1, 2, 3, 4, 5, 6, 7, 8, 10, 9}));
  EXPECT_EQ(file.point["P"].storage, "fpreal64");  // as the finest
  EXPECT_EQ(Numbers(file.point["P"].numbers.begin(), file.point["P"].numbers.begin() + 4), (Numbers{1, 2, 3, 0.1}));
  EXPECT_EQ(file.point["P"].numbers.back(), -1);
  EXPECT_EQ(file.point["v"].storage, "fpreal64");
  EXPECT_EQ(file.point["v"].numbers[3 * 10 + 1], 1);
  EXPECT_EQ(file.point["v"].numbers[3 * 7 + 1], 0);
  EXPECT_EQ(file.point["id"].numbers, (Numbers{5, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1}));
  EXPECT_EQ(file.point["object"].numbers, (Numbers{0, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2}));
  EXPECT_EQ(file.point["J"].numbers, (Numbers{0.5, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}));
  EXPECT_EQ(file.point["name"].strings[1], "hair");
  EXPECT_EQ(file.point["name"].strings[10], "floor");
  EXPECT_EQ(file.point["material"].strings[0], "jelly");
  EXPECT_EQ(file.point["material"].strings[10], "");
  EXPECT_EQ(file.primitive["name"].strings, (Strings{"hair", "hair", "hair", "floor"}));

  const Json& primitives = file.json.at("primitives");
  ASSERT_EQ(primitives.items().size(), 2u);
  EXPECT_EQ(primitives[0][0].at("type").text(), "PolygonCurve_run");
  EXPECT_EQ(primitives[0][1].at("startvertex").number(), 0);
  EXPECT_EQ(primitives[0][1].at("nprimitives").number(), 3);
  EXPECT_EQ(primitives[0][1].at("nvertices_rle").numbers(), (Numbers{2, 2, 3, 1}));
  EXPECT_EQ(primitives[1][0].at("type").text(), "Polygon_run");
  EXPECT_EQ(primitives[1][1].at("startvertex").number(), 7);
  EXPECT_EQ(primitives[1][1].at("nprimitives").number(), 1);
  EXPECT_EQ(primitives[1][1].at("nvertices_rle").numbers(), (Numbers{3, 1}));
}

TEST(BgeoWriter, takes_meshes_of_any_size) {
  Frame frame = mixed_frame();
  frame.curves.clear();
  std::vector<std::int32_t> triangles;
  for (int i = 0; i < 20000; ++i) triangles.insert(triangles.end(), {0, 1, 2});
  frame.meshes[0].triangles = array_of("triangles", 3, triangles);
  Bgeo file = written(frame);
  EXPECT_EQ(file.counts(), (Numbers{4, 60000, 20000}));
  EXPECT_EQ(file.vertices().size(), 60000u);
  EXPECT_EQ(file.primitive["name"].strings.size(), 20000u);
  EXPECT_EQ(file.json.at("primitives")[0][1].at("nvertices_rle").numbers(), (Numbers{3, 20000}));
  frame.meshes[0].triangles = array_of<std::int32_t>("triangles", 3, {});  // points only
  file = written(frame);
  EXPECT_EQ(file.counts(), (Numbers{4, 0, 0}));
  EXPECT_TRUE(file.json.at("primitives").items().empty());
}

TEST(BgeoWriter, takes_any_name) {
  Frame frame = some_frame(0, 4);
  frame.objects = {"two\nlines \"quoted\" \xc3\xa9", std::string(300, 'x')};
  frame.materials = {"", "[]"};
  RunInfo info = some_info();
  info.name = "a/../b";
  Bgeo file = written(frame, info);
  EXPECT_EQ(file.point["name"].strings,
            (Strings{frame.objects[0], frame.objects[1], frame.objects[0], frame.objects[1]}));
  EXPECT_EQ(file.point["material"].strings, (Strings{"[]", "", "[]", ""}));
}

TEST(BgeoWriter, removes_later_frames_and_reports_what_fails) {
  const Scratch dir;
  const auto out = bgeo().open(dir / "out", some_info());
  for (const int number : {0, 3, 7}) out->write(some_frame(number, 3));
  out->remove_after(3);
  EXPECT_EQ(listing(dir / "out"), (Strings{"scene_000000.bgeo", "scene_000003.bgeo"}));
  write_bytes(dir / "file", "x");
  const auto blocked = bgeo().open(dir / "file", some_info());
  EXPECT_TRUE(contains(io_error_of([&] { blocked->write(some_frame(0, 3)); }), "Not a directory"));
}

}  // namespace
}  // namespace tribo

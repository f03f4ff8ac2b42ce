#include "tribo/mesh/solid.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <map>
#include <numeric>

#include "tribo/mesh/words.h"

namespace tribo {
namespace {

using P = Vec<double, 3>;

std::string place_text(const P& p) { return fmt::format("({:.6g}, {:.6g}, {:.6g})", p[0], p[1], p[2]); }
std::string plural(std::size_t n, const char* noun) { return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s"); }

/// Of a face that cannot be cut into a fan: finding where to cut may take time as the cube of their number.
constexpr std::size_t most_corners = 512;
constexpr double largest_coordinate = 1e12;  // squares and cubes of it are still far from the end of a double

class SolidMaker {
 public:
  SolidMaker(const Polygons& polygons, double scale, const std::string& file)
      : polygons_(polygons), scale_(scale), file_(file) {
    if (polygons.face_count() == 0) fail("holds no faces");
    join_vertices();
    triangulate();
    if (mesh().triangles.empty()) fail("none of its faces has an area");
    solid_.given = mesh().triangles.size();
    list_sides();
    if (close_holes()) list_sides();
    check_edges();
    orient();
    measure();
  }
  Solid take() { return std::move(solid_); }

 private:
  SurfaceMesh& mesh() { return solid_.mesh; }
  [[noreturn]] void fail(const std::string& message) const { fail_in_file(file_, message); }

  /// Vertices in one place become one, as files that give every face corners of its own need it. In the order of the
  /// file.
  void join_vertices() {
    const std::size_t n = polygons_.vertices.size();
    std::vector<P> at(n);
    for (std::size_t i = 0; i < n; ++i)
      for (int k = 0; k < 3; ++k) {
        at[i][k] = scale_ * polygons_.vertices[i][k] + 0.0;  // + 0: no two zeros
        if (!(std::abs(at[i][k]) < largest_coordinate))
          fail(fmt::format("vertex {} lies {:.3g} m away; use a smaller scale", i + 1, at[i][k]));
      }
    const auto before = [&](std::size_t a, std::size_t b) {
      return std::lexicographical_compare(at[a].c, at[a].c + 3, at[b].c, at[b].c + 3);
    };
    std::vector<std::size_t> order(n);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), before);
    std::vector<std::size_t> twin(n);  // the first vertex in the same place
    for (std::size_t i = 0; i < n; ++i)
      twin[order[i]] = i > 0 && !before(order[i - 1], order[i]) ? twin[order[i - 1]] : order[i];
    joined_.resize(n);
    for (std::size_t i = 0; i < n; ++i) joined_[i] = twin[i] == i ? mesh().add(at[i]) : joined_[twin[i]];
  }

  void triangulate() {
    std::vector<std::int32_t> face;
    std::size_t flat = 0;
    for (std::size_t f = 0; f < polygons_.face_count(); ++f) {
      face.clear();
      for (std::size_t c = polygons_.begin[f]; c < polygons_.begin[f + 1]; ++c) {
        const std::int64_t index = polygons_.corners[c];
        if (index < 0 || index >= static_cast<std::int64_t>(joined_.size()))
          fail(fmt::format("face {} refers to vertex {}, of {} there are", f + 1, index + 1, joined_.size()));
        const std::int32_t v = joined_[static_cast<std::size_t>(index)];
        if (face.empty() || face.back() != v) face.push_back(v);
      }
      while (face.size() > 1 && face.front() == face.back()) face.pop_back();
      if (face.size() < 3) {  // collapsed: its two sides cancel
        ++flat;
        continue;
      }
      cut(face, f);
    }
    if (flat > 0) solid_.notes.push_back(plural(flat, "face") + " without an area left out");
  }

  void add_triangle(std::int32_t a, std::int32_t b, std::int32_t c, std::size_t face) {
    if (a == b || b == c || c == a) return;
    mesh().triangles.push_back({{a, b, c}});
    face_of_.push_back(face);
  }

  /// A fan about the first corner where all of the face is seen from there; else cuts ears off until a triangle is
  /// left. Corners are compared in the plane that shows most of the face.
  void cut(std::vector<std::int32_t>& face, std::size_t number) {
    P normal = P::zero();
    const P origin = mesh().vertices[static_cast<std::size_t>(face[0])];
    const auto at = [&](std::int32_t v) { return mesh().vertices[static_cast<std::size_t>(v)] - origin; };
    for (std::size_t i = 0; i < face.size(); ++i) normal += cross(at(face[i]), at(face[(i + 1) % face.size()]));
    int axis = 0;
    for (int k = 1; k < 3; ++k)
      if (std::abs(normal[k]) > std::abs(normal[axis])) axis = k;
    const int u = (axis + 1) % 3, v = (axis + 2) % 3;
    const double sign = normal[axis] < 0 ? -1 : 1;
    const auto area = [&](std::int32_t a, std::int32_t b, std::int32_t c) {
      const P p = at(b) - at(a), q = at(c) - at(a);
      return sign * (p[u] * q[v] - p[v] * q[u]);
    };
    bool fan = true;
    for (std::size_t i = 1; i + 1 < face.size() && fan; ++i) fan = area(face[0], face[i], face[i + 1]) > 0;
    if (fan) {
      for (std::size_t i = 1; i + 1 < face.size(); ++i) add_triangle(face[0], face[i], face[i + 1], number);
      return;
    }
    if (face.size() > most_corners)
      fail(fmt::format("face {} has {} corners and is not convex; cut it into triangles", number + 1, face.size()));
    const auto is_ear = [&](std::size_t i) {
      const std::size_t n = face.size();
      const std::int32_t a = face[(i + n - 1) % n], b = face[i], c = face[(i + 1) % n];
      if (!(area(a, b, c) > 0)) return false;
      for (const std::int32_t other : face) {
        if (other == a || other == b || other == c) continue;
        if (area(a, b, other) >= 0 && area(b, c, other) >= 0 && area(c, a, other) >= 0) return false;
      }
      return true;
    };
    std::size_t next = 1;
    while (face.size() > 3) {
      const std::size_t n = face.size();
      std::size_t ear = next % n;
      for (std::size_t tried = 0; tried < n && !is_ear(ear); ++tried) ear = (ear + 1) % n;
      // Where no corner is an ear the face is bent or crosses itself; any cut keeps the surface closed.
      add_triangle(face[(ear + n - 1) % n], face[ear], face[(ear + 1) % n], number);
      face.erase(face.begin() + static_cast<std::ptrdiff_t>(ear));
      next = ear == 0 ? 1 : ear;
    }
    add_triangle(face[0], face[1], face[2], number);
  }

  /// A side of a triangle; the two ends in ascending order.
  struct Side {
    std::int32_t low, high;
    std::uint32_t triangle;
    bool forward;  ///< the triangle walks it from low to high
  };

  /// The triangles' sides, grouped by edge.
  void list_sides() {
    sides_.clear();
    for (std::uint32_t t = 0; t < mesh().triangles.size(); ++t)
      for (int k = 0; k < 3; ++k) {
        const std::int32_t a = mesh().triangles[t][k], b = mesh().triangles[t][(k + 1) % 3];
        sides_.push_back({std::min(a, b), std::max(a, b), t, a < b});
      }
    std::sort(sides_.begin(), sides_.end(), [](const Side& a, const Side& b) {
      return std::tie(a.low, a.high, a.triangle) < std::tie(b.low, b.high, b.triangle);
    });
  }

  /// Edges with one face only are rims. An even number of them meets at each vertex: whoever walks along comes back.
  /// Each rim gets a fan about the middle of its vertices. False where there is none.
  bool close_holes() {
    struct Open {
      std::int32_t to;
      std::size_t edge;
    };
    std::vector<Side> rims;
    each_edge([&](std::size_t begin, std::size_t end) {
      if (end - begin == 1) rims.push_back(sides_[begin]);
    });
    if (rims.empty() || has_odd_edge()) return false;  // where three meet check_edges fails
    std::map<std::int32_t, std::vector<Open>> at;
    for (std::size_t i = 0; i < rims.size(); ++i) {
      at[rims[i].low].push_back({rims[i].high, i});
      at[rims[i].high].push_back({rims[i].low, i});
    }
    std::vector<char> used(rims.size(), 0);
    std::size_t holes = 0;
    double widest = 0;
    for (std::size_t start = 0; start < rims.size(); ++start) {
      if (used[start] != 0) continue;
      std::vector<std::size_t> edges;
      std::vector<std::int32_t> rim{rims[start].low};
      for (bool on = true; on;) {
        on = false;
        for (const Open& open : at[rim.back()]) {
          if (used[open.edge] != 0) continue;
          used[open.edge] = 1;
          edges.push_back(open.edge);
          rim.push_back(open.to);
          on = rim.back() != rim.front();
          break;
        }
      }
      ++holes;
      widest = std::max(widest, close(rim, face_of_[rims[edges.front()].triangle]));
    }
    solid_.notes.push_back(
        fmt::format("is open: {} of up to {:.3g} m closed by flat fans of triangles, on which no hair "
                    "grows; where that is not meant, fill the holes or join vertices that should be one",
                    plural(holes, "hole"), widest));
    return true;
  }
  /// Closes a rim, whose last vertex is its first one; returns how far its vertices are apart at most, roughly.
  double close(const std::vector<std::int32_t>& rim, std::size_t face) {
    P middle = P::zero(), low = mesh().vertices[static_cast<std::size_t>(rim[0])], high = low;
    for (std::size_t i = 0; i + 1 < rim.size(); ++i) {
      const P& p = mesh().vertices[static_cast<std::size_t>(rim[i])];
      middle += (1.0 / static_cast<double>(rim.size() - 1)) * p;
      for (int k = 0; k < 3; ++k) {
        low[k] = std::min(low[k], p[k]);
        high[k] = std::max(high[k], p[k]);
      }
    }
    if (rim.size() == 4) {
      add_triangle(rim[0], rim[1], rim[2], face);
    } else {
      const std::int32_t center = mesh().add(middle);
      for (std::size_t i = 0; i + 1 < rim.size(); ++i) add_triangle(rim[i], rim[i + 1], center, face);
    }
    return std::sqrt(squared_norm(high - low));
  }
  bool has_odd_edge() const {
    bool odd = false;
    each_edge([&](std::size_t begin, std::size_t end) { odd = odd || ((end - begin) % 2 == 1 && end - begin > 1); });
    return odd;
  }

  void check_edges() {
    const Side* first_odd = nullptr;
    std::size_t odd_count = 0;
    each_edge([&](std::size_t begin, std::size_t end) {
      const Side& side = sides_[begin];
      if (end - begin > 1 && (end - begin) % 2 == 1 && (first_odd == nullptr || side.triangle < first_odd->triangle)) {
        first_odd = &side;
        odd_count = end - begin;
      }
    });
    if (first_odd != nullptr)
      fail(fmt::format("is not the surface of a solid: the edge of face {} from {} to {} belongs to {} faces",
                       face_of_[first_odd->triangle] + 1, vertex_text(first_odd->low), vertex_text(first_odd->high),
                       odd_count));
  }
  std::string vertex_text(std::int32_t v) { return place_text(mesh().vertices[static_cast<std::size_t>(v)]); }

  template <class Visit>
  void each_edge(const Visit& visit) const {
    for (std::size_t begin = 0, end = 0; begin < sides_.size(); begin = end) {
      while (end < sides_.size() && sides_[end].low == sides_[begin].low && sides_[end].high == sides_[begin].high)
        ++end;
      visit(begin, end);
    }
  }

  /// Faces that share an edge must walk it in opposite directions. In each connected part the fewer are turned.
  void orient() {
    const std::size_t n = mesh().triangles.size();
    std::vector<std::array<std::uint32_t, 3>> neighbor(n, {none, none, none});
    std::vector<std::array<bool, 3>> opposed(n);
    std::vector<int> known(n, 0);
    const auto link = [&](const Side& a, const Side& b) {
      const int k = known[a.triangle]++;
      neighbor[a.triangle][static_cast<std::size_t>(k)] = b.triangle;
      opposed[a.triangle][static_cast<std::size_t>(k)] = a.forward == b.forward;
    };
    each_edge([&](std::size_t begin, std::size_t end) {
      if (end - begin != 2) return;  // where more meet, parts touch; see below
      link(sides_[begin], sides_[begin + 1]);
      link(sides_[begin + 1], sides_[begin]);
    });
    constexpr int unseen = -1;
    std::vector<int> turned(n, unseen);
    std::vector<std::uint32_t> part;
    for (std::uint32_t start = 0; start < n; ++start) {
      if (turned[start] != unseen) continue;
      part.assign(1, start);
      turned[start] = 0;
      std::size_t count = 0;
      for (std::size_t i = 0; i < part.size(); ++i) {
        const std::uint32_t t = part[i];
        count += turned[t] == 1 ? 1 : 0;
        for (std::size_t k = 0; k < 3; ++k) {
          const std::uint32_t other = neighbor[t][k];
          if (other == none) continue;
          const int wanted = turned[t] ^ (opposed[t][k] ? 1 : 0);
          if (turned[other] == unseen) {
            turned[other] = wanted;
            part.push_back(other);
          } else if (turned[other] != wanted) {
            fail(fmt::format("has no outside: going around from face {} one comes back on its other side",
                             face_of_[other] + 1));
          }
        }
      }
      const bool most = 2 * count > part.size();
      if (most)
        for (const std::uint32_t t : part) turned[t] ^= 1;
    }
    std::size_t turned_count = 0;
    for (std::size_t t = 0; t < n; ++t) {
      if (turned[t] == 1) turn(t);
      turned_count += turned[t] == 1 && t < solid_.given ? 1 : 0;  // what closes holes is turned as it needs to be
    }
    for (Side& side : sides_) side.forward = side.forward != (turned[side.triangle] == 1);
    if (turned_count > 0)
      solid_.notes.push_back(plural(turned_count, "triangle") + " turned to face the same way as the others");
    each_edge([&](std::size_t begin, std::size_t end) {
      std::ptrdiff_t balance = 0;
      for (std::size_t i = begin; i < end; ++i) balance += sides_[i].forward ? 1 : -1;
      if (balance != 0)
        fail(
            fmt::format("is not the surface of a solid: the {} faces at the edge of face {} from {} to {} do not face "
                        "in pairs",
                        end - begin, face_of_[sides_[begin].triangle] + 1, vertex_text(sides_[begin].low),
                        vertex_text(sides_[begin].high)));
    });
  }
  void turn(std::size_t t) { std::swap(mesh().triangles[t][1], mesh().triangles[t][2]); }

  void measure() {
    // Only vertices in use count for the bounds.
    solid_.low = solid_.high = mesh().corner(0, 0);
    for (std::size_t t = 0; t < mesh().triangles.size(); ++t)
      for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 3; ++k) {
          solid_.low[k] = std::min(solid_.low[k], mesh().corner(t, i)[k]);
          solid_.high[k] = std::max(solid_.high[k], mesh().corner(t, i)[k]);
        }
    const P size = solid_.high - solid_.low;
    solid_.volume = signed_volume(mesh(), 0.5 * (solid_.low + solid_.high));
    const double least = 1e-9 * size[0] * size[1] * size[2];
    if (!(std::abs(solid_.volume) > least) || !(least > 0)) fail("encloses no volume");
    if (solid_.volume < 0) {
      for (std::size_t t = 0; t < mesh().triangles.size(); ++t) turn(t);
      solid_.volume = -solid_.volume;
      solid_.notes.emplace_back("its faces looked inward and were turned");
    }
  }

  static constexpr std::uint32_t none = 0xffffffff;
  const Polygons& polygons_;
  double scale_;
  const std::string& file_;
  Solid solid_;
  std::vector<std::int32_t> joined_;  ///< new number of each vertex of the file
  std::vector<std::size_t> face_of_;  ///< face of the file that each triangle comes from
  std::vector<Side> sides_;           ///< grouped by edge
};

}  // namespace

Solid solid_from(const Polygons& polygons, double scale, const std::string& file) {
  return SolidMaker(polygons, scale, file).take();
}

Solid parse_solid(const std::string& bytes, double scale, const std::string& file) {
  std::string extension = std::filesystem::path(file).extension().string();
  for (char& c : extension)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  if (bytes.empty()) fail_in_file(file, "is empty");
  if (extension == ".obj") return solid_from(parse_obj(bytes, file), scale, file);
  if (extension == ".ply") return solid_from(parse_ply(bytes, file), scale, file);
  if (extension == ".stl") return solid_from(parse_stl(bytes, file), scale, file);
  fail_in_file(file, "its name does not say what it is; meshes are read from .obj, .ply and .stl");
}

}  // namespace tribo

#include "tribo/mesh/stuffing.h"

#include <fmt/format.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "tribo/core/errors.h"

namespace tribo {
namespace {

using P = Vec<double, 3>;
using Place = Vec<std::int32_t, 3>;

/// Cut points closer to a lattice vertex than this part of the edge pull the vertex to them (Labelle & Shewchuk 2007).
/// Theirs are 0.24999 and 0.41189, for any of several such points; with the nearest one these give larger angles.
constexpr double alpha_long = 0.28, alpha_short = 0.40;
/// Least part of the true change that the distance is taken to vouch for.
constexpr double trust = 0.7;
constexpr int deepest = 18;  // levels; cells across fit into 18 bits, vertices, at half cells, into 20
constexpr std::size_t most_cells = 40'000'000;

/// Numbers of cells or vertices by their place: open addressing, never more than half full.
class PlaceMap {
 public:
  static std::uint64_t key(const Place& p, int level = 0) {
    return static_cast<std::uint64_t>(p[0]) | static_cast<std::uint64_t>(p[1]) << 20 |
           static_cast<std::uint64_t>(p[2]) << 40 | static_cast<std::uint64_t>(level) << 59;
  }
  /// The number at the key; where there is none yet, it gets `number`.
  std::int32_t insert(std::uint64_t key, std::int32_t number) {
    if (2 * (size_ + 1) > slots_.size()) grow();
    Slot& slot = slots_[find(key)];
    if (slot.key != empty) return slot.number;
    slot = {key, number};
    ++size_;
    return number;
  }
  /// -1: none.
  std::int32_t at(std::uint64_t key) const {
    if (slots_.empty()) return -1;
    const Slot& slot = slots_[find(key)];
    return slot.key == empty ? -1 : slot.number;
  }

 private:
  struct Slot {
    std::uint64_t key = empty;
    std::int32_t number = 0;
  };
  std::size_t find(std::uint64_t key) const {
    std::uint64_t h = key * 0x9e3779b97f4a7c15u;
    std::size_t i = static_cast<std::size_t>(h ^ h >> 32) & (slots_.size() - 1);
    while (slots_[i].key != empty && slots_[i].key != key) i = (i + 1) & (slots_.size() - 1);
    return i;
  }
  void grow() {
    std::vector<Slot> old(std::max<std::size_t>(1024, 2 * slots_.size()));
    old.swap(slots_);
    for (const Slot& slot : old)
      if (slot.key != empty) slots_[find(slot.key)] = slot;
  }
  static constexpr std::uint64_t empty = ~std::uint64_t(0);
  std::vector<Slot> slots_;
  std::size_t size_ = 0;
};

/// Whether a lattice edge with these differences (in half cells) is one between vertices of one sort: along an axis.
bool is_long(const Place& step) { return step[0] == 0 || step[1] == 0 || step[2] == 0; }

/// Edges at a lattice vertex: eight short ones, then six long ones.
constexpr int directions = 14;
int direction_of(const Place& step) {
  if (!is_long(step)) return (step[0] > 0 ? 1 : 0) + (step[1] > 0 ? 2 : 0) + (step[2] > 0 ? 4 : 0);
  const int axis = step[0] != 0 ? 0 : step[1] != 0 ? 1 : 2;
  return 8 + 2 * axis + (step[axis] > 0 ? 1 : 0);
}

class Stuffing {
 public:
  Stuffing(const Distance& distance, const P& low, const P& high, const TetSizing& sizing)
      : distance_(distance), h_(sizing.size), graded_(sizing.graded), low_(low), high_(high) {
    double extent = 0;
    for (int k = 0; k < 3; ++k) extent = std::max(extent, high[k] - low[k]);
    if (!(h_ > 0) || !std::isfinite(extent) || !(extent >= 0))
      throw Error(ExitCode::bad_input, "tets need a positive size and a shape with bounds");
    // Two cells to spare on each side.
    while (root_level_ < deepest && std::ldexp(h_, root_level_) < extent + 4 * h_) ++root_level_;
    if (std::ldexp(h_, root_level_) < extent + 4 * h_) too_many();
    for (int k = 0; k < 3; ++k) origin_[k] = 0.5 * (low[k] + high[k]) - std::ldexp(h_, root_level_ - 1);
  }

  /// False when the distance misled the grading: a tet of several sizes was found at the surface.
  bool run() {
    refine();
    balance();
    number_vertices();
    find_cuts();
    warp();
    emit();
    return !misled_;
  }
  TetMesh take() { return std::move(mesh_); }

 private:
  struct Cell {
    Place at;   ///< in cells of its level
    bool deep;  ///< no vertex in or on it has an edge that the surface cuts
  };
  struct Leaf {
    Place at;
    std::int32_t level;
    bool deep;
    std::array<std::int32_t, 8>
        corners;  ///< vertices; corner i has the higher coordinate along axis k where i >> k & 1
  };
  /// Where the surface crosses a lattice edge.
  struct Cut {
    std::int32_t inside, outside;  ///< vertices
    double part;                   ///< of the edge, from the inside [1]
    std::int32_t vertex = -1;      ///< of the mesh
  };

  [[noreturn]] void too_many() const {
    throw Error(ExitCode::bad_input,
                fmt::format("tets of {:.3g} m in a shape of {:.3g} x {:.3g} x {:.3g} m would be more than {} million; "
                            "choose a larger size, or let them grow inward",
                            h_, high_[0] - low_[0], high_[1] - low_[1], high_[2] - low_[2], 12 * most_cells / 1000000));
  }

  /// Place in half cells of the lattice to place in space.
  P position(const Place& p) const { return origin_ + P{{0.5 * h_ * p[0], 0.5 * h_ * p[1], 0.5 * h_ * p[2]}}; }
  static Place center(const Place& cell, int level) {
    Place p;
    for (int k = 0; k < 3; ++k) p[k] = (2 * cell[k] + 1) << level;
    return p;
  }
  static Place corner(const Place& cell, int level, int i) {
    Place p;
    for (int k = 0; k < 3; ++k) p[k] = (cell[k] + (i >> k & 1)) << (level + 1);
    return p;
  }
  static Place child(const Place& cell, int i) {
    Place p;
    for (int k = 0; k < 3; ++k) p[k] = 2 * cell[k] + (i >> k & 1);
    return p;
  }
  static Place moved(Place cell, int axis, int by) {
    cell[axis] += by;
    return cell;
  }

  template <class Work>
  static void each(std::size_t n, const Work& work) {
    tbb::parallel_for(tbb::blocked_range<std::size_t>(0, n, 256), [&](const auto& r) {
      for (std::size_t i = r.begin(); i != r.end(); ++i) work(i);
    });
  }

  bool near_bounds(const Place& cell, int level) const {
    const double size = std::ldexp(h_, level);
    for (int k = 0; k < 3; ++k) {
      const double begin = origin_[k] + size * cell[k];
      if (begin > high_[k] + h_ || begin + size < low_[k] - h_) return false;
    }
    return true;
  }

  /// Cells from the largest down to those that hold, or are next to, a part of the inside; all of one size unless
  /// graded. In Morton order.
  void refine() {
    std::vector<Cell> cells{{Place::zero(), false}};
    for (int level = root_level_; level >= 0; --level) {
      const double size = std::ldexp(h_, level), reach = 0.5 * std::sqrt(3.0) * size;
      std::vector<double> d(cells.size());
      each(cells.size(),
           [&](std::size_t i) { d[i] = cells[i].deep ? 0 : distance_(position(center(cells[i].at, level))); });
      std::vector<Cell> next;
      for (std::size_t i = 0; i < cells.size(); ++i) {
        Cell& cell = cells[i];
        if (!cell.deep) {
          if (level > 0 && trust * d[i] > reach + h_) continue;
          cell.deep = -trust * d[i] >= reach + h_;
          // A tet has vertices in neighbors' centers: no farther away than the cell's size.
          if (graded_ && level > 0 && -trust * d[i] >= size + h_) {
            leaves_.push_back({cell.at, level, true, {}});
            continue;
          }
        }
        if (level == 0) {
          // Centers of cells with a tet that has an inner vertex are within one edge of it.
          if (cell.deep || trust * d[i] <= h_) leaves_.push_back({cell.at, 0, cell.deep, {}});
          continue;
        }
        if (graded_) split_[static_cast<std::size_t>(level)].push_back(cell.at);
        for (int c = 0; c < 8; ++c) {
          const Cell part{child(cell.at, c), cell.deep && !graded_};
          if (part.deep || near_bounds(part.at, level - 1)) next.push_back(part);
        }
      }
      if (std::max(next.size(), leaves_.size()) > most_cells) too_many();
      cells = std::move(next);
    }
    if (leaves_.empty()) nothing_inside();
  }
  [[noreturn]] void nothing_inside() const {
    throw Error(ExitCode::bad_input,
                fmt::format("nothing of the shape is left in tets of {:.3g} m; choose a smaller size, less than half "
                            "of what is thinnest",
                            h_));
  }

  /// Splits large cells until cells that share a face or an edge differ by one level at most.
  void balance() {
    if (!graded_) return;
    PlaceMap leaves, splits;
    for (std::size_t i = 0; i < leaves_.size(); ++i)
      leaves.insert(PlaceMap::key(leaves_[i].at, leaves_[i].level), static_cast<std::int32_t>(i));
    const auto is_in_leaf = [&](Place p, int level) {
      for (; level <= root_level_; ++level) {
        if (leaves.at(PlaceMap::key(p, level)) >= 0) return true;
        for (int k = 0; k < 3; ++k) p[k] >>= 1;
      }
      return false;
    };
    for (int level = 1; level < root_level_; ++level) {
      // What surrounds a split cell must be there at its level, so that its parts meet nothing larger.
      auto& here = split_[static_cast<std::size_t>(level)];
      auto& above = split_[static_cast<std::size_t>(level) + 1];
      for (const Place& q : above) splits.insert(PlaceMap::key(q, level + 1), 1);
      const int count = 1 << (root_level_ - level);
      for (std::size_t i = 0; i < here.size(); ++i)
        for (int n = 0; n < 27; ++n) {
          Place p = here[i] + Place{{n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1}};
          if (std::min({p[0], p[1], p[2]}) < 0 || std::max({p[0], p[1], p[2]}) >= count) continue;
          for (int k = 0; k < 3; ++k) p[k] >>= 1;
          const std::uint64_t key = PlaceMap::key(p, level + 1);
          if (splits.at(key) >= 0 || !is_in_leaf(p, level + 1)) continue;
          splits.insert(key, 1);
          above.push_back(p);
        }
    }
    std::vector<Leaf> whole = std::move(leaves_);
    leaves_.clear();
    for (const Leaf& leaf : whole) {
      std::vector<Leaf> stack{leaf};
      while (!stack.empty()) {
        const Leaf last = stack.back();
        stack.pop_back();
        if (last.level == 0 || splits.at(PlaceMap::key(last.at, last.level)) < 0) {
          leaves_.push_back(last);
          continue;
        }
        for (int c = 7; c >= 0; --c) stack.push_back({child(last.at, c), last.level - 1, true, {}});
      }
      if (leaves_.size() > most_cells) too_many();
    }
  }

  /// Vertex i < leaves is the center of leaf i; then come the corners.
  void number_vertices() {
    const auto centers = static_cast<std::int32_t>(leaves_.size());
    std::vector<bool> deep;
    for (std::size_t i = 0; i < leaves_.size(); ++i) {
      Leaf& leaf = leaves_[i];
      leaf_at_.insert(PlaceMap::key(leaf.at, leaf.level), static_cast<std::int32_t>(i));
      for (int c = 0; c < 8; ++c) {
        const Place p = corner(leaf.at, leaf.level, c);
        const auto next = static_cast<std::int32_t>(corner_places_.size());
        const std::int32_t found = corner_at_.insert(PlaceMap::key(p), next);
        if (found == next) {
          corner_places_.push_back(p);
          deep.push_back(false);
        }
        if (leaf.deep) deep[static_cast<std::size_t>(found)] = true;
        leaf.corners[static_cast<std::size_t>(c)] = centers + found;
      }
    }
    const std::size_t n = leaves_.size() + corner_places_.size();
    value_.resize(n);
    sign_.resize(n);
    each(n, [&](std::size_t v) {
      const bool is_deep = v < leaves_.size() ? leaves_[v].deep : deep[v - leaves_.size()];
      value_[v] = is_deep ? -h_ : distance_(position(place(static_cast<std::int32_t>(v))));
      sign_[v] = static_cast<std::int8_t>(value_[v] < 0 ? 1 : value_[v] == 0 ? 0 : -1);
    });
    position_.resize(n);
    each(n, [&](std::size_t v) { position_[v] = position(place(static_cast<std::int32_t>(v))); });
  }
  Place place(std::int32_t vertex) const {
    const auto v = static_cast<std::size_t>(vertex);
    if (v < leaves_.size()) return center(leaves_[v].at, leaves_[v].level);
    return corner_places_[v - leaves_.size()];
  }
  int sign(std::int32_t vertex) const { return sign_[static_cast<std::size_t>(vertex)]; }
  std::int32_t neighbor(const Leaf& leaf, int axis, int by) const {
    return leaf_at_.at(PlaceMap::key(moved(leaf.at, axis, by), leaf.level));
  }

  void find_cuts() {
    slot_.assign(sign_.size(), -1);
    const auto look_at = [&](std::int32_t a, std::int32_t b) {
      if (sign(a) * sign(b) >= 0) return;
      if (sign(a) < 0) std::swap(a, b);
      std::int32_t& slot = slot_[static_cast<std::size_t>(a)];
      if (slot < 0) {
        slot = static_cast<std::int32_t>(cut_at_.size());
        cut_at_.emplace_back().fill(-1);
      }
      std::int32_t& cut =
          cut_at_[static_cast<std::size_t>(slot)][static_cast<std::size_t>(direction_of(place(b) - place(a)))];
      if (cut >= 0) return;
      cut = static_cast<std::int32_t>(cuts_.size());
      cuts_.push_back({a, b, 0});
    };
    for (std::size_t i = 0; i < leaves_.size(); ++i) {
      const Leaf& leaf = leaves_[i];
      if (leaf.deep) continue;
      const auto self = static_cast<std::int32_t>(i);
      for (const std::int32_t c : leaf.corners) look_at(self, c);
      for (int axis = 0; axis < 3; ++axis) {
        const std::int32_t other = neighbor(leaf, axis, 1);
        if (other >= 0) look_at(self, other);
        for (int c = 0; c < 8; ++c)
          if ((c >> axis & 1) == 0)
            look_at(leaf.corners[static_cast<std::size_t>(c)], leaf.corners[static_cast<std::size_t>(c | 1 << axis)]);
      }
    }
    each(cuts_.size(), [&](std::size_t i) { cuts_[i].part = crossing(cuts_[i]); });
  }

  /// Root of the distance along a cut edge: false position that halves the weight of an end kept twice (Illinois), with
  /// bisection where that is slow, so that corners and jumps of the distance are found, too.
  double crossing(const Cut& cut) const {
    const P from = position_[static_cast<std::size_t>(cut.inside)];
    const P along = position_[static_cast<std::size_t>(cut.outside)] - from;
    double a = 0, b = 1;
    double fa = value_[static_cast<std::size_t>(cut.inside)], fb = value_[static_cast<std::size_t>(cut.outside)];
    int side = 0;
    for (int round = 0; round < 80 && b - a > 1e-13; ++round) {
      double t = round % 3 == 2 ? 0.5 * (a + b) : a + (b - a) * (fa / (fa - fb));
      if (!(t > a && t < b)) t = 0.5 * (a + b);
      const double f = distance_(from + t * along);
      if (f == 0 || std::abs(f) < 1e-14 * h_) return t;
      if (f < 0) {
        a = t, fa = f;
        if (side < 0) fb *= 0.5;
        side = -1;
      } else {
        b = t, fb = f;
        if (side > 0) fa *= 0.5;
        side = 1;
      }
    }
    return 0.5 * (a + b);
  }
  P cut_position(const Cut& cut) const {
    const P& from = position_[static_cast<std::size_t>(cut.inside)];
    return from + cut.part * (position_[static_cast<std::size_t>(cut.outside)] - from);
  }

  /// Moves every vertex that has a cut point too close to it onto the nearest of them; the cuts of its edges are gone.
  void warp() {
    std::vector<std::int32_t> begin(sign_.size() + 1, 0);
    for (const Cut& cut : cuts_)
      for (const std::int32_t v : {cut.inside, cut.outside}) ++begin[static_cast<std::size_t>(v) + 1];
    for (std::size_t v = 0; v < sign_.size(); ++v) begin[v + 1] += begin[v];
    std::vector<std::int32_t> at(begin.begin(), begin.end() - 1), cut_of(2 * cuts_.size());
    for (std::size_t i = 0; i < cuts_.size(); ++i)
      for (const std::int32_t v : {cuts_[i].inside, cuts_[i].outside})
        cut_of[static_cast<std::size_t>(at[static_cast<std::size_t>(v)]++)] = static_cast<std::int32_t>(i);
    const double long_edge = h_, short_edge = 0.5 * std::sqrt(3.0) * h_;
    for (std::size_t v = 0; v < sign_.size(); ++v) {
      const Cut* nearest = nullptr;
      double least = 0;
      for (std::int32_t k = begin[v]; k < begin[v + 1]; ++k) {
        const Cut& cut = cuts_[static_cast<std::size_t>(cut_of[static_cast<std::size_t>(k)])];
        if (sign(cut.inside) * sign(cut.outside) >= 0) continue;  // the other end has moved
        const bool from_inside = cut.inside == static_cast<std::int32_t>(v);
        const double part = from_inside ? cut.part : 1 - cut.part;
        const bool along_axis = is_long(place(cut.outside) - place(cut.inside));
        if (!(part < (along_axis ? alpha_long : alpha_short))) continue;
        const double length = part * (along_axis ? long_edge : short_edge);
        if (nearest != nullptr && !(length < least)) continue;
        nearest = &cut;
        least = length;
      }
      if (nearest == nullptr) continue;
      position_[v] = cut_position(*nearest);
      sign_[v] = 0;
    }
  }

  void emit() {
    mesh_vertex_.assign(sign_.size(), -1);
    for (std::size_t i = 0; i < leaves_.size(); ++i) {
      const Leaf& leaf = leaves_[i];
      for (int axis = 0; axis < 3; ++axis)
        for (const int side : {0, 1}) {
          const std::int32_t other = neighbor(leaf, axis, side == 1 ? 1 : -1);
          if (other >= 0) {
            if (side == 1) emit_between(leaf, static_cast<std::int32_t>(i), other, axis);
          } else if (graded_) {
            emit_toward_larger(leaf, static_cast<std::int32_t>(i), axis, side);
          }
        }
    }
    if (mesh_.tets.empty()) nothing_inside();
  }

  /// Corners of a face of a cell, counterclockwise seen from outside.
  static std::array<std::int32_t, 4> face_corners(const Leaf& leaf, int axis, int side) {
    const int u = 1 << (axis + 1) % 3, v = 1 << (axis + 2) % 3, base = side << axis;
    std::array<int, 4> around{base, base | u, base | u | v, base | v};
    if (side == 0) std::swap(around[1], around[3]);
    std::array<std::int32_t, 4> corners;
    for (std::size_t k = 0; k < 4; ++k) corners[k] = leaf.corners[static_cast<std::size_t>(around[k])];
    return corners;
  }

  /// Four tets around the line between the centers of two cells of one size, each with an edge of their common face;
  /// halved where smaller cells split that edge.
  void emit_between(const Leaf& leaf, std::int32_t self, std::int32_t other, int axis) {
    const std::array<std::int32_t, 4> corners = face_corners(leaf, axis, 1);
    for (std::size_t k = 0; k < 4; ++k) {
      const std::int32_t a = corners[k], b = corners[(k + 1) % 4];
      if (leaf.level == 0) {
        stuff({self, other, a, b});
        continue;
      }
      Place middle = place(a) + place(b);
      for (int i = 0; i < 3; ++i) middle[i] /= 2;
      const std::int32_t found = corner_at_.at(PlaceMap::key(middle));
      if (found < 0) {
        add_inner({self, other, a, b});
      } else {
        const std::int32_t m = static_cast<std::int32_t>(leaves_.size()) + found;
        add_inner({self, other, a, m});
        add_inner({self, other, m, b});
      }
    }
  }

  /// Where a face is a quarter of a larger cell's: it is cut at the diagonal through that one's middle, and each half
  /// joined with both centers.
  void emit_toward_larger(const Leaf& leaf, std::int32_t self, int axis, int side) {
    Place larger = moved(leaf.at, axis, side == 1 ? 1 : -1);
    if (larger[axis] < 0) return;
    for (int k = 0; k < 3; ++k) larger[k] >>= 1;
    const std::int32_t other = leaf_at_.at(PlaceMap::key(larger, leaf.level + 1));
    if (other < 0) return;
    const Place c = center(larger, leaf.level + 1);
    const std::array<std::int32_t, 4> q = face_corners(leaf, axis, side);
    std::size_t first = 0;
    for (std::size_t k = 0; k < 4; ++k) {
      const Place d = place(q[k]) - c;
      if (d[(axis + 1) % 3] == 0 && d[(axis + 2) % 3] == 0) first = k;
    }
    const std::int32_t middle = q[first], end = q[(first + 2) % 4];
    for (const auto& [a, b] : {std::pair{q[(first + 1) % 4], end}, std::pair{end, q[(first + 3) % 4]}}) {
      add_inner({self, middle, a, b});
      add_inner({other, middle, b, a});
    }
  }

  using Four = std::array<std::int32_t, 4>;

  std::int32_t mesh_vertex(std::int32_t vertex) {
    std::int32_t& number = mesh_vertex_[static_cast<std::size_t>(vertex)];
    if (number < 0) number = add_vertex(position_[static_cast<std::size_t>(vertex)]);
    return number;
  }
  std::int32_t add_vertex(const P& p) {
    mesh_.vertices.push_back(p);
    return static_cast<std::int32_t>(mesh_.vertices.size() - 1);
  }
  const P& at(std::int32_t mesh_vertex) const { return mesh_.vertices[static_cast<std::size_t>(mesh_vertex)]; }
  void add(const Four& v) { mesh_.tets.push_back({{v[0], v[1], v[2], v[3]}}); }
  void add_inner(const Four& v) {
    for (const std::int32_t vertex : v) misled_ = misled_ || sign(vertex) <= 0;
    if (!misled_) add({mesh_vertex(v[0]), mesh_vertex(v[1]), mesh_vertex(v[2]), mesh_vertex(v[3])});
  }
  /// Of the mesh, where the edge from an inner vertex to an outer one is cut.
  std::int32_t cut_vertex(std::int32_t inside, std::int32_t outside) {
    const auto slot = static_cast<std::size_t>(slot_[static_cast<std::size_t>(inside)]);
    const auto direction = static_cast<std::size_t>(direction_of(place(outside) - place(inside)));
    Cut& cut = cuts_[static_cast<std::size_t>(cut_at_[slot][direction])];
    if (cut.vertex < 0) cut.vertex = add_vertex(cut_position(cut));
    return cut.vertex;
  }

  /// The part of a lattice tet that is inside: whole, or cut where edges from inner to outer vertices are.
  void stuff(Four v) {
    int plus = 0, minus = 0;
    for (const std::int32_t vertex : v) {
      plus += sign(vertex) > 0 ? 1 : 0;
      minus += sign(vertex) < 0 ? 1 : 0;
    }
    if (plus == 0) return;
    // Inner vertices first, outer ones last, by swaps in pairs, which keep the orientation.
    bool odd = false;
    for (std::size_t i = 0; i < 4; ++i)
      for (std::size_t j = 3; j > i; --j)
        if (sign(v[j]) > sign(v[j - 1])) {
          std::swap(v[j], v[j - 1]);
          odd = !odd;
        }
    if (odd && plus >= 2) {
      std::swap(v[0], v[1]);
    } else if (odd && minus >= 2) {
      std::swap(v[2], v[3]);
    } else if (odd) {
      std::swap(v[1], v[2]);  // + 0 0 -, + 0 0 0
    }
    const std::int32_t a = v[0], b = v[1], c = v[2], d = v[3];
    if (minus == 0) {
      add({mesh_vertex(a), mesh_vertex(b), mesh_vertex(c), mesh_vertex(d)});
    } else if (plus == 1) {
      Four out{mesh_vertex(a), 0, 0, 0};
      for (std::size_t k = 1; k < 4; ++k) out[k] = sign(v[k]) < 0 ? cut_vertex(a, v[k]) : mesh_vertex(v[k]);
      add(out);
    } else if (plus == 2 && minus == 1) {
      // A pyramid over a quadrilateral with apex c.
      const bool a_first = goes_first(a, b, d);
      const std::int32_t x = cut_vertex(a, d), y = cut_vertex(b, d), s = mesh_vertex(a), t = mesh_vertex(b);
      const std::int32_t apex = mesh_vertex(c);
      add({s, t, apex, a_first ? x : y});
      if (a_first) {
        add({x, t, apex, y});
      } else {
        add({s, y, apex, x});
      }
    } else if (plus == 2) {
      stuff_wedge(a, b, c, d);
    } else {
      std::array<std::int32_t, 3> order{a, b, c};
      sort_columns(
          order, [&](std::int32_t p, std::int32_t q) { return goes_first(p, q, d); }, odd);
      std::array<Column, 3> columns;
      for (std::size_t k = 0; k < 3; ++k) columns[k] = {mesh_vertex(order[k]), cut_vertex(order[k], d)};
      add_prism(columns, odd);
    }
  }

  /// Edge of a prism between its two triangles.
  struct Column {
    std::int32_t begin, end;
  };
  /// Three tets of a prism whose sides are cut, between each two columns, from the end of the earlier one to the
  /// beginning of the later one.
  void add_prism(const std::array<Column, 3>& columns, bool turned) {
    const auto [p, q, r] = columns;
    for (Four tet : {Four{p.begin, q.begin, r.begin, p.end}, Four{p.end, q.begin, r.begin, q.end},
                     Four{p.end, q.end, r.begin, r.end}}) {
      if (turned) std::swap(tet[0], tet[1]);
      add(tet);
    }
  }
  /// Sorts three by a relation without circles; `turned` becomes whether that took an odd number of swaps.
  template <class Item, class Before>
  static void sort_columns(std::array<Item, 3>& items, const Before& before, bool& turned) {
    turned = false;
    for (const std::size_t k : {0, 1, 0})
      if (!before(items[k], items[k + 1])) {
        std::swap(items[k], items[k + 1]);
        turned = !turned;
      }
  }

  /// How the quadrilateral is cut that is left of a face with inner vertices a, b and outer vertex n: from the cut
  /// point at a's edge to b (true), or the other way around. The same from both tets at the face.
  bool goes_first(std::int32_t a, std::int32_t b, std::int32_t n) const {
    const bool a_long = is_long(place(a) - place(n)), b_long = is_long(place(b) - place(n));
    if (a_long != b_long) return a_long;  // the other way angles get as small as 7 degrees
    const double to_b = diagonal(a, n, b), to_a = diagonal(b, n, a);
    return to_b != to_a ? to_b < to_a : a < b;
  }
  double diagonal(std::int32_t inside, std::int32_t outside, std::int32_t to) const {
    const auto slot = static_cast<std::size_t>(slot_[static_cast<std::size_t>(inside)]);
    const auto direction = static_cast<std::size_t>(direction_of(place(outside) - place(inside)));
    return squared_norm(cut_position(cuts_[static_cast<std::size_t>(cut_at_[slot][direction])]) -
                        position_[static_cast<std::size_t>(to)]);
  }

  /// Inner edge a b, outer edge c d: a prism between the triangles at a and at b. The quadrilateral on the surface is
  /// nobody else's and is cut whichever way gives the better tets.
  void stuff_wedge(std::int32_t a, std::int32_t b, std::int32_t c, std::int32_t d) {
    const std::array<Column, 3> columns{Column{mesh_vertex(a), mesh_vertex(b)},
                                        Column{cut_vertex(a, c), cut_vertex(b, c)},
                                        Column{cut_vertex(a, d), cut_vertex(b, d)}};
    // From the end of the inner edge to the beginning of a cut one is from b to the cut point of a.
    const bool inner_before_c = goes_first(a, b, c), inner_before_d = goes_first(a, b, d);
    const std::size_t before = mesh_.tets.size();
    std::vector<Vec<std::int32_t, 4>> best;
    double best_cosine = 2;
    for (const bool c_before_d : {true, false}) {
      if (inner_before_c != inner_before_d && c_before_d != inner_before_d) continue;  // would go in a circle
      const bool precedes[3][3] = {{false, inner_before_c, inner_before_d},
                                   {!inner_before_c, false, c_before_d},
                                   {!inner_before_d, !c_before_d, false}};
      std::array<std::size_t, 3> order{0, 1, 2};
      bool turned = false;
      sort_columns(
          order, [&](std::size_t p, std::size_t q) { return precedes[p][q]; }, turned);
      add_prism({columns[order[0]], columns[order[1]], columns[order[2]]}, turned);
      double worst = -1;
      for (std::size_t t = before; t < mesh_.tets.size(); ++t) {
        const DihedralCosines cosines =
            dihedral_cosines(mesh_.corner(t, 0), mesh_.corner(t, 1), mesh_.corner(t, 2), mesh_.corner(t, 3));
        worst = std::max({worst, cosines.largest, -cosines.smallest});
      }
      if (worst < best_cosine) {
        best_cosine = worst;
        best.assign(mesh_.tets.begin() + static_cast<std::ptrdiff_t>(before), mesh_.tets.end());
      }
      mesh_.tets.resize(before);
    }
    mesh_.tets.insert(mesh_.tets.end(), best.begin(), best.end());
  }

  const Distance& distance_;
  double h_;
  bool graded_;
  P low_, high_, origin_;
  int root_level_ = 1;
  bool misled_ = false;
  std::vector<Leaf> leaves_;
  std::array<std::vector<Place>, deepest + 2> split_;  ///< cells that were split, by level
  PlaceMap leaf_at_, corner_at_;
  std::vector<Place> corner_places_;
  std::vector<double> value_;      ///< distance, by vertex
  std::vector<std::int8_t> sign_;  ///< 1 inside, 0 on the surface, -1 outside
  std::vector<P> position_;
  std::vector<Cut> cuts_;
  std::vector<std::int32_t> slot_;  ///< of an inner vertex with cut edges, in cut_at_
  std::vector<std::array<std::int32_t, directions>> cut_at_;
  std::vector<std::int32_t> mesh_vertex_;
  TetMesh mesh_;
};

std::optional<TetMesh> stuffed(const Distance& distance, const P& low, const P& high, const TetSizing& sizing) {
  Stuffing stuffing(distance, low, high, sizing);
  if (!stuffing.run()) return {};
  return stuffing.take();
}

}  // namespace

TetMesh tetrahedralize(const Distance& distance, const P& low, const P& high, const TetSizing& sizing) {
  TetMesh mesh;
  tbb::this_task_arena::isolate([&] {
    std::optional<TetMesh> made = stuffed(distance, low, high, sizing);
    if (!made) made = stuffed(distance, low, high, {sizing.size, false});
    mesh = std::move(*made);
  });
  return mesh;
}

TetMesh tetrahedralized_box(const P& edges, double size) {
  Vec<std::int32_t, 3> n;
  double cells = 1;
  for (int k = 0; k < 3; ++k) {
    const double count = std::max(1.0, std::round(edges[k] / size));
    cells *= count;
    n[k] = static_cast<std::int32_t>(std::min(count, 1e9));
  }
  if (!(size > 0) || !(cells <= 2.0 * most_cells))
    throw Error(ExitCode::bad_input,
                fmt::format("tets of {:.3g} m in a box of {:.3g} x {:.3g} x {:.3g} m would be {:.3g}; choose a larger "
                            "size",
                            size, edges[0], edges[1], edges[2], 6 * cells));
  TetMesh mesh;
  const auto vertex = [&](const Place& p) { return (p[0] * (n[1] + 1) + p[1]) * (n[2] + 1) + p[2]; };
  for (Place p = Place::zero(); p[0] <= n[0]; ++p[0])
    for (p[1] = 0; p[1] <= n[1]; ++p[1])
      for (p[2] = 0; p[2] <= n[2]; ++p[2]) {
        P x;  // symmetric to the last bit
        for (int k = 0; k < 3; ++k) x[k] = edges[k] * (2 * p[k] - n[k]) / (2.0 * n[k]);
        mesh.vertices.push_back(x);
      }
  constexpr int paths[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
  for (Place p = Place::zero(); p[0] < n[0]; ++p[0])
    for (p[1] = 0; p[1] < n[1]; ++p[1])
      for (p[2] = 0; p[2] < n[2]; ++p[2]) {
        bool mirrored = false;
        Place step, begin = p;  // the diagonal goes from `begin` along `step`
        for (int k = 0; k < 3; ++k) {
          step[k] = p[k] % 2 == 0 ? 1 : -1;
          if (step[k] < 0) begin[k] += 1, mirrored = !mirrored;
        }
        for (int path = 0; path < 6; ++path) {  // three even orders of the axes, then three odd ones
          Vec<std::int32_t, 4> tet;
          Place at = begin;
          tet[0] = vertex(at);
          for (int i = 0; i < 3; ++i) {
            at[paths[path][i]] += step[paths[path][i]];
            tet[i + 1] = vertex(at);
          }
          if (mirrored != (path >= 3)) std::swap(tet[2], tet[3]);
          mesh.tets.push_back(tet);
        }
      }
  return mesh;
}

}  // namespace tribo

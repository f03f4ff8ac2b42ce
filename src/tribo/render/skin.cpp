#include "tribo/render/skin.h"

#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/parallel_sort.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "tribo/mesh/surface_net.h"

namespace tribo {
namespace {

using V = Vec<float, 3>;

constexpr int side = 4;  ///< grid nodes along the edge of a cell
constexpr int nodes_per_cell = side * side * side;

/// Cells as wide as the kernel reaches, so that a node's points lie in its own cell and the 26 around it.
using CellKey = std::uint64_t;
constexpr int bias = 1 << 20;
CellKey key_of(int x, int y, int z) {
  const auto part = [](int c) { return static_cast<CellKey>(c + bias); };
  return part(x) << 42 | part(y) << 21 | part(z);
}
std::array<int, 3> place_of(CellKey key) {
  const auto part = [&](int shift) { return static_cast<int>(key >> shift & 0x1fffff) - bias; };
  return {part(42), part(21), part(0)};
}

struct Cell {
  CellKey key;
  std::uint32_t begin = 0, end = 0;  ///< its points, in sorted order
};

int node_index(int x, int y, int z) { return (x * side + y) * side + z; }
int neighbor_index(int x, int y, int z) { return ((x + 1) * 3 + y + 1) * 3 + z + 1; }
constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

class SkinMaker {
 public:
  SkinMaker(std::span<const V> points, float spacing)
      : reach_(2.5F * spacing), step_(reach_ / side), radius_(0.62F * spacing), dense_(9) {
    sort(points);
    activate();
    sample();
    place_vertices();
    join();
    smooth();
  }
  Skin take() { return std::move(skin_); }

 private:
  template <class Work>
  void each_cell(const Work& work) const {
    tbb::parallel_for(std::size_t{0}, cells_.size(), work);
  }

  void sort(std::span<const V> points) {
    std::vector<std::pair<CellKey, std::uint32_t>> order;
    order.reserve(points.size());
    for (std::uint32_t i = 0; i < points.size(); ++i) {
      std::array<int, 3> c{};
      bool near = true;
      for (int k = 0; k < 3; ++k) {
        const float at = std::floor(points[i][k] / reach_);
        near = near && std::abs(at) < bias - 2;  // a point flown off to infinity is not drawn
        c[static_cast<std::size_t>(k)] = near ? static_cast<int>(at) : 0;
      }
      if (near) order.emplace_back(key_of(c[0], c[1], c[2]), i);
    }
    tbb::parallel_sort(order.begin(), order.end());
    points_.reserve(order.size());
    for (const auto& [key, i] : order) {
      if (occupied_.empty() || occupied_.back().key != key)
        occupied_.push_back({key, static_cast<std::uint32_t>(points_.size()), 0});
      points_.push_back(points[i]);
      occupied_.back().end = static_cast<std::uint32_t>(points_.size());
    }
  }

  /// Cells that hold points, and those around them.
  void activate() {
    std::vector<CellKey> keys;
    keys.reserve(occupied_.size() * 27);
    for (const Cell& cell : occupied_) {
      const auto [x, y, z] = place_of(cell.key);
      for (int i = -1; i <= 1; ++i)
        for (int j = -1; j <= 1; ++j)
          for (int k = -1; k <= 1; ++k) keys.push_back(key_of(x + i, y + j, z + k));
    }
    tbb::parallel_sort(keys.begin(), keys.end());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    cells_.resize(keys.size());
    std::size_t next = 0;
    for (std::size_t c = 0; c < keys.size(); ++c) {
      cells_[c].key = keys[c];
      if (next < occupied_.size() && occupied_[next].key == keys[c]) cells_[c] = occupied_[next++];
    }
    neighbors_.resize(cells_.size());
    each_cell([&](std::size_t c) {
      const auto [x, y, z] = place_of(cells_[c].key);
      for (int i = -1; i <= 1; ++i)
        for (int j = -1; j <= 1; ++j)
          for (int k = -1; k <= 1; ++k)
            neighbors_[c][static_cast<std::size_t>(neighbor_index(i, j, k))] = find(key_of(x + i, y + j, z + k));
    });
  }
  std::uint32_t find(CellKey key) const {
    const auto at = std::lower_bound(cells_.begin(), cells_.end(), key,
                                     [](const Cell& cell, CellKey wanted) { return cell.key < wanted; });
    return at != cells_.end() && at->key == key ? static_cast<std::uint32_t>(at - cells_.begin()) : none;
  }

  /// Whether points are all around, so that no surface can pass.
  bool is_deep(std::size_t c) const {
    return std::all_of(neighbors_[c].begin(), neighbors_[c].end(),
                       [&](std::uint32_t n) { return n != none && cells_[n].end - cells_[n].begin >= dense_; });
  }

  V node_position(std::size_t c, int x, int y, int z) const {
    const auto [cx, cy, cz] = place_of(cells_[c].key);
    return {{step_ * static_cast<float>(cx * side + x), step_ * static_cast<float>(cy * side + y),
             step_ * static_cast<float>(cz * side + z)}};
  }

  void sample() {
    phi_.resize(cells_.size() * nodes_per_cell);
    each_cell([&](std::size_t c) {
      const bool deep = is_deep(c);
      for (int x = 0; x < side; ++x)
        for (int y = 0; y < side; ++y)
          for (int z = 0; z < side; ++z)
            phi_[c * nodes_per_cell + static_cast<std::size_t>(node_index(x, y, z))] =
                deep ? -radius_ : distance(c, node_position(c, x, y, z));
    });
  }
  float distance(std::size_t c, const V& at) const {
    const Mean mean = mean_near(c, at);
    return mean.weight > 0 ? std::sqrt(squared_norm(mean.offset)) - radius_ : reach_;
  }
  /// Mean of the points near a place in cell c, as seen from there, and the sum of their weights.
  struct Mean {
    V offset;
    float weight;
  };
  Mean mean_near(std::size_t c, const V& at) const {
    float sum = 0;
    V offset = V::zero();
    for (const std::uint32_t n : neighbors_[c]) {
      if (n == none) continue;
      for (std::uint32_t i = cells_[n].begin; i < cells_[n].end; ++i) {
        const V d = points_[i] - at;
        const float q = 1 - squared_norm(d) / (reach_ * reach_);
        if (!(q > 0)) continue;
        sum += q * q * q;
        offset += q * q * q * d;
      }
    }
    return {sum > 0 ? (1 / sum) * offset : offset, sum};
  }

  /// phi at a node by coordinates from -1 to `side` about a cell; far outside where there is no cell.
  float phi(std::size_t c, int x, int y, int z) const {
    const auto cell_of = [](int i) { return i < 0 ? -1 : i >= side ? 1 : 0; };
    const auto within = [](int i) { return (i + side) % side; };
    const std::uint32_t n = neighbors_[c][static_cast<std::size_t>(neighbor_index(cell_of(x), cell_of(y), cell_of(z)))];
    if (n == none) return reach_;
    return phi_[n * nodes_per_cell + static_cast<std::size_t>(node_index(within(x), within(y), within(z)))];
  }

  /// One vertex in each cube of eight nodes that the surface passes through: the mean of where it crosses edges.
  void place_vertices() {
    vertex_of_.assign(cells_.size() * nodes_per_cell, none);
    std::vector<std::vector<V>> made(cells_.size());
    std::vector<std::vector<float>> sharp(cells_.size());
    each_cell([&](std::size_t c) {
      for (int x = 0; x < side; ++x)
        for (int y = 0; y < side; ++y)
          for (int z = 0; z < side; ++z) {
            V vertex;
            if (!vertex_in(c, x, y, z, vertex)) continue;
            vertex_of_[c * nodes_per_cell + static_cast<std::size_t>(node_index(x, y, z))] =
                static_cast<std::uint32_t>(made[c].size());
            sharp[c].push_back(sharpened(c, vertex));
            made[c].push_back(vertex);
          }
    });
    std::vector<std::uint32_t> first(cells_.size());
    for (std::size_t c = 0; c < cells_.size(); ++c) {
      first[c] = static_cast<std::uint32_t>(skin_.vertices.size());
      skin_.vertices.insert(skin_.vertices.end(), made[c].begin(), made[c].end());
      sharp_.insert(sharp_.end(), sharp[c].begin(), sharp[c].end());
    }
    each_cell([&](std::size_t c) {
      for (int i = 0; i < nodes_per_cell; ++i) {
        std::uint32_t& vertex = vertex_of_[c * nodes_per_cell + static_cast<std::size_t>(i)];
        if (vertex != none) vertex += first[c];
      }
    });
  }
  bool vertex_in(std::size_t c, int x, int y, int z, V& vertex) const {
    std::array<float, 8> value;
    for (int i = 0; i < 8; ++i)
      value[static_cast<std::size_t>(i)] = phi(c, x + (i >> 2), y + (i >> 1 & 1), z + (i & 1));
    V mean;
    if (!net_vertex(value, mean)) return false;
    vertex = node_position(c, x, y, z) + step_ * mean;
    return true;
  }

  /// Drops and threads are no wider than the grid is fine: there vertices go onto the sphere about the mean itself.
  /// Gives how much of that there is: 0 in a body of many points, 1 at a lone one.
  float sharpened(std::size_t c, V& vertex) const {
    constexpr float alone = 1, many = 2.5F;  // sums of weights; on a flat surface it is 5, along an edge 2.5
    const Mean mean = mean_near(c, vertex);
    const float share = std::clamp((many - mean.weight) / (many - alone), 0.0F, 1.0F);
    const float length = std::sqrt(squared_norm(mean.offset));
    if (share > 0 && length > 0) vertex += (share * (1 - radius_ / length)) * mean.offset;
    return share;
  }

  std::uint32_t vertex_at(std::size_t c, int x, int y, int z) const {
    const auto cell_of = [](int i) { return i < 0 ? -1 : 0; };
    const auto within = [](int i) { return (i + side) % side; };
    const std::uint32_t n = neighbors_[c][static_cast<std::size_t>(neighbor_index(cell_of(x), cell_of(y), cell_of(z)))];
    if (n == none) return none;
    return vertex_of_[n * nodes_per_cell + static_cast<std::size_t>(node_index(within(x), within(y), within(z)))];
  }

  /// A quadrilateral around each grid edge the surface crosses, from the four cubes that share the edge.
  void join() {
    std::vector<std::vector<Vec<std::uint32_t, 3>>> made(cells_.size());
    each_cell([&](std::size_t c) {
      for (int x = 0; x < side; ++x)
        for (int y = 0; y < side; ++y)
          for (int z = 0; z < side; ++z)
            for (int axis = 0; axis < 3; ++axis) add_quad(c, {{x, y, z}}, axis, made[c]);
    });
    for (const auto& triangles : made)
      skin_.triangles.insert(skin_.triangles.end(), triangles.begin(), triangles.end());
  }
  void add_quad(std::size_t c, const Vec<int, 3>& node, int axis, std::vector<Vec<std::uint32_t, 3>>& triangles) const {
    Vec<int, 3> other = node;
    ++other[axis];
    const bool inside = phi(c, node[0], node[1], node[2]) < 0;
    if (inside == (phi(c, other[0], other[1], other[2]) < 0)) return;
    net_quad(
        node, axis, inside, none,
        [&](const Vec<int, 3>& cube) { return vertex_at(c, cube[0], cube[1], cube[2]); },
        [&](const Vec<std::uint32_t, 3>& t) { triangles.push_back(t); });
  }

  /// Alternating steps toward and away from the mean of the neighbors: bumps go, volume stays. Drops would go with the
  /// bumps, so they are left out.
  void smooth() {
    const std::size_t n = skin_.vertices.size();
    std::vector<V> mean(n);
    std::vector<float> weight(n);
    for (int round = 0; round < 20; ++round) {
      std::fill(mean.begin(), mean.end(), V::zero());
      std::fill(weight.begin(), weight.end(), 0.0F);
      for (const Vec<std::uint32_t, 3>& t : skin_.triangles)
        for (int k = 0; k < 3; ++k) {
          const std::uint32_t a = t[k], b = t[(k + 1) % 3];
          mean[a] += skin_.vertices[b];
          mean[b] += skin_.vertices[a];
          weight[a] += 1;
          weight[b] += 1;
        }
      const float amount = round % 2 == 0 ? 0.5F : -0.52F;
      tbb::parallel_for(std::size_t{0}, n, [&](std::size_t i) {
        if (!(weight[i] > 0)) return;
        skin_.vertices[i] += (amount * (1 - sharp_[i])) * ((1 / weight[i]) * mean[i] - skin_.vertices[i]);
      });
    }
  }

  float reach_;   ///< of the kernel
  float step_;    ///< of the grid
  float radius_;  ///< of a lone point's ball
  std::uint32_t dense_;
  std::vector<V> points_;  ///< sorted by cell
  std::vector<Cell> occupied_, cells_;
  std::vector<std::array<std::uint32_t, 27>> neighbors_;
  std::vector<float> phi_;
  std::vector<std::uint32_t> vertex_of_;
  std::vector<float> sharp_;  ///< of each vertex, see `sharpened`
  Skin skin_;
};

}  // namespace

Skin skin_around(std::span<const Vec<float, 3>> points, float spacing) { return SkinMaker(points, spacing).take(); }

}  // namespace tribo

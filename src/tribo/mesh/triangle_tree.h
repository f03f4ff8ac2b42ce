#pragma once

#include <cstdint>
#include <vector>

#include "tribo/mesh/surface_mesh.h"

namespace tribo {

/// A tree of boxes over the triangles of a mesh: nearest distances and winding numbers in logarithmic time.
class TriangleTree {
 public:
  explicit TriangleTree(const SurfaceMesh& mesh);

  /// Distance to the nearest triangle, or `limit` when none is nearer.
  double distance(const Vec<double, 3>& p, double limit) const;

  /// Number of the nearest triangle in the mesh.
  std::size_t nearest(const Vec<double, 3>& p) const;

  /// How often the surface goes around p: 1 inside of a closed surface, 0 outside, 2 where two parts overlap. Exact but
  /// for far groups of triangles, which act as dipoles (Jacobson 2013, Barill 2018): good to a few percent.
  double winding(const Vec<double, 3>& p) const;

  /// Numbers in the mesh of the triangles, as leaves have them.
  std::vector<std::size_t> order() const;
  /// visit(low, high, first, count) for each half of a half, in their order: see Node.
  template <class Visit>
  void each_node(const Visit& visit) const {
    for (const Node& node : nodes_) visit(node.low, node.high, node.first, node.count);
  }

 private:
  struct Found {
    double distance2;
    std::uint32_t triangle;  ///< in the tree
  };
  struct Triangle {
    Vec<double, 3> a, b, c;
    std::uint32_t index;  ///< in the mesh
  };
  struct Node {
    Vec<double, 3> low, high;
    Vec<double, 3> center = Vec<double, 3>::zero();  ///< of area
    Vec<double, 3> dipole = Vec<double, 3>::zero();  ///< sum of normals times areas
    double radius2 = 0;                              ///< squared, about the center
    std::uint32_t first = 0;                         ///< of a leaf, its first triangle; else the second child: the
                                                     ///< first one is the next node
    std::uint32_t count = 0;                         ///< triangles of a leaf; 0: not a leaf
  };
  static constexpr int deepest = 64;  ///< halves of 2^32 triangles, and to spare

  Found find(const Vec<double, 3>& p, double limit2) const;
  std::uint32_t build(std::uint32_t begin, std::uint32_t end);
  static double squared_distance(const Triangle& t, const Vec<double, 3>& p);
  static double squared_distance(const Node& node, const Vec<double, 3>& p);

  std::vector<Triangle> triangles_;
  std::vector<Node> nodes_;
};

}  // namespace tribo

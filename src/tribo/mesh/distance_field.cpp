#include "tribo/mesh/distance_field.h"

#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "tribo/mesh/triangle_tree.h"

namespace tribo {
namespace {

using P = Vec<double, 3>;
constexpr int side = DistanceField::side;
constexpr double band = 2;    ///< cells around the surface that must be fine
constexpr double margin = 8;  ///< cells around the solid's bounds: contact looks around nodes near the surface

/// The triangles that have the outside before them. Those of parts that overlap, where they lie within another, are no
/// surface of the solid: a distance to them would send what is inside to and fro between them.
SurfaceMesh outer_part(const SurfaceMesh& mesh, const TriangleTree& tree) {
  std::vector<char> outer(mesh.triangles.size());
  tbb::parallel_for(std::size_t{0}, outer.size(), [&](std::size_t t) {
    const P area = mesh.area(t);
    const double size = std::sqrt(std::sqrt(squared_norm(area)));
    const P center = (1.0 / 3) * (mesh.corner(t, 0) + mesh.corner(t, 1) + mesh.corner(t, 2));
    outer[t] = !(size > 0) || tree.winding(center + (0.01 / size) * area) < 0.5 ? 1 : 0;
  });
  SurfaceMesh out;
  out.vertices = mesh.vertices;
  for (std::size_t t = 0; t < outer.size(); ++t)
    if (outer[t] != 0) out.triangles.push_back(mesh.triangles[t]);
  return out.triangles.empty() ? mesh : out;
}

class FieldMaker {
 public:
  FieldMaker(const Solid& solid, double spacing, std::size_t most)
      : solid_(solid), all_(solid.mesh), tree_(outer_part(solid.mesh, all_)) {
    field_.spacing = spacing;
    // Each try costs little beside the sampling that follows.
    while (!lay_out(most)) field_.spacing *= 1.25;
    sample_corners();
    sample_blocks();
  }
  DistanceField take() { return std::move(field_); }

 private:
  /// Blocks around the solid, and which of them are fine; false when that takes too much memory.
  bool lay_out(std::size_t most) {
    const double h = field_.spacing;
    double total = 1, corner_total = 1;
    for (int k = 0; k < 3; ++k) {
      const double wanted = solid_.high[k] - solid_.low[k] + 2 * margin * h;
      const double count = std::ceil(wanted / (side * h));
      total *= count;
      corner_total *= count + 1;
      if (!(4 * (total + corner_total) <= static_cast<double>(most))) return false;
      field_.blocks[k] = static_cast<std::int32_t>(count);
      field_.low[k] = 0.5 * (solid_.low[k] + solid_.high[k] - count * side * h);
    }
    field_.fine.assign(static_cast<std::size_t>(total), DistanceField::far);
    each_row([&](std::int32_t x, std::int32_t y) {
      const double reach = (0.5 * side * std::numbers::sqrt3 + band) * h;
      const double edge = side * h;
      double most_here = 1e300;  // what the distance cannot exceed, nor fall short of by more than the way since
      for (std::int32_t z = 0; z < field_.blocks[2];) {
        const double distance = tree_.distance(position(x + 0.5, y + 0.5, z + 0.5), most_here);
        if (distance < reach) field_.fine[block_index(x, y, z)] = 0;
        // Where the surface is far, so it is from the next blocks.
        const double ahead = std::floor((distance - reach) / edge * (1 - 1e-9)) + 1;
        const auto step = static_cast<std::int32_t>(std::clamp(ahead, 1.0, double(field_.blocks[2])));
        most_here = (distance + step * edge) * (1 + 1e-9);
        z += step;
      }
    });
    std::int32_t count = 0;
    for (std::int32_t& block : field_.fine)
      if (block != DistanceField::far) block = count++;
    const double bytes = 4 * (total + corner_total + double(count) * DistanceField::block_nodes);
    if (!(bytes <= static_cast<double>(most))) return false;
    field_.corners.resize(static_cast<std::size_t>(corner_total));
    field_.samples.resize(static_cast<std::size_t>(count) * DistanceField::block_nodes);
    return true;
  }

  std::size_t block_index(std::int32_t x, std::int32_t y, std::int32_t z) const {
    return (static_cast<std::size_t>(x) * static_cast<std::size_t>(field_.blocks[1]) + static_cast<std::size_t>(y)) *
               static_cast<std::size_t>(field_.blocks[2]) +
           static_cast<std::size_t>(z);
  }
  /// By coordinates counted in blocks.
  P position(double x, double y, double z) const {
    const double edge = side * field_.spacing;
    return field_.low + P{{edge * x, edge * y, edge * z}};
  }
  template <class Work>
  void each_row(const Work& work, int more = 0) const {
    const std::int32_t columns = field_.blocks[1] + more;
    tbb::parallel_for(std::int32_t{0}, (field_.blocks[0] + more) * columns,
                      [&](std::int32_t row) { work(row / columns, row % columns); });
  }

  /// Walks from sample to sample: a distance changes by no more than the length of the step, which bounds the search
  /// for the nearest triangle; and a step that is too short to reach the surface and come out again does not change
  /// sides, which spares most winding numbers.
  class Walk {
   public:
    Walk(const TriangleTree& tree, const TriangleTree& all) : tree_(tree), all_(all) {}
    float to(const P& p) {
      const double step = std::sqrt(squared_norm(p - at_)) * (1 + 1e-9);
      const double distance = tree_.distance(p, started_ ? distance_ + step : 1e300);
      if (!started_ || !(distance + distance_ > step)) inside_ = all_.winding(p) >= 0.5;
      at_ = p;
      distance_ = distance;
      started_ = true;
      return static_cast<float>(inside_ ? -distance : distance);
    }

   private:
    const TriangleTree &tree_, &all_;
    P at_ = P::zero();
    double distance_ = 0;
    bool inside_ = false;
    bool started_ = false;
  };

  void sample_corners() {
    const std::int32_t ny = field_.blocks[1] + 1, nz = field_.blocks[2] + 1;
    each_row(
        [&](std::int32_t x, std::int32_t y) {
          Walk walk(tree_, all_);
          for (std::int32_t z = 0; z < nz; ++z)
            field_.corners[(static_cast<std::size_t>(x) * static_cast<std::size_t>(ny) + static_cast<std::size_t>(y)) *
                               static_cast<std::size_t>(nz) +
                           static_cast<std::size_t>(z)] = walk.to(position(x, y, z));
        },
        1);
  }

  /// Through each block as an ox plows, so that neighbors in the walk are neighbors in space.
  void sample_blocks() {
    each_row([&](std::int32_t x, std::int32_t y) {
      for (std::int32_t z = 0; z < field_.blocks[2]; ++z) {
        const std::int32_t block = field_.fine[block_index(x, y, z)];
        if (block == DistanceField::far) continue;
        float* const out = field_.samples.data() + static_cast<std::size_t>(block) * DistanceField::block_nodes;
        Walk walk(tree_, all_);
        constexpr int n = side + 1;
        for (int i = 0; i < n; ++i)
          for (int jj = 0; jj < n; ++jj)
            for (int kk = 0; kk < n; ++kk) {
              const int j = i % 2 == 0 ? jj : n - 1 - jj;
              const int k = (i * n + jj) % 2 == 0 ? kk : n - 1 - kk;
              out[(i * n + j) * n + k] =
                  walk.to(position(x + double(i) / side, y + double(j) / side, z + double(k) / side));
            }
      }
    });
  }

  const Solid& solid_;
  TriangleTree all_;   ///< says what is inside
  TriangleTree tree_;  ///< of the surface, which distances are to
  DistanceField field_;
};

}  // namespace

DistanceField sample_distance(const Solid& solid, double spacing, std::size_t most) {
  DistanceField field;
  // Isolated: whoever waits for the field must not be handed other work that waits for it, too.
  tbb::this_task_arena::isolate([&] { field = FieldMaker(solid, spacing, most).take(); });
  return field;
}

}  // namespace tribo

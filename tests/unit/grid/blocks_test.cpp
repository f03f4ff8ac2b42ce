#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "cloud.h"
#include "tribo/core/errors.h"
#include "tribo/grid/stages.h"

/// \file
/// Geometry of the sparse grid, and the sort and the tables that build it, against plain loops.

namespace tribo::TRIBO_BACKEND {
namespace {

using test::Cloud;
using test::random_particles;
using test::uniform;

template <int D>
std::array<int, D> tuple_of(const Cell<D>& c) {
  std::array<int, D> r;
  for (int k = 0; k < D; ++k) r[std::size_t(k)] = c[k];
  return r;
}

template <int D>
void check_flattening() {
  for (const int side : {1, 3, 4, 6, 8}) {
    Cell<D> last = Cell<D>::filled(0);
    for (int i = 0; i < power(side, D); ++i) {
      const Cell<D> c = unflatten<D>(i, side);
      for (int k = 0; k < D; ++k) {
        ASSERT_GE(c[k], 0);
        ASSERT_LT(c[k], side);
      }
      ASSERT_EQ(flatten(c, side), i);
      if (i > 0) {
        ASSERT_LT(tuple_of<D>(last), tuple_of<D>(c));  // last axis fastest
      }
      last = c;
    }
  }
}
TEST(Blocks, FlattenAndUnflattenAreInverse) {
  check_flattening<1>();
  check_flattening<2>();
  check_flattening<3>();
}

TEST(Blocks, ArenasCoverWhatDriftingParticlesTouch) {
  using Shape = BlockShape<3>;
  // Base nodes -margin .. side - 1 + margin, and two more nodes of the kernel.
  EXPECT_EQ(Shape::arena_side, 2 * drift_cells + 4 + 2);
  const int lowest = -Shape::margin, highest = Shape::side - 1 + Shape::margin + Shape::kernel - 1;
  EXPECT_GE(lowest, 4 * Shape::first_neighbor);
  EXPECT_LT(highest, 4 * (Shape::first_neighbor + Shape::neighbor_side));
}

/// Bit b of axis k is bit D b + (D - 1 - k) of a block's place in its tile.
template <int D>
void check_tiles() {
  std::mt19937_64 random(1);
  const auto any_block = [&](int range) {
    Cell<D> block;
    for (int k = 0; k < D; ++k) block[k] = static_cast<int>(random() % static_cast<unsigned>(2 * range)) - range;
    return block;
  };
  const int side = 1 << tile_bits<D>;
  for (int trial = 0; trial < 20000; ++trial) {
    const Cell<D> block = any_block(trial % 2 == 0 ? 3 * side : 1 << (key_bits_per_axis - 1));
    std::uint32_t place = 0;
    for (int b = 0; b < tile_bits<D>; ++b)
      for (int k = 0; k < D; ++k) place |= (static_cast<std::uint32_t>(block[k]) >> b & 1) << (D * b + D - 1 - k);
    ASSERT_EQ(TileWindow<D>::place_in_tile(block), place);

    Cell<D> first = any_block(5 * side), last = first;
    for (int k = 0; k < D; ++k) {
      first[k] = std::min(first[k], block[k]);
      last[k] = std::max(last[k], block[k]);
    }
    const auto window = TileWindow<D>::around(first, last);
    ASSERT_TRUE(window.holds(block) && window.holds(first) && window.holds(last));
    for (int k = 0; k < D; ++k) {
      Cell<D> outside = first;
      outside[k] -= side;
      ASSERT_FALSE(window.holds(outside));
      outside[k] = last[k] + side;
      ASSERT_FALSE(window.holds(outside));
    }
    ASSERT_LT(window.tile_of(block), window.count());
    ASSERT_EQ(tuple_of<D>(window.block_at(window.tile_of(block), place)), tuple_of<D>(block));
    ASSERT_EQ(window.code(block), static_cast<std::uint64_t>(window.tile_of(block)) << bits_in_tile<D> | place);

    // The order of two blocks is the same in every window.
    const Cell<D> other = any_block(3 * side);
    Cell<D> low = first, high = last;
    for (int k = 0; k < D; ++k) {
      low[k] = std::min(low[k], other[k]) - static_cast<int>(random() % 1000);
      high[k] = std::max(high[k], other[k]) + static_cast<int>(random() % 1000);
    }
    const auto wider = TileWindow<D>::around(low, high);
    if (window.holds(other)) {
      ASSERT_EQ(window.code(block) < window.code(other), wider.code(block) < wider.code(other));
    }
  }
}
TEST(Blocks, TilesInTwoDimensions) { check_tiles<2>(); }
TEST(Blocks, TilesInThreeDimensions) { check_tiles<3>(); }

/// Everything sort_particles and build_grid promise about a cloud whose particles came in order of id.
template <class Real>
void check_bins_and_grid(Cloud<Real>& cloud, const std::vector<test::Particle>& original) {
  using Shape = BlockShape<3>;
  const auto p = cloud.particles();
  const Index n = cloud.state.count;

  // Particles are the same ones, each with its own columns.
  std::vector<int> seen(original.size());
  for (Index i = 0; i < n; ++i) {
    const auto id = static_cast<std::size_t>(p.id[0][i]);
    ASSERT_LT(id, original.size());
    ++seen[id];
    const test::Particle& own = original[id];
    ASSERT_EQ(p.object[0][i], own.object);
    ASSERT_EQ(p.m[0][i], Real(own.m));
    for (int k = 0; k < 3; ++k) {
      ASSERT_EQ(p.v[k][i], Real(own.v[k]));
      for (int j = 0; j < 3; ++j) ASSERT_EQ(p.C[3 * k + j][i], Real(own.C(k, j)));
    }
  }
  for (const int count : seen) ASSERT_EQ(count, 1);

  // Bins cut the particles into runs of one material and block, ordered by material.
  const Bin<3>* const bins = cloud.state.bins.data();
  std::set<std::tuple<Index, std::array<int, 3>>> distinct;
  Index next = 0, last_group = 0;
  for (Index b = 0; b < cloud.state.bin_count; ++b) {
    const Bin<3>& bin = bins[b];
    ASSERT_EQ(bin.begin, next);
    ASSERT_GT(bin.end, bin.begin);
    ASSERT_GE(bin.group, last_group);
    last_group = bin.group;
    next = bin.end;
    ASSERT_TRUE(distinct.insert({bin.group, tuple_of<3>(bin.block)}).second);
    int last_cell = -1;
    Index last_id = -1;
    for (Index i = bin.begin; i < bin.end; ++i) {
      ASSERT_EQ(cloud.work.object_group.data()[p.object[0][i]], bin.group);
      const Cell<3> base = cloud.base(i);
      Cell<3> within;
      for (int k = 0; k < 3; ++k) {
        within[k] = base[k] - 4 * bin.block[k];
        ASSERT_GE(within[k], 0);
        ASSERT_LT(within[k], 4);
      }
      // Ordered by cell; within a cell the order of before is kept.
      const int cell = flatten(within, 4);
      ASSERT_GE(cell, last_cell);
      if (cell == last_cell) {
        ASSERT_GT(p.id[0][i], last_id);
      }
      last_cell = cell;
      last_id = p.id[0][i];
    }
  }
  ASSERT_EQ(next, n);

  // First bin of each material.
  ASSERT_EQ(cloud.work.group_bins.size(), 3u);
  for (Index g = 0; g <= 2; ++g) {
    Index before = 0;
    for (Index b = 0; b < cloud.state.bin_count; ++b) before += bins[b].group < g;
    ASSERT_EQ(cloud.work.group_bins[std::size_t(g)], before);
  }
  ASSERT_EQ(cloud.work.host_bins.size(), std::size_t(cloud.state.bin_count));

  // Grid blocks are those some arena reaches into, each once, and the tables agree with a plain search.
  std::map<std::array<int, 3>, std::vector<Index>> reached;
  for (Index b = 0; b < cloud.state.bin_count; ++b)
    for (int neighbor = 0; neighbor < Shape::neighbors; ++neighbor) {
      Cell<3> block = unflatten<3>(neighbor, Shape::neighbor_side);
      for (int k = 0; k < 3; ++k) block[k] += bins[b].block[k] + Shape::first_neighbor;
      reached[tuple_of<3>(block)].push_back(b * Shape::neighbors + neighbor);
    }
  ASSERT_EQ(std::size_t(cloud.work.block_count), reached.size());
  for (Index g = 0; g < cloud.work.block_count; ++g) {
    const auto found = reached.find(tuple_of<3>(cloud.work.blocks.data()[g]));
    ASSERT_NE(found, reached.end());
    const Index begin = cloud.work.touch_start.data()[g], end = cloud.work.touch_start.data()[g + 1];
    // In order of the bin, so that sums over arenas have one order.
    const std::vector<Index> touches(cloud.work.touch.data() + begin, cloud.work.touch.data() + end);
    ASSERT_EQ(touches, found->second);
    for (const Index touch : touches) ASSERT_EQ(cloud.work.bin_blocks.data()[touch], g);
    reached.erase(found);
  }
  ASSERT_TRUE(reached.empty());
  EXPECT_TRUE(cloud.work.grid_valid);
}

template <class Real>
class SparseGrid : public ::testing::Test {};
using Reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(SparseGrid, Reals);

TYPED_TEST(SparseGrid, AgreesWithPlainLoops) {
  for (const unsigned seed : {1u, 2u}) {
    const auto particles = random_particles(seed);
    Cloud<TypeParam> cloud(particles);
    cloud.sort();
    check_bins_and_grid(cloud, particles);
  }
}

TYPED_TEST(SparseGrid, OneParticle) {
  for (const double x : {0.0, -1e-9, 0.125, -0.125, 1e3, -1e3}) {
    const std::vector<test::Particle> particles = {{.x = {{x, 2 * x, -x}}, .object = 1}};
    Cloud<TypeParam> cloud(particles);
    cloud.sort();
    check_bins_and_grid(cloud, particles);
    EXPECT_EQ(cloud.work.block_count, BlockShape<3>::neighbors);
  }
}

TYPED_TEST(SparseGrid, NoParticles) {
  Cloud<TypeParam> cloud({});
  cloud.sort();
  EXPECT_EQ(cloud.state.bin_count, 0);
  EXPECT_EQ(cloud.work.block_count, 0);
}

/// Particles that are nearly in order already, and in buffers that have been swapped.
TYPED_TEST(SparseGrid, SortsAgainAfterMoving) {
  Cloud<TypeParam> cloud(random_particles(4));
  cloud.sort();
  std::mt19937_64 random(9);
  for (int round = 0; round < 3; ++round) {
    std::vector<test::Particle> moved(std::size_t(cloud.state.count));
    for (Index i = 0; i < cloud.state.count; ++i) {
      for (int k = 0; k < 3; ++k) cloud.particles().x[k][i] += TypeParam(uniform(random, -0.3, 0.3));
      cloud.particles().id[0][i] = i;  // the order to be kept within a cell is the present one
      moved[std::size_t(i)] = cloud.at(i);
    }
    cloud.state.drift = 3;
    cloud.sort();
    EXPECT_EQ(cloud.state.drift, 0);
    check_bins_and_grid(cloud, moved);
  }
}

TYPED_TEST(SparseGrid, DoesNotDependOnThreads) {
  const auto particles = random_particles(5, 10000);
  // One cloud at a time: a living Exec limits the threads of all others.
  const auto sorted = [&](int threads) {
    Cloud<TypeParam> cloud(particles, threads);
    cloud.sort();
    std::string bytes;
    const auto add = [&](const auto* data, Index count) {
      bytes.append(reinterpret_cast<const char*>(data), sizeof(*data) * std::size_t(count));
    };
    const Index touches = cloud.state.bin_count * BlockShape<3>::neighbors;
    add(cloud.particles().id[0], cloud.state.count);
    add(cloud.state.bins.data(), cloud.state.bin_count);
    add(cloud.work.blocks.data(), cloud.work.block_count);
    add(cloud.work.touch.data(), touches);
    add(cloud.work.bin_blocks.data(), touches);
    return bytes;
  };
  const std::string one = sorted(1);
  for (const int threads : {2, 3, 5}) EXPECT_TRUE(sorted(threads) == one) << threads << " threads";
}

TYPED_TEST(SparseGrid, ParticlesThatAreNowhereAreAnError) {
  for (const double x : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), 1e30}) {
    auto particles = random_particles(6, 10);
    particles[17].x[1] = x;
    Cloud<TypeParam> cloud(particles);
    EXPECT_THROW(cloud.sort(), DivergedError);
  }
}

/// The widest grid that keys can tell apart has the arenas' margins in it; anything wider must be refused, not folded
/// onto other blocks.
TYPED_TEST(SparseGrid, WidestExtentIsRightOrRefused) {
  const int widest = 1 << key_bits_per_axis;
  for (int axis = 0; axis < 3; ++axis)
    for (const int blocks : {widest - 4, widest - 3, widest - 2, widest - 1, widest, 2 * widest}) {
      std::vector<test::Particle> particles(2);
      for (test::Particle& p : particles) p.x = Vec<double, 3>::filled(2 * Cloud<TypeParam>::dx);
      particles[1].x[axis] += 4.0 * (blocks - 1) * Cloud<TypeParam>::dx;
      Cloud<TypeParam> cloud(particles);
      if (blocks + BlockShape<3>::neighbor_side - 1 <= widest) {
        cloud.sort();
        check_bins_and_grid(cloud, particles);
      } else {
        EXPECT_THROW(cloud.sort(), DivergedError) << blocks;
      }
    }
}

}  // namespace
}  // namespace tribo::TRIBO_BACKEND

#include "tribo/search/box_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

/// \file
/// The search against all pairs there are: of points, segments and triangles, in one set and in two.

namespace tribo::TRIBO_BACKEND::test {
namespace {

using V = Vec<double, 3>;
using Pairs = std::vector<std::pair<Index, Index>>;

/// Corners of a point, a segment or a triangle, and their velocities.
struct Item {
  std::vector<V> x, v;
};
using Items = std::vector<Item>;

class Scene {
 public:
  explicit Scene(unsigned seed) : random_(seed) {}
  double any() { return std::uniform_real_distribution<double>(-1, 1)(random_); }
  V point() { return {{any(), any(), any()}}; }
  Item item(const V& at, double size, int corners, double speed) {
    Item item;
    for (int k = 0; k < corners; ++k) {
      item.x.push_back(at + size * point());
      item.v.push_back(speed * point());
    }
    return item;
  }
  Items items(int count, double reach, double size, int corners, double speed = 1) {
    Items all;
    for (int i = 0; i < count; ++i) all.push_back(item(reach * point(), size, corners, speed));
    return all;
  }

 private:
  std::mt19937_64 random_;
};

constexpr double dt = 0.01, thickness = 0.003;

template <class Real>
Box<Real> box_of(const Item& item) {
  SweptBox<Real> box(cast<Real>(item.x[0]), cast<Real>(item.v[0]));
  for (std::size_t k = 1; k < item.x.size(); ++k) box.add(cast<Real>(item.x[k]), cast<Real>(item.v[k]));
  box.close(Real(thickness), Real(dt));
  return {box.low, box.high};
}

template <class Real>
struct Search {
  Exec ex;
  BoxSearch<Real> search;

  explicit Search(int threads = 1) : ex(threads) {}
  void fill(const Items& first, const Items& second) {
    const auto n = static_cast<Index>(first.size()), others = static_cast<Index>(second.size());
    search.box.resize_discard(n + others);
    for (Index i = 0; i < n + others; ++i)
      view(search.box).put(i, box_of<Real>(i < n ? first[std::size_t(i)] : second[std::size_t(i - n)]));
  }
  template <class Filter>
  Pairs within(const Items& items, const Filter& filter) {
    fill(items, {});
    list_near<Real>(ex, "test", "things", static_cast<Index>(items.size()), filter, search);
    return listed();
  }
  template <class Filter>
  Pairs between(const Items& first, const Items& second, const Filter& filter) {
    fill(first, second);
    list_near_between<Real>(ex, "test", "things", static_cast<Index>(first.size()), static_cast<Index>(second.size()),
                            filter, search);
    return listed();
  }
  Pairs listed() const {
    Pairs pairs;
    for (Index k = 0; k < search.near_count; ++k)
      pairs.emplace_back(search.near.data()[k].first, search.near.data()[k].second);
    return pairs;
  }
};

template <class Real>
std::vector<Box<Real>> boxes_of(const Items& items) {
  std::vector<Box<Real>> boxes;
  for (const Item& item : items) boxes.push_back(box_of<Real>(item));
  return boxes;
}
template <class Real>
Pairs all_within(const Items& items) {
  const std::vector<Box<Real>> box = boxes_of<Real>(items);
  Pairs pairs;
  for (std::size_t i = 0; i < box.size(); ++i)
    for (std::size_t j = i + 1; j < box.size(); ++j)
      if (!box[i].empty() && !box[j].empty() && box[i].meets(box[j])) pairs.emplace_back(i, j);
  return pairs;
}
template <class Real>
Pairs all_between(const Items& first, const Items& second) {
  const std::vector<Box<Real>> a = boxes_of<Real>(first), b = boxes_of<Real>(second);
  Pairs pairs;
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < b.size(); ++j)
      if (!a[i].empty() && !b[j].empty() && a[i].meets(b[j])) pairs.emplace_back(i, j);
  return pairs;
}
Pairs sorted(Pairs pairs) {
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

struct Family {
  std::string name;
  std::size_t least;  ///< pairs, so that there is something to lose
  Items items;
};
Items joined(Items a, const Items& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
Items flat(Items items, int axes) {
  for (Item& item : items)
    for (V& x : item.x)
      for (int k = 3 - axes; k < 3; ++k) x[k] = 0.25;
  return items;
}
std::vector<Family> families() {
  Scene s(3);
  std::vector<Family> all;
  for (int corners = 1; corners <= 3; ++corners) {
    const std::string of = " of " + std::to_string(corners) + " corners";
    all.push_back({"all alike" + of, 5, s.items(400, 0.5, 0.1, corners)});
    all.push_back({"a few larger" + of, 30, joined(s.items(300, 0.5, 0.05, corners), s.items(6, 0.5, 1, 3))});
    all.push_back({"many larger" + of, 100, joined(s.items(200, 0.5, 0.05, corners), s.items(150, 0.5, 0.3, 3))});
    all.push_back(
        {"some fly" + of, 100, joined(s.items(300, 0.5, 0.05, corners), s.items(10, 0.5, 0.05, corners, 1e4))});
    all.push_back({"all at one place" + of, 10000, s.items(200, 0, 0.01, corners)});
    all.push_back({"in a plane" + of, 20, flat(s.items(400, 0.5, 0.1, corners, 0.1), 1)});
    all.push_back({"on a line" + of, 1000, flat(s.items(400, 0.5, 0.1, corners, 0.1), 2)});
    all.push_back({"far from each other" + of, 0, s.items(200, 1e6, 0.1, corners)});
    all.push_back({"two crowds far from each other" + of, 100, joined(s.items(100, 0.1, 0.02, corners), [&] {
                     Items away = s.items(100, 0.1, 0.02, corners);
                     for (Item& item : away)
                       for (V& x : item.x) x += V{{3e4, 0, -1e4}};
                     return away;
                   }())});
  }
  Items lost = s.items(300, 0.5, 0.1, 2);
  for (std::size_t i = 0; i < lost.size(); i += 7)
    (i % 2 == 0 ? lost[i].x : lost[i].v)[i % 2][int(i % 3)] =
        i % 3 == 0 ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
  all.push_back({"some not finite", 30, lost});
  all.push_back({"two", 0, s.items(2, 0.5, 0.1, 2)});
  all.push_back({"one", 0, s.items(1, 0.5, 0.1, 2)});
  all.push_back({"none", 0, {}});
  all.push_back({"only what is not finite", 0, Items(20, Item{{V::filled(std::nan(""))}, {V::zero()}})});
  return all;
}

template <class Real>
class BoxSearchOf : public testing::Test {};
using Reals = testing::Types<float, double>;
TYPED_TEST_SUITE(BoxSearchOf, Reals);

TYPED_TEST(BoxSearchOf, OneSetFindsWhatAllPairsDo) {
  using Real = TypeParam;
  Search<Real> search;
  for (const Family& family : families()) {
    SCOPED_TRACE(family.name);
    const Pairs expected = all_within<Real>(family.items);
    EXPECT_GE(expected.size(), family.least);
    EXPECT_EQ(sorted(search.within(family.items, AllPairs{})), expected);
  }
}

// Of every two families, either first: large among small and the other way round, apart, and none.
TYPED_TEST(BoxSearchOf, TwoSetsFindWhatAllPairsDo) {
  using Real = TypeParam;
  Search<Real> search;
  const std::vector<Family> all = families();
  std::size_t found = 0;
  for (const Family& first : all)
    for (std::size_t k = 0; k < all.size(); k += 5) {
      const Family& second = all[(k + first.items.size()) % all.size()];
      SCOPED_TRACE(first.name + ", and " + second.name);
      const Pairs expected = all_between<Real>(first.items, second.items);
      found += expected.size();
      EXPECT_EQ(sorted(search.between(first.items, second.items, AllPairs{})), expected);
    }
  EXPECT_GT(found, 100000u);
  Scene s(8);
  const Items few = s.items(50, 0.5, 0.1, 2);
  EXPECT_TRUE(search.between(few, {}, AllPairs{}).empty());
  EXPECT_TRUE(search.between({}, few, AllPairs{}).empty());
}

/// Pairs of items whose numbers differ by more than a way, in two sets the first's number being the larger.
struct Apart {
  Index way;
  TRIBO_HD bool operator()(Index i, Index j) const { return way > 0 ? j - i > way : i > j; }
};
TEST(BoxSearch, LeavesOutWhatTheFilterDoes) {
  Scene s(4);
  const Items first = s.items(400, 0.5, 0.1, 2), second = s.items(300, 0.5, 0.1, 3);
  Search<double> search;
  Pairs expected = all_within<double>(first);
  std::erase_if(expected, [](const auto& p) { return p.second - p.first <= 100; });
  EXPECT_EQ(sorted(search.within(first, Apart{100})), expected);
  EXPECT_GT(expected.size(), 100u);
  expected = all_between<double>(first, second);
  std::erase_if(expected, [](const auto& p) { return p.first <= p.second; });
  EXPECT_EQ(sorted(search.between(first, second, Apart{0})), expected);
  EXPECT_GT(expected.size(), 100u);
}

// The same pairs in the same order for any number of threads.
TEST(BoxSearch, KnowsNoThreads) {
  Scene s(5);
  const Items first = joined(s.items(20000, 1, 0.02, 2), s.items(50, 1, 0.5, 3)), second = s.items(3000, 1, 0.1, 3);
  Search<float> one(1), four(4), seven(7);
  const Pairs within = one.within(first, AllPairs{}), between = one.between(first, second, AllPairs{});
  EXPECT_GT(within.size(), 20000u);
  EXPECT_GT(between.size(), 20000u);
  for (Search<float>* other : {&four, &seven}) {
    EXPECT_EQ(other->within(first, AllPairs{}), within);
    EXPECT_EQ(other->between(first, second, AllPairs{}), between);
  }
}

// Cost follows the pairs that there are, not the numbers of both sets multiplied: of a floor of many triangles few are
// where a few segments are, and one that is under all of it is in not many more cells than there are boxes.
TEST(BoxSearch, KeepsPlacesFew) {
  Scene s(6);
  Search<float> search;
  const Items first = s.items(5000, 1, 0.01, 2), floor = s.items(20000, 30, 0.1, 3);
  search.between(first, floor, AllPairs{});
  EXPECT_LT(search.search.guests, 20000);
  Items with_giants = s.items(2000, 1, 0.02, 3);
  for (int k = 0; k < 3; ++k) with_giants.push_back(s.item(V::zero(), 50, 3, 1));
  search.between(first, with_giants, AllPairs{});
  EXPECT_LT(search.search.guests, 5000 + 8 * 2003 + 4096);
}

// Nothing is allocated once the largest list has been made.
TEST(BoxSearch, AllocatesOnce) {
  Scene s(7);
  const Items first = joined(s.items(2000, 1, 0.05, 2), s.items(10, 1, 0.5, 3)), second = s.items(500, 1, 0.1, 3);
  Search<float> search;
  search.between(first, second, AllPairs{});
  search.within(first, AllPairs{});
  const std::size_t bytes = search.search.bytes();
  const void* const near = search.search.near.data();
  for (int k = 0; k < 3; ++k) {
    search.between(first, second, AllPairs{});
    search.within(first, AllPairs{});
    EXPECT_EQ(search.search.bytes(), bytes);
    EXPECT_EQ(search.search.near.data(), near);
  }
}

/// Pairs whose numbers' sum is a multiple of one.
struct Divisible {
  using Item = NearPair;
  Index by;
  TRIBO_HD static Item nothing(Index i, Index j) { return {i, j}; }
  TRIBO_HD bool operator()(Index i, Index j, Item& item) const {
    item = {i, j};
    return (i + j) % by == 0;
  }
};
TEST(BoxSearch, AsksOfPairsInTheirOrder) {
  Scene s(9);
  Search<double> search(3);
  Pairs expected = search.within(s.items(2000, 0.5, 0.05, 2), AllPairs{});
  std::erase_if(expected, [](const auto& p) { return (p.first + p.second) % 3 != 0; });
  Array<NearPair> items;
  const Index count = find_pairs(search.ex, "test", search.search, Divisible{3}, items);
  Pairs found;
  for (Index k = 0; k < count; ++k) found.emplace_back(items.data()[k].first, items.data()[k].second);
  EXPECT_EQ(found, expected);
  EXPECT_GT(count, 100);
}

// A box holds all that is within the thickness of its item during dt, whichever way its corners turn; packs give the
// bits that scalars do.
TYPED_TEST(BoxSearchOf, BoxesHoldWhatMoves) {
  using Real = TypeParam;
  using T = ParticlePack<Real>;
  Scene s(10);
  for (int trial = 0; trial < 500; ++trial) {
    const Item item = s.item(s.point(), 0.3, 1 + trial % 3, 20);
    const Box<Real> box = box_of<Real>(item);
    double fastest = 0;
    for (const V& v : item.v) fastest = std::max(fastest, std::sqrt(squared_norm(v)));
    for (const V& x : item.x)
      for (int turn = 0; turn < 20; ++turn) {
        V way = s.point();
        way = ((thickness + dt * fastest) / std::sqrt(squared_norm(way))) * way;
        for (int k = 0; k < 3; ++k) {
          EXPECT_LE(double(box.low[k]), x[k] + way[k]);
          EXPECT_GE(double(box.high[k]), x[k] + way[k]);
        }
      }
    const auto pack = [](const V& v) {
      Vec<T, 3> r;
      for (int k = 0; k < 3; ++k) r[k] = T(Real(v[k]));
      return r;
    };
    SweptBox<T> packed(pack(item.x[0]), pack(item.v[0]));
    for (std::size_t k = 1; k < item.x.size(); ++k) packed.add(pack(item.x[k]), pack(item.v[k]));
    packed.close(T(Real(thickness)), T(Real(dt)));
    for (int k = 0; k < 3; ++k) {
      Real low[pack_width<Real>];
      spill<Real>(packed.low[k], low);
      EXPECT_EQ(low[0], box.low[k]);
    }
  }
}

}  // namespace
}  // namespace tribo::TRIBO_BACKEND::test

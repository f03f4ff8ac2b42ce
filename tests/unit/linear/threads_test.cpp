#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "tribo/linear/cg.h"
#include "tribo/linear/gmres.h"
#include "tribo/linear/minres.h"

/// \file
/// Solvers give the same bytes for any number of threads.

namespace tribo::TRIBO_BACKEND {
namespace {

constexpr Index unknowns = 20000;  // several pieces of any loop or sum

/// A chain of springs, each point held a little as well; `skew` more by one neighbor than by the other.
struct ChainEntry {
  const float* x;
  float* y;
  float skew;
  TRIBO_HD void operator()(Index i) const {
    const float before = i > 0 ? x[i - 1] : 0, after = i + 1 < unknowns ? x[i + 1] : 0;
    y[i] = 2.1f * x[i] - (1 + skew) * before - (1 - skew) * after;
  }
};
struct Chain {
  explicit Chain(int threads, float how_skew = 0) : ex(threads), skew(how_skew) {
    std::vector<Index> all(unknowns);
    std::vector<float> wave(unknowns);
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i] = static_cast<Index>(i);
      wave[i] = std::sin(0.37f * static_cast<float>(i));
    }
    copy_to_device(ex, all.data(), list, unknowns);
    copy_to_device(ex, wave.data(), b, unknowns);
    x.resize_discard(unknowns);
    linear::Vectors<linear::ListSpace<float>>(ex, "test", space()).clear(x.data());
  }
  linear::ListSpace<float> space() const { return {list.data(), unknowns}; }
  void apply(const float* from, float* to) { parallel_for(ex, "test", unknowns, ChainEntry{from, to, skew}); }
  linear::Unpreconditioned precondition(const float*) const { return {}; }
  std::vector<float> solution() {
    std::vector<float> r(unknowns);
    copy_to_host(ex, x, r.data(), unknowns);
    return r;
  }

  Exec ex;
  float skew;
  Array<Index> list;
  Array<float> b, x;
};
struct Never {
  bool after_step(const linear::CgReport&) const { return false; }
  bool at_residual(const linear::CgReport&, double) const { return false; }
};

std::vector<float> by_cg(int threads) {
  Chain chain(threads);
  Array<float> p, Ap;
  p.resize_discard(unknowns);
  Ap.resize_discard(unknowns);
  Never stop;
  linear::conjugate_gradients(chain.ex, "test", chain, {chain.x.data(), chain.b.data(), p.data(), Ap.data()}, stop, 20);
  return chain.solution();
}
std::vector<float> by_minres(int threads) {
  Chain chain(threads);
  linear::MinresWorkspace<float> work;
  work.resize(unknowns);
  linear::Minres<Chain>(chain.ex, "test", chain, work).solve(chain.b.data(), chain.x.data(), 0, 20);
  return chain.solution();
}
std::vector<float> by_gmres(int threads) {
  Chain chain(threads, 0.3f);
  linear::GmresWorkspace<float> work;
  work.resize(unknowns, 8);
  linear::Gmres<Chain>(chain.ex, "test", chain, work).solve(chain.b.data(), chain.x.data(), 0, 20);
  return chain.solution();
}

TEST(Solvers, SameBytesForAnyThreads) {
  for (const auto solve : {by_cg, by_minres, by_gmres}) {
    const std::vector<float> one = solve(1);
    EXPECT_NE(one, std::vector<float>(unknowns, 0.0f));
    for (const int threads : {2, 3, 5})
      EXPECT_EQ(std::memcmp(solve(threads).data(), one.data(), unknowns * sizeof(float)), 0) << threads;
  }
}

}  // namespace
}  // namespace tribo::TRIBO_BACKEND

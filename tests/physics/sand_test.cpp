#include <gtest/gtest.h>

#include "sand_scenes.h"

/// \file
/// Coarse and quick; tests/validation/ compares finer grids with experiments.

namespace tribo::test {
namespace {

/// Sand flows, and comes to rest before water would: eight cells a radius let it run less far than it should, since a
/// front thinner than a cell stops early.
TEST(SandColumn, RunsOutLikeSand) {
  const Deposit deposit = collapse(1, 8);
  RecordProperty("run_out", fmt::format("{} (Lube {})", deposit.run_out, lube_run_out(1)));
  EXPECT_GT(deposit.run_out, 0.6 * lube_run_out(1));
  EXPECT_LT(deposit.run_out, 1.15 * lube_run_out(1));
  EXPECT_GT(deposit.height, 0.5);
  EXPECT_LT(deposit.height, 0.95);
  EXPECT_LT(deposit.kinetic_per_mass, 1e-3);  // 4 cm/s; it falls through 0.1 m
}

TEST(SandRepose, SteeperWithMoreFriction) {
  const double smooth = angle_of_repose(20, 0.01), rough = angle_of_repose(35, 0.01);
  RecordProperty("degrees", fmt::format("{} at 20, {} at 35", smooth, rough));
  EXPECT_GT(smooth, 13);
  EXPECT_LT(smooth, 22);
  EXPECT_GT(rough, smooth + 5);
  EXPECT_LT(rough, 37);
}

}  // namespace
}  // namespace tribo::test

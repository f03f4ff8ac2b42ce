#pragma once

#include <string>
#include <vector>

namespace tribo {

struct BenchOptions {
  std::vector<std::string> materials;  ///< names of laws; empty: all, or on CUDA one elastic and one plastic
  std::vector<double> particles;       ///< empty: 0.1 and 1 million, or on CUDA 1, 8 and 64 as far as they fit
  std::vector<int> threads;            ///< empty: one, and all
  std::string transfer = "apic";
  std::string kernel = "quadratic";
  std::string force;             ///< mls or gradient; empty: what the kernel takes by itself
  std::string state = "flight";  ///< or impact, or apart
  std::string device = "cpu";
  std::string precision = "float";
  std::string isa;
  int repeats = 5;
  std::string csv;  ///< file to append rows to; empty: none
};

/// Throughput of the MPM core: a block of particles, 8 per cell, deformed by 5 % at random and sheared while it falls;
/// or, in the state of impact, the same block on a floor that it has hit some milliseconds before, compressed there.
/// Prints a table; every row is checked (mass, momentum or finiteness), since a wrong answer has no speed.
void bench_mpm(const BenchOptions& options);

}  // namespace tribo

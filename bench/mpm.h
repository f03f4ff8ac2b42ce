#pragma once

#include <string>
#include <vector>

namespace tribo {

struct BenchOptions {
  std::vector<std::string> materials;  ///< names of presets; empty: one for each law
  std::vector<double> particles = {1e5, 1e6};
  std::vector<int> threads;  ///< empty: one, and all
  std::string transfer = "apic";
  std::string kernel = "quadratic";
  std::string force;  ///< mls or gradient; empty: what the kernel takes by itself
  std::string device = "cpu";
  std::string precision = "float";
  std::string isa;
  int repeats = 5;
  std::string csv;  ///< file to append rows to; empty: none
};

/// Throughput of the MPM core: a block of particles, 8 per cell, deformed by 5 % at random and sheared while it falls.
/// Prints a table; every row is checked (mass, momentum, finiteness), since a wrong answer has no speed.
void bench_mpm(const BenchOptions& options);

}  // namespace tribo

#pragma once

#include "mpm.h"

namespace tribo {

/// Throughput of meshes: cubes in a pile, three along each edge, on a slab that does not move; neighbors are as far
/// apart as they would be at rest, so that most faces are in contact. Prints a table, with nanoseconds of elastic
/// stages for each tet and of contact stages for each sample; rows are checked to be finite and in contact. Of the
/// options it takes threads, device, precision, isa, repeats and csv.
void bench_solids(const BenchOptions& options);

}  // namespace tribo

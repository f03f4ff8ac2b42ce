#pragma once

#include "mpm.h"

namespace tribo {

/// Throughput of hair: a bundle that falls into another across it (Han 2019, Fig. 15), from a twentieth of the paper's
/// strands to all of them, of 175 segments each, in mid-impact. Prints a table, with nanoseconds of each segment; rows are
/// checked to be finite and in contact. Of the options it takes threads, device, precision, isa, repeats and csv.
void bench_rods(const BenchOptions& options);

}  // namespace tribo

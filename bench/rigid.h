#pragma once

#include "mpm.h"

namespace tribo {

/// Throughput of rigid bodies: boxes and spheres, as many along each edge, that fall into a bin, while they land and
/// when they lie; and a wall of bricks that stands. Prints a table, with nanoseconds of the sweeps for each row of
/// contact and sweep over it, there and back; results are checked to be finite and in contact. Of the options it takes
/// threads, device, precision, isa, repeats, csv and, as the number of bodies, particles.
void bench_rigid(const BenchOptions& options);

}  // namespace tribo

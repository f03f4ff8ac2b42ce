#pragma once

#include "tribo/exec/backend.h"

namespace tribo::TRIBO_BACKEND {

/// kernel(i) for items that are enough work each to be shared out in small pieces: packs of tets, bins of samples,
/// vertices with all their tets. Pieces are some 50 us on the CPU, so that a mesh of a thousand tets has work for
/// several threads.
template <class Kernel>
struct PackChunk {
  static constexpr Index size = Team::size == 1 ? 16 : 128;
  struct Scratch {};
  Kernel kernel;
  Index packs;

  TRIBO_HD void operator()(const Team& team, Index chunk, Scratch&) const {
    const Index end = (chunk + 1) * size < packs ? (chunk + 1) * size : packs;
    for (Index p = chunk * size + team.rank(); p < end; p += Team::size) kernel(p);
  }
};
template <class Kernel>
void for_each_pack(Exec& ex, const char* label, Index packs, const Kernel& kernel) {
  using Chunks = PackChunk<Kernel>;
  for_each_team<typename Chunks::Scratch>(ex, label, (packs + Chunks::size - 1) / Chunks::size, Chunks{kernel, packs});
}

}  // namespace tribo::TRIBO_BACKEND

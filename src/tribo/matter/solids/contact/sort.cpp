#include <limits>
#include <string>

#include "tribo/core/errors.h"
#include "tribo/exec/chunks.h"
#include "tribo/grid/stencil.h"
#include "tribo/matter/solids/contact/lists.h"

namespace tribo::TRIBO_BACKEND {
namespace {

using Block = ContactBlock;
constexpr Index no_sample = no_index;

/// 2 axis + (1 when negative) of the largest component.
template <class Real>
TRIBO_HD Index main_direction(const Vec<Real, 3>& n) {
  int axis = 0;
  for (int k = 1; k < 3; ++k)
    if (abs(n[k]) > abs(n[axis])) axis = k;
  return 2 * axis + (n[axis] < Real(0) ? 1 : 0);
}

template <class Real>
struct PlaceSample {
  SamplesView<Real> samples;
  Real inverse_dx;
  ContactPlace<Real>* places;

  TRIBO_HD void operator()(Index q) const {
    const Vec<Real, 3> x = samples.position(q);
    for (int k = 0; k < 3; ++k) places[q].x[k] = in_cells(x[k], inverse_dx);
    places[q].normal = samples.normal(q);
  }
};

/// The cell a sample is listed in. False when a coordinate is not finite, or so far out that its place in the cell is
/// lost to rounding.
template <class Real>
TRIBO_HD bool cell_of(const ContactPlace<Real>& place, Cell<3>& cell) {
  for (int k = 0; k < 3; ++k) {
    const Real lowest = base_node<3>(place.x[k] - Real(contact_skin));
    constexpr Real digits = Real(1) / (32 * std::numeric_limits<Real>::epsilon());
    constexpr Real farthest = digits < Real(1e9) ? digits : Real(1e9);
    if (!(lowest > -farthest && lowest < farthest)) return false;
    cell[k] = static_cast<std::int32_t>(lowest);
  }
  return true;
}

/// Blocks that samples are in, and the first sample that is nowhere.
struct SampleExtent {
  Cell<3> low, high;
  Index lost;
};
template <class Real>
struct ExtentOfSample {
  const ContactPlace<Real>* places;

  TRIBO_HD SampleExtent operator()(Index q) const {
    Cell<3> cell;
    if (!cell_of(places[q], cell)) return {Cell<3>::filled(0x7fffffff), Cell<3>::filled(-0x7fffffff), q};
    for (int k = 0; k < 3; ++k) cell[k] >>= 2;
    return {cell, cell, no_sample};
  }
};
struct JoinSampleExtents {
  TRIBO_HD SampleExtent operator()(const SampleExtent& a, const SampleExtent& b) const {
    SampleExtent r = a;
    for (int k = 0; k < 3; ++k) {
      if (b.low[k] < r.low[k]) r.low[k] = b.low[k];
      if (b.high[k] > r.high[k]) r.high[k] = b.high[k];
    }
    if (b.lost < r.lost) r.lost = b.lost;
    return r;
  }
};

/// Sort key of a sample: block, field, cell.
template <class Real>
struct KeySample {
  const ContactPlace<Real>* places;
  const Index* sample_body;
  ContactPass pass;
  TileWindow<3> window;
  int field_bits;
  const Index* chosen;  ///< the sample at each place of the list, or null: all
  std::uint64_t* keys;
  Index* listed;

  TRIBO_HD Index field_of(Index q) const {
    if (pass == ContactPass::paper) return 0;
    if (pass == ContactPass::bodies) return sample_body[q];
    return 6 * sample_body[q] + main_direction(places[q].normal);
  }
  TRIBO_HD void operator()(Index i) const {
    const Index q = chosen == nullptr ? i : chosen[i];
    listed[i] = q;
    Cell<3> cell = Cell<3>::zero();
    cell_of(places[q], cell);
    Cell<3> block, within;
    for (int k = 0; k < 3; ++k) {
      block[k] = cell[k] >> 2;
      within[k] = cell[k] & 3;
    }
    keys[i] = (window.code(block) << field_bits | static_cast<std::uint64_t>(field_of(q))) << cell_bits |
              static_cast<std::uint64_t>(flatten(within, Block::side));
  }
};

template <class Real>
struct WriteSampleBin {
  const ContactPlace<Real>* places;
  const std::uint64_t* keys;
  const Index* listed;
  const Index* run;  ///< starts of runs before i
  int field_bits;
  Index count;
  Bin<3>* bins;
  Index* bin_of;

  TRIBO_HD void operator()(Index i) const {
    const bool starts = i == 0 || keys[i] >> cell_bits != keys[i - 1] >> cell_bits;
    const Index b = starts ? run[i] : run[i] - 1;
    bin_of[i] = b;
    if (starts) {
      Cell<3> cell = Cell<3>::zero();
      cell_of(places[listed[i]], cell);
      for (int k = 0; k < 3; ++k) bins[b].block[k] = cell[k] >> 2;
      bins[b].group = static_cast<Index>(keys[i] >> cell_bits & ((std::uint64_t{1} << field_bits) - 1));
      bins[b].begin = i;
    }
    if (i + 1 == count || keys[i] >> cell_bits != keys[i + 1] >> cell_bits) bins[b].end = i + 1;
  }
};

template <class Real>
struct BoxBin {
  const ContactPlace<Real>* places;
  const Index* listed;
  const std::uint64_t* keys;
  const Bin<3>* bins;
  ContactBox<Real>* boxes;
  NormalRange<Real>* cell_normals;  ///< or null

  TRIBO_HD void operator()(Index b) const {
    const Bin<3>& bin = bins[b];
    ContactBox<Real> box{Cell<3>::filled(Block::side), Cell<3>::zero(), 0, {}};
    for (Index i = bin.begin; i < bin.end; ++i) {
      const int flat = static_cast<int>(keys[i] & (Block::cells - 1));
      const Cell<3> cell = unflatten<3>(flat, Block::side);
      for (int k = 0; k < 3; ++k) {
        box.low[k] = min(box.low[k], cell[k]);
        box.high[k] = max(box.high[k], cell[k]);
      }
      const Vec<Real, 3> n = places[listed[i]].normal;
      box.normals.add(n);
      if (cell_normals != nullptr) {
        NormalRange<Real>& of_cell = cell_normals[Block::cells * Size{b} + flat];
        if ((box.cells >> flat & 1) == 0) of_cell = {};
        of_cell.add(n);
      }
      box.cells |= std::uint64_t{1} << flat;
    }
    for (int k = 0; k < 3; ++k) {
      box.low[k] += Block::side * bin.block[k];
      box.high[k] += Block::side * bin.block[k];
    }
    boxes[b] = box;
  }
};

/// One touch of a bin and a patch for every block that the bin's samples reach, from bases up to a cell ahead.
template <class Real>
struct EmitPatch {
  const Bin<3>* bins;
  const ContactBox<Real>* boxes;
  Index bin_count;
  TileWindow<3> window;
  int field_bits;
  Index* start;         ///< of each bin; before these are known, their number is written here
  std::uint64_t* keys;  ///< null before that
  Index* values;
  Index* bin_patch;

  TRIBO_HD void operator()(Index b) const {
    Index found = 0;
    for (int k = 0; k < Block::neighbors && b < bin_count; ++k) {
      const Cell<3> ahead = unflatten<3>(k, 2);
      const Cell<3> block = bins[b].block + ahead;
      bool reached = true;
      for (int c = 0; c < 3; ++c)
        reached = reached && (ahead[c] == 0 || boxes[b].high[c] + 3 >= Block::side * block[c]);
      if (reached && keys != nullptr) {
        keys[start[b] + found] = window.code(block) << field_bits | static_cast<std::uint64_t>(bins[b].group);
        values[start[b] + found] = Block::neighbors * b + k;
      } else if (keys != nullptr) {
        bin_patch[Block::neighbors * b + k] = -1;
      }
      found += reached ? 1 : 0;
    }
    if (keys == nullptr) start[b] = found;
  }
};

struct WritePatch {
  const Bin<3>* bins;
  const std::uint64_t* keys;
  const Index* touch;
  const Index* patch_run;
  const Index* block_run;
  int field_bits;
  Index touch_count;
  ContactPatch* patches;
  Index* touch_start;
  Index* bin_patch;
  Cell<3>* blocks;
  Index* block_start;

  TRIBO_HD void operator()(Index i) const {
    const bool starts = i == 0 || keys[i] != keys[i - 1];
    const bool starts_block = i == 0 || keys[i] >> field_bits != keys[i - 1] >> field_bits;
    const Index patch = starts ? patch_run[i] : patch_run[i] - 1;
    const Index block = starts_block ? block_run[i] : block_run[i] - 1;
    bin_patch[touch[i]] = patch;
    const Bin<3>& bin = bins[touch[i] / Block::neighbors];
    if (starts) {
      patches[patch] = {bin.group, block};
      touch_start[patch] = i;
    }
    if (starts_block) {
      blocks[block] = bin.block + unflatten<3>(touch[i] % Block::neighbors, 2);
      block_start[block] = patch;
    }
    if (i + 1 == touch_count) {
      touch_start[patch + 1] = touch_count;
      block_start[block + 1] = patch + 1;
    }
  }
};

}  // namespace

template <class Real>
void place_samples(Exec& ex, const SolidMesh<Real>& mesh, const SamplesView<Real>& samples,
                   const ContactConstants& constants, ContactWorkspace<Real>& work) {
  work.places.resize_discard(mesh.samples);
  parallel_for(ex, "contact sort", mesh.samples,
               PlaceSample<Real>{samples, Real(1 / constants.dx), work.places.data()});
  const SampleExtent nothing{Cell<3>::filled(0x7fffffff), Cell<3>::filled(-0x7fffffff), no_sample};
  const SampleExtent extent =
      reduce(ex, "contact sort", mesh.samples, nothing, ExtentOfSample<Real>{work.places.data()}, JoinSampleExtents{});
  bool wide = false;
  for (int k = 0; k < 3 && mesh.samples > 0; ++k)
    wide = wide || std::int64_t{extent.high[k]} - extent.low[k] >= (std::int64_t{1} << key_bits_per_axis) - 1;
  if (extent.lost != no_sample || wide)
    throw DivergedError("vertices of solids are spread over more than " + std::to_string(4 << key_bits_per_axis) +
                        " cells along an axis, or one is that far from the origin or at no finite position; bring "
                        "objects closer to the origin, raise grid.dx, or use --precision double");
  Cell<3> high = extent.high;
  for (int k = 0; k < 3; ++k) ++high[k];
  work.bodies.window = work.self.window = TileWindow<3>::around(extent.low, high);
}

template <class Real>
void sort_samples(Exec& ex, const SolidMesh<Real>& mesh, ContactPass pass, const Index* chosen,
                  const ContactPlace<Real>* places, bool cell_normals, ContactFields<Real>& f) {
  const Index fields = pass == ContactPass::paper ? 1 : pass == ContactPass::bodies ? mesh.bodies : 6 * mesh.bodies;
  const int field_bits = bits_for(fields);
  const int code_bits = f.count > 0 ? bits_for(f.window.count()) + bits_in_tile<3> : 0;
  if (code_bits + field_bits + cell_bits > 64)
    throw DivergedError("solids are spread too far for so many of them: " + std::to_string(mesh.bodies) +
                        " bodies; bring them closer together, raise grid.dx, or leave some out");
  f.keys.resize_discard(f.count);
  f.listed.resize_discard(f.count);
  f.bin_of.resize_discard(f.count);
  parallel_for(ex, "contact sort", f.count,
               KeySample<Real>{places, mesh.sample_body.data(), pass, f.window, field_bits, chosen, f.keys.data(),
                               f.listed.data()});
  f.flags.resize_discard(f.count);
  f.sorter.sort(ex, "contact sort", f.keys, f.listed, f.count, code_bits + field_bits + cell_bits);
  parallel_for(ex, "contact sort", f.count, FlagRun{f.keys.data(), cell_bits, f.flags.data()});
  f.bin_count = exclusive_scan(ex, "contact sort", f.flags, f.flags, f.count);
  f.bins.resize_discard(f.bin_count);
  parallel_for(ex, "contact sort", f.count,
               WriteSampleBin<Real>{places, f.keys.data(), f.listed.data(), f.flags.data(), field_bits, f.count,
                                    f.bins.data(), f.bin_of.data()});
  f.boxes.resize_discard(f.bin_count);
  if (cell_normals) f.cell_normals.resize_discard(Size{f.bin_count} * Block::cells);
  for_each_pack(ex, "contact sort", f.bin_count,
                BoxBin<Real>{places, f.listed.data(), f.keys.data(), f.bins.data(), f.boxes.data(),
                             cell_normals ? f.cell_normals.data() : nullptr});

  f.starts.resize_discard(f.bin_count + 1);
  f.bin_patch.resize_discard(Size{f.bin_count} * Block::neighbors);
  EmitPatch<Real> emit{f.bins.data(),   f.boxes.data(), f.bin_count, f.window,          field_bits,
                       f.starts.data(), nullptr,        nullptr,     f.bin_patch.data()};
  parallel_for(ex, "contact sort", f.bin_count + 1, emit);
  const Index touches = exclusive_scan(ex, "contact sort", f.starts, f.starts, f.bin_count + 1);
  f.pair_keys.resize_discard(touches);
  f.touch.resize_discard(touches);
  emit.keys = f.pair_keys.data();
  emit.values = f.touch.data();
  parallel_for(ex, "contact sort", f.bin_count, emit);
  f.sorter.sort(ex, "contact sort", f.pair_keys, f.touch, touches, code_bits + field_bits);
  f.flags.resize_discard(touches);
  f.starts.resize_discard(touches);
  parallel_for(ex, "contact sort", touches, FlagRun{f.pair_keys.data(), 0, f.flags.data()});
  parallel_for(ex, "contact sort", touches, FlagRun{f.pair_keys.data(), field_bits, f.starts.data()});
  f.patch_count = exclusive_scan(ex, "contact sort", f.flags, f.flags, touches);
  f.block_count = exclusive_scan(ex, "contact sort", f.starts, f.starts, touches);
  f.patches.resize_discard(f.patch_count);
  f.touch_start.resize_discard(f.patch_count + 1);
  f.blocks.resize_discard(f.block_count);
  f.block_start.resize_discard(f.block_count + 1);
  parallel_for(ex, "contact sort", touches,
               WritePatch{f.bins.data(), f.pair_keys.data(), f.touch.data(), f.flags.data(), f.starts.data(),
                          field_bits, touches, f.patches.data(), f.touch_start.data(), f.bin_patch.data(),
                          f.blocks.data(), f.block_start.data()});
}

#define TRIBO_INSTANTIATE(Real)                                                                                   \
  template void place_samples(Exec&, const SolidMesh<Real>&, const SamplesView<Real>&, const ContactConstants&,   \
                              ContactWorkspace<Real>&);                                                           \
  template void sort_samples(Exec&, const SolidMesh<Real>&, ContactPass, const Index*, const ContactPlace<Real>*, \
                             bool, ContactFields<Real>&);
TRIBO_INSTANTIATE(float)
TRIBO_INSTANTIATE(double)
#undef TRIBO_INSTANTIATE

}  // namespace tribo::TRIBO_BACKEND

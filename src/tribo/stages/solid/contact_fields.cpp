#include <cmath>
#include <limits>
#include <string>

#include "tribo/core/errors.h"
#include "tribo/stages/arena.h"
#include "tribo/stages/solid/chunks.h"
#include "tribo/stages/solid/contact_samples.h"

namespace tribo::TRIBO_BACKEND {
namespace {

using Block = ContactBlock;
constexpr Index no_sample = 0x7fffffff;

constexpr int bits_for(std::int64_t count) {
  int bits = 0;
  while ((std::int64_t{1} << bits) < count) ++bits;
  return bits;
}

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

/// False when a coordinate is not finite, or so far out that its place in the cell is lost to rounding.
template <class Real>
TRIBO_HD bool base_of(const ContactPlace<Real>& place, Cell<3>& cell) {
  for (int k = 0; k < 3; ++k) {
    const Real base = base_node<3>(place.x[k]);
    constexpr Real digits = Real(1) / (32 * std::numeric_limits<Real>::epsilon());
    constexpr Real farthest = digits < Real(1e9) ? digits : Real(1e9);
    if (!(base > -farthest && base < farthest)) return false;
    cell[k] = static_cast<std::int32_t>(base);
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
    if (!base_of(places[q], cell)) return {Cell<3>::filled(0x7fffffff), Cell<3>::filled(-0x7fffffff), q};
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
  Index* order;

  TRIBO_HD Index field_of(Index q) const {
    if (pass == ContactPass::paper) return 0;
    if (pass == ContactPass::bodies) return sample_body[q];
    return 6 * sample_body[q] + main_direction(places[q].normal);
  }
  TRIBO_HD void operator()(Index i) const {
    const Index q = chosen == nullptr ? i : chosen[i];
    order[i] = q;
    Cell<3> cell = Cell<3>::zero();
    base_of(places[q], cell);
    Cell<3> block, within;
    for (int k = 0; k < 3; ++k) {
      block[k] = cell[k] >> 2;
      within[k] = cell[k] & 3;
    }
    keys[i] = (window.code(block) << field_bits | static_cast<std::uint64_t>(field_of(q))) << cell_bits |
              static_cast<std::uint64_t>(flatten(within, Block::side));
  }
};

/// Whether boxes are no more than `reach` cells apart; when more than 2, kernels share no node.
template <class Real>
TRIBO_HD bool within_reach(const ContactBox<Real>& a, const ContactBox<Real>& b, int reach) {
  for (int k = 0; k < 3; ++k)
    if (a.low[k] > b.high[k] + reach || b.low[k] > a.high[k] + reach) return false;
  return true;
}

/// Cells of a block as bits, in the order of `flatten`: those between two coordinates along an axis, both included,
/// that may lie outside.
TRIBO_HD std::uint64_t slab_of_cells(int axis, std::int32_t low, std::int32_t high) {
  const std::uint64_t first = axis == 0 ? 0xffffull : axis == 1 ? 0x000f000f000f000full : 0x1111111111111111ull;
  const int step = axis == 0 ? 16 : axis == 1 ? 4 : 1;
  std::uint64_t r = 0;
  for (int c = 0; c < Block::side; ++c)
    if (c >= low && c <= high) r |= first << (step * c);
  return r;
}
/// Cells of a block that are no more than `reach` from cells with samples of a bin.
template <class Real>
TRIBO_HD std::uint64_t cells_near(const Cell<3>& block, const Bin<3>& bin, const ContactBox<Real>& box, int reach) {
  std::uint64_t slab[3][Block::side];  // around each cell of the bin, along each axis
  for (int k = 0; k < 3; ++k)
    for (int c = 0; c < Block::side; ++c) {
      const std::int32_t at = Block::side * (bin.block[k] - block[k]) + c;
      slab[k][c] = slab_of_cells(k, at - reach, at + reach);
    }
  std::uint64_t r = 0;
  for (int x = 0; x < Block::side; ++x)
    for (int y = 0; y < Block::side; ++y) {
      const std::uint64_t row = slab[0][x] & slab[1][y];
      if (row == 0) continue;
      for (int z = 0; z < Block::side; ++z)
        if ((box.cells >> ((x * Block::side + y) * Block::side + z) & 1) != 0) r |= row & slab[2][z];
    }
  return r;
}
/// Whether normals of two bins may be as much opposed as contact of a body with itself asks, n . N < opposed |N| with N
/// a mean over one main direction, along which all are at least 1/sqrt(3): |N| is, too.
template <class Real>
TRIBO_HD bool may_oppose(const ContactBox<Real>& a, const ContactBox<Real>& b) {
  Real least = Real(0);
  for (int k = 0; k < 3; ++k)
    least += min(min(a.normal_low[k] * b.normal_low[k], a.normal_low[k] * b.normal_high[k]),
                 min(a.normal_high[k] * b.normal_low[k], a.normal_high[k] * b.normal_high[k]));
  return least < Real(0.57 * contact_opposed);
}

/// Which bins of bodies the second pass looks at: 1 where normals nearby may oppose each other, and then also those
/// that such ones reach.
template <class Real>
struct MarkSelf {
  const Bin<3>* bins;
  const ContactBox<Real>* boxes;
  const Index* bin_patch;
  const Index* touch_start;
  const Index* touch;
  const Index* self_contact;
  const Index* kinematic;
  int reach;
  const Index* opposed;  ///< null before these are known
  Index* mark;

  TRIBO_HD void operator()(Index b) const {
    const Index body = bins[b].group;
    Index found = 0;
    if (self_contact[body] != 0 && kinematic[body] == 0)
      for (int k = 0; k < Block::neighbors && found == 0; ++k) {
        const Index patch = bin_patch[Block::neighbors * b + k];
        if (patch < 0) continue;
        for (Index t = touch_start[patch]; t < touch_start[patch + 1] && found == 0; ++t) {
          const Index other = touch[t] / Block::neighbors;
          const bool counts = opposed == nullptr ? may_oppose(boxes[b], boxes[other]) : opposed[other] != 0;
          if (counts && within_reach(boxes[b], boxes[other], opposed == nullptr ? reach : 2)) found = 1;
        }
      }
    mark[b] = found;
  }
};
template <class Real>
struct MarkSamples {
  const Index* bin_of;
  const Index* mark;
  const Index* order;
  UprightSample<Real> upright;
  Index count;
  Index* flags;
  TRIBO_HD void operator()(Index i) const {
    flags[i] = i < count && mark[bin_of[i]] != 0 && upright(order[i]) ? 1 : 0;
  }
};
struct ListMarked {
  const Index* order;
  const Index* place;  ///< of each sample, one more than there are
  Index* chosen;
  TRIBO_HD void operator()(Index i) const {
    if (place[i + 1] > place[i]) chosen[place[i]] = order[i];
  }
};

struct FlagRun {
  const std::uint64_t* keys;
  int ignored_bits;
  Index* flags;
  TRIBO_HD void operator()(Index i) const {
    flags[i] = i == 0 || keys[i] >> ignored_bits != keys[i - 1] >> ignored_bits ? 1 : 0;
  }
};

template <class Real>
struct WriteSampleBin {
  const ContactPlace<Real>* places;
  const std::uint64_t* keys;
  const Index* order;
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
      base_of(places[order[i]], cell);
      for (int k = 0; k < 3; ++k) bins[b].block[k] = cell[k] >> 2;
      bins[b].group = static_cast<Index>(keys[i] >> cell_bits & ((std::uint64_t{1} << field_bits) - 1));
      bins[b].begin = i;
    }
    if (i + 1 == count || keys[i] >> cell_bits != keys[i + 1] >> cell_bits) bins[b].end = i + 1;
  }
};

/// First sample of each cell of a bin, and one past its last.
struct FindCell {
  const Bin<3>* bins;
  const std::uint64_t* keys;
  Index* cell_start;

  TRIBO_HD void operator()(Index i) const {
    const Bin<3>& bin = bins[i / (Block::cells + 1)];
    const auto cell = static_cast<std::uint64_t>(i % (Block::cells + 1));
    Index low = bin.begin;
    Index high = bin.end;
    while (low < high) {
      const Index middle = low + (high - low) / 2;
      if ((keys[middle] & (Block::cells - 1)) < cell) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    cell_start[i] = low;
  }
};

template <class Real>
struct BoxBin {
  const ContactPlace<Real>* places;
  const Index* order;
  const std::uint64_t* keys;
  const Bin<3>* bins;
  ContactBox<Real>* boxes;

  TRIBO_HD void operator()(Index b) const {
    const Bin<3>& bin = bins[b];
    ContactBox<Real> box{Cell<3>::filled(Block::side), Cell<3>::zero(), 0, Vec<Real, 3>::filled(Real(1)),
                         Vec<Real, 3>::filled(Real(-1))};
    for (Index i = bin.begin; i < bin.end; ++i) {
      const int flat = static_cast<int>(keys[i] & (Block::cells - 1));
      const Cell<3> cell = unflatten<3>(flat, Block::side);
      box.cells |= std::uint64_t{1} << flat;
      const Vec<Real, 3> n = places[order[i]].normal;
      for (int k = 0; k < 3; ++k) {
        box.low[k] = min(box.low[k], cell[k]);
        box.high[k] = max(box.high[k], cell[k]);
        box.normal_low[k] = min(box.normal_low[k], n[k]);
        box.normal_high[k] = max(box.normal_high[k], n[k]);
      }
    }
    for (int k = 0; k < 3; ++k) {
      box.low[k] += Block::side * bin.block[k];
      box.high[k] += Block::side * bin.block[k];
    }
    boxes[b] = box;
  }
};

/// Velocity gradient of the tet behind a sample (formulas D.4): C = [v_k - v_0] Ds^-1; none of a flat one.
template <class Real>
TRIBO_HD Mat<Real, 3> gradient_behind(const SamplesView<Real>& samples, const FieldView<const Index, 4>& tet, Index t) {
  Mat<Real, 3> Ds, Dv;
  const Vec<Real, 3> x0 = samples.vertex(samples.x, tet[0][t]);
  const Vec<Real, 3> v0 = samples.vertex(samples.v, tet[0][t]);
  Real size = Real(0);
  for (int k = 0; k < 3; ++k) {
    const Vec<Real, 3> x = samples.vertex(samples.x, tet[k + 1][t]) - x0;
    const Vec<Real, 3> v = samples.vertex(samples.v, tet[k + 1][t]) - v0;
    for (int r = 0; r < 3; ++r) {
      Ds(r, k) = x[r];
      Dv(r, k) = v[r];
    }
    size = max(size, squared_norm(x));
  }
  const Real J = determinant(Ds);
  if (!(abs(J) > Real(1e-3) * size * sqrt(size))) return Mat<Real, 3>::zero();
  Mat<Real, 3> inverse;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      const int a = (j + 1) % 3, b = (j + 2) % 3, c = (i + 1) % 3, d = (i + 2) % 3;
      inverse(i, j) = (Ds(a, c) * Ds(b, d) - Ds(a, d) * Ds(b, c)) / J;
    }
  return Dv * inverse;
}

/// Rows of samples that add to a patch that is needed.
template <class Real>
struct WriteRow {
  SamplesView<Real> samples;
  const ContactPlace<Real>* places;
  Real dx;
  const Index* order;
  const Index* bin_of;
  const Bin<3>* bins;
  const Index* bin_patch;
  const Index* needed;  ///< or null: all
  ContactRow<Real>* rows;
  const Index* triangle_tet;
  FieldView<const Index, 4> tet;
  Vec<Real, 9>* gradient;  ///< none: null

  TRIBO_HD void operator()(Index i) const {
    if (needed != nullptr) {
      const Index* const patch = bin_patch + Size{bin_of[i]} * Block::neighbors;
      bool adds = false;
      for (int k = 0; k < Block::neighbors; ++k) adds = adds || (patch[k] >= 0 && needed[patch[k]] != 0);
      if (!adds) return;
    }
    const Index q = order[i];
    const Vec<Real, 3> x = places[q].x;
    const Vec<Real, 3> v = samples.velocity(q);
    const Vec<Real, 3> n = places[q].normal;
    const Real m = samples.sample_mass[q];
    const Cell<3> block = bins[bin_of[i]].block;
    ContactRow<Real>& row = rows[i];
    row.sum[0] = m;
    for (int k = 0; k < 3; ++k) {
      const Real base = base_node<3>(x[k]);
      const SplineWeights<Real, 3> weights(x[k] - base);
      for (int j = 0; j < 3; ++j) row.weight[k][j] = weights.w[j];
      row.sum[1 + k] = m * v[k];
      row.sum[4 + k] = m * n[k];
      row.sum[7 + k] = m * ((base - Real(Block::side) * Real(block[k])) + (x[k] - base));
    }
    for (int j = 0; j < 3; ++j)
      for (int k = j; k < 3; ++k) {
        const int at = Sym<Real, 3>::at(j, k);
        row.sum[10 + at] = j == k ? n[j] * row.sum[7 + j] : n[j] * row.sum[7 + k] + n[k] * row.sum[7 + j];
        row.sum[16 + at] = (j == k ? m : 2 * m) * n[j] * n[k];
      }
    row.sum[ContactNodeSums<Real>::inverse_total] = Real(0);
    row.sum[ContactNodeSums<Real>::driven] = m * samples.driven(q);
    const Vec<Real, 3> begin = samples.blend(samples.begin, q);
    for (int k = 0; k < 3; ++k) row.sum[ContactNodeSums<Real>::begin + k] = m * begin[k];
    row.sum[ContactNodeSums<Real>::begin + 3] = Real(0);
    if (gradient == nullptr) return;
    const Mat<Real, 3> C = gradient_behind(samples, tet, triangle_tet[samples.sample_triangle[q]]);
    for (int r = 0; r < 3; ++r)
      for (int c = 0; c < 3; ++c) gradient[i][3 * r + c] = m * dx * C(r, c);
  }
};

/// One meeting of a bin and a patch for every block that the bin's samples touch.
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
        reached = reached && (ahead[c] == 0 || boxes[b].high[c] + 2 >= Block::side * block[c]);
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

/// The other fields that samples of a bin may touch: those with samples near some of the bin's.
template <class Real>
struct FindMeetings {
  const Bin<3>* bins;
  const ContactBox<Real>* boxes;
  Index bin_count;
  const Index* bin_patch;
  const ContactPatch* patches;
  const Index* touch_start;
  const Index* touch;
  const Index* block_start;
  const Index* kinematic;
  ContactPass pass;
  int reach;
  Index* start;              ///< of each bin; before these are known, their number is written here
  ContactMeeting* meetings;  ///< null before that

  TRIBO_HD bool acts(Index own, Index other) const {
    return own != other && (pass == ContactPass::bodies || own / 6 == other / 6);
  }
  /// The patch of a field in the k-th block of a bin, or -1.
  TRIBO_HD Index patch_beside(Index b, int k, Index field) const {
    const Index patch = bin_patch[Block::neighbors * b + k];
    if (patch < 0) return -1;
    const Index block = patches[patch].block;
    for (Index p = block_start[block]; p < block_start[block + 1]; ++p)
      if (patches[p].field == field) return p;
    return -1;
  }

  TRIBO_HD void operator()(Index b) const {
    if (b == bin_count || pass == ContactPass::paper) {
      if (meetings == nullptr) start[b] = 0;
      return;
    }
    const Index own = bins[b].group;
    const bool free = kinematic[pass == ContactPass::bodies ? own : own / 6] == 0;
    Index found = 0;
    for (int k = 0; k < Block::neighbors && free; ++k) {
      const Index patch = bin_patch[Block::neighbors * b + k];
      if (patch < 0) continue;
      const Index block = patches[patch].block;
      for (Index p = block_start[block]; p < block_start[block + 1]; ++p) {
        const Index other = patches[p].field;
        if (!acts(own, other)) continue;
        bool known = false;
        for (int j = 0; j < k && !known; ++j) known = patch_beside(b, j, other) >= 0;
        if (known) continue;
        ContactMeeting meeting;
        if (!meet(b, other, meeting)) continue;
        if (meetings != nullptr) meetings[start[b] + found] = meeting;
        ++found;
      }
    }
    if (meetings == nullptr) start[b] = found;
  }

  TRIBO_HD bool meet(Index b, Index field, ContactMeeting& meeting) const {
    meeting.bin = b;
    meeting.field = field;
    meeting.first = 0;
    meeting.near = 0;
    for (int k = 0; k < Block::neighbors; ++k) {
      const Index p = meeting.patch[k] = patch_beside(b, k, field);
      if (p < 0) continue;
      for (Index t = touch_start[p]; t < touch_start[p + 1]; ++t) {
        const ContactBox<Real>& box = boxes[touch[t] / Block::neighbors];
        if (!within_reach(boxes[b], box, reach) || (pass == ContactPass::self && !may_oppose(boxes[b], box))) continue;
        meeting.near |= cells_near(bins[b].block, bins[touch[t] / Block::neighbors], box, reach);
      }
    }
    return (meeting.near & boxes[b].cells) != 0;
  }
};

struct CountSlots {
  const ContactMeeting* meetings;
  const Bin<3>* bins;
  Index* count;
  TRIBO_HD void operator()(Index i) const { count[i] = bins[meetings[i].bin].end - bins[meetings[i].bin].begin; }
};
struct WriteFirstSlot {
  const Index* start;
  ContactMeeting* meetings;
  TRIBO_HD void operator()(Index i) const { meetings[i].first = start[i]; }
};

/// 1 for each patch that a sample may read: of its own field, and of those it meets.
struct MarkPatch {
  const Index* touch_start;
  const Index* touch;
  const Index* meeting_start;
  const ContactMeeting* meetings;
  const ContactPatch* patches;
  const Index* block_start;
  Index* needed;

  TRIBO_HD void operator()(Index p) const {
    const ContactPatch& own = patches[p];
    Index r = 0;
    for (Index o = block_start[own.block]; o < block_start[own.block + 1] && r == 0; ++o)
      for (Index t = touch_start[o]; t < touch_start[o + 1] && r == 0; ++t) {
        const Index bin = touch[t] / Block::neighbors;
        for (Index k = meeting_start[bin]; k < meeting_start[bin + 1]; ++k)
          if (o == p || meetings[k].field == own.field) r = 1;
      }
    needed[p] = r;
  }
};

/// Sums of one field at the nodes of a block, over the samples whose kernels reach them (Han 2019, eqs. 17, 18, by
/// field): bin by bin, cell by cell, in the order of the samples.
template <class Real>
struct SumPatch {
  static constexpr int sums = ContactRow<Real>::sums;
  struct Scratch {
    ContactNodeSums<Real> node[Block::nodes];
  };
  const ContactRow<Real>* rows;
  const Vec<Real, 9>* gradient;  ///< or null
  const Index* cell_start;
  const Index* touch_start;
  const Index* touch;
  const Index* needed;  ///< or null: all
  Index patch_count;    ///< the one after them is a block of nothing
  ContactNodeSums<Real>* nodes;

  TRIBO_HD void operator()(const Team& team, Index patch, Scratch& scratch) const {
    if (patch < patch_count && needed != nullptr && needed[patch] == 0) return;
    for (int i = team.rank(); i < Block::nodes; i += Team::size)
      for (int k = 0; k < sums; ++k) scratch.node[i].sum[k] = Real(0);
    for (Index t = touch_start[patch]; patch < patch_count && t < touch_start[patch + 1]; ++t)
      add_bin(team, touch[t], scratch.node);
    for (int i = team.rank(); i < Block::nodes; i += Team::size)
      nodes[Size{patch} * Block::nodes + i] = scratch.node[i];
  }

  /// Cells of a bin that reach the block: all of the block itself, of those behind it the last two.
  TRIBO_HD void add_bin(const Team& team, Index value, ContactNodeSums<Real>* node) const {
    const Cell<3> ahead = unflatten<3>(value % Block::neighbors, 2);
    const Index* const start = cell_start + Size{value / Block::neighbors} * (Block::cells + 1);
    for (int x = 2 * ahead[0]; x < Block::side; ++x)
      for (int y = 2 * ahead[1]; y < Block::side; ++y)
        for (int z = 2 * ahead[2]; z < Block::side; ++z) {
          const int cell = (x * Block::side + y) * Block::side + z;
          for (Index s = start[cell]; s < start[cell + 1]; ++s) add(team, s, {{x, y, z}}, ahead, node);
        }
  }

  TRIBO_HD void add(const Team& team, Index s, const Cell<3>& base, const Cell<3>& ahead,
                    ContactNodeSums<Real>* node) const {
    const ContactRow<Real>& row = rows[s];
    constexpr int quads = sums / 4;
    Real own[sums];
    for (int k = 0; k < sums; ++k) own[k] = row.sum[k];
    move_places(ahead, Real(-Block::side), own);
    NodePack<Real> quad[quads];
    TRIBO_UNROLL
    for (int k = 0; k < quads; ++k) quad[k] = NodePack<Real>::load(own + 4 * k);
    Cell<3> shift, low, high;  // node c of the block is node c + shift of the kernel
    for (int k = 0; k < 3; ++k) {
      shift[k] = Block::side * ahead[k] - base[k];
      low[k] = max(-shift[k], 0);
      high[k] = min(3 - shift[k], Block::side);
    }
    each_node_in<3>(team, low, high, [&](int i, const Cell<3>& c) {
      const Cell<3> at = c + shift;
      const Real w = row.weight[0][at[0]] * row.weight[1][at[1]] * row.weight[2][at[2]];
      TRIBO_UNROLL
      for (int k = 0; k < quads; ++k)
        (NodePack<Real>::load(node[i].sum + 4 * k) + NodePack<Real>(w) * quad[k]).store(node[i].sum + 4 * k);
      if (gradient != nullptr) add_affine(s, own, c, w, node[i].sum);
    });
  }

  TRIBO_HD void add_affine(Index s, const Real* own, const Cell<3>& at, Real w, Real* sum) const {
    for (int c = 0; c < 3; ++c) {
      const Real away = Real(at[c]) - own[7 + c] / own[0];
      for (int r = 0; r < 3; ++r) sum[1 + r] += w * gradient[s][3 * r + c] * away;
    }
  }
};

/// Share of each field at a node over its mass, from the masses of all.
template <class Real>
struct SumFields {
  const ContactPatch* patches;
  const Index* block_start;
  const Index* needed;  ///< or null: all
  ContactNodeSums<Real>* nodes;

  TRIBO_HD void operator()(Index i) const {
    const Index patch = i / Block::nodes;
    if (needed != nullptr && needed[patch] == 0) return;
    const Index block = patches[patch].block;
    Real total = Real(0), excess = Real(0);
    for (Index p = block_start[block]; p < block_start[block + 1]; ++p) {
      if (needed != nullptr && needed[p] == 0) continue;
      const ContactNodeSums<Real>& node = nodes[Size{p} * Block::nodes + i % Block::nodes];
      total += node.sum[0];
      if (node.sum[ContactNodeSums<Real>::driven] > Real(0)) excess += node.sum[0] * driven_excess(node);
    }
    const Real inverse_total = total > Real(0) ? Real(1) / total : Real(0);
    nodes[i].sum[ContactNodeSums<Real>::inverse_total] = share_per_mass(nodes[i], inverse_total, total, excess);
  }
};

/// Where samples are, and the blocks they are in.
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

/// Lists in `work.self.pairs` the samples that may touch their own body, and those around. Returns how many.
template <class Real>
Index choose_for_self(Exec& ex, const SolidMesh<Real>& mesh, const SamplesView<Real>& samples, int reach,
                      ContactWorkspace<Real>& work) {
  const ContactFields<Real>& b = work.bodies;
  ContactFields<Real>& f = work.self;
  f.starts.resize_discard(b.bin_count);
  f.needed.resize_discard(b.bin_count);
  f.flags.resize_discard(b.count + 1);
  f.pairs.resize_discard(b.count);
  MarkSelf<Real> mark{b.bins.data(),  b.boxes.data(),           b.bin_patch.data(),    b.touch_start.data(),
                      b.touch.data(), mesh.self_contact.data(), mesh.kinematic.data(), reach,
                      nullptr,        f.starts.data()};
  for_each_pack(ex, "contact sort", b.bin_count, mark);
  mark.opposed = f.starts.data();
  mark.mark = f.needed.data();
  for_each_pack(ex, "contact sort", b.bin_count, mark);
  const UprightSample<Real> upright{samples, mesh.triangle_tet.data(), view(mesh.tet), mesh.volume.data()};
  parallel_for(ex, "contact sort", b.count + 1,
               MarkSamples<Real>{b.bin_of.data(), f.needed.data(), b.order.data(), upright, b.count, f.flags.data()});
  const Index count = exclusive_scan(ex, "contact sort", f.flags, f.flags, b.count + 1);
  parallel_for(ex, "contact sort", b.count, ListMarked{b.order.data(), f.flags.data(), f.pairs.data()});
  return count;
}

template <class Real>
void sort_samples(Exec& ex, const SolidMesh<Real>& mesh, ContactPass pass, const Index* chosen,
                  const ContactPlace<Real>* places, ContactFields<Real>& f) {
  const Index fields = pass == ContactPass::paper ? 1 : pass == ContactPass::bodies ? mesh.bodies : 6 * mesh.bodies;
  const int field_bits = bits_for(fields);
  const int code_bits = f.count > 0 ? bits_for(f.window.count()) + bits_in_tile<3> : 0;
  f.keys.resize_discard(f.count);
  f.order.resize_discard(f.count);
  f.bin_of.resize_discard(f.count);
  parallel_for(ex, "contact sort", f.count,
               KeySample<Real>{places, mesh.sample_body.data(), pass, f.window, field_bits, chosen, f.keys.data(),
                               f.order.data()});
  f.flags.resize_discard(f.count);
  f.sorter.sort(ex, "contact sort", f.keys, f.order, f.count, code_bits + field_bits + cell_bits);
  parallel_for(ex, "contact sort", f.count, FlagRun{f.keys.data(), cell_bits, f.flags.data()});
  f.bin_count = exclusive_scan(ex, "contact sort", f.flags, f.flags, f.count);
  f.bins.resize_discard(f.bin_count);
  parallel_for(ex, "contact sort", f.count,
               WriteSampleBin<Real>{places, f.keys.data(), f.order.data(), f.flags.data(), field_bits, f.count,
                                    f.bins.data(), f.bin_of.data()});
  f.boxes.resize_discard(f.bin_count);
  for_each_pack(ex, "contact sort", f.bin_count,
                BoxBin<Real>{places, f.order.data(), f.keys.data(), f.bins.data(), f.boxes.data()});

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

template <class Real>
void find_meetings(Exec& ex, const SolidMesh<Real>& mesh, ContactPass pass, int reach, ContactFields<Real>& f) {
  f.meeting_start.resize_discard(f.bin_count + 1);
  FindMeetings<Real> find{f.bins.data(),
                          f.boxes.data(),
                          f.bin_count,
                          f.bin_patch.data(),
                          f.patches.data(),
                          f.touch_start.data(),
                          f.touch.data(),
                          f.block_start.data(),
                          mesh.kinematic.data(),
                          pass,
                          reach,
                          f.meeting_start.data(),
                          nullptr};
  for_each_pack(ex, "contact sort", f.bin_count + 1, find);
  f.meeting_count = exclusive_scan(ex, "contact sort", f.meeting_start, f.meeting_start, f.bin_count + 1);
  f.meetings.resize_discard(f.meeting_count);
  find.meetings = f.meetings.data();
  if (f.meeting_count > 0) for_each_pack(ex, "contact sort", f.bin_count, find);
  f.flags.resize_discard(f.meeting_count);
  parallel_for(ex, "contact sort", f.meeting_count, CountSlots{f.meetings.data(), f.bins.data(), f.flags.data()});
  f.slot_count = exclusive_scan(ex, "contact sort", f.flags, f.flags, f.meeting_count);
  parallel_for(ex, "contact sort", f.meeting_count, WriteFirstSlot{f.flags.data(), f.meetings.data()});
}

/// Sums of the fields at nodes, in all patches or where samples meet.
template <class Real>
void sum_fields(Exec& ex, const SolidMesh<Real>& mesh, const SamplesView<Real>& samples,
                const ContactConstants& constants, ContactPass pass, bool all, const ContactPlace<Real>* places,
                ContactFields<Real>& f) {
  f.needed.resize_discard(f.patch_count);
  Index* const needed = all ? nullptr : f.needed.data();
  if (!all)
    for_each_pack(ex, "contact fields", f.patch_count,
                  MarkPatch{f.touch_start.data(), f.touch.data(), f.meeting_start.data(), f.meetings.data(),
                            f.patches.data(), f.block_start.data(), needed});
  f.rows.resize_discard(f.count);
  if (constants.spec.affine) f.gradient.resize_discard(f.count);
  Vec<Real, 9>* const gradient = constants.spec.affine ? f.gradient.data() : nullptr;
  parallel_for(
      ex, "contact fields", f.count,
      WriteRow<Real>{samples, places, Real(constants.dx), f.order.data(), f.bin_of.data(), f.bins.data(),
                     f.bin_patch.data(), needed, f.rows.data(), mesh.triangle_tet.data(), view(mesh.tet), gradient});
  f.cell_start.resize_discard(Size{f.bin_count} * (Block::cells + 1));
  parallel_for(ex, "contact fields", f.bin_count * (Block::cells + 1),
               FindCell{f.bins.data(), f.keys.data(), f.cell_start.data()});
  f.nodes.resize_discard(Size{f.patch_count + 1} * Block::nodes);
  for_each_team<typename SumPatch<Real>::Scratch>(
      ex, "contact fields", f.patch_count + 1,
      SumPatch<Real>{f.rows.data(), gradient, f.cell_start.data(), f.touch_start.data(), f.touch.data(), needed,
                     f.patch_count, f.nodes.data()});
  if (pass == ContactPass::bodies)
    parallel_for(ex, "contact fields", f.patch_count * Block::nodes,
                 SumFields<Real>{f.patches.data(), f.block_start.data(), needed, f.nodes.data()});
}

}  // namespace

template <class Real>
void make_fields(Exec& ex, const SolidMesh<Real>& mesh, const ContactConstants& constants, ContactPass pass,
                 bool everywhere, int reach, const SolidState<Real>& state, ContactWorkspace<Real>& work) {
  const SamplesView<Real> samples = samples_of(mesh, state, work);
  const bool self = pass == ContactPass::self;
  ContactFields<Real>& f = self ? work.self : work.bodies;
  if (self) {
    f.count = choose_for_self(ex, mesh, samples, reach, work);
  } else {
    place_samples(ex, mesh, samples, constants, work);
    f.count = mesh.samples;
  }
  f.meeting_count = 0;
  if (f.count == 0) return;
  sort_samples(ex, mesh, pass, self ? f.pairs.data() : nullptr, work.places.data(), f);
  find_meetings(ex, mesh, pass, reach, f);
  const bool all = everywhere || pass == ContactPass::paper;
  if (all || f.meeting_count > 0) sum_fields(ex, mesh, samples, constants, pass, all, work.places.data(), f);
}

#define TRIBO_INSTANTIATE(Real)                                                                             \
  template void make_fields(Exec&, const SolidMesh<Real>&, const ContactConstants&, ContactPass, bool, int, \
                            const SolidState<Real>&, ContactWorkspace<Real>&);
TRIBO_INSTANTIATE(float)
TRIBO_INSTANTIATE(double)
#undef TRIBO_INSTANTIATE

}  // namespace tribo::TRIBO_BACKEND

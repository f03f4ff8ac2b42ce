#include <cmath>
#include <limits>
#include <string>

#include "tribo/core/errors.h"
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

/// Which field a sample adds to, or -1: it takes no part.
template <class Real>
struct FieldOf {
  SamplesView<Real> samples;
  const Index* self_contact;
  ContactPass pass;

  TRIBO_HD Index operator()(Index q) const {
    const Index body = samples.sample_body[q];
    if (pass == ContactPass::paper) return 0;
    if (pass == ContactPass::bodies) return body;
    return self_contact[body] != 0 ? 6 * body + main_direction(samples.normal(q)) : -1;
  }
};

template <class Real>
struct SampleCell {
  SamplesView<Real> samples;
  Real inverse_dx;

  /// False when a coordinate is not finite, or so far out that its place in the cell is lost to rounding.
  TRIBO_HD bool at(Index q, Cell<3>& cell) const {
    const Vec<Real, 3> x = samples.position(q);
    for (int k = 0; k < 3; ++k) {
      const Real base = base_node<3>(in_cells(x[k], inverse_dx));
      constexpr Real digits = Real(1) / (32 * std::numeric_limits<Real>::epsilon());
      constexpr Real farthest = digits < Real(1e9) ? digits : Real(1e9);
      if (!(base > -farthest && base < farthest)) return false;
      cell[k] = static_cast<std::int32_t>(base);
    }
    return true;
  }
};

/// Blocks that samples are in, how many take part, and the first that is nowhere.
struct SampleExtent {
  Cell<3> low, high;
  Index count;
  Index lost;
};
template <class Real>
struct ExtentOfSample {
  SampleCell<Real> base;
  FieldOf<Real> field;

  TRIBO_HD SampleExtent operator()(Index q) const {
    const Index part = field(q) >= 0 ? 1 : 0;
    Cell<3> cell;
    if (!base.at(q, cell)) return {Cell<3>::filled(0x7fffffff), Cell<3>::filled(-0x7fffffff), part, q};
    for (int k = 0; k < 3; ++k) cell[k] >>= 2;
    return {cell, cell, part, no_sample};
  }
};
struct JoinSampleExtents {
  TRIBO_HD SampleExtent operator()(const SampleExtent& a, const SampleExtent& b) const {
    SampleExtent r = a;
    for (int k = 0; k < 3; ++k) {
      if (b.low[k] < r.low[k]) r.low[k] = b.low[k];
      if (b.high[k] > r.high[k]) r.high[k] = b.high[k];
    }
    r.count += b.count;
    if (b.lost < r.lost) r.lost = b.lost;
    return r;
  }
};

/// Sort key of a sample: block, field, cell. Those that take no part go to the end.
template <class Real>
struct KeySample {
  SampleCell<Real> base;
  FieldOf<Real> field;
  TileWindow<3> window;
  int field_bits;
  int out_bit;
  std::uint64_t* keys;
  Index* order;

  TRIBO_HD void operator()(Index q) const {
    order[q] = q;
    const Index f = field(q);
    if (f < 0) {
      keys[q] = std::uint64_t{1} << out_bit;
      return;
    }
    Cell<3> cell = Cell<3>::zero();
    base.at(q, cell);
    Cell<3> block, within;
    for (int k = 0; k < 3; ++k) {
      block[k] = cell[k] >> 2;
      within[k] = cell[k] & 3;
    }
    keys[q] = (window.code(block) << field_bits | static_cast<std::uint64_t>(f)) << cell_bits |
              static_cast<std::uint64_t>(flatten(within, Block::side));
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
  SampleCell<Real> base;
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
      base.at(order[i], cell);
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

template <class Real>
struct WriteRow {
  SamplesView<Real> samples;
  Real dx;
  Real inverse_dx;
  const Index* order;
  const Index* bin_of;
  const Bin<3>* bins;
  ContactRow<Real>* rows;
  const Index* triangle_tet;
  FieldView<const Index, 4> tet;
  Vec<Real, 9>* gradient;  ///< none: null

  TRIBO_HD void operator()(Index i) const {
    const Index q = order[i];
    const Vec<Real, 3> x = samples.position(q);
    const Vec<Real, 3> v = samples.velocity(q);
    const Vec<Real, 3> n = samples.normal(q);
    const Real m = samples.sample_mass[q];
    const Cell<3> block = bins[bin_of[i]].block;
    ContactRow<Real>& row = rows[i];
    row.sum[0] = m;
    for (int k = 0; k < 3; ++k) {
      const Real at = in_cells(x[k], inverse_dx);
      const Real base = base_node<3>(at);
      const SplineWeights<Real, 3> weights(at - base);
      for (int j = 0; j < 3; ++j) row.weight[k][j] = weights.w[j];
      row.sum[1 + k] = m * v[k];
      row.sum[4 + k] = m * n[k];
      row.sum[7 + k] = m * ((base - Real(Block::side) * Real(block[k])) + (at - base));
    }
    for (int j = 0; j < 3; ++j)
      for (int k = j; k < 3; ++k) {
        const int at = Sym<Real, 3>::at(j, k);
        row.sum[10 + at] = j == k ? n[j] * row.sum[7 + j] : n[j] * row.sum[7 + k] + n[k] * row.sum[7 + j];
        row.sum[16 + at] = (j == k ? m : 2 * m) * n[j] * n[k];
      }
    if (gradient == nullptr) return;
    const Mat<Real, 3> C = gradient_behind(samples, tet, triangle_tet[samples.sample_triangle[q]]);
    for (int r = 0; r < 3; ++r)
      for (int c = 0; c < 3; ++c) gradient[i][3 * r + c] = m * dx * C(r, c);
  }
};

/// One meeting of a bin and a patch for every block that the bin's samples touch.
struct EmitPatch {
  const Bin<3>* bins;
  TileWindow<3> window;
  int field_bits;
  std::uint64_t* keys;
  Index* values;

  TRIBO_HD void operator()(Index i) const {
    const Bin<3>& bin = bins[i / Block::neighbors];
    keys[i] = window.code(bin.block + unflatten<3>(i % Block::neighbors, 2)) << field_bits |
              static_cast<std::uint64_t>(bin.group);
    values[i] = i;
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

/// The other fields that samples of a bin may touch: those with a patch in one of its blocks.
struct FindMeetings {
  const Bin<3>* bins;
  Index bin_count;
  const Index* bin_patch;
  const ContactPatch* patches;
  const Index* block_start;
  const Index* kinematic;
  ContactPass pass;
  Index* start;              ///< of each bin; before these are known, their number is written here
  ContactMeeting* meetings;  ///< null before that

  TRIBO_HD bool acts(Index own, Index other) const {
    return own != other && (pass == ContactPass::bodies || own / 6 == other / 6);
  }
  /// The patch of a field in the block of a patch, or -1.
  TRIBO_HD Index same_block(Index patch, Index field) const {
    const Index block = patches[patch].block;
    for (Index p = block_start[block]; p < block_start[block + 1]; ++p)
      if (patches[p].field == field) return p;
    return -1;
  }

  TRIBO_HD void operator()(Index b) const {
    if (b == bin_count || pass == ContactPass::paper) {
      start[b] = 0;
      return;
    }
    const Index own = bins[b].group;
    const bool free = kinematic[pass == ContactPass::bodies ? own : own / 6] == 0;
    Index found = 0;
    for (int k = 0; k < Block::neighbors && free; ++k) {
      const Index block = patches[bin_patch[Block::neighbors * b + k]].block;
      for (Index p = block_start[block]; p < block_start[block + 1]; ++p) {
        const Index other = patches[p].field;
        if (!acts(own, other)) continue;
        bool known = false;
        for (int j = 0; j < k && !known; ++j) known = same_block(bin_patch[Block::neighbors * b + j], other) >= 0;
        if (known) continue;
        if (meetings != nullptr) {
          ContactMeeting& meeting = meetings[start[b] + found];
          meeting.bin = b;
          meeting.field = other;
          for (int j = 0; j < Block::neighbors; ++j)
            meeting.patch[j] = same_block(bin_patch[Block::neighbors * b + j], other);
        }
        ++found;
      }
    }
    if (meetings == nullptr) start[b] = found;
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

/// 1 for each patch that a sample may read: where fields that act on each other meet, and around such samples.
struct MarkPatch {
  const Index* touch_start;
  const Index* touch;
  const Index* meeting_start;
  const ContactPatch* patches;
  const Index* block_start;
  Index* needed;

  TRIBO_HD void operator()(Index p) const {
    Index r = block_start[patches[p].block + 1] - block_start[patches[p].block] > 1 ? 1 : 0;
    for (Index t = touch_start[p]; t < touch_start[p + 1]; ++t) {
      const Index bin = touch[t] / Block::neighbors;
      if (meeting_start[bin + 1] > meeting_start[bin]) r = 1;
    }
    needed[p] = r;
  }
};

/// Sums of one field at a node, over the samples whose kernels reach it (Han 2019, eqs. 17, 18, by field): cell by
/// cell, in the order of the samples.
template <class Real>
struct GatherNode {
  static constexpr int sums = ContactRow<Real>::sums;
  const ContactRow<Real>* rows;
  const Vec<Real, 9>* gradient;  ///< or null
  const Index* cell_start;
  const Index* touch_start;
  const Index* touch;
  const Index* needed;  ///< or null: all
  ContactNodeSums<Real>* nodes;

  TRIBO_HD void operator()(Index i) const {
    const Index patch = i / Block::nodes;
    if (needed != nullptr && needed[patch] == 0) return;
    const Cell<3> at = unflatten<3>(i % Block::nodes, Block::side);
    Real sum[sums];
    for (int k = 0; k < sums; ++k) sum[k] = Real(0);
    for (Index t = touch_start[patch]; t < touch_start[patch + 1]; ++t) add_bin(touch[t], at, sum);
    for (int k = 0; k < sums; ++k) nodes[i].sum[k] = sum[k];
  }

  /// Cells of a bin that reach the node, whose place seen from the bin's block is `local`: base nodes local-2 .. local.
  TRIBO_HD void add_bin(Index value, const Cell<3>& at, Real* sum) const {
    const Cell<3> ahead = unflatten<3>(value % Block::neighbors, 2);
    Cell<3> local, low, high;
    for (int k = 0; k < 3; ++k) {
      local[k] = at[k] + Block::side * ahead[k];
      low[k] = local[k] - 2 > 0 ? local[k] - 2 : 0;
      high[k] = local[k] < Block::side - 1 ? local[k] : Block::side - 1;
      if (low[k] > high[k]) return;
    }
    const Index* const start = cell_start + Size{value / Block::neighbors} * (Block::cells + 1);
    Real part[sums];
    for (int k = 0; k < sums; ++k) part[k] = Real(0);
    for (int x = low[0]; x <= high[0]; ++x)
      for (int y = low[1]; y <= high[1]; ++y) {
        const int row_cell = (x * Block::side + y) * Block::side;
        for (int z = low[2]; z <= high[2]; ++z)
          for (Index s = start[row_cell + z]; s < start[row_cell + z + 1]; ++s) {
            const ContactRow<Real>& row = rows[s];
            const Real w = row.weight[0][local[0] - x] * row.weight[1][local[1] - y] * row.weight[2][local[2] - z];
            for (int k = 0; k < sums; ++k) part[k] += w * row.sum[k];
            if (gradient != nullptr) add_affine(s, row, local, w, part);
          }
      }
    move_places(ahead, Real(-Block::side), part);
    for (int k = 0; k < sums; ++k) sum[k] += part[k];
  }

  TRIBO_HD void add_affine(Index s, const ContactRow<Real>& row, const Cell<3>& local, Real w, Real* part) const {
    for (int c = 0; c < 3; ++c) {
      const Real away = Real(local[c]) - row.sum[7 + c] / row.sum[0];
      for (int r = 0; r < 3; ++r) part[1 + r] += w * gradient[s][3 * r + c] * away;
    }
  }
};

/// Mass of all fields at a node.
template <class Real>
struct SumFields {
  const ContactPatch* patches;
  const Index* block_start;
  const Index* needed;
  ContactNodeSums<Real>* nodes;

  TRIBO_HD void operator()(Index i) const {
    const Index patch = i / Block::nodes;
    if (needed != nullptr && needed[patch] == 0) return;
    const Index block = patches[patch].block;
    Real total = Real(0);
    for (Index p = block_start[block]; p < block_start[block + 1]; ++p)
      total += nodes[Size{p} * Block::nodes + i % Block::nodes].sum[0];
    nodes[i].total = total;
  }
};

template <class Real>
void sort_samples(Exec& ex, const SolidMesh<Real>& mesh, const SamplesView<Real>& samples,
                  const ContactConstants& constants, const FieldOf<Real>& field_of, int field_bits,
                  ContactFields<Real>& f) {
  const SampleCell<Real> base{samples, Real(1 / constants.dx)};
  const SampleExtent nothing{Cell<3>::filled(0x7fffffff), Cell<3>::filled(-0x7fffffff), 0, no_sample};
  const SampleExtent extent =
      reduce(ex, "contact sort", mesh.samples, nothing, ExtentOfSample<Real>{base, field_of}, JoinSampleExtents{});
  bool wide = false;
  for (int k = 0; k < 3 && mesh.samples > 0; ++k)
    wide = wide || std::int64_t{extent.high[k]} - extent.low[k] >= (std::int64_t{1} << key_bits_per_axis) - 1;
  if (extent.lost != no_sample || wide)
    throw DivergedError("vertices of solids are spread over more than " + std::to_string(4 << key_bits_per_axis) +
                        " cells along an axis, or one is that far from the origin or at no finite position; bring "
                        "objects closer to the origin, raise grid.dx, or use --precision double");
  f.count = extent.count;
  f.keys.resize_discard(mesh.samples);
  f.order.resize_discard(mesh.samples);
  f.flags.resize_discard(mesh.samples);
  f.bin_of.resize_discard(mesh.samples);
  Cell<3> high = extent.high;
  for (int k = 0; k < 3; ++k) ++high[k];
  const auto window = TileWindow<3>::around(extent.low, high);
  const int code_bits = mesh.samples > 0 ? bits_for(window.count()) + bits_in_tile<3> : 0;
  const int out_bit = code_bits + field_bits + cell_bits;
  parallel_for(ex, "contact sort", mesh.samples,
               KeySample<Real>{base, field_of, window, field_bits, out_bit, f.keys.data(), f.order.data()});
  f.sorter.sort(ex, "contact sort", f.keys, f.order, mesh.samples, f.count < mesh.samples ? out_bit + 1 : out_bit);
  parallel_for(ex, "contact sort", f.count, FlagRun{f.keys.data(), cell_bits, f.flags.data()});
  f.bin_count = exclusive_scan(ex, "contact sort", f.flags, f.flags, f.count);
  f.bins.resize_discard(f.bin_count);
  parallel_for(ex, "contact sort", f.count,
               WriteSampleBin<Real>{base, f.keys.data(), f.order.data(), f.flags.data(), field_bits, f.count,
                                    f.bins.data(), f.bin_of.data()});
  f.cell_start.resize_discard(Size{f.bin_count} * (Block::cells + 1));
  parallel_for(ex, "contact sort", f.bin_count * (Block::cells + 1),
               FindCell{f.bins.data(), f.keys.data(), f.cell_start.data()});

  const Index touches = f.bin_count * Block::neighbors;
  f.pair_keys.resize_discard(touches);
  f.touch.resize_discard(touches);
  f.flags.resize_discard(touches);
  f.starts.resize_discard(touches);
  f.bin_patch.resize_discard(touches);
  parallel_for(ex, "contact sort", touches,
               EmitPatch{f.bins.data(), window, field_bits, f.pair_keys.data(), f.touch.data()});
  f.sorter.sort(ex, "contact sort", f.pair_keys, f.touch, touches, code_bits + field_bits);
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
void find_meetings(Exec& ex, const SolidMesh<Real>& mesh, ContactPass pass, ContactFields<Real>& f) {
  f.meeting_start.resize_discard(f.bin_count + 1);
  FindMeetings find{f.bins.data(),         f.bin_count, f.bin_patch.data(),     f.patches.data(), f.block_start.data(),
                    mesh.kinematic.data(), pass,        f.meeting_start.data(), nullptr};
  parallel_for(ex, "contact sort", f.bin_count + 1, find);
  f.meeting_count = exclusive_scan(ex, "contact sort", f.meeting_start, f.meeting_start, f.bin_count + 1);
  f.meetings.resize_discard(f.meeting_count);
  find.meetings = f.meetings.data();
  parallel_for(ex, "contact sort", f.bin_count, find);
  f.flags.resize_discard(f.meeting_count);
  parallel_for(ex, "contact sort", f.meeting_count, CountSlots{f.meetings.data(), f.bins.data(), f.flags.data()});
  f.slot_count = exclusive_scan(ex, "contact sort", f.flags, f.flags, f.meeting_count);
  parallel_for(ex, "contact sort", f.meeting_count, WriteFirstSlot{f.flags.data(), f.meetings.data()});
}

}  // namespace

template <class Real>
void make_fields(Exec& ex, const SolidMesh<Real>& mesh, const ContactConstants& constants, ContactPass pass,
                 bool everywhere, const SolidState<Real>& state, ContactFields<Real>& f) {
  const SamplesView<Real> samples = samples_of(mesh, state);
  const Index fields = pass == ContactPass::paper ? 1 : pass == ContactPass::bodies ? mesh.bodies : 6 * mesh.bodies;
  sort_samples(ex, mesh, samples, constants, FieldOf<Real>{samples, mesh.self_contact.data(), pass}, bits_for(fields),
               f);
  find_meetings(ex, mesh, pass, f);

  f.rows.resize_discard(f.count);
  if (constants.spec.affine) f.gradient.resize_discard(f.count);
  Vec<Real, 9>* const gradient = constants.spec.affine ? f.gradient.data() : nullptr;
  parallel_for(ex, "contact fields", f.count,
               WriteRow<Real>{samples, Real(constants.dx), Real(1 / constants.dx), f.order.data(), f.bin_of.data(),
                              f.bins.data(), f.rows.data(), mesh.triangle_tet.data(), view(mesh.tet), gradient});
  const bool all = everywhere || pass == ContactPass::paper;
  f.flags.resize_discard(f.patch_count);
  Index* const needed = all ? nullptr : f.flags.data();
  if (!all)
    parallel_for(ex, "contact fields", f.patch_count,
                 MarkPatch{f.touch_start.data(), f.touch.data(), f.meeting_start.data(), f.patches.data(),
                           f.block_start.data(), needed});
  f.nodes.resize_discard(Size{f.patch_count} * Block::nodes);
  parallel_for(ex, "contact fields", f.patch_count * Block::nodes,
               GatherNode<Real>{f.rows.data(), gradient, f.cell_start.data(), f.touch_start.data(), f.touch.data(),
                                needed, f.nodes.data()});
  parallel_for(ex, "contact fields", f.patch_count * Block::nodes,
               SumFields<Real>{f.patches.data(), f.block_start.data(), needed, f.nodes.data()});
}

#define TRIBO_INSTANTIATE(Real)                                                                        \
  template void make_fields(Exec&, const SolidMesh<Real>&, const ContactConstants&, ContactPass, bool, \
                            const SolidState<Real>&, ContactFields<Real>&);
TRIBO_INSTANTIATE(float)
TRIBO_INSTANTIATE(double)
#undef TRIBO_INSTANTIATE

}  // namespace tribo::TRIBO_BACKEND

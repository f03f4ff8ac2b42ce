#include <cmath>
#include <utility>

#include "tribo/exec/chunks.h"
#include "tribo/grid/arena.h"
#include "tribo/matter/solids/contact/lists.h"

namespace tribo::TRIBO_BACKEND {
namespace {

using Block = ContactBlock;

/// Part of the skin that vertices may use; the rest is for rounding.
constexpr double usable_skin = 0.9 * contact_skin;
/// How much normals may change while lists of contact within bodies hold.
constexpr double turn_limit = 0.05;

/// Whether samples of two bins may be no more than `reach` cells apart; when more than 2, kernels share no node.
template <class Real>
TRIBO_HD bool within_reach(const ContactBox<Real>& a, const ContactBox<Real>& b, int reach) {
  for (int k = 0; k < 3; ++k)  // a base is a cell ahead of where it is listed, or none
    if (a.low[k] > b.high[k] + 1 + reach || b.low[k] > a.high[k] + 1 + reach) return false;
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

/// The bits of a row of bases from one coordinate to another, both included, that may lie outside.
TRIBO_HD std::uint32_t row_of_bases(std::int32_t low, std::int32_t high) {
  const std::int32_t first = max(low, 0), last = min(high, Block::base_side - 1);
  return first > last ? 0u : (2u << last) - (1u << first);
}
/// Bases of samples listed in a block that are no more than `reach` from those that samples of a bin may have.
template <class Real>
TRIBO_HD void add_bases_near(const Cell<3>& block, const Bin<3>& bin, const ContactBox<Real>& box, int reach,
                             ContactBases& near) {
  constexpr int side = Block::base_side;
  std::uint32_t row[3][Block::side];  // around each cell of the bin, along each axis
  for (int k = 0; k < 3; ++k)
    for (int c = 0; c < Block::side; ++c) {
      const std::int32_t at = Block::side * (bin.block[k] - block[k]) + c;
      row[k][c] = row_of_bases(at - reach, at + 1 + reach);
    }
  for (int x = 0; x < Block::side; ++x) {
    if (row[0][x] == 0) continue;
    std::uint32_t plane = 0;
    for (int y = 0; y < Block::side; ++y) {
      std::uint32_t line = 0;
      for (int z = 0; z < Block::side; ++z)
        if ((box.cells >> ((x * Block::side + y) * Block::side + z) & 1) != 0) line |= row[2][z];
      for (int j = 0; j < side; ++j)
        if ((row[1][y] >> j & 1u) != 0) plane |= line << (side * j);
    }
    for (int i = 0; i < side; ++i)
      if ((row[0][x] >> i & 1u) != 0) near.plane[i] |= plane;
  }
}

/// Whether normals of two bins may become as much opposed as contact of a body with itself asks, n . N < opposed |N|
/// with N a mean over one main direction, along which all are at least 1/sqrt(3): |N| is, too. All may turn by the
/// limit before lists are made anew.
template <class Real>
TRIBO_HD bool may_oppose(const NormalRange<Real>& a, const NormalRange<Real>& b) {
  Real least = Real(0);
  for (int k = 0; k < 3; ++k)
    least += min(min(a.low[k] * b.low[k], a.low[k] * b.high[k]), min(a.high[k] * b.low[k], a.high[k] * b.high[k]));
  return least < Real((0.57 - turn_limit) * contact_opposed + (2 + turn_limit) * turn_limit);
}

/// Marks cells of bodies' bins with samples that may touch their own body. A bin has normals all around where a limb is
/// a few cells thick, and would find itself.
template <class Real>
struct MarkOpposed {
  const Bin<3>* bins;
  const ContactBox<Real>* boxes;
  const NormalRange<Real>* cell_normals;
  const Index* bin_patch;
  const Index* touch_start;
  const Index* touch;
  const Index* self_contact;
  const Index* kinematic;
  int reach;
  Index* mark;

  TRIBO_HD void operator()(Index i) const {
    const Index b = i / Block::cells;
    const int cell = i % Block::cells;
    const Index body = bins[b].group;
    Index found = 0;
    if ((boxes[b].cells >> cell & 1) != 0 && self_contact[body] != 0 && kinematic[body] == 0)
      for (int k = 0; k < Block::neighbors && found == 0; ++k) {
        const Index patch = bin_patch[Block::neighbors * b + k];
        if (patch < 0) continue;
        for (Index t = touch_start[patch]; t < touch_start[patch + 1] && found == 0; ++t)
          found = opposes(b, cell, touch[t] / Block::neighbors) ? 1 : 0;
      }
    mark[i] = found;
  }

  TRIBO_HD bool opposes(Index b, int cell, Index other) const {
    const NormalRange<Real>& own = cell_normals[Block::cells * Size{b} + cell];
    const Cell<3> at = unflatten<3>(cell, Block::side);
    std::uint64_t near = boxes[other].cells;
    for (int k = 0; k < 3; ++k) {
      const std::int32_t from = Block::side * (bins[b].block[k] - bins[other].block[k]) + at[k];
      near &= slab_of_cells(k, from - reach - 1, from + reach + 1);  // each base is a cell ahead, or none
    }
    if (near == 0 || !may_oppose(own, boxes[other].normals)) return false;
    for (; near != 0; near &= near - 1)
      if (may_oppose(own, cell_normals[Block::cells * Size{other} + lowest_bit(near)])) return true;
    return false;
  }
};
struct AnyOfCells {
  const Index* marks;
  Index* mark;
  TRIBO_HD void operator()(Index b) const {
    Index any = 0;
    for (int c = 0; c < Block::cells && any == 0; ++c) any = marks[Block::cells * b + c];
    mark[b] = any;
  }
};
/// Marks bins that have such cells, and those around them that their samples reach.
template <class Real>
struct MarkAround {
  const ContactBox<Real>* boxes;
  const Index* bin_patch;
  const Index* touch_start;
  const Index* touch;
  const Index* opposed;
  Index* mark;

  TRIBO_HD void operator()(Index b) const {
    Index found = 0;
    for (int k = 0; k < Block::neighbors && found == 0; ++k) {
      const Index patch = bin_patch[Block::neighbors * b + k];
      if (patch < 0) continue;
      for (Index t = touch_start[patch]; t < touch_start[patch + 1] && found == 0; ++t) {
        const Index other = touch[t] / Block::neighbors;
        if (opposed[other] != 0 && within_reach(boxes[b], boxes[other], 2)) found = 1;
      }
    }
    mark[b] = found;
  }
};
/// What is 1 in `flags`, in order.
struct ListFlagged {
  const Index* flags;
  const Index* place;
  Index* items;
  TRIBO_HD void operator()(Index i) const {
    if (flags[i] != 0) items[place[i]] = i;
  }
};
void make_list(Exec& ex, const Array<Index>& flags, Index n, Array<Index>& place, ContactList& list) {
  place.resize_discard(n);
  list.count = exclusive_scan(ex, "contact list", flags, place, n);
  list.items.resize_discard(list.count);
  parallel_for(ex, "contact list", n, ListFlagged{flags.data(), place.data(), list.items.data()});
}

struct MarkSamples {
  const Index* bin_of;
  const Index* mark;
  Index* flags;
  TRIBO_HD void operator()(Index i) const { flags[i] = mark[bin_of[i]]; }
};
/// 1 for vertices around which no tet is inside out.
template <class Real>
struct MarkVertex {
  const Index* corner_start;
  const Index* corner;
  SamplesView<Real> samples;
  UprightTet<Real> upright;
  Index* mark;
  TRIBO_HD void operator()(Index p) const {
    Index all = 1;
    for (Index k = corner_start[p]; k < corner_start[p + 1] && all != 0; ++k)
      all = upright(samples, corner[k] / 4) ? 1 : 0;
    mark[p] = all;
  }
};
/// The same of samples that may touch their own body: all around them is as it should be.
template <class Real>
struct MarkUpright {
  MarkSamples marked;
  const Index* listed;
  SamplesView<Real> samples;
  const Index* upright;  ///< vertices
  TRIBO_HD void operator()(Index i) const {
    marked(i);
    const Index t = samples.sample_triangle[listed[i]];
    for (int k = 0; k < 3; ++k)
      if (upright[samples.triangle[k][t]] == 0) marked.flags[i] = 0;
  }
};
/// What left its partner for good forgets where it stuck.
template <class Real>
struct ForgetSlip {
  const Index* listed;
  const Index* bin_of;
  const Index* meeting_start;
  FieldView<Real, 3> slip;
  TRIBO_HD void operator()(Index i) const {
    if (meeting_start[bin_of[i]] < meeting_start[bin_of[i] + 1]) return;
    for (int k = 0; k < 3; ++k) slip[k][listed[i]] = Real(0);
  }
};
struct SampleAt {
  const Index* listed;
  Index* places;  ///< become samples
  TRIBO_HD void operator()(Index i) const { places[i] = listed[places[i]]; }
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
    meeting.near = ContactBases::none();
    for (int k = 0; k < Block::neighbors; ++k) {
      const Index p = meeting.patch[k] = patch_beside(b, k, field);
      if (p < 0) continue;
      for (Index t = touch_start[p]; t < touch_start[p + 1]; ++t) {
        const ContactBox<Real>& box = boxes[touch[t] / Block::neighbors];
        if (!within_reach(boxes[b], box, reach) ||
            (pass == ContactPass::self && !may_oppose(boxes[b].normals, box.normals)))
          continue;
        add_bases_near(bins[b].block, bins[touch[t] / Block::neighbors], box, reach, meeting.near);
      }
    }
    ContactBases own = ContactBases::none();
    add_bases_near(bins[b].block, bins[b], boxes[b], 0, own);
    bool any = false;
    for (int i = 0; i < Block::base_side; ++i) any = any || (own.plane[i] & meeting.near.plane[i]) != 0;
    return any;
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

struct FlagMeeting {
  const Index* meeting_start;
  Index* flags;
  TRIBO_HD void operator()(Index b) const { flags[b] = meeting_start[b] < meeting_start[b + 1] ? 1 : 0; }
};
struct FlagAdding {
  const Index* bin_patch;
  const Index* needed;
  Index* flags;
  TRIBO_HD void operator()(Index b) const {
    Index adds = 0;
    for (int k = 0; k < Block::neighbors; ++k) {
      const Index patch = bin_patch[Block::neighbors * b + k];
      if (patch >= 0 && needed[patch] != 0) adds = 1;
    }
    flags[b] = adds;
  }
};
struct MarkListed {
  const Index* listed;
  const Index* active;
  Index* mark;
  TRIBO_HD void operator()(Index i) const { mark[listed[active[i]]] = 1; }
};
struct FlagPushed {
  const Index* corner_start;
  const Index* corner;
  const Index* mark;
  Index* flags;
  TRIBO_HD void operator()(Index p) const {
    Index any = 0;
    for (Index j = corner_start[p]; j < corner_start[p + 1] && any == 0; ++j) any = mark[corner[j] / 3];
    flags[p] = any;
  }
};

/// Patches of the other field that a meeting reacts on: none of kinematic bodies.
struct EmitReactions {
  const ContactMeeting* meetings;
  const Index* kinematic;
  Index fields_per_body;
  Index meeting_count;
  Index* start;         ///< of each meeting; before these are known, their number is written here
  std::uint64_t* keys;  ///< null before that
  Index* values;

  TRIBO_HD void operator()(Index k) const {
    Index found = 0;
    if (k < meeting_count && kinematic[meetings[k].field / fields_per_body] == 0)
      for (int at = 0; at < Block::neighbors; ++at) {
        if (meetings[k].patch[at] < 0) continue;
        if (keys != nullptr) {
          keys[start[k] + found] = static_cast<std::uint64_t>(meetings[k].patch[at]);
          values[start[k] + found] = Block::neighbors * k + at;
        }
        ++found;
      }
    if (keys == nullptr) start[k] = found;
  }
};
struct WriteReaction {
  const std::uint64_t* keys;
  const Index* run;
  Index count;
  Index* change_of;
  Index* patch;
  Index* start;

  TRIBO_HD void operator()(Index i) const {
    const bool starts = i == 0 || keys[i] != keys[i - 1];
    const Index r = starts ? run[i] : run[i] - 1;
    if (starts) {
      change_of[keys[i]] = r;
      patch[r] = static_cast<Index>(keys[i]);
      start[r] = i;
    }
    if (i + 1 == count) start[r + 1] = count;
  }
};

template <class Real>
struct ClearSample {
  FieldView<Real, 3> impulse;
  TRIBO_HD void operator()(Index q) const {
    for (int c = 0; c < 3; ++c) impulse[c][q] = Real(0);
  }
};
template <class Real>
struct ClearPlace {
  Vec<Real, 3>* taken;
  Index* touched;
  TRIBO_HD void operator()(Index i) const {
    taken[i] = Vec<Real, 3>::zero();
    touched[i] = 0;
  }
};
template <class Real>
struct CopyVertex {
  FieldView<const Real, 3> from;
  FieldView<Real, 3> to;
  TRIBO_HD void operator()(Index i) const {
    for (int k = 0; k < 3; ++k) to[k][i] = from[k][i];
  }
};

/// What lists must allow for: the largest of each.
template <class Real>
struct ContactDrift {
  Real moved;   ///< along an axis, since vertices were listed [m]
  Real turned;  ///< squared change of a normal; all of it where a tet behind one has turned inside out or back
  Real speed;   ///< squared [m^2/s^2]
};
template <class Real>
struct MeasureDrift {
  SamplesView<Real> now, then;
  Index vertices, triangles;  ///< none of these where normals do not matter
  const Index* triangle_tet;
  UprightTet<Real> upright;

  TRIBO_HD ContactDrift<Real> operator()(Index i) const {
    ContactDrift<Real> r{};
    if (i < vertices) {
      const LargerOrNan<Real> larger;
      for (int k = 0; k < 3; ++k) r.moved = larger(r.moved, abs(now.x[k][i] - then.x[k][i]));
      r.speed = squared_norm(now.vertex(now.v, i));
    }
    if (i < triangles) {
      const bool same = upright(now, triangle_tet[i]) == upright(then, triangle_tet[i]);
      r.turned = same ? squared_norm(now.face_normal(i) - then.face_normal(i)) : Real(4);
    }
    return r;
  }
};
template <class Real>
struct LargerDrift {
  TRIBO_HD ContactDrift<Real> operator()(const ContactDrift<Real>& a, const ContactDrift<Real>& b) const {
    const LargerOrNan<Real> larger;
    return {larger(a.moved, b.moved), larger(a.turned, b.turned), larger(a.speed, b.speed)};
  }
};

/// Lists in `work.self.pairs` the samples that may touch their own body, and those around. Returns how many.
template <class Real>
Index choose_for_self(Exec& ex, const SolidMesh<Real>& mesh, const SamplesView<Real>& samples, int reach,
                      ContactWorkspace<Real>& work) {
  const ContactFields<Real>& b = work.bodies;
  ContactFields<Real>& f = work.self;
  f.starts.resize_discard(b.bin_count);
  f.needed.resize_discard(b.bin_count);
  f.flags.resize_discard(Size{b.bin_count} * Block::cells);
  parallel_for(
      ex, "contact list", b.bin_count * Block::cells,
      MarkOpposed<Real>{b.bins.data(), b.boxes.data(), b.cell_normals.data(), b.bin_patch.data(), b.touch_start.data(),
                        b.touch.data(), mesh.self_contact.data(), mesh.kinematic.data(), reach, f.flags.data()});
  parallel_for(ex, "contact list", b.bin_count, AnyOfCells{f.flags.data(), f.starts.data()});
  for_each_pack(ex, "contact list", b.bin_count,
                MarkAround<Real>{b.boxes.data(), b.bin_patch.data(), b.touch_start.data(), b.touch.data(),
                                 f.starts.data(), f.needed.data()});
  f.flags.resize_discard(b.count);
  work.upright.resize_discard(mesh.vertices);
  for_each_pack(ex, "contact list", mesh.vertices,
                MarkVertex<Real>{mesh.tet_corner_start.data(), mesh.tet_corner.data(), samples, upright_tets(mesh),
                                 work.upright.data()});
  parallel_for(ex, "contact list", b.count,
               MarkUpright<Real>{
                   {b.bin_of.data(), f.needed.data(), f.flags.data()}, b.listed.data(), samples, work.upright.data()});
  make_list(ex, f.flags, b.count, f.starts, f.active);
  parallel_for(ex, "contact list", f.active.count, SampleAt{b.listed.data(), f.active.items.data()});
  f.pairs.swap(f.active.items);
  return f.active.count;
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
  for_each_pack(ex, "contact list", f.bin_count + 1, find);
  f.meeting_count = exclusive_scan(ex, "contact list", f.meeting_start, f.meeting_start, f.bin_count + 1);
  f.meetings.resize_discard(f.meeting_count);
  find.meetings = f.meetings.data();
  if (f.meeting_count > 0) for_each_pack(ex, "contact list", f.bin_count, find);
  f.flags.resize_discard(f.meeting_count);
  parallel_for(ex, "contact list", f.meeting_count, CountSlots{f.meetings.data(), f.bins.data(), f.flags.data()});
  f.slot_count = exclusive_scan(ex, "contact list", f.flags, f.flags, f.meeting_count);
  parallel_for(ex, "contact list", f.meeting_count, WriteFirstSlot{f.flags.data(), f.meetings.data()});
}

/// What is read and added where samples meet; everything in the printed form, where all meet all.
template <class Real>
void list_active(Exec& ex, const SolidMesh<Real>& mesh, ContactPass pass, ContactFields<Real>& f) {
  f.needed.resize_discard(f.patch_count);
  if (pass == ContactPass::paper)
    parallel_for(ex, "contact list", f.patch_count, FillIndex{1, f.needed.data()});
  else
    for_each_pack(ex, "contact list", f.patch_count,
                  MarkPatch{f.touch_start.data(), f.touch.data(), f.meeting_start.data(), f.meetings.data(),
                            f.patches.data(), f.block_start.data(), f.needed.data()});
  make_list(ex, f.needed, f.patch_count, f.starts, f.summed);
  f.flags.resize_discard(f.bin_count);
  parallel_for(ex, "contact list", f.bin_count, FlagMeeting{f.meeting_start.data(), f.flags.data()});
  make_list(ex, f.flags, f.bin_count, f.starts, f.meeting);
  parallel_for(ex, "contact list", f.bin_count, FlagAdding{f.bin_patch.data(), f.needed.data(), f.flags.data()});
  make_list(ex, f.flags, f.bin_count, f.starts, f.adding);
  f.pairs.resize_discard(max(f.count, mesh.samples));
  parallel_for(ex, "contact list", f.count, MarkSamples{f.bin_of.data(), f.flags.data(), f.pairs.data()});
  make_list(ex, f.pairs, f.count, f.starts, f.active);
  parallel_for(ex, "contact list", mesh.samples, FillIndex{0, f.pairs.data()});
  parallel_for(ex, "contact list", f.active.count, MarkListed{f.listed.data(), f.active.items.data(), f.pairs.data()});
  f.flags.resize_discard(mesh.vertices);
  parallel_for(ex, "contact list", mesh.vertices,
               FlagPushed{mesh.sample_corner_start.data(), mesh.sample_corner.data(), f.pairs.data(), f.flags.data()});
  make_list(ex, f.flags, mesh.vertices, f.starts, f.pushed);
  f.impulse.resize_discard(mesh.samples);
  parallel_for(ex, "contact list", mesh.samples, ClearSample<Real>{view(f.impulse)});
  f.taken.resize_discard(f.count);
  f.touched.resize_discard(f.count);
  parallel_for(ex, "contact list", f.count, ClearPlace<Real>{f.taken.data(), f.touched.data()});
}

template <class Real>
void list_reactions(Exec& ex, const SolidMesh<Real>& mesh, ContactPass pass, ContactFields<Real>& f) {
  f.starts.resize_discard(f.meeting_count + 1);
  EmitReactions emit{f.meetings.data(),
                     mesh.kinematic.data(),
                     pass == ContactPass::self ? 6 : 1,
                     f.meeting_count,
                     f.starts.data(),
                     nullptr,
                     nullptr};
  parallel_for(ex, "contact list", f.meeting_count + 1, emit);
  const Index pairs = exclusive_scan(ex, "contact list", f.starts, f.starts, f.meeting_count + 1);
  f.pair_keys.resize_discard(pairs);
  f.reactions.resize_discard(pairs);
  emit.keys = f.pair_keys.data();
  emit.values = f.reactions.data();
  parallel_for(ex, "contact list", f.meeting_count, emit);
  f.sorter.sort(ex, "contact list", f.pair_keys, f.reactions, pairs, bits_for(f.patch_count));
  f.flags.resize_discard(pairs);
  parallel_for(ex, "contact list", pairs, FlagRun{f.pair_keys.data(), 0, f.flags.data()});
  f.reacting.count = exclusive_scan(ex, "contact list", f.flags, f.flags, pairs);
  f.reacting.items.resize_discard(f.reacting.count);
  f.reaction_start.resize_discard(f.reacting.count + 1);
  f.change_of.resize_discard(f.patch_count);
  parallel_for(ex, "contact list", f.patch_count, FillIndex{-1, f.change_of.data()});
  parallel_for(ex, "contact list", pairs,
               WriteReaction{f.pair_keys.data(), f.flags.data(), pairs, f.change_of.data(), f.reacting.items.data(),
                             f.reaction_start.data()});
}

template <class Real>
void list_pass(Exec& ex, const SolidMesh<Real>& mesh, ContactPass pass, const Index* chosen, int reach,
               const ContactPlace<Real>* places, bool cell_normals, ContactFields<Real>& f) {
  f.meeting_count = f.slot_count = f.active.count = f.pushed.count = f.reacting.count = 0;
  f.summed.count = f.meeting.count = f.adding.count = 0;
  if (f.count == 0) return;
  sort_samples(ex, mesh, pass, chosen, places, cell_normals, f);
  find_meetings(ex, mesh, pass, reach, f);
  list_active(ex, mesh, pass, f);
  list_reactions(ex, mesh, pass, f);
}

/// All lists, from the positions at which the state says vertices are listed.
template <class Real>
void make_lists(Exec& ex, const SolidMesh<Real>& mesh, const ContactConstants& constants, const SolidState<Real>& state,
                ContactWorkspace<Real>& work) {
  work.listed = false;  // until all are made
  const bool printed = constants.spec.form == ContactSpec::Form::paper;
  const auto reach = static_cast<int>(state.listed_reach);
  SamplesView<Real> samples = samples_of(mesh, state, work);
  samples.x = view(state.listed);
  place_samples(ex, mesh, samples, constants, work);
  work.bodies.count = mesh.samples;
  const ContactPass pass = printed ? ContactPass::paper : ContactPass::bodies;
  const bool self = work.any_self && !printed;
  list_pass<Real>(ex, mesh, pass, nullptr, reach, work.places.data(), self, work.bodies);
  if (self) {
    work.self.count = choose_for_self(ex, mesh, samples, reach, work);
    list_pass(ex, mesh, ContactPass::self, work.self.pairs.data(), reach, work.places.data(), false, work.self);
  }
  work.listed = true;
}

}  // namespace

template <class Real>
void list_contacts(Exec& ex, const SolidMesh<Real>& mesh, const ContactConstants& constants, double dt,
                   SolidState<Real>& state, ContactWorkspace<Real>& work) {
  if (mesh.samples == 0) return;
  const bool known = state.listed_reach > 0;
  if (known && !work.listed) make_lists(ex, mesh, constants, state, work);  // resumed
  const SamplesView<Real> now = samples_of(mesh, state, work);
  SamplesView<Real> then = now;
  if (known) then.x = view(std::as_const(state.listed));
  const bool turns = work.any_self && constants.spec.form != ContactSpec::Form::paper;
  const ContactDrift<Real> drift = reduce(ex, "contact list", max(mesh.vertices, mesh.triangles), ContactDrift<Real>{},
                                          MeasureDrift<Real>{now, then, mesh.vertices, turns ? mesh.triangles : 0,
                                                             mesh.triangle_tet.data(), upright_tets(mesh)},
                                          LargerDrift<Real>{});
  // How many cells away a body must be seen, to be held at its gap however fast both come: 1 or 2. Lists allow for
  // somewhat faster ones, lest every step that is a little faster than the last asks for new ones.
  const double cells = std::sqrt(static_cast<double>(drift.speed)) * dt / constants.dx;
  const auto reach = [&](double most) { return constants.spec.rest_offset + 2 * most < 1 ? 1 : 2; };
  const bool holds = known && static_cast<double>(drift.moved) <= usable_skin * constants.dx &&
                     static_cast<double>(drift.turned) <= turn_limit * turn_limit && reach(cells) <= state.listed_reach;
  if (holds) return;
  state.listed.resize_discard(mesh.vertices);
  parallel_for(ex, "contact list", mesh.vertices, CopyVertex<Real>{now.x, view(state.listed)});
  state.listed_reach = reach(1.5 * cells);
  make_lists(ex, mesh, constants, state, work);
  const ContactFields<Real>& f = work.bodies;
  if (state.slip.used)
    parallel_for(ex, "contact list", f.count,
                 ForgetSlip<Real>{f.listed.data(), f.bin_of.data(), f.meeting_start.data(), view(state.slip)});
}

#define TRIBO_INSTANTIATE(Real)                                                                                  \
  template void list_contacts(Exec&, const SolidMesh<Real>&, const ContactConstants&, double, SolidState<Real>&, \
                              ContactWorkspace<Real>&);
TRIBO_INSTANTIATE(float)
TRIBO_INSTANTIATE(double)
#undef TRIBO_INSTANTIATE

}  // namespace tribo::TRIBO_BACKEND

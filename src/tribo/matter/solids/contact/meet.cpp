#include "tribo/grid/arena.h"
#include "tribo/grid/stencil.h"
#include "tribo/matter/solids/contact/law.h"
#include "tribo/matter/solids/contact/samples.h"

/// \file
/// The balanced form of contact: samples meet the fields around them, and what they give is shared out to the nodes of
/// these.

namespace tribo::TRIBO_BACKEND {
namespace {

using Block = ContactBlock;

/// Cells a sample may be behind a surface and still be pushed back; deeper ones belong to another side of the body.
constexpr double deepest_cells = 1.5;
/// Least part of a sample's own mass around it that makes a partner.
constexpr double least_mass = 1e-9;
/// Length of a mean normal that has a direction.
constexpr double flat_enough = 0.3;
/// Contact within a body: how far beyond the other part a sample may be.
constexpr double self_depth_cells = 0.5;
constexpr double self_depth_thickness = 0.4;
/// Part of a slip that friction wins back in a step, where it can.
constexpr double hold_part = 0.02;

/// Share of the other field in an impulse at a node, over its mass. All bodies there count: each pair alone would take
/// its two to the velocity they have in common, and several pairs together would overshoot. A body has up to six fields
/// of its own; of those only the two that meet count.
template <class Real>
TRIBO_HD Real share_at(bool self, const ContactNodeSums<Real>& own, const ContactNodeSums<Real>& other) {
  if (!self) return other.sum[ContactNodeSums<Real>::inverse_total];
  const Real sum = own.sum[0] + other.sum[0];
  if (!(sum > Real(0))) return Real(0);
  const Real excess =
      other.sum[ContactNodeSums<Real>::driven] > Real(0) ? other.sum[0] * driven_excess(other) : Real(0);
  return share_per_mass(other, Real(1) / sum, sum, excess);
}

/// The nodes of a field in the blocks around a bin; of blocks where it has none, nodes of nothing.
template <class Real>
struct FieldAround {
  const ContactNodeSums<Real>* block[Block::neighbors];

  TRIBO_HD FieldAround(const ContactNodeSums<Real>* nodes, const ContactNodeSums<Real>* nothing, const Index* patch) {
    for (int at = 0; at < Block::neighbors; ++at)
      block[at] = patch[at] >= 0 ? nodes + Size{patch[at]} * Block::nodes : nothing;
  }
};

/// Kernels of some samples with one base, as lanes: they reach the same nodes.
template <class Real>
struct PackAround {
  using T = ParticlePack<Real>;
  T weight[3][3];
  Cell<3> base;  ///< in the block of their bin

  TRIBO_HD PackAround(const ContactRow<Real>* rows, int n)
      : base(unflatten<3>(static_cast<int>(rows[0].base), Block::base_side)) {
    for (int k = 0; k < 3; ++k)
      for (int j = 0; j < 3; ++j) {
        Real lanes[pack_width<Real>];
        for (int l = 0; l < pack_width<Real>; ++l) lanes[l] = rows[l < n ? l : n - 1].weight[k][j];
        weight[k][j] = load_pack<Real>(lanes, pack_width<Real>);
      }
  }
  /// Whether a sample of a field has a base that is no farther than the next along each axis: the kernels of these, and
  /// of no others, reach the node in the middle.
  TRIBO_HD bool next_to(const FieldAround<Real>& field) const {
    const int x = base[0] + 1, y = base[1] + 1, z = base[2] + 1;
    const int at = ((x >> 2) * 2 + (y >> 2)) * 2 + (z >> 2);
    return field.block[at][((x & 3) * Block::side + (y & 3)) * Block::side + (z & 3)].sum[0] > Real(0);
  }
  /// visit(weights, which of the 8 blocks, node in it) for each node where a field is.
  template <class Visit>
  TRIBO_HD void each(const FieldAround<Real>& field, const Visit& visit) const {
    for (int a = 0; a < 3; ++a)
      for (int b = 0; b < 3; ++b) {
        const T plane = weight[0][a] * weight[1][b];
        for (int c = 0; c < 3; ++c) {
          const int x = base[0] + a, y = base[1] + b, z = base[2] + c;
          const int at = ((x >> 2) * 2 + (y >> 2)) * 2 + (z >> 2);
          const int node = ((x & 3) * Block::side + (y & 3)) * Block::side + (z & 3);
          if (field.block[at][node].sum[0] > Real(0)) visit(plane * weight[2][c], at, node);
        }
      }
  }
};

/// Samples against all other fields around them. Those with one base look at the same nodes, and do so together.
template <class Real>
struct TouchFields {
  struct Scratch {};
  const ContactRow<Real>* rows;
  const Index* chosen;  ///< bins or samples
  const Index* order;
  const Index* bin_of;
  const Bin<3>* bins;
  const Index* bin_patch;
  const ContactNodeSums<Real>* nodes;
  const ContactNodeSums<Real>* nothing;  ///< a block of zeros
  const Index* meeting_start;
  const ContactMeeting* meetings;
  const Real* friction;
  const Real* restitution;
  const Index* kinematic;
  const Real* push;
  const Real* thickness;
  Index bodies;
  bool self;
  bool only_next;           ///< what is farther than the next cell cannot be met in this step
  ContactRule<Real> rule;   ///< but for what the pair decides
  FieldView<Real, 3> slip;  ///< of samples, where anything is held
  Vec<Real, 4>* slots;
  Index* gives;
  Vec<Real, 3>* taken;
  Index* touched;

  TRIBO_HD Index body_of(Index field) const { return self ? field / 6 : field; }

  using T = ParticlePack<Real>;
  static constexpr int W = pack_width<Real>;
  static constexpr int sums = 22;  ///< of a field, without shares
  static constexpr int driven = sums;
  static constexpr int begin = sums + 1;
  static constexpr int spin = sums + 4;
  using Lines = Real[sums + 7][W];  ///< sums of a field around samples, its driven mass, what it began with, its spin
  using Ahead = T[3][3];            ///< sums of normals over the nodes that are a block ahead along an axis

  /// All samples of a bin.
  TRIBO_HD void operator()(const Team&, Index item, Scratch&) const {
    const Index b = chosen[item];
    for (Index k = meeting_start[b]; k < meeting_start[b + 1]; ++k) gives[k] = 0;
    for (Index i = bins[b].begin; i < bins[b].end;) {
      int n = 1;
      while (n < W && i + n < bins[b].end && rows[i + n].base == rows[i].base) ++n;
      touch(b, i, n);
      i += n;
    }
  }

  /// Samples from i on, of one base.
  TRIBO_HD void touch(Index b, Index i, int n) const {
    for (int l = 0; l < n; ++l) {
      taken[i + l] = Vec<Real, 3>::zero();
      touched[i + l] = 0;
    }
    Held held[W];
    for (int l = 0; l < n; ++l) held[l] = begin_holding(i + l);
    if (meeting_start[b] < meeting_start[b + 1]) meet_all(b, i, n, held);
    for (int l = 0; l < n; ++l) end_holding(i + l, held[l]);
  }

  /// Slip of a sample, and with its normal impulses as weights the slips that its partners leave it.
  struct Held {
    Vec<Real, 3> slip, next;
    Real weight;
  };
  TRIBO_HD Held begin_holding(Index i) const {
    Held held{Vec<Real, 3>::zero(), Vec<Real, 3>::zero(), Real(0)};
    if (rule.hold > Real(0))
      for (int c = 0; c < 3; ++c) held.slip[c] = rule.dt * rule.dt * slip[c][order[i]];
    return held;
  }
  /// What shakes leaves its partner for some steps; what leaves it for good forgets.
  TRIBO_HD void end_holding(Index i, const Held& held) const {
    if (!(rule.hold > Real(0))) return;
    const Vec<Real, 3> s = held.weight > Real(0) ? (Real(1) / held.weight) * held.next : Real(0.9) * held.slip;
    for (int c = 0; c < 3; ++c) slip[c][order[i]] = s[c] / (rule.dt * rule.dt);
  }

  TRIBO_HD void meet_all(Index b, Index i, int n, Held* held) const {
    const PackAround<Real> pack(rows + i, n);
    const FieldAround<Real> own(nodes, nothing, bin_patch + Size{b} * Block::neighbors);
    Lines own_sums, other_sums;
    bool known = false;  // own sums
    for (Index k = meeting_start[b]; k < meeting_start[b + 1]; ++k) {
      const ContactMeeting& meeting = meetings[k];
      Vec<Real, 4>* const slot = slots + meeting.first + (i - bins[b].begin);
      for (int l = 0; l < n; ++l) slot[l] = Vec<Real, 4>::zero();
      if (!meeting.near.holds(rows[i].base)) continue;
      const FieldAround<Real> other(nodes, nothing, meeting.patch);
      if (only_next && !pack.next_to(other)) continue;
      Ahead ahead;
      add_first(pack, other, other_sums, ahead);
      bool near = false;
      for (int l = 0; l < n; ++l) near = near || may_touch(rows[i + l], other_sums, l);
      if (!near) continue;
      Real share[W];
      add_moments(pack, own, other, ahead, other_sums, share);
      if (!known) {
        Ahead unused;
        add_first(pack, own, own_sums, unused);
      }
      known = true;
      for (int l = 0; l < n; ++l) {
        meet_one(b, i + l, l, meeting, own_sums, other_sums, share[l], slot[l], held[l]);
        if (slot[l][3] > Real(0)) gives[k] = 1;
      }
    }
  }

  TRIBO_HD void meet_one(Index b, Index i, int l, const ContactMeeting& meeting, const Lines& own, const Lines& other,
                         Real share, Vec<Real, 4>& slot, Held& held) const {
    const ContactRow<Real>& row = rows[i];
    const Real m = row.sum[0], mass = other[0][l];
    if (!may_touch(row, other, l)) return;
    ContactPartner<Real> partner;
    const Real inverse = Real(1) / mass, inverse_own = Real(1) / own[0][l];
    Vec<Real, 3> own_normal;
    for (int c = 0; c < 3; ++c) {
      own_normal[c] = inverse_own * own[4 + c][l];
      partner.velocity[c] = inverse * other[1 + c][l];
      partner.normal[c] = inverse * other[4 + c][l];
      partner.from[c] = rule.dx * row.sum[7 + c] / m;
      partner.away[c] = rule.dx * (inverse * other[7 + c][l] - row.sum[7 + c] / m);
    }
    const Vec<Real, 3> n = contact_normal(own_normal, partner.normal);
    if (!faces(row, partner, n)) return;
    // Its velocity is that of its center. Where it turns, the place beside the sample has another one.
    Vec<Real, 3> turning;
    for (int c = 0; c < 3; ++c) turning[c] = inverse * other[spin + c][l];
    const Vec<Real, 3> aside = cross(turning, dot(partner.away, n) * n - partner.away);
    partner.velocity += aside;
    for (int c = 0; c < 6; ++c) {
      partner.planes.s[c] = inverse * rule.dx * other[10 + c][l];
      partner.normals.s[c] = inverse * other[16 + c][l];
    }
    const bool fixed = kinematic[body_of(meeting.field)] != 0;
    // Samples of what is driven do nothing, and those that meet it all.
    partner.half =
        fixed ? Real(1) : Real(0.5) * ((Real(1) - inverse_own * own[driven][l]) + inverse * other[driven][l]);
    partner.share = share;
    if (fixed) {
      const Real all = mass_of_kinematic(SampleStencil<Real>(row), b);
      partner.share = all > Real(0) ? mass / all : Real(1);
    }
    Vec<Real, 3> s = held.slip;
    if (rule.hold > Real(0))
      for (int c = 0; c < 3; ++c)
        s[c] += rule.dt * (row.sum[ContactNodeSums<Real>::begin + c] / m - inverse * other[begin + c][l] - aside[c]);
    const Vec<Real, 3> P = m * impulse(i, b, row, meeting, partner, n, s);
    if (!(squared_norm(P) > Real(0))) return;
    const Real weight = dot(P, n);
    held.weight += weight;
    held.next += weight * s;
    for (int c = 0; c < 3; ++c) slot[c] = P[c];
    slot[3] = fixed ? Real(0) : Real(1) / partner.share;
    taken[i] = taken[i] - P;
    touched[i] = 1;
  }

  /// Mass, momentum, normal and place, driven mass, momentum at the step's begin, and spin. Places begin anew in each
  /// block.
  TRIBO_HD static void add_first(const PackAround<Real>& pack, const FieldAround<Real>& field, Lines& line,
                                 Ahead& ahead) {
    constexpr int count = 10;
    T sum[count], late[7];
    TRIBO_UNROLL
    for (int c = 0; c < count; ++c) sum[c] = T(Real(0));
    TRIBO_UNROLL
    for (int c = 0; c < 7; ++c) late[c] = T(Real(0));
    TRIBO_UNROLL
    for (int k = 0; k < 3; ++k)
      for (int j = 0; j < 3; ++j) ahead[k][j] = T(Real(0));
    pack.each(field, [&](const T& w, int at, int node) {
      const Real* const from = field.block[at][node].sum;
      TRIBO_UNROLL
      for (int c = 0; c < 7; ++c) sum[c] += w * T(from[c]);
      TRIBO_UNROLL
      for (int k = 0; k < 3; ++k) {
        const bool beyond = (at >> (2 - k) & 1) != 0;
        sum[7 + k] += w * T(from[7 + k] + (beyond ? Real(Block::side) * from[0] : Real(0)));
        if (!beyond) continue;
        TRIBO_UNROLL
        for (int j = 0; j < 3; ++j) ahead[k][j] += w * T(from[4 + j]);
      }
      static_assert(ContactNodeSums<Real>::begin == ContactNodeSums<Real>::driven + 1 &&
                    ContactNodeSums<Real>::spin == ContactNodeSums<Real>::begin + 3);
      TRIBO_UNROLL
      for (int c = 0; c < 7; ++c) late[c] += w * T(from[ContactNodeSums<Real>::driven + c]);
    });
    for (int c = 0; c < count; ++c) spill<Real>(sum[c], line[c]);
    for (int c = 0; c < 7; ++c) spill<Real>(late[c], line[driven + c]);
  }
  /// The symmetric parts of n x^T and n n^T, and the share.
  TRIBO_HD void add_moments(const PackAround<Real>& pack, const FieldAround<Real>& own, const FieldAround<Real>& other,
                            const Ahead& ahead, Lines& line, Real* share) const {
    constexpr int first = 10;
    T sum[sums - first], shared = T(Real(0));
    TRIBO_UNROLL
    for (int c = 0; c < sums - first; ++c) sum[c] = T(Real(0));
    pack.each(other, [&](const T& w, int at, int node) {
      const ContactNodeSums<Real>& from = other.block[at][node];
      TRIBO_UNROLL
      for (int c = 0; c < sums - first; ++c) sum[c] += w * T(from.sum[first + c]);
      shared += w * T(from.sum[0] * share_at(self, own.block[at][node], from));
    });
    for (int j = 0; j < 3; ++j)
      for (int k = j; k < 3; ++k)
        sum[Sym<Real, 3>::at(j, k)] += T(Real(Block::side)) * (j == k ? ahead[k][j] : ahead[k][j] + ahead[j][k]);
    for (int c = first; c < sums; ++c) spill<Real>(sum[c - first], line[c]);
    spill<Real>(shared, share);
  }

  /// Whether a partner may be near enough, judged by its center, which is where its faces are if it is flat. If it is
  /// not, its mean normal is shorter, and they may be nearer.
  TRIBO_HD bool may_touch(const ContactRow<Real>& row, const Lines& other, int l) const {
    const Real m = row.sum[0], mass = other[0][l];
    if (!(mass > Real(least_mass) * m)) return false;
    const Real inverse = Real(1) / mass, inverse_own = Real(1) / m;
    Real along = Real(0), back = Real(0), length = Real(0), speed = Real(0);
    for (int c = 0; c < 3; ++c) {
      const Real away = inverse * other[7 + c][l] - inverse_own * row.sum[7 + c];
      const Real normal = inverse * other[4 + c][l];
      const Real relative = inverse * other[1 + c][l] - inverse_own * row.sum[1 + c];
      along += away * (inverse_own * row.sum[4 + c]);
      back -= away * normal;
      length += normal * normal;
      speed += relative * relative;
    }
    length = sqrt(length);
    const Real gap = length > Real(flat_enough) ? min(along, back / length) : along;
    const Real bent = Real(3) * max(Real(1) - length, Real(0)) + Real(0.01);
    return rule.dx * (gap - bent) < rule.rest_gap + sqrt(speed) * rule.dt;
  }

  /// Of all kinematic bodies around, when they are several: they share what one would do alone.
  TRIBO_HD Real mass_of_kinematic(const SampleStencil<Real>& stencil, Index b) const {
    int count = 0;
    for (Index k = meeting_start[b]; k < meeting_start[b + 1]; ++k)
      count += kinematic[body_of(meetings[k].field)] != 0 ? 1 : 0;
    Real sum = Real(0);
    if (count < 2) return sum;
    for (Index k = meeting_start[b]; k < meeting_start[b + 1]; ++k) {
      if (kinematic[body_of(meetings[k].field)] == 0) continue;
      const Index* const patch = meetings[k].patch;
      stencil.each([&](Real w, int at, int node) {
        if (patch[at] >= 0) sum += w * nodes[Size{patch[at]} * Block::nodes + node].sum[0];
      });
    }
    return sum;
  }

  /// Whether the sample and its partner look at each other, seen along n.
  TRIBO_HD bool faces(const ContactRow<Real>& row, const ContactPartner<Real>& partner, const Vec<Real, 3>& n) const {
    const Vec<Real, 3> face = normal_of(row);
    // A sample that looks away from its partner is on the far side of its own body.
    if (!(squared_norm(n) > Real(0)) || dot(face, n) < Real(-0.2)) return false;
    // A partner that does not look back is beside it, as where blocks with flush sides stand on each other. A thin
    // plate's normals cancel, and it looks nowhere.
    const Real length = sqrt(squared_norm(partner.normal));
    if (length > Real(flat_enough) && dot(partner.normal, n) > Real(contact_opposed) * length) return false;
    return !self || dot(face, partner.normal) < Real(contact_opposed) * length;
  }
  TRIBO_HD static Vec<Real, 3> normal_of(const ContactRow<Real>& row) {
    return {{row.sum[4] / row.sum[0], row.sum[5] / row.sum[0], row.sum[6] / row.sum[0]}};
  }

  TRIBO_HD Vec<Real, 3> impulse(Index i, Index b, const ContactRow<Real>& row, const ContactMeeting& meeting,
                                const ContactPartner<Real>& partner, const Vec<Real, 3>& n, Vec<Real, 3>& s) const {
    const Vec<Real, 3> none = Vec<Real, 3>::zero();
    const Vec<Real, 3> face = normal_of(row);
    Vec<Real, 3> v;
    for (int c = 0; c < 3; ++c) v[c] = row.sum[1 + c] / row.sum[0];
    const Real length = sqrt(squared_norm(partner.normal));
    Real gap = contact_gap(partner, n);
    // Along a normal that leans, a face is nearer than it is: what the sample's own face says counts where it is more.
    if (dot(face, partner.normal) < Real(-0.5) * length) gap = max(gap, contact_gap(partner, face));
    if (gap < Real(-deepest_cells) * rule.dx) return none;
    if (self) {
      const Real most = Real(self_depth_cells) * rule.dx;
      const Real thin = Real(self_depth_thickness) * thickness[order[i]];
      if (dot(partner.away, face) < -(thin < most ? thin : most)) return none;
    }
    const Index a = body_of(bins[b].group), o = body_of(meeting.field);
    ContactRule<Real> pair = rule;
    pair.friction = friction[a * bodies + o];
    pair.restitution = restitution[a] < restitution[o] ? restitution[a] : restitution[o];
    pair.push = push[a] > push[o] ? push[a] : push[o];
    return contact_impulse(pair, partner, v, n, gap, s);
  }
};

/// The same sample by sample; `gives` is 0 before.
template <class Real>
struct TouchSample {
  TouchFields<Real> fields;
  TRIBO_HD void operator()(Index item) const {
    const Index i = fields.chosen[item];
    fields.touch(fields.bin_of[i], i, 1);
  }
};
/// Change of a block's node velocities by what samples of other fields gave: (1 - d) R_bi / m_bi,
/// R_bi = sum_q P_q w Phi_bi / Phi_q. What is driven takes its part d to where it is held.
template <class Real>
struct ReactOnPatch {
  struct Scratch {
    Vec<Real, 3> given[Block::nodes];  ///< sum_q w P_q / Phi_q over a meeting's samples
    Vec<Real, 3> change[Block::nodes];
  };
  const ContactRow<Real>* rows;
  const Bin<3>* bins;
  const Index* bin_patch;
  const ContactNodeSums<Real>* nodes;
  const ContactMeeting* meetings;
  const Vec<Real, 4>* slots;
  const Index* gives;
  const Index* patch;
  const Index* start;
  const Index* values;
  bool self;
  Vec<Real, 3>* change;

  TRIBO_HD void operator()(const Team& team, Index r, Scratch& scratch) const {
    const ContactNodeSums<Real>* const others = nodes + Size{patch[r]} * Block::nodes;
    for (int i = team.rank(); i < Block::nodes; i += Team::size) scratch.change[i] = Vec<Real, 3>::zero();
    for (Index j = start[r]; j < start[r + 1]; ++j) {
      if (gives[values[j] / Block::neighbors] == 0) continue;
      const ContactMeeting& meeting = meetings[values[j] / Block::neighbors];
      const int which = values[j] % Block::neighbors;
      const ContactNodeSums<Real>* const owns =
          nodes + Size{bin_patch[Block::neighbors * meeting.bin + which]} * Block::nodes;
      for (int i = team.rank(); i < Block::nodes; i += Team::size) scratch.given[i] = Vec<Real, 3>::zero();
      add(team, meeting, unflatten<3>(which, 2), scratch.given);
      for (int i = team.rank(); i < Block::nodes; i += Team::size)
        if (squared_norm(scratch.given[i]) > Real(0) && others[i].sum[0] > Real(0))
          scratch.change[i] += (free_part(others[i]) * share_at(self, owns[i], others[i])) * scratch.given[i];
    }
    for (int i = team.rank(); i < Block::nodes; i += Team::size) change[Size{r} * Block::nodes + i] = scratch.change[i];
  }

  TRIBO_HD void add(const Team& team, const ContactMeeting& meeting, const Cell<3>& ahead, Vec<Real, 3>* given) const {
    const Bin<3>& bin = bins[meeting.bin];
    for (Index s = bin.begin; s < bin.end; ++s) {
      const Vec<Real, 4>& slot = slots[meeting.first + (s - bin.begin)];
      if (!(slot[3] > Real(0))) continue;
      const Cell<3> base = unflatten<3>(static_cast<int>(rows[s].base), Block::base_side);
      Cell<3> shift, low, high;
      for (int k = 0; k < 3; ++k) {
        shift[k] = Block::side * ahead[k] - base[k];
        low[k] = max(-shift[k], 0);
        high[k] = min(3 - shift[k], Block::side);
      }
      const ContactRow<Real>& row = rows[s];
      const Vec<Real, 3> P = slot[3] * Vec<Real, 3>{{slot[0], slot[1], slot[2]}};
      each_node_in<3>(team, low, high, [&](int i, const Cell<3>& c) {
        const Cell<3> at = c + shift;
        given[i] += row.weight[0][at[0]] * row.weight[1][at[1]] * row.weight[2][at[2]] * P;
      });
    }
  }
};

}  // namespace

template <class Real>
Index meet_fields(Exec& ex, const SolidMesh<Real>& mesh, ContactRule<Real> rule, bool self, ContactFields<Real>& f,
                  SolidState<Real>& state, const ContactWorkspace<Real>& work) {
  if (f.meeting_count == 0) return 0;
  rule.presses = !self;
  rule.hold = !self && work.begin != nullptr && state.slip.used ? Real(hold_part) : Real(0);
  f.slots.resize_discard(f.slot_count);
  f.gives.resize_discard(f.meeting_count);
  TouchFields<Real> touch{f.rows.data(),
                          f.meeting.items.data(),
                          f.order.data(),
                          f.bin_of.data(),
                          f.bins.data(),
                          f.bin_patch.data(),
                          f.nodes.data(),
                          f.nodes.data() + Size{f.patch_count} * Block::nodes,
                          f.meeting_start.data(),
                          f.meetings.data(),
                          mesh.friction.data(),
                          mesh.restitution.data(),
                          mesh.kinematic.data(),
                          work.push.data(),
                          work.thickness.data(),
                          mesh.bodies,
                          self,
                          state.listed_reach < 2,
                          rule,
                          view(state.slip),
                          f.slots.data(),
                          f.gives.data(),
                          f.taken.data(),
                          f.touched.data()};
  if constexpr (Team::size == 1) {
    for_each_team<typename TouchFields<Real>::Scratch>(ex, "contact", f.meeting.count, touch);
  } else {
    touch.chosen = f.active.items.data();
    parallel_for(ex, "contact", f.meeting_count, FillIndex{0, f.gives.data()});
    parallel_for(ex, "contact", f.active.count, TouchSample<Real>{touch});
  }
  const Index touched = count_touched(ex, f.touched, f.count);
  if (touched == 0) return 0;
  f.change.resize_discard(Size{f.reacting.count} * Block::nodes);
  for_each_team<typename ReactOnPatch<Real>::Scratch>(
      ex, "contact", f.reacting.count,
      ReactOnPatch<Real>{f.rows.data(), f.bins.data(), f.bin_patch.data(), f.nodes.data(), f.meetings.data(),
                         f.slots.data(), f.gives.data(), f.reacting.items.data(), f.reaction_start.data(),
                         f.reactions.data(), self, f.change.data()});
  return touched;
}

#define TRIBO_INSTANTIATE(Real)                                                                            \
  template Index meet_fields(Exec&, const SolidMesh<Real>&, ContactRule<Real>, bool, ContactFields<Real>&, \
                             SolidState<Real>&, const ContactWorkspace<Real>&);
TRIBO_INSTANTIATE(float)
TRIBO_INSTANTIATE(double)
#undef TRIBO_INSTANTIATE

}  // namespace tribo::TRIBO_BACKEND

#include <type_traits>

#include "tribo/grid/arena.h"
#include "tribo/matter/solids/contact/samples.h"

namespace tribo::TRIBO_BACKEND {
namespace {

using Block = ContactBlock;

/// Where the kernel of a sample begins, seen from the block it is listed in.
template <class Real>
struct KernelAround {
  Vec<Real, 3> node;    ///< of the base, in cells from the block's first one
  Vec<Real, 3> offset;  ///< from there to the sample

  TRIBO_HD KernelAround(const Vec<Real, 3>& x, Real inverse_dx, const Cell<3>& block) {
    for (int k = 0; k < 3; ++k) {
      const Real cells = in_cells(x[k], inverse_dx);
      const Real base = base_node<3>(cells);
      node[k] = base - Real(Block::side) * Real(block[k]);
      offset[k] = cells - base;
    }
  }
  /// Within bounds whatever the position is.
  TRIBO_HD Index base() const {
    Cell<3> at;
    for (int k = 0; k < 3; ++k)
      at[k] = node[k] > Real(0) ? (node[k] < Real(Block::side) ? static_cast<std::int32_t>(node[k]) : Block::side) : 0;
    return flatten(at, Block::base_side);
  }
};

/// Puts the samples of a bin into the order of their bases, and those of one base into that of the list: then they
/// read and add to the same nodes one after the other.
template <class Real>
struct OrderBin {
  struct Scratch {
    Index start[Block::bases + 1];
  };
  SamplesView<Real> samples;
  Real inverse_dx;
  const Index* chosen;  ///< bins, or null: all
  const Bin<3>* bins;
  const Index* listed;
  Index* base;  ///< of the sample at each place of the list
  Index* order;
  Index* base_start;

  TRIBO_HD void operator()(const Team& team, Index i, Scratch& scratch) const {
    const Index b = chosen != nullptr ? chosen[i] : i;
    const Bin<3> bin = bins[b];
    for (Index s = bin.begin + team.rank(); s < bin.end; s += Team::size)
      base[s] = KernelAround<Real>(samples.position(listed[s]), inverse_dx, bin.block).base();
    team.barrier();
    Index* const start = scratch.start;
    if constexpr (Team::size == 1) {
      for (int c = 0; c <= Block::bases; ++c) start[c] = 0;
      for (Index s = bin.begin; s < bin.end; ++s) ++start[base[s] + 1];
    } else {  // a base for each thread, and another one
      for (int c = team.rank(); c < Block::bases; c += Team::size) {
        Index count = 0;
        for (Index s = bin.begin; s < bin.end; ++s) count += base[s] == c ? 1 : 0;
        start[c + 1] = count;
      }
      team.barrier();
    }
    if (team.rank() == 0) {
      start[0] = bin.begin;
      for (int c = 0; c < Block::bases; ++c) start[c + 1] += start[c];
    }
    team.barrier();
    for (int c = team.rank(); c <= Block::bases; c += Team::size)
      base_start[Size{b} * (Block::bases + 1) + c] = start[c];
    if constexpr (Team::size == 1) {
      for (Index s = bin.begin; s < bin.end; ++s) order[start[base[s]]++] = listed[s];
    } else {
      for (int c = team.rank(); c < Block::bases; c += Team::size) {
        Index to = start[c];
        if (to == start[c + 1]) continue;
        for (Index s = bin.begin; s < bin.end; ++s)
          if (base[s] == c) order[to++] = listed[s];
      }
    }
  }
};

/// Velocity gradient of the tet behind a sample (theory D.4): C = [v_k - v_0] Ds^-1; none of a flat one.
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
  Real dx, inverse_dx;
  const Index* active;  ///< places, or null: all
  const Index* order;
  const Index* bin_of;
  const Bin<3>* bins;
  const Index* bin_patch;
  const Index* needed;  ///< looked at when all places are written
  ContactRow<Real>* rows;
  const Index* triangle_tet;
  FieldView<const Index, 4> tet;
  Vec<Real, 9>* gradient;  ///< none: null
  bool velocities;         ///< nothing else

  TRIBO_HD void operator()(Index a) const {
    const Index i = active != nullptr ? active[a] : a;
    if (active == nullptr) {
      const Index* const patch = bin_patch + Size{bin_of[i]} * Block::neighbors;
      bool adds = false;
      for (int k = 0; k < Block::neighbors; ++k) adds = adds || (patch[k] >= 0 && needed[patch[k]] != 0);
      if (!adds) return;
    }
    const Index q = order[i];
    const Real m = samples.sample_mass[q];
    ContactRow<Real>& row = rows[i];
    const Vec<Real, 3> v = samples.velocity(q);
    for (int k = 0; k < 3; ++k) row.sum[1 + k] = m * v[k];
    if (!velocities) {
      place(row, m, bins[bin_of[i]].block, samples.position(q), samples.normal(q));
      row.sum[ContactNodeSums<Real>::driven] = m * samples.driven(q);
      const Vec<Real, 3> begin = samples.blend(samples.begin, q);
      for (int k = 0; k < 3; ++k) row.sum[ContactNodeSums<Real>::begin + k] = m * begin[k];
    }
    const Mat<Real, 3> C = gradient_behind(samples, tet, triangle_tet[samples.sample_triangle[q]]);
    for (int k = 0; k < 3; ++k) {
      const int next = (k + 1) % 3, last = (k + 2) % 3;
      row.sum[ContactNodeSums<Real>::spin + k] = Real(0.5) * m * (C(last, next) - C(next, last));
    }
    for (int k = ContactNodeSums<Real>::spin + 3; k < ContactRow<Real>::sums; ++k) row.sum[k] = Real(0);
    if (gradient == nullptr) return;
    for (int r = 0; r < 3; ++r)
      for (int c = 0; c < 3; ++c) gradient[i][3 * r + c] = m * dx * C(r, c);
  }

  TRIBO_HD void place(ContactRow<Real>& row, Real m, const Cell<3>& block, const Vec<Real, 3>& position,
                      const Vec<Real, 3>& n) const {
    const KernelAround<Real> kernel(position, inverse_dx, block);
    row.base = kernel.base();
    row.sum[0] = m;
    for (int k = 0; k < 3; ++k) {
      const SplineWeights<Real, 3> weights(kernel.offset[k]);
      for (int j = 0; j < 3; ++j) row.weight[k][j] = weights.w[j];
      row.sum[4 + k] = m * n[k];
      row.sum[7 + k] = m * (kernel.node[k] + kernel.offset[k]);
    }
    for (int j = 0; j < 3; ++j)
      for (int k = j; k < 3; ++k) {
        const int to = Sym<Real, 3>::at(j, k);
        row.sum[10 + to] = j == k ? n[j] * row.sum[7 + j] : n[j] * row.sum[7 + k] + n[k] * row.sum[7 + j];
        row.sum[16 + to] = (j == k ? m : 2 * m) * n[j] * n[k];
      }
    row.sum[ContactNodeSums<Real>::inverse_total] = Real(0);
  }
};

/// Sums of one field at the nodes of a block, over the samples whose kernels reach them (Han 2019, eqs. 17, 18, by
/// field): bin by bin, in the order of the samples. The first `Quads` times four sums.
template <class Real, int Quads>
struct SumPatch {
  static constexpr int sums = 4 * Quads;
  struct NodeScratch {
    alignas(32) Real sum[Block::nodes][sums];
  };
  struct RowScratch {
    static constexpr int batch = 32;
    alignas(16) ContactRow<Real> rows[batch];
  };
  using Scratch = std::conditional_t<Team::size == Block::nodes, RowScratch, NodeScratch>;
  const ContactRow<Real>* rows;
  const Vec<Real, 9>* gradient;  ///< or null
  const Index* base_start;
  const Index* touch_start;
  const Index* touch;
  const Index* chosen;  ///< patches, or null: those that are needed
  const Index* needed;
  ContactNodeSums<Real>* nodes;

  TRIBO_HD void operator()(const Team& team, Index item, Scratch& scratch) const {
    const Index patch = chosen != nullptr ? chosen[item] : item;
    if (chosen == nullptr && needed[patch] == 0) return;
    if constexpr (Team::size == Block::nodes) {
      sum_at_node(team, patch, scratch);
    } else {
      for (int i = 0; i < Block::nodes; ++i)
        for (int k = 0; k < sums; ++k) scratch.sum[i][k] = Real(0);
      for (Index t = touch_start[patch]; t < touch_start[patch + 1]; ++t)
        each_run(touch[t], [&](Index s, const Cell<3>& ahead) { add(team, s, ahead, scratch); });
      for (int i = 0; i < Block::nodes; ++i) {
        Real* const to = nodes[Size{patch} * Block::nodes + i].sum;
        for (int k = 0; k < sums; ++k) to[k] = scratch.sum[i][k];
      }
    }
  }

  /// visit(sample, block ahead of its bin's) for the samples of a bin that reach the block: of the block itself all but
  /// those whose base is in the next one, of blocks behind it those with the last bases.
  template <class Visit>
  TRIBO_HD void each_run(Index value, const Visit& visit) const {
    const Cell<3> ahead = unflatten<3>(value % Block::neighbors, 2);
    const Index* const start = base_start + Size{value / Block::neighbors} * (Block::bases + 1);
    const auto begin = [&](int k) { return ahead[k] != 0 ? Block::side - 2 : 0; };
    const auto end = [&](int k) { return ahead[k] != 0 ? Block::base_side : Block::side; };
    for (int x = begin(0); x < end(0); ++x)
      for (int y = begin(1); y < end(1); ++y) {
        const int row = (x * Block::base_side + y) * Block::base_side;
        for (Index s = start[row + begin(2)]; s < start[row + end(2)]; ++s) visit(s, ahead);
      }
  }

  /// A thread for each node keeps its sums in registers, and all of them read rows from where they put them together.
  /// All samples of a bin are moved at once.
  TRIBO_HD void sum_at_node(const Team& team, Index patch, Scratch& scratch) const {
    const Cell<3> c = unflatten<3>(team.rank(), Block::side);
    NodePack<Real> all[Quads];
    TRIBO_UNROLL
    for (int k = 0; k < Quads; ++k) all[k] = NodePack<Real>(Real(0));
    for (Index t = touch_start[patch]; t < touch_start[patch + 1]; ++t) {
      const Cell<3> ahead = unflatten<3>(touch[t] % Block::neighbors, 2);
      const Index* const start = base_start + Size{touch[t] / Block::neighbors} * (Block::bases + 1);
      constexpr int plane = Block::base_side * Block::base_side;
      const Index end = start[plane * (ahead[0] != 0 ? Block::base_side : Block::side)];
      const Cell<3> from = c + std::int32_t{Block::side} * ahead;  // the node, from the first one of the bin's block
      NodePack<Real> part[Quads];
      TRIBO_UNROLL
      for (int k = 0; k < Quads; ++k) part[k] = NodePack<Real>(Real(0));
      for (Index s = start[plane * (ahead[0] != 0 ? Block::side - 2 : 0)]; s < end; s += Scratch::batch) {
        const int n = static_cast<int>(min(end - s, Index{Scratch::batch}));
        team.barrier();
        copy_rows(team, rows + s, n, scratch);
        team.barrier();
        for (int j = 0; j < n; ++j) add_row(scratch.rows[j], s + j, from, part);
      }
      Real own[sums];
      TRIBO_UNROLL
      for (int k = 0; k < Quads; ++k) part[k].store(own + 4 * k);
      if constexpr (Quads > 1) move_places(ahead, Real(-Block::side), own);
      TRIBO_UNROLL
      for (int k = 0; k < Quads; ++k) all[k] = all[k] + NodePack<Real>::load(own + 4 * k);
    }
    Real* const to = nodes[Size{patch} * Block::nodes + team.rank()].sum;
    TRIBO_UNROLL
    for (int k = 0; k < Quads; ++k) all[k].store(to + 4 * k);
  }
  TRIBO_HD static void copy_rows(const Team& team, const ContactRow<Real>* from, int n, Scratch& scratch) {
    static_assert(sizeof(ContactRow<Real>) % sizeof(std::uint32_t) == 0);
    const int words = n * static_cast<int>(sizeof(ContactRow<Real>) / sizeof(std::uint32_t));
    const auto* const source = reinterpret_cast<const std::uint32_t*>(from);
    auto* const target = reinterpret_cast<std::uint32_t*>(scratch.rows);
    for (int w = team.rank(); w < words; w += Team::size) target[w] = source[w];
  }
  TRIBO_HD void add_row(const ContactRow<Real>& row, Index s, const Cell<3>& node, NodePack<Real>* part) const {
    const Cell<3> at = node - unflatten<3>(static_cast<int>(row.base), Block::base_side);
    for (int k = 0; k < 3; ++k)
      if (at[k] < 0 || at[k] > 2) return;
    const Real w = row.weight[0][at[0]] * row.weight[1][at[1]] * row.weight[2][at[2]];
    TRIBO_UNROLL
    for (int k = 0; k < Quads; ++k) part[k] = part[k] + NodePack<Real>(w) * NodePack<Real>::load(row.sum + 4 * k);
    if (gradient == nullptr) return;
    Real first[4];
    part[0].store(first);
    add_affine(s, row.sum, node, w, first);
    part[0] = NodePack<Real>::load(first);
  }

  TRIBO_HD void add(const Team& team, Index s, const Cell<3>& ahead, Scratch& scratch) const {
    const ContactRow<Real>& row = rows[s];
    const Cell<3> base = unflatten<3>(static_cast<int>(row.base), Block::base_side);
    Cell<3> shift, low, high;  // node c of the block is node c + shift of the kernel
    for (int k = 0; k < 3; ++k) {
      shift[k] = Block::side * ahead[k] - base[k];
      low[k] = max(-shift[k], 0);
      high[k] = min(3 - shift[k], Block::side);
    }
    Real own[ContactRow<Real>::sums];
    for (int k = 0; k < ContactRow<Real>::sums; ++k) own[k] = row.sum[k];
    if (Quads > 1 || gradient != nullptr) move_places(ahead, Real(-Block::side), own);
    NodePack<Real> quad[Quads];
    TRIBO_UNROLL
    for (int k = 0; k < Quads; ++k) quad[k] = NodePack<Real>::load(own + 4 * k);
    each_node_in<3>(team, low, high, [&](int i, const Cell<3>& c) {
      const Cell<3> at = c + shift;
      const Real w = row.weight[0][at[0]] * row.weight[1][at[1]] * row.weight[2][at[2]];
      Real* const to = scratch.sum[i];
      TRIBO_UNROLL
      for (int k = 0; k < Quads; ++k)
        (NodePack<Real>::load(to + 4 * k) + NodePack<Real>(w) * quad[k]).store(to + 4 * k);
      if (gradient != nullptr) add_affine(s, own, c, w, to);
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
  struct Scratch {};
  const ContactPatch* patches;
  const Index* block_start;
  const Index* chosen;  ///< patches, or null: those that are needed
  const Index* needed;
  ContactNodeSums<Real>* nodes;

  /// The first patch of a block does it for all.
  TRIBO_HD void operator()(const Team& team, Index item, Scratch&) const {
    const Index patch = chosen != nullptr ? chosen[item] : item;
    if (chosen == nullptr && needed[patch] == 0) return;
    const Index block = patches[patch].block;
    for (Index p = block_start[block]; p < patch; ++p)
      if (needed[p] != 0) return;
    for (int i = team.rank(); i < Block::nodes; i += Team::size) {
      Real total = Real(0), excess = Real(0);
      for (Index p = block_start[block]; p < block_start[block + 1]; ++p) {
        if (needed[p] == 0) continue;
        const ContactNodeSums<Real>& node = nodes[Size{p} * Block::nodes + i];
        total += node.sum[0];
        if (node.sum[ContactNodeSums<Real>::driven] > Real(0)) excess += node.sum[0] * driven_excess(node);
      }
      const Real inverse_total = total > Real(0) ? Real(1) / total : Real(0);
      for (Index p = patch; p < block_start[block + 1]; ++p) {
        if (needed[p] == 0) continue;
        ContactNodeSums<Real>& own = nodes[Size{p} * Block::nodes + i];
        own.sum[ContactNodeSums<Real>::inverse_total] = share_per_mass(own, inverse_total, total, excess);
      }
    }
  }
};

template <class Real>
struct ClearNode {
  ContactNodeSums<Real>* nodes;
  TRIBO_HD void operator()(Index i) const {
    for (int k = 0; k < ContactRow<Real>::sums; ++k) nodes[i].sum[k] = Real(0);
  }
};

/// Patches that are needed in this step: those of the lists, and those where particles are.
struct NeedPatch {
  const Index* listed;
  const ContactPatch* patches;
  const Index* found;
  Index* needed;
  TRIBO_HD void operator()(Index p) const { needed[p] = listed[p] != 0 || found[patches[p].block] >= 0 ? 1 : 0; }
};

/// Sums at nodes: where samples meet, or where `needed` says so, in which case all samples are looked at.
template <class Real>
struct FieldMaker {
  Exec& ex;
  const SolidMesh<Real>& mesh;
  const ContactConstants& constants;
  SamplesView<Real> samples;
  ContactFields<Real>& f;
  const Index* needed;  ///< or null

  void order() const {
    f.pairs.resize_discard(f.count);
    f.order.resize_discard(f.count);
    f.base_start.resize_discard(Size{f.bin_count} * (Block::bases + 1));
    const Index* const chosen = needed == nullptr ? f.adding.items.data() : nullptr;
    for_each_team<typename OrderBin<Real>::Scratch>(
        ex, "contact fields", needed == nullptr ? f.adding.count : f.bin_count,
        OrderBin<Real>{samples, Real(1 / constants.dx), chosen, f.bins.data(), f.listed.data(), f.pairs.data(),
                       f.order.data(), f.base_start.data()});
  }
  void write_rows(bool velocities) const {
    f.rows.resize_discard(f.count);
    if (constants.spec.affine) f.gradient.resize_discard(f.count);
    const Index* const active = needed == nullptr ? f.active.items.data() : nullptr;
    parallel_for(ex, "contact fields", needed == nullptr ? f.active.count : f.count,
                 WriteRow<Real>{samples, Real(constants.dx), Real(1 / constants.dx), active, f.order.data(),
                                f.bin_of.data(), f.bins.data(), f.bin_patch.data(), needed, f.rows.data(),
                                mesh.triangle_tet.data(), view(mesh.tet), gradient(), velocities});
  }
  template <int Quads>
  void sum() const {
    f.nodes.resize_discard(Size{f.patch_count + 1} * Block::nodes);
    for_each_team<typename SumPatch<Real, Quads>::Scratch>(
        ex, "contact fields", patch_items(),
        SumPatch<Real, Quads>{f.rows.data(), gradient(), f.base_start.data(), f.touch_start.data(), f.touch.data(),
                              patches(), all_needed(), f.nodes.data()});
  }
  void clear_nothing() const {
    parallel_for(ex, "contact fields", Index{Block::nodes},
                 ClearNode<Real>{f.nodes.data() + Size{f.patch_count} * Block::nodes});
  }
  void share_masses() const {
    for_each_team<typename SumFields<Real>::Scratch>(
        ex, "contact fields", patch_items(),
        SumFields<Real>{f.patches.data(), f.block_start.data(), patches(), all_needed(), f.nodes.data()});
  }

 private:
  Vec<Real, 9>* gradient() const { return constants.spec.affine ? f.gradient.data() : nullptr; }
  const Index* patches() const { return needed == nullptr ? f.summed.items.data() : nullptr; }
  Index patch_items() const { return needed == nullptr ? f.summed.count : f.patch_count; }
  const Index* all_needed() const { return needed == nullptr ? f.needed.data() : needed; }
};

}  // namespace

template <class Real>
void make_fields(Exec& ex, const SolidMesh<Real>& mesh, const ContactConstants& constants,
                 const SolidState<Real>& state, const ContactWorkspace<Real>& work, const Index* needed,
                 ContactFields<Real>& f) {
  if (needed == nullptr ? f.active.count == 0 : f.count == 0) return;
  const FieldMaker<Real> maker{ex, mesh, constants, samples_of(mesh, state, work), f, needed};
  maker.order();
  maker.write_rows(false);
  maker.template sum<ContactRow<Real>::sums / 4>();
  maker.clear_nothing();
  if (&f == &work.bodies) maker.share_masses();  // parts of one body meet by pairs
}

template <class Real>
void make_body_fields(Exec& ex, const SolidMesh<Real>& mesh, const ContactConstants& constants,
                      const Array<Index>* found, const SolidState<Real>& state, ContactWorkspace<Real>& work) {
  ContactFields<Real>& f = work.bodies;
  if (found == nullptr) return make_fields(ex, mesh, constants, state, work, nullptr, f);
  work.needed.resize_discard(f.patch_count);
  parallel_for(ex, "contact fields", f.patch_count,
               NeedPatch{f.needed.data(), f.patches.data(), found->data(), work.needed.data()});
  make_fields(ex, mesh, constants, state, work, work.needed.data(), f);
}

template <class Real>
void refresh_body_fields(Exec& ex, const SolidMesh<Real>& mesh, const ContactConstants& constants,
                         const SolidState<Real>& state, ContactWorkspace<Real>& work) {
  ContactFields<Real>& f = work.bodies;
  if (f.count == 0) return;
  const FieldMaker<Real> maker{ex, mesh, constants, samples_of(mesh, state, work), f, work.needed.data()};
  maker.write_rows(true);
  maker.template sum<1>();
}

#define TRIBO_INSTANTIATE(Real)                                                                                      \
  template void make_fields(Exec&, const SolidMesh<Real>&, const ContactConstants&, const SolidState<Real>&,         \
                            const ContactWorkspace<Real>&, const Index*, ContactFields<Real>&);                      \
  template void make_body_fields(Exec&, const SolidMesh<Real>&, const ContactConstants&, const Array<Index>*,        \
                                 const SolidState<Real>&, ContactWorkspace<Real>&);                                  \
  template void refresh_body_fields(Exec&, const SolidMesh<Real>&, const ContactConstants&, const SolidState<Real>&, \
                                    ContactWorkspace<Real>&);
TRIBO_INSTANTIATE(float)
TRIBO_INSTANTIATE(double)
#undef TRIBO_INSTANTIATE

}  // namespace tribo::TRIBO_BACKEND

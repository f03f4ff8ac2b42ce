#include "tribo/matter/strands/stages/couple_particles.h"

#include "tribo/contact/coulomb.h"
#include "tribo/grid/arena.h"
#include "tribo/grid/find_block.h"
#include "tribo/matter/strands/stages/rod.h"

namespace tribo::TRIBO_BACKEND {
namespace {

using GridBlock = BlockShape<3>;

struct FindParticles {
  const Cell<3>* blocks;
  Index block_count;
  const Cell<3>* wanted;
  Index* found;
  TRIBO_HD void operator()(Index i) const { found[i] = find_block(blocks, block_count, wanted[i]); }
};

/// The mass at nodes around one of a block.
template <class Real>
struct MassAround {
  GridNodes<Real, 3> grid;
  Cell<3> block;
  Index number;  ///< of the block in the grid

  TRIBO_HD Real operator()(Cell<3> at) const {
    Cell<3> other = block;
    bool beyond = false;
    for (int k = 0; k < 3; ++k) {
      const std::int32_t ahead = at[k] < 0 ? -1 : at[k] >= GridBlock::side ? 1 : 0;
      beyond = beyond || ahead != 0;
      other[k] += ahead;
      at[k] -= ahead * GridBlock::side;
    }
    const Index b = beyond ? find_block(grid.blocks, grid.block_count, other) : number;
    return b < 0 ? Real(0) : grid.nodes[Size{b} * GridBlock::nodes + flatten(at, GridBlock::side)][3];
  }
};

/// The normal of a node, from masses alone: m1 grad m2 - m2 grad m1 is (m1 + m2)^2 times the gradient of the
/// particles' share m2 / (m1 + m2).
template <class Real>
struct FaceParticles {
  GridNodes<Real, 3> strands, particles;
  const Index* found;
  Vec<Real, 4>* facing;

  TRIBO_HD void operator()(Index i) const {
    Vec<Real, 4>& to = facing[i];
    to = {{Real(0), Real(0), Real(0), Real(1)}};
    const Index b = i / GridBlock::nodes;
    const int node = static_cast<int>(i % GridBlock::nodes);
    if (found[b] < 0) return;
    const Real m1 = strands.nodes[i][3];
    const Real m2 = particles.nodes[Size{found[b]} * GridBlock::nodes + node][3];
    if (!(m1 > Real(0)) || !(m2 > Real(0))) return;
    const Cell<3> at = unflatten<3>(node, GridBlock::side);
    const MassAround<Real> first{strands, strands.blocks[b], b}, second{particles, strands.blocks[b], found[b]};
    // Masses as shares of the node's, which may be small beyond the digits of their squares.
    const Real inverse = Real(1) / (m1 + m2), share1 = m1 * inverse, share2 = m2 * inverse;
    Vec<Real, 3> rise;
    for (int k = 0; k < 3; ++k) {
      Cell<3> ahead = at, behind = at;
      ahead[k] += 1;
      behind[k] -= 1;
      rise[k] = Real(0.5) * (share1 * (inverse * (second(ahead) - second(behind))) -
                             share2 * (inverse * (first(ahead) - first(behind))));
    }
    const Real slope = sqrt(squared_norm(rise));
    to[3] = Real(0);
    if (!(slope > Real(0))) return;
    // Per cell. Two bodies that touch along a plane have 0.3 and more at nodes next to it.
    constexpr Real mixed = Real(0.05), apart = Real(0.15);
    const Real clear = min(max((slope - mixed) * (Real(1) / (apart - mixed)), Real(0)), Real(1));
    for (int k = 0; k < 3; ++k) to[k] = rise[k] / slope;
    to[3] = clear;
  }
};

template <class Real>
struct CoupleStrandNode {
  GridNodes<Real, 3> strands, particles;
  const Index* found;
  Vec<Real, 4>* facing;
  Real friction;

  TRIBO_HD void operator()(Index i) const {
    const Index b = i / GridBlock::nodes;
    if (found[b] < 0) return;
    NodePack<Real>& first = strands.nodes[i];
    NodePack<Real>& second = particles.nodes[Size{found[b]} * GridBlock::nodes + i % GridBlock::nodes];
    const Real m1 = first[3], m2 = second[3];
    if (!(m1 > Real(0)) || !(m2 > Real(0))) return;
    const Vec<Real, 3> v1{{first[0], first[1], first[2]}}, v2{{second[0], second[1], second[2]}};
    const Vec<Real, 3> slip = v1 - v2;
    const Vec<Real, 4> face = facing[i];
    // Of two impulses that take energy, what lies between them takes energy, too.
    const Vec<Real, 3> lost =
        face[3] * change_in_contact(slip, {{face[0], face[1], face[2]}}) + (Real(1) - face[3]) * slip;
    // P = mr lost, mr = m1 m2 / (m1 + m2): no product of masses, which may be too small.
    const Real part1 = m2 / (m1 + m2), part2 = m1 / (m1 + m2);
    const Vec<Real, 3> w1 = v1 - part1 * lost, w2 = v2 + part2 * lost;
    first = node_pack<Real>(w1[0], w1[1], w1[2], m1);
    second = node_pack<Real>(w2[0], w2[1], w2[2], m2);
    if (!(dot(slip, {{face[0], face[1], face[2]}}) > Real(0))) facing[i] = {{Real(0), Real(0), Real(0), face[3]}};
  }

  /// What contact takes of the relative velocity (eqs. 46-50 with one cap for both sides, theory G).
  TRIBO_HD Vec<Real, 3> change_in_contact(const Vec<Real, 3>& slip, const Vec<Real, 3>& n) const {
    const Real approach = dot(slip, n);
    if (!(approach > Real(0))) return Vec<Real, 3>::zero();
    const Vec<Real, 3> along = slip - approach * n;
    const Real speed = sqrt(squared_norm(along));
    return approach * n + slip_taken(speed, friction_limit(friction, approach)) * along;
  }
};

template <class Real>
struct ShareVelocity {
  struct Scratch {
    NodePack<Real> before[GridBlock::arena_nodes];
    Vec<Real, 4> facing[GridBlock::arena_nodes];
  };
  FieldView<const Real, 3> x, v;
  FieldView<const Real, 9> C;
  const Bin<3>* bins;
  const Index* bin_blocks;
  const NodePack<Real>* before;
  const Vec<Real, 4>* facing;
  Real dx, kept;  ///< of what the grid does not see, anyway
  FieldView<Real, 3> change;

  TRIBO_HD void operator()(const Team& team, Index b, Scratch& scratch) const {
    const Bin<3> bin = bins[b];
    fill_arena<3, 3>(team, bin_blocks + Size{b} * GridBlock::neighbors, before, scratch.before);
    fill_arena<3, 3>(team, bin_blocks + Size{b} * GridBlock::neighbors, facing, scratch.facing);
    team.barrier();
    for (Index i = bin.begin + team.rank(); i < bin.end; i += Team::size) {
      const Vec<Real, 3> dv = of_vertex(bin, i, scratch);
      for (int k = 0; k < 3; ++k) change[k][i] = kept * dv[k];
    }
  }

 private:
  TRIBO_HD Vec<Real, 3> of_vertex(const Bin<3>& bin, Index i, const Scratch& scratch) const {
    Vec<Real, 3> sum = Vec<Real, 3>::zero(), offset, own{{v[0][i], v[1][i], v[2][i]}};
    Real w[3][3];
    int cell = 0;
    for (int k = 0; k < 3; ++k) {
      const Real scaled = in_cells(x[k][i], Real(1) / dx), base = base_node<3>(scaled);
      offset[k] = scaled - base;
      const SplineWeights<Real, 3> weights(offset[k]);
      for (int j = 0; j < 3; ++j) w[k][j] = weights.w[j];
      cell = cell * GridBlock::arena_side + static_cast<int>(base) - (bin.block[k] * GridBlock::side - GridBlock::margin);
    }
    for (int a = 0; a < 3; ++a)
      for (int b = 0; b < 3; ++b)
        for (int c = 0; c < 3; ++c) {
          const int node = cell + (a * GridBlock::arena_side + b) * GridBlock::arena_side + c;
          const Vec<Real, 4> face = scratch.facing[node];
          const Vec<Real, 3> n{{face[0], face[1], face[2]}};
          const Vec<Real, 3> arm{{dx * (Real(a) - offset[0]), dx * (Real(b) - offset[1]), dx * (Real(c) - offset[2])}};
          Vec<Real, 3> missing;
          for (int k = 0; k < 3; ++k)
            missing[k] = scratch.before[node][k] - own[k] -
                         (C[3 * k][i] * arm[0] + C[3 * k + 1][i] * arm[1] + C[3 * k + 2][i] * arm[2]);
          const Real weight = w[0][a] * w[1][b] * w[2][c];
          sum += weight * ((face[3] * dot(missing, n)) * n + (Real(1) - face[3]) * missing);
        }
    return sum;
  }
};

template <class Real>
struct SpeedOfParticles {
  const Index* found;
  const NodePack<Real>* grid;
  TRIBO_HD Real operator()(Index i) const {
    const Index block = found[i / GridBlock::nodes];
    if (block < 0) return Real(0);
    const NodePack<Real>& node = grid[Size{block} * GridBlock::nodes + i % GridBlock::nodes];
    return max(max(abs(node[0]), abs(node[1])), abs(node[2]));
  }
};
}  // namespace

template <class Real>
double couple_particles(Exec& ex, const GridNodes<Real, 3>& strands, const GridNodes<Real, 3>& particles,
                        double friction, CoupleParticlesWork<Real>& work) {
  const Index nodes = strands.block_count * GridBlock::nodes;
  work.found.resize_discard(strands.block_count);
  work.facing.resize_discard(nodes);
  parallel_for(ex, "couple", strands.block_count,
               FindParticles{particles.blocks, particles.block_count, strands.blocks, work.found.data()});
  parallel_for(ex, "couple", nodes, FaceParticles<Real>{strands, particles, work.found.data(), work.facing.data()});
  parallel_for(
      ex, "couple", nodes,
      CoupleStrandNode<Real>{strands, particles, work.found.data(), work.facing.data(), static_cast<Real>(friction)});
  return static_cast<double>(
      reduce(ex, "couple", nodes, Real(0), SpeedOfParticles<Real>{work.found.data(), particles.nodes}, Larger<Real>{}));
}

template <class Real>
void share_velocities(Exec& ex, const Constants<Real, 3>& constants, const State<Real, 3>& state,
                      const Workspace<Real, 3>& grid, CoupleParticlesWork<Real>& work) {
  work.change.resize_discard(state.count);
  const Particles<Real, 3>& p = state.particles;
  for_each_team<typename ShareVelocity<Real>::Scratch>(
      ex, "couple", state.bin_count,
      ShareVelocity<Real>{view(p.x), view(p.v), view(p.C), state.bins.data(), grid.bin_blocks.data(),
                          grid.grid_before.data(), work.facing.data(), constants.dx, constants.transfer.flip,
                          view(work.change)});
}

#define TRIBO_INSTANTIATE(Real)                                                                                      \
  template double couple_particles(Exec&, const GridNodes<Real, 3>&, const GridNodes<Real, 3>&, double,              \
                                   CoupleParticlesWork<Real>&);                                                      \
  template void share_velocities(Exec&, const Constants<Real, 3>&, const State<Real, 3>&, const Workspace<Real, 3>&, \
                                 CoupleParticlesWork<Real>&);
TRIBO_FOR_EACH_ROD_REAL(TRIBO_INSTANTIATE)
#undef TRIBO_INSTANTIATE

}  // namespace tribo::TRIBO_BACKEND

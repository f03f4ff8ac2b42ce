#include "tribo/matter/solids/stages/grid_damping.h"

#include "tribo/math/spline.h"

namespace tribo::TRIBO_BACKEND {
namespace {

constexpr int stencil_nodes = 27;
/// Nodes are counted from that of the body's first vertex, in so many bits an axis: more than any body has elements.
constexpr int axis_bits = 16;

/// Nodes around a vertex, and their weights.
template <class Real>
struct VertexStencil {
  Vec<Real, 3> base;    ///< first node, in cells
  Vec<Real, 3> offset;  ///< of the vertex from there, in cells
  Real weight[3][3];

  TRIBO_HD VertexStencil(const FieldView<const Real, 3>& x, Index i, Real inverse_spacing) {
    for (int k = 0; k < 3; ++k) {
      const Real scaled = in_cells(x[k][i], inverse_spacing);
      base[k] = base_node<3>(scaled);
      offset[k] = scaled - base[k];
      const SplineWeights<Real, 3> w(offset[k]);
      for (int j = 0; j < 3; ++j) weight[k][j] = w.w[j];
    }
  }
  TRIBO_HD Real weight_of(int node) const {
    return weight[0][node / 9] * weight[1][node / 3 % 3] * weight[2][node % 3];
  }
  /// x_i - x_p
  TRIBO_HD Vec<Real, 3> way_to(int node, Real spacing) const {
    return Vec<Real, 3>{{Real(node / 9) - offset[0], Real(node / 3 % 3) - offset[1], Real(node % 3) - offset[2]}} *
           spacing;
  }
};

template <class Real>
struct KeyTouches {
  FieldView<const Real, 3> x;
  Index first;
  Real inverse_spacing;
  std::uint64_t* keys;
  Index* touch;

  TRIBO_HD void operator()(Index item) const {
    const VertexStencil<Real> origin(x, first, inverse_spacing), own(x, first + item, inverse_spacing);
    for (int n = 0; n < stencil_nodes; ++n) {
      const int at[3] = {n / 9, n / 3 % 3, n % 3};
      std::uint64_t key = 0;
      for (int k = 0; k < 3; ++k) {
        constexpr Real half = Real(1 << (axis_bits - 1));
        const Real from = min(max(own.base[k] - origin.base[k], -half), half - Real(3));
        key = key << axis_bits | static_cast<std::uint64_t>(static_cast<Index>(from + half) + at[k]);
      }
      keys[stencil_nodes * item + n] = key;
      touch[stencil_nodes * item + n] = stencil_nodes * item + n;
    }
  }
};

struct FlagNodeStart {
  const std::uint64_t* keys;
  Index* flags;
  TRIBO_HD void operator()(Index i) const { flags[i] = i == 0 || keys[i] != keys[i - 1] ? 1 : 0; }
};

/// After the scan a touch that begins a node has its number, the others one more.
struct ListNode {
  const std::uint64_t* keys;
  const Index* touch;
  const Index* flags;
  Index touches;
  Index* node_of;
  Index* touch_start;

  TRIBO_HD void operator()(Index i) const {
    const bool begins = i == 0 || keys[i] != keys[i - 1];
    const Index node = begins ? flags[i] : flags[i] - 1;
    node_of[touch[i]] = node;
    if (begins) touch_start[node] = i;
    if (i == touches - 1) touch_start[node + 1] = touches;
  }
};

/// A node's velocity, from its vertices in the order of these.
template <class Real>
struct SumNode {
  FieldView<const Real, 3> x, v;
  FieldView<const Real, 9> C;
  const Real* mass;
  Index first;
  Real spacing, inverse_spacing;
  const Index* touch;
  const Index* touch_start;
  NodePack<Real>* nodes;

  TRIBO_HD void operator()(Index node) const {
    Vec<Real, 3> momentum = Vec<Real, 3>::zero();
    Real sum = 0;
    for (Index t = touch_start[node]; t < touch_start[node + 1]; ++t) {
      const Index i = first + touch[t] / stencil_nodes;
      const int n = touch[t] % stencil_nodes;
      const VertexStencil<Real> stencil(x, i, inverse_spacing);
      const Real share = stencil.weight_of(n) * mass[i];
      const Vec<Real, 3> way = stencil.way_to(n, spacing);
      for (int a = 0; a < 3; ++a) {
        Real velocity = v[a][i];
        for (int b = 0; b < 3; ++b) velocity = fma(C[3 * a + b][i], way[b], velocity);
        momentum[a] = fma(share, velocity, momentum[a]);
      }
      sum += share;
    }
    const Real scale = sum > Real(0) ? Real(1) / sum : Real(0);
    nodes[node] = node_pack<Real>(momentum[0] * scale, momentum[1] * scale, momentum[2] * scale, sum);
  }
};

template <class Real>
struct GatherVertex {
  FieldView<const Real, 3> x;
  const Index* drive;
  Index first;
  Real spacing, inverse_spacing, keep_sym;
  const Index* node_of;
  const NodePack<Real>* nodes;
  FieldView<Real, 3> v;
  FieldView<Real, 9> C;

  TRIBO_HD void operator()(Index item) const {
    const Index i = first + item;
    const VertexStencil<Real> stencil(x, i, inverse_spacing);
    Vec<Real, 3> velocity = Vec<Real, 3>::zero();
    Mat<Real, 3> B = Mat<Real, 3>::zero();
    for (int n = 0; n < stencil_nodes; ++n) {
      const NodePack<Real> node = nodes[node_of[stencil_nodes * item + n]];
      const Real weight = stencil.weight_of(n);
      const Vec<Real, 3> way = stencil.way_to(n, spacing);
      for (int a = 0; a < 3; ++a) {
        const Real share = weight * node[a];
        velocity[a] += share;
        for (int b = 0; b < 3; ++b) B(a, b) = fma(share, way[b], B(a, b));
      }
    }
    const Real scale = inverse_spacing * inverse_spacing * Real(1 / kernel_inertia(3));  // D^-1
    for (int a = 0; a < 3; ++a) {
      if (drive[i] < 0) v[a][i] = velocity[a];
      for (int b = 0; b < 3; ++b) {
        const Real sym = Real(0.5) * (B(a, b) + B(b, a)), skew = Real(0.5) * (B(a, b) - B(b, a));
        C[3 * a + b][i] = scale * fma(keep_sym, sym, skew);
      }
    }
  }
};

}  // namespace

template <class Real>
void damp_on_grid(Exec& ex, const SolidMesh<Real>& mesh, SolidState<Real>& state, GridDampingWorkspace<Real>& work) {
  const SolidState<Real>& now = state;
  work.C_next.resize_discard(mesh.vertices);
  for (const SolidBody& body : mesh.body) {
    if (!(body.damping_spacing > 0)) continue;
    const Index first = body.vertices.begin, count = body.vertices.end - first, touches = stencil_nodes * count;
    const auto spacing = static_cast<Real>(body.damping_spacing), inverse = Real(1) / spacing;
    work.keys.resize_discard(touches);
    work.touch.resize_discard(touches);
    work.flags.resize_discard(touches);
    work.node_of.resize_discard(touches);
    work.touch_start.resize_discard(touches + 1);
    work.nodes.resize_discard(touches);
    parallel_for(ex, "damping", count,
                 KeyTouches<Real>{view(now.x), first, inverse, work.keys.data(), work.touch.data()});
    work.sorter.sort(ex, "damping", work.keys, work.touch, touches, 3 * axis_bits);
    parallel_for(ex, "damping", touches, FlagNodeStart{work.keys.data(), work.flags.data()});
    const Index nodes = exclusive_scan(ex, "damping", work.flags, work.flags, touches);
    parallel_for(ex, "damping", touches,
                 ListNode{work.keys.data(), work.touch.data(), work.flags.data(), touches, work.node_of.data(),
                          work.touch_start.data()});
    parallel_for(ex, "damping", nodes,
                 SumNode<Real>{view(now.x), view(now.v), view(now.C), mesh.mass.data(), first, spacing, inverse,
                               work.touch.data(), work.touch_start.data(), work.nodes.data()});
    parallel_for(ex, "damping", count,
                 GatherVertex<Real>{view(now.x), mesh.drive.data(), first, spacing, inverse,
                                    static_cast<Real>(1 - body.grid_damping), work.node_of.data(), work.nodes.data(),
                                    view(state.v), view(work.C_next)});
  }
}

#define TRIBO_INSTANTIATE(Real) \
  template void damp_on_grid(Exec&, const SolidMesh<Real>&, SolidState<Real>&, GridDampingWorkspace<Real>&);
TRIBO_FOR_EACH_REAL(TRIBO_INSTANTIATE)
#undef TRIBO_INSTANTIATE

}  // namespace tribo::TRIBO_BACKEND

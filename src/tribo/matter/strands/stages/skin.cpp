#include "tribo/matter/strands/stages/skin.h"

#include <cmath>
#include <utility>

#include "tribo/exec/joins.h"
#include "tribo/exec/mark.h"
#include "tribo/linear/cg.h"
#include "tribo/matter/strands/skin_frame.h"
#include "tribo/matter/strands/stages/chain.h"

namespace tribo::TRIBO_BACKEND {
namespace {

using Vec3 = Vec<double, 3>;
constexpr const char* skin_label = "skin";

/// Clamps of roots, and what weighs on them.
template <class Real>
struct Clamps {
  const SkinRoot* root;
  const Index *strand, *start;  ///< of roots; of strands
  FieldView<const Real, 3> skin, x, tail;
  const Real* mass;
  const RootRest* rest;
  const RodWeights<Real>* weights;
  const Index* strand_body;
  const PlacedBody* body;

  TRIBO_HD Index first(Index r) const { return start[strand[r]]; }
  TRIBO_HD int corners(Index r) const { return root[r].body >= 0 ? 2 : 3; }
  TRIBO_HD double drag(Index r) const { return static_cast<double>(weights[strand_body[strand[r]]].drag); }
  TRIBO_HD Vec3 vertex(const FieldView<const Real, 3>& of, Index r, int i) const {
    return cast<double>(vector_at(of, first(r) + i));
  }
  TRIBO_HD Vec3 place(Index i) const { return cast<double>(vector_at(x, i)) + cast<double>(vector_at(tail, i)); }

  TRIBO_HD SkinClamp at(Index r) const {
    if (root[r].body >= 0) return {body[root[r].body].x, place(first(r)), place(first(r) + 1)};
    Vec3 corner[3];
    for (int k = 0; k < 3; ++k) corner[k] = cast<double>(vector_at(skin, root[r].corner[k]));
    return {root[r], corner, place(first(r)), place(first(r) + 1)};
  }
  /// Impulses that changes of velocity of its two vertices take, S.
  TRIBO_HD void take(Index r, const Vec3* change, Vec3* impulse) const {
    const RootRest& behind = rest[strand[r]];
    const Vec3 apart = change[0] - change[1];
    const double dragged = 1 + drag(r);
    const Vec3 both = times(behind.V, change[1]) + behind.X * apart;
    const Vec3 one = transpose(behind.X) * change[1] + times(behind.W, apart);
    impulse[0] = one + dragged * static_cast<double>(mass[first(r)]) * change[0];
    impulse[1] = both - one + dragged * static_cast<double>(mass[first(r) + 1]) * change[1];
  }
};
template <class Real>
Clamps<Real> clamps_of(const RodMesh<Real>& mesh, const SkinBodies<Real>& skin, const RodState<Real>& state,
                       const RodWorkspace<Real>& work) {
  return {mesh.skin.data(),
          mesh.skin_strand.data(),
          mesh.start.data(),
          view(std::as_const(skin.state.x)),
          view(state.x),
          view(state.x_tail),
          mesh.mass.data(),
          work.root_rest.data(),
          work.weights.data(),
          mesh.strand_body.data(),
          mesh.has_rigid_skin ? skin.rigid.work->body.data() : nullptr};
}

/// A part of a rigid body, RodMesh::rigid_part.
struct RigidPart {
  Index body;
  bool turns;
  TRIBO_HD explicit RigidPart(Index vertex) : body((-1 - vertex) / 2), turns((-1 - vertex) % 2 == 1) {}
  TRIBO_HD Vec3 velocity(const PlacedBody* bodies) const { return turns ? bodies[body].w : bodies[body].v; }
};

template <class Real>
struct LeadWithSkin {
  const Index* vertex;
  FieldView<const Real, 3> v;
  const PlacedBody* body;
  bool rigid_alone;  ///< meshes lead as before
  FieldView<double, 3> led;
  TRIBO_HD void operator()(Index i) const {
    if (vertex[i] >= 0 && rigid_alone) return;
    const Vec3 now = vertex[i] >= 0 ? cast<double>(vector_at(v, vertex[i])) : RigidPart(vertex[i]).velocity(body);
    for (int k = 0; k < 3; ++k) led[k][i] = now[k];
  }
};

template <class Real>
struct FollowSkin {
  const SkinRoot* root;
  const Vec<Index, 3>* place;
  FieldView<const Real, 3> x;
  FieldView<const double, 3> v;
  const PlacedBody* body;
  RigidTurns turns;
  double dt;
  RodDriveStep* step;

  TRIBO_HD void operator()(Index r) const {
    const SkinRoot& at = root[r];
    if (at.body >= 0) {
      const PlacedBody& one = body[at.body];
      const Vec3 middle = turns.middle(one, at.body, vector_at(v, place[r][1]), dt);
      const Mat<double, 3> rotation = rotation_of(turned_by(turns.begin(at.body), dt * middle));
      step[r] = drive_to(pose_on_body(at, one.x + dt * vector_at(v, place[r][0]), rotation));
      return;
    }
    Vec<double, 3> to[3];
    for (int c = 0; c < 3; ++c)
      for (int k = 0; k < 3; ++k) to[c][k] = static_cast<double>(x[k][at.corner[c]]) + dt * v[k][place[r][c]];
    step[r] = drive_to(pose_on_skin(at, to));
  }
};

struct ClearPassed {
  RootPush* passed;
  TRIBO_HD void operator()(Index s) const { passed[s] = {Vec3::zero(), Vec3::zero(), Vec3::zero()}; }
};
struct ClearInertia {
  RootInertia* inertia;
  TRIBO_HD void operator()(Index s) const {
    inertia[s] = {Mat<double, 3>::zero(), Mat<double, 3>::zero(), Mat<double, 3>::zero()};
  }
};

/// What is not kept of gravity, drag and momentum as it was. Where the other end of a strand is held, too, who holds it
/// takes part, and the matrix has to say what each has to bear.
template <class Real>
struct PassOnStep {
  Clamps<Real> clamps;
  Vec<Real, 3> gravity;
  double dt;
  FieldView<const Real, 3> v, v_start, director;
  const Real *inverse_mass, *twist, *rows;
  const Index *slot, *body_twisted;
  RootPush* passed;

  TRIBO_HD void operator()(Index r) const {
    const Index s = clamps.strand[r];
    if (s < 0) return;
    const Index first = clamps.start[s], end = clamps.start[s + 1];
    const RootRest& behind = clamps.rest[s];
    RootPush push{Vec3::zero(), Vec3::zero(), Vec3::zero()};
    const bool other_end = !(inverse_mass[end - 1] > Real(0));
    for (Index i = first; i < (other_end ? first + 2 : end); ++i) push.all += left(r, i);
    const Vec3 second = change(first + 1), apart = change(first) - second;
    push.first = left(r, first) + behind.b - transpose(behind.X) * second - times(behind.W, apart);
    if (other_end) push.all += behind.a - times(behind.V, second) - behind.X * apart;
    if (body_twisted[clamps.strand_body[s]] != 0) push.moment = held_moment(first);
    passed[s] = push;
  }

 private:
  TRIBO_HD Vec3 change(Index i) const { return cast<double>(vector_at(v, i)) - cast<double>(vector_at(v_start, i)); }
  TRIBO_HD Vec3 left(Index r, Index i) const {
    const auto m = static_cast<double>(clamps.mass[i]);
    const auto rate = static_cast<double>(clamps.weights[clamps.strand_body[clamps.strand[r]]].drag_rate);
    return m *
           (dt * cast<double>(gravity) - rate * cast<double>(vector_at(v_start, i)) - (1 + clamps.drag(r)) * change(i));
  }
  /// - dt dE/dtheta of the edge that is held, about it.
  TRIBO_HD Vec3 held_moment(Index first) const {
    constexpr int count = static_cast<int>(RodRow::count);
    Real constants[count];
    take_slot(rows, slot[first + 1], count, count, constants);
    double wide[count];
    for (int c = 0; c < count; ++c) wide[c] = static_cast<double>(constants[c]);
    const JointLaw<double> law = joint_law(wide);
    const RodEdge<double> held(clamps.place(first + 1) - clamps.place(first)),
        next(clamps.place(first + 2) - clamps.place(first + 1));
    const RodJoint<double> joint(held, next);
    const JointCurvature<double> at(joint, cast<double>(vector_at(director, first)),
                                    cast<double>(vector_at(director, first + 1)));
    double torque, stiffness;
    law.bend_torque(at, 0, torque, stiffness);
    return -dt * (torque - law.twist * (static_cast<double>(twist[first + 1]) - law.rest_twist)) * held.t;
  }
};

/// Impulses on corners: those that strands have passed on, less what it takes to bring roots to where they belong.
template <class Real>
struct PushCorners {
  Clamps<Real> clamps;
  const RootPush* passed;
  FieldView<const Real, 3> change;  ///< null: they are there
  Vec3* corner;
  TRIBO_HD void operator()(Index r) const {
    if (clamps.strand[r] < 0) return;
    const RootPush& push = passed[clamps.strand[r]];
    Vec3 impulse[2] = {push.first, push.all - push.first};
    if (change[0] != nullptr) {
      const Vec3 by[2] = {clamps.vertex(change, r, 0), clamps.vertex(change, r, 1)};
      Vec3 takes[2];
      clamps.take(r, by, takes);
      for (int i = 0; i < 2; ++i) impulse[i] = impulse[i] - takes[i];
    }
    clamps.at(r).pass(impulse, push.moment, corner + 3 * Size{r});
  }
};
/// Or those that corners themselves take to change their velocities: J^T S J.
template <class Real>
struct TakeCorners {
  Clamps<Real> clamps;
  const Vec<Index, 3>* place;
  const NodePack<double>* change;
  Vec3* corner;
  TRIBO_HD void operator()(Index r) const {
    if (clamps.strand[r] < 0) return;
    Vec3 q[3] = {Vec3::zero(), Vec3::zero(), Vec3::zero()}, vertex[2], impulse[2];
    for (int c = 0; c < clamps.corners(r); ++c)
      for (int k = 0; k < 3; ++k) q[c][k] = change[place[r][c]][k];
    const SkinClamp clamp = clamps.at(r);
    clamp.move(q, vertex);
    clamps.take(r, vertex, impulse);
    clamp.pass(impulse, Vec3::zero(), corner + 3 * Size{r});
  }
};
/// The blocks of that on its diagonal.
template <class Real>
struct WeighCorners {
  Clamps<Real> clamps;
  Sym<double, 3>* block;
  TRIBO_HD void operator()(Index r) const {
    if (clamps.strand[r] < 0) return;
    const SkinClamp clamp = clamps.at(r);
    for (int c = 0; c < clamps.corners(r); ++c)
      for (int j = 0; j < 3; ++j) {
        Vec3 q[3] = {Vec3::zero(), Vec3::zero(), Vec3::zero()}, vertex[2], impulse[2], back[3];
        q[c][j] = 1;
        clamp.move(q, vertex);
        clamps.take(r, vertex, impulse);
        clamp.pass(impulse, Vec3::zero(), back);
        for (int i = 0; i <= j; ++i) block[3 * Size{r} + c](i, j) = back[c][i];
      }
  }
};

/// Inverse of a symmetric, positive matrix of six rows, in place, by Gauss and Jordan.
TRIBO_HD void invert_six(double (&a)[6][6]) {
  for (int p = 0; p < 6; ++p) {
    const double scale = 1 / a[p][p];
    a[p][p] = 1;
    for (int j = 0; j < 6; ++j) a[p][j] *= scale;
    for (int i = 0; i < 6; ++i) {
      if (i == p) continue;
      const double by = a[i][p];
      a[i][p] = 0;
      for (int j = 0; j < 6; ++j) a[i][j] -= by * a[p][j];
    }
  }
}
/// Roots in the matrix of their strands: contact should know that they yield, or near a root it would ask for impulses
/// without bound. As much of each corner's mass counts for a root as if all roots there were pressed, so that they
/// never yield more than it thought. Elimination goes from the tip to the root: nothing else in the factor changes.
template <class Real>
struct LetRootYield {
  Clamps<Real> clamps;
  const Vec<Index, 3>* place;
  const Index *entry_start, *slot, *vertex;
  const Real* inverse_mass;
  const PlacedBody* body;
  RootInertia* inertia;
  Real* factor;

  TRIBO_HD void operator()(Index r) const {
    const Index s = clamps.strand[r];
    if (s < 0) return;
    RootInertia& root = inertia[s];
    root = {Mat<double, 3>::zero(), Mat<double, 3>::zero(), Mat<double, 3>::zero()};
    double yields[6][6];
    find_compliance(r, yields);
    double size = 0;
    for (int i = 0; i < 6; ++i) size += yields[i][i];
    if (!(size > 0)) return;
    constexpr double rigid = 1e-6;  // the edge between the two keeps its length
    for (int i = 0; i < 6; ++i) yields[i][i] += rigid * size;
    invert_six(yields);
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) {
        root.own(i, j) = yields[i][j];
        root.between(i, j) = yields[i][3 + j];
        root.other(i, j) = yields[3 + i][3 + j];
      }
    put_factor(r, root);
  }

 private:
  TRIBO_HD void find_compliance(Index r, double (&yields)[6][6]) const {
    const SkinClamp clamp = clamps.at(r);
    for (int i = 0; i < 6; ++i) {
      Vec3 impulse[2] = {Vec3::zero(), Vec3::zero()}, corner[3], moved[2];
      impulse[i / 3][i % 3] = 1;
      clamp.pass(impulse, Vec3::zero(), corner);
      for (int c = 0; c < clamps.corners(r); ++c) {
        const Index at = place[r][c];
        const auto roots = static_cast<double>(entry_start[at + 1] - entry_start[at]);
        if (vertex[at] < 0) {
          const RigidPart part(vertex[at]);
          const PlacedBody& one = body[part.body];
          corner[c] = roots * (part.turns ? one.inverse_inertia * corner[c] : one.inverse_mass * corner[c]);
        } else {
          corner[c] = (roots * static_cast<double>(inverse_mass[vertex[at]])) * corner[c];
        }
      }
      clamp.move(corner, moved);
      for (int j = 0; j < 6; ++j) yields[i][j] = moved[j / 3][j % 3];
    }
  }
  /// As ChainRest::eliminate does, with `root` on both vertices.
  TRIBO_HD void put_factor(Index r, const RootInertia& root) const {
    const RootRest& behind = clamps.rest[clamps.strand[r]];
    const Index first = clamps.first(r);
    const double dragged = 1 + clamps.drag(r);
    const double mass[2] = {dragged * static_cast<double>(clamps.mass[first]),
                            dragged * static_cast<double>(clamps.mass[first + 1])};
    Mat<double, 3> V = root.other, pivot, shifted;
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) V(i, j) += behind.V(i, j);
      V(i, i) += mass[1];
    }
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) {
        shifted(i, j) = behind.X(i, j) - V(i, j) - root.between(i, j);
        pivot(i, j) = behind.W(i, j) + V(i, j) - behind.X(i, j) - behind.X(j, i);
      }
    FactorRow<double> row;
    row.Q = inverse(half_of(pivot), mass[1]);
    row.Lv = times(shifted, row.Q);
    row.Lw = Mat<double, 3>::zero();
    put(first + 1, row);
    Mat<double, 3> next = V + root.own + root.between + transpose(root.between) - row.Lv * transpose(shifted);
    for (int i = 0; i < 3; ++i) next(i, i) += mass[0];
    row.Q = inverse(half_of(next), mass[0]);
    row.Lv = Mat<double, 3>::zero();
    put(first, row);
  }
  TRIBO_HD static Sym<double, 3> half_of(const Mat<double, 3>& m) {
    Sym<double, 3> r;
    for (int i = 0; i < 3; ++i)
      for (int j = i; j < 3; ++j) r(i, j) = 0.5 * (m(i, j) + m(j, i));
    return r;
  }
  TRIBO_HD void put(Index i, const FactorRow<double>& row) const {
    Real numbers[factor_numbers];
    for (int c = 0; c < 6; ++c) numbers[c] = static_cast<Real>(row.Q.s[c]);
    for (int c = 0; c < 9; ++c) numbers[6 + c] = static_cast<Real>(row.Lv.m[c / 3][c % 3]);
    for (int c = 0; c < 9; ++c) numbers[15 + c] = static_cast<Real>(row.Lw.m[c / 3][c % 3]);
    put_slot(factor, slot[i], factor_numbers, factor_numbers, numbers);
  }
};

TRIBO_HD Vec3 sum_of(const Vec3& a, const Vec3& b) { return a + b; }
TRIBO_HD Sym<double, 3> sum_of(Sym<double, 3> a, const Sym<double, 3>& b) {
  for (int c = 0; c < 6; ++c) a.s[c] += b.s[c];
  return a;
}
/// What is given to a vertex by some of its entries.
template <class T>
TRIBO_HD T sum_of_entries(const Index* entry, Index from, Index to, const T* corner, T on) {
  for (Index e = from; e < to; ++e) on = sum_of(on, corner[entry[e]]);
  return on;
}
/// Of vertices with many.
template <class T>
struct SumSkinRun {
  const Index *begin, *entry_start, *entry, *run_start;
  Index vertices;
  const T* corner;
  T none;
  T* run;
  TRIBO_HD void operator()(Index r) const {
    Index low = 0, high = vertices;  // the vertex of run r
    while (low + 1 < high) {
      const Index middle = low + (high - low) / 2;
      (run_start[middle] <= r ? low : high) = middle;
    }
    const Index to = min(begin[r] + RodMesh<double>::skin_run, entry_start[low + 1]);
    run[r] = sum_of_entries(entry, begin[r], to, corner, none);
  }
};

/// Vertices of solids under roots, and parts of rigid bodies, and what is given to their corners.
template <class Real>
struct SkinVertices {
  const Index *vertex, *entry_start, *entry, *run_start;
  const Real *mass, *inverse_mass;
  const PlacedBody* body;
  RigidTurns turns;

  /// `run` has sums over the runs of those that have many entries.
  template <class T>
  TRIBO_HD T sum(Index i, const T* corner, const T* run, T on) const {
    if (run_start[i] == run_start[i + 1]) return sum_of_entries(entry, entry_start[i], entry_start[i + 1], corner, on);
    for (Index r = run_start[i]; r < run_start[i + 1]; ++r) on = sum_of(on, run[r]);
    return on;
  }
  TRIBO_HD bool is_free(Index i) const {
    if (vertex[i] < 0) return body[RigidPart(vertex[i]).body].inverse_mass > 0;
    return inverse_mass[vertex[i]] > Real(0);
  }
  /// And what no pivot of it is below.
  TRIBO_HD Sym<double, 3> mass_of(Index i, double& least) const {
    if (vertex[i] >= 0) {
      least = static_cast<double>(mass[vertex[i]]);
      return Sym<double, 3>::isotropic(least);
    }
    const RigidPart part(vertex[i]);
    const PlacedBody& one = body[part.body];
    if (!part.turns) {
      least = 1 / one.inverse_mass;
      return Sym<double, 3>::isotropic(least);
    }
    least = 1 / trace(one.inverse_inertia);
    return carried(one.rotation, turns.at(turns.inertia, part.body));
  }
  TRIBO_HD Vec3 weigh(Index i, const Vec3& x) const {
    if (vertex[i] >= 0) return static_cast<double>(mass[vertex[i]]) * x;
    double least;
    return is_free(i) ? mass_of(i, least) * x : Vec3::zero();
  }
};
TRIBO_HD NodePack<double> entry_of(const Vec3& a) { return node_pack<double>(a[0], a[1], a[2], 0); }
template <class Real>
struct BeginSkin {
  SkinVertices<Real> vertices;
  const Vec3 *corner, *run;
  const Sym<double, 3>*corner_block, *run_block;
  NodePack<double>*solution, *residual;
  Sym<double, 3>* inverse_block;
  TRIBO_HD void operator()(Index i) const {
    solution[i] = NodePack<double>(0.0);
    residual[i] = entry_of(vertices.sum(i, corner, run, Vec3::zero()));
    // What does not move takes no part: then z, and the solution, stay zero.
    inverse_block[i] = Sym<double, 3>::isotropic(0);
    if (!vertices.is_free(i)) return;
    double least;
    const Sym<double, 3> mass = vertices.mass_of(i, least);
    inverse_block[i] = inverse(vertices.sum(i, corner_block, run_block, mass), least);
  }
};
template <class Real>
struct GatherProduct {
  SkinVertices<Real> vertices;
  const Vec3 *corner, *run;
  const NodePack<double>* x;
  NodePack<double>* y;
  TRIBO_HD void operator()(Index i) const {
    const Vec3 own = vertices.weigh(i, Vec3{{x[i][0], x[i][1], x[i][2]}});
    y[i] = entry_of(vertices.sum(i, corner, run, own));
  }
};
struct InverseBlock {
  const Sym<double, 3>* block;
  TRIBO_HD NodePack<double> operator()(Index i, const NodePack<double>& r) const {
    return entry_of(times(block[i], Vec3{{r[0], r[1], r[2]}}));
  }
};

template <class Real, class T>
void sum_runs(Exec& ex, const RodMesh<Real>& mesh, const Array<T>& corner, const T& none, Array<T>& run) {
  run.resize_discard(mesh.skin_runs);
  parallel_for(ex, skin_label, mesh.skin_runs,
               SumSkinRun<T>{mesh.skin_run_begin.data(), mesh.skin_entry_start.data(), mesh.skin_entry.data(),
                             mesh.skin_run_start.data(), mesh.skin_vertices, corner.data(), none, run.data()});
}

/// M + sum J^T S J.
template <class Real>
class SkinSystem {
 public:
  SkinSystem(Exec& ex, const RodMesh<Real>& mesh, const Clamps<Real>& clamps, const SkinVertices<Real>& vertices,
             SkinWork<Real>& on)
      : ex_(ex), mesh_(mesh), clamps_(clamps), vertices_(vertices), on_(on) {}

  using Space = linear::PackSpace<double, 3>;
  Space space() const { return Space{mesh_.skin_vertices}; }
  void apply(const NodePack<double>* x, NodePack<double>* y) {
    parallel_for(ex_, skin_label, static_cast<Index>(mesh_.skin.size()),
                 TakeCorners<Real>{clamps_, mesh_.skin_corner.data(), x, on_.corner.data()});
    sum_runs(ex_, mesh_, on_.corner, Vec3::zero(), on_.run);
    parallel_for(ex_, skin_label, mesh_.skin_vertices,
                 GatherProduct<Real>{vertices_, on_.corner.data(), on_.run.data(), x, y});
  }
  InverseBlock precondition(const NodePack<double>*) const { return InverseBlock{on_.inverse_block.data()}; }

 private:
  Exec& ex_;
  const RodMesh<Real>& mesh_;
  Clamps<Real> clamps_;
  SkinVertices<Real> vertices_;
  SkinWork<Real>& on_;
};
/// What is left moves roots beside their skin, by as much of what they were moved by; the next step brings them back.
class SmallResidual {
 public:
  bool after_step(const linear::CgReport&) const { return false; }
  bool at_residual(const linear::CgReport& report, double rz) {
    constexpr double square_of_rest = 1e-12;
    if (report.iterations == 0) first_ = rz;
    return rz <= square_of_rest * first_;
  }

 private:
  double first_ = 0;
};

struct LeadOn {
  const NodePack<double>* by;
  FieldView<double, 3> led;
  TRIBO_HD void operator()(Index i) const {
    for (int k = 0; k < 3; ++k) led[k][i] += by[i][k];
  }
};
template <class Real>
struct NoReaction {
  FieldView<Real, 3> to;
  TRIBO_HD void operator()(Index i) const {
    for (int k = 0; k < 3; ++k) to[k][i] = Real(0);
  }
};
template <class Real>
struct ChangeOfRoots {
  const Index *vertex, *drive;
  const RodDriveStep* skinned;
  FieldView<const double, 3> anchor;
  FieldView<const Real, 3> x, tail, v;
  double dt;
  FieldView<Real, 3> change;
  TRIBO_HD void operator()(Index d) const {
    if (drive[d] >= 0) return;
    const RodDriveStep& at = skinned[-1 - drive[d]];
    const Index i = vertex[d];
    const Vec3 to = at.rotation * vector_at(anchor, d) + at.at;
    for (int k = 0; k < 3; ++k)
      change[k][i] = static_cast<Real>((to[k] - (static_cast<double>(x[k][i]) + static_cast<double>(tail[k][i]))) / dt -
                                       static_cast<double>(v[k][i]));
  }
};
template <class Real>
struct PassOnLead {
  Clamps<Real> clamps;
  FieldView<const Real, 3> change;
  RootPush* passed;
  TRIBO_HD void operator()(Index r) const {
    if (clamps.strand[r] < 0) return;
    const Vec3 by[2] = {clamps.vertex(change, r, 0), clamps.vertex(change, r, 1)};
    Vec3 impulse[2];
    clamps.take(r, by, impulse);
    passed[clamps.strand[r]].first += -1.0 * impulse[0];
  }
};
template <class Real>
struct PushVertices {
  SkinVertices<Real> vertices;
  const Vec3 *corner, *run;
  FieldView<Real, 3> v;
  PlacedBody* body;
  Index* touched;
  TRIBO_HD void operator()(Index i) const {
    if (!vertices.is_free(i)) return;
    const Vec3 impulse = vertices.sum(i, corner, run, Vec3::zero());
    const Index at = vertices.vertex[i];
    if (at < 0) {
      const RigidPart part(at);
      PlacedBody& one = body[part.body];
      if (part.turns)
        one.w += one.inverse_inertia * impulse;
      else
        one.v += one.inverse_mass * impulse;
      mark_one(touched + part.body);
      return;
    }
    const auto mass = static_cast<double>(vertices.mass[at]);
    for (int k = 0; k < 3; ++k) v[k][at] = static_cast<Real>(static_cast<double>(v[k][at]) + impulse[k] / mass);
  }
};
template <class Real>
struct SkinSpeed2 {
  const Index* vertex;
  FieldView<const Real, 3> v;
  TRIBO_HD double operator()(Index i) const {
    return vertex[i] < 0 ? 0 : squared_norm(cast<double>(vector_at(v, vertex[i])));
  }
};

RigidTurns turns_of(const RigidStep& step) {
  return step.mesh != nullptr ? turns_of(*step.mesh, *step.state) : RigidTurns{};
}
PlacedBody* bodies_of(const RigidStep& step) { return step.work != nullptr ? step.work->body.data() : nullptr; }

template <class Real>
void pose_roots(Exec& ex, const RodMesh<Real>& mesh, const SkinBodies<Real>& skin, double dt, RodWorkspace<Real>& work,
                const SkinWork<Real>& on) {
  const auto roots = static_cast<Index>(mesh.skin.size());
  work.skin.resize_discard(roots);
  parallel_for(ex, skin_label, roots,
               FollowSkin<Real>{mesh.skin.data(), mesh.skin_corner.data(), view(std::as_const(skin.state.x)),
                                view(on.led), bodies_of(skin.rigid), turns_of(skin.rigid), dt, work.skin.data()});
}
template <class Real>
void lead_with_skin(Exec& ex, const RodMesh<Real>& mesh, const SkinBodies<Real>& skin, bool rigid_alone,
                    SkinWork<Real>& on) {
  parallel_for(ex, skin_label, mesh.skin_vertices,
               LeadWithSkin<Real>{mesh.skin_vertex.data(), view(std::as_const(skin.state.v)), bodies_of(skin.rigid),
                                  rigid_alone, view(on.led)});
}

/// How far roots are from the motion that they are led with.
template <class Real>
void find_changes(Exec& ex, const RodMesh<Real>& mesh, double dt, const RodState<Real>& state,
                  const RodWorkspace<Real>& work, SkinWork<Real>& on) {
  on.change.resize_discard(mesh.vertices);
  parallel_for(ex, skin_label, mesh.vertices, NoReaction<Real>{view(on.change)});
  parallel_for(ex, skin_label, mesh.driven,
               ChangeOfRoots<Real>{mesh.driven_vertex.data(), mesh.drive.data(), work.skin.data(), view(mesh.anchor),
                                   view(state.x), view(state.x_tail), view(state.v), dt, view(on.change)});
}

}  // namespace

template <class Real>
void place_skin_roots(Exec& ex, const RodMesh<Real>& mesh, const SkinBodies<Real>& skin, double dt,
                      RodWorkspace<Real>& work, SkinWork<Real>& on) {
  on.led.resize_discard(mesh.skin_vertices);
  lead_with_skin(ex, mesh, skin, false, on);
  pose_roots(ex, mesh, skin, dt, work, on);
}

template <class Real>
void clear_passed(Exec& ex, const RodMesh<Real>& mesh, RodWorkspace<Real>& work) {
  work.passed.resize_discard(mesh.strands);
  work.root_inertia.resize_discard(mesh.strands);
  parallel_for(ex, skin_label, mesh.strands, ClearPassed{work.passed.data()});
  parallel_for(ex, skin_label, mesh.strands, ClearInertia{work.root_inertia.data()});
}

template <class Real>
void pass_on_step(Exec& ex, const RodConstants<Real>& constants, const RodMesh<Real>& mesh, double dt,
                  const SkinBodies<Real>& skin, const RodState<Real>& state, RodWorkspace<Real>& work) {
  parallel_for(ex, skin_label, mesh.strands, ClearPassed{work.passed.data()});
  parallel_for(ex, skin_label, static_cast<Index>(mesh.skin.size()),
               PassOnStep<Real>{clamps_of(mesh, skin, state, work), constants.gravity, dt, view(state.v),
                                view(std::as_const(work.v_start)), view(state.director), mesh.inverse_mass.data(),
                                state.twist.c[0].data(), mesh.row.data(), mesh.slot.data(), mesh.body_twisted.data(),
                                work.passed.data()});
}

template <class Real>
void let_roots_yield(Exec& ex, const RodMesh<Real>& mesh, const SkinBodies<Real>& skin, const RodState<Real>& state,
                     RodWorkspace<Real>& work) {
  parallel_for(
      ex, skin_label, static_cast<Index>(mesh.skin.size()),
      LetRootYield<Real>{clamps_of(mesh, skin, state, work), mesh.skin_corner.data(), mesh.skin_entry_start.data(),
                         mesh.slot.data(), mesh.skin_vertex.data(), skin.mesh.inverse_mass.data(),
                         bodies_of(skin.rigid), work.root_inertia.data(), work.factor.data()});
  work.compliance_valid = false;
}

template <class Real>
double push_skin(Exec& ex, const RodMesh<Real>& mesh, double dt, const SkinBodies<Real>& skin, RodState<Real>& state,
                 RodWorkspace<Real>& work, SkinWork<Real>& on) {
  const auto roots = static_cast<Index>(mesh.skin.size());
  const RodState<Real>& now = state;
  const Clamps<Real> clamps = clamps_of(mesh, skin, now, work);
  const SkinVertices<Real> vertices{
      mesh.skin_vertex.data(), mesh.skin_entry_start.data(),  mesh.skin_entry.data(), mesh.skin_run_start.data(),
      skin.mesh.mass.data(),   skin.mesh.inverse_mass.data(), bodies_of(skin.rigid),  turns_of(skin.rigid)};
  on.corner.resize_discard(3 * Size{roots});
  on.corner_block.resize_discard(3 * Size{roots});
  on.inverse_block.resize_discard(mesh.skin_vertices);
  for (Array<NodePack<double>>* a : {&on.solution, &on.residual, &on.direction, &on.product})
    a->resize_discard(mesh.skin_vertices);
  // Rigid bodies know what else acts on them when they are pushed again.
  if (mesh.has_rigid_skin) {
    lead_with_skin(ex, mesh, skin, true, on);
    pose_roots(ex, mesh, skin, dt, work, on);
  }
  // What triangles change by.
  find_changes(ex, mesh, dt, now, work, on);
  const FieldView<const Real, 3> change = view(std::as_const(on.change)), none{{nullptr, nullptr, nullptr}};
  parallel_for(ex, skin_label, roots, PushCorners<Real>{clamps, work.passed.data(), change, on.corner.data()});
  parallel_for(ex, skin_label, roots, WeighCorners<Real>{clamps, on.corner_block.data()});
  sum_runs(ex, mesh, on.corner, Vec3::zero(), on.run);
  sum_runs(ex, mesh, on.corner_block, Sym<double, 3>::isotropic(0), on.run_block);
  parallel_for(ex, skin_label, mesh.skin_vertices,
               BeginSkin<Real>{vertices, on.corner.data(), on.run.data(), on.corner_block.data(), on.run_block.data(),
                               on.solution.data(), on.residual.data(), on.inverse_block.data()});
  SkinSystem<Real> system(ex, mesh, clamps, vertices, on);
  SmallResidual stop;
  constexpr int most_iterations = 200;
  linear::conjugate_gradients(ex, skin_label, system,
                              {on.solution.data(), on.residual.data(), on.direction.data(), on.product.data()}, stop,
                              most_iterations);
  // Roots go with that, and strands with their roots.
  parallel_for(ex, skin_label, mesh.skin_vertices, LeadOn{on.solution.data(), view(on.led)});
  pose_roots(ex, mesh, skin, dt, work, on);
  find_changes(ex, mesh, dt, now, work, on);
  lead_roots(ex, mesh, on.change, state, work);
  parallel_for(ex, skin_label, roots, PassOnLead<Real>{clamps, change, work.passed.data()});
  // And triangles get what that has come to.
  parallel_for(ex, skin_label, roots, PushCorners<Real>{clamps, work.passed.data(), none, on.corner.data()});
  sum_runs(ex, mesh, on.corner, Vec3::zero(), on.run);
  parallel_for(ex, skin_label, mesh.skin_vertices,
               PushVertices<Real>{vertices, on.corner.data(), on.run.data(), view(skin.state.v), bodies_of(skin.rigid),
                                  mesh.has_rigid_skin ? skin.rigid.work->touched.data() : nullptr});
  parallel_for(ex, skin_label, mesh.strands, ClearPassed{work.passed.data()});
  return std::sqrt(reduce(ex, skin_label, mesh.skin_vertices, 0.0,
                          SkinSpeed2<Real>{mesh.skin_vertex.data(), view(std::as_const(skin.state.v))},
                          Larger<double>{}));
}

#define TRIBO_INSTANTIATE(Real)                                                                                       \
  template void place_skin_roots(Exec&, const RodMesh<Real>&, const SkinBodies<Real>&, double, RodWorkspace<Real>&,   \
                                 SkinWork<Real>&);                                                                    \
  template void clear_passed(Exec&, const RodMesh<Real>&, RodWorkspace<Real>&);                                       \
  template void pass_on_step(Exec&, const RodConstants<Real>&, const RodMesh<Real>&, double, const SkinBodies<Real>&, \
                             const RodState<Real>&, RodWorkspace<Real>&);                                             \
  template void let_roots_yield(Exec&, const RodMesh<Real>&, const SkinBodies<Real>&, const RodState<Real>&,          \
                                RodWorkspace<Real>&);                                                                 \
  template double push_skin(Exec&, const RodMesh<Real>&, double, const SkinBodies<Real>&, RodState<Real>&,            \
                            RodWorkspace<Real>&, SkinWork<Real>&);
TRIBO_FOR_EACH_ROD_REAL(TRIBO_INSTANTIATE)
#undef TRIBO_INSTANTIATE

}  // namespace tribo::TRIBO_BACKEND

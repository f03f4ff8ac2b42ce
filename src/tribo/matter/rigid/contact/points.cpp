#include "tribo/matter/rigid/contact/points.h"

#include "tribo/exec/list_marked.h"

namespace tribo::TRIBO_BACKEND {
namespace {

constexpr const char* points_label = "rigid points";
constexpr Index run_length = 128;
constexpr Index body_grain = 4;
/// Of Newton's method, and how often its residual is looked at before that is asked for.
constexpr int most_iterations = 16, looks = 4, most_looks = 64;
/// Of the residual, in energies: the body's velocities are right to 10^-8 of what its points change in them, or to what
/// rounding leaves of the sum of their impulses.
constexpr double tolerance = 1e-16, rounding = 1e-28;

using Vec6 = Vec<double, 6>;
using Mat6 = Mat<double, 6>;

TRIBO_HD Vec6 joined(const Vec3d& a, const Vec3d& b) { return {{a[0], a[1], a[2], b[0], b[1], b[2]}}; }
TRIBO_HD Vec3d upper(const Vec6& a) { return {{a[0], a[1], a[2]}}; }
TRIBO_HD Vec3d lower(const Vec6& a) { return {{a[3], a[4], a[5]}}; }

/// [r] with [r] w = r x w.
TRIBO_HD Mat<double, 3> cross_matrix(const Vec3d& r) {
  Mat<double, 3> m = Mat<double, 3>::zero();
  m(0, 1) = -r[2];
  m(0, 2) = r[1];
  m(1, 0) = r[2];
  m(1, 2) = -r[0];
  m(2, 0) = -r[1];
  m(2, 1) = r[0];
  return m;
}

TRIBO_HD Sym<double, 3> inverse_of(const Sym<double, 3>& a) {
  const Mat<double, 3> m = full(a);
  const double det = determinant(m);
  Sym<double, 3> r = Sym<double, 3>::isotropic(0);
  if (!(det > 0)) return r;
  for (int i = 0; i < 3; ++i)
    for (int j = i; j < 3; ++j) {
      const int i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
      r(i, j) = (m(i1, j1) * m(i2, j2) - m(i1, j2) * m(i2, j1)) / det;
    }
  return r;
}

/// Gauss with the largest pivots. What has none stays 0.
TRIBO_HD Vec6 solved(Mat6 a, Vec6 b) {
  for (int i = 0; i < 6; ++i) {
    int p = i;
    for (int r = i + 1; r < 6; ++r)
      if (abs(a(r, i)) > abs(a(p, i))) p = r;
    for (int c = 0; c < 6; ++c) {
      const double swapped = a(i, c);
      a(i, c) = a(p, c);
      a(p, c) = swapped;
    }
    const double swapped = b[i];
    b[i] = b[p];
    b[p] = swapped;
    if (!(abs(a(i, i)) > 0)) continue;
    for (int r = i + 1; r < 6; ++r) {
      const double f = a(r, i) / a(i, i);
      for (int c = i; c < 6; ++c) a(r, c) -= f * a(i, c);
      b[r] -= f * b[i];
    }
  }
  for (int i = 5; i >= 0; --i) {
    for (int c = i + 1; c < 6; ++c) b[i] -= a(i, c) * b[c];
    b[i] = abs(a(i, i)) > 0 ? b[i] / a(i, i) : 0.0;
  }
  return b;
}

struct Answer {
  Vec3d impulse;             ///< on the point
  Mat<double, 3> stiffness;  ///< its change with the velocity of the body there
};

/// What a point does when the body has the velocity `s` there: nothing where it approaches no faster than allowed, else
/// it leaves with that; across it sticks, or slips on its cone.
TRIBO_HD Answer answer(const RigidPoint& p, const Vec3d& s) {
  Answer r{Vec3d::zero(), Mat<double, 3>::zero()};
  const Vec3d relative = p.v - s;
  const double leaving = dot(relative, p.n), normal = leaving + p.allowed;
  if (!(normal < 0)) return r;
  const double mass = 1 / p.inverse_mass;
  const Vec3d slip = relative - leaving * p.n;
  const double speed = sqrt(squared_norm(slip)), most = -p.friction * normal;
  if (speed <= most) {
    r.impulse = (-mass) * (slip + normal * p.n);
    r.stiffness = Mat<double, 3>::diagonal(Vec3d::filled(mass));
    return r;
  }
  const Vec3d along = (1 / speed) * slip;
  r.impulse = (-mass) * (normal * p.n + most * along);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      const double across = (i == j ? 1.0 : 0.0) - p.n[i] * p.n[j];
      r.stiffness(i, j) =
          mass * (p.n[i] * p.n[j] - p.friction * along[i] * p.n[j] + most / speed * (across - along[i] * along[j]));
    }
  return r;
}

struct MarkFirst {
  const RigidPoint* point;
  Index* mark;
  TRIBO_HD void operator()(Index i) const { mark[i] = i == 0 || point[i].body != point[i - 1].body ? 1 : 0; }
};
struct BeginBody {
  const RigidPoint* point;
  const Index* first;
  Index count, points;
  const PlacedBody* placed;
  PointedBody* bodies;
  Index* runs;
  Index* touched;
  TRIBO_HD void operator()(Index i) const {
    PointedBody b{};
    b.begin = first[i];
    b.end = i + 1 < count ? first[i + 1] : points;
    b.body = point[b.begin].body;
    const PlacedBody& one = placed[b.body];
    if (one.inverse_mass > 0) {
      b.inertia = inverse_of(one.inverse_inertia);
      b.length = sqrt(trace(b.inertia) * one.inverse_mass / 3);
      touched[b.body] = 1;
    } else {
      b.inertia = Sym<double, 3>::isotropic(0);
    }
    if (!(b.length > 0)) b.length = 1;
    b.wrench = Vec6::zero();
    bodies[i] = b;
    runs[i] = (b.end - b.begin + run_length - 1) / run_length;
  }
};
struct ListRuns {
  const Index* start;
  PointedBody* bodies;
  Index* run_body;
  TRIBO_HD void operator()(Index i) const {
    PointedBody& b = bodies[i];
    b.run_begin = start[i];
    b.run_end = b.run_begin + (b.end - b.begin + run_length - 1) / run_length;
    for (Index r = b.run_begin; r < b.run_end; ++r) run_body[r] = i;
  }
};
struct ClearImpulse {
  Vec3d* impulse;
  TRIBO_HD void operator()(Index i) const { impulse[i] = Vec3d::zero(); }
};

/// The impulses of the last call are taken out of the body's velocity.
struct BeginSolve {
  const PlacedBody* placed;
  PointedBody* bodies;
  TRIBO_HD void operator()(Index i) const {
    PointedBody& b = bodies[i];
    const PlacedBody& one = placed[b.body];
    b.trial = b.found = joined(one.v, one.w);
    b.before = joined(one.v + one.inverse_mass * upper(b.wrench), one.w + one.inverse_inertia * lower(b.wrench));
    b.best = 0;
    b.part = 0;
    b.iterations = -1;
    b.state = one.inverse_mass > 0 ? searching : settled;
  }
};

/// What points of a run answer to the velocities that are tried.
struct SumAnswers {
  const RigidPoint* point;
  const PointedBody* bodies;
  const PlacedBody* placed;
  const Index* run_body;
  PointSums* sums;

  TRIBO_HD void operator()(Index run) const {
    const PointedBody& b = bodies[run_body[run]];
    if (b.state != searching) return;
    const Vec3d center = placed[b.body].x, v = upper(b.trial), w = lower(b.trial);
    PointSums sum;
    for (int k = 0; k < PointSums::count; ++k) sum.s[k] = 0;
    const Index begin = b.begin + (run - b.run_begin) * run_length;
    const Index end = begin + run_length < b.end ? begin + run_length : b.end;
    for (Index i = begin; i < end; ++i) {
      const RigidPoint& p = point[i];
      const Vec3d arm = p.at - center;
      const Answer a = answer(p, v + cross(w, arm));
      if (!(squared_norm(a.impulse) > 0)) continue;
      const Vec3d moment = cross(arm, a.impulse);
      sum.s[42] += sqrt(squared_norm(a.impulse));
      // with J = [I, -[r]]: J^T D J
      const Mat<double, 3> r = cross_matrix(arm);
      const Mat<double, 3> upper_right = a.stiffness * r, lower_left = r * a.stiffness, lower_right = r * upper_right;
      for (int k = 0; k < 3; ++k) {
        sum.s[k] += a.impulse[k];
        sum.s[3 + k] += moment[k];
        for (int j = 0; j < 3; ++j) {
          sum.s[6 + 6 * k + j] += a.stiffness(k, j);
          sum.s[6 + 6 * k + 3 + j] -= upper_right(k, j);
          sum.s[6 + 6 * (3 + k) + j] += lower_left(k, j);
          sum.s[6 + 6 * (3 + k) + 3 + j] -= lower_right(k, j);
        }
      }
    }
    sums[run] = sum;
  }
};

/// One look of Newton's method at a body.
struct StepBody {
  const PlacedBody* placed;
  const PointSums* sums;
  PointedBody* bodies;
  struct Scratch {
    PointSums sum;
  };

  TRIBO_HD void operator()(const Team& team, Index i, Scratch& scratch) const {
    PointedBody& b = bodies[i];
    const bool active = b.state == searching;
    if (active)
      for (int k = team.rank(); k < PointSums::count; k += Team::size) {
        double sum = 0;
        for (Index r = b.run_begin; r < b.run_end; ++r) sum += sums[r].s[k];
        scratch.sum.s[k] = sum;
      }
    team.barrier();
    if (active && team.rank() == 0) step(placed[b.body], scratch.sum, b);
  }

 private:
  TRIBO_HD static double energy(double mass, const Sym<double, 3>& inertia, const Vec6& v) {
    return mass * squared_norm(upper(v)) + dot(lower(v), inertia * lower(v));
  }
  TRIBO_HD static void step(const PlacedBody& one, const PointSums& sum, PointedBody& b) {
    const double mass = 1 / one.inverse_mass;
    const Vec6 way = b.trial - b.before;
    const Vec3d force = mass * upper(way) + Vec3d{{sum.s[0], sum.s[1], sum.s[2]}};
    const Vec3d torque = b.inertia * lower(way) + Vec3d{{sum.s[3], sum.s[4], sum.s[5]}};
    const double size = one.inverse_mass * squared_norm(force) + dot(torque, one.inverse_inertia * torque);
    if (b.iterations < 0 || size <= (1 - 1e-4 * b.part) * b.best || (b.part < 2e-3 && size - size == 0)) {
      b.found = b.trial;
      b.best = size;
      const double changed = energy(mass, b.inertia, way), all = energy(mass, b.inertia, b.trial);
      if (size <= tolerance * changed + rounding * (all + one.inverse_mass * sum.s[42] * sum.s[42])) {
        b.state = settled;
        return;
      }
      if (++b.iterations == most_iterations) {
        b.state = unsettled;
        return;
      }
      Mat6 slope;
      Vec6 wanted = joined(-force, -torque);
      const auto unit = [&](int k) { return k < 3 ? 1.0 : 1 / b.length; };
      for (int r = 0; r < 6; ++r) {
        for (int c = 0; c < 6; ++c) {
          double entry = sum.s[6 + 6 * r + c];
          if (r < 3 && r == c) entry += mass;
          if (r >= 3 && c >= 3) entry += b.inertia(r - 3, c - 3);
          slope(r, c) = unit(r) * unit(c) * entry;
        }
        wanted[r] *= unit(r);
      }
      b.direction = solved(slope, wanted);
      for (int k = 3; k < 6; ++k) b.direction[k] *= unit(k);
      b.part = 1;
    } else {
      b.part *= 0.5;
      if (b.part < 1e-3) {  // nothing but numbers that are not finite
        b.trial = b.found;
        b.state = unsettled;
        return;
      }
    }
    b.trial = b.found + b.part * b.direction;
  }
};

struct Unsettled {
  const PointedBody* bodies;
  TRIBO_HD Index operator()(Index i) const { return bodies[i].state == searching ? 1 : 0; }
};
struct GiveUp {
  PointedBody* bodies;
  TRIBO_HD void operator()(Index i) const {
    if (bodies[i].state == searching) bodies[i].state = unsettled;
    bodies[i].trial = bodies[i].found;
  }
};

/// The impulses, their sums, and those of the parabola of energy over their size.
struct SumImpulses {
  const RigidPoint* point;
  const PointedBody* bodies;
  const PlacedBody* placed;
  const Index* run_body;
  PointSums* sums;
  Vec3d* impulse;

  TRIBO_HD void operator()(Index run) const {
    const PointedBody& b = bodies[run_body[run]];
    const Vec3d center = placed[b.body].x, v = upper(b.found), w = lower(b.found);
    double sum[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    const Index begin = b.begin + (run - b.run_begin) * run_length;
    const Index end = begin + run_length < b.end ? begin + run_length : b.end;
    for (Index i = begin; i < end; ++i) {
      const RigidPoint& p = point[i];
      const Vec3d arm = p.at - center;
      const Vec3d push = answer(p, v + cross(w, arm)).impulse, moment = cross(arm, push);
      impulse[i] = push;
      for (int k = 0; k < 3; ++k) {
        sum[k] += push[k];
        sum[3 + k] += moment[k];
      }
      sum[6] += dot(push, p.v);
      sum[7] += p.inverse_mass * squared_norm(push);
    }
    for (int k = 0; k < 8; ++k) sums[run].s[k] = sum[k];
  }
};
struct EndBody {
  const PointSums* sums;
  PlacedBody* placed;
  PointedBody* bodies;
  TRIBO_HD void operator()(Index i) const {
    PointedBody& b = bodies[i];
    double sum[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    for (Index r = b.run_begin; r < b.run_end; ++r)
      for (int k = 0; k < 8; ++k) sum[k] += sums[r].s[k];
    PlacedBody& one = placed[b.body];
    b.wrench = {{sum[0], sum[1], sum[2], sum[3], sum[4], sum[5]}};
    b.part = 1;
    if (b.state == unsettled) {
      const double slope = sum[6] - dot(b.wrench, b.before);
      const double bend = sum[7] + one.inverse_mass * squared_norm(upper(b.wrench)) +
                          dot(lower(b.wrench), one.inverse_inertia * lower(b.wrench));
      const double least = bend > 0 ? -slope / bend : 0.0;
      b.part = least > 0 ? min(least, 1.0) : 0.0;
      b.wrench = b.part * b.wrench;
    }
    if (!(one.inverse_mass > 0)) return;
    one.v = upper(b.before) - one.inverse_mass * upper(b.wrench);
    one.w = lower(b.before) - one.inverse_inertia * lower(b.wrench);
  }
};
struct CutImpulses {
  const PointedBody* bodies;
  const Index* run_body;
  Vec3d* impulse;
  TRIBO_HD void operator()(Index run) const {
    const PointedBody& b = bodies[run_body[run]];
    if (b.state != unsettled) return;
    const Index begin = b.begin + (run - b.run_begin) * run_length;
    const Index end = begin + run_length < b.end ? begin + run_length : b.end;
    for (Index i = begin; i < end; ++i) impulse[i] = b.part * impulse[i];
  }
};
struct IsUnsettled {
  const PointedBody* bodies;
  TRIBO_HD Index operator()(Index i) const { return bodies[i].state == unsettled ? 1 : 0; }
};

}  // namespace

void list_points(Exec& ex, RigidWork& work, RigidPoints& p) {
  p.body_count = p.run_count = 0;
  p.impulse.resize_discard(p.count);
  if (p.count == 0) return;
  p.mark.resize_discard(p.count);
  parallel_for(ex, points_label, p.count, ClearImpulse{p.impulse.data()});
  parallel_for(ex, points_label, p.count, MarkFirst{p.point.data(), p.mark.data()});
  p.body_count = list_marked(ex, points_label, p.mark, p.count, p.first);
  p.bodies.resize_discard(p.body_count);
  p.run_start.resize_discard(p.body_count);
  parallel_for(ex, points_label, p.body_count,
               BeginBody{p.point.data(), p.first.data(), p.body_count, p.count, work.body.data(), p.bodies.data(),
                         p.run_start.data(), work.touched.data()},
               body_grain);
  p.run_count = exclusive_scan(ex, points_label, p.run_start, p.run_start, p.body_count);
  p.run_body.resize_discard(p.run_count);
  p.sums.resize_discard(p.run_count);
  parallel_for(ex, points_label, p.body_count, ListRuns{p.run_start.data(), p.bodies.data(), p.run_body.data()}, body_grain);
}

PointReport solve_points(Exec& ex, RigidWork& work, RigidPoints& p) {
  if (p.count == 0) return {};
  PointedBody* const bodies = p.bodies.data();
  PlacedBody* const placed = work.body.data();
  parallel_for(ex, points_label, p.body_count, BeginSolve{placed, bodies}, body_grain);
  // A body that is done costs nothing more, so that it changes nothing how often the host asks whether all are.
  for (int look = 0; look < most_looks; ++look) {
    parallel_for(ex, points_label, p.run_count, SumAnswers{p.point.data(), bodies, placed, p.run_body.data(), p.sums.data()},
                 body_grain);
    for_each_team<StepBody::Scratch>(ex, points_label, p.body_count, StepBody{placed, p.sums.data(), bodies});
    if (look % looks == looks - 1 && reduce(ex, points_label, p.body_count, Index{0}, Unsettled{bodies}, Plus<Index>{}) == 0)
      break;
  }
  parallel_for(ex, points_label, p.body_count, GiveUp{bodies}, body_grain);
  parallel_for(ex, points_label, p.run_count,
               SumImpulses{p.point.data(), bodies, placed, p.run_body.data(), p.sums.data(), p.impulse.data()},
               body_grain);
  parallel_for(ex, points_label, p.body_count, EndBody{p.sums.data(), placed, bodies}, body_grain);
  parallel_for(ex, points_label, p.run_count, CutImpulses{bodies, p.run_body.data(), p.impulse.data()}, body_grain);
  return {p.body_count, reduce(ex, points_label, p.body_count, Index{0}, IsUnsettled{bodies}, Plus<Index>{})};
}

}  // namespace tribo::TRIBO_BACKEND

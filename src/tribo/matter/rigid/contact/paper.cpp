#include "tribo/matter/rigid/contact/paper.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tribo/math/spline.h"

namespace tribo::TRIBO_BACKEND {
namespace {

constexpr const char* printed_label = "rigid contact as printed";
constexpr int printed_reach = 27;      ///< nodes of a sample
constexpr double printed_density = 2;  ///< samples on a dx^2 of surface (theory K, "sampling density")
constexpr double printed_wall = 1000;  ///< of what follows keyframes, in masses of all that moves (experiments_rigid 1)
constexpr int coordinate_bits = 21;
constexpr double coordinate_zero = 1 << (coordinate_bits - 1);

/// Where a sample is on the grid.
struct PrintedPlace {
  double base[3];
  double w[3][3], d[3][3];  ///< weights and their derivatives [1], [1/m]
  double dx;

  TRIBO_HD PrintedPlace(const Vec3d& x, double spacing) : dx(spacing) {
    for (int k = 0; k < 3; ++k) {
      const double at = x[k] / spacing;
      base[k] = base_node<3>(at);
      const SplineWeights<double, 3> weights(at - base[k]);
      const SplineDerivatives<double, 3> slopes(at - base[k]);
      for (int i = 0; i < 3; ++i) {
        w[k][i] = weights.w[i];
        d[k][i] = slopes.d[i] / spacing;
      }
    }
  }
  TRIBO_HD double weight(int e) const { return w[0][e / 9] * w[1][e / 3 % 3] * w[2][e % 3]; }
  TRIBO_HD Vec3d slope(int e) const {
    const int i = e / 9, j = e / 3 % 3, k = e % 3;
    return {{d[0][i] * w[1][j] * w[2][k], w[0][i] * d[1][j] * w[2][k], w[0][i] * w[1][j] * d[2][k]}};
  }
  TRIBO_HD Vec3d node(int e) const {
    return {{dx * (base[0] + e / 9), dx * (base[1] + e / 3 % 3), dx * (base[2] + e % 3)}};
  }
  TRIBO_HD std::uint64_t key(int e) const {
    const double at[3] = {base[0] + e / 9, base[1] + e / 3 % 3, base[2] + e % 3};
    std::uint64_t all = 0;
    for (int k = 0; k < 3; ++k) {
      const double shifted = min(max(at[k] + coordinate_zero, 0.0), 2 * coordinate_zero - 1);
      all = all << coordinate_bits | static_cast<std::uint64_t>(shifted);
    }
    return all;
  }
};

/// The frame of a sample's triangle, and d3 in it.
struct PrintedFrame {
  Vec3d q1, q2, q3;
  double r13, r23, r33;

  TRIBO_HD PrintedFrame(const Mat<double, 3>& rotation, const Vec3d& t, const Vec3d& n, const Vec3d& d3)
      : q1(rotation * t), q3(rotation * n) {
    q2 = cross(q3, q1);
    r13 = dot(q1, d3);
    r23 = dot(q2, d3);
    r33 = dot(q3, d3);
  }
};
/// What stiffness a step bears (theory K): kc V/m of a sample, and gamma is half of kc.
TRIBO_HD double printed_stiffness(double dx, double dt) { return 0.1 * (dx / dt) * (dx / dt); }

struct ScatterPrinted {
  const PlacedBody* bodies;
  const Index* body;
  FieldView<const double, 3> x, n, t, d3;
  const double* mass;
  double dx, dt;
  FieldView<double, 7> entry;
  std::uint64_t* key;
  Index* order;
  TRIBO_HD void operator()(Index s) const {
    const PlacedBody& own = bodies[body[s]];
    const Vec3d at = own.x + own.rotation * vector_at(x, s);
    const PrintedPlace place(at, dx);
    const PrintedFrame r(own.rotation, vector_at(t, s), vector_at(n, s), vector_at(d3, s));
    // eq. 34: psi_k3, and tau = Q A Q^T, times the volume
    const double stiff = mass[s] * printed_stiffness(dx, dt), shear = 0.5 * stiff;
    const double push = r.r33 <= 1 ? -stiff * (1 - r.r33) * (1 - r.r33) : 0;
    const double p1 = shear * r.r13, p2 = shear * r.r23, a13 = p1 * r.r33, a23 = p2 * r.r33;
    const auto stress = [&](const Vec3d& g) {
      const double g1 = dot(r.q1, g), g2 = dot(r.q2, g), g3 = dot(r.q3, g);
      return (p1 * r.r13 * g1 + p1 * r.r23 * g2 + a13 * g3) * r.q1 +
             (p1 * r.r23 * g1 + p2 * r.r23 * g2 + a23 * g3) * r.q2 + (a13 * g1 + a23 * g2 + push * r.r33 * g3) * r.q3;
    };
    for (int e = 0; e < printed_reach; ++e) {
      const Index to = s * printed_reach + e;
      const double m = place.weight(e) * mass[s];
      const Vec3d momentum = m * own.velocity_at(place.node(e)), force = -stress(place.slope(e));
      entry[0][to] = m;
      for (int k = 0; k < 3; ++k) {
        entry[1 + k][to] = momentum[k];
        entry[4 + k][to] = force[k];
      }
      key[to] = place.key(e);
      order[to] = to;
    }
  }
};
struct MarkPrintedNode {
  const std::uint64_t* key;
  Index* mark;
  TRIBO_HD void operator()(Index k) const { mark[k] = k == 0 || key[k] != key[k - 1] ? 1 : 0; }
};
/// After the scan: `before` has how many nodes begin before each entry.
struct ListPrintedNode {
  const std::uint64_t* key;
  const Index *before, *order;
  Index *first, *node_of;
  TRIBO_HD void operator()(Index k) const {
    const bool begins = k == 0 || key[k] != key[k - 1];
    const Index node = begins ? before[k] : before[k] - 1;
    if (begins) first[node] = k;
    node_of[order[k]] = node;
  }
};
struct MovePrintedNode {
  const std::uint64_t* key;
  const Index *first, *order;
  FieldView<const double, 7> entry;
  Colliders<double, 3>::View colliders;
  ContactTally tally;
  Index nodes, entries;
  double dx, dt;
  FieldView<double, 3> v;
  TRIBO_HD void operator()(Index i) const {
    double mass = 0;
    Vec3d momentum = Vec3d::zero(), force = Vec3d::zero();
    for (Index k = first[i]; k < (i + 1 < nodes ? first[i + 1] : entries); ++k) {
      const Index from = order[k];
      mass += entry[0][from];
      for (int c = 0; c < 3; ++c) {
        momentum[c] += entry[1 + c][from];
        force[c] += entry[4 + c][from];
      }
    }
    constexpr std::uint64_t all = (std::uint64_t{1} << coordinate_bits) - 1;
    Vec3d at;
    for (int c = 0; c < 3; ++c)
      at[c] = dx * (static_cast<double>(key[first[i]] >> (coordinate_bits * (2 - c)) & all) - coordinate_zero);
    Vec3d now = Vec3d::zero();
    if (mass > 0) {
      TallyRun run(tally);
      now = colliders.constrain(at, (1 / mass) * (momentum + dt * force), mass, contact_slack * dx, run);
      run.end();
    }
    for (int c = 0; c < 3; ++c) v[c][i] = now[c];
  }
};
struct GatherPrinted {
  const PlacedBody* bodies;
  const Index *body, *node_of;
  FieldView<const double, 3> x, n, d3, node_v;
  const double *mass, *slide;
  double dx, dt;
  FieldView<double, 3> trial, impulse;
  TRIBO_HD void operator()(Index s) const {
    const PlacedBody& own = bodies[body[s]];
    const Vec3d at = own.x + own.rotation * vector_at(x, s), third = vector_at(d3, s);
    const PrintedPlace place(at, dx);
    Vec3d v = Vec3d::zero(), carried = third;
    for (int e = 0; e < printed_reach; ++e) {
      const Vec3d there = vector_at(node_v, node_of[s * printed_reach + e]);
      v += place.weight(e) * there;
      carried += (dt * dot(place.slope(e), third)) * there;
    }
    const Vec3d normal = own.rotation * vector_at(n, s), relative = v - own.velocity_at(at);
    const double approach = dot(relative, normal);
    Vec3d given = Vec3d::zero();
    if (approach < 0 && own.inverse_mass > 0) {  // eqs. 37 to 39
      const Vec3d slip = relative - approach * normal;
      const double speed = sqrt(squared_norm(slip));
      given = (mass[s] * approach) * normal;
      if (speed > 0) given += (mass[s] * min(speed, -slide[s] * approach) / speed) * slip;
    }
    for (int k = 0; k < 3; ++k) {
      trial[k][s] = carried[k];
      impulse[k][s] = given[k];
    }
  }
};
/// Eqs. 40 and 41, the first divided by the mass of the body.
struct PushPrinted {
  const Index* begin;
  FieldView<const double, 3> x, impulse;
  PlacedBody* bodies;
  Index* touched;
  TRIBO_HD void operator()(Index b) const {
    PlacedBody& own = bodies[b];
    if (!(own.inverse_mass > 0)) return;
    Vec3d sum = Vec3d::zero(), moment = Vec3d::zero();
    for (Index s = begin[b]; s < begin[b + 1]; ++s) {
      const Vec3d one = vector_at(impulse, s);
      sum += one;
      moment += cross(own.rotation * vector_at(x, s), one);
    }
    if (!(squared_norm(sum) > 0)) return;
    own.v += own.inverse_mass * sum;
    own.w += own.inverse_inertia * moment;
    touched[b] = 1;
  }
};
/// Eqs. 35 and 36.
struct ReturnPrinted {
  const Index* body;
  FieldView<const double, 4> q;
  FieldView<const double, 3> n, t, trial;
  const double* slide;
  FieldView<double, 3> d3;
  TRIBO_HD void operator()(Index s) const {
    const Index b = body[s];
    const Mat<double, 3> rotation = rotation_of(Quaternion<double>{{q[0][b], q[1][b], q[2][b], q[3][b]}});
    const PrintedFrame r(rotation, vector_at(t, s), vector_at(n, s), vector_at(trial, s));
    double across = 0;
    const double size = sqrt(r.r13 * r.r13 + r.r23 * r.r23), squeezed = 1 - r.r33;
    if (squeezed > 0 && r.r33 > 0) across = size > 0 ? min(1.0, slide[s] * squeezed * squeezed / (0.5 * size)) : 1;
    const Vec3d kept = (across * r.r13) * r.q1 + (across * r.r23) * r.q2 + min(r.r33, 1.0) * r.q3;
    for (int k = 0; k < 3; ++k) d3[k][s] = kept[k];
  }
};

/// Points all over the triangles of a form, as many as their areas ask for, with what is left over handed on.
struct PrintedSamples {
  std::vector<Vec3d> x, n, t;
};
PrintedSamples printed_samples(const RigidSeed& seed, const RigidForm& form, double dx) {
  PrintedSamples all;
  const auto corner = [&](std::int32_t i) { return seed.vertices[static_cast<std::size_t>(i)]; };
  double owed = 0.5;
  for (std::int32_t i = form.triangles.begin; i < form.triangles.end; ++i) {
    const auto& triangle = seed.triangles[static_cast<std::size_t>(i)];
    const Vec3d a = corner(triangle[0]), b = corner(triangle[1]), c = corner(triangle[2]);
    const Vec3d twice = cross(b - a, c - a);
    const double area = 0.5 * std::sqrt(squared_norm(twice));
    if (!(area > 0)) continue;
    owed += printed_density * area / (dx * dx);
    const int count = static_cast<int>(std::min(owed, 1e5));
    owed -= std::floor(owed);
    for (int j = 0; j < count; ++j) {
      const double u = std::sqrt((j + 0.5) / count), along = 0.5 + 0.6180339887498949 * j;
      const double v = along - std::floor(along);
      all.x.push_back((1 - u) * a + (u * (1 - v)) * b + (u * v) * c);
      all.n.push_back((0.5 / area) * twice);
      all.t.push_back((1 / std::sqrt(squared_norm(b - a))) * (b - a));
    }
  }
  return all;
}

}  // namespace

void load_printed(Exec& ex, const RigidSeed& seed, double dx, PrintedContact& contact) {
  contact.dx = dx;
  double moving = 0;
  for (const RigidBody& body : seed.bodies)
    if (body.drive < 0) moving += body.mass;
  std::vector<Index> of_body, begin{0};
  std::vector<double> mass, slide;
  std::vector<double> column[4][3];  // x, n, t, d3
  for (std::size_t b = 0; b < seed.bodies.size(); ++b) {
    const RigidBody& body = seed.bodies[b];
    if (body.object >= 0) {
      const PrintedSamples samples = printed_samples(seed, seed.forms[static_cast<std::size_t>(body.form)], dx);
      const auto count = static_cast<double>(samples.x.size());
      const double all = body.drive < 0 ? body.mass : printed_wall * moving;
      for (std::size_t s = 0; s < samples.x.size(); ++s) {
        const Vec3d normal = body.rotation * samples.n[s];
        const Vec3d* const from[4] = {&samples.x[s], &samples.n[s], &samples.t[s], &normal};
        for (int c = 0; c < 4; ++c)
          for (int k = 0; k < 3; ++k) column[c][k].push_back((*from[c])[k]);
        of_body.push_back(static_cast<Index>(b));
        mass.push_back(all / count);
        slide.push_back(seed.friction[static_cast<std::size_t>(body.group * seed.groups + body.group)]);
      }
    }
    begin.push_back(static_cast<Index>(of_body.size()));
  }
  contact.count = static_cast<Index>(of_body.size());
  copy_to_device(ex, of_body.data(), contact.body, contact.count);
  copy_to_device(ex, begin.data(), contact.begin, static_cast<Index>(begin.size()));
  copy_to_device(ex, mass.data(), contact.mass, contact.count);
  copy_to_device(ex, slide.data(), contact.slide, contact.count);
  Field<double, 3>* const to[4] = {&contact.x, &contact.n, &contact.t, &contact.d3};
  for (int c = 0; c < 4; ++c)
    for (int k = 0; k < 3; ++k) copy_to_device(ex, column[c][k].data(), to[c]->c[k], contact.count);
}

void push_printed(Exec& ex, const RigidMesh& mesh, const Colliders<double, 3>::View& colliders,
                  const ContactTally& tally, double dt, RigidWork& work, PrintedContact& c) {
  if (c.empty()) return;
  const Index entries = c.count * printed_reach;
  c.entry.resize_discard(entries);
  c.key.resize_discard(entries);
  c.order.resize_discard(entries);
  c.node_of.resize_discard(entries);
  c.mark.resize_discard(entries);
  c.trial.resize_discard(c.count);
  c.impulse.resize_discard(c.count);
  parallel_for(ex, printed_label, c.count,
               ScatterPrinted{work.body.data(), c.body.data(), view(std::as_const(c.x)), view(std::as_const(c.n)),
                              view(std::as_const(c.t)), view(std::as_const(c.d3)), c.mass.data(), c.dx, dt,
                              view(c.entry), c.key.data(), c.order.data()});
  c.sorter.sort(ex, printed_label, c.key, c.order, entries, 3 * coordinate_bits);
  parallel_for(ex, printed_label, entries, MarkPrintedNode{c.key.data(), c.mark.data()});
  const Index nodes = exclusive_scan(ex, printed_label, c.mark, c.mark, entries);
  c.first.resize_discard(nodes);
  c.node_v.resize_discard(nodes);
  parallel_for(ex, printed_label, entries,
               ListPrintedNode{c.key.data(), c.mark.data(), c.order.data(), c.first.data(), c.node_of.data()});
  parallel_for(ex, printed_label, nodes,
               MovePrintedNode{c.key.data(), c.first.data(), c.order.data(), view(std::as_const(c.entry)), colliders,
                               tally, nodes, entries, c.dx, dt, view(c.node_v)});
  parallel_for(ex, printed_label, c.count,
               GatherPrinted{work.body.data(), c.body.data(), c.node_of.data(), view(std::as_const(c.x)),
                             view(std::as_const(c.n)), view(std::as_const(c.d3)), view(std::as_const(c.node_v)),
                             c.mass.data(), c.slide.data(), c.dx, dt, view(c.trial), view(c.impulse)});
  parallel_for(ex, printed_label, mesh.count,
               PushPrinted{c.begin.data(), view(std::as_const(c.x)), view(std::as_const(c.impulse)), work.body.data(),
                           work.touched.data()});
}

void keep_printed(Exec& ex, const RigidState& state, PrintedContact& c) {
  parallel_for(ex, printed_label, c.count,
               ReturnPrinted{c.body.data(), view(state.q), view(std::as_const(c.n)), view(std::as_const(c.t)),
                             view(std::as_const(c.trial)), c.slide.data(), view(c.d3)});
}

}  // namespace tribo::TRIBO_BACKEND

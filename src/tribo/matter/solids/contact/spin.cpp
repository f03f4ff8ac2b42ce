#include <vector>

#include "tribo/matter/solids/contact/samples.h"

namespace tribo::TRIBO_BACKEND {
namespace {

constexpr Index run_length = 64;

/// Torque about the origin of what a sample at x takes.
template <class Real>
struct TorqueOfImpulse {
  FieldView<const Real, 3> impulse;
  TRIBO_HD Vec<double, 3> operator()(Index q, const Vec<double, 3>& x) const {
    return cross(x, cast<double>(Vec<Real, 3>{{impulse[0][q], impulse[1][q], impulse[2][q]}}));
  }
};
/// One that is known.
template <class Real>
struct KnownTorque {
  FieldView<const Real, 3> torque;
  TRIBO_HD Vec<double, 3> operator()(Index q, const Vec<double, 3>&) const {
    return cast<double>(Vec<Real, 3>{{torque[0][q], torque[1][q], torque[2][q]}});
  }
};

template <class Real, class Torque>
struct SumSamples {
  SamplesView<Real> samples;
  Torque torque;
  const ContactRun* runs;
  SpinSums* sums;

  TRIBO_HD void operator()(Index r) const {
    SpinSums sum = SpinSums::none();
    for (Index q = runs[r].begin; q < runs[r].end; ++q) {
      const Vec<double, 3> x = cast<double>(samples.position(q));
      sum.add(SpinSums::of(static_cast<double>(samples.sample_mass[q]), x, torque(q, x)));
    }
    sums[r] = sum;
  }
};
/// Sums of runs of sums.
struct SumSums {
  const ContactRun* runs;
  const SpinSums* from;
  SpinSums* to;

  TRIBO_HD void operator()(Index r) const {
    SpinSums sum = SpinSums::none();
    for (Index i = runs[r].begin; i < runs[r].end; ++i) sum.add(from[i]);
    to[r] = sum;
  }
};

template <class Real>
struct TurnBack {
  SamplesView<Real> samples;
  const Index* place;  ///< of each body among those that are summed, or -1
  const SpinSums* sums;
  FieldView<const Real, 3> from;
  FieldView<Real, 3> impulse;

  TRIBO_HD void operator()(Index q) const {
    for (int k = 0; k < 3; ++k) impulse[k][q] = from[k][q];
    const Index body = place[samples.sample_body[q]];
    if (body < 0 || !(squared_norm(sums[body].torque) > 0)) return;
    const Vec<double, 3> center = (1 / sums[body].mass) * sums[body].place;
    const Vec<double, 3> spin = spin_of(sums[body], center);
    const Vec<double, 3> dv = cross(spin, cast<double>(samples.position(q)) - center);
    for (int k = 0; k < 3; ++k) impulse[k][q] -= samples.sample_mass[q] * static_cast<Real>(dv[k]);
  }
};

/// Takes torques of samples from the impulses `from`, body by body.
template <class Real, class Torque>
void turn_back(Exec& ex, const SamplesView<Real>& samples, const Torque& torque, Index count,
               const Field<Real, 3>& from, Field<Real, 3>& impulse, SpinWorkspace& spin) {
  for (int level = 0; level < SpinWorkspace::levels; ++level) spin.sums[level].resize_discard(spin.count[level]);
  parallel_for(ex, "contact", spin.count[0],
               SumSamples<Real, Torque>{samples, torque, spin.runs[0].data(), spin.sums[0].data()});
  for (int level = 1; level < SpinWorkspace::levels; ++level)
    parallel_for(ex, "contact", spin.count[level],
                 SumSums{spin.runs[level].data(), spin.sums[level - 1].data(), spin.sums[level].data()});
  parallel_for(ex, "contact", count,
               TurnBack<Real>{samples, spin.place.data(), spin.sums[2].data(), view(from), view(impulse)});
}

/// [begin, end) in pieces.
void cut(Index begin, Index end, std::vector<ContactRun>& runs) {
  for (Index i = begin; i < end; i += run_length) runs.push_back({i, i + run_length < end ? i + run_length : end});
}

}  // namespace

void load_spin(Exec& ex, const SolidSeed& seed, bool self, SpinWorkspace& work) {
  std::vector<ContactRun> runs[SpinWorkspace::levels];
  std::vector<Index> place;
  for (const SolidBody& body : seed.bodies) {
    bool free = (body.self_contact || !self) && !body.kinematic;
    for (auto i = static_cast<std::size_t>(body.vertices.begin);
         i < static_cast<std::size_t>(body.vertices.end) && i < seed.drive.size(); ++i)
      free = free && seed.drive[i] < 0;
    place.push_back(free ? static_cast<Index>(runs[2].size()) : -1);
    if (!free) continue;
    Index begin = body.samples.begin, end = body.samples.end;
    for (int level = 0; level < 2; ++level) {
      const auto first = static_cast<Index>(runs[level].size());
      cut(begin, end, runs[level]);
      begin = first;
      end = static_cast<Index>(runs[level].size());
    }
    runs[2].push_back({begin, end});
  }
  for (int level = 0; level < SpinWorkspace::levels; ++level) {
    copy_to_device(ex, runs[level].data(), work.runs[level], static_cast<Index>(runs[level].size()));
    work.count[level] = static_cast<Index>(runs[level].size());
  }
  copy_to_device(ex, place.data(), work.place, static_cast<Index>(place.size()));
}

template <class Real>
void push_without_spin(Exec& ex, const SolidMesh<Real>& mesh, SolidState<Real>& state, ContactWorkspace<Real>& work) {
  const Field<Real, 3>& impulse = work.self.impulse;
  if (work.spin.count[2] == 0) return push_vertices(ex, mesh, &work.self.pushed, impulse, state);
  work.impulse.resize_discard(mesh.samples);
  turn_back(ex, samples_of(mesh, state, work), TorqueOfImpulse<Real>{view(impulse)}, mesh.samples, impulse,
            work.impulse, work.spin);
  push_vertices(ex, mesh, nullptr, work.impulse, state);
}

template <class Real>
void straighten_impulses(Exec& ex, const SolidMesh<Real>& mesh, const SolidState<Real>& state,
                         ContactWorkspace<Real>& work) {
  const Field<Real, 3>& twist = work.twist;
  if (work.coupling_spin.count[2] == 0) return;
  turn_back(ex, samples_of(mesh, state, work), KnownTorque<Real>{view(twist)}, mesh.samples, work.impulse, work.impulse,
            work.coupling_spin);
}

#define TRIBO_INSTANTIATE(Real)                                                                               \
  template void push_without_spin(Exec&, const SolidMesh<Real>&, SolidState<Real>&, ContactWorkspace<Real>&); \
  template void straighten_impulses(Exec&, const SolidMesh<Real>&, const SolidState<Real>&, ContactWorkspace<Real>&);
TRIBO_INSTANTIATE(float)
TRIBO_INSTANTIATE(double)
#undef TRIBO_INSTANTIATE

}  // namespace tribo::TRIBO_BACKEND

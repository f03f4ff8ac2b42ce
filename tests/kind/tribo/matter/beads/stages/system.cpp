#include "tribo/matter/beads/stages/system.h"

#include <algorithm>
#include <cmath>

#include "tribo/engine/host_vectors.h"
#include "tribo/exec/joins.h"

namespace tribo::TRIBO_BACKEND {
namespace {

/// f = k (|d| - l) d / |d| on the first bead of a spring.
template <class Real>
struct PushBead {
  FieldView<const Real, 3> x, v;
  FieldView<const Real, 2> spring;
  const Real* mass;
  Vec<Real, 3> gravity;
  Real dt;
  FieldView<Real, 3> v_next;

  TRIBO_HD Vec<Real, 3> force(Index first) const {
    if (!(spring[0][first] > 0)) return Vec<Real, 3>::zero();
    const Vec<Real, 3> d = vector_at(x, first + 1) - vector_at(x, first);
    const Real length = sqrt(squared_norm(d));
    return (spring[0][first] * (1 - spring[1][first] / length)) * d;
  }
  TRIBO_HD void operator()(Index i) const {
    Vec<Real, 3> dv = Vec<Real, 3>::zero();
    if (mass[i] > 0) dv = dt * (gravity + (1 / mass[i]) * (force(i) - (i > 0 ? force(i - 1) : Vec<Real, 3>::zero())));
    for (int k = 0; k < 3; ++k) v_next[k][i] = v[k][i] + dv[k];
  }
};

template <class Real>
struct MoveBead {
  FieldView<const Real, 3> v_next;
  Real dt;
  FieldView<Real, 3> x, v;
  TRIBO_HD void operator()(Index i) const {
    for (int k = 0; k < 3; ++k) {
      v[k][i] = v_next[k][i];
      x[k][i] += dt * v_next[k][i];
    }
  }
};

template <class Real>
struct BadBead {  ///< counted from the end, so that the largest is the first
  FieldView<const Real, 3> x;
  TRIBO_HD Index operator()(Index i) const {
    const Real sum = x[0][i] + x[1][i] + x[2][i];
    return sum - sum == 0 ? 0 : no_index - i;
  }
};

constexpr const char* label = "beads";

}  // namespace

template <class Real>
void BeadSystem<Real>::load(const Seeds& seeds) {
  const BeadSeed& seed = seeds.of<BeadSeed>();
  count_ = static_cast<Index>(seed.x.size());
  rows_ = seed.rows;
  masses_ = seed.mass;
  const auto send = [&](Array<Real>& to, const auto& of) {
    std::vector<Real> column;
    for (std::size_t i = 0; i < seed.x.size(); ++i) column.push_back(static_cast<Real>(of(i)));
    copy_to_device(ex_, column.data(), to, count_);
  };
  for (int k = 0; k < 3; ++k) {
    send(x_.c[k], [&](std::size_t i) { return seed.x[i][k]; });
    send(v_.c[k], [](std::size_t) { return 0.0; });
  }
  send(spring_.c[0], [&](std::size_t i) { return seed.stiffness[i]; });
  send(spring_.c[1], [&](std::size_t i) { return seed.length[i]; });
  send(mass_, [&](std::size_t i) { return seed.mass[i]; });
  v_next_.resize_discard(count_);
  for (std::size_t i = 0; i < seed.x.size(); ++i)  // Gershgorin: twice the two springs beside a bead
    if (seed.mass[i] > 0)
      rate_ = std::max(rate_, std::sqrt(2 * (seed.stiffness[i] + (i > 0 ? seed.stiffness[i - 1] : 0)) / seed.mass[i]));
}

template <class Real>
void BeadSystem<Real>::each_saved(StateList& list) {
  if (empty()) return;
  list.column("bead.x", x_, count_);
  list.column("bead.v", v_, count_);
}

/// Symplectic Euler is stable up to 2 over the largest frequency; half of that.
template <class Real>
void BeadSystem<Real>::bound(const Surroundings&, StepBound& step) const {
  if (!empty()) step.at_most(1 / rate_, "elastic");
}

template <class Real>
ImplicitReport BeadSystem<Real>::predict(const StepTry& attempt) {
  if (!empty())
    parallel_for(
        ex_, label, count_,
        PushBead<Real>{view(std::as_const(x_)), view(std::as_const(v_)), view(std::as_const(spring_)), mass_.data(),
                       cast<Real>(model_.gravity), static_cast<Real>(attempt.dt), view(v_next_)});
  return {.converged = true};
}

template <class Real>
void BeadSystem<Real>::finish(const StepTry& attempt, StepReport&) {
  if (empty()) return;
  parallel_for(ex_, label, count_,
               MoveBead<Real>{view(std::as_const(v_next_)), static_cast<Real>(attempt.dt), view(x_), view(v_)});
  bad_ = no_index - reduce(ex_, label, count_, Index{0}, BadBead<Real>{view(std::as_const(x_))}, Larger<Index>{});
}

/// Of a wave along a row: a spring's length in the time that its rate takes.
template <class Real>
double BeadSystem<Real>::expected_speed() {
  double fastest = 0;
  std::vector<Real> length(static_cast<std::size_t>(count_));
  copy_to_host(ex_, spring_.c[1], length.data(), count_);
  for (const Real one : length) fastest = std::max(fastest, rate_ * static_cast<double>(one));
  return fastest;
}

template <class Real>
void BeadSystem<Real>::measure(std::vector<ObjectSums>& objects) {
  const HostVectors<Real> x(ex_, x_, count_), v(ex_, v_, count_);
  std::vector<Real> spring[2];
  for (int k = 0; k < 2; ++k) {
    spring[k].resize(static_cast<std::size_t>(count_));
    copy_to_host(ex_, spring_.c[k], spring[k].data(), count_);
  }
  for (const BeadRow& row : rows_) {
    ObjectSums& sums = objects[static_cast<std::size_t>(row.object)];
    for (Index i = row.beads.begin; i < row.beads.end; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const Vec<double, 3> place = cast<double>(x[i]);
      sums.add(masses_[at], place, cast<double>(v[i]));
      sums.gravity -= masses_[at] * dot(model_.gravity, place);
      if (!(spring[0][at] > 0)) continue;
      const double longer =
          std::sqrt(squared_norm(cast<double>(x[i + 1]) - place)) - static_cast<double>(spring[1][at]);
      sums.elastic += 0.5 * static_cast<double>(spring[0][at]) * longer * longer;
    }
  }
}

template <class Real>
void BeadSystem<Real>::show(const EngineOptions&, Frame& frame) const {
  const HostVectors<Real> x(ex_, x_, count_), v(ex_, v_, count_);
  for (const BeadRow& row : rows_) {
    const std::int32_t beads = row.beads.end - row.beads.begin;
    frame.curves.push_back(
        {this->object(row.object).name, x.column("x", row.beads), v.column("v", row.beads),
         make_array<std::int32_t>("sizes", 1, std::vector<std::int32_t>{beads}),
         make_array<Real>("radius", 1, std::vector<Real>(static_cast<std::size_t>(beads), Real(row.radius)))});
  }
}

template <class Real>
std::string BeadSystem<Real>::complaint() const {
  if (bad_ == no_index) return {};
  return "bead " + std::to_string(bad_) + " of object '" + this->object(object_at(rows_, &BeadRow::beads, bad_)).name +
         "' is no longer finite; likely cause: springs far too stiff for their beads";
}

template class BeadSystem<float>;
template class BeadSystem<double>;

}  // namespace tribo::TRIBO_BACKEND

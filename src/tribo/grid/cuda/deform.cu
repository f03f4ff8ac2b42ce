#include "tribo/grid/cuda/transfer.cuh"
#include "tribo/grid/law_stages.h"
#include "tribo/grid/per_material.h"
#include "tribo/models/all.h"

namespace tribo::TRIBO_BACKEND {
namespace {

constexpr int deform_threads = 128;

template <class Real, int D, class Law>
struct DeformArguments {
  PackedView<Real, D> from, to;
  FieldView<Real, D * D> velocity_gradient;
  const Index* order;
  Law law;
  Real dx, dt;
  double speed_limit;
  Index first, end;  ///< particles of the material
  StepTally* tally;
  unsigned long long* stiffness;
};

/// Strain and stress of particles that have moved and whose velocity gradients are known; a thread for each.
template <class Real, int D, class Law>
__global__ void __launch_bounds__(deform_threads) deform_particles(const DeformArguments<Real, D, Law> a) {
  using Layout = PackedLayout<D>;
  constexpr int first_quad = Layout::tau / 4;
  if (is_cancelled(a.tally, a.speed_limit)) return;
  const Index s = a.first + static_cast<Index>(blockIdx.x) * deform_threads + static_cast<Index>(threadIdx.x);
  Extremes<Real, D, Real> extremes;
  if (s < a.end) {
    const Index slot = a.order[s];
    PackedParticle<Real, D> particle;
    Real* const number = particle.number;
    // The motion is in its new place already, the rest still in the old one.
    particle.template load<0, Layout::motion_quads>(a.to, s);
    particle.template load<Layout::first_strain_quad, Layout::quads>(a.from, slot);
    Strain<Real, D> strain;
    Mat<Real, D> L;
    Vec<Real, D> v;
#pragma unroll
    for (int k = 0; k < 2; ++k) strain.history[k] = k < Law::memory ? a.from.history[k][slot] : Real(0);
#pragma unroll
    for (int k = 0; k < D * D; ++k) {
      (&strain.F.m[0][0])[k] = number[Layout::F(k)];
      (&L.m[0][0])[k] = a.velocity_gradient[k][s];
    }
#pragma unroll
    for (int k = 0; k < D; ++k) v[k] = number[Layout::v + k];
    const Response<Real, D> response = step_law(a.law, L, a.dt, strain);
    extremes.add(s, 1, v, L, a.dx, response);
#pragma unroll
    for (int k = 0; k < D * D; ++k) number[Layout::F(k)] = (&strain.F.m[0][0])[k];
#pragma unroll
    for (int k = 0; k < Sym<Real, D>::size; ++k) number[Layout::tau + k] = response.tau.s[k];
    particle.template store<first_quad, Layout::quads>(a.to, s);
#pragma unroll
    for (int k = 0; k < Law::memory; ++k) a.to.history[k][s] = strain.history[k];
  }
  const Real speed = warp_max_or_nan(extremes.speed);
  const Real stiffness = warp_max_or_nan(extremes.stiffness);
  if ((threadIdx.x & 31) == 0) {
    raise_to(&a.tally->speed, ordered_bits(static_cast<double>(speed)));
    raise_to(a.stiffness, ordered_bits(static_cast<double>(stiffness)));
  }
  if (extremes.first_bad != Workspace<Real, D>::none) atomicMin(&a.tally->first_bad, extremes.first_bad);
}

}  // namespace

template <class Real, int D>
void deform_packed(Exec& ex, const Constants<Real, D>& constants, double dt, double speed_limit,
                   PackedParticles<Real, D>& p) {
  for (std::size_t g = 0; g < constants.laws.size(); ++g) {
    const Index first = p.group_particles[g];
    const Index end = p.group_particles[g + 1];
    if (first == end) continue;
    std::visit(
        [&]<class Law>(const Law& law) {
          ex.run("g2p", [&] {
            deform_particles<Real, D, Law><<<static_cast<unsigned>((end - first + deform_threads - 1) / deform_threads),
                                             deform_threads, 0, ex.stream()>>>(
                {p.now.view(), p.next.view(), view(p.gradient), p.order.data(), law, constants.dx,
                 static_cast<Real>(dt), speed_limit, first, end, p.tally.data(), p.stiffness.data() + g});
            check(cudaGetLastError(), "g2p");
          });
        },
        *constants.laws[g]->law);
  }
}

#define TRIBO_INSTANTIATE(Real, D) \
  template void deform_packed(Exec&, const Constants<Real, D>&, double, double, PackedParticles<Real, D>&);
TRIBO_FOR_EACH_INSTANCE(TRIBO_INSTANTIATE)
#undef TRIBO_INSTANTIATE

}  // namespace tribo::TRIBO_BACKEND

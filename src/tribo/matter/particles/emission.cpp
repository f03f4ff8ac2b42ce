#include "tribo/matter/particles/emission.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tribo/matter/particles/sampling.h"
#include "tribo/setup/random.h"

namespace tribo {
namespace {

/// Layers sampled at once. A block is a body of its own to the sampler: long enough that its ends do not matter, short
/// enough to be sampled between two steps.
constexpr std::int64_t layers_per_block = 16;

double length(const Vec<double, 3>& v) { return std::sqrt(squared_norm(v)); }

/// The emitter's direction in the frame of its shape.
template <int D>
Vec<double, D> local_direction(const Pose& pose, const Vec<double, 3>& velocity) {
  const Vec<double, 3> local = transpose(pose.rotation) * velocity;
  Vec<double, D> r;
  for (int k = 0; k < D; ++k) r[k] = local[k];
  return length_and_direction(r).normal;
}

template <int D>
double full_rate(const ObjectSpec& object) {
  const Pose pose{object.placement.at, rotation_matrix(object.placement.rotation)};
  return Silhouette<D>(object.shape, local_direction<D>(pose, object.velocity)).area() * length(object.velocity);
}

}  // namespace

EmitterModel emitter_model(const Scene& scene, int object) {
  const ObjectSpec& spec = scene.objects[static_cast<std::size_t>(object)];
  return {object,        spec.shape,    {spec.placement.at, rotation_matrix(spec.placement.rotation)},
          spec.velocity, scene.grid.dx, spec.particles_per_cell,
          spec.sampling, spec.seed,     *spec.as<EmissionSpec>()};
}

double emission_rate(const Scene& scene, const ObjectSpec& object) {
  if (const auto& rate = object.as<EmissionSpec>()->volume_rate) return *rate;
  return scene.dimension == 2 ? full_rate<2>(object) : full_rate<3>(object);
}

double emitted_volume(const Scene& scene, const ObjectSpec& object) {
  const EmissionSpec& when = *object.as<EmissionSpec>();
  const double seconds = std::max(0.0, std::min(when.until, scene.duration) - when.from);
  return std::min(when.max_volume, seconds * emission_rate(scene, object));
}

template <int D>
Jet<D>::Jet(const EmitterModel& emitter)
    : emitter_(emitter),
      speed_(length(emitter.velocity)),
      direction_(emitter.velocity * (1 / speed_)),
      outline_(emitter.shape, local_direction<D>(emitter.pose, emitter.velocity)),
      area_(outline_.area()),
      share_(emitter.when.volume_rate ? std::min(1.0, *emitter.when.volume_rate / (area_ * speed_)) : 1),
      thickness_(lattice_spacing(emitter.dx, emitter.particles_per_cell, D)) {}

template <int D>
std::int64_t Jet<D>::layers_due(double time) const {
  const double gone = speed_ * (std::min(time, emitter_.when.until) - emitter_.when.from);
  return std::max<std::int64_t>(0, static_cast<std::int64_t>(std::floor(gone / thickness_ + 1e-9)));
}

template <int D>
typename Jet<D>::Layer Jet<D>::layer(std::int64_t k) {
  if (k / layers_per_block != block_) sample(k / layers_per_block);
  const auto within = static_cast<std::size_t>(k % layers_per_block);
  return {particles_.data() + layer_start_[within], particles_.data() + layer_start_[within + 1], volume_each_};
}

template <int D>
void Jet<D>::sample(std::int64_t block) {
  const double block_length = thickness_ * static_cast<double>(layers_per_block);
  const auto seed = static_cast<std::int64_t>(mixed_bits(static_cast<std::uint64_t>(emitter_.seed)) +
                                              static_cast<std::uint64_t>(block));
  const std::vector<Vec<double, D>> points =
      sample_swept(outline_, block_length, emitter_.dx, emitter_.particles_per_cell, emitter_.sampling, seed);
  const auto layer_of = [&](const Vec<double, D>& p) {
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(p[D - 1] / thickness_), 0, layers_per_block - 1);
  };
  // Sorted by counting, so that points of a layer stay in order.
  layer_start_.assign(layers_per_block + 1, 0);
  for (const Vec<double, D>& p : points) ++layer_start_[static_cast<std::size_t>(layer_of(p)) + 1];
  std::partial_sum(layer_start_.begin(), layer_start_.end(), layer_start_.begin());
  std::vector<std::size_t> next(layer_start_.begin(), layer_start_.end() - 1);
  particles_.resize(points.size());
  for (Vec<double, D> p : points) {
    const double behind = static_cast<double>(block) * block_length + p[D - 1];
    const std::size_t row = next[static_cast<std::size_t>(layer_of(p))]++;
    p[D - 1] = outline_.meet(p).entry;
    const Vec<double, D> local = outline_.in_shape_frame(p);
    auto in_space = Vec<double, 3>::zero();
    for (int i = 0; i < D; ++i) in_space[i] = local[i];
    particles_[row] = {emitter_.pose.rotation * in_space + emitter_.pose.at, behind};
  }
  volume_each_ = points.empty() ? 0 : area_ * block_length / static_cast<double>(points.size());
  block_ = block;
}

/// Those with the smallest hashes: every subset of the size is as likely as any other.
template <int D>
void Jet<D>::thin(std::int64_t k, std::int64_t count, std::int64_t kept, std::vector<std::int32_t>& which) const {
  which.resize(static_cast<std::size_t>(count));
  std::iota(which.begin(), which.end(), 0);
  if (kept >= count) return;
  const std::uint64_t start =
      mixed_bits(mixed_bits(static_cast<std::uint64_t>(emitter_.seed) + 1) + static_cast<std::uint64_t>(k));
  const auto hash = [&](std::int32_t i) { return mixed_bits(start + static_cast<std::uint64_t>(i)); };
  const auto middle = which.begin() + kept;
  std::nth_element(which.begin(), middle, which.end(),
                   [&](std::int32_t a, std::int32_t b) { return std::pair(hash(a), a) < std::pair(hash(b), b); });
  which.resize(static_cast<std::size_t>(kept));
  std::sort(which.begin(), which.end());
}

template class Jet<2>;
template class Jet<3>;

}  // namespace tribo

#pragma once

#include <cstdint>
#include <vector>

#include "tribo/colliders/silhouette.h"
#include "tribo/scene/scene.h"
#include "tribo/setup/emitter.h"

namespace tribo {

EmitterModel emitter_model(const Scene& scene, int object);

/// Volume per time that an emitter gives out [m^3/s], and in all until the scene's end [m^3].
double emission_rate(const Scene& scene, const ObjectSpec& object);
double emitted_volume(const Scene& scene, const ObjectSpec& object);

/// The material that an emitter gives out, as a column that moves with its velocity u through the shape: a point that
/// lies `behind` the column's front enters the shape at time from + behind / u, on the side where straight lines along
/// u enter it. Columns beside each other slide along that surface, which keeps all volumes: the density is that of
/// the sampling whatever the shape and whatever the time steps, and the rate is area * u exactly.
///
/// The column is sampled in blocks, each from its own hashed seed, and handed out in layers one particle spacing thick:
/// layer k is a function of the scene and k alone.
template <int D>
class Jet {
 public:
  explicit Jet(const EmitterModel& emitter);

  struct Particle {
    Vec<double, 3> entry;  ///< where it enters the shape [m]
    double behind;         ///< distance behind the column's front [m]
  };
  struct Layer {
    const Particle* begin;
    const Particle* end;
    double volume_each;  ///< [m^3]
  };

  /// Layers that have entered completely by `time`.
  std::int64_t layers_due(double time) const;
  /// Valid until the next call.
  Layer layer(std::int64_t k);
  Vec<double, 3> position(const Particle& particle, double time) const {
    return particle.entry + direction_ * (speed_ * (time - emitter_.when.from) - particle.behind);
  }
  /// Of `count` particles of layer k those `kept` to keep, the same in every run, in order.
  void thin(std::int64_t k, std::int64_t count, std::int64_t kept, std::vector<std::int32_t>& which) const;
  /// Volume given out over the volume that fits through the shape.
  double share() const { return share_; }
  double speed() const { return speed_; }

 private:
  void sample(std::int64_t block);

  EmitterModel emitter_;
  double speed_;
  Vec<double, 3> direction_;
  Silhouette<D> outline_;
  double area_;
  double share_;
  double thickness_;         ///< of a layer [m]
  std::int64_t block_ = -1;  ///< the one sampled last
  double volume_each_ = 0;
  std::vector<Particle> particles_;  ///< of the block, layer by layer
  std::vector<std::size_t> layer_start_;
};

}  // namespace tribo

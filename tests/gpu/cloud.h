#pragma once

#include <array>
#include <cmath>
#include <random>
#include <string>
#include <variant>
#include <vector>

#include "tribo/matter/particles/seed.h"
#include "tribo/models/all.h"
#include "tribo/setup/model.h"

namespace tribo::test {

/// Grid spacing of the models below [m].
inline constexpr double cloud_dx = 0.05;

/// Every listed law, with every parameter in use that it has. Those that yield do so at the strains of a cloud.
inline std::vector<MaterialSpec> every_material() {
  const double mu = shear_modulus(1e5, 0.3);
  const double lambda = lame_lambda(1e5, 0.3);
  const Grains<double> dry{.mu = mu, .lambda = lambda, .friction = 0.5, .volume_correction = 1, .cohesion = 0};
  const Grains<double> wet{.mu = mu, .lambda = lambda, .friction = 0.6, .volume_correction = 1, .cohesion = 500};
  const auto laws = std::to_array<ParticleLaw<double>>({
      FixedCorotated<double>{.mu = mu, .lambda = lambda, .viscosity = 2},
      NeoHookean<double>{.mu = mu, .lambda = lambda, .viscosity = 1},
      Hencky<double>{.mu = mu, .lambda = lambda, .viscosity = 0},
      Viscoelastic<double>{.mu = mu, .lambda = lambda, .relaxing = 0.5, .volume = 1, .relaxation_rate = 10},
      DruckerPrager<double>{dry},
      MohrCoulomb<double>{wet},
      Snow<double>{.mu = mu, .lambda = lambda, .least = 0.975, .most = 1.0075, .hardening = 10, .most_hardening = 20},
      VonMises<double>{.mu = mu, .lambda = lambda, .yield_strain = 0.01},
      HerschelBulkley<double>{.mu = mu, .lambda = lambda, .yield_norm = 100, .exponent = 2, .log_scale = 1},
      WeaklyCompressible<double>{.bulk_modulus = 2e5, .gamma = 7, .tension = 0, .viscosity = 1},
      StVenantKirchhoff<double>{.mu = mu, .lambda = lambda, .viscosity = 1},
  });
  static_assert(laws.size() == std::variant_size_v<ParticleLaw<double>>, "every law is tested");
  std::vector<MaterialSpec> materials;
  for (const ParticleLaw<double>& law : laws)
    materials.push_back({std::visit([](const auto& l) { return l.name; }, law), 1000, law, {}});
  return materials;
}

/// A model of these materials under gravity, with `objects_each` objects of each, those of one material not in a row.
inline Model cloud_model(int dimension, const std::vector<MaterialSpec>& materials, int objects_each = 2) {
  Model model;
  model.dimension = dimension;
  model.dx = cloud_dx;
  model.gravity = {{1, -9.81, dimension == 3 ? 0.5 : 0.0}};
  model.transfer = Apic{}.rule();
  model.materials = materials;
  for (int copy = 0; copy < objects_each; ++copy)
    for (std::size_t m = 0; m < materials.size(); ++m) {
      const auto material = static_cast<int>(materials.size() - 1 - m);
      Model::Object object{materials[static_cast<std::size_t>(material)].name + std::to_string(copy), material};
      object.motion.spin = {{0, 0, 3.0 * copy}};  // what particles begin to turn with
      model.objects.push_back(object);
    }
  return model;
}

class SeedMaker {
 public:
  explicit SeedMaker(const Model& model, unsigned seed) : model_(model), random_(seed) {}

  double uniform(double low, double high) { return std::uniform_real_distribution<double>(low, high)(random_); }

  /// Particles at random in a box about `center`, [cells]; of any object, deformed and moving at random.
  SeedMaker& add(int count, Vec<double, 3> center, Vec<double, 3> half, double speed = 1) {
    std::normal_distribution<double> normal;
    for (int i = 0; i < count; ++i) {
      Vec<double, 3> x = Vec<double, 3>::zero(), v = Vec<double, 3>::zero();
      Mat<double, 3> F = Mat<double, 3>::identity();
      for (int a = 0; a < model_.dimension; ++a) {
        x[a] = model_.dx * (center[a] + uniform(-half[a], half[a]));
        v[a] = speed * normal(random_);
        for (int b = 0; b < model_.dimension; ++b) F(a, b) += uniform(-0.05, 0.05);
      }
      const auto object = static_cast<std::int32_t>(random_() % model_.objects.size());
      const int material = model_.objects[static_cast<std::size_t>(object)].material;
      const double volume = std::pow(model_.dx, model_.dimension) / std::pow(2.0, model_.dimension);
      seed_.x.push_back(x);
      seed_.v.push_back(v);
      seed_.m.push_back(uniform(0.5, 1) * volume * model_.materials[static_cast<std::size_t>(material)].density);
      seed_.object.push_back(object);
      seed_.F.push_back(F);
    }
    return *this;
  }
  const ParticleSeed& seed() const { return seed_; }

 private:
  const Model& model_;
  std::mt19937_64 random_;
  ParticleSeed seed_;
};

/// A loose cloud over tens of blocks about the origin, a crowd of 3000 within one cell, another near by across negative
/// coordinates, and a few particles hundreds of blocks away.
inline ParticleSeed random_cloud(const Model& model, unsigned seed) {
  SeedMaker make(model, seed);
  const bool flat = model.dimension == 2;
  make.add(2500, {{1, -2, 3}}, flat ? Vec<double, 3>{{20, 14, 0}} : Vec<double, 3>{{8, 6, 6}});
  make.add(3000, {{-3.2, 2.7, 1.1}}, {{0.4, 0.4, 0.4}});
  make.add(200, {{-30, -25, -18}}, {{2, 2, 2}});
  for (int i = 0; i < 6; ++i)
    make.add(3, {{make.uniform(-2000, 2000), make.uniform(-2000, 2000), make.uniform(-2000, 2000)}}, {{1, 1, 1}});
  return make.seed();
}

}  // namespace tribo::test

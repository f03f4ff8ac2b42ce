#include "tribo/matter/solids/contact_samples.h"

#include <gtest/gtest.h>

#include "../../../physics/solid_world.h"

/// \file
/// Impulses on contact samples keep momentum only if the samples' masses are those of the vertices, seen from the
/// boundary.

namespace tribo::TRIBO_BACKEND::test {
namespace {

/// A ball, with its uneven vertex masses, and a box with vertices inside.
SolidWorld two_bodies() {
  SolidWorld w;
  w.add(ball(0.1, 1, 2).shift({{1, 2, 3}}), {.density = 700});
  w.add(box({{0.3, 0.2, 0.4}}, {3, 2, 4}), {.density = 2000, .self_contact = true});
  w.seed.contact.samples_per_cell = 3;
  return w;
}

TEST(ContactSamples, WeighWhatTheirVerticesWeigh) {
  SolidWorld w = two_bodies();
  const std::vector<ContactSample> samples = place_samples(w.seed, 0.05);
  std::vector<double> mass(w.seed.rest.size(), 0);
  std::vector<bool> on_boundary(w.seed.rest.size(), false);
  for (const ContactSample& q : samples) {
    EXPECT_GT(q.mass, 0);
    EXPECT_NEAR(q.weight[0] + q.weight[1] + q.weight[2], 1, 1e-14);
    for (int k = 0; k < 3; ++k) {
      EXPECT_GE(q.weight[k], 0);
      const auto p = static_cast<std::size_t>(w.seed.triangles[static_cast<std::size_t>(q.triangle)][k]);
      mass[p] += q.weight[k] * q.mass;
      on_boundary[p] = true;
    }
  }
  int inside = 0;
  for (std::size_t p = 0; p < mass.size(); ++p) {
    EXPECT_NEAR(mass[p], on_boundary[p] ? w.seed.mass[p] : 0, 1e-13 * w.seed.mass[p]);
    inside += on_boundary[p] ? 0 : 1;
  }
  EXPECT_GT(inside, 0);
}

TEST(ContactSamples, AreAsDenseAsAskedAndAtEveryCorner) {
  SolidWorld w = two_bodies();
  const double dx = 0.05;
  const std::vector<ContactSample> samples = place_samples(w.seed, dx);
  std::vector<int> spread(w.seed.triangles.size(), 0), corners(w.seed.triangles.size(), 0);
  std::vector<double> area(w.seed.triangles.size(), 0);
  for (const ContactSample& q : samples) {
    const auto t = static_cast<std::size_t>(q.triangle);
    const double most = std::max({q.weight[0], q.weight[1], q.weight[2]});
    ++(most == 1 ? corners : spread)[t];
    area[t] += q.area;
  }
  for (std::size_t t = 0; t < spread.size(); ++t) {
    EXPECT_EQ(corners[t], 3);
    EXPECT_EQ(spread[t], std::ceil(3 * area[t] / (dx * dx) - 1e-9));
  }
}

TEST(ContactSamples, BelongToTheirBodies) {
  SolidWorld w = two_bodies();
  const std::vector<ContactSample> samples = place_samples(w.seed, 0.05);
  assign_samples(samples, w.seed.bodies);
  EXPECT_EQ(w.seed.bodies[0].samples.begin, 0);
  EXPECT_EQ(w.seed.bodies[0].samples.end, w.seed.bodies[1].samples.begin);
  EXPECT_EQ(w.seed.bodies[1].samples.end, static_cast<std::int32_t>(samples.size()));
  for (std::int32_t q = 0; q < w.seed.bodies[0].samples.end; ++q)
    EXPECT_LT(samples[static_cast<std::size_t>(q)].triangle, w.seed.bodies[0].triangles.end);
}

/// A plate's back must not be taken for another part of the body: samples know how thin it is.
TEST(ContactSamples, KnowHowThickTheBodyIs) {
  SolidWorld w;
  const double dx = 0.1, thick = 0.04;
  w.add(box({{1, thick, 1}}, {8, 1, 8}), {.self_contact = true});
  int middle = 0;
  for (const ContactSample& q : place_samples(w.seed, dx)) {
    EXPECT_LE(q.thickness, 1.001 * thick);
    Vec3 x = Vec3::zero();
    for (int k = 0; k < 3; ++k)
      x += q.weight[k] *
           w.seed.rest[static_cast<std::size_t>(w.seed.triangles[static_cast<std::size_t>(q.triangle)][k])];
    if (std::abs(x[0]) > 0.4 || std::abs(x[2]) > 0.4) continue;
    EXPECT_NEAR(q.thickness, thick, 0.01 * thick);
    ++middle;
  }
  EXPECT_GT(middle, 100);
}

}  // namespace
}  // namespace tribo::TRIBO_BACKEND::test

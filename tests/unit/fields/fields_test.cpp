#include <gtest/gtest.h>

#include <cmath>

#include "tribo/fields/all.h"
#include "tribo/scene/json_reader.h"

namespace tribo {
namespace {

using Vec3 = Vec<double, 3>;

template <class Field>
Field read(const std::string& json) {
  Field field;
  read_params(json, [&](ParamReader& in) { field = Field::read(in); });
  return field;
}

/// One of every field in the list: the test does not compile when a new one is missing here.
template <class Field>
Field example();
template <>
LinearField example() {
  return read<LinearField>(R"({"x": [1, 2, -3], "y": [0.5, 0, 4], "z": [-1, 7, 2]})");
}
template <>
RadialField example() {
  return read<RadialField>(R"({"speed": -2, "core": 0.3})");
}
template <>
TaylorGreenField example() {
  return read<TaylorGreenField>(R"({"speed": 3, "wavelength": 1.7})");
}
template <>
VortexField example() {
  return read<VortexField>(R"({"angular_velocity": [1, -2, 0.5], "radius": 0.8})");
}

template <class Visit, class... Fields>
void each_example(const std::variant<Fields...>*, const Visit& visit) {
  (visit(example<Fields>()), ...);
}

const Vec3 places[] = {{{0.1, 0.05, -0.02}}, {{0.4, -0.3, 0.2}}, {{-0.6, 0.2, 0.9}}, {{1.3, 1.1, -0.4}}};

TEST(VelocityFields, HaveTheGradientTheySay) {
  each_example(static_cast<const VelocityField*>(nullptr), [](const auto& field) {
    for (const Vec3& r : places) {
      const Mat<double, 3> G = field.gradient(r);
      for (int j = 0; j < 3; ++j) {
        constexpr double h = 1e-5;  // an error of h^2 and of rounding / h, 1e-10 and 1e-11
        Vec3 ahead = r, behind = r;
        ahead[j] += h;
        behind[j] -= h;
        const Vec3 slope = (field.velocity(ahead) - field.velocity(behind)) * (0.5 / h);
        for (int i = 0; i < 3; ++i) EXPECT_NEAR(G(i, j), slope[i], 1e-7) << field.name << " " << i << j;
      }
    }
  });
}

TEST(VelocityFields, SwirlsAreFreeOfDivergence) {
  for (const Vec3& r : places) {
    const Mat<double, 3> a = example<TaylorGreenField>().gradient(r), b = example<VortexField>().gradient(r);
    EXPECT_NEAR(a(0, 0) + a(1, 1) + a(2, 2), 0, 1e-13);
    EXPECT_NEAR(b(0, 0) + b(1, 1) + b(2, 2), 0, 1e-13);
  }
}

TEST(VelocityFields, AreWhatTheirNamesSay) {
  // Cells of the plane: at rest in the middle of a cell, fastest between two.
  const TaylorGreenField cells = read<TaylorGreenField>(R"({"speed": 3, "wavelength": 2})");
  EXPECT_NEAR(squared_norm(cells.velocity({{0.5, 0.5, 0}})), 0, 1e-30);
  EXPECT_NEAR(cells.velocity({{0.5, 0, 0}})[0], 3, 1e-14);
  EXPECT_NEAR(cells.velocity({{0, 0.5, 0}})[1], -3, 1e-14);

  const RadialField burst = read<RadialField>(R"({"speed": 2, "core": 0.5})");
  EXPECT_NEAR(burst.velocity({{3, 4, 0}})[0], 1.2, 1e-14);
  EXPECT_NEAR(burst.velocity({{0, 0.25, 0}})[1], 1, 1e-14);
  EXPECT_EQ(squared_norm(burst.velocity({{0, 0, 0}})), 0);

  const VortexField swirl = read<VortexField>(R"({"angular_velocity": [0, 0, 2], "radius": 0.5})");
  EXPECT_NEAR(swirl.velocity({{1e-4, 0, 5}})[1], 2e-4, 1e-11);  // rigid at the axis, all along it
  EXPECT_NEAR(swirl.velocity({{0, 0.5, 0}})[0], -1 / std::exp(1.0), 1e-14);
}

}  // namespace
}  // namespace tribo

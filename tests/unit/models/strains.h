#pragma once

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <type_traits>

#include "tribo/models/step_force.h"
#include "tribo/scene/json_reader.h"

/// \file
/// Strains, steps and small matrices for tests of laws.

namespace tribo::test {

inline double uniform(std::mt19937_64& random, double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(random);
}

template <class Real>
constexpr double tol(double in_double, double in_float) {
  return std::is_same_v<Real, double> ? in_double : in_float;
}

template <class To, class From, int D>
Mat<To, D> cast_matrix(const Mat<From, D>& a) {
  Mat<To, D> r;
  for (int i = 0; i < D; ++i)
    for (int j = 0; j < D; ++j) r(i, j) = To(a(i, j));
  return r;
}
template <class To, class From, int D>
Strain<To, D> cast_strain(const Strain<From, D>& a) {
  return {cast_matrix<To>(a.F), {{To(a.history[0]), To(a.history[1])}}};
}

template <int D>
Mat<double, D> random_matrix(std::mt19937_64& random) {
  Mat<double, D> r;
  std::normal_distribution<double> normal;
  for (int i = 0; i < D; ++i)
    for (int j = 0; j < D; ++j) r(i, j) = normal(random);
  return r;
}
template <int D>
double norm(const Mat<double, D>& a) {
  double sum = 0;
  for (int i = 0; i < D; ++i)
    for (int j = 0; j < D; ++j) sum += a(i, j) * a(i, j);
  return std::sqrt(sum);
}
/// A rotation by Gram-Schmidt, independent of the library's decompositions.
template <int D>
Mat<double, D> random_rotation(std::mt19937_64& random) {
  Mat<double, D> q = random_matrix<D>(random);
  for (int j = 0; j < D; ++j) {
    for (int k = 0; k < 2 * j; ++k) {  // twice: the first pass leaves rounding errors of nearly parallel columns
      double along = 0;
      for (int i = 0; i < D; ++i) along += q(i, k % j) * q(i, j);
      for (int i = 0; i < D; ++i) q(i, j) -= along * q(i, k % j);
    }
    double length = 0;
    for (int i = 0; i < D; ++i) length += q(i, j) * q(i, j);
    for (int i = 0; i < D; ++i) q(i, j) /= std::sqrt(length);
  }
  if (determinant(q) < 0)
    for (int i = 0; i < D; ++i) q(i, 0) = -q(i, 0);
  return q;
}
template <int D>
Mat<double, D> inverse(const Mat<double, D>& a) {
  Mat<double, D> r;
  const double d = determinant(a);
  for (int i = 0; i < D; ++i)
    for (int j = 0; j < D; ++j) {
      if constexpr (D == 2) {
        r(j, i) = (i == j ? 1 : -1) * a(1 - i, 1 - j) / d;
      } else {
        const int i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
        r(j, i) = (a(i1, j1) * a(i2, j2) - a(i1, j2) * a(i2, j1)) / d;
      }
    }
  return r;
}

template <class Law, int D, class Real>
Strain<Real, D> rest(const Law& law) {
  const Vec<double, 2> history = law.initial_history();
  return {Mat<Real, D>::identity(), {{Real(history[0]), Real(history[1])}}};
}
/// Stress scale of a law: its stiffness at rest.
template <class Law>
double modulus(const Law& law) {
  const Strain<double, 3> strain = rest<Law, 3, double>(law);
  return law.response(strain).stiffness;
}

/// The same in a given state: stiffening laws have larger stresses, and larger rounding errors.
template <class Law, class Real, int D>
double modulus_at(const Law& law, const Strain<Real, D>& strain) {
  return std::max(modulus(law), static_cast<double>(law.response(strain).stiffness));
}

/// A step of any law. The time matters only to those that flow or relax with it; without time they are elastic.
template <class Law, class T, int D>
Response<T, D> step(const Law& law, const Mat<T, D>& G, Strain<T, D>& strain, double dt = 0.05) {
  return advance_law(law, G, strain, T(scalar_of<T>(dt)));
}

/// A strain that a simulation could have reached: a few random steps from rest. Half of the cases take back a tenth of
/// the last step, so that materials are not always on the verge of flowing; half end with a compression, so that those
/// without tension are not always loose.
template <int D, class Law>
Strain<double, D> random_strain(const Law& law, std::mt19937_64& random, double size = 0.08) {
  Strain<double, D> strain = rest<Law, D, double>(law);
  const int steps = 1 + static_cast<int>(random() % 6);
  Mat<double, D> G;
  for (int k = 0; k < steps; ++k) {
    G = random_matrix<D>(random) * (size / D);
    step(law, G, strain);
  }
  if (random() % 2 == 0) step(law, G * -0.1, strain);
  if (random() % 2 == 0) step(law, Mat<double, D>::identity() * (-size * uniform(random, 0.2, 2)), strain);
  return strain;
}

/// Distance between two strains; both parts are pure numbers of order one.
template <int D>
double difference(const Strain<double, D>& a, const Strain<double, D>& b) {
  return std::max({norm(a.F - b.F), std::abs(a.history[0] - b.history[0]), std::abs(a.history[1] - b.history[1])});
}

/// The strain after a small step, and whether no plastic flow happened: only then does undoing the step lead back, F up
/// to rounding, a law that adds up volumes up to the square of the step.
template <int D, class Law>
bool elastic_step(const Law& law, const Mat<double, D>& G, Strain<double, D>& strain) {
  const Strain<double, D> before = strain;
  step(law, G, strain, 0);
  Strain<double, D> back = strain;
  step(law, inverse(Mat<double, D>::identity() + G) - Mat<double, D>::identity(), back, 0);
  return norm(before.F - back.F) <= 1e-13 && difference(before, back) <= 20 * norm(G) * norm(G);
}

/// A law with the parameters of a JSON text, as a scene gives them.
template <class Law>
Law law_from(const std::string& json) {
  Law law;
  read_params(json, [&](ParamReader& in) { law = Law::read(in); });
  return law;
}

template <int D>
double deviator_norm(const Sym<double, D>& tau) {
  const double mean = trace(tau) / D;
  double sum = 0;
  for (int i = 0; i < D; ++i)
    for (int j = 0; j < D; ++j) sum += (tau(i, j) - (i == j ? mean : 0)) * (tau(i, j) - (i == j ? mean : 0));
  return std::sqrt(sum);
}
/// Principal axes, stretches and the split of their logarithms into volume and shape.
template <int D>
struct PrincipalStrain {
  Mat<double, D> U;
  Vec<double, D> s;
  double trace = 0;  ///< of ln s
  Vec<double, D> deviator;
  double norm = 0;

  explicit PrincipalStrain(const Mat<double, D>& F) {
    Mat<double, D> V;
    polar_svd(F, U, s, V);
    for (int i = 0; i < D; ++i) trace += std::log(s[i]);
    for (int i = 0; i < D; ++i) deviator[i] = std::log(s[i]) - trace / D;
    norm = std::sqrt(squared_norm(deviator));
  }
};

}  // namespace tribo::test

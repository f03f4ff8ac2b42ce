#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "tribo/math/small.h"

/// \file
/// Random numbers of pictures: functions of pixel, sample and purpose alone, so that a picture has the same bytes for
/// any number of threads.

namespace tribo {

inline std::uint32_t mixed(std::uint32_t x) {
  x ^= x >> 16;
  x *= 0x7feb352dU;
  x ^= x >> 15;
  x *= 0x846ca68bU;
  return x ^ (x >> 16);
}
inline std::uint32_t mixed(std::uint32_t a, std::uint32_t b) { return mixed(a ^ (mixed(b) + 0x9e3779b9U)); }
inline float unit_interval(std::uint32_t x) { return static_cast<float>(x >> 8) * 0x1p-24F; }

/// Points of the first four dimensions of Sobol's sequence, shuffled and Owen-scrambled by hashing (Burley 2020,
/// "Practical Hash-based Owen Scrambling"): each set of four numbers is evenly spread over the samples of a pixel,
/// sets of different purpose are independent.
class Sampler {
 public:
  Sampler(std::uint32_t pixel, std::uint32_t sample) : pixel_(pixel), sample_(sample) {}

  std::array<float, 4> next() {
    const std::uint32_t seed = mixed(pixel_, purpose_++);
    const std::uint32_t index = owen_scrambled(sample_, seed);
    std::array<float, 4> values;
    for (std::uint32_t d = 0; d < 4; ++d) values[d] = unit_interval(owen_scrambled(sobol(index, d), mixed(seed, d)));
    return values;
  }

 private:
  static std::uint32_t reversed(std::uint32_t x) {
    x = (x >> 16) | (x << 16);
    x = ((x & 0x00ff00ffU) << 8) | ((x & 0xff00ff00U) >> 8);
    x = ((x & 0x0f0f0f0fU) << 4) | ((x & 0xf0f0f0f0U) >> 4);
    x = ((x & 0x33333333U) << 2) | ((x & 0xccccccccU) >> 2);
    return ((x & 0x55555555U) << 1) | ((x & 0xaaaaaaaaU) >> 1);
  }
  /// Flips each binary digit depending on those above it.
  static std::uint32_t owen_scrambled(std::uint32_t x, std::uint32_t seed) {
    x = reversed(x);
    x += seed;
    x ^= x * 0x6c50b47cU;
    x ^= x * 0xb82f1e52U;
    x ^= x * 0xc7afe638U;
    x ^= x * 0x8d22f6e6U;
    return reversed(x);
  }
  /// Direction numbers from the primitive polynomials x + 1, x^2 + x + 1 and x^3 + x + 1 (Joe and Kuo 2008).
  static std::uint32_t sobol(std::uint32_t index, std::uint32_t dimension) {
    if (dimension == 0) return reversed(index);
    static const auto directions = [] {
      std::array<std::array<std::uint32_t, 32>, 3> v{};
      constexpr std::array<std::uint32_t, 3> degree{1, 2, 3}, polynomial{0, 1, 1};
      constexpr std::array<std::array<std::uint32_t, 3>, 3> first{{{1, 0, 0}, {1, 3, 0}, {1, 3, 1}}};
      for (std::uint32_t d = 0; d < 3; ++d)
        for (std::uint32_t i = 0; i < 32; ++i) {
          const std::uint32_t s = degree[d];
          if (i < s) {
            v[d][i] = first[d][i] << (31 - i);
            continue;
          }
          v[d][i] = v[d][i - s] ^ (v[d][i - s] >> s);
          for (std::uint32_t k = 1; k < s; ++k)
            if ((polynomial[d] >> (s - 1 - k) & 1U) != 0) v[d][i] ^= v[d][i - k];
        }
      return v;
    }();
    std::uint32_t x = 0;
    for (std::uint32_t bit = 0; index != 0; ++bit, index >>= 1)
      if ((index & 1U) != 0) x ^= directions[dimension - 1][bit];
    return x;
  }

  std::uint32_t pixel_, sample_;
  std::uint32_t purpose_ = 0;
};

/// Two unit vectors that complete n to an orthonormal frame (Duff et al. 2017).
inline void complete_frame(const Vec<float, 3>& n, Vec<float, 3>& t, Vec<float, 3>& b) {
  const float sign = std::copysign(1.0F, n[2]);
  const float a = -1 / (sign + n[2]);
  const float c = n[0] * n[1] * a;
  t = {{1 + sign * n[0] * n[0] * a, sign * c, -sign * n[0]}};
  b = {{c, sign + n[1] * n[1] * a, -n[1]}};
}

/// A direction about n with density cos / pi.
inline Vec<float, 3> cosine_direction(const Vec<float, 3>& n, float u, float v) {
  Vec<float, 3> t, b;
  complete_frame(n, t, b);
  const float r = std::sqrt(u), angle = 2 * std::numbers::pi_v<float> * v;
  const float z = std::sqrt(std::fmax(0.0F, 1 - u));
  return r * std::cos(angle) * t + r * std::sin(angle) * b + z * n;
}

/// An evenly distributed direction in the cone about n whose half angle has this cosine.
inline Vec<float, 3> cone_direction(const Vec<float, 3>& n, float cos_half_angle, float u, float v) {
  Vec<float, 3> t, b;
  complete_frame(n, t, b);
  const float z = 1 - u * (1 - cos_half_angle);
  const float r = std::sqrt(std::fmax(0.0F, 1 - z * z)), angle = 2 * std::numbers::pi_v<float> * v;
  return r * std::cos(angle) * t + r * std::sin(angle) * b + z * n;
}

}  // namespace tribo

#pragma once

#include <cstdint>

namespace tribo {

/// The mixing of SplitMix64 (Steele, Lea and Flood 2014): every bit of the result depends on every bit of z.
inline std::uint64_t mixed_bits(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

/// SplitMix64, read at any place of its sequence: number `i` is the mixed value of seed + i * golden. The standard
/// library's distributions may differ between platforms; this may not.
class Random {
 public:
  /// Mixing the seed first keeps the sequences of nearby seeds apart.
  explicit Random(std::int64_t seed) : start_(mixed_bits(static_cast<std::uint64_t>(seed) + golden)) {}

  /// Uniform in [0, 1), a multiple of 2^-53.
  double at(std::uint64_t i) const { return static_cast<double>(mixed_bits(start_ + i * golden) >> 11) * 0x1p-53; }
  double next() { return at(used_++); }

 private:
  static constexpr std::uint64_t golden = 0x9e3779b97f4a7c15;

  std::uint64_t start_;
  std::uint64_t used_ = 0;
};

}  // namespace tribo

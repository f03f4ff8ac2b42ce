#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "tribo/exec/macros.h"

#if !defined(__CUDACC__) && defined(__x86_64__)
#include <immintrin.h>
#endif

/// \file
/// SIMD packs that look like one number, and the elementary functions the physics needs under one name for float,
/// double and packs. Code written for a scalar type T runs on one particle (T = float) or on a pack of them
/// (T = Lanes<float, 16>), with `select`, `any` and `all` in place of branches.
///
/// Reproducibility: every operation is exactly rounded (+ - * / sqrt fma) or built from such operations, so lane i of a
/// pack has the bits of the scalar result, and packs of every width agree, as long as the file is compiled with
/// -ffp-contract=off and the instruction sets agree on having a fused multiply-add. Approximate reciprocals are avoided
/// for that reason. NaN payloads are the one thing that is not promised.
///
/// A pack wider than the machine's registers is held as several registers; two of them hide the latency of long
/// dependent chains such as an SVD. Under nvcc a "register" is one scalar. The layout of a pack therefore depends on
/// the compiler flags: arrays that are shared between files hold plain Real, and packs live inside kernels.

namespace tribo {

// ---------------------------------------------------------------------------------------------------------------------
// Registers: a scalar, or a GCC vector. Everything below Lanes is written for both.

namespace lanes_detail {

#if defined(__AVX512F__) && !defined(__CUDACC__)
inline constexpr int register_bytes = 64;
#elif defined(__AVX__) && !defined(__CUDACC__)
inline constexpr int register_bytes = 32;
#else
inline constexpr int register_bytes = 16;
#endif

template <class Real>
struct Format;

/// Bit layout of a float and the polynomial coefficients of log and exp (interpolation at Chebyshev nodes; absolute
/// errors 2e-11 and 2e-10).
template <>
struct Format<float> {
  using Bits = std::uint32_t;
  static constexpr int mantissa_bits = 23;
  static constexpr Bits exponent_mask = 0x7f800000u;
  static constexpr Bits mantissa_mask = 0x007fffffu;
  static constexpr Bits sqrt_half_bits = 0x3f3504f3u;
  static constexpr Bits one_bits = 0x3f800000u;
  static constexpr Bits integer_bits = 0x4b000000u;     ///< bits of 2^23: or-ing an integer gives 2^23 + integer
  static constexpr float integer_bias = 8388735.0f;     ///< 2^23 + 127
  static constexpr float round_to_integer = 0x1.8p23f;  ///< adding this leaves the nearest integer in the low bits
  static constexpr float ln2_high = 0x1.62e4p-1f;       ///< 15 bits, so exponent * ln2_high is exact without fma
  static constexpr float ln2_low = 1.428606820309417e-6f;
  static constexpr float exp_lowest = -87.33654f;  ///< below, exp is not a normal number
  static constexpr float exp_highest = 88.72284f;  ///< above, exp overflows
  static constexpr int log_terms = 4;
  static constexpr int exp_terms = 6;
  TRIBO_HD static constexpr float log_coefficient(int i) {
    constexpr float c[log_terms] = {0.66666666554451646f, 0.40000121876972001f, 0.28550816599711549f,
                                    0.23330581938241894f};
    return c[i];
  }
  TRIBO_HD static constexpr float exp_coefficient(int i) {
    constexpr float c[exp_terms] = {0.50000000135387299f,   0.16666666681704215f,   0.041666464197405692f,
                                    0.0083333108446478626f, 0.0013933730715792083f, 0.00019891080463998842f};
    return c[i];
  }
};

/// As for float; absolute errors 5e-18 and 3e-19.
template <>
struct Format<double> {
  using Bits = std::uint64_t;
  static constexpr int mantissa_bits = 52;
  static constexpr Bits exponent_mask = 0x7ff0000000000000u;
  static constexpr Bits mantissa_mask = 0x000fffffffffffffu;
  static constexpr Bits sqrt_half_bits = 0x3fe6a09e667f3bcdu;
  static constexpr Bits one_bits = 0x3ff0000000000000u;
  static constexpr Bits integer_bits = 0x4330000000000000u;
  static constexpr double integer_bias = 4503599627371519.0;  ///< 2^52 + 1023
  static constexpr double round_to_integer = 0x1.8p52;
  static constexpr double ln2_high = 0x1.62e42fefa2p-1;
  static constexpr double ln2_low = 7.371002565167798901834e-13;
  static constexpr double exp_lowest = -708.39641853226408;
  static constexpr double exp_highest = 709.78271289338397;
  static constexpr int log_terms = 7;
  static constexpr int exp_terms = 11;
  TRIBO_HD static constexpr double log_coefficient(int i) {
    constexpr double c[log_terms] = {0.66666666666666696883, 0.39999999999899443233, 0.28571428626003268742,
                                     0.22222211130259877029, 0.18182889455674946039, 0.15331710618210771568,
                                     0.14616585424888621989};
    return c[i];
  }
  TRIBO_HD static constexpr double exp_coefficient(int i) {
    constexpr double c[exp_terms] = {0.5,
                                     0.1666666666666667103,
                                     0.041666666666666669783,
                                     0.0083333333333260831202,
                                     0.0013888888888883711167,
                                     0.00019841269875002278793,
                                     0.0000248015873256774619,
                                     2.7557255170000887438e-6,
                                     2.7557273478718580474e-7,
                                     2.5105312729622101787e-8,
                                     2.09147553258932022e-9};
    return c[i];
  }
};

/// How W numbers are spread over registers.
template <class Real, int W>
struct Layout {
  static_assert(std::is_same_v<Real, float> || std::is_same_v<Real, double>);
  static_assert(W > 0 && (W & (W - 1)) == 0, "the number of lanes is a power of two");
#if defined(__CUDACC__)
  static constexpr int width = 1;
  using Register = Real;
  using MaskRegister = bool;
  /// A pack that fits 16 bytes moves as one float4 or double2.
  static constexpr int alignment = W * sizeof(Real) < 16 ? W * sizeof(Real) : 16;
#else
  static constexpr int width = W * int(sizeof(Real)) > register_bytes ? register_bytes / int(sizeof(Real))
                                                                      : W;  ///< lanes per register
  using MaskElement = std::make_signed_t<typename Format<Real>::Bits>;
  typedef Real Register __attribute__((vector_size(width * sizeof(Real))));
  typedef MaskElement MaskRegister __attribute__((vector_size(width * sizeof(Real))));
  static constexpr int alignment = alignof(Register);
#endif
  static constexpr int registers = W / width;
};

/// The unsigned integers that hold the bits of a register.
template <class Real, class R>
struct BitsOf {
  typedef typename Format<Real>::Bits type __attribute__((vector_size(sizeof(R))));
};
template <class Real>
struct BitsOf<Real, Real> {
  using type = typename Format<Real>::Bits;
};
template <class Real, class R>
using bits_of = typename BitsOf<Real, R>::type;

/// All lanes equal to x. x - 0 keeps the sign of a zero, which 0 + x would lose.
template <class Real, class R>
TRIBO_HD R broadcast(Real x) {
  if constexpr (std::is_same_v<R, Real>)
    return x;
  else
    return x - R{};
}

template <class R, class M>
TRIBO_HD R select_register(M m, R a, R b) {
  return m ? a : b;
}

template <class Real, class R>
TRIBO_HD R fma_register(R a, R b, R c) {
  constexpr bool is_float [[maybe_unused]] = std::is_same_v<Real, float>;
  if constexpr (std::is_same_v<R, Real>) {
#if defined(__CUDA_ARCH__) || defined(__FMA__)
    if constexpr (is_float)
      return __builtin_fmaf(a, b, c);
    else
      return __builtin_fma(a, b, c);
#else
    return a * b + c;
#endif
  } else {
#if defined(__FMA__) && !defined(__CUDACC__)
#if defined(__AVX512F__)
    if constexpr (sizeof(R) == 64) {
      if constexpr (is_float)
        return _mm512_fmadd_ps(a, b, c);
      else
        return _mm512_fmadd_pd(a, b, c);
    } else
#endif
        if constexpr (sizeof(R) == 32) {
      if constexpr (is_float)
        return _mm256_fmadd_ps(a, b, c);
      else
        return _mm256_fmadd_pd(a, b, c);
    } else if constexpr (sizeof(R) == 16) {
      if constexpr (is_float)
        return _mm_fmadd_ps(a, b, c);
      else
        return _mm_fmadd_pd(a, b, c);
    } else {
      R r;
      for (int i = 0; i < int(sizeof(R) / sizeof(Real)); ++i) r[i] = fma_register<Real, Real>(a[i], b[i], c[i]);
      return r;
    }
#else
    return a * b + c;
#endif
  }
}

template <class Real, class R>
TRIBO_HD R sqrt_register(R a) {
  constexpr bool is_float [[maybe_unused]] = std::is_same_v<Real, float>;
  if constexpr (std::is_same_v<R, Real>) {
#if defined(__CUDA_ARCH__)
    if constexpr (is_float)
      return __fsqrt_rn(a);
    else
      return __dsqrt_rn(a);
#else
    if constexpr (is_float)
      return __builtin_sqrtf(a);
    else
      return __builtin_sqrt(a);
#endif
  } else {
#if defined(__x86_64__) && !defined(__CUDACC__)
#if defined(__AVX512F__)
    if constexpr (sizeof(R) == 64) {
      if constexpr (is_float)
        return _mm512_mask_sqrt_ps(a, __mmask16(-1), a);  // the unmasked form warns in GCC 12
      else
        return _mm512_mask_sqrt_pd(a, __mmask8(-1), a);
    } else
#endif
#if defined(__AVX__)
        if constexpr (sizeof(R) == 32) {
      if constexpr (is_float)
        return _mm256_sqrt_ps(a);
      else
        return _mm256_sqrt_pd(a);
    } else
#endif
        if constexpr (sizeof(R) == 16) {
      if constexpr (is_float)
        return _mm_sqrt_ps(a);
      else
        return _mm_sqrt_pd(a);
    } else
#endif
    {
      R r;
      for (int i = 0; i < int(sizeof(R) / sizeof(Real)); ++i) r[i] = sqrt_register<Real, Real>(a[i]);
      return r;
    }
  }
}

template <class Real, class R>
TRIBO_HD R abs_register(R a) {
  using Bits = bits_of<Real, R>;
  using F = Format<Real>;
  return __builtin_bit_cast(R, Bits(__builtin_bit_cast(Bits, a) & (F::exponent_mask | F::mantissa_mask)));
}

/// Rounds by adding and removing a number whose last bit counts one, and corrects downward: right for |a| below half of
/// that number; above it every float is an integer already. Keeps the sign of zero.
template <class Real, class R>
TRIBO_HD R floor_by_rounding(R a) {
  using Bits = bits_of<Real, R>;
  using F = Format<Real>;
  constexpr typename F::Bits sign_mask = ~(F::exponent_mask | F::mantissa_mask);
  constexpr Real one_ulp_is_one = Real(typename F::Bits(1) << F::mantissa_bits);
  const R magnitude = abs_register<Real, R>(a);
  const Bits sign = __builtin_bit_cast(Bits, a) & sign_mask;
  const R shift = __builtin_bit_cast(R, Bits(__builtin_bit_cast(Bits, broadcast<Real, R>(one_ulp_is_one)) | sign));
  const R rounded = (a + shift) - shift;
  const R lowered = select_register(a < rounded, R(rounded - Real(1)), rounded);
  const R floored = __builtin_bit_cast(R, Bits(__builtin_bit_cast(Bits, lowered) | sign));
  return select_register(magnitude < broadcast<Real, R>(one_ulp_is_one), floored, a);
}

template <class Real, class R>
TRIBO_HD R floor_register(R a) {
  constexpr bool is_float [[maybe_unused]] = std::is_same_v<Real, float>;
  if constexpr (std::is_same_v<R, Real>) {
#if defined(__CUDACC__) || defined(__SSE4_1__)
    if constexpr (is_float)
      return __builtin_floorf(a);
    else
      return __builtin_floor(a);
#else
    return floor_by_rounding<Real, R>(a);
#endif
  } else {
#if defined(__SSE4_1__) && !defined(__CUDACC__)
#if defined(__AVX512F__)
    if constexpr (sizeof(R) == 64) {
      if constexpr (is_float)
        return _mm512_mask_roundscale_ps(a, __mmask16(-1), a, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
      else
        return _mm512_mask_roundscale_pd(a, __mmask8(-1), a, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
    } else
#endif
#if defined(__AVX__)
        if constexpr (sizeof(R) == 32) {
      if constexpr (is_float)
        return _mm256_floor_ps(a);
      else
        return _mm256_floor_pd(a);
    } else
#endif
        if constexpr (sizeof(R) == 16) {
      if constexpr (is_float)
        return _mm_floor_ps(a);
      else
        return _mm_floor_pd(a);
    } else
#endif
      return floor_by_rounding<Real, R>(a);
  }
}

/// The largest power of two that is not above |a|; 0 for zero and subnormal numbers.
template <class Real, class R>
TRIBO_HD R power_of_two_below_register(R a) {
  using Bits = bits_of<Real, R>;
  return __builtin_bit_cast(R, Bits(__builtin_bit_cast(Bits, a) & Format<Real>::exponent_mask));
}

/// x = 2^e m with m in [sqrt(1/2), sqrt(2)); with f = m - 1 and s = f / (2 + f),
///   log m = log((1 + s) / (1 - s)) = 2 s + s z P(z),   z = s^2,
/// written as f - (f^2/2 - s (f^2/2 + z P)) so that the largest term carries no rounding error.
template <class Real, class R>
TRIBO_HD R log_register(R x) {
  using Bits = bits_of<Real, R>;
  using F = Format<Real>;
  const Bits shifted = __builtin_bit_cast(Bits, x) + (F::one_bits - F::sqrt_half_bits);
  const R e = __builtin_bit_cast(R, Bits((shifted >> F::mantissa_bits) | F::integer_bits)) - F::integer_bias;
  const R f = __builtin_bit_cast(R, Bits((shifted & F::mantissa_mask) + F::sqrt_half_bits)) - Real(1);
  const R s = f / (f + Real(2));
  const R z = s * s;
  R p = broadcast<Real, R>(F::log_coefficient(F::log_terms - 1));
  for (int i = F::log_terms - 2; i >= 0; --i)
    p = fma_register<Real, R>(p, z, broadcast<Real, R>(F::log_coefficient(i)));
  const R half_f2 = f * f * Real(0.5);
  const R tail = fma_register<Real, R>(s, fma_register<Real, R>(z, p, half_f2), e * F::ln2_low);
  R r = e * F::ln2_high - ((half_f2 - tail) - f);
  // Subnormal numbers count as zero, so that the result does not depend on the flush-to-zero mode.
  constexpr Real smallest = std::numeric_limits<Real>::min();
  constexpr Real infinity = std::numeric_limits<Real>::infinity();
  r = select_register(x < broadcast<Real, R>(smallest), broadcast<Real, R>(-infinity), r);
  r = select_register(x <= broadcast<Real, R>(-smallest), broadcast<Real, R>(std::numeric_limits<Real>::quiet_NaN()),
                      r);
  return select_register(x < broadcast<Real, R>(infinity), r, x);  // +infinity and NaN pass through
}

/// x = n ln 2 + r with |r| <= ln(2) / 2; exp r = 1 + (r + r^2 Q(r)), and 2^n is added to the exponent bits.
template <class Real, class R>
TRIBO_HD R exp_register(R x) {
  using Bits = bits_of<Real, R>;
  using F = Format<Real>;
  constexpr Real log2_e = Real(1.44269504088896340736);
  const R shifted = fma_register<Real, R>(x, broadcast<Real, R>(log2_e), broadcast<Real, R>(F::round_to_integer));
  const R n = shifted - F::round_to_integer;
  R r = fma_register<Real, R>(n, broadcast<Real, R>(-F::ln2_high), x);
  r = fma_register<Real, R>(n, broadcast<Real, R>(-F::ln2_low), r);
  R q = broadcast<Real, R>(F::exp_coefficient(F::exp_terms - 1));
  for (int i = F::exp_terms - 2; i >= 0; --i)
    q = fma_register<Real, R>(q, r, broadcast<Real, R>(F::exp_coefficient(i)));
  const R y = fma_register<Real, R>(r * r, q, r) + Real(1);
  const Bits exponent = __builtin_bit_cast(Bits, shifted) << F::mantissa_bits;
  R result = __builtin_bit_cast(R, Bits(__builtin_bit_cast(Bits, y) + exponent));
  // Results that are not normal numbers are flushed to zero in every mode.
  result = select_register(x < broadcast<Real, R>(F::exp_lowest), broadcast<Real, R>(Real(0)), result);
  result = select_register(x > broadcast<Real, R>(F::exp_highest),
                           broadcast<Real, R>(std::numeric_limits<Real>::infinity()), result);
  return select_register(x <= broadcast<Real, R>(std::numeric_limits<Real>::infinity()), result, x);  // NaN
}

template <class M>
TRIBO_HD bool any_register(M m) {
  if constexpr (std::is_same_v<M, bool>) {
    return m;
  } else {
#if defined(__x86_64__) && !defined(__CUDACC__)
#if defined(__AVX512F__)
    if constexpr (sizeof(M) == 64)
      return _mm512_test_epi32_mask(__m512i(m), __m512i(m)) != 0;
    else
#endif
#if defined(__AVX__)
        if constexpr (sizeof(M) == 32)
      return _mm256_movemask_ps(__m256(m)) != 0;
    else
#endif
        if constexpr (sizeof(M) == 16)
      return _mm_movemask_ps(__m128(m)) != 0;
    else
#endif
    {
      bool r = false;
      for (int i = 0; i < int(sizeof(M) / sizeof(m[0])); ++i) r |= m[i] != 0;
      return r;
    }
  }
}

template <class M>
TRIBO_HD M not_register(M m) {
  if constexpr (std::is_same_v<M, bool>)
    return !m;
  else
    return ~m;
}

}  // namespace lanes_detail

// ---------------------------------------------------------------------------------------------------------------------
// Packs

/// One truth value per lane: the result of comparing packs, the condition of `select`. && and || evaluate both sides,
/// like & and |.
template <class Real, int W>
struct LaneMask {
  using Layout = lanes_detail::Layout<Real, W>;
  static constexpr int registers = Layout::registers;
  typename Layout::MaskRegister v[registers];

  LaneMask() = default;
  TRIBO_HD explicit LaneMask(bool value) {
    for (int k = 0; k < registers; ++k) {
#if defined(__CUDACC__)
      v[k] = value;
#else
      v[k] = typename Layout::MaskRegister{} - typename Layout::MaskElement(value);
#endif
    }
  }
  TRIBO_HD bool operator[](int i) const {
#if defined(__CUDACC__)
    return v[i];
#else
    return v[i / Layout::width][i % Layout::width] != 0;
#endif
  }

  friend TRIBO_HD LaneMask operator&(LaneMask a, LaneMask b) {
    for (int k = 0; k < registers; ++k) a.v[k] = a.v[k] & b.v[k];
    return a;
  }
  friend TRIBO_HD LaneMask operator|(LaneMask a, LaneMask b) {
    for (int k = 0; k < registers; ++k) a.v[k] = a.v[k] | b.v[k];
    return a;
  }
  friend TRIBO_HD LaneMask operator&&(LaneMask a, LaneMask b) { return a & b; }
  friend TRIBO_HD LaneMask operator||(LaneMask a, LaneMask b) { return a | b; }
  friend TRIBO_HD LaneMask operator!(LaneMask a) {
    for (int k = 0; k < registers; ++k) a.v[k] = lanes_detail::not_register(a.v[k]);
    return a;
  }
};

/// W numbers that are computed on together. Scalars convert to a pack of equal lanes.
template <class Real, int W>
struct Lanes {
  using Layout = lanes_detail::Layout<Real, W>;
  using Register = typename Layout::Register;
  using Mask = LaneMask<Real, W>;
  static constexpr int width = Layout::width;
  static constexpr int registers = Layout::registers;
  alignas(Layout::alignment) Register v[registers];

  Lanes() = default;
  TRIBO_HD Lanes(Real x) {
    for (int k = 0; k < registers; ++k) v[k] = lanes_detail::broadcast<Real, Register>(x);
  }

  TRIBO_HD static Lanes load(const Real* p) {
    Lanes r;
    for (int k = 0; k < registers; ++k) __builtin_memcpy(&r.v[k], p + k * width, sizeof(Register));
    return r;
  }
  TRIBO_HD void store(Real* p) const {
    for (int k = 0; k < registers; ++k) __builtin_memcpy(p + k * width, &v[k], sizeof(Register));
  }

  /// The first n lanes (1 <= n <= W) from p; the others repeat lane n - 1, so that they hold valid numbers.
  TRIBO_HD static Lanes load_partial(const Real* p, int n) {
#if defined(__AVX512F__) && !defined(__CUDACC__)
    if constexpr (sizeof(Register) == 64) {
      Lanes r(p[n - 1]);
      for (int k = 0; k < registers; ++k) {
        const unsigned m = lanes_present(n - k * width);
        if constexpr (std::is_same_v<Real, float>)
          r.v[k] = _mm512_mask_loadu_ps(r.v[k], __mmask16(m), p + k * width);
        else
          r.v[k] = _mm512_mask_loadu_pd(r.v[k], __mmask8(m), p + k * width);
      }
      return r;
    }
#endif
    Real lane[W];
    Real last = p[0];
    for (int i = 0; i < W; ++i) {
      if (i < n) last = p[i];
      lane[i] = last;
    }
    return load(lane);
  }
  /// Writes the first n lanes (0 <= n <= W) and nothing else.
  TRIBO_HD void store_partial(Real* p, int n) const {
#if defined(__AVX512F__) && !defined(__CUDACC__)
    if constexpr (sizeof(Register) == 64) {
      for (int k = 0; k < registers; ++k) {
        const unsigned m = lanes_present(n - k * width);
        if constexpr (std::is_same_v<Real, float>)
          _mm512_mask_storeu_ps(p + k * width, __mmask16(m), v[k]);
        else
          _mm512_mask_storeu_pd(p + k * width, __mmask8(m), v[k]);
      }
      return;
    }
#endif
    Real lane[W];
    store(lane);
    for (int i = 0; i < W; ++i)
      if (i < n) p[i] = lane[i];
  }

  TRIBO_HD Real operator[](int i) const {
    if constexpr (std::is_same_v<Register, Real>)
      return v[i];
    else
      return v[i / width][i % width];
  }
  TRIBO_HD void set(int i, Real value) {
    if constexpr (std::is_same_v<Register, Real>)
      v[i] = value;
    else
      v[i / width][i % width] = value;
  }

  friend TRIBO_HD Lanes operator+(Lanes a, Lanes b) {
    for (int k = 0; k < registers; ++k) a.v[k] = a.v[k] + b.v[k];
    return a;
  }
  friend TRIBO_HD Lanes operator-(Lanes a, Lanes b) {
    for (int k = 0; k < registers; ++k) a.v[k] = a.v[k] - b.v[k];
    return a;
  }
  friend TRIBO_HD Lanes operator*(Lanes a, Lanes b) {
    for (int k = 0; k < registers; ++k) a.v[k] = a.v[k] * b.v[k];
    return a;
  }
  friend TRIBO_HD Lanes operator/(Lanes a, Lanes b) {
    for (int k = 0; k < registers; ++k) a.v[k] = a.v[k] / b.v[k];
    return a;
  }
  friend TRIBO_HD Lanes operator-(Lanes a) {
    for (int k = 0; k < registers; ++k) a.v[k] = -a.v[k];
    return a;
  }
  TRIBO_HD Lanes& operator+=(Lanes b) { return *this = *this + b; }
  TRIBO_HD Lanes& operator-=(Lanes b) { return *this = *this - b; }
  TRIBO_HD Lanes& operator*=(Lanes b) { return *this = *this * b; }
  TRIBO_HD Lanes& operator/=(Lanes b) { return *this = *this / b; }

  friend TRIBO_HD Mask operator<(Lanes a, Lanes b) {
    Mask m;
    for (int k = 0; k < registers; ++k) m.v[k] = a.v[k] < b.v[k];
    return m;
  }
  friend TRIBO_HD Mask operator<=(Lanes a, Lanes b) {
    Mask m;
    for (int k = 0; k < registers; ++k) m.v[k] = a.v[k] <= b.v[k];
    return m;
  }
  friend TRIBO_HD Mask operator>(Lanes a, Lanes b) { return b < a; }
  friend TRIBO_HD Mask operator>=(Lanes a, Lanes b) { return b <= a; }
  friend TRIBO_HD Mask operator==(Lanes a, Lanes b) {
    Mask m;
    for (int k = 0; k < registers; ++k) m.v[k] = a.v[k] == b.v[k];
    return m;
  }
  friend TRIBO_HD Mask operator!=(Lanes a, Lanes b) {
    Mask m;
    for (int k = 0; k < registers; ++k) m.v[k] = a.v[k] != b.v[k];
    return m;
  }

 private:
  /// Bit i is set when lane i of a register is among the first n lanes.
  TRIBO_HD static unsigned lanes_present(int n) {
    return n <= 0 ? 0u : n >= width ? (1u << width) - 1u : (1u << n) - 1u;
  }
};

/// The pack that fills one register of this instruction set (16 bytes where there is none to choose). Kernels bound by
/// the latency of an SVD gain from twice the width.
template <class Real>
using default_lanes = Lanes<Real, lanes_detail::register_bytes / int(sizeof(Real))>;

// ---------------------------------------------------------------------------------------------------------------------
// What a scalar type is made of

template <class T>
struct LaneTraits {
  using Scalar = T;
  using Mask = bool;
  static constexpr int count = 1;
};
template <class Real, int W>
struct LaneTraits<Lanes<Real, W>> {
  using Scalar = Real;
  using Mask = LaneMask<Real, W>;
  static constexpr int count = W;
};
/// float or double, also for packs.
template <class T>
using scalar_of = typename LaneTraits<T>::Scalar;
/// What comparing two T gives: bool, or a mask.
template <class T>
using mask_t = typename LaneTraits<T>::Mask;
template <class T>
inline constexpr int lane_count = LaneTraits<T>::count;

// ---------------------------------------------------------------------------------------------------------------------
// Elementary functions. Inside namespace tribo these names hide those of the C library, on purpose: the standard log
// and exp round differently on host and device, and have no pack version.

/// a b + c, rounded once where the instruction set has a fused multiply-add, twice otherwise.
TRIBO_HD float fma(float a, float b, float c) { return lanes_detail::fma_register<float, float>(a, b, c); }
TRIBO_HD double fma(double a, double b, double c) { return lanes_detail::fma_register<double, double>(a, b, c); }
template <class Real, int W>
TRIBO_HD Lanes<Real, W> fma(Lanes<Real, W> a, std::type_identity_t<Lanes<Real, W>> b,
                            std::type_identity_t<Lanes<Real, W>> c) {
  using L = Lanes<Real, W>;
  for (int k = 0; k < L::registers; ++k)
    a.v[k] = lanes_detail::fma_register<Real, typename L::Register>(a.v[k], b.v[k], c.v[k]);
  return a;
}
template <class Real, int W>
TRIBO_HD Lanes<Real, W> fma(std::type_identity_t<Real> a, Lanes<Real, W> b, std::type_identity_t<Lanes<Real, W>> c) {
  return fma(Lanes<Real, W>(a), b, c);
}

/// Exactly rounded square root.
TRIBO_HD float sqrt(float a) { return lanes_detail::sqrt_register<float, float>(a); }
TRIBO_HD double sqrt(double a) { return lanes_detail::sqrt_register<double, double>(a); }
template <class Real, int W>
TRIBO_HD Lanes<Real, W> sqrt(Lanes<Real, W> a) {
  using L = Lanes<Real, W>;
  for (int k = 0; k < L::registers; ++k) a.v[k] = lanes_detail::sqrt_register<Real, typename L::Register>(a.v[k]);
  return a;
}

/// 1 / sqrt(a) from the exact square root and division, never from the approximate instruction.
template <class T>
TRIBO_HD T rsqrt(T a) {
  return T(1) / sqrt(a);
}

TRIBO_HD float abs(float a) { return lanes_detail::abs_register<float, float>(a); }
TRIBO_HD double abs(double a) { return lanes_detail::abs_register<double, double>(a); }
template <std::signed_integral I>
TRIBO_HD I abs(I a) {
  return a < 0 ? -a : a;
}
template <class Real, int W>
TRIBO_HD Lanes<Real, W> abs(Lanes<Real, W> a) {
  using L = Lanes<Real, W>;
  for (int k = 0; k < L::registers; ++k) a.v[k] = lanes_detail::abs_register<Real, typename L::Register>(a.v[k]);
  return a;
}

TRIBO_HD float floor(float a) { return lanes_detail::floor_register<float, float>(a); }
TRIBO_HD double floor(double a) { return lanes_detail::floor_register<double, double>(a); }
template <class Real, int W>
TRIBO_HD Lanes<Real, W> floor(Lanes<Real, W> a) {
  using L = Lanes<Real, W>;
  for (int k = 0; k < L::registers; ++k) a.v[k] = lanes_detail::floor_register<Real, typename L::Register>(a.v[k]);
  return a;
}

/// a < b ? a : b, so b when one of them is NaN: what the minimum instruction of x86 does, in one instruction.
TRIBO_HD float min(float a, float b) { return a < b ? a : b; }
TRIBO_HD double min(double a, double b) { return a < b ? a : b; }
template <std::integral I>
TRIBO_HD I min(I a, I b) {
  return a < b ? a : b;
}
template <class Real, int W>
TRIBO_HD Lanes<Real, W> min(Lanes<Real, W> a, std::type_identity_t<Lanes<Real, W>> b) {
  for (int k = 0; k < Lanes<Real, W>::registers; ++k) a.v[k] = a.v[k] < b.v[k] ? a.v[k] : b.v[k];
  return a;
}
template <class Real, int W>
TRIBO_HD Lanes<Real, W> min(std::type_identity_t<Real> a, Lanes<Real, W> b) {
  return min(Lanes<Real, W>(a), b);
}

/// a > b ? a : b, so b when one of them is NaN.
TRIBO_HD float max(float a, float b) { return a > b ? a : b; }
TRIBO_HD double max(double a, double b) { return a > b ? a : b; }
template <std::integral I>
TRIBO_HD I max(I a, I b) {
  return a > b ? a : b;
}
template <class Real, int W>
TRIBO_HD Lanes<Real, W> max(Lanes<Real, W> a, std::type_identity_t<Lanes<Real, W>> b) {
  for (int k = 0; k < Lanes<Real, W>::registers; ++k) a.v[k] = a.v[k] > b.v[k] ? a.v[k] : b.v[k];
  return a;
}
template <class Real, int W>
TRIBO_HD Lanes<Real, W> max(std::type_identity_t<Real> a, Lanes<Real, W> b) {
  return max(Lanes<Real, W>(a), b);
}

/// Lane by lane, a where the mask holds and b elsewhere.
TRIBO_HD float select(bool m, float a, float b) { return m ? a : b; }
TRIBO_HD double select(bool m, double a, double b) { return m ? a : b; }
template <std::integral I>
TRIBO_HD I select(bool m, I a, I b) {
  return m ? a : b;
}
template <class Real, int W>
TRIBO_HD Lanes<Real, W> select(LaneMask<Real, W> m, std::type_identity_t<Lanes<Real, W>> a,
                               std::type_identity_t<Lanes<Real, W>> b) {
  for (int k = 0; k < Lanes<Real, W>::registers; ++k) a.v[k] = lanes_detail::select_register(m.v[k], a.v[k], b.v[k]);
  return a;
}

TRIBO_HD bool any(bool m) { return m; }
template <class Real, int W>
TRIBO_HD bool any(LaneMask<Real, W> m) {
  auto r = m.v[0];
  for (int k = 1; k < LaneMask<Real, W>::registers; ++k) r = r | m.v[k];
  return lanes_detail::any_register(r);
}
TRIBO_HD bool all(bool m) { return m; }
template <class Real, int W>
TRIBO_HD bool all(LaneMask<Real, W> m) {
  return !any(!m);
}

/// Natural logarithm, below 1 ulp for normal numbers. 0 and subnormal numbers give -infinity, negative ones NaN.
TRIBO_HD float log(float a) { return lanes_detail::log_register<float, float>(a); }
TRIBO_HD double log(double a) { return lanes_detail::log_register<double, double>(a); }
template <class Real, int W>
TRIBO_HD Lanes<Real, W> log(Lanes<Real, W> a) {
  using L = Lanes<Real, W>;
  for (int k = 0; k < L::registers; ++k) a.v[k] = lanes_detail::log_register<Real, typename L::Register>(a.v[k]);
  return a;
}

/// Exponential, below 1.1 ulp; results below the smallest normal number are 0.
TRIBO_HD float exp(float a) { return lanes_detail::exp_register<float, float>(a); }
TRIBO_HD double exp(double a) { return lanes_detail::exp_register<double, double>(a); }
template <class Real, int W>
TRIBO_HD Lanes<Real, W> exp(Lanes<Real, W> a) {
  using L = Lanes<Real, W>;
  for (int k = 0; k < L::registers; ++k) a.v[k] = lanes_detail::exp_register<Real, typename L::Register>(a.v[k]);
  return a;
}

/// The largest power of two that is not above |a| (0 for zero and subnormal a): scaling by it is exact.
TRIBO_HD float power_of_two_below(float a) { return lanes_detail::power_of_two_below_register<float, float>(a); }
TRIBO_HD double power_of_two_below(double a) { return lanes_detail::power_of_two_below_register<double, double>(a); }
template <class Real, int W>
TRIBO_HD Lanes<Real, W> power_of_two_below(Lanes<Real, W> a) {
  using L = Lanes<Real, W>;
  for (int k = 0; k < L::registers; ++k)
    a.v[k] = lanes_detail::power_of_two_below_register<Real, typename L::Register>(a.v[k]);
  return a;
}

/// Lane l of a pack; a number is a pack of one.
TRIBO_HD float lane(float a, int) { return a; }
TRIBO_HD double lane(double a, int) { return a; }
template <class Real, int W>
TRIBO_HD Real lane(const Lanes<Real, W>& a, int l) {
  return a[l];
}

/// The largest lane.
TRIBO_HD float horizontal_max(float a) { return a; }
TRIBO_HD double horizontal_max(double a) { return a; }
template <class Real, int W>
TRIBO_HD Real horizontal_max(Lanes<Real, W> a) {
  if constexpr (W == 1) {
    return a[0];
  } else if constexpr (W == 2) {
    return max(a[0], a[1]);
  } else {
    using Half = Lanes<Real, W / 2>;
    Real lane[W];
    a.store(lane);
    return horizontal_max(max(Half::load(lane), Half::load(lane + W / 2)));
  }
}

#if !defined(__CUDACC__)
namespace lanes_detail {
template <int First, class R, int... I>
TRIBO_HD auto pick(const R& a, const R& b, std::integer_sequence<int, I...>) {
  return __builtin_shufflevector(a, b, (First + I)...);
}
}  // namespace lanes_detail

/// The first (0) or second half (1) of a pack of floats in double, and two of them back.
template <int Half, int W>
TRIBO_HD Lanes<double, W / 2> widened(const Lanes<float, W>& a) {
  static_assert(Lanes<float, W>::registers == 1 && Lanes<double, W / 2>::registers == 1);
  const auto half = lanes_detail::pick<Half * W / 2>(a.v[0], a.v[0], std::make_integer_sequence<int, W / 2>{});
  Lanes<double, W / 2> r;
  r.v[0] = __builtin_convertvector(half, typename Lanes<double, W / 2>::Register);
  return r;
}
template <int W>
TRIBO_HD Lanes<float, 2 * W> narrowed(const Lanes<double, W>& first, const Lanes<double, W>& second) {
  typedef float Half __attribute__((vector_size(W * sizeof(float))));
  const Half a = __builtin_convertvector(first.v[0], Half), b = __builtin_convertvector(second.v[0], Half);
  Lanes<float, 2 * W> r;
  r.v[0] = lanes_detail::pick<0>(a, b, std::make_integer_sequence<int, 2 * W>{});
  return r;
}
#endif

}  // namespace tribo

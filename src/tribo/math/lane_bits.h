#pragma once

#include "tribo/math/lanes.h"

/// \file
/// Masks of packs as the bits of a number, to visit the few lanes that hold one by one.

namespace tribo {

namespace lanes_detail {

/// Bit i is set where element i of a register holds.
template <class M>
TRIBO_HD unsigned bits_register(M m) {
  if constexpr (std::is_same_v<M, bool>) {
    return m ? 1u : 0u;
  } else {
#if defined(__x86_64__) && !defined(__CUDACC__)
    constexpr bool wide = sizeof(m[0]) == 8;
#if defined(__AVX512F__)
    if constexpr (sizeof(M) == 64)
      return wide ? unsigned(_mm512_test_epi64_mask(__m512i(m), __m512i(m)))
                  : unsigned(_mm512_test_epi32_mask(__m512i(m), __m512i(m)));
    else
#endif
#if defined(__AVX__)
        if constexpr (sizeof(M) == 32)
      return unsigned(wide ? _mm256_movemask_pd(__m256d(m)) : _mm256_movemask_ps(__m256(m)));
    else
#endif
        if constexpr (sizeof(M) == 16)
      return unsigned(wide ? _mm_movemask_pd(__m128d(m)) : _mm_movemask_ps(__m128(m)));
    else
#endif
    {
      unsigned bits = 0;
      for (int i = 0; i < int(sizeof(M) / sizeof(m[0])); ++i) bits |= (m[i] != 0 ? 1u : 0u) << i;
      return bits;
    }
  }
}

}  // namespace lanes_detail

/// Bit i is set where lane i of a mask holds.
TRIBO_HD unsigned lane_bits(bool m) { return m ? 1u : 0u; }
template <class Real, int W>
TRIBO_HD unsigned lane_bits(LaneMask<Real, W> m) {
  static_assert(W <= 32);
  unsigned bits = 0;
  for (int k = 0; k < LaneMask<Real, W>::registers; ++k)
    bits |= lanes_detail::bits_register(m.v[k]) << (k * LaneMask<Real, W>::Layout::width);
  return bits;
}

}  // namespace tribo

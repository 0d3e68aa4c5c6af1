#pragma once

#include "core/base/sanitizers.h"

/// Compiles a function for several generations of x86-64; the dynamic loader selects one. The
/// compiler vectorises its loops, so results may differ in the last bit between machines, never
/// between runs on one machine. (Disabled under ThreadSanitizer, which is not ready when the loader
/// selects.)
#if defined(__x86_64__) && !FOREBAY_THREAD_SANITIZER
#define FOREBAY_CLONES __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define FOREBAY_CLONES
#endif

/// Inlined into each clone that calls it.
#define FOREBAY_INLINE [[gnu::always_inline]] inline

/// Compiles a function for machines with AVX-512 alone: call it only if machine_has_avx512().
/// (Disabled with the clones, which then fuse no products, so that both have the same bits.)
#if defined(__x86_64__) && !FOREBAY_THREAD_SANITIZER
#define FOREBAY_AVX512_COMPILES 1
#define FOREBAY_AVX512 [[gnu::target("avx512f,fma")]]
#else
#define FOREBAY_AVX512_COMPILES 0
#endif

namespace forebay {

inline bool machine_has_avx512() {
#if FOREBAY_AVX512_COMPILES
  static const bool has = __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("fma");
  return has;
#else
  return false;
#endif
}

}  // namespace forebay

#pragma once

#include "core/base/sanitizers.h"

/// Compiles a function for several generations of x86-64; the loader picks one. Loops inside are
/// vectorised by the compiler, so results may differ in the last bit between machines, never
/// between runs on one. (The loader's choice runs before ThreadSanitizer is ready.)
#if defined(__x86_64__) && !FOREBAY_THREAD_SANITIZER
#define FOREBAY_CLONES __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define FOREBAY_CLONES
#endif

/// Becomes part of each clone that calls it.
#define FOREBAY_INLINE [[gnu::always_inline]] inline

#pragma once

#include <cstdio>
#include <cstdlib>

/// Aborts when an internal invariant is broken: that is a bug, never a user's mistake.
#define FOREBAY_CHECK(condition)                                                          \
  do {                                                                                    \
    if (!(condition)) [[unlikely]] {                                                      \
      std::fprintf(stderr, "forebay: bug: %s (%s:%d)\n", #condition, __FILE__, __LINE__); \
      std::abort();                                                                       \
    }                                                                                     \
  } while (false)

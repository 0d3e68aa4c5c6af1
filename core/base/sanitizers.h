#pragma once

// FOREBAY_ADDRESS_SANITIZER and FOREBAY_THREAD_SANITIZER: 1 in programs built with them, else 0.
// GCC defines a macro for each sanitizer, clang has __has_feature.
#if defined(__has_feature)
#define FOREBAY_HAS_FEATURE(feature) __has_feature(feature)
#else
#define FOREBAY_HAS_FEATURE(feature) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || FOREBAY_HAS_FEATURE(address_sanitizer)
#define FOREBAY_ADDRESS_SANITIZER 1
#else
#define FOREBAY_ADDRESS_SANITIZER 0
#endif

#if defined(__SANITIZE_THREAD__) || FOREBAY_HAS_FEATURE(thread_sanitizer)
#define FOREBAY_THREAD_SANITIZER 1
#else
#define FOREBAY_THREAD_SANITIZER 0
#endif

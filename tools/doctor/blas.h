#pragma once

#include <string>
#include <string_view>

namespace forebay {

/// Which library multiplies matrices for libtorch.
struct Blas {
  enum class Kind : unsigned char { kFast, kReference, kUnknown, kNone };

  Kind kind = Kind::kNone;
  std::string path;  ///< Empty for kNone: libtorch then brings its own.
};

/// Finds it among the files mapped into a process, given as /proc/PID/maps has them.
Blas find_blas(std::string_view maps);

}  // namespace forebay

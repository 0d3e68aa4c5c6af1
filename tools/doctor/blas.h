#pragma once

#include <string>
#include <string_view>

namespace forebay {

/// The library that multiplies matrices for libtorch.
struct Blas {
  enum class Kind : unsigned char { kFast, kReference, kUnknown, kNone };

  Kind kind = Kind::kNone;
  std::string path;  ///< Empty for kNone: libtorch then uses its own.
};

/// Finds it among the files mapped into a process, given in the format of /proc/PID/maps.
Blas find_blas(std::string_view maps);

}  // namespace forebay

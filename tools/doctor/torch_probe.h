#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace forebay {

/// The library that multiplies matrices for libtorch.
struct Blas {
  enum class Kind : unsigned char { kFast, kReference, kUnknown, kNone };

  Kind kind = Kind::kNone;
  std::string path;  ///< Empty for kNone: libtorch then uses its own.
};

/// Finds it among the files mapped into a process, given in the format of /proc/PID/maps.
Blas find_blas(std::string_view maps);

/// The result of loading the trainer's module.
struct TorchProbe {
  std::string version;      ///< Version of libtorch.
  std::uint64_t bytes = 0;  ///< Resident memory that it uses once it is loaded.
  Blas blas;
};

/// Loads the trainer's module in a child process, so that this process stays small and survives a
/// broken library. Call it before any thread is started. Errors say what to install; kUnavailable
/// "stopped" after a stop request, kTimeout after a minute.
Result<TorchProbe> probe_torch();

}  // namespace forebay

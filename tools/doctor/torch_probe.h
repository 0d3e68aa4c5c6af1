#pragma once

#include <cstdint>
#include <string>

#include "core/base/result.h"
#include "tools/doctor/blas.h"

namespace forebay {

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

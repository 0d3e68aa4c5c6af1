#pragma once

#include <cstdint>
#include <string>

#include "core/base/result.h"
#include "tools/doctor/blas.h"

namespace forebay {

/// What opening the trainer's module showed.
struct TorchProbe {
  std::string version;      ///< Of libtorch.
  std::uint64_t bytes = 0;  ///< Resident memory that it takes once it is loaded.
  Blas blas;
};

/// Opens the trainer's module in a child process, so that this one stays small and survives a
/// library that does not. Call it before any thread is started. Errors say what to install;
/// kUnavailable "stopped" after a stop was asked for, kTimeout after a minute.
Result<TorchProbe> probe_torch();

}  // namespace forebay

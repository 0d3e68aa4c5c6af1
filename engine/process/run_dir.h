#pragma once

#include <string>
#include <utility>

#include "core/base/descriptor.h"
#include "core/base/result.h"

namespace forebay {

/// A job's own folder (`.forebay`), locked by one run at a time.
///
/// Created if it does not exist. Holds a lock that the kernel releases however the process ends, so
/// that a killed run blocks no later one. kUnavailable names the process that holds the lock.
class RunDir {
 public:
  static Result<RunDir> hold(const std::string& path);

 private:
  explicit RunDir(Descriptor lock) : lock_(std::move(lock)) {}

  Descriptor lock_;
};

}  // namespace forebay

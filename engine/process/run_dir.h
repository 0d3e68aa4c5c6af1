#pragma once

#include <string>

#include "core/base/result.h"

namespace forebay {

/// A job's own folder (`.forebay`), locked by one run at a time.
///
/// Created if it does not exist. Holds a lock that the kernel releases however the process ends, so
/// that a killed run blocks no later one. kUnavailable names the process that holds the lock.
class RunDir {
 public:
  static Result<RunDir> hold(const std::string& path);
  RunDir(RunDir&& other) noexcept : lock_(other.lock_) { other.lock_ = -1; }
  RunDir& operator=(RunDir&&) = delete;
  ~RunDir();

 private:
  explicit RunDir(int lock) : lock_(lock) {}

  int lock_;
};

}  // namespace forebay

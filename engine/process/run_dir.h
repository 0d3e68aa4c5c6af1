#pragma once

#include <string>

#include "core/base/result.h"

namespace forebay {

/// A job's own folder (`.forebay`), held by one run at a time.
///
/// Made when it is not there. Holds a lock that the kernel lets go of however the process ends,
/// so a killed run blocks nobody. kUnavailable names the process that holds it.
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

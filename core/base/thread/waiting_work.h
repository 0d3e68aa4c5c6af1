#pragma once

#include <functional>

namespace forebay {

/// Lets a thread that waits for something do the work that brings it, instead of sleeping until
/// another thread has done it and wakes it. Thread-safe; may outlive the owner of the work.
class WaitingWork {
 public:
  virtual ~WaitingWork() = default;

  /// Works on the calling thread until `done`, which must be cheap, returns true. May return
  /// earlier: when another thread helps already, or the work is over for good. Must not be called
  /// from a callback of the work.
  virtual void help_until(const std::function<bool()>& done) = 0;

  /// Lets the helping thread, if there is one, call `done` again.
  virtual void look_again() = 0;
};

}  // namespace forebay

#pragma once

#include <mutex>
#include <utility>

namespace forebay {

/// Runs functions of any thread one at a time: for a few values that several threads share and none
/// owns. What runs must be short, and not come back.
class Serial {
 public:
  template <class Function>
  decltype(auto) operator()(Function&& function) const {
    const std::lock_guard lock(mutex_);
    return std::forward<Function>(function)();
  }

 private:
  mutable std::mutex mutex_;
};

}  // namespace forebay

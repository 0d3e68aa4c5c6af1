#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "actors/input/file_system.h"
#include "core/base/result.h"
#include "engine/run/watch/stall_watch.h"

namespace forebay {

/// Watches the opening of a dataset, which reads files and stores before there are stages to watch.
///
/// Says once in each stall, after `run.stall_after`, that no request was made and less than 64 KiB
/// were read; after `run.stall_fail` it asks the opening to stop. look() is called a few times a
/// second by one thread, has_failed() by any.
class OpeningWatch {
 public:
  struct Options {
    StallWatch::Limits limits;
    std::shared_ptr<const IoCounts> counts;
    std::function<void(const std::string&)> say;
  };

  OpeningWatch(Options options, std::chrono::nanoseconds now)
      : options_(std::move(options)), stalls_(options_.limits, now) {}

  void look(std::chrono::nanoseconds now);

  /// Whether the opening has to stop, with error().
  bool has_failed() const { return failed_; }
  /// kTimeout. Once look() is not called any more.
  Error error() const;

 private:
  std::string progress(std::chrono::nanoseconds now) const;

  const Options options_;
  StallWatch stalls_;
  std::string failure_;
  std::atomic<bool> failed_{false};
};

}  // namespace forebay

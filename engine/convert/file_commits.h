#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>

#include "core/base/clock.h"
#include "core/base/result.h"
#include "core/base/whole_file.h"
#include "core/runtime/ask.h"
#include "core/runtime/own_threads.h"

namespace forebay {

/// Gives complete files their names by an actor on a thread of its own, one after another, since a
/// disk takes long to confirm that it has all of a file.
///
/// Holds at most kMost files and functions. After a failure it drops what it has and what is added;
/// a function that throws fails. Belongs to one thread.
class FileCommits {
 public:
  static constexpr std::size_t kMost = 4;

  /// Throws NoThread.
  FileCommits();

  /// Commits `file` after all that was added before. Waits while there are kMost. Returns the first
  /// error so far.
  Status add(std::unique_ptr<FileAside> file);
  /// Calls `work` after all that was added before; the rest is as in add().
  Status then(std::function<Status()> work);
  /// Waits until all is done. Returns the first error.
  Status finish() { return wait_for_fewer(1); }

 private:
  struct Step;
  class Committing;

  Status wait_for_fewer(std::size_t open);

  std::deque<Answer<void>> open_;
  std::optional<Error> failed_;
  SystemClock clock_;
  OwnThreads threads_;
  ActorRef<Step> actor_;
};

}  // namespace forebay

#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>

#include "core/base/result.h"
#include "core/base/thread/background_worker.h"
#include "core/base/whole_file.h"
#include "core/runtime/synchronized.h"

namespace forebay {

/// Gives complete files their names on a thread of its own, one after another, since a disk takes
/// long to confirm that it has all of a file.
///
/// Holds at most kMost files and functions. After a failure it drops what it has and what is added.
/// The functions must not throw. Belongs to one thread.
class FileCommits {
 public:
  static constexpr std::size_t kMost = 4;

  /// Commits `file` after all that was added before. Waits while there are kMost. Returns the first
  /// error so far.
  Status add(std::unique_ptr<FileAside> file);
  /// Calls `work` after all that was added before; the rest is as in add().
  Status then(std::function<Status()> work);
  /// Waits until all is done. Returns the first error.
  Status finish();

 private:
  struct Progress {
    std::size_t open = 0;
    std::optional<Error> failed;
  };

  Status wait_for_fewer(std::size_t open);

  Synchronized<Progress> progress_;
  BackgroundWorker worker_{"the thread that names complete files"};
};

}  // namespace forebay

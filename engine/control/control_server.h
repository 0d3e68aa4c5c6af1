#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "core/base/descriptor.h"
#include "core/base/result.h"
#include "core/base/thread/start_thread.h"

namespace forebay {

/// Answers `forebay set`, `status`, `top` and `trace` while a job runs: a Unix socket in the job's
/// folder that only the folder's owner may use; requests and answers are one line of JSON each,
/// requests of at most kMostControlBytes.
///
/// Owns the socket, which it removes at its end, and a thread. This process must hold the lock of
/// the folder; then a socket found in it was left by a killed run. Serves one client at a time, and
/// disconnects one that takes more than a second to send its line or to receive the answer.
class ControlServer {
 public:
  using Set = std::function<Result<std::string>(const std::string& key, const std::string& value)>;

  /// Returns a line of JSON; "{}" while there is nothing to show.
  using Query = std::function<std::string()>;
  struct Queries {
    Query status = {};  ///< The job's current state.
    Query trace = {};   ///< The job's last splits (engine/trace/run_trace.h).
  };

  static Result<std::unique_ptr<ControlServer>> open(const std::string& run_dir, Set set,
                                                     Queries queries);
  ~ControlServer();

 private:
  ControlServer(Descriptor folder, Descriptor socket, Set set, Queries queries);
  void serve();
  void answer(int caller) const;

  const Descriptor folder_;
  const Descriptor socket_;
  const Set set_;
  const Queries queries_;
  std::atomic<bool> ended_{false};
  std::unique_ptr<Thread> thread_;
};

}  // namespace forebay

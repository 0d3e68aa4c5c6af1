#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "core/base/descriptor.h"
#include "core/base/result.h"
#include "core/base/start_thread.h"

namespace forebay {

/// Answers `forebay set`, `status`, `top` and `trace` while a job runs: a Unix socket in the job's
/// folder that only the folder's owner may use; requests and answers are one line of JSON each,
/// requests of at most kMostBytes.
///
/// Owns the socket, which it removes at its end, and a thread. This process must hold the lock of
/// the folder; then a socket found in it was left by a killed run. Serves one client at a time;
/// disconnects a client that sends nothing for a second.
class ControlServer {
 public:
  static constexpr std::size_t kMostBytes = 4096;
  using Set = std::function<Result<std::string>(const std::string& key, const std::string& value)>;

  /// Returns a line of JSON; "{}" while there is nothing to show.
  using Query = std::function<std::string()>;
  struct Queries {
    Query status = {};  ///< The job's current state.
    Query trace = {};   ///< The job's last splits (engine/trace/history_text.h).
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

/// Asks the job that runs in `run_dir` for a change; returns a description of what it did.
/// kNotFound: no job runs there.
Result<std::string> ask_to_set(const std::string& run_dir, const std::string& key,
                               const std::string& value);

/// Returns the state of the job that runs in `run_dir`, as a line of JSON of at most
/// kMostLookBytes. kNotFound: no job runs there.
Result<std::string> ask_to_look(const std::string& run_dir);
/// Returns the job's last splits in the same way.
Result<std::string> ask_to_trace(const std::string& run_dir);
inline constexpr std::size_t kMostLookBytes = std::size_t{4} << 20;

}  // namespace forebay

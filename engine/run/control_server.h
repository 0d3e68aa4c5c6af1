#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "core/base/descriptor.h"
#include "core/base/result.h"
#include "core/runtime/thread.h"

namespace forebay {

/// Answers `forebay set`, `status`, `top` and `trace` while a job runs: a Unix socket in the job's
/// folder that its owner alone may use, a line of JSON each way, questions of at most kMostBytes.
///
/// Owns the socket, which it removes at its end, and a thread. The folder must be held by this
/// process, so that a socket found in it is one that a killed run left. One caller at a time; one
/// that says nothing for a second is let go.
class ControlServer {
 public:
  static constexpr std::size_t kMostBytes = 4096;
  using Set = std::function<Result<std::string>(const std::string& key, const std::string& value)>;

  /// A line of JSON; "{}" while there is nothing to see.
  using Query = std::function<std::string()>;
  struct Queries {
    Query status = {};  ///< The job at this moment.
    Query trace = {};   ///< Its last splits (engine/trace/history_text.h).
  };

  static Result<std::unique_ptr<ControlServer>> open(const std::string& run_dir, Set set,
                                                     Queries queries);
  static Result<std::unique_ptr<ControlServer>> open(const std::string& run_dir, Set set) {
    return open(run_dir, std::move(set), Queries{});
  }
  ~ControlServer();
  ControlServer(const ControlServer&) = delete;
  ControlServer& operator=(const ControlServer&) = delete;

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

/// Asks the job that runs in `run_dir` for a change; what it did, in words. kNotFound when none
/// runs there.
Result<std::string> ask_to_set(const std::string& run_dir, const std::string& key,
                               const std::string& value);

/// How the job that runs in `run_dir` is, as a line of JSON of at most kMostLookBytes. kNotFound
/// when none runs there.
Result<std::string> ask_to_look(const std::string& run_dir);
/// The same of its last splits.
Result<std::string> ask_to_trace(const std::string& run_dir);
inline constexpr std::size_t kMostLookBytes = std::size_t{4} << 20;

}  // namespace forebay

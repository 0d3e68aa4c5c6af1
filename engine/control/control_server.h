#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "core/base/descriptor.h"
#include "core/base/result.h"
#include "core/base/thread/start_thread.h"

namespace forebay {

/// Functions for both sides of a job's control socket. The socket is opened relative to its
/// folder's descriptor, since the path of a socket is limited to 107 bytes.
inline constexpr const char* kControlName = "control";

/// Opens the folder; kNotFound: it does not exist.
Result<Descriptor> open_folder(const std::string& path);
/// Makes a socket with a timeout of `seconds` for the other side.
Result<Descriptor> make_socket(int seconds);
/// Connects the socket to the control socket of a folder; returns whether that succeeded.
bool connect_control(int socket, int folder);
/// Receives one line of at most `most` bytes, without its end; kTimeout, kCorrupt.
Result<std::string> receive_line(int socket, std::size_t most);
bool send_line(int socket, const std::string& line);

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

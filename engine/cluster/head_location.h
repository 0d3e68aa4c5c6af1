#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/result.h"
#include "core/runtime/synchronized.h"
#include "engine/network/network_endpoint.h"
#include "scheduler/worker/worker_actor.h"

namespace forebay {

/// Location of the head: a fixed address, or a file that holds the address. The file is read again
/// while no head answers, so that a head that restarts at another address is found.
///
/// `net` outlives it. Any thread.
class HeadLocation {
 public:
  /// `given`: "H:P", "tcp://H:P" or a file whose first line is one of them.
  HeadLocation(std::string given, NetworkEndpoint& net, std::function<void(const std::string&)> say)
      : given_(std::move(given)), net_(net), say_(std::move(say)) {}

  /// Keeps a session with the head from now on. kInvalid: the address can never work. If the file
  /// does not exist yet, the location waits for it.
  Status open();

  /// Reads the file again if the address that it gave cannot be reached. To be called periodically.
  void look();

  /// "H:P"; empty until the file holds an address.
  std::string address() const;

  /// Returns the head's actor `name`, or an empty ref while there is no session.
  template <class Ref>
  Ref actor(std::string_view name) const {
    return net_.actor<Ref>(address(), name);
  }

 private:
  Status read();
  Status move_to(const std::string& address);

  const std::string given_;
  NetworkEndpoint& net_;
  const std::function<void(const std::string&)> say_;
  std::string trouble_;  // belongs to the caller of look()
  const Synchronized<> serial_{};
  std::string address_;  // guarded by serial_
};

/// Returns this machine's host name as other nodes can resolve it.
std::string host_name();

/// Returns "H:P" as other nodes can connect to it: if H means every interface, this machine's name
/// replaces H.
std::string reachable(const std::string& address);

/// The program's version, which must be equal on all nodes of a job.
std::string program_version();
/// A digest of the operators this program knows; must be equal on all nodes, too.
std::string operators_digest();

/// Returns the options common to all workers of this process; the caller fills in the rest.
scheduler::WorkerOptions worker_here(const std::string& name);

}  // namespace forebay

#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/runtime/synchronized.h"
#include "engine/cluster/network_endpoint.h"

namespace forebay {

/// Where the head is: at an address, or at the one that stands in a file, which is read again while
/// nobody answers, so that a head that has come back elsewhere is found.
///
/// `net` outlives it. Any thread.
class HeadLocation {
 public:
  /// `given`: "H:P", "tcp://H:P" or a file whose first line is one of them.
  HeadLocation(std::string given, NetworkEndpoint& net, std::function<void(const std::string&)> say)
      : given_(std::move(given)), net_(net), say_(std::move(say)) {}

  /// Keeps a session with the head from now on. kInvalid: what can never work. A file that is not
  /// there yet is waited for.
  Status open();

  /// Reads the file again when nobody is at the address that stood there. Now and then.
  void look();

  /// "H:P"; empty while the file says nothing.
  std::string address() const;

  /// The head's actor called `name`; a ref that names nobody while there is no session.
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
  std::string trouble_;  // the caller's of look()
  const Synchronized<> serial_{};
  std::string address_;  // under serial_
};

}  // namespace forebay

#pragma once

#include <cstdint>
#include <string>

#include "core/base/result.h"

namespace forebay {

/// The parts of "HOST:PORT"; an IPv6 host is written in brackets.
struct HostPort {
  std::string host;
  std::uint16_t port = 0;

  std::string text() const;
};

/// Parses "HOST:PORT" with a port of 0 to 65535; refuses other text. `localhost` becomes 127.0.0.1.
Result<HostPort> parse_address(const std::string& address);

/// Whether `host` is a loopback address, which only this machine can reach: 127.0.0.0/8 or ::1.
bool is_loopback(const std::string& host);

/// Checks an address before a socket is opened, for listening and for connecting. A loopback
/// address needs no keys; any other address without keys is refused with kInvalid.
Status check_address_policy(const std::string& address, bool has_keys);

/// Finds a port that is free on the loopback interface now, for a process started later. Another
/// program may take the port first.
Result<std::uint16_t> free_port();

}  // namespace forebay

#pragma once

#include <chrono>
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

/// The port that a socket is bound to, or 0.
std::uint16_t local_port(int socket);

/// Finds a port that is free on the loopback interface now, for a process started later. Another
/// program may take the port first.
Result<std::uint16_t> free_port();

/// Returns whether a process listens at HOST:PORT. Waits at most `most` for each address of `host`,
/// and for the resolution of its name.
bool is_listened_at(const std::string& host, std::uint16_t port, std::chrono::milliseconds most);

/// Returns 0 if this port is free on every address of this host, else the error of opening or
/// binding a socket there.
int try_port(std::uint16_t port);

}  // namespace forebay

#pragma once

#include <cstdint>
#include <string>

#include "core/base/result.h"

namespace forebay {

/// "HOST:PORT" taken apart; an IPv6 host stands in brackets.
struct HostPort {
  std::string host;
  std::uint16_t port = 0;

  std::string text() const;
};

/// Refuses what is not "HOST:PORT" with a port of 0 … 65535. `localhost` is 127.0.0.1.
Result<HostPort> parse_address(const std::string& address);

/// Whether only this machine can reach `host`: 127.0.0.0/8 or ::1.
bool is_loopback(const std::string& host);

/// Loopback needs no keys; any other address without them is refused with kInvalid, before a socket
/// opens. For listening and for connecting.
Status check_address_policy(const std::string& address, bool has_keys);

}  // namespace forebay

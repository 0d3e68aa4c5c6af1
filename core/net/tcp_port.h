#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace forebay {

/// Returns whether a process listens at HOST:PORT. Waits at most `most` for each address of `host`,
/// and for the resolution of its name.
bool is_listened_at(const std::string& host, std::uint16_t port, std::chrono::milliseconds most);

/// Returns 0 if this port is free on every address of this host, else the error of opening or
/// binding a socket there.
int try_port(std::uint16_t port);

}  // namespace forebay

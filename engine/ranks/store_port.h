#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "core/base/result.h"

namespace forebay {

/// Returns whether a process listens at HOST:PORT. Check this before libtorch connects: libtorch
/// retries without a way to cancel it, and logs each try. Waits at most `most` for each address of
/// `host`, and for the resolution of its name.
bool is_listened_at(const std::string& host, std::uint16_t port, std::chrono::milliseconds most);

/// kInvalid: another process listens at MASTER_PORT on this machine already.
Status check_port_is_free(std::uint16_t port);

}  // namespace forebay

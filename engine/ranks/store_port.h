#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "core/base/result.h"

namespace forebay {

/// Whether a process listens at HOST:PORT, to be asked before libtorch is: it tries again and again
/// by itself, which nothing ends, and logs each try. Waits at most `most` for each address of
/// `host`, and for its name to be resolved.
bool is_listened_at(const std::string& host, std::uint16_t port, std::chrono::milliseconds most);

/// kInvalid where another process listens at MASTER_PORT of this machine already.
Status check_port_is_free(std::uint16_t port);

}  // namespace forebay

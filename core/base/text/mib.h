#pragma once

#include <cstdint>
#include <string>

namespace forebay {

/// Returns `bytes` in MiB, rounded up, for a message: `7 MiB`.
std::string in_mib(std::uint64_t bytes);

/// The same as a key or an option takes it: `7MiB`.
std::string as_mib_value(std::uint64_t bytes);

}  // namespace forebay

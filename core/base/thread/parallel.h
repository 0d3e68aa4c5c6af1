#pragma once

#include <cstddef>
#include <functional>

namespace forebay {

/// Calls body(0) … body(count - 1), each once, and starts them in that order. Uses at most
/// `threads` threads including the caller's, or fewer when the system cannot start more. Returns
/// when all calls have ended; `body` must not throw.
void for_each_in_parallel(std::size_t count, int threads,
                          const std::function<void(std::size_t)>& body);

}  // namespace forebay

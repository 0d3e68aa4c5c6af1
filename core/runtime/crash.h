#pragma once

#include <exception>
#include <new>
#include <optional>
#include <utility>

#include "core/base/error.h"

namespace forebay {

/// Runs a handler and converts an exception into an Error with the exception's message.
///
/// The only catch-all: for exceptions of libraries, out of memory, and bugs in handlers.
template <class Handler>
std::optional<Error> catch_crash(Handler&& handler) {
  try {
    std::forward<Handler>(handler)();
    return std::nullopt;
  } catch (const std::bad_alloc&) {
    return Error{Code::kUnavailable, "out of memory"};
  } catch (const std::exception& thrown) {
    return Error{Code::kUnavailable, thrown.what()};
  } catch (...) {
    return Error{Code::kUnavailable, "an exception without words"};
  }
}

}  // namespace forebay

#pragma once

#include <utility>

#include <forebay/loader.h>

namespace forebay::python {

/// Raises the exception of `forebay` that stands for `error`: ConfigError, DataError, StallError or
/// Error, with the message and the key.
[[noreturn]] void raise(const LoaderError& error);

/// The value of a call of the loader; raises its error.
template <class T>
T value_or_raise(LoaderResult<T> result) {
  if (!result) raise(result.error());
  return std::move(*result);
}

}  // namespace forebay::python

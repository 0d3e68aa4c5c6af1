#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <string>
#include <type_traits>

#include <ATen/core/Tensor.h>

#include "core/base/result.h"

namespace forebay {

/// A size as libtorch takes it.
constexpr std::int64_t extent(std::size_t size) { return static_cast<std::int64_t>(size); }

/// The values of a tensor in host memory.
template <class T>
std::span<T> values_of(const at::Tensor& tensor) {
  return {tensor.data_ptr<T>(), static_cast<std::size_t>(tensor.numel())};
}

/// Calls `work` and turns libtorch's exceptions into an Error of one line.
template <class Work>
Result<std::invoke_result_t<Work>> guard_torch(const Work& work) {
  try {
    if constexpr (std::is_void_v<std::invoke_result_t<Work>>) {
      work();
      return {};
    } else {
      return work();
    }
  } catch (const std::exception& error) {
    // libtorch appends a stack trace from the second line on.
    std::string message = error.what();
    message.erase(0, std::min(message.find_first_not_of('\n'), message.size()));
    message.resize(std::min(message.find('\n'), message.size()));
    return fail(Code::kUnavailable, "the trainer's library refused: " + message);
  }
}

}  // namespace forebay

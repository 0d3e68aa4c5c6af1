#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <ATen/core/Tensor.h>

namespace forebay {

/// A size as libtorch takes it.
constexpr std::int64_t extent(std::size_t size) { return static_cast<std::int64_t>(size); }

/// The values of a tensor in host memory.
template <class T>
std::span<T> values_of(const at::Tensor& tensor) {
  return {tensor.data_ptr<T>(), static_cast<std::size_t>(tensor.numel())};
}

}  // namespace forebay

#pragma once

#include <cstddef>
#include <cstdint>

namespace forebay {

/// A size as libtorch takes it.
constexpr std::int64_t extent(std::size_t size) { return static_cast<std::int64_t>(size); }

}  // namespace forebay

#pragma once

#include <concepts>
#include <span>
#include <string_view>

#include "core/wire/codec.h"

namespace forebay {

/// A message that can be sent to another process: it has a tag and lists its fields.
template <class M>
concept Travels = Fielded<M> && requires {
  { M::kTag } -> std::convertible_to<std::string_view>;
};

/// Appends the message's fields to `out`. The transport carries the tag.
template <Travels M>
void encode(const M& message, WireBuffer& out, WireContext* context = nullptr) {
  encode_value(message, out, context);
}

/// Decodes the message whose fields fill all of `bytes`; kCorrupt names the tag and the field.
template <Travels M>
Result<M> decode(std::span<const std::byte> bytes, std::span<Frame> frames = {},
                 WireContext* context = nullptr) {
  return decode_value<M>(M::kTag, bytes, frames, context);
}

}  // namespace forebay

#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "core/base/result.h"
#include "core/wire/frame.h"
#include "engine/emulated/modelled_trainer.h"

namespace forebay {

struct OnWire {
  std::uint64_t node = 0;
  double ready = 0;
};

/// A modelled split on the wire: one frame with the node and the time of MadeSplit. The bytes that
/// the model gives a split are counted, never sent.
inline Frames frames_of(const MadeSplit& made) {
  const OnWire values{.node = made.node, .ready = made.ready};
  auto bytes = std::make_shared<std::vector<std::byte>>(sizeof values);
  std::memcpy(bytes->data(), &values, sizeof values);
  return {Frame(bytes, bytes->data(), bytes->size())};
}

/// kCorrupt: these are not such frames of a world of so many nodes.
inline Result<MadeSplit> split_of(std::uint64_t number, const Frames& frames, std::size_t nodes) {
  OnWire values{};
  if (frames.size() == 1 && frames[0].size() == sizeof values) {
    std::memcpy(&values, frames[0].data(), sizeof values);
    if (values.node < nodes) return MadeSplit{number, values.node, values.ready};
  }
  return fail(Code::kCorrupt, "the frames are not those of a modelled split");
}

}  // namespace forebay

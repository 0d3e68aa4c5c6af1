#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>

#include "core/runtime/actor_ref.h"
#include "core/runtime/message.h"
#include "core/wire/frame.h"

namespace forebay::scheduler {

/// Messages between workers and the split client: announcements of splits, and the splits
/// themselves.

/// Split client → worker: send this split; the client has space for it.
struct Pull {
  static constexpr std::string_view kTag = "cluster.pull/1";
  std::uint64_t split = 0;
  static auto fields(auto& self) { return std::tie(self.split); }
};

/// Split client → worker: drop this split; it has arrived already.
struct Drop {
  static constexpr std::string_view kTag = "cluster.drop/1";
  std::uint64_t split = 0;
  static auto fields(auto& self) { return std::tie(self.split); }
};

using HolderRef = ActorRef<Pull, Drop>;

/// Worker → split client: announces a split of `bytes` bytes. The client answers with Pull or Drop.
struct Ready {
  static constexpr std::string_view kTag = "cluster.ready/1";
  std::uint64_t split = 0;
  std::uint64_t bytes = 0;
  HolderRef holder;
  bool sent = false;  ///< The split was pulled and sent already; this only asks whether it arrived.
  static auto fields(auto& self) {
    return std::tie(self.split, self.bytes, self.holder, self.sent);
  }
};

/// Worker → split client: the split, as frames for core/wire/column_frames.h.
struct Deliver {
  static constexpr std::string_view kTag = "cluster.deliver/1";
  std::uint64_t split = 0;
  std::string worker;  ///< The worker's name.
  Frames frames;
  static auto fields(auto& self) { return std::tie(self.split, self.worker, self.frames); }
};
inline std::size_t bytes_of(const Deliver& deliver) {
  return sizeof(deliver) + forebay::bytes_of(deliver.frames);
}

/// Worker → split client of the same process: the pools have passed this split directly to the
/// reorder buffer.
struct HandedOn {
  static constexpr std::string_view kTag = "cluster.handed_on/1";
  std::uint64_t split = 0;
  static auto fields(auto& self) { return std::tie(self.split); }
};

using SplitClientRef = ActorRef<Ready, Deliver, HandedOn>;

}  // namespace forebay::scheduler

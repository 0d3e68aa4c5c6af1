#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>

#include "core/runtime/actor_ref.h"
#include "core/runtime/message.h"
#include "core/wire/frame.h"
#include "engine/actors/objects/object_info.h"

namespace forebay {

/// Name under which a process publishes its object store.
inline constexpr std::string_view kObjectStoreName = "objects";

/// Bytes of an object.
struct ObjectChunk {
  std::uint64_t offset = 0;
  Frames bytes;
  static auto fields(auto& self) { return std::tie(self.offset, self.bytes); }
};

/// Store → store: give me these bytes. A store that is receiving the object answers when it has
/// them.
struct PullObject {
  static constexpr std::string_view kTag = "objects.pull/1";
  using Reply = ObjectChunk;
  ObjectKey key;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  static auto fields(auto& self) { return std::tie(self.key, self.offset, self.size); }
};

/// A store that has borrowed an object, as its owner knows it.
using ObjectHolderRef = ActorRef<PullObject>;

/// Store → owner: references to this object are in my process. It holds until ReleaseObject, or
/// until the session ends. `address`: where others reach it; "": they cannot.
struct HoldObject {
  static constexpr std::string_view kTag = "objects.hold/1";
  ObjectKey key;
  ObjectHolderRef holder;
  std::string address;
  static auto fields(auto& self) { return std::tie(self.key, self.holder, self.address); }
};

/// Store → owner: the last reference in my process has gone.
struct ReleaseObject {
  static constexpr std::string_view kTag = "objects.release/1";
  ObjectKey key;
  ObjectHolderRef holder;
  static auto fields(auto& self) { return std::tie(self.key, self.holder); }
};

/// Store → owner: from where do I fetch the object? The answer is the address of a store that has
/// it or receives it, or "": from the owner. `failed` is the source before that gave nothing.
struct LocateObject {
  static constexpr std::string_view kTag = "objects.locate/1";
  using Reply = std::string;
  ObjectKey key;
  ObjectHolderRef holder;
  std::string failed;
  static auto fields(auto& self) { return std::tie(self.key, self.holder, self.failed); }
};

/// Store → owner: I have all bytes of the object.
struct ObjectFetched {
  static constexpr std::string_view kTag = "objects.fetched/1";
  ObjectKey key;
  ObjectHolderRef holder;
  static auto fields(auto& self) { return std::tie(self.key, self.holder); }
};

using ObjectStoreRef = ActorRef<PullObject, HoldObject, ReleaseObject, LocateObject, ObjectFetched>;

}  // namespace forebay

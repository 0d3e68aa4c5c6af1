#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include <forebay/object.h>

#include "core/base/result.h"
#include "core/runtime/synchronized.h"
#include "core/wire/frame.h"
#include "engine/actors/objects/object_info.h"
#include "engine/actors/objects/spill_file.h"

namespace forebay {

/// The bytes of the objects in this process, within limits: in memory, or on the disk those that
/// were used longest ago and that no view pins.
///
/// Counts bytes as long as anybody holds their frame, also after erase(). Thread-safe; while bytes
/// are written to the disk or read from it, other calls wait.
class ObjectMemory {
 public:
  explicit ObjectMemory(const actors::ObjectLimits& limits)
      : limit_(limits.memory_bytes), state_(limits) {}

  /// New memory for an object that arrives.
  struct Buffer {
    Frame frame;
    std::byte* data = nullptr;
  };

  /// The same bytes, counted. kInvalid: they are more than all objects may take; kOverloaded: those
  /// that are here leave no room. The same holds for allocate().
  Result<Frame> count(Frame bytes);
  Result<Buffer> allocate(std::uint64_t size);

  /// Keeps counted bytes under the object's key.
  void add(const ObjectInfo& info, Frame counted);
  /// An object of this process whose bytes are in memory and, by their size and digest, likely the
  /// same.
  std::optional<std::pair<ObjectKey, Frame>> find_like(const ObjectInfo& info);
  /// The object's bytes if they are in memory.
  std::optional<Frame> resident(const ObjectKey& key);
  /// The object's bytes, read from the disk if they are there. kNotFound: neither;
  /// kOverloaded: they do not fit into memory now; kCorrupt, kUnavailable: the disk fails.
  Result<Frame> load(const ObjectKey& key);
  void erase(const ObjectKey& key);

  std::uint64_t memory_bytes() const { return used_->load(); }
  std::uint64_t disk_bytes();

 private:
  /// Subtracts bytes from a count when the last frame goes.
  class Counted;
  using Count = std::shared_ptr<std::atomic<std::uint64_t>>;

  struct Held {
    ObjectInfo info;
    std::optional<Frame> frame;           // in memory
    std::optional<std::uint64_t> offset;  // on the disk
    std::uint64_t used = 0;               // when it was used last
  };
  struct State {
    explicit State(const actors::ObjectLimits& limits) : disk(limits.folder, limits.disk_bytes) {}
    SpillFile disk;
    std::map<ObjectKey, Held> held;
    std::map<std::uint64_t, ObjectKey> by_use;  // those in memory
    std::uint64_t uses = 0;
  };

  Status make_room(State& state, std::uint64_t bytes);
  Status spill(State& state, Held& held);
  Result<Buffer> allocate_in(State& state, std::uint64_t size);
  static void touch(State& state, Held& held);
  static void forget(State& state, std::map<ObjectKey, Held>::iterator held);

  const std::uint64_t limit_;
  const Count used_ = std::make_shared<std::atomic<std::uint64_t>>(0);
  Synchronized<> serial_;
  State state_;  // under serial_
};

}  // namespace forebay

#include "engine/actors/objects/object_memory.h"

#include <new>
#include <span>
#include <string>
#include <utility>

#include "core/base/crc32c.h"

namespace forebay {
namespace {

/// Vectors of any number may lie there.
constexpr std::align_val_t kAlignment{64};

std::uint32_t digest_of(std::span<const std::byte> bytes) {
  return crc32c({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

}  // namespace

class ObjectMemory::Counted {
 public:
  Counted(std::shared_ptr<const void> keeper, std::uint64_t bytes, Count count)
      : keeper_(std::move(keeper)), bytes_(bytes), count_(std::move(count)) {
    count_->fetch_add(bytes_);
  }
  ~Counted() { count_->fetch_sub(bytes_); }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;

 private:
  const std::shared_ptr<const void> keeper_;
  const std::uint64_t bytes_;
  const Count count_;
};

Result<Frame> ObjectMemory::count(Frame bytes) {
  return serial_([&]() -> Result<Frame> {
    if (auto room = make_room(state_, bytes.size()); !room) return pass(room);
    return Frame(std::make_shared<const Counted>(bytes.keeper(), bytes.size(), used_), bytes.data(),
                 bytes.size());
  });
}

Result<ObjectMemory::Buffer> ObjectMemory::allocate(std::uint64_t size) {
  return serial_([&] { return allocate_in(state_, size); });
}

Result<ObjectMemory::Buffer> ObjectMemory::allocate_in(State& state, std::uint64_t size) {
  if (auto room = make_room(state, size); !room) return pass(room);
  auto* data = static_cast<std::byte*>(::operator new(size, kAlignment, std::nothrow));
  if (data == nullptr) {
    return fail(Code::kOverloaded, "no memory for an object of " + std::to_string(size) + " bytes");
  }
  const std::shared_ptr<const void> keeper(
      data, [](std::byte* bytes) { ::operator delete(bytes, kAlignment); });
  return Buffer{Frame(std::make_shared<const Counted>(keeper, size, used_), data, size), data};
}

void ObjectMemory::add(const ObjectInfo& info, Frame counted) {
  serial_([&] {
    Held& held = state_.held[info.key];
    held.info = info;
    held.frame = std::move(counted);
    touch(state_, held);
  });
}

std::optional<std::pair<ObjectKey, Frame>> ObjectMemory::find_like(const ObjectInfo& info) {
  return serial_([&]() -> std::optional<std::pair<ObjectKey, Frame>> {
    auto at = state_.held.lower_bound({info.key.process, 0});
    for (; at != state_.held.end() && at->first.process == info.key.process; ++at) {
      const Held& held = at->second;
      if (held.frame && held.info.size == info.size && held.info.digest == info.digest) {
        return std::pair(at->first, *held.frame);
      }
    }
    return std::nullopt;
  });
}

std::optional<Frame> ObjectMemory::resident(const ObjectKey& key) {
  return serial_([&]() -> std::optional<Frame> {
    const auto found = state_.held.find(key);
    if (found == state_.held.end() || !found->second.frame) return std::nullopt;
    touch(state_, found->second);
    return found->second.frame;
  });
}

Result<Frame> ObjectMemory::load(const ObjectKey& key) {
  return serial_([&]() -> Result<Frame> {
    const auto found = state_.held.find(key);
    if (found == state_.held.end()) return fail(Code::kNotFound, "the object is not here");
    Held& held = found->second;
    if (!held.frame) {
      auto buffer = allocate_in(state_, held.info.size);
      if (!buffer) return pass(buffer);
      const std::span<std::byte> bytes(buffer->data, held.info.size);
      if (auto status = state_.disk.read(*held.offset, bytes); !status) return pass(status);
      if (digest_of(bytes) != held.info.digest) {
        return fail(Code::kCorrupt, "the disk has changed the bytes of an object");
      }
      held.frame = std::move(buffer->frame);
    }
    touch(state_, held);
    return *held.frame;
  });
}

void ObjectMemory::erase(const ObjectKey& key) {
  std::optional<Frame> gone;  // Freed without the lock: the memory may be a user's.
  serial_([&] {
    const auto found = state_.held.find(key);
    if (found == state_.held.end()) return;
    gone = std::move(found->second.frame);
    forget(state_, found);
  });
}

std::uint64_t ObjectMemory::disk_bytes() {
  return serial_([&] { return state_.disk.used(); });
}

Status ObjectMemory::make_room(State& state, std::uint64_t bytes) {
  if (bytes > limit_) {
    return fail(Code::kInvalid, "an object of " + std::to_string(bytes) +
                                    " bytes is larger than the memory for objects, " +
                                    std::to_string(limit_));
  }
  auto next = state.by_use.begin();
  std::string why;
  while (used_->load() + bytes > limit_ && next != state.by_use.end()) {
    Held& held = state.held.at(next->second);
    ++next;
    if (held.frame->keeper().use_count() > 1) continue;  // a view pins it
    if (auto status = spill(state, held); !status) {
      why = "; " + status.error().message;
      break;
    }
  }
  if (used_->load() + bytes <= limit_) return {};
  return fail(Code::kOverloaded, "objects take " + std::to_string(used_->load()) + " of " +
                                     std::to_string(limit_) + " bytes of memory and " +
                                     std::to_string(state.disk.used()) + " of " +
                                     std::to_string(state.disk.limit()) + " bytes of disk, so " +
                                     std::to_string(bytes) + " more do not fit" + why +
                                     "; drop references and views, or allow more");
}

Status ObjectMemory::spill(State& state, Held& held) {
  if (!held.offset) {
    auto offset = state.disk.write({held.frame->data(), held.frame->size()});
    if (!offset) return pass(offset);
    held.offset = *offset;
  }
  state.by_use.erase(held.used);
  held.frame.reset();
  return {};
}

void ObjectMemory::touch(State& state, Held& held) {
  state.by_use.erase(held.used);
  held.used = ++state.uses;
  state.by_use.emplace(held.used, held.info.key);
}

void ObjectMemory::forget(State& state, std::map<ObjectKey, Held>::iterator held) {
  state.by_use.erase(held->second.used);
  if (held->second.offset) state.disk.free(*held->second.offset, held->second.info.size);
  state.held.erase(held);
}

}  // namespace forebay

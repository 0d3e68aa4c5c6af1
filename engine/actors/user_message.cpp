#include "engine/actors/user_message.h"

#include <limits>
#include <span>
#include <string>

#include "engine/actors/local_target.h"
#include "engine/actors/objects/objects.h"

namespace forebay {
namespace {

/// What MessagePack can say of the size of a text or a run of bytes.
constexpr std::size_t kMostFieldBytes = std::numeric_limits<std::uint32_t>::max();

/// Writes a user's value with the codec of `core/wire`.
class PackingWriter final : public actors::Writer {
 public:
  PackingWriter(WireBuffer& out, PackedValue& packed) : encoder_(out), packed_(packed) {}

  void nil() override { encoder_.nil(); }
  void boolean(bool value) override { encoder_.boolean(value); }
  void natural(std::uint64_t value) override { encoder_.number(value); }
  void integer(std::int64_t value) override { encoder_.number(value); }
  void single(float value) override { encoder_.number(value); }
  void real(double value) override { encoder_.number(value); }
  void text(std::string_view value) override {
    if (fits(value.size())) encoder_.text(value);
  }
  void bytes(std::span<const std::byte> value) override {
    if (fits(value.size())) encoder_.bytes(value);
  }
  void array(std::size_t count) override {
    if (fits(count)) encoder_.array(count);
  }
  void map(std::size_t count) override {
    if (fits(count)) encoder_.map(count);
  }
  void actor(const actors::TargetPtr& target) override {
    if (target == nullptr) return encoder_.nil();
    encoder_.number(std::uint64_t{packed_.actors.size()});
    packed_.actors.push_back(local_actor(*target));
  }
  void object(const actors::ObjectPtr& target) override {
    if (target == nullptr) return encoder_.nil();
    encoder_.number(std::uint64_t{packed_.objects.size()});
    packed_.objects.push_back(sent(target));
  }

  /// Success if all that was written can be read again.
  Status& status() { return status_; }

 private:
  bool fits(std::size_t size) {
    if (size <= kMostFieldBytes) return true;
    status_ = fail(Code::kInvalid, "a field of " + std::to_string(size) +
                                       " bytes or elements is too large: MessagePack counts to "
                                       "2^32 - 1; divide it, or put it as bytes and send the "
                                       "object");
    return false;
  }

  Encoder encoder_;
  PackedValue& packed_;
  Status status_;
};

std::span<const std::byte> bytes_in(const PackedValue& packed) {
  if (packed.fetched) return {packed.fetched->data(), packed.fetched->size()};
  return packed.bytes;
}

class PackedReader final : public actors::Reader {
 public:
  PackedReader(const PackedValue& packed, ActorFinder& finder)
      : decoder_(bytes_in(packed)), packed_(packed), finder_(finder) {}

  bool take_nil() override { return decoder_.take_nil(); }
  bool boolean(bool& value) override { return decoder_.boolean(value); }
  bool natural(std::uint64_t& value) override { return decoder_.number(value); }
  bool integer(std::int64_t& value) override { return decoder_.number(value); }
  bool single(float& value) override { return decoder_.number(value); }
  bool real(double& value) override { return decoder_.number(value); }
  bool text(std::string_view& value) override { return decoder_.text(value); }
  bool bytes(std::span<const std::byte>& value) override { return decoder_.bytes(value); }
  bool array(std::size_t& count) override { return decoder_.array(count); }
  bool map(std::size_t& count) override { return decoder_.map(count); }
  bool skip() override { return decoder_.skip(); }
  bool refuse(std::string_view problem) override { return decoder_.refuse(problem); }
  bool actor(actors::TargetPtr& target) override {
    target = nullptr;
    if (decoder_.take_nil()) return true;
    std::uint64_t index = 0;
    if (!decoder_.number(index)) return false;
    if (index >= packed_.actors.size()) return refuse("names an actor that was not sent");
    target = finder_.target_of(packed_.actors[index].receiver);
    return target != nullptr || refuse("names an actor that cannot be reached from here");
  }
  bool object(actors::ObjectPtr& target) override {
    target = nullptr;
    if (decoder_.take_nil()) return true;
    std::uint64_t index = 0;
    if (!decoder_.number(index)) return false;
    if (index >= packed_.objects.size()) return refuse("names an object that was not sent");
    target = finder_.object_of(packed_.objects[index]);
    return target != nullptr || refuse("names an object, which cannot be here");
  }

  /// Whether `read`, and no byte is left; else what is wrong.
  Status finish(bool read, std::string_view what) {
    if (read && decoder_.at_end()) return {};
    if (read) decoder_.refuse("something follows its end");
    return tl::unexpected<Error>(decoder_.error(what));
  }

 private:
  Decoder decoder_;
  const PackedValue& packed_;
  ActorFinder& finder_;
};

/// Writes the value into a buffer of this thread, which keeps its capacity.
Result<WireBuffer*> write_packed(const actors::Box& box, PackedValue& packed) {
  thread_local WireBuffer buffer;
  buffer.clear();
  packed.number = box.type()->number;
  PackingWriter writer(buffer, packed);
  box.type()->write(box.data(), writer);
  if (!writer.status()) return pass(writer.status());
  return &buffer;
}

}  // namespace

std::size_t bytes_of(const UserMessage& message) {
  const UserValue& value = message.value;
  if (value.packed != nullptr) return sizeof(message) + value.packed->bytes.size();
  const actors::ValueType* type = value.box.type();
  return sizeof(message) + (type == nullptr ? 0 : type->bytes(value.box.data()));
}

Result<PackedValue> pack(const actors::Box& box) {
  PackedValue packed;
  if (box.type() == nullptr) return packed;
  auto written = write_packed(box, packed);
  if (!written) return pass(written);
  packed.bytes.assign((*written)->bytes().begin(), (*written)->bytes().end());
  return packed;
}

Result<PackedValue> pack_to_send(const actors::Box& box, Objects& objects) {
  PackedValue packed;
  auto written = write_packed(box, packed);
  if (!written) return pass(written);
  WireBuffer& buffer = **written;
  if (buffer.size() < kLargeValue) {
    packed.bytes.assign(buffer.bytes().begin(), buffer.bytes().end());
  } else {
    const std::size_t size = buffer.size();
    const std::shared_ptr<const std::byte[]> bytes = buffer.release();
    auto large = objects.put_large({bytes, bytes.get(), size});
    if (!large) return fail(large.error().code, "a large message: " + large.error().message);
    packed.large = std::move(*large);
  }
  packed.sender = objects.sender();
  return packed;
}

Result<actors::Box> unpack(const PackedValue& packed, const actors::ValueType* type,
                           ActorFinder& finder) {
  actors::Box box(type);
  PackedReader reader(packed, finder);
  const bool read = type->read(box.data(), reader);
  const std::string_view what = type->tag.empty() ? "the answer" : type->tag;
  if (auto status = reader.finish(read, what); !status) return pass(status);
  return box;
}

Result<actors::Box> open_value(UserValue&& value, const actors::ValueType* type,
                               ActorFinder& finder) {
  if (value.packed != nullptr) return unpack(*value.packed, type, finder);
  if (value.box.type() == type) return std::move(value.box);
  auto packed = pack(value.box);
  if (!packed) return pass(packed);
  return unpack(*packed, type, finder);
}

std::uint64_t number_of(const UserValue& value) {
  if (value.packed != nullptr) return value.packed->number;
  return value.box.type() == nullptr ? 0 : value.box.type()->number;
}

actors::Error shown(const Error& error) {
  return {static_cast<actors::Code>(error.code), error.message};
}

Error internal(const actors::Error& error) {
  return {static_cast<Code>(error.code), error.message};
}

}  // namespace forebay

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <forebay/cluster.h>

#include "core/base/check.h"
#include "core/store/store.h"
#include "core/wire/codec.h"
#include "engine/actors/cluster/cluster_messages.h"
#include "engine/actors/cluster/directory/actor_store.h"
#include "engine/actors/cluster/directory/actor_table.h"
#include "engine/actors/cluster/loaded_types.h"
#include "engine/actors/kept_state.h"
#include "engine/actors/user_message.h"

namespace {

using namespace forebay;  // NOLINT(google-build-using-namespace)

enum class Colour : std::uint8_t { kRed, kBlue };

struct Point {
  double x = 0;
  float y = 0;
  static auto fields(auto& self) { return std::tie(self.x, self.y); }
};

/// One field of every kind.
struct Everything {
  static constexpr std::string_view kTag = "fuzz/everything";
  bool flag = false;
  std::int8_t small = 0;
  std::uint64_t large = 0;
  Colour colour = Colour::kRed;
  std::chrono::nanoseconds time{0};
  std::string text;
  std::vector<double> numbers;
  std::vector<std::string> words;
  std::vector<Point> points;
  std::optional<int> present;
  std::map<std::string, int> named;
  actors::Ref<> actor;
  static auto fields(auto& self) {
    return std::tie(self.flag, self.small, self.large, self.colour, self.time, self.text,
                    self.numbers, self.words, self.points, self.present, self.named, self.actor);
  }
};

/// Made from arguments of several kinds.
struct Started final : actors::Actor<Started, Everything> {
  Started(int, const std::string&, const std::vector<float>&) {}
  void on(const Everything&) {}
};

/// An accepted message packs into bytes that read back as themselves.
void check_message(std::span<const std::byte> bytes) {
  NoActors none;
  const auto read = [&none](const std::vector<std::byte>& packed) {
    return unpack({.number = 0, .bytes = packed, .actors = {}}, actors::kTypeOf<Everything>, none);
  };
  const auto message = read({bytes.begin(), bytes.end()});
  if (!message) {
    FOREBAY_CHECK(message.error().code == Code::kCorrupt);
    return;
  }
  const auto once = pack(*message).bytes;
  const auto again = read(once);
  FOREBAY_CHECK(again && pack(*again).bytes == once);
}

/// A process at whose actors no other one's can be named.
struct NoNames final : WireContext {
  std::string export_actor(const std::shared_ptr<void>&) override { return {}; }
  Result<std::shared_ptr<void>> import_actor(std::string_view) override {
    return fail(Code::kNotFound, "names no actor");
  }
};

/// A message of another process, large or not, travels on as it came.
void check_travelling(std::span<const std::byte> bytes) {
  NoNames names;
  auto message = decode_value<UserMessage>("a message", bytes, {}, &names);
  if (!message || message->value.packed == nullptr) return;
  const PackedValue& came = *message->value.packed;
  WireBuffer out;
  encode_value(*message, out, &names);
  const auto again = decode_value<UserMessage>("a message", out.bytes(), {}, &names);
  FOREBAY_CHECK(again && again->value.packed->bytes == came.bytes);
  FOREBAY_CHECK(again->value.packed->sender == came.sender);
  FOREBAY_CHECK(again->value.packed->large.has_value() == came.large.has_value());
  if (!came.large) return;
  FOREBAY_CHECK(again->value.packed->large->info.key == came.large->info.key);
  message->value.packed->fetched = Frame(nullptr, bytes.data(), bytes.size());
  NoActors none;
  const auto opened = unpack(came, actors::kTypeOf<Everything>, none);
  FOREBAY_CHECK(opened || opened.error().code == Code::kCorrupt);
}

/// A head places what a program asks for, if it accepts it.
void check_placement(std::span<const std::byte> bytes) {
  const auto place = decode_value<PlaceActor>("a program", bytes);
  if (!place) return;
  ActorTable table(1);
  FOREBAY_CHECK(!table.check(*place));  // There is no node.
  table.add(place->spec);
  FOREBAY_CHECK(table.place(*table.find(place->spec.name), place->node) == nullptr);
  FOREBAY_CHECK(table.lose(place->node, std::chrono::seconds(1)).lives.empty());
  const auto node = decode_value<RegisterNode>("a node", bytes);
  FOREBAY_CHECK(!node || !table.check(*node));  // It comes without a reference.
}

/// A node makes an actor from arguments, if it accepts them.
void check_start(std::span<const std::byte> bytes) {
  LoadedTypes types;
  static_cast<actors::ActorTypes&>(types).add<Started, int, std::string, std::vector<float>>(
      "started");
  FOREBAY_CHECK(types.problem().empty());
  const auto factory = types.factory("started", bytes);
  if (factory) FOREBAY_CHECK((*factory)() != nullptr && (*factory)() != nullptr);
}

/// A head reads an actor and its state back from its store, if they are sound.
void check_stored(std::span<const std::byte> bytes) {
  const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  StoreBatch batch;
  batch.put("actors/record/a", text);
  batch.put("actors/state/a", text);
  MemoryStore store;
  FOREBAY_CHECK(store.write(batch));
  ActorStore actors(store);
  ActorTable table(1);
  std::size_t skipped = 0;
  FOREBAY_CHECK(actors.load([&table](const ActorRecord& record) { table.restore(record); },
                            [&skipped](const Error&) { ++skipped; }));
  FOREBAY_CHECK((table.find("a") == nullptr) == (skipped == 1));
  for (const std::string& node : table.missing_nodes()) table.lose(node, std::chrono::seconds(1));
  FOREBAY_CHECK(table.missing_nodes().empty() && table.kept_bytes() <= kMostKeptBytes);
  const auto state = actors.state("a", 1);
  FOREBAY_CHECK(state || state.error().code == Code::kCorrupt);
  actors.change("a");
  FOREBAY_CHECK(actors.write(table));
}

/// An actor takes a state that an earlier one has kept, if it reads it.
void check_kept(std::span<const std::byte> bytes) {
  struct Keeping final : actors::Actor<Keeping, Everything> {
    void on(const Everything&) {}
    Everything save() const { return kept; }
    void load(Everything state) { kept = std::move(state); }
    Everything kept;
  };
  Keeping actor;
  const auto status = KeptState({bytes.begin(), bytes.end()}, {}).load_into(actor);
  FOREBAY_CHECK(status || status.error().code == Code::kCorrupt);
}

}  // namespace

/// The input: what it is (a byte), and the bytes that came.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  // A copy in memory of its own, so that the sanitizer sees an access outside.
  const std::vector<std::byte> copy(reinterpret_cast<const std::byte*>(data) + 1,
                                    reinterpret_cast<const std::byte*>(data) + size);
  if (data[0] % 6 == 0) check_message(copy);
  if (data[0] % 6 == 1) check_placement(copy);
  if (data[0] % 6 == 2) check_start(copy);
  if (data[0] % 6 == 3) check_stored(copy);
  if (data[0] % 6 == 4) check_kept(copy);
  if (data[0] % 6 == 5) check_travelling(copy);
  return 0;
}

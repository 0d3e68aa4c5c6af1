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
#include <vector>

#include <forebay/cluster.h>

#include "core/base/check.h"
#include "core/wire/codec.h"
#include "engine/actors/cluster/actor_table.h"
#include "engine/actors/cluster/cluster_messages.h"
#include "engine/actors/cluster/loaded_types.h"
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

}  // namespace

/// The input: what it is (a byte), and the bytes that came.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  // A copy in memory of its own, so that the sanitizer sees an access outside.
  const std::vector<std::byte> copy(reinterpret_cast<const std::byte*>(data) + 1,
                                    reinterpret_cast<const std::byte*>(data) + size);
  if (data[0] % 3 == 0) check_message(copy);
  if (data[0] % 3 == 1) check_placement(copy);
  if (data[0] % 3 == 2) check_start(copy);
  return 0;
}

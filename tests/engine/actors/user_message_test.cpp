#include "engine/actors/user_message.h"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "tests/support/catch.h"

namespace forebay {
namespace {

using namespace std::chrono_literals;

enum class Colour : std::uint8_t { kRed, kBlue };

struct Point {
  double x = 0;
  float y = 0;
  static auto fields(auto& self) { return std::tie(self.x, self.y); }
  bool operator==(const Point&) const = default;
};

struct Everything {
  static constexpr std::string_view kTag = "test/everything";
  bool flag = false;
  std::int8_t small = 0;
  std::uint64_t large = 0;
  Colour colour = Colour::kRed;
  std::chrono::nanoseconds time{0};
  std::string text;
  std::vector<double> numbers;
  std::vector<std::string> words;
  std::vector<Point> points;
  std::optional<int> absent;
  std::optional<int> present;
  std::map<std::string, int> named;
  static auto fields(auto& self) {
    return std::tie(self.flag, self.small, self.large, self.colour, self.time, self.text,
                    self.numbers, self.words, self.points, self.absent, self.present, self.named);
  }
  bool operator==(const Everything&) const = default;
};

struct Appended {
  static constexpr std::string_view kTag = "test/point";
  double x = 0;
  float y = 0;
  int later = 7;
  static auto fields(auto& self) { return std::tie(self.x, self.y, self.later); }
};

/// A value that writes one field; it is never made, nor read.
constexpr actors::ValueType writes(void (*field)(const void*, actors::Writer&)) {
  actors::ValueType type;
  type.tag = "test/huge";
  type.number = 1;
  type.size = 1;
  type.create = [](void*) {};
  type.write = field;
  return type;
}

constexpr std::size_t kTooLarge = std::size_t{1} << 32;

}  // namespace

TEST_CASE("a field that MessagePack cannot count is refused by name of its size",
          "[actors][wire]") {
  static constexpr actors::ValueType kText = writes([](const void*, actors::Writer& writer) {
    writer.text({static_cast<const char*>(nullptr), kTooLarge});
  });
  static constexpr actors::ValueType kArray =
      writes([](const void*, actors::Writer& writer) { writer.array(kTooLarge); });
  static constexpr actors::ValueType kMap =
      writes([](const void*, actors::Writer& writer) { writer.map(kTooLarge); });
  for (const actors::ValueType* type : {&kText, &kArray, &kMap}) {
    const auto packed = pack(actors::Box(type));
    REQUIRE_FALSE(packed);
    CHECK(packed.error().code == Code::kInvalid);
    CHECK(packed.error().message.find("4294967296 bytes or elements") != std::string::npos);
  }
}

TEST_CASE("every kind of field is written and read again", "[actors][wire]") {
  const Everything sent{true,      -5,        ~std::uint64_t{0}, Colour::kBlue, 3s, "text",
                        {0.5, -1}, {"a", ""}, {{1, 2}, {3, 4}},  std::nullopt,  -3, {{"one", 1}}};
  NoActors finder;
  auto read = unpack(pack(actors::Box::of(sent)).value(), actors::kTypeOf<Everything>, finder);
  REQUIRE(read);
  CHECK(read->as<Everything>() == sent);
}

TEST_CASE("fields that the sender does not know keep their defaults, unknown ones are skipped",
          "[actors][wire]") {
  NoActors finder;
  auto longer =
      unpack(pack(actors::Box::of(Point{1, 2})).value(), actors::kTypeOf<Appended>, finder);
  REQUIRE(longer);
  CHECK(longer->as<Appended>().y == 2);
  CHECK(longer->as<Appended>().later == 7);
  auto shorter =
      unpack(pack(actors::Box::of(Appended{1, 2, 3})).value(), actors::kTypeOf<Point>, finder);
  REQUIRE(shorter);
  CHECK(shorter->as<Point>() == Point{1, 2});
}

TEST_CASE("bytes that are no such message are refused by its tag", "[actors][wire]") {
  NoActors finder;
  PackedValue packed = pack(actors::Box::of(Everything{})).value();
  packed.bytes.pop_back();
  const auto cut = unpack(packed, actors::kTypeOf<Everything>, finder);
  REQUIRE_FALSE(cut);
  CHECK(cut.error().code == Code::kCorrupt);
  CHECK(cut.error().message.find("test/everything") != std::string::npos);
  packed.bytes.clear();
  CHECK_FALSE(unpack(packed, actors::kTypeOf<Everything>, finder));
}

TEST_CASE("a value moves between boxes, in place or on the heap", "[actors]") {
  actors::Box small = actors::Box::of(Point{1, 2});
  Everything everything;
  everything.text = "large";
  actors::Box large = actors::Box::of(everything);
  std::swap(small, large);
  CHECK(small.as<Everything>().text == "large");
  CHECK(large.as<Point>() == Point{1, 2});
}

}  // namespace forebay

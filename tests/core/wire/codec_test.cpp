#include "core/wire/codec.h"

#include <bit>
#include <chrono>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "tests/support/catch.h"

namespace forebay {
namespace {

enum class Colour : std::uint8_t { kRed, kBlue = 7 };

struct Point {
  std::int32_t x = 0;
  double y = 0;
  static auto fields(auto& self) { return std::tie(self.x, self.y); }
  friend bool operator==(const Point&, const Point&) = default;
};

struct Everything {
  static constexpr std::string_view kTag = "test.everything/1";
  bool yes = false;
  std::uint8_t small = 0;
  std::int64_t large = 0;
  float narrow = 0;
  Colour colour = Colour::kRed;
  std::string text;
  std::vector<Point> points;
  std::optional<Point> maybe;
  std::map<std::string, std::vector<std::uint64_t>> lists;
  std::chrono::nanoseconds time{};
  std::vector<std::byte> bytes;
  std::vector<bool> flags;
  static auto fields(auto& self) {
    return std::tie(self.yes, self.small, self.large, self.narrow, self.colour, self.text,
                    self.points, self.maybe, self.lists, self.time, self.bytes, self.flags);
  }
  friend bool operator==(const Everything&, const Everything&) = default;
};

struct OneNumber {
  static constexpr std::string_view kTag = "test.one/1";
  std::uint8_t number = 200;
  static auto fields(auto& self) { return std::tie(self.number); }
};

struct TwoNumbers {
  static constexpr std::string_view kTag = "test.one/1";
  std::uint8_t number = 0;
  std::string note = "default";
  static auto fields(auto& self) { return std::tie(self.number, self.note); }
};

struct Cargo {
  static constexpr std::string_view kTag = "test.cargo/1";
  Frames first;
  std::string name;
  Frames second;
  static auto fields(auto& self) { return std::tie(self.first, self.name, self.second); }
};

struct Named {
  std::shared_ptr<void> who;
};

using Bytes = std::vector<std::byte>;

Bytes bytes_of_hex(std::initializer_list<unsigned> values) {
  Bytes bytes;
  bytes.reserve(values.size());
  for (const unsigned value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

Bytes copy_of(const WireBuffer& buffer) { return {buffer.bytes().begin(), buffer.bytes().end()}; }

template <class T>
Bytes encoded(const T& value) {
  WireBuffer buffer;
  encode_value(value, buffer);
  return copy_of(buffer);
}

template <class T>
Result<T> decoded(const Bytes& bytes) {
  return decode_value<T>("test", bytes);
}

Everything example() {
  return {true,
          255,
          std::numeric_limits<std::int64_t>::min(),
          1.5F,
          Colour::kBlue,
          std::string(300, 'x'),
          {{-1, 0.1}, {70000, -2}},
          Point{5, 6},
          {{"a", {1, std::uint64_t{1} << 63}}, {"b", {}}},
          std::chrono::milliseconds(-3),
          bytes_of_hex({0, 255}),
          {true, false}};
}

struct Newer {
  std::uint8_t number = 9;
  std::map<std::string, std::vector<Point>> further{{"key", {{1, 2}, {3, 4}}}};
  std::vector<std::byte> bytes = bytes_of_hex({1, 2, 3});
  std::optional<Point> none;
  std::string last = std::string(70000, 'z');
  static auto fields(auto& self) {
    return std::tie(self.number, self.further, self.bytes, self.none, self.last);
  }
};

Frame text_frame(const std::string& text) {
  auto keeper = std::make_shared<const std::string>(text);
  const auto* data = reinterpret_cast<const std::byte*>(keeper->data());
  return {keeper, data, text.size()};
}

std::string text_of(const Frame& frame) {
  return {reinterpret_cast<const char*>(frame.data()), frame.size()};
}

}  // namespace

template <>
struct WireField<Named> {
  static void write(Encoder& encoder, const Named& value) { encoder.actor(value.who); }
  static bool read(Decoder& decoder, Named& value) { return decoder.actor(value.who); }
};

namespace {

/// Resolves one actor, "here/1".
class OneActor final : public WireContext {
 public:
  std::string export_actor(const std::shared_ptr<void>& asked) override {
    REQUIRE(asked == actor);
    return "here/1";
  }
  Result<std::shared_ptr<void>> import_actor(std::string_view name) override {
    if (name != "here/1") return fail(Code::kNotFound, "nobody has that name");
    return actor;
  }
  std::shared_ptr<void> actor = std::make_shared<int>(1);
};

TEST_CASE("every kind of field is decoded as it was encoded", "[core][codec]") {
  WireBuffer buffer;
  encode_value(example(), buffer);
  const Result<Everything> back = decode_value<Everything>(Everything::kTag, buffer.bytes());
  REQUIRE(back);
  CHECK(*back == example());
  // A message of defaults: the array's mark and a byte or a few a field.
  buffer.clear();
  encode_value(Everything{}, buffer);
  CHECK(decode_value<Everything>(Everything::kTag, buffer.bytes()) == Everything{});
}

TEST_CASE("a struct is an array of its fields in their shortest forms", "[core][codec]") {
  // 3 = 0x03; 2.0 = cb and its eight bytes; an array of two is 92.
  CHECK(encoded(Point{3, 2}) == bytes_of_hex({0x92, 3, 0xcb, 0x40, 0, 0, 0, 0, 0, 0, 0}));
  CHECK(encoded(OneNumber{}) == bytes_of_hex({0x91, 0xcc, 200}));
  CHECK(encoded(std::int64_t{-33}) == bytes_of_hex({0xd0, 0xdf}));
  CHECK(encoded(std::uint64_t{0x12345}) == bytes_of_hex({0xce, 0, 1, 0x23, 0x45}));
}

TEST_CASE("the smallest and largest numbers of every width are decoded", "[core][codec]") {
  for (unsigned bits = 0; bits < 64; ++bits) {
    const std::uint64_t power = std::uint64_t{1} << bits;
    for (const std::uint64_t value : {power - 1, power, power + 1, ~power, 0 - power}) {
      CHECK(decoded<std::uint64_t>(encoded(value)) == value);
      const auto with_sign = static_cast<std::int64_t>(value);
      CHECK(decoded<std::int64_t>(encoded(with_sign)) == with_sign);
    }
  }
}

TEST_CASE("a NaN keeps its payload", "[core][codec]") {
  const std::uint32_t bits = 0x7fc0dead;
  const auto back = decoded<float>(encoded(std::bit_cast<float>(bits)));
  REQUIRE(back);
  CHECK(std::bit_cast<std::uint32_t>(*back) == bits);
}

TEST_CASE("a whole number is taken where a fraction may stand", "[core][codec]") {
  CHECK(decoded<double>(bytes_of_hex({0x05})) == 5.0);
  CHECK(decoded<double>(bytes_of_hex({0xff})) == -1.0);
  CHECK(decoded<double>(bytes_of_hex({0xca, 0x3f, 0x80, 0, 0})) == 1.0);
  CHECK(decoded<float>(bytes_of_hex({0x05})) == 5.0F);
  CHECK_FALSE(decoded<float>(encoded(0.1)));
  CHECK_FALSE(decoded<std::uint64_t>(encoded(1.0)));
}

TEST_CASE("an older sender's missing fields keep their defaults", "[core][codec]") {
  const auto back = decoded<TwoNumbers>(encoded(OneNumber{}));
  REQUIRE(back);
  CHECK(back->number == 200);
  CHECK(back->note == "default");
}

TEST_CASE("a newer sender's further fields are dropped", "[core][codec]") {
  const auto back = decoded<OneNumber>(encoded(Newer{}));
  REQUIRE(back);
  CHECK(back->number == 9);
}

TEST_CASE("an error names the message, the field and what is wrong", "[core][codec]") {
  // Field 6, points; its entry 1; its field 0, which has 64 bits in place of 32.
  WireBuffer buffer;
  Encoder encoder(buffer);
  encoder.array(7);
  encoder.boolean(true);
  for (int i = 0; i < 2; ++i) encoder.number(std::uint64_t{1});
  encoder.number(1.0F);
  encoder.number(std::uint64_t{1});
  encoder.text("text");
  encoder.array(2);
  encode_value(Point{}, buffer);
  encoder.array(2);
  encoder.number(std::uint64_t{1} << 40);
  encoder.number(1.0);
  const auto refused = decode_value<Everything>(Everything::kTag, buffer.bytes());
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == Code::kCorrupt);
  CHECK(refused.error().message == "test.everything/1: field 6.1.0: is out of range");
}

TEST_CASE("a number outside its field's type is refused", "[core][codec]") {
  CHECK_FALSE(decoded<std::uint8_t>(encoded(256)));
  CHECK_FALSE(decoded<std::uint64_t>(encoded(-1)));
  CHECK_FALSE(decoded<std::int8_t>(encoded(-129)));
  CHECK_FALSE(decoded<std::int64_t>(encoded(std::uint64_t{1} << 63)));
  CHECK(decoded<std::int8_t>(encoded(-128)) == -128);
}

TEST_CASE("a value of another kind is refused", "[core][codec]") {
  const Bytes text = encoded(std::string("x"));
  const Bytes number = encoded(1);
  CHECK_FALSE(decoded<bool>(number));
  CHECK_FALSE(decoded<int>(text));
  CHECK_FALSE(decoded<double>(text));
  CHECK_FALSE(decoded<std::string>(number));
  CHECK_FALSE(decoded<Bytes>(text));
  CHECK_FALSE(decoded<Bytes>(bytes_of_hex({1, 0, 0, 0, 0})));
  CHECK_FALSE(decoded<std::vector<int>>(number));
  CHECK_FALSE(decoded<std::map<std::string, int>>(encoded(std::vector<int>{1, 2})));
  CHECK_FALSE(decoded<Frames>(number));
  // A kind that the codec does not use, in a field that would be dropped.
  CHECK_FALSE(decoded<OneNumber>(bytes_of_hex({0x92, 1, 0xd4, 1, 1})));
}

TEST_CASE("a map has no key twice", "[core][codec]") {
  CHECK(decoded<std::map<std::string, int>>(bytes_of_hex({0x82, 0xa1, 'a', 1, 0xa1, 'b', 2})));
  CHECK_FALSE(
      decoded<std::map<std::string, int>>(bytes_of_hex({0x82, 0xa1, 'a', 1, 0xa1, 'a', 2})));
}

TEST_CASE("a length beyond the bytes is refused before memory is reserved", "[core][codec]") {
  // Four thousand million entries, texts, bytes or pairs are claimed by five bytes.
  CHECK_FALSE(decoded<std::vector<Everything>>(bytes_of_hex({0xdd, 0xff, 0xff, 0xff, 0xff})));
  CHECK_FALSE(decoded<std::string>(bytes_of_hex({0xdb, 0xff, 0xff, 0xff, 0xff})));
  CHECK_FALSE(decoded<Bytes>(bytes_of_hex({0xc6, 0xff, 0xff, 0xff, 0xff})));
  CHECK_FALSE(decoded<std::map<std::string, int>>(bytes_of_hex({0xdf, 0xff, 0xff, 0xff, 0xff})));
  CHECK_FALSE(decoded<OneNumber>(bytes_of_hex({0xdd, 0xff, 0xff, 0xff, 0xff, 1})));
  CHECK_FALSE(decoded<OneNumber>(bytes_of_hex({0x92, 1, 0xdd, 0xff, 0xff, 0xff, 0xff})));
}

TEST_CASE("a count above the remaining bytes is refused before a value is read", "[core][codec]") {
  const auto refused = decoded<std::vector<std::uint64_t>>(bytes_of_hex({0xdc, 0, 3, 1, 2}));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message == "test: is said to have 3 values, but only 2 bytes follow");
  CHECK(decoded<std::vector<std::uint64_t>>(bytes_of_hex({0xdc, 0, 2, 1, 2})));
}

TEST_CASE("a truncated message is refused, and so are extra bytes", "[core][codec]") {
  const Bytes whole = encoded(example());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    CHECK_FALSE(decoded<Everything>(Bytes(whole.begin(), whole.begin() + static_cast<long>(size))));
  }
  Bytes longer = whole;
  longer.push_back(std::byte{0});
  const auto refused = decoded<Everything>(longer);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message == "test: something follows its end");
}

TEST_CASE("deeply nested bytes in a dropped field cost no stack", "[core][codec]") {
  Bytes bytes = bytes_of_hex({0x92, 1});
  bytes.insert(bytes.end(), 1'000'000, std::byte{0x91});
  CHECK_FALSE(decoded<OneNumber>(bytes));
  bytes.push_back(std::byte{0xc0});
  CHECK(decoded<OneNumber>(bytes));
}

TEST_CASE("frames travel beside the message, shared and not copied", "[core][codec]") {
  WireBuffer buffer;
  const Cargo cargo{{text_frame("one"), text_frame("two")}, "name", {text_frame("three")}};
  encode_value(cargo, buffer);
  REQUIRE(buffer.frames.size() == 3);
  CHECK(buffer.frames[0].data() == cargo.first[0].data());
  const auto back = decode_value<Cargo>(Cargo::kTag, buffer.bytes(), buffer.frames);
  REQUIRE(back);
  REQUIRE(back->first.size() == 2);
  CHECK(text_of(back->first[1]) == "two");
  CHECK(back->name == "name");
  CHECK(text_of(back->second.at(0)) == "three");
  CHECK(back->second[0].keeper() == cargo.second[0].keeper());
}

TEST_CASE("a message names only frames that arrived, each once", "[core][codec]") {
  WireBuffer buffer;
  encode_value(Cargo{{text_frame("one")}, "", {text_frame("two")}}, buffer);
  const Bytes bytes = copy_of(buffer);
  SECTION("too few frames") {
    Frames one{text_frame("one")};
    CHECK_FALSE(decode_value<Cargo>(Cargo::kTag, bytes, one));
  }
  SECTION("the same frame twice") {
    // [[0, 1], "", [1, 1]] made [[0, 1], "", [0, 1]].
    Bytes twice = bytes;
    REQUIRE(twice[6] == std::byte{1});
    twice[6] = std::byte{0};
    CHECK_FALSE(decode_value<Cargo>(Cargo::kTag, twice, buffer.frames));
  }
}

TEST_CASE("an actor is encoded by the name that its node gives it", "[core][codec]") {
  OneActor node;
  WireBuffer buffer;
  encode_value(std::vector<Named>{{node.actor}, {nullptr}}, buffer, &node);
  const Bytes bytes = copy_of(buffer);
  const auto back = decode_value<std::vector<Named>>("test", bytes, {}, &node);
  REQUIRE(back);
  CHECK(back->at(0).who == node.actor);
  CHECK(back->at(1).who == nullptr);
  CHECK_FALSE(decode_value<std::vector<Named>>("test", bytes));
  const auto refused = decode_value<Named>("test", encoded(std::string("there/2")), {}, &node);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message == "test: nobody has that name");
}

TEST_CASE("answers are encoded as a value or an error", "[core][codec]") {
  const Result<Point> value = Point{1, 2};
  CHECK(decoded<Result<Point>>(encoded(value)).value().value() == Point{1, 2});
  const Result<Point> refused = fail(Code::kOverloaded, "full");
  CHECK(decoded<Result<Point>>(encoded(refused)).value().error() == refused.error());
  CHECK(decoded<Status>(encoded(Status())).value().has_value());
  const Status late = fail(Code::kTimeout, "late");
  CHECK(decoded<Status>(encoded(late)).value().error() == late.error());
  CHECK_FALSE(decoded<Status>(encoded(value)));
  CHECK_FALSE(decoded<Result<Point>>(encoded(Status())));
  CHECK_FALSE(decoded<Status>(bytes_of_hex({0x92, 0xc0, 0x92, 6, 0xa0})));
}

TEST_CASE("a kept buffer writes several messages behind each other", "[core][codec]") {
  WireBuffer buffer;
  for (int i = 0; i < 1000; ++i) encode_value(OneNumber{}, buffer);
  CHECK(buffer.size() == 3000);
  CHECK(buffer.bytes()[2999] == std::byte{200});
  buffer.clear();
  CHECK(buffer.bytes().empty());
}

}  // namespace
}  // namespace forebay

#include "engine/ranks/rank_messages.h"

#include "tests/support/catch.h"

using namespace forebay;

namespace {

Result<RankDone> travelled(const StateTensor& tensor) {
  WireBuffer out;
  encode_value(RankDone{.tensors = {tensor}}, out);
  return decode_value<RankDone>(RankCommand::kTag, out.bytes());
}

}  // namespace

TEST_CASE("a tensor arrives as it was sent", "[tools][ranks]") {
  const StateTensor tensor{.name = "table.3",
                           .part = StateTensor::Part::kTables,
                           .type = ElementType::kU64,
                           .shape = {3, 0, 5}};
  const auto state = travelled(tensor);
  REQUIRE(state);
  CHECK(state->tensors == std::vector{tensor});
}

TEST_CASE("an impossible tensor is refused by its receiver", "[tools][ranks]") {
  StateTensor tensor{.name = "table.3", .shape = {3, 5}};
  std::string why;
  SECTION("an unknown type") {
    tensor.type = static_cast<ElementType>(7);
    why = "unknown type";
  }
  SECTION("an unknown part, which has no name") {
    tensor.part = static_cast<StateTensor::Part>(3);
    why = "unknown part";
  }
  SECTION("a negative number of rows") {
    tensor.shape = {-1, 5};
    why = "no sizes";
  }
  SECTION("more bytes than numbers") {
    tensor.shape = {std::int64_t{1} << 32, std::int64_t{1} << 30};
    why = "no sizes";
  }
  const auto state = travelled(tensor);
  REQUIRE_FALSE(state);
  CHECK(state.error().code == Code::kCorrupt);
  CHECK_THAT(state.error().message, Catch::Contains(why));
}

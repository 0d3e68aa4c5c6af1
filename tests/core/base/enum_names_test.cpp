#include "core/base/enum_names.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

enum class Fruit { kApple, kPear, kUnnamed };

constexpr EnumName<Fruit> kFruits[] = {{"apple", Fruit::kApple}, {"pear", Fruit::kPear}};

}  // namespace

TEST_CASE("a name and its value are found in one table", "[core][enum_names]") {
  CHECK(name_in(kFruits, Fruit::kPear) == "pear");
  CHECK(value_in(kFruits, "apple") == Fruit::kApple);
  CHECK(list_names(kFruits) == "apple | pear");
  CHECK(list_names(kFruits, ", ") == "apple, pear");
}

TEST_CASE("what the table does not have is told", "[core][enum_names]") {
  CHECK(name_in(kFruits, Fruit::kUnnamed) == "unknown");
  CHECK_FALSE(value_in(kFruits, "plum"));
  CHECK_FALSE(value_in(kFruits, "app"));
  CHECK_FALSE(value_in(kFruits, ""));
}

}  // namespace forebay

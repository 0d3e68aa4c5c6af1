#include "actors/format/parquet/leaf.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/catch.h"

namespace forebay::parquet {
namespace {

constexpr std::int32_t kRequired = 0;
constexpr std::int32_t kOptional = 1;
constexpr std::int32_t kRepeated = 2;
constexpr std::int32_t kInt64 = 2;
constexpr std::int32_t kMap = 1;
constexpr std::int32_t kList = 3;
constexpr std::int32_t kTimeMicros = 8;

/// A leaf of a schema; `converted` is its ConvertedType, if any.
SchemaElement value(const std::string& name, std::int32_t repetition,
                    std::optional<std::int32_t> converted = {}) {
  SchemaElement element;
  element.name = name;
  element.repetition = repetition;
  element.type = kInt64;
  element.converted_type = converted;
  return element;
}

SchemaElement group(const std::string& name, std::int32_t repetition, std::int32_t children,
                    std::optional<std::int32_t> converted = {}) {
  SchemaElement element = value(name, repetition, converted);
  element.type.reset();
  element.children = children;
  return element;
}

/// The leaves of a schema with one column: each as "name: type", with "!" where it can be read.
std::vector<std::string> leaves(std::vector<SchemaElement> column) {
  column.insert(column.begin(), group("schema", kRequired, 1));
  const auto found = leaves_of(column);
  REQUIRE(found);
  std::vector<std::string> texts;
  for (const Leaf& leaf : *found) {
    texts.push_back(leaf.name + ": " + leaf.type + (leaf.meaning == Meaning::kOther ? "" : "!"));
  }
  return texts;
}

using Texts = std::vector<std::string>;

TEST_CASE("a list of numbers is read by its own name, however it is nested", "[parquet]") {
  CHECK(leaves({group("s", kOptional, 1, kList), group("list", kRepeated, 1),
                value("element", kOptional)}) == Texts{"s: a list of INT64!"});
  CHECK(leaves({group("s", kOptional, 1, kList), value("array", kRepeated)}) ==
        Texts{"s: a list of INT64!"});
  CHECK(leaves({group("a", kOptional, 1), group("s", kOptional, 1, kList),
                group("list", kRepeated, 1), value("element", kOptional)}) ==
        Texts{"a.s: a list of INT64!"});
}

TEST_CASE("a list of structs is no list of ids, even if they have one field", "[parquet]") {
  CHECK(leaves({group("s", kOptional, 1, kList), group("list", kRepeated, 1),
                group("element", kOptional, 1), value("a", kOptional)}) ==
        Texts{"s: a list of structs"});
  CHECK(leaves({group("s", kOptional, 1, kList), group("list", kRepeated, 1),
                group("element", kOptional, 3), value("a", kOptional), value("b", kOptional),
                value("c", kOptional)}) ==
        Texts{"s: a list of structs", "s.b: a list of structs", "s.c: a list of structs"});
}

TEST_CASE("a map and a list of lists have their own name and type", "[parquet]") {
  CHECK(leaves({group("s", kOptional, 1, kMap), group("key_value", kRepeated, 2),
                value("key", kRequired), value("value", kOptional)}) ==
        Texts{"s: a map", "s.value: a map"});
  CHECK(leaves({group("s", kOptional, 1, kList), group("list", kRepeated, 1),
                group("element", kOptional, 1, kList), group("list", kRepeated, 1),
                value("element", kOptional)}) == Texts{"s: a list of lists"});
}

TEST_CASE("a time of day is named as such", "[parquet]") {
  CHECK(leaves({value("t", kOptional, kTimeMicros)}) == Texts{"t: INT64 (time of day)"});
}

}  // namespace
}  // namespace forebay::parquet

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
constexpr std::int32_t kUtf8 = 0;
constexpr std::int32_t kDecimal = 5;
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

/// The text of the leaf that values of a stored type become with an annotation; `bytes` is the
/// type_length.
std::string annotated(Physical physical, const LogicalType& logical, std::int32_t bytes = 0) {
  SchemaElement element = value("c", kRequired);
  element.type = static_cast<std::int32_t>(physical);
  element.type_length = bytes;
  element.logical_type = logical;
  return leaves({element}).front();
}

/// The same with the ConvertedType of older writers.
std::string converted(Physical physical, std::int32_t type) {
  SchemaElement element = value("c", kRequired, type);
  element.type = static_cast<std::int32_t>(physical);
  element.type_length = 1 << 24;
  return leaves({element}).front();
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

TEST_CASE("a column of nothing but nulls has the type null, however it is stored", "[parquet]") {
  LogicalType null;
  null.unknown = EmptyStruct();
  CHECK(annotated(Physical::kInt32, null) == "c: null!");
  CHECK(annotated(Physical::kByteArray, null) == "c: null!");
  SchemaElement item = value("element", kOptional);
  item.logical_type = null;
  CHECK(leaves({group("s", kOptional, 1, kList), group("list", kRepeated, 1), item}) ==
        Texts{"s: a list of null!"});
}

TEST_CASE("a time of day is named as such", "[parquet]") {
  CHECK(leaves({value("t", kOptional, kTimeMicros)}) == Texts{"t: INT64 (time of day)"});
}

TEST_CASE("a decimal is read only from whole numbers and bytes", "[parquet]") {
  LogicalType decimal;
  decimal.decimal = DecimalType{.scale = 2, .precision = 9};
  CHECK(annotated(Physical::kInt32, decimal) == "c: INT32!");
  CHECK(annotated(Physical::kInt64, decimal) == "c: INT64!");
  CHECK(annotated(Physical::kByteArray, decimal) == "c: BYTE_ARRAY!");
  CHECK(annotated(Physical::kFixedBytes, decimal, 5) == "c: FIXED_LEN_BYTE_ARRAY!");
  CHECK(annotated(Physical::kFloat, decimal, 1 << 24) == "c: FLOAT marked as a decimal");
  CHECK(annotated(Physical::kBoolean, decimal, 1) == "c: BOOLEAN marked as a decimal");
  CHECK(converted(Physical::kInt32, kDecimal) == "c: INT32!");
  CHECK(converted(Physical::kFloat, kDecimal) == "c: FLOAT marked as a decimal");
  CHECK(converted(Physical::kInt96, kDecimal) == "c: INT96 marked as a decimal");
}

TEST_CASE("text is read only from bytes, and a UUID only from 16 of them", "[parquet]") {
  LogicalType text;
  text.string = EmptyStruct();
  LogicalType uuid;
  uuid.uuid = EmptyStruct();
  CHECK(annotated(Physical::kByteArray, text) == "c: BYTE_ARRAY!");
  CHECK(annotated(Physical::kFixedBytes, text, 3) == "c: FIXED_LEN_BYTE_ARRAY!");
  CHECK(annotated(Physical::kInt64, text, 1 << 24) == "c: INT64 marked as text");
  CHECK(annotated(Physical::kFixedBytes, uuid, 16) == "c: FIXED_LEN_BYTE_ARRAY!");
  CHECK(annotated(Physical::kFixedBytes, uuid, 15) == "c: FIXED_LEN_BYTE_ARRAY marked as a UUID");
  CHECK(annotated(Physical::kDouble, uuid, 16) == "c: DOUBLE marked as a UUID");
  CHECK(converted(Physical::kByteArray, kUtf8) == "c: BYTE_ARRAY!");
  CHECK(converted(Physical::kInt32, kUtf8) == "c: INT32 marked as text");
}

TEST_CASE("a 16-bit float is read only from two bytes of fixed size", "[parquet]") {
  LogicalType half;
  half.float16 = EmptyStruct();
  CHECK(annotated(Physical::kFixedBytes, half, 2) == "c: FIXED_LEN_BYTE_ARRAY!");
  CHECK(annotated(Physical::kFixedBytes, half, 4) ==
        "c: FIXED_LEN_BYTE_ARRAY marked as a 16-bit float");
  CHECK(annotated(Physical::kByteArray, half, 2) == "c: BYTE_ARRAY marked as a 16-bit float");
}

}  // namespace
}  // namespace forebay::parquet

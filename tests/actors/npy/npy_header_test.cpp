#include "actors/format/npy/npy_header.h"

#include <string>

#include "tests/support/npy_files.h"

#include "tests/support/catch.h"

namespace forebay::npy {
namespace {

using Kind = ElementType::Kind;
using test::npy_header;
using test::npy_header_of;

Result<ArrayHeader> parse(const std::string& header, std::uint64_t values) {
  return parse_array_header(header, header.size() + values);
}

std::string refusal(const std::string& header, std::uint64_t values = 12) {
  const auto parsed = parse(header, values);
  REQUIRE_FALSE(parsed);
  return parsed.error().message;
}

TEST_CASE("an array's header gives its type, shape and the place of its values", "[npy]") {
  const std::string header = npy_header_of("<f4", "(3, 13)");
  const auto parsed = parse(header, 3 * 13 * 4);
  REQUIRE(parsed);
  CHECK(parsed->type == ElementType{Kind::kFloat, 4});
  CHECK(parsed->rows == 3);
  CHECK(parsed->columns == 13);
  CHECK_FALSE(parsed->by_column);
  CHECK(parsed->data_start == header.size());
  CHECK(parsed->row_bytes() == 52);
}

TEST_CASE("headers of versions 1 to 3 and in any spelling of Python are read", "[npy]") {
  for (const char version : {'\1', '\2', '\3'}) {
    const std::string text = R"({"shape": (2L,6), "fortran_order": True, "descr": "|u1"})";
    const auto parsed = parse(npy_header(text, version), 12);
    REQUIRE(parsed);
    CHECK(parsed->type == ElementType{Kind::kUnsigned, 1});
    CHECK(parsed->by_column);
    CHECK(parsed->columns == 6);
  }
  const auto one_dimension = parse(npy_header_of("<i4", "(3,)"), 12);
  REQUIRE(one_dimension);
  CHECK(one_dimension->columns == 1);
  CHECK(parse(npy_header_of("<i4", "(0, 26)"), 0)->rows == 0);
}

TEST_CASE("one column has the same order of values in both orders", "[npy]") {
  const auto parsed =
      parse(npy_header("{'descr': '<i4', 'fortran_order': True, 'shape': (3, 1), }"), 12);
  REQUIRE(parsed);
  CHECK_FALSE(parsed->by_column);
}

TEST_CASE("types that are no little-endian numbers are refused by name", "[npy]") {
  CHECK_THAT(refusal(npy_header_of(">f4", "(3,)")),
             Catch::Contains("\">f4\"") && Catch::Contains("big-endian"));
  for (const std::string type :
       {"<c8", "|S5", "<U3", "|O", "<M8[s]", "<f1", "<i3", "|i4", "<b1x", "|V4", "<f6"}) {
    CHECK_THAT(refusal(npy_header_of(type, "(3,)")),
               Catch::Contains("\"" + type + "\", which is not read"));
  }
  CHECK_THAT(
      refusal(npy_header("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (3,), }")),
      Catch::Contains("structured"));
  CHECK(parse(npy_header_of("|b1", "(12,)"), 12)->type == ElementType{Kind::kBoolean, 1});
  CHECK(parse(npy_header_of("<f2", "(6,)"), 12)->type.name() == "float16");
  CHECK(parse(npy_header_of("<i8", "(1,)"), 8)->type.name() == "int64");
}

TEST_CASE("a shape must be of rows and fit the bytes that there are", "[npy]") {
  CHECK_THAT(refusal(npy_header_of("<i4", "()")), Catch::Contains("0 dimensions"));
  CHECK_THAT(refusal(npy_header_of("<i4", "(1, 1, 3)")), Catch::Contains("3 dimensions"));
  CHECK_THAT(refusal(npy_header_of("<i4", "(4,)")),
             Catch::Contains("needs 16 bytes") && Catch::Contains("are 12"));
  CHECK_THAT(refusal(npy_header_of("<i4", "(2,)")), Catch::Contains("needs 8 bytes"));
  CHECK_THAT(refusal(npy_header_of("<i4", "(4611686018427387907,)")), Catch::Contains("far more"));
  CHECK_THAT(refusal(npy_header_of("<i4", "(1, 65537)")), Catch::Contains("65537 columns"));
  CHECK_THAT(refusal(npy_header_of("<i4", "(18446744073709551616,)")),
             Catch::Contains("is no dictionary"));
}

TEST_CASE("a damaged header is refused and never read past its end", "[npy]") {
  const std::string header = npy_header_of("<i4", "(3,)");
  for (std::size_t size = 0; size < header.size(); ++size) {
    const std::string start = header.substr(0, size);
    CHECK_FALSE(parse_array_header(start, 1000));
  }
  CHECK_THAT(refusal("PK" + header), Catch::Contains("first bytes"));
  std::string later = header;
  later[6] = 4;
  CHECK_THAT(refusal(later), Catch::Contains("version 4"));
  std::string longer = header;
  longer[9] = '\x7f';
  CHECK_THAT(refusal(longer), Catch::Contains("longer than"));
  for (const char* text :
       {"", "[]", "{'descr': '<i4'}", "{'descr': '<i4', 'fortran_order': 1, 'shape': (3,)}",
        "{'descr': '<i4', 'fortran_order': False, 'shape': (3,)} x", "{'descr': '<i4",
        "{'descr': '<i4', 'fortran_order': False, 'shape': (3 4)}",
        "{'descr': '<i4' 'fortran_order': False, 'shape': (3,)}",
        "{'descr': '<i4', 'fortran_order': False, 'shape': (-3,)}", "{'other': 1}"}) {
    CHECK_THAT(refusal(npy_header(text)), Catch::StartsWith("no .npy array, or a damaged one: "));
  }
}

}  // namespace
}  // namespace forebay::npy

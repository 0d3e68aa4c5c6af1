#include "actors/format/formats.h"

#include "tests/support/made_up_format.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using test::MadeUpFormat;

TEST_CASE("a format that does not exist is refused by its key", "[format]") {
  const auto refused = Formats().of("parkett");
  REQUIRE_FALSE(refused);
  CHECK(refused.error() == Error{Code::kInvalid,
                                 "dataset.format: \"parkett\" is not a format; those there are: "
                                 "criteo_tsv, csv, parquet, npy"});
}

TEST_CASE("one row adds a format to a table, and to no other table", "[format]") {
  Formats formats;
  formats.add(MadeUpFormat::entry());
  const auto entry = formats.of(MadeUpFormat::kName);
  REQUIRE(entry);
  CHECK(entry->open_units != nullptr);
  CHECK(entry->open_text == nullptr);
  CHECK_THAT(formats.of("parkett").error().message,
             Catch::EndsWith("criteo_tsv, csv, parquet, npy, " + std::string(MadeUpFormat::kName)));
  CHECK_FALSE(Formats().of(MadeUpFormat::kName));
}

TEST_CASE("a row replaces the row of its name", "[format]") {
  Formats formats;
  formats.add({.name = "csv", .open_text = {}, .open_units = MadeUpFormat::entry().open_units});
  CHECK(formats.of("csv")->open_text == nullptr);
  CHECK_THAT(formats.of("x").error().message, Catch::EndsWith("criteo_tsv, parquet, npy, csv"));
}

TEST_CASE("the place of a damaged row is a line, or a row of its group", "[format]") {
  BadRow row{.file = 0, .offset = 810, .line = 7, .reason = {}, .text = {}};
  CHECK(line_of(row) == "7");
  CHECK(place_of(row) == "line 7 (byte 810)");
  row.group = 2;
  CHECK(line_of(row) == "row group 2, row 7");
  CHECK(place_of(row) == "row group 2, row 7");
}

}  // namespace
}  // namespace forebay

#include "actors/format/csv/csv.h"

#include <cmath>
#include <cstdint>
#include <string>

#include "actors/format/csv/decimal.h"
#include "tests/actors/format/split_maker.h"

#include "tests/support/catch.h"

namespace forebay::test {
namespace {

const ColumnSpec kColumns{.label = "click", .dense = {"x"}, .sparse = {"city"}};

struct CsvFixture {
  SplitMaker maker;
  DatasetSpec spec{.format = "csv"};

  Result<std::unique_ptr<TextFormat>> open(const std::string& text,
                                           const ColumnSpec& columns = kColumns) {
    return open_csv(spec, columns, {text.data(), text.size()});
  }
  std::string refusal(const std::string& text, const ColumnSpec& columns = kColumns) {
    const auto format = open(text, columns);
    return format ? "accepted" : format.error().message;
  }
  /// Decodes rows under the header click,x,city.
  Decoded decode(const std::string& rows) {
    const std::string text = "click,x,city\n" + rows;
    return maker.decode(**open(text), text);
  }
  std::string reason(const std::string& rows) {
    const Decoded decoded = decode(rows);
    return decoded.bad.size() == 1 ? decoded.bad[0].reason : "sound";
  }
};

TEST_CASE_METHOD(CsvFixture, "a csv row becomes label, floats and ids by its header",
                 "[format][csv]") {
  const Decoded decoded = decode("1,2.5,7\n0,-inf,Wien\n1.0,,\n0.0, nan ,-3\n");
  REQUIRE(decoded.bad.empty());
  REQUIRE(decoded.columns.rows == 4);
  CHECK(decoded.columns.labels[0] == 1.0F);
  CHECK(decoded.columns.labels[1] == 0.0F);
  CHECK(decoded.columns.labels[2] == 1.0F);
  CHECK(decoded.columns.labels[3] == 0.0F);
  CHECK(decoded.columns.dense[0][0] == 2.5F);
  CHECK(decoded.columns.dense[0][1] == -INFINITY);
  CHECK(is_missing(decoded.columns.dense[0][2]));
  CHECK(std::isnan(decoded.columns.dense[0][3]));
  CHECK_FALSE(is_missing(decoded.columns.dense[0][3]));
  const SparseColumn& city = decoded.columns.sparse[0];
  REQUIRE(city.offsets != nullptr);
  CHECK(ids_of(city, 0) == std::vector<std::int64_t>{7});
  CHECK(ids_of(city, 1) == std::vector<std::int64_t>{id_of("Wien")});
  CHECK(ids_of(city, 2).empty());
  CHECK(ids_of(city, 3) == std::vector<std::int64_t>{-3});
}

TEST_CASE_METHOD(CsvFixture, "blanks around labels and dense numbers are left out, not of ids",
                 "[format][csv]") {
  const Decoded decoded = decode(" 1,\t2.5 , 7\n1 ,2.5,7 \n");
  REQUIRE(decoded.bad.empty());
  CHECK(decoded.columns.labels[0] == 1.0F);
  CHECK(decoded.columns.labels[1] == 1.0F);
  CHECK(decoded.columns.dense[0][0] == 2.5F);
  CHECK(ids_of(decoded.columns.sparse[0], 0)[0] == id_of(" 7"));
  CHECK(ids_of(decoded.columns.sparse[0], 1)[0] == id_of("7 "));
  for (const char* label : {"+1", "01", "1 0"}) {
    CHECK(reason(std::string(label) + ",1,a\n").ends_with("is not 0 or 1"));
  }
}

TEST_CASE_METHOD(CsvFixture, "quotes may hold delimiters, newlines and quotes", "[format][csv]") {
  const Decoded decoded = decode(
      "0,1,\"a,b\"\n\"1\",\"2\",\"a\nb\"\r\n0,3,\"say \"\"hi\"\"\"\n0,4,\"\"\n0,5,in\"side\n");
  REQUIRE(decoded.bad.empty());
  REQUIRE(decoded.columns.rows == 5);
  const SparseColumn& city = decoded.columns.sparse[0];
  CHECK(ids_of(city, 0)[0] == id_of("a,b"));
  CHECK(ids_of(city, 1)[0] == id_of("a\nb"));
  CHECK(ids_of(city, 2)[0] == id_of("say \"hi\""));
  CHECK(ids_of(city, 3).empty());
  CHECK(ids_of(city, 4)[0] == id_of("in\"side"));
  CHECK(decoded.columns.labels[1] == 1.0F);
  CHECK(decoded.columns.dense[0][1] == 2.0F);
}

TEST_CASE_METHOD(CsvFixture, "a row with many quoted fields keeps them apart", "[format][csv]") {
  const std::string text =
      "click,a,b,c\n0,\"1\"\"1\",\"a longer text than a short string \"\" holds\",\"3\"\"\"\n";
  const auto format = open(text, {.label = "click", .dense = {}, .sparse = {"a", "b", "c"}});
  const Decoded decoded = maker.decode(**format, text);
  REQUIRE(decoded.columns.rows == 1);
  CHECK(ids_of(decoded.columns.sparse[0], 0)[0] == id_of("1\"1"));
  CHECK(ids_of(decoded.columns.sparse[1], 0)[0] ==
        id_of("a longer text than a short string \" holds"));
  CHECK(ids_of(decoded.columns.sparse[2], 0)[0] == id_of("3\""));
}

TEST_CASE_METHOD(CsvFixture, "a damaged csv row is named with its column", "[format][csv]") {
  CHECK(reason("2,1,a\n") == "column click: \"2\" is not 0 or 1");
  CHECK(reason(",1,a\n") == "column click: \"\" is not 0 or 1");
  CHECK(reason("0,one,a\n") == "column x: \"one\" is not a number");
  CHECK(reason("0,1\n") == "2 fields, not 3");
  CHECK(reason("0,1,a,b\n") == "4 fields, not 3");
  CHECK(reason("0,1,\"a\"b\n") == "column city has text after its closing quote");
  CHECK(reason("0,1,\"a\n") == "column city has a quote that is never closed");
  CHECK(reason("0,1,\"a\n\n0,1,b\n") == "column city has a quote that is never closed");
  CHECK(reason(std::string("0,1\0,a\n", 7)) == "column x has a NUL byte");
  CHECK(reason(std::string("0,1,\"\0\"\n", 8)) == "column city has a NUL byte");
  CHECK(reason("0,1,a,b,\"c\"d\n") == "field 5 has text after its closing quote");
}

TEST_CASE_METHOD(CsvFixture, "blank lines are not rows, and lines are still counted",
                 "[format][csv]") {
  const std::string text =
      "\xEF\xBB\xBF\r\n\nclick,x,city\r\n\r\n0,1,\"a\nb\"\r\n\n\r\n0,bad,c\r\n\n\r";
  const auto format = open(text);
  REQUIRE(format);
  for (std::size_t piece = 1; piece < 12; ++piece) {
    const auto blocks = SplitMaker::index(**format, text, piece);
    REQUIRE(blocks);
    CHECK(blocks->rows() == 2);
    CHECK(blocks->blocks()[0].offset == 22);
    CHECK(blocks->blocks()[0].line == 5);
  }
  const Decoded decoded = maker.decode(**format, text);
  CHECK(decoded.columns.rows == 1);
  REQUIRE(decoded.bad.size() == 1);
  CHECK(decoded.bad[0].line == 9);
  CHECK(decoded.bad[0].offset == text.find("0,bad"));
  CHECK(decoded.bad[0].text == "0,bad,c\r");
}

TEST_CASE_METHOD(CsvFixture, "without a header columns are c0, c1 and so on", "[format][csv]") {
  spec.csv.header = false;
  spec.csv.delimiter = '\t';
  const std::string text = "1\t2.5\ta,b\n0\t3\tc";
  const auto format = open(text, {.label = "c0", .dense = {"c1"}, .sparse = {"c2"}});
  REQUIRE(format);
  const Decoded decoded = maker.decode(**format, text);
  REQUIRE(decoded.columns.rows == 2);
  CHECK(decoded.columns.dense[0][1] == 3.0F);
  CHECK(ids_of(decoded.columns.sparse[0], 0)[0] == id_of("a,b"));
  CHECK(refusal(text, {.label = "c3", .dense = {"c1"}}) ==
        "columns.label: no column matches \"c3\"; did you mean \"c0\"?");
}

TEST_CASE_METHOD(CsvFixture, "a list delimiter makes a sparse field a list", "[format][csv]") {
  spec.csv.list_delimiter = "|";
  const std::string text = "click,tags,x,more\n1,1|2|3,5,|\n0,,6,9\n0,bad,y,1\n1,4,7,|a||b|\n";
  const auto format = open(text, {.label = "click", .dense = {"x"}, .sparse = {"tags", "more"}});
  REQUIRE(format);
  const Decoded decoded = maker.decode(**format, text);
  REQUIRE(decoded.columns.rows == 3);
  CHECK(decoded.bad.size() == 1);
  const auto& sparse = decoded.columns.sparse;
  CHECK(ids_of(sparse[0], 0) == std::vector<std::int64_t>{1, 2, 3});
  CHECK(ids_of(sparse[0], 1).empty());
  CHECK(ids_of(sparse[0], 2) == std::vector<std::int64_t>{4});
  CHECK(ids_of(sparse[1], 0).empty());
  CHECK(ids_of(sparse[1], 1) == std::vector<std::int64_t>{9});
  CHECK(ids_of(sparse[1], 2) == std::vector<std::int64_t>{id_of("a"), id_of("b")});
  CHECK(decoded.columns.bytes() <= (*format)->decoded_bytes({.rows = 4, .bytes = text.size()}));
}

TEST_CASE_METHOD(CsvFixture, "with a threshold a csv label is 1 from there on", "[format][csv]") {
  const auto label = [&](const std::string& field) {
    const std::string text = "click,x,city\n" + field + ",1,a\n";
    ColumnSpec columns = kColumns;
    columns.label_threshold = 4.1;
    const Decoded decoded = maker.decode(**open(text, columns), text);
    return decoded.bad.empty() ? std::to_string(decoded.columns.labels[0]).substr(0, 1)
                               : decoded.bad[0].reason;
  };
  CHECK(label("4.1") == "1");  // As doubles: the float nearest to 4.1 lies below it.
  CHECK(label("4.0999999999") == "0");
  CHECK(label(" 5 ") == "1");
  CHECK(label("1e300") == "1");
  CHECK(label("-1e-400") == "0");
  CHECK(label("0") == "0");
  CHECK(label("") == "column click: \"\" is not a finite number");
  CHECK(label("nan") == "column click: \"nan\" is not a finite number");
  CHECK(label("inf") == "column click: \"inf\" is not a finite number");
  CHECK(label("1e999") == "column click: \"1e999\" is not a finite number");
  CHECK(label("five") == "column click: \"five\" is not a finite number");
}

TEST_CASE_METHOD(CsvFixture, "a csv weight is a finite number that is not negative",
                 "[format][csv]") {
  const ColumnSpec columns{.label = "click", .sparse = {"city"}, .weight = "x"};
  const auto decode_weight = [&](const std::string& field) {
    const std::string text = "click,x,city\n0," + field + ",a\n";
    return maker.decode(**open(text, columns), text);
  };
  CHECK(decode_weight(" 2.5").columns.weights[0] == 2.5F);
  CHECK(decode_weight("0").columns.weights[0] == 0);
  CHECK(decode_weight("-0").bad.empty());
  for (const std::string wrong : {"", "-1", "nan", "inf", "-inf", "1e39", "x"}) {
    const Decoded decoded = decode_weight(wrong);
    REQUIRE(decoded.bad.size() == 1);
    CHECK(decoded.bad[0].reason ==
          "column x: \"" + wrong + "\" is not a weight (finite and at least 0)");
  }
}

TEST_CASE_METHOD(CsvFixture, "a csv extra is its int64, else its hash, and 0 where it is missing",
                 "[format][csv]") {
  spec.csv.list_delimiter = GENERATE("", "|");
  const ColumnSpec columns{.label = "click",
                           .dense = {"x"},
                           .sparse = {"city"},
                           .weight = "w",
                           .extra = {"time", "session"}};
  const std::string text =
      "session,click,x,city,w,time\n"
      "a|b,1,1,7,0.5,1700000000123\n"
      "7,0,,8,bad,5\n"
      ",0,2,9,0,-9223372036854775808\n"
      "007,0,3,9,3,\n"
      "c,0,4,,3,1.5\n";
  const auto format = open(text, columns);
  REQUIRE(format);
  CHECK((*format)->schema().extra ==
        std::vector<ExtraColumn>{{.name = "time"}, {.name = "session"}});
  const Decoded decoded = maker.decode(**format, text);
  REQUIRE(decoded.columns.rows == 4);
  CHECK(decoded.bad.size() == 1);
  const auto column = [&](std::size_t i) {
    const std::int64_t* values = decoded.columns.extras.at(i);
    return std::vector<std::int64_t>(values, values + 4);
  };
  CHECK(column(0) == std::vector<std::int64_t>{1700000000123, INT64_MIN, 0, id_of("1.5")});
  CHECK(column(1) == std::vector<std::int64_t>{id_of("a|b"), 0, id_of("007"), id_of("c")});
  CHECK(std::vector<float>(decoded.columns.weights, decoded.columns.weights + 4) ==
        std::vector<float>{0.5F, 0, 3, 3});
  CHECK(decoded.columns.bytes() <= (*format)->decoded_bytes({.rows = 5, .bytes = text.size()}));
}

TEST_CASE_METHOD(CsvFixture, "an impossible csv file is refused by name", "[format][csv]") {
  CHECK(refusal("") == "dataset: the first file is empty; it must hold CSV rows");
  CHECK(refusal("\xEF\xBB\xBF\n\r\n") == "dataset: the first file is empty; it must hold CSV rows");
  CHECK(refusal("click,x,\"city\n") ==
        "dataset: the first file cannot be read as CSV: the first row, column 3, has a quote that "
        "is never closed");
  CHECK(refusal("click,x,town\n") == "columns.sparse: no column matches \"city\"");
  CHECK(refusal("click,x,city") == "accepted");
  spec.csv.delimiter = '"';
  CHECK(refusal("click,x,city").starts_with("dataset.csv.delimiter: "));
  spec.csv.delimiter = ',';
  spec.csv.list_delimiter = ",";
  CHECK(refusal("click,x,city").starts_with("dataset.csv.list_delimiter: "));
}

TEST_CASE_METHOD(CsvFixture, "a later file must have the first one's header", "[format][csv]") {
  const auto format = open(",click,x,city\n");
  const auto answer = [&](const std::string& text) {
    const Status status = (*format)->accepts({text.data(), text.size()});
    return status ? "accepted" : status.error().message;
  };
  const std::string differs = "its header differs from that of the dataset's first file: column ";
  CHECK(answer("\xEF\xBB\xBF\"\",click,\"x\",city\r\n1") == "accepted");
  CHECK(answer("") == "accepted");
  CHECK(answer(",click,y,city\n") == differs + "3 is \"y\", not \"x\"");
  CHECK(answer(",click,x\n") == differs + "4 is missing, not \"city\"");
  CHECK(answer(",click,x,city,more\n") == differs + "5 is \"more\", not missing");
}

TEST_CASE_METHOD(CsvFixture, "a row that grows past the limit blames an unclosed quote",
                 "[format][csv]") {
  spec.max_row_bytes = 100;
  std::string text = "click,x,city\n0,1,a\n0,1,\"b\n";
  for (int i = 0; i < 30; ++i) text += "0,1,c\n";
  const auto format = open(text);
  for (const std::size_t piece : {std::size_t{1}, std::size_t{60}, std::size_t{5000}}) {
    const auto refused = SplitMaker::index(**format, text, piece);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == Code::kCorrupt);
    CHECK(refused.error().message ==
          "row at byte 19, line 3, is longer than 100 bytes (dataset.max_row_bytes); "
          "a quote that is not closed is the likely cause");
  }
  const auto plain = SplitMaker::index(**format, "click\n" + std::string(200, 'x') + "\n", 7);
  REQUIRE_FALSE(plain);
  CHECK(plain.error().message ==
        "row at byte 6, line 2, is longer than 100 bytes (dataset.max_row_bytes)");
}

}  // namespace
}  // namespace forebay::test

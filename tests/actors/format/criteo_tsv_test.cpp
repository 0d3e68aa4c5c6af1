#include "actors/format/criteo/criteo_tsv.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "actors/format/criteo/criteo_row.h"
#include "core/base/random.h"
#include "tests/actors/format/split_maker.h"

#include "tests/support/catch.h"

namespace forebay::test {
namespace {

/// The fields of a sound row: label 0, I1 … I13 = 1 … 13, C1 … C26 = 0x1 … 0x1a.
std::vector<std::string> sound_fields() {
  std::vector<std::string> fields{"0"};
  for (int i = 1; i <= 13; ++i) fields.push_back(std::to_string(i));
  static constexpr char kDigits[] = "0123456789abcdef";
  for (unsigned i = 1; i <= 26; ++i) {
    fields.push_back(i < 16 ? std::string(1, kDigits[i]) : std::string("1") + kDigits[i - 16]);
  }
  return fields;
}

std::string line_of(const std::vector<std::string>& fields, const char* end = "\n") {
  std::string line = fields[0];
  for (std::size_t i = 1; i < fields.size(); ++i) line += '\t' + fields[i];
  return line + end;
}

/// A sound row with field `i` (0 the label, 1 … 13 the integers, then tokens) replaced.
std::string row_with(std::size_t i, const std::string& text) {
  auto fields = sound_fields();
  fields[i] = text;
  return line_of(fields);
}

struct CriteoFixture {
  std::unique_ptr<TextFormat> format = std::move(*open_criteo_tsv({}, {}));
  SplitMaker maker;

  Decoded decode(const std::string& text, const DecodeOptions& options = {}) {
    return maker.decode(*format, text, options);
  }
  std::string reason(const std::string& text) {
    const Decoded decoded = decode(text);
    return decoded.bad.size() == 1 ? decoded.bad[0].reason : "sound";
  }
};

void check_same(const Decoded& a, const Decoded& b) {
  REQUIRE(a.columns.rows == b.columns.rows);
  CHECK(a.filtered == b.filtered);
  REQUIRE(a.bad.size() == b.bad.size());
  for (std::size_t i = 0; i < a.bad.size(); ++i) {
    CHECK(a.bad[i].offset == b.bad[i].offset);
    CHECK(a.bad[i].reason == b.bad[i].reason);
  }
  const std::size_t rows = a.columns.rows;
  CHECK(std::memcmp(a.columns.labels, b.columns.labels, rows * sizeof(float)) == 0);
  CHECK(std::memcmp(a.columns.origins, b.columns.origins, rows * sizeof(RowOrigin)) == 0);
  for (std::size_t i = 0; i < a.columns.dense.size(); ++i) {
    CHECK(std::memcmp(a.columns.dense[i], b.columns.dense[i], rows * sizeof(float)) == 0);
  }
  for (std::size_t i = 0; i < a.columns.sparse.size(); ++i) {
    const SparseColumn& ours = a.columns.sparse[i];
    const SparseColumn& theirs = b.columns.sparse[i];
    REQUIRE(ours.count(rows) == theirs.count(rows));
    CHECK(std::memcmp(ours.values, theirs.values, ours.count(rows) * sizeof(std::int64_t)) == 0);
    REQUIRE((ours.offsets == nullptr) == (theirs.offsets == nullptr));
    if (ours.offsets == nullptr) continue;
    CHECK(std::memcmp(ours.offsets, theirs.offsets, (rows + 1) * sizeof(std::int32_t)) == 0);
  }
}

/// Compares the decoded rows with CriteoRow's parse of the same rows, found by their origins.
void check_rows(const Decoded& decoded, const std::string& text) {
  for (std::size_t i = 0; i < decoded.columns.rows; ++i) {
    const std::size_t at = decoded.columns.origins[i].offset();
    CriteoRow row;
    REQUIRE(row.parse(std::string_view(text).substr(at, text.find('\n', at) - at)).empty());
    CHECK(decoded.columns.labels[i] == row.label);
    for (std::size_t c = 0; c < CriteoRow::kInts; ++c) {
      CHECK(std::bit_cast<std::uint32_t>(decoded.columns.dense[c][i]) ==
            std::bit_cast<std::uint32_t>(row.ints[c]));
    }
    for (std::size_t c = 0; c < CriteoRow::kTokens; ++c) {
      const bool present = (row.present >> c & 1) != 0;
      CHECK(ids_of(decoded.columns.sparse[c], i) ==
            (present ? std::vector{row.tokens[c]} : std::vector<std::int64_t>{}));
    }
  }
}

std::string refusal(const ColumnSpec& columns) {
  auto format = open_criteo_tsv({}, columns);
  return format ? "accepted" : format.error().message;
}

TEST_CASE_METHOD(CriteoFixture, "a criteo row becomes a label, 13 floats and 26 ids",
                 "[format][criteo]") {
  const Decoded decoded = decode(row_with(0, "1"));
  REQUIRE(decoded.columns.rows == 1);
  CHECK(decoded.columns.labels[0] == 1.0F);
  for (std::size_t i = 0; i < 13; ++i)
    CHECK(decoded.columns.dense[i][0] == static_cast<float>(i + 1));
  for (std::size_t i = 0; i < 26; ++i) {
    CHECK(decoded.columns.sparse[i].offsets == nullptr);
    CHECK(ids_of(decoded.columns.sparse[i], 0) == std::vector{static_cast<std::int64_t>(i + 1)});
  }
}

TEST_CASE_METHOD(CriteoFixture, "an empty integer is missing and an empty token an empty list",
                 "[format][criteo]") {
  const Decoded decoded = decode(row_with(3, "") + row_with(14, "") + row_with(39, ""));
  REQUIRE(decoded.columns.rows == 3);
  CHECK(is_missing(decoded.columns.dense[2][0]));
  CHECK(decoded.columns.dense[2][1] == 3.0F);
  const SparseColumn& c1 = decoded.columns.sparse[0];
  REQUIRE(c1.offsets != nullptr);
  CHECK(ids_of(c1, 0) == std::vector<std::int64_t>{1});
  CHECK(ids_of(c1, 1).empty());
  CHECK(ids_of(c1, 2) == std::vector<std::int64_t>{1});
  CHECK(c1.count(3) == 2);
  CHECK(ids_of(decoded.columns.sparse[25], 2).empty());
  CHECK(decoded.columns.sparse[1].offsets == nullptr);
}

TEST_CASE_METHOD(CriteoFixture,
                 "integers are read to the ends of int64 and rounded to the nearest float",
                 "[format][criteo]") {
  const std::vector<std::pair<std::string, float>> cases{
      {"0", 0.0F},
      {"-1", -1.0F},
      {"-0", 0.0F},
      {"007", 7.0F},
      {"12345678", 12345678.0F},
      {"-1234567", -1234567.0F},
      {"-12345678", -12345678.0F},
      {"16777217",
       16777216.0F},  // 2^24 + 1 lies between two floats and is rounded to the even one.
      {"16777219", 16777220.0F},  // 2^24 + 3 lies between two floats, too: 16777220 = 4 * 4194305
                                  // is even in units of 2.
      {"2147483648", 2147483648.0F},
      {"9223372036854775807", 9223372036854775808.0F},
      {"-9223372036854775808", -9223372036854775808.0F}};
  for (const auto& [text, value] : cases) {
    const Decoded decoded = decode(row_with(5, text));
    INFO(text);
    REQUIRE(decoded.columns.rows == 1);
    CHECK(decoded.columns.dense[4][0] == value);
    CHECK_FALSE(
        std::signbit(decoded.columns.dense[4][0] == 0 ? decoded.columns.dense[4][0] : 0.0F));
  }
}

TEST_CASE_METHOD(CriteoFixture, "tokens are hexadecimal in either case", "[format][criteo]") {
  const Decoded decoded =
      decode(row_with(14, "FfAa09Bb") + row_with(14, "ffffffff") + row_with(14, "00000001"));
  REQUIRE(decoded.columns.rows == 3);
  CHECK(ids_of(decoded.columns.sparse[0], 0)[0] == 0xffaa09bb);
  CHECK(ids_of(decoded.columns.sparse[0], 1)[0] == 0xffffffff);
  CHECK(ids_of(decoded.columns.sparse[0], 2)[0] == 1);
}

TEST_CASE_METHOD(CriteoFixture, "a damaged criteo row is named with its column",
                 "[format][criteo]") {
  CHECK(reason(row_with(0, "2")) == "column label: \"2\" is not 0 or 1");
  CHECK(reason(row_with(0, "")) == "column label: \"\" is not 0 or 1");
  CHECK(reason(row_with(0, "01")) == "column label: \"01\" is not 0 or 1");
  CHECK(reason(row_with(3, "x")) == "column I3: \"x\" is not an integer");
  CHECK(reason(row_with(3, "-")) == "column I3: \"-\" is not an integer");
  CHECK(reason(row_with(3, "+1")) == "column I3: \"+1\" is not an integer");
  CHECK(reason(row_with(3, "1.0")) == "column I3: \"1.0\" is not an integer");
  CHECK(reason(row_with(3, "1-2")) == "column I3: \"1-2\" is not an integer");
  CHECK(reason(row_with(3, " 1")) == "column I3: \" 1\" is not an integer");
  CHECK(reason(row_with(13, "9223372036854775808")) ==
        "column I13: \"9223372036854775808\" does not fit in 64 bits");
  CHECK(reason(row_with(14, "0x1")) == "column C1: \"0x1\" is not 1 to 8 hexadecimal digits");
  CHECK(reason(row_with(14, "-1")) == "column C1: \"-1\" is not 1 to 8 hexadecimal digits");
  CHECK(reason(row_with(39, "123456789")) ==
        "column C26: \"123456789\" is not 1 to 8 hexadecimal digits");
  CHECK(reason(row_with(20, std::string("a\0b", 3))) ==
        "column C7: \"a\\x00b\" is not 1 to 8 hexadecimal digits");
  CHECK(reason(row_with(20, "\xC3\xA4")) ==
        "column C7: \"\xC3\xA4\" is not 1 to 8 hexadecimal digits");
  CHECK(reason(row_with(39, "a\r\r")) == "column C26: \"a\\x0d\" is not 1 to 8 hexadecimal digits");
  CHECK(reason("\n") == "0 tabs, not 39");
  CHECK(reason(row_with(39, "1\t")) == "40 tabs, not 39");
  auto fields = sound_fields();
  fields.pop_back();
  CHECK(reason(line_of(fields)) == "38 tabs, not 39");
}

TEST_CASE_METHOD(CriteoFixture, "a row may end in a carriage return, or with the file",
                 "[format][criteo]") {
  const std::string text = line_of(sound_fields(), "\r\n") + row_with(39, "") + row_with(39, "\r") +
                           line_of(sound_fields(), "");
  const Decoded decoded = decode(text);
  CHECK(decoded.bad.empty());
  REQUIRE(decoded.columns.rows == 4);
  CHECK(ids_of(decoded.columns.sparse[25], 0) == std::vector<std::int64_t>{26});
  CHECK(ids_of(decoded.columns.sparse[25], 1).empty());
  CHECK(ids_of(decoded.columns.sparse[25], 2).empty());
  CHECK(ids_of(decoded.columns.sparse[25], 3) == std::vector<std::int64_t>{26});
}

TEST_CASE_METHOD(CriteoFixture, "a damaged row is reported with file, offset, line and text",
                 "[format][criteo]") {
  const std::string good = line_of(sound_fields());
  const std::string text = good + good + "spoilt\t" + std::string(300, 'x') + "\n" + good + "\n";
  const auto blocks = SplitMaker::index(*format, text, 7);
  const Decoded decoded = format->decode(maker.split(text, *blocks, 3), {}, maker.pool());
  REQUIRE(decoded.bad.size() == 2);
  CHECK(decoded.bad[0].file == 3);
  CHECK(decoded.bad[0].offset == 2 * good.size());
  CHECK(decoded.bad[0].line == 3);
  CHECK(decoded.bad[0].text == "spoilt\t" + std::string(249, 'x'));
  CHECK(decoded.bad[1].line == 5);
  CHECK(decoded.bad[1].text.empty());
  CHECK(decoded.columns.rows == 3);
}

TEST_CASE_METHOD(CriteoFixture, "held-out rows are counted, and damaged ones among them reported",
                 "[format][criteo]") {
  std::string text;
  for (int i = 0; i < 500; ++i) text += row_with(1, i % 50 == 7 ? "bad" : std::to_string(i));
  const RowFilter training(RowFilter::Keep::kTraining, 9, 0.3);
  const RowFilter held_out(RowFilter::Keep::kHeldOut, 9, 0.3);
  const Decoded some = decode(text, {.filter = training, .keep_origins = true});
  const Decoded others = decode(text, {.filter = held_out, .keep_origins = true});
  CHECK(some.bad.size() == 10);
  CHECK(others.bad.size() == 10);
  CHECK(some.columns.rows + some.filtered == 490);
  CHECK(some.columns.rows == others.filtered);
  CHECK(some.filtered > 90);  // 147 of 490 are expected.
  CHECK(some.filtered < 200);
  for (std::size_t i = 0; i < some.columns.rows; ++i) {
    CHECK(training.keeps(0, some.columns.origins[i].offset()));
  }
  for (std::size_t i = 1; i < some.columns.rows; ++i) {
    CHECK(some.columns.dense[0][i - 1] < some.columns.dense[0][i]);
    CHECK(some.columns.origins[i - 1].offset() < some.columns.origins[i].offset());
  }
}

TEST_CASE("every processor level decodes the same bits from a mix of plain and unusual rows",
          "[format][criteo]") {
  Random random(31);
  SplitMaker maker;
  const std::vector<std::string> ints{"", "-1", "0", "7", "12345678", "-1234567", "123456789", "-"};
  const std::vector<std::string> tokens{"", "0", "ABCDEF01", "ffffffff", "9", "g", "123456789"};
  for (int round = 0; round < 40; ++round) {
    // Odd entries come last; in most rounds they are rare, so that groups stay whole.
    const std::uint32_t oddity = round % 4 == 0 ? 50 : 2000;
    const auto pick = [&](const std::vector<std::string>& from, std::size_t odd) {
      const std::size_t plain = from.size() - odd;
      return from[random.below(oddity) == 0 ? plain + random.below(odd) : random.below(plain)];
    };
    std::string text;
    for (std::uint32_t rows = random.below(300); rows > 0; --rows) {
      std::vector<std::string> fields{random.below(2) == 0 ? "0" : "1"};
      for (int i = 0; i < 13; ++i) fields.push_back(pick(ints, 2));
      for (int i = 0; i < 26; ++i) fields.push_back(pick(tokens, 2));
      text += line_of(fields, random.below(2) == 0 ? "\n" : "\r\n");
    }
    const DecodeOptions options{
        .filter = RowFilter(RowFilter::Keep::kTraining, 3, round % 2 == 0 ? 0.0 : 0.3),
        .keep_origins = true};
    const auto baseline = open_criteo_tsv({}, {}, CpuLevel::kBaseline);
    const Decoded expected = maker.decode(**baseline, text, options);
    for (int level = 1; level <= static_cast<int>(best_cpu_level()); ++level) {
      const auto format = open_criteo_tsv({}, {}, static_cast<CpuLevel>(level));
      check_same(maker.decode(**format, text, options), expected);
    }
    check_rows(expected, text);
  }
}

TEST_CASE("chosen criteo columns come in the order given, globs in file order",
          "[format][criteo]") {
  SplitMaker maker;
  const auto format =
      open_criteo_tsv({}, {.label = "label", .dense = {"I3", "I1*"}, .sparse = {"C26", "C[12]"}});
  REQUIRE(format);
  const Schema& schema = (*format)->schema();
  CHECK(schema.dense == std::vector<std::string>{"I3", "I1", "I10", "I11", "I12", "I13"});
  REQUIRE(schema.sparse.size() == 3);
  CHECK(schema.sparse[0].name == "C26");
  CHECK(schema.sparse[1].name == "C1");
  const Decoded decoded = maker.decode(**format, row_with(2, "5") + row_with(2, "no"));
  REQUIRE(decoded.columns.rows == 1);
  CHECK(decoded.bad.size() == 1);  // I2 is not selected but still checked.
  CHECK(decoded.columns.dense[0][0] == 3.0F);
  CHECK(decoded.columns.dense[2][0] == 10.0F);
  CHECK(ids_of(decoded.columns.sparse[0], 0)[0] == 26);
  CHECK(ids_of(decoded.columns.sparse[2], 0)[0] == 2);
}

TEST_CASE("impossible criteo columns are refused by key and name", "[format][criteo]") {
  CHECK(refusal({.dense = {"I14"}}) ==
        "columns.dense: no column matches \"I14\"; did you mean \"I1\"?");
  CHECK(refusal({.dense = {"C1"}}) ==
        "columns.dense: column \"C1\" of a criteo_tsv file is not dense; the dense ones are I1 to "
        "I13");
  CHECK(refusal({.sparse = {"I1"}}) ==
        "columns.sparse: column \"I1\" of a criteo_tsv file is not sparse; the sparse ones are C1 "
        "to C26");
  CHECK(refusal({.label = "I1", .sparse = {"C1"}}) ==
        "columns.label: column \"I1\" of a criteo_tsv file is not the label; that is \"label\"");
  CHECK(refusal({.dense = {"I1", "I*"}}) ==
        "columns.dense: column \"I1\" is already used by columns.dense; name it once");
}

TEST_CASE_METHOD(CriteoFixture, "decoded bytes bound the bytes that a split takes",
                 "[format][criteo]") {
  std::string text;
  for (int i = 0; i < 100; ++i) text += row_with(14, "");
  const Decoded decoded = decode(text, {.filter = {}, .keep_origins = true});
  CHECK(decoded.columns.bytes() <= format->decoded_bytes({.rows = 100, .bytes = text.size()}));
}

TEST_CASE("a row longer than the limit is refused with its place", "[format][criteo]") {
  DatasetSpec spec;
  spec.max_row_bytes = 100;
  const auto format = std::move(*open_criteo_tsv(spec, {}));
  const std::string good(100, 'x');
  CHECK(SplitMaker::index(*format, good + "\n" + good, 7)->rows() == 2);
  for (const std::size_t piece : {std::size_t{1}, std::size_t{50}, std::size_t{1000}}) {
    const auto refused = SplitMaker::index(*format, "short\n" + good + "y\n", piece);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == Code::kCorrupt);
    CHECK(refused.error().message.find("byte 6, line 2, is longer than 100 bytes") !=
          std::string::npos);
  }
}

TEST_CASE("a criteo job can have a threshold, a weight and extra columns", "[format][criteo]") {
  SplitMaker maker;
  const ColumnSpec columns{.label = "label",
                           .dense = {"I1"},
                           .sparse = {"C1"},
                           .label_threshold = 3,
                           .weight = "I2",
                           .extra = {"I3", "C2"}};
  const auto format = open_criteo_tsv({}, columns);
  REQUIRE(format);
  const auto row = [](const std::string& label, const std::string& weight, const std::string& extra,
                      const std::string& token) {
    auto fields = sound_fields();
    fields[0] = label;
    fields[2] = weight;
    fields[3] = extra;
    fields[15] = token;
    return line_of(fields);
  };
  std::string text = row("3", "2", "9007199254740993", "ff") + row("2.99", "0", "", "") +
                     row("x", "1", "1", "1") + row("5", "-1", "1", "1") + row("5", "", "1", "1");
  const std::size_t sound = GENERATE(2, 70);  // Also more rows than a kernel takes at once.
  for (std::size_t i = 2; i < sound; ++i) text += row("1", "4", "5", "6");
  const Decoded decoded = maker.decode(**format, text);
  REQUIRE(decoded.columns.rows == sound);
  const ColumnSet& set = decoded.columns;
  CHECK(std::vector<float>(set.labels, set.labels + 2) == std::vector<float>{1, 0});
  CHECK(std::vector<float>(set.weights, set.weights + 2) == std::vector<float>{2, 0});
  REQUIRE(set.extras.size() == 2);
  // 2^53 + 1 is no float and no double.
  CHECK(std::vector<std::int64_t>(set.extras[0], set.extras[0] + 2) ==
        std::vector<std::int64_t>{9007199254740993, 0});
  CHECK(std::vector<std::int64_t>(set.extras[1], set.extras[1] + 2) ==
        std::vector<std::int64_t>{255, 0});
  CHECK(set.extras[1][sound - 1] == (sound == 2 ? 0 : 6));
  CHECK(set.bytes() <= (*format)->decoded_bytes({.rows = sound + 3, .bytes = text.size()}));
  REQUIRE(decoded.bad.size() == 3);
  CHECK(decoded.bad[0].reason == "column label: \"x\" is not a finite number");
  CHECK(decoded.bad[1].reason == "column I2: \"-1\" is not a weight (finite and at least 0)");
  CHECK(decoded.bad[2].reason == "column I2: \"\" is not a weight (finite and at least 0)");
}

TEST_CASE("a token is no weight", "[format][criteo]") {
  const auto refused = open_criteo_tsv({}, {.label = "label", .dense = {"I*"}, .weight = "C3"});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message ==
        "columns.weight: column \"C3\" of a criteo_tsv file is no number; the numbers are I1 to "
        "I13");
}

}  // namespace
}  // namespace forebay::test

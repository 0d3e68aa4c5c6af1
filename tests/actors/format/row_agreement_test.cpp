#include <string>
#include <string_view>

#include "actors/format/criteo/criteo_tsv.h"
#include "actors/format/csv/csv.h"
#include "core/base/random.h"
#include "tests/actors/format/split_maker.h"

#include "tests/support/catch.h"

namespace forebay::test {
namespace {

std::string random_text(Random& random, std::string_view alphabet, std::uint32_t most) {
  std::string text;
  for (std::uint32_t left = random.below(most); left > 0; --left) {
    text += alphabet[random.below(alphabet.size())];
  }
  return text;
}

/// The decoder returns the rows that the scanner finds, kept or not, and the blocks do not depend
/// on the sizes of the pieces in which the file was scanned.
void check_agreement(const TextFormat& format, SplitMaker& maker, const std::string& text,
                     Random& random) {
  const auto whole = SplitMaker::index(format, text, text.size() + 1, 16);
  const auto pieces = SplitMaker::index(format, text, 1 + random.below(9), 16);
  REQUIRE(whole);
  REQUIRE(pieces);
  CHECK(whole->blocks() == pieces->blocks());
  const DecodeOptions options{.filter = RowFilter(RowFilter::Keep::kTraining, 1, 0.25)};
  const Decoded decoded = format.decode(maker.split(text, *whole), options, maker.pool());
  CHECK_FALSE(decoded.miscounted);
  CHECK(decoded.columns.rows + decoded.bad.size() + decoded.filtered == whole->rows());
  std::size_t block = 0;
  for (const BadRow& bad : decoded.bad) {
    while (block + 1 < whole->blocks().size() && whole->blocks()[block + 1].offset <= bad.offset)
      ++block;
    const auto lines =
        std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(bad.offset), '\n');
    CHECK(bad.line == static_cast<std::uint64_t>(lines) + 1);
  }
}

TEST_CASE("scanner and decoder agree on the rows of any csv file", "[format][csv]") {
  SplitMaker maker;
  Random random(7);
  for (int round = 0; round < 3000; ++round) {
    INFO("round " << round);
    const std::string head = "a,b\n";
    const auto format =
        open_csv({.format = "csv"}, {.label = "a", .sparse = {"b"}}, {head.data(), head.size()});
    REQUIRE(format);
    std::string text = random.below(3) == 0 ? "\xEF\xBB\xBF" : "";
    text += head;
    text += random_text(random, std::string_view("0011,,,\n\n\n\"\"\"\r\rx\0", 18),
                        random.below(200) + 1);
    check_agreement(**format, maker, text, random);
  }
}

TEST_CASE("scanner and decoder agree on the rows of any criteo file", "[format][criteo]") {
  SplitMaker maker;
  Random random(8);
  const auto format = open_criteo_tsv({}, {});
  for (int round = 0; round < 500; ++round) {
    INFO("round " << round);
    std::string text;
    for (std::uint32_t rows = random.below(80); rows > 0; --rows) {
      text += std::to_string(random.below(2));
      for (int i = 0; i < 39; ++i) {
        text += '\t';
        if (random.below(4) > 0) text += std::to_string(random.below(1000));
      }
      text += '\n';
    }
    for (std::uint32_t hits = random.below(4); hits > 0 && !text.empty(); --hits) {
      text[random.below(text.size())] = "\t\nx\r"[random.below(4)];
    }
    text += random_text(random, std::string_view("01\t\n\r", 5), random.below(50) + 1);
    check_agreement(**format, maker, text, random);
  }
}

TEST_CASE("a split whose rows differ from the index is refused with file and place", "[format]") {
  SplitMaker maker;
  const std::string head = "a,b\n";
  const auto csv =
      open_csv({.format = "csv"}, {.label = "a", .sparse = {"b"}}, {head.data(), head.size()});
  const auto tsv = open_criteo_tsv({}, {});
  std::string tsv_row(39, '\t');
  tsv_row = "0" + tsv_row + "\n";
  const std::pair<const Format*, std::string> cases[] = {{csv->get(), "1,2\n"},
                                                         {tsv->get(), tsv_row}};
  for (const auto& [format, row] : cases) {
    BlockBuilder blocks(4096);
    for (std::uint64_t i = 0; i < 3; ++i) blocks.add_row(i * row.size(), i + 1);
    for (const int rows : {2, 4}) {
      std::string text;
      for (int i = 0; i < rows; ++i) text += row;
      const Decoded decoded = format->decode(maker.split(text, blocks), {}, maker.pool());
      CHECK(decoded.columns.rows == (rows == 2 ? 2 : 3));
      CHECK(decoded.bad.empty());
      REQUIRE(decoded.miscounted);
      const std::string reason = rows == 2 ? "fewer" : "more";
      CHECK(decoded.miscounted->reason == reason + " rows than were indexed");
      CHECK(decoded.miscounted->offset == (rows == 2 ? 2 : 3) * row.size());
    }
    // The first of two blocks has two rows too many: the first of them is named.
    BlockBuilder early(4);
    early.add_row(0, 1);
    early.add_row(3 * row.size(), 4);
    const Decoded decoded =
        format->decode(maker.split(row + row + row + row, early), {}, maker.pool());
    REQUIRE(decoded.miscounted);
    CHECK(decoded.miscounted->offset == 2 * row.size());
  }
}

}  // namespace
}  // namespace forebay::test

#include "tools/inspect/table_guess.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

/// With the bytes behind its end that vector code may read.
std::optional<TableGuess> guess(std::string text, WholeText whole = WholeText::kYes) {
  const std::size_t size = text.size();
  text.resize(size + 64);
  return guess_table(std::string_view(text).substr(0, size), whole);
}

}  // namespace

TEST_CASE("a table's delimiter, header and rows are found", "[tools][inspect]") {
  const auto table = guess("id;click;note\n7;0;\"a; b\"\n\n8;1;c\n");
  REQUIRE(table);
  CHECK(table->delimiter == ';');
  CHECK(table->header);
  CHECK(table->rows == 2);
  REQUIRE(table->columns.size() == 3);
  CHECK(table->columns[0].name == "id");
  CHECK(table->columns[0].use() == "sparse");
  CHECK(table->columns[1].use() == "label");
  CHECK(table->columns[2].example == "a; b");
}

TEST_CASE("a column says how often a value comes in a row", "[tools][inspect]") {
  const auto table = guess("a,b\nx,1\nx,2\nx,2\n,2\n,3\n");
  REQUIRE(table);
  CHECK(table->columns[0].repeats.in_a_row() == 2.5);
  CHECK(table->columns[1].repeats.in_a_row() == 5.0 / 3);
}

TEST_CASE("a first row with a number in it, or a name twice, is no header", "[tools][inspect]") {
  const auto numbers = guess("a,1\nb,2\n");
  REQUIRE(numbers);
  CHECK_FALSE(numbers->header);
  CHECK(numbers->columns[1].name == "c1");
  CHECK(numbers->rows == 2);
  CHECK_FALSE(guess("a,a\nb,c\n")->header);
  CHECK(guess(",a\n1,c\n")->header);
}

TEST_CASE("the use of a column follows the most complex of its values", "[tools][inspect]") {
  const auto table = guess("bit,whole,number,text,none\n0,1,1,1,\n1.0,-7,1e3,x,\n");
  REQUIRE(table);
  std::vector<std::string> uses;
  for (const ColumnGuess& column : table->columns) uses.push_back(column.use());
  CHECK(uses == std::vector<std::string>{"label, dense or sparse", "dense or sparse", "dense",
                                         "sparse", "empty"});
  CHECK(table->columns[4].empty == 2);
  CHECK(table->columns[1].distinct == 2);
}

TEST_CASE("text whose rows do not agree is no table", "[tools][inspect]") {
  CHECK_FALSE(guess("once upon a time\nthere was, a\nfile, with, commas\n"));
  CHECK_FALSE(guess("one\ntwo\n"));
  CHECK_FALSE(guess("a,b"));
  CHECK_FALSE(guess(""));
}

TEST_CASE("below a header a table may have a damaged row among few", "[tools][inspect]") {
  const auto table = guess("click,p,i\n1,2,3\n0,1\n1,2,4\n");
  REQUIRE(table);
  CHECK(table->columns.size() == 3);
  CHECK(table->columns[2].repeats.rows == 2);
  CHECK_FALSE(guess("1,2,3\n0,1\n1,2,4\n"));
}

TEST_CASE("a last row that may be cut off is left out", "[tools][inspect]") {
  CHECK(guess("a,b\n1,2\n3,4\n5", WholeText::kNo)->rows == 2);
  CHECK(guess("1,2\n3,4\n5", WholeText::kYes) == std::nullopt);
  CHECK(guess("a,b\n1,2\n3,4", WholeText::kYes)->rows == 2);
}

}  // namespace forebay

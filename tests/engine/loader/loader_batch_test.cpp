// What a batch says of rows that share their values.

#include <fstream>
#include <span>
#include <string>
#include <vector>

#include <forebay/loader.h>

#include "tests/support/temp_dir.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

/// 400 rows: of `age` and `history` ten in a row are the same, `item` is another in each.
std::string csv_text() {
  std::string text = "click,age,history,item\n";
  for (int row = 0; row < 400; ++row) {
    const int request = row / 10;
    text += std::to_string(row % 2) + ',' + std::to_string(request % 50) + ',';
    for (int id = 0; id < request % 4; ++id) {
      text += (id > 0 ? "|" : "") + std::to_string(100 * request + id);
    }
    text += ',' + std::to_string(row) + '\n';
  }
  return text;
}

Loader opened(const test::TempDir& dir, const std::string& dedup) {
  dir.write("a.csv", csv_text());
  auto loader =
      Loader::open(dir.write("job.toml",
                             "[dataset]\nformat = \"csv\"\npaths = [\"a.csv\"]\n"
                             "csv.list_delimiter = \"|\"\n[order]\nbatch_size = 80\n[columns]\n"
                             "label = \"click\"\ndense = [\"age\"]\n"
                             "sparse = [\"history\", \"item\"]\n" +
                                 dedup));
  INFO((loader ? "" : loader.error().message));
  REQUIRE(loader);
  return std::move(*loader);
}

std::vector<std::int64_t> list_at(std::span<const std::int32_t> lengths,
                                  std::span<const std::int64_t> values, std::size_t row) {
  std::size_t first = 0;
  for (std::size_t i = 0; i < row; ++i) first += static_cast<std::size_t>(lengths[i]);
  const auto list = values.subspan(first, static_cast<std::size_t>(lengths[row]));
  return {list.begin(), list.end()};
}

TEST_CASE("a batch hands out different values once, with the place of each row's among them",
          "[engine][loader]") {
  const test::TempDir dir;
  Loader loader = opened(dir, "dedup = [[\"age\", \"history\"]]\n");
  std::size_t shared = 0;
  while (true) {
    const auto next = loader.next();
    REQUIRE(next);
    if (!*next) break;
    const LoaderBatch& batch = **next;
    REQUIRE(batch.groups() == 1);
    const auto repeats = batch.repeats(0);
    CHECK(std::vector<std::size_t>(repeats.dense.begin(), repeats.dense.end()) ==
          std::vector<std::size_t>{0});
    CHECK(std::vector<std::size_t>(repeats.sparse.begin(), repeats.sparse.end()) ==
          std::vector<std::size_t>{0});
    REQUIRE(repeats.inverse.size() == batch.rows());
    shared += batch.rows() - repeats.first_rows.size();
    const auto ages = batch.unique_dense(0, 0);
    const auto histories = batch.unique_sparse(0, 0);
    REQUIRE(ages.size() == repeats.first_rows.size());
    REQUIRE(histories.lengths.size() == repeats.first_rows.size());
    const auto column = batch.sparse(0);
    for (std::size_t row = 0; row < batch.rows(); ++row) {
      const std::uint32_t place = repeats.inverse[row];
      CHECK(ages[place] == batch.dense()[row]);
      CHECK(list_at(histories.lengths, histories.values, place) ==
            list_at(column.lengths, column.values, row));
    }
  }
  CHECK(shared > 100);
}

TEST_CASE("without columns.dedup a batch has no groups", "[engine][loader]") {
  const test::TempDir dir;
  Loader loader = opened(dir, "");
  const auto next = loader.next();
  REQUIRE((next && *next));
  CHECK((*next)->groups() == 0);
}

}  // namespace
}  // namespace forebay

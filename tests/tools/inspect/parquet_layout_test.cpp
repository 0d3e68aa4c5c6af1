#include "tools/inspect/parquet_layout.h"

#include <string>
#include <vector>

#include "tests/support/npy_files.h"
#include "tests/support/parquet_bytes.h"
#include "tests/support/temp_dir.h"
#include "tools/doctor/checks.h"
#include "tools/inspect/inspect.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

parquet::Footer footer_of(const std::vector<std::uint64_t>& group_rows, std::uint32_t index_bytes) {
  parquet::Footer footer;
  for (const char* name : {"label", "a", "list"}) {
    footer.leaves.push_back({.name = name, .type = "INT64", .meaning = parquet::Meaning::kSigned});
  }
  for (const std::uint64_t rows : group_rows) {
    const parquet::Chunk chunk{.bytes = rows * 4,
                               .uncompressed_bytes = rows * 8,
                               .values = rows,
                               .index_bytes = index_bytes};
    footer.groups.push_back({.rows = rows, .chunks = {chunk, chunk, chunk}});
    footer.rows += rows;
  }
  return footer;
}

ParquetLayout layout_of(const parquet::Footer& footer) {
  ParquetLayouts layouts;
  layouts.add(footer, {0, 1});
  return layouts.sum();
}

bool complains(const ParquetLayout& layout, const std::string& words) {
  for (const LayoutProblem& problem : problems_of(layout)) {
    if (problem.what.find(words) != std::string::npos) return true;
  }
  return false;
}

std::string table_file(std::size_t group_rows, bool index) {
  test::ParquetColumn label{.name = "label", .values = {0, 1, 0, 1}};
  test::ParquetColumn id{.name = "id", .values = {5, 5, 5, 6}, .dictionary = true};
  return test::ParquetBytes::file_of({label, id},
                                     {.group_rows = group_rows, .offset_index = index});
}

}  // namespace

TEST_CASE("a layout counts the rows of groups and the bytes of wanted columns",
          "[tools][inspect]") {
  const ParquetLayout layout = layout_of(footer_of({100, 300, 200}, 9));
  CHECK(layout.rows == 600);
  CHECK(layout.groups == 3);
  CHECK(layout.least_rows == 100);
  CHECK(layout.usual_rows == 200);
  CHECK(layout.most_rows == 300);
  CHECK(layout.bytes == 600 * 4 * 3);
  CHECK(layout.wanted_bytes == 600 * 4 * 2);
  CHECK(layout.group_bytes == 300 * 8 * 2);
  CHECK(layout.chunks == 6);
  CHECK(layout.indexed_chunks == 6);
  CHECK(describe_groups(layout) == "3 row groups of 100 to 300 rows, a page index");
  CHECK(problems_of(layout).empty());
}

TEST_CASE("row groups that are too fat, too small or too few are named with what to do",
          "[tools][inspect]") {
  // 2 columns of 8 bytes: 16 MiB are 1,048,576 rows.
  CHECK(complains(layout_of(footer_of({1'048'577}, 0)), "16 MiB unpacked and have no page index"));
  CHECK_FALSE(complains(layout_of(footer_of({1'048'576}, 0)), "unpacked"));
  CHECK(problems_of(layout_of(footer_of({1'048'577}, 9))).empty());
  CHECK(complains(layout_of(footer_of({1'048'576}, 0)), "few places"));
  const std::vector<std::uint64_t> many(65, 1023);
  CHECK(complains(layout_of(footer_of(many, 9)), "row groups of 1,023 rows are small"));
  CHECK(problems_of(layout_of(footer_of(std::vector<std::uint64_t>(65, 1024), 9))).empty());
  CHECK(problems_of(layout_of(footer_of(std::vector<std::uint64_t>(64, 1023), 9))).empty());
  for (const LayoutProblem& problem : problems_of(layout_of(footer_of(many, 9)))) {
    CHECK_THAT(problem.advice, Catch::Contains("forebay convert"));
  }
}

TEST_CASE("slow codecs and columns that are not read are problems too", "[tools][inspect]") {
  parquet::Footer footer = footer_of({100}, 9);
  footer.groups[0].chunks[1].codec = parquet::Codec::kGzip;
  footer.leaves[2].meaning = parquet::Meaning::kOther;
  footer.leaves[2].type = "a map";
  CHECK(complains(layout_of(footer), "gzip"));
  CHECK(complains(layout_of(footer), "cannot be read: list (a map)"));
}

TEST_CASE("columns of a job are leaves of the file, and items of its lists", "[tools][doctor]") {
  const parquet::Footer footer = footer_of({1}, 0);
  using Leaves = std::vector<std::size_t>;
  CHECK(leaves_named(footer, {"label", "list.0", "list.11", "other"}) == Leaves{0, 2});
  CHECK(encoding_names(1U << 0 | 1U << 3 | 1U << 8 | 1U << 20) ==
        std::vector<std::string>{"PLAIN", "RLE", "RLE_DICTIONARY", "encoding 20"});
}

TEST_CASE("inspect shows a Parquet file's columns and layout", "[tools][inspect]") {
  const test::TempDir dir;
  const auto report = inspect_path(dir.write("file", table_file(2, true)));
  REQUIRE(report);
  CHECK_THAT(report->title, Catch::StartsWith("Parquet, 4 rows"));
  const std::string json = report->json.text();
  CHECK_THAT(json, Catch::Contains(R"("kind":"parquet")") && Catch::Contains(R"("row_groups":2)") &&
                       Catch::Contains(R"("name":"id")") &&
                       Catch::Contains(R"("encodings":["PLAIN"])"));
  const auto cut = inspect_path(dir.write("cut", table_file(2, true).substr(0, 200)));
  REQUIRE_FALSE(cut);
  CHECK_THAT(cut.error().message, Catch::StartsWith(dir.path("cut")));
}

TEST_CASE("inspect shows a Parquet file with a column that cannot be read, and says why",
          "[tools][inspect]") {
  const test::TempDir dir;
  std::vector<test::ParquetColumn> columns = {{.name = "label", .values = {0, 1}},
                                              {.name = "packed", .values = {1, 2}, .codec = 3},
                                              {.name = "away", .values = {1, 2}, .path = "b"}};
  const auto report = inspect_path(dir.write("file", test::ParquetBytes::file_of(columns, {})));
  REQUIRE(report);
  const std::string json = report->json.text();
  CHECK_THAT(json, Catch::Contains("packed (is compressed by codec 3, which this version lacks), "
                                   "away (lies in another file)"));
  CHECK_THAT(json, Catch::Contains(R"("name":"label","type":"INT64","readable":true)") &&
                       Catch::Contains(R"("name":"packed","type":"INT64","readable":false)") &&
                       Catch::Contains(R"("codecs":["codec 3"])"));
}

TEST_CASE("inspect shows the arrays of .npy and .npz files", "[tools][inspect]") {
  const test::TempDir dir;
  const std::string array = test::npy_of<float>("<f4", 2, {1, 2, 3, 4});
  const auto one = inspect_path(dir.write("file", array));
  REQUIRE(one);
  CHECK_THAT(one->json.text(), Catch::Contains(R"("kind":"npy")") &&
                                   Catch::Contains(R"("rows":2)") &&
                                   Catch::Contains(R"("type":"float32")") &&
                                   Catch::Contains(R"("in_a_row":[1.0,1.0])"));
  const auto many = inspect_path(dir.write("a.npz", test::npz_of({{"0", array}, {"1", array}})));
  REQUIRE(many);
  CHECK_THAT(many->json.text(),
             Catch::Contains(R"("kind":"npz")") && Catch::Contains(R"("key":"1")"));
  CHECK_FALSE(inspect_path(dir.write("cut", array.substr(0, array.size() - 1))));
}

TEST_CASE("inspect and doctor take an address that begins with file://",
          "[tools][inspect][doctor]") {
  const test::TempDir dir;
  const std::string parquet = "file://" + dir.write("a", table_file(2, true));
  const std::string array =
      "file://localhost" + dir.write("b.npy", test::npy_of<float>("<f4", 2, {1, 2, 3, 4}));
  const auto table = inspect_path(parquet);
  REQUIRE(table);
  CHECK_THAT(table->title, Catch::StartsWith("Parquet, 4 rows"));
  const auto numbers = inspect_path(array);
  REQUIRE(numbers);
  CHECK_THAT(numbers->json.text(), Catch::Contains(R"("kind":"npy")"));
  const auto text = inspect_path("file://" + dir.write("c.csv", "a,b\n1,2\n"));
  REQUIRE(text);
  CHECK_THAT(text->json.text(), Catch::Contains(R"("kind":"csv")"));
  CHECK(is_parquet(parquet, FileSystems()));
  CHECK(count_bad(check_parquet_file(parquet, FileSystems()).findings) == 0);
}

TEST_CASE("doctor checks a Parquet file by its layout, and names a damaged one",
          "[tools][doctor]") {
  const test::TempDir dir;
  const FileSystems systems;
  const std::string path = dir.write("a", table_file(2, true));
  CHECK(is_parquet(path, systems));
  CHECK_FALSE(is_parquet(dir.write("b", "label\n"), systems));
  CHECK_FALSE(is_parquet(dir.path("none"), systems));
  const LayoutChecks sound = check_parquet_file(path, systems);
  CHECK(count_bad(sound.findings) == 0);
  CHECK(sound.findings.back().name == "layout");
  REQUIRE(sound.json);
  CHECK_THAT(sound.json->text(), Catch::Contains(R"("rows_per_group":2)"));
  const LayoutChecks damaged = check_parquet_file(dir.write("c", "PAR1 and no footer"), systems);
  CHECK(count_bad(damaged.findings) == 1);
  CHECK_FALSE(damaged.json);
}

}  // namespace forebay

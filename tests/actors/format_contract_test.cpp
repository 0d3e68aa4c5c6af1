#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "actors/position_check.h"
#include "actors/quarantine.h"
#include "actors/stage/stage_worker.h"
#include "tests/actors/dataset_run.h"
#include "tests/support/made_up_format.h"
#include "tests/support/memory_file_system.h"
#include "tests/support/npy_files.h"
#include "tests/support/parquet_bytes.h"
#include "tests/support/temp_dir.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using test::DatasetRun;
using test::MadeUpFormat;
using test::run_dataset;
namespace fs = std::filesystem;

// One file or, where rows lie in several files beside each other, one of those: the end of its name
// and its content.
struct Part {
  std::string suffix;
  std::string content;
};
using Parts = std::vector<Part>;

// One kind of format, with files of the columns label, value and id. Row i has the value i and the
// id i; the label of a damaged row is 7.
struct Text {
  static constexpr const char* kFormat = "csv";
  static constexpr bool kChecksContent = true;
  static constexpr std::size_t kFewestSplits = 4;
  static constexpr const char* kNamed = "";  // the end of the name that messages give
  static constexpr const char* kQuarantined = "\t302\t";
  static ColumnSpec columns() { return {.label = "label", .dense = {"value"}, .sparse = {"id"}}; }
  static constexpr std::size_t kByteOfValue = 70'002;
  static constexpr const char* kDamagedPlace = ": line 302 (byte ";
  static Parts file(std::int64_t first, std::int64_t count, const std::set<std::int64_t>& damaged) {
    std::string text = "label,value,id\n";
    for (std::int64_t i = first; i < first + count; ++i) {
      const std::string number = std::to_string(i);
      text += std::to_string(damaged.contains(i) ? 7 : i % 2) + ',' + number + ',' + number + '\n';
    }
    return {{"", text}};
  }
};

struct Units {
  static constexpr const char* kFormat = MadeUpFormat::kName;
  static constexpr bool kChecksContent = true;
  static constexpr std::size_t kFewestSplits = 4;
  static constexpr const char* kNamed = "";
  static constexpr const char* kQuarantined = "\t300\trow group 18, row 12\tlabel: 7 is";
  static ColumnSpec columns() { return Text::columns(); }
  static constexpr std::size_t kByteOfValue = 40 * 16 * 4 * 8 + 2 * 16 * 8;  // of group 40
  static constexpr const char* kDamagedPlace = ": row group 18, row 12 ";
  static Parts file(std::int64_t first, std::int64_t count, const std::set<std::int64_t>& damaged) {
    test::MadeUpRows table{.names = {"other", "label", "value", "id"}, .rows = {}};
    for (std::int64_t i = first; i < first + count; ++i) {
      table.rows.push_back({-1, damaged.contains(i) ? 7 : i % 2, i, i});
    }
    return {{"", MadeUpFormat::file_of(table, 16)}};
  }
};

struct Npy {
  static constexpr const char* kFormat = "npy";
  static constexpr bool kChecksContent = false;  // the files have no checksums
  static constexpr std::size_t kFewestSplits = 1;
  static constexpr const char* kNamed = "_sparse.npy";
  static constexpr const char* kQuarantined = "\t300\trow group 0, row 300\tlabel: 7 is";
  static constexpr std::size_t kByteOfValue = 0;
  static constexpr const char* kDamagedPlace = "_sparse.npy: row group 0, row 300 ";
  static constexpr std::size_t kDense = 128;  // columns, so that a unit has 2016 rows
  static ColumnSpec columns() { return {.label = "label", .dense = {"I1"}, .sparse = {"C1"}}; }
  static Parts file(std::int64_t first, std::int64_t count, const std::set<std::int64_t>& damaged) {
    std::vector<float> dense(static_cast<std::size_t>(count) * kDense);
    std::vector<std::int32_t> ids;
    std::vector<std::int32_t> labels;
    for (std::int64_t i = first; i < first + count; ++i) {
      dense[static_cast<std::size_t>(i - first) * kDense] = static_cast<float>(i);
      ids.push_back(static_cast<std::int32_t>(i));
      labels.push_back(static_cast<std::int32_t>(damaged.contains(i) ? 7 : i % 2));
    }
    const auto rows = static_cast<std::size_t>(count);
    return {{"_dense.npy", test::npy_of("<f4", rows, dense)},
            {"_sparse.npy", test::npy_of("<i4", rows, ids)},
            {"_labels.npy", test::npy_of("<i4", rows, labels)}};
  }
};

struct Parquet {
  static constexpr const char* kFormat = "parquet";
  static constexpr bool kChecksContent = true;
  static constexpr std::size_t kFewestSplits = 4;
  static constexpr const char* kNamed = "";
  static constexpr const char* kQuarantined = "\t300\trow group 18, row 12\tlabel: 7 is";
  static ColumnSpec columns() { return Text::columns(); }
  static constexpr std::size_t kByteOfValue = 40 * 4 * 155 + 2 * 155;  // of group 40
  static constexpr const char* kDamagedPlace = ": row group 18, row 12 ";
  static Parts file(std::int64_t first, std::int64_t count, const std::set<std::int64_t>& damaged) {
    std::vector<test::ParquetColumn> columns(4);
    const char* const names[] = {"other", "label", "value", "id"};
    for (std::size_t i = 0; i < columns.size(); ++i) columns[i].name = names[i];
    columns[3].dictionary = true;
    for (std::int64_t i = first; i < first + count; ++i) {
      columns[0].values.push_back(-1);
      columns[1].values.push_back(damaged.contains(i) ? 7 : i % 2);
      columns[2].values.push_back(i);
      columns[3].values.push_back(i);
    }
    return {{"", test::ParquetBytes::file_of(columns, {.group_rows = 16})}};
  }
};

constexpr std::int64_t kRowsOfA = 9000;
constexpr std::int64_t kRows = 16'101;

// A dataset of three files, on disk and as objects in memory.
template <class Kind>
struct Files : test::TempDir {
  explicit Files(const std::set<std::int64_t>& damaged = {}) {
    options.base_dir = path();
    options.run_dir = path("run");
    options.file_systems.add("memory://", memory);
    options.formats.add(MadeUpFormat::entry());
    options.progress = [this](std::uint64_t done, std::uint64_t) { bytes_read = done; };
    write_both("a", Kind::file(0, kRowsOfA, damaged));
    write_both("b", Kind::file(kRowsOfA, 1, damaged));
    write_both("c", Kind::file(kRowsOfA + 1, kRows - kRowsOfA - 1, damaged));
  }

  void write_both(const std::string& name, const Parts& parts) {
    put("data/" + name, parts);
    for (const Part& part : parts) memory->write("memory://" + name + part.suffix, part.content);
  }
  void put(const std::string& name, const Parts& parts) const {
    for (const Part& part : parts) write(name + part.suffix, part.content);
  }

  Result<std::unique_ptr<Dataset>> open(const std::string& paths) {
    bytes_read = 0;
    return open_dataset({.format = Kind::kFormat, .paths = {paths}}, Kind::columns(), options);
  }
  std::unique_ptr<Dataset> opened(const std::string& paths = "data/*") {
    auto dataset = open(paths);
    INFO((dataset ? "" : dataset.error().message));
    REQUIRE(dataset);
    return std::move(*dataset);
  }

  std::shared_ptr<test::MemoryFileSystem> memory = std::make_shared<test::MemoryFileSystem>();
  DatasetOptions options;
  std::uint64_t bytes_read = 0;
};

constexpr OrderSpec kOrder{.epochs = 2, .batch_size = 64, .shuffle_memory = 200 << 10};

std::vector<std::int64_t> sorted(std::vector<std::int64_t> ids) {
  std::ranges::sort(ids);
  return ids;
}

std::vector<std::int64_t> all_ids() {
  std::vector<std::int64_t> ids(kRows);
  std::iota(ids.begin(), ids.end(), 0);
  return ids;
}

TEMPLATE_TEST_CASE("every format gives each row once an epoch, in an order of content and seed",
                   "[actors][format]", Text, Units, Parquet, Npy) {
  Files<TestType> files;
  const auto dataset = files.opened();
  REQUIRE(dataset->rows() == kRows);
  const DatasetRun run = run_dataset(*dataset, {.order = kOrder});
  REQUIRE(run.status);
  REQUIRE(run.ids.size() == 2 * kRows);
  const std::vector first(run.ids.begin(), run.ids.begin() + kRows);
  const std::vector second(run.ids.begin() + kRows, run.ids.end());
  CHECK(sorted(first) == all_ids());
  CHECK(sorted(second) == all_ids());
  CHECK(first != second);
  CHECK(first != all_ids());

  SECTION("of the same files elsewhere, the same rows in the same order") {
    const auto elsewhere = files.opened("memory://*");
    CHECK(elsewhere->fingerprint() == dataset->fingerprint());
    CHECK(run_dataset(*elsewhere, {.order = kOrder}).digest() == run.digest());
  }
  SECTION("with another seed, another order") {
    OrderSpec other = kOrder;
    other.seed = 2;
    CHECK(run_dataset(*dataset, {.order = other}).digest() != run.digest());
  }
  SECTION("without shuffling, in the files' order") {
    OrderSpec in_order = kOrder;
    in_order.shuffle = OrderSpec::Shuffle::kNone;
    in_order.epochs = 1;
    CHECK(run_dataset(*dataset, {.order = in_order}).ids == all_ids());
  }
  SECTION("shuffled by file, one file after the other") {
    OrderSpec by_file = kOrder;
    by_file.shuffle = OrderSpec::Shuffle::kFile;
    by_file.epochs = 1;
    const DatasetRun mixed = run_dataset(*dataset, {.order = by_file});
    REQUIRE(mixed.ids.size() == kRows);
    CHECK(mixed.ids[kRowsOfA] == kRowsOfA);
    CHECK(*std::max_element(mixed.ids.begin(), mixed.ids.begin() + kRowsOfA) < kRowsOfA);
    CHECK(sorted(mixed.ids) == all_ids());
  }
  SECTION("other files have another fingerprint") {
    // One that covers the metadata proves the layout, so the layout is another one.
    files.put("data/b", TestType::file(5, 2, {}));
    CHECK(files.opened()->fingerprint() != dataset->fingerprint());
  }
}

TEMPLATE_TEST_CASE("a run of every format resumes after any batch, also inside a block",
                   "[actors][format]", Text, Units, Parquet, Npy) {
  Files<TestType> files({5, 15'000});
  const auto dataset = files.opened();
  for (const auto shuffle : {OrderSpec::Shuffle::kAll, OrderSpec::Shuffle::kNone}) {
    OrderSpec order = kOrder;
    order.shuffle = shuffle;
    order.batch_size = 61;  // not a multiple of the rows of a block
    const DatasetRun whole = run_dataset(*dataset, {.order = order});
    bool inside = false;
    for (std::size_t i = 0; i + 1 < whole.after.size(); i += 101) {
      inside = inside || whole.after[i].split_rows % 16 > 0;
      LoaderState state;
      state.version = 2;
      state.position = whole.after[i];
      const auto checked =
          check_position(state, {.dataset = *dataset, .order = order, .holds_out = false});
      REQUIRE(checked);
      const DatasetRun rest = run_dataset(*dataset, {.order = order, .start = *checked});
      REQUIRE(rest.end == whole.end);
      const std::vector tail(whole.ids.end() - static_cast<std::ptrdiff_t>(rest.ids.size()),
                             whole.ids.end());
      REQUIRE(rest.ids == tail);
    }
    CHECK(inside);
  }
}

TEMPLATE_TEST_CASE("rows of every format are held out by where they are in their file",
                   "[actors][format]", Text, Units, Parquet, Npy) {
  Files<TestType> files;
  const auto dataset = files.opened();
  const OrderSpec once{.epochs = 1, .batch_size = 64};
  const auto ids = [&](RowFilter::Keep keep) {
    return run_dataset(*dataset, {.order = once, .filter = RowFilter(keep, 1, 0.25)}).ids;
  };
  std::vector<std::int64_t> both = ids(RowFilter::Keep::kTraining);
  const std::vector<std::int64_t> held_out = ids(RowFilter::Keep::kHeldOut);
  CHECK(std::abs(static_cast<double>(held_out.size()) - 0.25 * kRows) < 200);
  both.insert(both.end(), held_out.begin(), held_out.end());
  CHECK(sorted(both) == all_ids());
}

TEMPLATE_TEST_CASE("damaged rows of every format are left out and quarantined with their place",
                   "[actors][format]", Text, Units, Parquet, Npy) {
  Files<TestType> files({300, 15'000});
  const auto dataset = files.opened();
  const auto quarantine = [&](std::uint64_t allowed) {
    auto opened = Quarantine::open({.path = files.path("quarantine.tsv"),
                                    .allowed = allowed,
                                    .already = 0,
                                    .dataset = *dataset},
                                   Quarantine::Begin::kFresh);
    REQUIRE(opened);
    return std::move(*opened);
  };
  SECTION("as many as are allowed") {
    const auto open = quarantine(2);
    const DatasetRun run = run_dataset(
        *dataset,
        {.order = kOrder, .on_damaged = [&](const auto& rows) { return open->add(rows); }});
    CHECK(run.ids.size() == 2 * (kRows - 2));
    CHECK(std::ranges::find(run.ids, 15'000) == run.ids.end());
    CHECK(run.end.bad_rows == 2);
    CHECK_THAT(files.read("quarantine.tsv"), Catch::Contains(TestType::kQuarantined));
  }
  SECTION("one more fails the run") {
    const auto open = quarantine(0);
    const DatasetRun run =
        run_dataset(*dataset, {.order = {.shuffle = OrderSpec::Shuffle::kNone},
                               .on_damaged = [&](const auto& rows) { return open->add(rows); }});
    REQUIRE_FALSE(run.status);
    CHECK_THAT(run.status.error().message,
               Catch::StartsWith(files.path("data/a") + TestType::kDamagedPlace) &&
                   Catch::Contains("is damaged: ") && Catch::Contains("dataset.bad_rows = 0"));
  }
}

TEMPLATE_TEST_CASE("a file of every format that changes ends a run by name", "[actors][format]",
                   Text, Units, Parquet, Npy) {
  Files<TestType> files;
  const std::string path = files.path("data/a") + TestType::kNamed;
  const auto dataset = files.opened();
  const std::string before = files.read(std::string("data/a") + TestType::kNamed);
  SECTION("another time") {
    files.write(std::string("data/a") + TestType::kNamed, before);
    fs::last_write_time(path, fs::last_write_time(path) + std::chrono::seconds(5));
    const DatasetRun run = run_dataset(*dataset, {.order = kOrder});
    REQUIRE_FALSE(run.status);
    CHECK(run.status.error() ==
          Error{Code::kCorrupt, path + " changed since it was indexed; run again"});
  }
  SECTION("the same size and time") {
    if (!TestType::kChecksContent) return;
    const auto time = fs::last_write_time(path);
    std::string after = before;
    after[TestType::kByteOfValue] ^= 1;
    files.write("data/a", after);
    fs::last_write_time(path, time);
    const DatasetRun run = run_dataset(*dataset, {.order = kOrder});
    REQUIRE_FALSE(run.status);
    CHECK(run.status.error().code == Code::kCorrupt);
    CHECK_THAT(run.status.error().message, Catch::StartsWith(path + ": "));
    files.write("data/a", before);
    fs::last_write_time(path, time);
    CHECK(run_dataset(*dataset, {.order = kOrder}).status);
  }
  SECTION("an object that is written anew") {
    const auto stored = files.opened("memory://*");
    files.memory->write(std::string("memory://a") + TestType::kNamed, before);
    const DatasetRun run = run_dataset(*stored, {.order = kOrder});
    REQUIRE_FALSE(run.status);
    CHECK_THAT(run.status.error().message,
               Catch::StartsWith(std::string("memory://a") + TestType::kNamed + " changed since"));
  }
}

TEMPLATE_TEST_CASE("the index of every format is cached until its file changes", "[actors][format]",
                   Text, Units, Parquet, Npy) {
  Files<TestType> files;
  const auto first = files.opened();
  CHECK(files.bytes_read > 0);
  const auto second = files.opened();
  CHECK(files.bytes_read == 0);
  CHECK(second->fingerprint() == first->fingerprint());
  REQUIRE(second->num_blocks() == first->num_blocks());
  for (std::size_t i = 0; i < first->num_blocks(); ++i) {
    CHECK(second->block(i).offset == first->block(i).offset);
    CHECK(second->block(i).rows == first->block(i).rows);
    CHECK(second->block(i).bytes == first->block(i).bytes);
  }
  const Parts parts = TestType::file(0, 2, {});
  files.put("data/b", parts);
  CHECK(files.opened()->rows() == kRows + 1);
  std::size_t bytes = 0;
  for (const Part& part : parts) bytes += part.content.size();
  CHECK(files.bytes_read == bytes);
}

TEMPLATE_TEST_CASE("every machine that opens the same files makes the same splits of bounded size",
                   "[actors][format]", Text, Units, Parquet, Npy) {
  Files<TestType> files;
  const auto here = files.opened();
  files.options.run_dir = files.path("worker");
  const auto there = files.opened("memory://*");
  const EpochOrder order(*here, kOrder);
  const EpochOrder other(*there, kOrder);
  REQUIRE(order.num_splits() == other.num_splits());
  REQUIRE(order.num_splits() >= TestType::kFewestSplits);
  MemoryBudget budget(1 << 28);
  BufferPool pool(budget);
  SplitReader reader(*here, pool);
  SplitReader other_reader(*there, pool);
  for (std::size_t split = 0; split < order.num_splits(); ++split) {
    const auto raw = reader.read(order.blocks(1, split));
    const auto other_raw = other_reader.read(other.blocks(1, split));
    REQUIRE(raw);
    REQUIRE(other_raw);
    std::uint64_t most = 0;
    for (const BlockRef& block : raw->blocks) most += block.loaded_bytes();
    CHECK(raw->bytes.size() <= most);
    const DecodeOptions options{.filter = {}, .keep_origins = true};
    const Decoded decoded = here->format().decode(*raw, options, pool);
    const Decoded other_decoded = there->format().decode(*other_raw, options, pool);
    CHECK_FALSE(decoded.miscounted);
    const std::size_t rows = decoded.columns.rows;
    REQUIRE(rows == order.rows(1, split, split + 1));
    REQUIRE(other_decoded.columns.rows == rows);
    CHECK(std::equal(decoded.columns.dense[0], decoded.columns.dense[0] + rows,
                     other_decoded.columns.dense[0]));
    CHECK(decoded.columns.bytes() <= here->format().decoded_bytes(Extent::of(raw->blocks)));
    CHECK(decoded.columns.origins[0].file() == raw->blocks[0].file);
    CHECK(decoded.columns.origins[0].offset() == raw->blocks[0].offset);
  }
}

}  // namespace
}  // namespace forebay

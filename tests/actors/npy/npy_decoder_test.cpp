#include "actors/format/npy/npy_decoder.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "actors/format/npy/npy_format.h"
#include "actors/format/npy/trio_files.h"
#include "tests/support/memory_file_system.h"
#include "tests/support/npy_files.h"

#include "tests/support/catch.h"

namespace forebay::npy {
namespace {

using test::npy_of;

// A trio in memory, its format, and the split of all its units.
struct Trio3 {
  explicit Trio3(std::string suffix = "_sparse.npy") : sparse("m://d" + std::move(suffix)) {}

  void put(const std::string& dense, const std::string& ids, const std::string& labels) {
    files->write("m://d_dense.npy", dense);
    files->write(sparse, ids);
    files->write("m://d_labels.npy", labels);
  }

  Result<std::unique_ptr<UnitFormat>> try_open(const ColumnSpec& columns = {}) {
    file = *trios_in(files)->open(sparse);
    return open_npy({}, columns, *file);
  }
  void open(const ColumnSpec& columns = {}) {
    auto opened = try_open(columns);
    INFO((opened ? "" : opened.error().message));
    REQUIRE(opened);
    format = std::move(*opened);
  }

  RawSplit split() {
    auto units = format->open(*file);
    REQUIRE(units);
    RawSplit raw;
    std::string bytes;
    std::uint64_t first = 0;
    for (const Unit& unit : (*units)->units()) {
      const UnitRead read = (*units)->read_of(raw.blocks.size());
      CHECK(read.bytes() == unit.bytes);
      raw.blocks.push_back({.file = 5,
                            .rows = unit.rows,
                            .offset = first,
                            .bytes = unit.bytes,
                            .line = raw.blocks.size(),
                            .decoded = unit.decoded});
      raw.sizes.push_back(unit.bytes);
      bytes.append(read.head.begin(), read.head.end());
      for (const FileRange& range : read.ranges) {
        std::string piece(range.bytes, '\0');
        REQUIRE(file->read(range.offset, piece));
        bytes += piece;
      }
      first += unit.rows;
    }
    raw.bytes = pool.take(bytes.size());
    std::memcpy(raw.bytes.data(), bytes.data(), bytes.size());
    return raw;
  }

  Decoded decode(const DecodeOptions& options = {}) {
    const RawSplit raw = split();
    Decoded decoded = format->decode(raw, options, pool);
    CHECK(decoded.columns.bytes() <= format->decoded_bytes(Extent::of(raw.blocks)));
    return decoded;
  }

  std::shared_ptr<test::MemoryFileSystem> files = std::make_shared<test::MemoryFileSystem>();
  std::string sparse;
  std::unique_ptr<const InputFile> file;
  std::unique_ptr<UnitFormat> format;
  MemoryBudget budget{1 << 28};
  BufferPool pool{budget};
};

template <class T>
std::vector<T> taken(const T* from, std::size_t count) {
  return {from, from + count};
}

std::vector<std::vector<std::int64_t>> lists(const SparseColumn& column, std::size_t rows) {
  std::vector<std::vector<std::int64_t>> found;
  for (std::size_t row = 0; row < rows; ++row) {
    const auto first =
        column.offsets == nullptr ? static_cast<std::int32_t>(row) : column.offsets[row];
    const auto last = column.offsets == nullptr ? first + 1 : column.offsets[row + 1];
    found.emplace_back(column.values + first, column.values + last);
  }
  return found;
}

const std::string kLabels3 = npy_of<std::int32_t>("<i4", 3, {1, 0, 1});
const std::string kDense3 = npy_of<float>("<f4", 3, {1, 2, 3, 4, 5, 6});
const std::string kIds3 = npy_of<std::int32_t>("<i4", 3, {7, -1, 8, 2'000'000'000, 9, 0});

TEST_CASE("all columns of a trio are read where the job names none", "[npy]") {
  Trio3 trio;
  trio.put(kDense3, kIds3, kLabels3);
  trio.open();
  CHECK(trio.format->schema().dense == std::vector<std::string>{"I1", "I2"});
  REQUIRE(trio.format->schema().sparse.size() == 2);
  CHECK(trio.format->schema().sparse[1].name == "C2");
  const Decoded decoded = trio.decode({.filter = {}, .keep_origins = true});
  const ColumnSet& columns = decoded.columns;
  REQUIRE(columns.rows == 3);
  CHECK(taken(columns.labels, 3) == std::vector<float>{1, 0, 1});
  CHECK(taken(columns.dense[0], 3) == std::vector<float>{1, 3, 5});
  CHECK(taken(columns.dense[1], 3) == std::vector<float>{2, 4, 6});
  CHECK(taken(columns.sparse[0].values, 3) == std::vector<std::int64_t>{7, 8, 9});
  CHECK(taken(columns.sparse[1].values, 3) == std::vector<std::int64_t>{-1, 2'000'000'000, 0});
  CHECK(columns.sparse[0].offsets == nullptr);
  CHECK(columns.origins[2].offset() == 2);
  CHECK(columns.origins[2].file() == 5);
}

TEST_CASE("values of every type become floats and ids", "[npy]") {
  const auto dense_of = [](const std::string& dense) {
    Trio3 trio;
    trio.put(dense, npy_of<std::int32_t>("<i4", 2, {0, 0}), npy_of<std::int64_t>("<i8", 2, {0, 1}));
    trio.open();
    const Decoded decoded = trio.decode();
    return taken(decoded.columns.dense[0], 2);
  };
  CHECK(dense_of(npy_of<double>("<f8", 2, {0.1, -2})) == std::vector<float>{0.1F, -2});
  CHECK(dense_of(npy_of<std::int8_t>("|i1", 2, {-3, 3})) == std::vector<float>{-3, 3});
  CHECK(dense_of(npy_of<std::int16_t>("<i2", 2, {-300, 3})) == std::vector<float>{-300, 3});
  CHECK(dense_of(npy_of<std::uint32_t>("<u4", 2, {4'000'000'000, 3})) ==
        std::vector<float>{4e9F, 3});
  CHECK(dense_of(npy_of<std::uint8_t>("|b1", 2, {0, 1})) == std::vector<float>{0, 1});
  // IEEE 754: 0x3c00 is 1, 0xc100 is -2.5, 0x0001 is 2^-24, 0x7c00 is infinity.
  CHECK(dense_of(npy_of<std::uint16_t>("<f2", 2, {0x3c00, 0xc100})) ==
        std::vector<float>{1, -2.5F});
  CHECK(dense_of(npy_of<std::uint16_t>("<f2", 2, {0x0001, 0x7c00})) ==
        std::vector<float>{0x1p-24F, std::numeric_limits<float>::infinity()});

  const auto ids_of = [](const std::string& ids) {
    Trio3 trio;
    trio.put(npy_of<float>("<f4", 2, {0, 0}), ids, npy_of<float>("<f4", 2, {0, 1}));
    trio.open();
    const Decoded decoded = trio.decode();
    return taken(decoded.columns.sparse[0].values, 2);
  };
  using Ids = std::vector<std::int64_t>;
  CHECK(ids_of(npy_of<std::int64_t>("<i8", 2, {-5, 1LL << 60})) == Ids{-5, 1LL << 60});
  CHECK(ids_of(npy_of<std::uint64_t>("<u8", 2, {~0ULL, 1})) == Ids{-1, 1});
  CHECK(ids_of(npy_of<std::int32_t>("<i4", 2, {-2, 2})) == Ids{-2, 2});
  CHECK(ids_of(npy_of<std::uint8_t>("|u1", 2, {255, 2})) == Ids{255, 2});
  CHECK(ids_of(npy_of<std::uint8_t>("|b1", 2, {1, 0})) == Ids{1, 0});
}

TEST_CASE("NaN is missing, and infinities stay", "[npy]") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  Trio3 trio;
  trio.put(npy_of<float>("<f4", 3, {nan, -nan, -infinity}),
           npy_of<std::int32_t>("<i4", 3, {1, 2, 3}), kLabels3);
  trio.open();
  const Decoded decoded = trio.decode();
  CHECK(is_missing(decoded.columns.dense[0][0]));
  CHECK(is_missing(decoded.columns.dense[0][1]));
  CHECK(decoded.columns.dense[0][2] == -infinity);
}

TEST_CASE("columns of an array in Fortran's order are read alone", "[npy]") {
  const auto by_column = [](const std::string& type, const std::string& values) {
    return test::npy_header("{'descr': '" + type + "', 'fortran_order': True, 'shape': (3, 2), }") +
           values;
  };
  Trio3 trio;
  trio.put(by_column("<f4", test::bytes_of_all<float>({1, 3, 5, 2, 4, 6})),
           by_column("<i4", test::bytes_of_all<std::int32_t>({7, 8, 9, -1, 2, 0})), kLabels3);
  trio.open();
  const Decoded decoded = trio.decode();
  CHECK(taken(decoded.columns.dense[1], 3) == std::vector<float>{2, 4, 6});
  CHECK(taken(decoded.columns.sparse[0].values, 3) == std::vector<std::int64_t>{7, 8, 9});

  trio.open({.label = "label", .dense = {"I2"}, .sparse = {}});
  CHECK(trio.split().sizes[0] == 2 * 24 + 3 * 4 + 3 * 4);  // two places, labels, one column
  CHECK(taken(trio.decode().columns.dense[0], 3) == std::vector<float>{2, 4, 6});
}

TEST_CASE("arrays of which no column is wanted are not read", "[npy]") {
  Trio3 trio;
  trio.put(kDense3, kIds3, kLabels3);
  trio.open({.label = {}, .dense = {}, .sparse = {"C2"}});
  CHECK(trio.split().sizes[0] == 2 * 24 + 3 * 4 + 3 * 8);
  const Decoded decoded = trio.decode();
  CHECK(decoded.columns.dense.empty());
  CHECK(taken(decoded.columns.sparse[0].values, 3) ==
        std::vector<std::int64_t>{-1, 2'000'000'000, 0});
}

TEST_CASE("an array of a multi-hot file is a column of lists", "[npy]") {
  Trio3 trio("_sparse_multi_hot.npz");
  trio.put(kDense3,
           test::npz_of({{"1", npy_of<std::int32_t>("<i4", 3, {7, 8, 9})},
                         {"2", test::npy_header_of("<i4", "(3, 0)")},
                         {"0", npy_of<std::int32_t>("<i4", 3, {1, 2, 3, 4, 5, 6})}}),
           kLabels3);
  trio.open();
  using Lists = std::vector<std::vector<std::int64_t>>;
  const Decoded decoded = trio.decode();
  CHECK(lists(decoded.columns.sparse[0], 3) == Lists{{1, 2}, {3, 4}, {5, 6}});
  CHECK(lists(decoded.columns.sparse[1], 3) == Lists{{7}, {8}, {9}});
  CHECK(lists(decoded.columns.sparse[2], 3) == Lists{{}, {}, {}});
  CHECK(decoded.columns.sparse[1].offsets == nullptr);
}

TEST_CASE("a label that is not 0 or 1 damages its row, by its number and the unit's", "[npy]") {
  Trio3 trio;
  trio.put(kDense3, kIds3, npy_of<float>("<f4", 3, {1, 0.5F, 0}));
  trio.open();
  const Decoded decoded = trio.decode();
  REQUIRE(decoded.bad.size() == 1);
  CHECK(decoded.bad[0].offset == 1);
  CHECK(line_of(decoded.bad[0]) == "row group 0, row 1");
  CHECK(decoded.bad[0].reason == "label: 0.5 is not 0 or 1, in the trio's _labels.npy");
  CHECK(decoded.bad[0].file == 5);
  REQUIRE(decoded.columns.rows == 2);
  CHECK(taken(decoded.columns.dense[0], 2) == std::vector<float>{1, 5});
  CHECK(taken(decoded.columns.sparse[0].values, 2) == std::vector<std::int64_t>{7, 9});

  trio.open({.label = {}, .dense = {"I*"}, .sparse = {}, .label_threshold = 0.5});
  CHECK(taken(trio.decode().columns.labels, 3) == std::vector<float>{1, 1, 0});
}

TEST_CASE("weights and extra columns are columns of the trio", "[npy]") {
  Trio3 trio;
  trio.put(npy_of<float>("<f4", 3, {0.5F, 2, -1, 4, 1, 6}), kIds3, kLabels3);
  trio.open({.label = {}, .dense = {}, .sparse = {}, .weight = "I1", .extra = {"C1", "I2"}});
  CHECK(trio.format->schema().dense.empty());
  CHECK(trio.format->schema().sparse.size() == 1);
  CHECK(trio.format->schema().weight);
  CHECK(trio.format->schema().extra[1].kind == ExtraColumn::Kind::kFloat64);
  const Decoded decoded = trio.decode();
  REQUIRE(decoded.bad.size() == 1);
  CHECK(decoded.bad[0].reason == "I1: -1 is not a weight (finite and at least 0)");
  CHECK(taken(decoded.columns.weights, 2) == std::vector<float>{0.5F, 1});
  CHECK(taken(decoded.columns.extras[0], 2) == std::vector<std::int64_t>{7, 9});
  double number = 0;
  std::memcpy(&number, &decoded.columns.extras[1][1], sizeof number);
  CHECK(number == 6);
}

TEST_CASE("rows are held out by their number in the file, across tiles and units", "[npy]") {
  constexpr std::size_t kRows = 3000;
  std::vector<float> dense(kRows * 256);
  std::vector<std::int32_t> ids(kRows);
  std::vector<std::int32_t> labels(kRows);
  for (std::size_t i = 0; i < kRows; ++i) {
    ids[i] = static_cast<std::int32_t>(i);
    dense[i * 256] = static_cast<float>(i);
    labels[i] = i % 100 == 99 ? 7 : 0;
  }
  Trio3 trio;
  trio.put(npy_of("<f4", kRows, dense), npy_of("<i4", kRows, ids), npy_of("<i4", kRows, labels));
  trio.open({.label = {}, .dense = {"I1"}, .sparse = {"C1"}});
  const RawSplit raw = trio.split();
  REQUIRE(raw.blocks.size() == 3);
  CHECK(raw.blocks[0].rows == (1 << 20) / (256 * 4 + 8));
  const RowFilter filter(RowFilter::Keep::kTraining, 3, 0.5);
  const Decoded some =
      trio.format->decode(raw, {.filter = filter, .keep_origins = true}, trio.pool);
  CHECK(some.bad.size() == 30);
  CHECK(some.bad[10].offset == 1099);
  CHECK(some.bad[10].line == 1099 - raw.blocks[0].rows);
  CHECK(some.columns.rows + some.filtered == kRows - 30);
  for (std::size_t i = 0; i < some.columns.rows; ++i) {
    const auto row = some.columns.sparse[0].values[i];
    REQUIRE(filter.keeps(5, static_cast<std::uint64_t>(row)));
    REQUIRE(some.columns.dense[0][i] == static_cast<float>(row));
    REQUIRE(some.columns.origins[i].offset() == static_cast<std::uint64_t>(row));
  }
}

TEST_CASE("bytes that are no unit of these columns are never read past their end", "[npy]") {
  Trio3 trio;
  trio.put(kDense3, kIds3, kLabels3);
  trio.open();
  const RawSplit whole = trio.split();
  for (std::size_t size = 0; size < whole.sizes[0]; ++size) {
    RawSplit cut;
    cut.bytes = trio.pool.take(size);
    std::memcpy(cut.bytes.data(), whole.bytes.data(), size);
    cut.blocks = whole.blocks;
    cut.sizes = {size};
    CHECK(trio.format->decode(cut, {}, trio.pool).miscounted);
  }
  RawSplit changed = trio.split();
  changed.bytes.as<char>()[0] = '\x7f';  // the place of the label
  CHECK(trio.format->decode(changed, {}, trio.pool).miscounted);
}

TEST_CASE("a trio whose files do not fit each other is refused by name", "[npy]") {
  const auto refusal = [](Trio3& trio, const ColumnSpec& columns = {}) {
    const auto opened = trio.try_open(columns);
    REQUIRE_FALSE(opened);
    return opened.error().message;
  };
  Trio3 trio;
  trio.put(kDense3, kIds3, npy_of<std::int32_t>("<i4", 2, {1, 0}));
  CHECK(
      refusal(trio) ==
      "m://d_dense.npy has 3 rows, and m://d_labels.npy has 2 rows; they are not of one data set");
  trio.put(kDense3, kIds3, npy_of<std::int32_t>("<i4", 3, {1, 0, 1, 0, 1, 0}));
  CHECK_THAT(refusal(trio), Catch::Contains("m://d_labels.npy has 2 columns; labels are"));
  trio.put(kDense3, npy_of<float>("<f4", 3, {1, 2, 3}), kLabels3);
  CHECK_THAT(refusal(trio), Catch::Contains("m://d_sparse.npy holds float32, which are no ids"));
  trio.put(kDense3, test::npz_of({{"0", kIds3}}), kLabels3);
  CHECK_THAT(refusal(trio), Catch::Contains("m://d_sparse.npy holds a .npz"));
  trio.put(kDense3.substr(0, kDense3.size() - 1), kIds3, kLabels3);
  CHECK_THAT(refusal(trio),
             Catch::StartsWith("m://d_dense.npy: ") && Catch::Contains("there are 23"));

  Trio3 many("_sparse_multi_hot.npz");
  many.put(kDense3, test::npz_of({{"0", kIds3}, {"2", kIds3}}), kLabels3);
  CHECK_THAT(refusal(many),
             Catch::Contains("has an array \"2\"; its 2 arrays must be \"0\" to \"1\""));
  many.put(kDense3, test::npz_of({{"0", npy_of<std::int32_t>("<i4", 2, {1, 2})}}), kLabels3);
  CHECK_THAT(refusal(many), Catch::Contains("has 2 rows in array \"0\""));

  trio.put(kDense3, kIds3, kLabels3);
  CHECK_THAT(refusal(trio, {.label = {}, .dense = {"C1"}, .sparse = {}}),
             Catch::Contains("I1 to I2"));
  CHECK_THAT(refusal(trio, {.label = {}, .dense = {}, .sparse = {"I1"}}),
             Catch::Contains("C1 to C2"));
  CHECK_THAT(refusal(trio, {.label = "I1", .dense = {"I2"}, .sparse = {}}),
             Catch::Contains("is not the label"));
  CHECK_THAT(refusal(trio, {.label = {}, .dense = {"I3"}, .sparse = {}}),
             Catch::Contains("\"I3\""));
}

TEST_CASE("a later trio must have the first one's columns, with one kind of extra", "[npy]") {
  Trio3 first;
  first.put(kDense3, kIds3, kLabels3);
  first.open({.label = {}, .dense = {"I1"}, .sparse = {}, .weight = {}, .extra = {"I2"}});
  Trio3 other;
  other.put(npy_of<float>("<f4", 3, {1, 2, 3}), kIds3, kLabels3);
  REQUIRE(other.try_open());
  CHECK_THAT(
      first.format->open(*other.file).error().message,
      Catch::StartsWith("m://d_sparse.npy: its trio has 1 dense and 2 sparse columns, and the "
                        "first one 2 dense and 2 sparse columns"));
  other.put(npy_of<float>("<f4", 3, {1, 2, 3, 4, 5, 6, 7, 8, 9}), kIds3, kLabels3);
  REQUIRE(other.try_open());
  CHECK_THAT(first.format->open(*other.file).error().message,
             Catch::Contains("its trio has 3 dense"));
  other.put(npy_of<std::int32_t>("<i4", 3, {1, 2, 3, 4, 5, 6}), kIds3, kLabels3);
  REQUIRE(other.try_open());
  CHECK_THAT(first.format->open(*other.file).error().message,
             Catch::Contains("column \"I2\" of m://d_sparse.npy holds int32"));
}

}  // namespace
}  // namespace forebay::npy

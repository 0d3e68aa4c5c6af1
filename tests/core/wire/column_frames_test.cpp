#include "core/wire/column_frames.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "core/wire/codec.h"
#include "core/wire/column_layout.h"
#include "tests/support/any_columns.h"
#include "tests/support/packed.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

struct Wire {
  MemoryBudget budget{std::size_t{1} << 30};
  BufferPool pool{budget};

  Frames pack(const ColumnSet& columns, const PackOptions& options = {}) {
    return pack_columns(columns, {}, options, pool);
  }
  Result<UnpackedColumns> unpack(const Frames& frames, std::size_t dense, std::size_t sparse) {
    return unpack_columns(frames, {1'000'000, dense, sparse, 1 << 26}, pool);
  }
};

/// Sparse features only: one id in every row.
ColumnSet rows_of_ids(const std::vector<std::vector<std::int64_t>>& features, BufferPool& pool) {
  ColumnSet set;
  set.rows = features.front().size();
  set.slabs.push_back(
      pool.take((features.size() + 1) * SlabCarver::aligned<std::int64_t>(set.rows)));
  SlabCarver carver(set.slabs.back().data());
  set.labels = carver.take<float>(set.rows);
  std::fill_n(set.labels, set.rows, 0.0F);
  for (const auto& ids : features) {
    set.sparse.push_back({carver.take<std::int64_t>(set.rows), nullptr});
    std::copy(ids.begin(), ids.end(), set.sparse.back().values);
  }
  return set;
}

ColumnLayout layout_of(const Frames& frames) {
  return decode_value<ColumnLayout>("layout", {frames[0].data(), frames[0].size()}).value();
}

Frame frame_with(std::vector<std::byte> bytes) {
  const auto held = std::make_shared<std::vector<std::byte>>(std::move(bytes));
  return {held, held->data(), held->size()};
}

std::vector<std::byte> bytes_in(const Frame& frame) {
  return {frame.data(), frame.data() + frame.size()};
}

Frames with_layout(const ColumnLayout& layout, const Frames& frames) {
  WireBuffer buffer;
  encode_value(layout, buffer);
  return {frame_with({buffer.bytes().begin(), buffer.bytes().end()}), frames[1]};
}

TEST_CASE("columns of any content are decoded bit for bit", "[core][column_frames]") {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    INFO("seed " << seed);
    Random random(seed);
    Wire wire;
    const auto shape = test::any_shape(random);
    const ColumnSet columns = test::any_columns(random, shape, wire.pool);
    PackOptions options;
    options.checksum = random.below(2) == 0;
    options.compression = static_cast<Compression>(random.below(3));
    // Bounds that are right, wrong and unknown.
    for (std::size_t i = 0; i < shape.sparse; ++i) {
      options.bounds.push_back(static_cast<std::int64_t>(random.next() >> (1 + random.below(63))));
    }
    const Frames frames = wire.pack(columns, options);
    const auto came = unpack_columns(frames,
                                     {.max_rows = 1'000'000,
                                      .dense = shape.dense,
                                      .sparse = shape.sparse,
                                      .max_bytes = 1 << 26,
                                      .weights = shape.weights,
                                      .extras = shape.extras},
                                     wire.pool);
    REQUIRE(came);
    CHECK(test::same_columns(columns, came->columns));
  }
}

TEST_CASE("weights and extra columns follow the ids, and must be those of the job",
          "[core][column_frames]") {
  Wire wire;
  Random random(3);
  const ColumnSet columns = test::any_columns(random, {5, 1, 0, true, 2}, wire.pool);
  PackOptions options;
  options.checksum = false;
  const Frames frames = wire.pack(columns, options);
  // Labels 5 → 8, dense 20 → 24, weights 20 → 24, two extra columns of 40.
  REQUIRE(frames[1].size() == 8 + 24 + 24 + 2 * 40);
  CHECK(std::memcmp(frames[1].data() + 32, columns.weights, 20) == 0);
  CHECK(std::memcmp(frames[1].data() + 96, columns.extras[1], 40) == 0);
  const auto unpack = [&](const Frames& sent, bool weights, std::size_t extras) {
    return unpack_columns(sent,
                          {.max_rows = 5,
                           .dense = 1,
                           .sparse = 0,
                           .max_bytes = 1 << 20,
                           .weights = weights,
                           .extras = extras},
                          wire.pool);
  };
  CHECK(unpack(frames, true, 2));
  CHECK_FALSE(unpack(frames, false, 2));
  CHECK_FALSE(unpack(frames, true, 1));
  CHECK_FALSE(unpack(frames, true, 3));
  CHECK_FALSE(wire.unpack(frames, 1, 0));
  for (const float wrong : {-0.5F, std::numeric_limits<float>::infinity(), std::nanf("")}) {
    auto bytes = bytes_in(frames[1]);
    std::memcpy(bytes.data() + 32 + 8, &wrong, sizeof wrong);
    CHECK_FALSE(unpack({frames[0], frame_with(bytes)}, true, 2));
  }
  ColumnLayout layout = layout_of(frames);
  layout.extras = 0xffffffff;
  CHECK_FALSE(unpack(with_layout(layout, frames), true, 2));
}

TEST_CASE("weights of no rows are weights still", "[core][column_frames]") {
  Wire wire;
  ColumnLayout layout;
  layout.weights = true;
  const Frames frames = with_layout(layout, {Frame{}, Frame{}});
  const auto came = unpack_columns(frames, {.max_bytes = 1 << 20, .weights = true}, wire.pool);
  REQUIRE(came);
  CHECK(came->columns.packed->weights != nullptr);
}

TEST_CASE("a layout of a sender that knows neither weights nor extra columns is read",
          "[core][column_frames]") {
  // Version 1 without its last four fields, as an earlier release encodes it: an array of seven.
  Wire wire;
  const ColumnSet columns = rows_of_ids({{1, 2, 3}}, wire.pool);
  const Frames frames = wire.pack(columns);
  auto header = bytes_in(frames[0]);
  REQUIRE(header[0] == std::byte{0x9b});  // An array of eleven, of which the last are
  const std::vector<std::byte> last(header.end() - 4, header.end());
  REQUIRE(last == std::vector{std::byte{0xc2}, std::byte{0}, std::byte{0}, std::byte{0xc3}});
  header.resize(header.size() - 4);  // false, 0, 0 and true
  header[0] = std::byte{0x97};
  const auto came = wire.unpack({frame_with(header), frames[1]}, 0, 1);
  REQUIRE(came);
  CHECK(test::same_columns(columns, came->columns));
}

TEST_CASE("a Criteo row takes 0.43 of what ids of 64 bits with lengths take",
          "[core][column_frames]") {
  // A row as it is in a batch: label 4, 13 dense values 52, 26 ids 208 and their lengths 104: 368.
  // On the wire: label 1, dense values 52, ids of 32 bits 104: 157. 157 / 368 = 0.4266.
  Wire wire;
  Random random(1);
  ColumnSet columns = test::any_columns(random, {4096, 13, 0}, wire.pool);
  std::vector<std::int64_t> tokens(4096);
  for (auto& token : tokens) token = static_cast<std::int64_t>(random.next() >> 32);
  ColumnSet ids = rows_of_ids(std::vector<std::vector<std::int64_t>>(26, tokens), wire.pool);
  columns.sparse = ids.sparse;
  const Frames frames = wire.pack(columns);
  CHECK(frames[1].size() == 4096 * 157);
  CHECK(static_cast<double>(bytes_of(frames)) <= 0.45 * 4096 * 368);
}

TEST_CASE("ids take the bytes of their bound, and more if one exceeds it",
          "[core][column_frames]") {
  Wire wire;
  const ColumnSet columns =
      rows_of_ids({{0, 9}, {0, 255}, {0, 256}, {0, 65535}, {-1, 3}, {1, 2}}, wire.pool);
  PackOptions options;
  options.bounds = {1 << 20, 256, 256, 65536, 100, 0};
  const Frames frames = wire.pack(columns, options);
  std::vector<unsigned> widths;
  for (const IdsLayout& ids : layout_of(frames).sparse) {
    widths.push_back(static_cast<unsigned>(ids.width));
  }
  CHECK(widths == std::vector<unsigned>{4, 1, 2, 2, 8, 1});
  const auto came = wire.unpack(frames, 0, 6);
  REQUIRE(came);
  CHECK(test::same_columns(columns, came->columns));
}

TEST_CASE("lengths are left out when all lists are alike", "[core][column_frames]") {
  Wire wire;
  ColumnSet columns = rows_of_ids({{1, 2, 3, 4, 5, 6}, {1, 2, 3, 4, 5, 6}}, wire.pool);
  columns.rows = 2;
  std::vector<std::int32_t> threes{0, 3, 6};
  std::vector<std::int32_t> jagged{0, 1, 6};
  columns.sparse[0].offsets = threes.data();
  columns.sparse[1].offsets = jagged.data();
  const Frames frames = wire.pack(columns);
  const ColumnLayout layout = layout_of(frames);
  CHECK(layout.sparse[0].length_bytes == 0);
  CHECK(layout.sparse[0].each == 3);
  CHECK(layout.sparse[1].length_bytes == 1);
  // Labels 2, ids 6, lengths 2, ids 6: each in a step of 8.
  CHECK(frames[1].size() == 32);
  const auto came = wire.unpack(frames, 0, 2);
  REQUIRE(came);
  CHECK(test::same_columns(columns, came->columns));
  CHECK(came->columns.packed->sparse[0].offsets == nullptr);
}

TEST_CASE("lengths add up whether eight of them are short or one of them is long",
          "[core][column_frames]") {
  Wire wire;
  // 7 × 31 + 30 = 247 fits a byte, 7 × 31 + 39 = 256 does not; 21 = 2 × 8 + 5.
  for (const std::int32_t other : {30, 39, 255}) {
    for (const std::size_t place : {0, 7, 8, 15, 20}) {
      std::vector<std::int32_t> offsets{0};
      for (std::size_t row = 0; row < 21; ++row) {
        offsets.push_back(offsets.back() + (row == place ? other : 31));
      }
      const auto ids = static_cast<std::size_t>(offsets.back());
      ColumnSet columns = rows_of_ids({std::vector<std::int64_t>(ids, 7)}, wire.pool);
      columns.rows = 21;
      columns.sparse[0].offsets = offsets.data();
      const Frames frames = wire.pack(columns);
      REQUIRE(layout_of(frames).sparse[0].length_bytes == 1);
      const auto came = wire.unpack(frames, 0, 1);
      REQUIRE(came);
      CHECK(test::same_columns(columns, came->columns));
    }
  }
}

TEST_CASE("received columns are wrapped in place and keep their frames alive",
          "[core][column_frames]") {
  Wire wire;
  Random random(5);
  const ColumnSet columns = test::any_columns(random, {100, 2, 1}, wire.pool);
  Frames frames = wire.pack(columns);
  // At an odd address, as a transport may deliver it.
  std::vector<std::byte> moved(1);
  const auto sent = bytes_in(frames[1]);
  moved.insert(moved.end(), sent.begin(), sent.end());
  const Frame odd = frame_with(moved);
  frames[1] = Frame(odd.keeper(), odd.data() + 1, odd.size() - 1);
  auto came = wire.unpack(frames, 2, 1);
  REQUIRE(came);
  CHECK(came->columns.packed->labels == frames[1].data());
  CHECK(came->columns.bytes() >= frames[1].size());
  const std::weak_ptr<const void> keeper = odd.keeper();
  const auto users = keeper.use_count();
  came->columns = {};
  CHECK(keeper.use_count() == users - 1);
}

TEST_CASE("the caller's extra data is encoded with the columns", "[core][column_frames]") {
  Wire wire;
  const ColumnSet columns = rows_of_ids({{1}}, wire.pool);
  const std::string note = "3 damaged rows";
  const Frames frames =
      pack_columns(columns, std::as_bytes(std::span(note)), PackOptions{}, wire.pool);
  const auto came = wire.unpack(frames, 0, 1);
  REQUIRE(came);
  const auto extra = std::as_bytes(std::span(note));
  CHECK(came->extra == std::vector<std::byte>(extra.begin(), extra.end()));
}

TEST_CASE("a layout that contradicts itself, the data or the limits is refused",
          "[core][column_frames]") {
  Wire wire;
  ColumnSet columns = rows_of_ids({{1, 2, 3, 4}, {1, 2, 3, 4}}, wire.pool);
  columns.rows = 2;
  std::vector<std::int32_t> jagged{0, 1, 4};
  std::vector<std::int32_t> twos{0, 2, 4};
  columns.sparse[0].offsets = jagged.data();
  columns.sparse[1].offsets = twos.data();
  PackOptions options;
  options.checksum = false;
  const Frames frames = wire.pack(columns, options);
  REQUIRE(wire.unpack(frames, 0, 2));
  const auto refused = [&](auto change) {
    ColumnLayout layout = layout_of(frames);
    change(layout);
    const auto came = wire.unpack(with_layout(layout, frames), 0, 2);
    return !came && came.error().code == Code::kCorrupt;
  };
  CHECK_FALSE(refused([](ColumnLayout&) {}));
  CHECK(refused([](ColumnLayout& layout) { layout.version = 2; }));
  CHECK(refused([](ColumnLayout& layout) { layout.rows = 9; }));
  CHECK(refused([](ColumnLayout& layout) { layout.rows = 2'000'000; }));
  CHECK(refused([](ColumnLayout& layout) { layout.rows = std::uint64_t{1} << 63; }));
  CHECK(refused([](ColumnLayout& layout) { layout.dense = 0xffffffff; }));
  CHECK(refused([](ColumnLayout& layout) { layout.sparse.pop_back(); }));
  CHECK(refused([](ColumnLayout& layout) { layout.sparse[0].count = 3; }));
  CHECK(refused([](ColumnLayout& layout) { layout.sparse[0].count = 5; }));
  CHECK(refused([](ColumnLayout& layout) { layout.sparse[0].length_bytes = 3; }));
  CHECK(refused([](ColumnLayout& layout) { layout.sparse[0].length_bytes = 0; }));
  CHECK(refused([](ColumnLayout& layout) { layout.sparse[0].width = IdWidth{3}; }));
  CHECK(refused([](ColumnLayout& layout) { layout.sparse[1].each = 3; }));
  CHECK(refused([](ColumnLayout& layout) { layout.sparse[1].count = std::uint64_t{1} << 61; }));
  CHECK(refused([](ColumnLayout& layout) { layout.compression = Compression{9}; }));
  CHECK(refused([](ColumnLayout& layout) { layout.checksum = 1; }));
  CHECK_FALSE(wire.unpack({frames[0]}, 0, 2));
  CHECK_FALSE(wire.unpack({frames[0], frames[1], frames[1]}, 0, 2));
  CHECK_FALSE(wire.unpack(frames, 1, 2));
  const Frame shorter(frames[1].keeper(), frames[1].data(), frames[1].size() - 1);
  CHECK_FALSE(wire.unpack({frames[0], shorter}, 0, 2));
}

TEST_CASE("columns with more rows or bytes than a split has are refused", "[core][column_frames]") {
  Wire wire;
  const Frames frames = wire.pack(rows_of_ids({{1, 2, 3}}, wire.pool));
  const std::size_t bytes = frames[1].size();
  CHECK(unpack_columns(frames, {3, 0, 1, bytes}, wire.pool));
  CHECK_FALSE(unpack_columns(frames, {2, 0, 1, bytes}, wire.pool));
  CHECK_FALSE(unpack_columns(frames, {3, 0, 1, bytes - 1}, wire.pool));
}

TEST_CASE("rows and ids are counted with 31 bits", "[core][column_frames]") {
  // Offsets are signed 32-bit numbers; and eight bytes for each of 2^61 ids would overflow to 0.
  const auto layout = [](std::uint64_t rows, std::uint64_t count) {
    ColumnLayout made;
    made.rows = rows;
    made.sparse = {{.count = count, .width = IdWidth::k8, .each = 1, .length_bytes = 4}};
    return made;
  };
  CHECK(check(layout(0x7fffffff, 0x7fffffff)));
  CHECK_FALSE(check(layout(0x80000000, 1)));
  CHECK_FALSE(check(layout(1, 0x80000000)));
  CHECK_FALSE(check(layout(1, std::uint64_t{1} << 61)));
}

TEST_CASE("ids take 1, 2, 4 or 8 bytes, lengths none, 1, 2 or 4", "[core][column_frames]") {
  for (unsigned bytes = 0; bytes < 256; ++bytes) {
    ColumnLayout layout;
    layout.sparse = {{.count = 0, .width = static_cast<IdWidth>(bytes)}};
    CHECK(check(layout).has_value() == (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8));
    layout.sparse = {{.count = 0, .length_bytes = static_cast<std::uint8_t>(bytes)}};
    CHECK(check(layout).has_value() == (bytes <= 2 || bytes == 4));
  }
}

TEST_CASE("padding between the parts is 0 for any earlier content of the buffer",
          "[core][column_frames]") {
  Wire wire;
  const ColumnSet columns = rows_of_ids({{1, 2, 3}}, wire.pool);
  { std::memset(wire.pool.take(16).data(), 0xff, 16); }
  const auto data = bytes_in(wire.pack(columns)[1]);
  // Three labels of 0 and five bytes, three ids and five bytes.
  std::vector<std::byte> expected(16);
  for (std::size_t i = 0; i < 3; ++i) expected[8 + i] = static_cast<std::byte>(i + 1);
  CHECK(data == expected);
}

TEST_CASE("a label that is neither 0 nor 1 is refused", "[core][column_frames]") {
  Wire wire;
  PackOptions options;
  options.checksum = false;
  const Frames frames = wire.pack(rows_of_ids({{1, 2, 3}}, wire.pool), options);
  auto bytes = bytes_in(frames[1]);
  bytes[1] = std::byte{2};
  CHECK_FALSE(wire.unpack({frames[0], frame_with(bytes)}, 0, 1));
}

TEST_CASE("a flipped bit is detected", "[core][column_frames]") {
  Wire wire;
  const Frames frames = wire.pack(rows_of_ids({{1, 2, 3}, {7, 8, 9}}, wire.pool));
  for (std::size_t at = 0; at < frames[1].size(); ++at) {
    auto bytes = bytes_in(frames[1]);
    bytes[at] ^= std::byte{0x10};
    CHECK_FALSE(wire.unpack({frames[0], frame_with(bytes)}, 0, 2));
  }
}

TEST_CASE("a layout with any changed byte causes no read outside", "[core][column_frames]") {
  // For the sanitizers: reads every id and value of accepted columns.
  Wire wire;
  Random random(11);
  const auto shape = test::AnyColumns{20, 2, 3};
  PackOptions options;
  options.checksum = false;
  const ColumnSet columns = test::any_columns(random, shape, wire.pool);
  const Frames frames = wire.pack(columns, options);
  const auto header = bytes_in(frames[0]);
  const Frame data = frame_with(bytes_in(frames[1]));
  std::size_t taken = 0;
  for (std::size_t at = 0; at < header.size(); ++at) {
    for (const unsigned bits : {0x01U, 0x04U, 0x80U, 0xffU}) {
      auto changed = header;
      changed[at] ^= static_cast<std::byte>(bits);
      const auto came = wire.unpack({frame_with(changed), data}, shape.dense, shape.sparse);
      if (came) taken += test::same_columns(columns, came->columns) ? 1 : 0;
    }
  }
  CHECK(taken < header.size());
}

TEST_CASE("compressed columns are smaller, and refused if they decompress to too many bytes",
          "[core][column_frames]") {
  Wire wire;
  const std::vector<std::int64_t> zeros(5000, 7);
  const ColumnSet columns = rows_of_ids({zeros, zeros}, wire.pool);
  const Compression by = GENERATE(Compression::kLz4, Compression::kZstd);
  PackOptions options;
  options.compression = by;
  const Frames frames = wire.pack(columns, options);
  CHECK(frames[1].size() < 1000);
  const auto came = wire.unpack(frames, 0, 2);
  REQUIRE(came);
  CHECK(test::same_columns(columns, came->columns));
  CHECK_FALSE(unpack_columns(frames, {5000, 0, 2, 14999}, wire.pool));
  CHECK(unpack_columns(frames, {5000, 0, 2, 15000}, wire.pool));
}

TEST_CASE("the bounds of a schema are those of its sparse features", "[core][column_frames]") {
  CHECK(id_bounds({{"d"}, {{"a", 10}, {"b", 0}}}) == std::vector<std::int64_t>{10, 0});
}

}  // namespace
}  // namespace forebay

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/base/check.h"
#include "core/wire/codec.h"
#include "core/wire/column_frames.h"
#include "core/wire/column_layout.h"
#include "tests/support/packed.h"

namespace {

using namespace forebay;  // NOLINT(google-build-using-namespace)

/// A copy in memory of its own, so that the sanitizer sees an access outside.
Frame frame_of(std::span<const std::byte> bytes) {
  const auto held = std::make_shared<std::vector<std::byte>>(bytes.begin(), bytes.end());
  return {held, held->data(), held->size()};
}

/// The columns; nullopt if the frames are refused, as damaged ones are.
std::optional<UnpackedColumns> accepted(const Frames& frames, const UnpackLimits& limits,
                                        BufferPool& pool) {
  auto came = unpack_columns(frames, limits, pool);
  if (came) return std::move(*came);
  FOREBAY_CHECK(came.error().code == Code::kCorrupt);
  return std::nullopt;
}

/// Columns with a group of repeated ones: the input has the lengths of the next two frames in two
/// bytes each. Every accepted reference leads to a list that is there.
int check_repeated(const Frame& layout, std::span<const std::byte> rest, UnpackLimits limits) {
  limits.repeated = {{.dense = {}, .sparse = {limits.sparse}}};
  ++limits.sparse;
  Frames frames{layout};
  for (int i = 0; i < 2 && rest.size() >= 2; ++i) {
    const std::size_t length =
        std::to_integer<std::size_t>(rest[0]) + 256 * std::to_integer<std::size_t>(rest[1]);
    rest = rest.subspan(2);
    frames.push_back(frame_of(rest.first(std::min(length, rest.size()))));
    rest = rest.subspan(std::min(length, rest.size()));
  }
  frames.push_back(frame_of(rest));
  MemoryBudget budget(std::size_t{1} << 30);
  BufferPool pool(budget);
  const auto came = accepted(frames, limits, pool);
  if (!came) return 0;
  const RepeatedColumns& group = came->columns.repeated.at(0);
  for (std::size_t row = 0; row < came->columns.rows; ++row) {
    const ColumnSet& set = *group.sets.at(group.rows[row].set);
    const PackedIds& ids = set.packed->sparse.at(0);
    FOREBAY_CHECK(ids.first_id(group.rows[row].row) <= ids.first_id(group.rows[row].row + 1));
    FOREBAY_CHECK(group.rows[row].row < set.rows);
  }
  return 0;
}

}  // namespace

/// The input: the length of the first frame (a byte), that frame, and the second. Accepted columns
/// read back the same when packed again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::span<const std::byte> input(reinterpret_cast<const std::byte*>(data) + 1, size - 1);
  const std::size_t first = std::min<std::size_t>(data[0], input.size());
  const Frames frames{frame_of(input.first(first)), frame_of(input.subspan(first))};
  const auto layout = decode_value<ColumnLayout>("layout", input.first(first));
  UnpackLimits limits{.max_rows = 10'000, .dense = 2, .sparse = 2, .max_bytes = 1 << 20};
  if (layout) limits.dense = std::min<std::size_t>(layout->dense, 100);
  if (layout) limits.sparse = layout->sparse.size();
  if (layout) limits.weights = layout->weights;
  if (layout) limits.extras = std::min<std::size_t>(layout->extras, 100);
  if (layout && layout->groups == 1) {
    return check_repeated(frames[0], input.subspan(first), limits);
  }

  MemoryBudget budget(std::size_t{1} << 30);
  BufferPool pool(budget);
  const auto came = accepted(frames, limits, pool);
  if (!came) return 0;
  const ColumnSet plain = test::widened(came->columns, pool);
  limits.max_bytes = std::size_t{1} << 30;
  for (const auto way : {Compression::kNone, Compression::kLz4, Compression::kZstd}) {
    const PackOptions options{.bounds = {1, 300}, .compression = way};
    const auto back = unpack_columns(pack_columns(plain, came->extra, options, pool), limits, pool);
    FOREBAY_CHECK(back.has_value());
    FOREBAY_CHECK(back->extra == came->extra);
    FOREBAY_CHECK(test::same_columns(plain, back->columns));
  }
  return 0;
}

#include "tests/fuzz/scan_and_decode.h"

#include <algorithm>
#include <bit>
#include <string>

#include "core/base/check.h"
#include "tests/support/repeated.h"

namespace forebay::fuzz {
namespace {

bool same_bits(float a, float b) {
  return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
}

void check_row(const ColumnSet& columns, std::size_t i, const Row& row) {
  FOREBAY_CHECK(columns.origins[i].offset() == row.offset);
  FOREBAY_CHECK(same_bits(columns.labels[i], row.label));
  for (std::size_t c = 0; c < columns.dense.size(); ++c) {
    FOREBAY_CHECK(same_bits(columns.dense[c][i], row.dense[c]));
  }
  if (columns.weights != nullptr) FOREBAY_CHECK(same_bits(columns.weights[i], row.weight));
  FOREBAY_CHECK(columns.extras.size() == row.extras.size());
  for (std::size_t c = 0; c < columns.extras.size(); ++c) {
    FOREBAY_CHECK(columns.extras[c][i] == row.extras[c]);
  }
  for (std::size_t c = 0; c < columns.sparse.size(); ++c) {
    const SparseColumn& column = columns.sparse[c];
    const std::size_t first =
        column.offsets == nullptr ? i : static_cast<std::size_t>(column.offsets[i]);
    const std::size_t last =
        column.offsets == nullptr ? i + 1 : static_cast<std::size_t>(column.offsets[i + 1]);
    FOREBAY_CHECK(std::equal(column.values + first, column.values + last, row.sparse[c].begin(),
                             row.sparse[c].end()));
  }
}

/// Other content of the same size under the same index; it is decoded to name the changed row.
void check_changed(const Format& format, std::string_view text, const BlockBuilder& index,
                   test::SplitMaker& maker) {
  const std::string changed(text.rbegin(), text.rend());
  const Decoded decoded = format.decode(maker.split(changed, index), {}, maker.pool());
  const std::size_t rows = decoded.columns.rows + decoded.bad.size();
  FOREBAY_CHECK(decoded.miscounted ? rows <= index.rows() : rows == index.rows());
}

/// Fills in the values that the decoder left out since they repeat.
void make_plain(const Format& format, Decoded& decoded, BufferPool& pool) {
  store_repeated(decoded, format.schema(), pool);
  test::make_plain(decoded.columns, format.schema().repeated, pool);
}

}  // namespace

void check(const TextFormat& format, std::string_view text, std::size_t piece,
           const Expected& expected) {
  test::SplitMaker maker;
  const auto index = test::SplitMaker::index(format, text, piece, 16);
  if (!index) return;  // A row longer than the limit.
  FOREBAY_CHECK(index->rows() == expected.rows.size() + expected.damaged.size());
  const RawSplit split = maker.split(text, *index);
  const DecodeOptions options{.filter = {}, .keep_origins = true};
  Decoded all = format.decode(split, options, maker.pool());
  FOREBAY_CHECK(!all.miscounted);
  FOREBAY_CHECK(all.columns.rows == expected.rows.size());
  FOREBAY_CHECK(all.columns.bytes() <=
                format.decoded_bytes({.rows = index->rows(), .bytes = split.bytes.size()}));
  make_plain(format, all, maker.pool());
  for (std::size_t i = 0; i < all.columns.rows; ++i) check_row(all.columns, i, expected.rows[i]);
  FOREBAY_CHECK(all.bad.size() == expected.damaged.size());
  for (std::size_t i = 0; i < all.bad.size(); ++i) {
    FOREBAY_CHECK(all.bad[i].offset == expected.damaged[i]);
  }
  const RowFilter training(RowFilter::Keep::kTraining, 5, 0.5);
  Decoded some = format.decode(split, {.filter = training, .keep_origins = true}, maker.pool());
  FOREBAY_CHECK(some.bad.size() == expected.damaged.size());
  FOREBAY_CHECK(some.columns.rows + some.filtered == expected.rows.size());
  make_plain(format, some, maker.pool());
  std::size_t kept = 0;
  for (const Row& row : expected.rows) {
    if (training.keeps(0, row.offset)) check_row(some.columns, kept++, row);
  }
  FOREBAY_CHECK(kept == some.columns.rows);
  check_changed(format, text, *index, maker);
}

}  // namespace forebay::fuzz

#include "actors/format/criteo/criteo_tsv.h"

#include <cstring>

#include "actors/format/column_fill.h"
#include "actors/format/criteo/criteo_decoder.h"
#include "actors/format/criteo/criteo_row.h"
#include "actors/source/index/block_builder.h"

namespace forebay {
namespace {

/// Finds rows that are lines: every newline ends a row, and an empty line is a row too.
class LineScanner final : public RowScanner {
 public:
  explicit LineScanner(std::uint64_t max_row_bytes) : max_row_bytes_(max_row_bytes) {}

  Status scan(std::span<const char> piece, BlockBuilder& blocks) override {
    const char* at = piece.data();
    const char* const last = at + piece.size();
    const std::uint64_t piece_start = end_;
    while (at < last) {
      const void* newline = std::memchr(at, '\n', static_cast<std::size_t>(last - at));
      if (newline == nullptr) break;
      at = static_cast<const char*>(newline) + 1;
      const std::uint64_t next = piece_start + static_cast<std::uint64_t>(at - piece.data());
      if (next - 1 - row_start_ > max_row_bytes_) return too_long();
      blocks.add_row(row_start_, row_line_);
      row_start_ = next;
      ++row_line_;
    }
    end_ += piece.size();
    if (end_ - row_start_ > max_row_bytes_) return too_long();
    return {};
  }

  void finish(BlockBuilder& blocks) override {
    if (end_ > row_start_) blocks.add_row(row_start_, row_line_);
  }

 private:
  Status too_long() const {
    return fail(Code::kCorrupt, "row at byte " + std::to_string(row_start_) + ", line " +
                                    std::to_string(row_line_) + ", is longer than " +
                                    std::to_string(max_row_bytes_) +
                                    " bytes (dataset.max_row_bytes); is the file a TSV of clicks?");
  }

  const std::uint64_t max_row_bytes_;
  std::uint64_t row_start_ = 0;  // Of the row being scanned.
  std::uint64_t row_line_ = 1;
  std::uint64_t end_ = 0;  // Of the bytes seen.
};

class CriteoTsv final : public TextFormat {
 public:
  CriteoTsv(ColumnChoice choice, std::uint64_t max_row_bytes, CpuLevel level)
      : choice_(std::move(choice)), max_row_bytes_(max_row_bytes), kernel_(criteo_kernel(level)) {}

  const Schema& schema() const override { return choice_.schema; }
  std::unique_ptr<RowScanner> scanner() const override {
    return std::make_unique<LineScanner>(max_row_bytes_);
  }
  Status accepts(std::span<const char>) const override { return {}; }
  std::string index_settings() const override { return std::to_string(max_row_bytes_); }

  Decoded decode(const RawSplit& raw, const DecodeOptions& options,
                 BufferPool& pool) const override {
    ColumnFill fill(shape(Extent::of(raw.blocks).rows, options.keep_origins), pool);
    return decode_criteo(raw, options, choice_, kernel_, fill);
  }

  bool may_have_lists(std::size_t) const override { return false; }

  std::size_t decoded_bytes(const Extent& extent) const override {
    const auto largest = shape(extent.rows, true);
    return largest.dense_bytes() + largest.sparse_bytes();
  }

 private:
  ColumnFill::Shape shape(std::size_t rows, bool origins) const {
    return {.rows = rows,
            .dense = choice_.dense.size(),
            .sparse = choice_.sparse.size(),
            .origins = origins,
            .weights = choice_.weight.has_value(),
            .extras = choice_.extra.size()};
  }

  const ColumnChoice choice_;
  const std::uint64_t max_row_bytes_;
  const CriteoKernel& kernel_;
};

std::vector<std::string> column_names() {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < CriteoRow::kFields; ++i) names.push_back(criteo_column_name(i));
  return names;
}

/// Checks that `choice` uses integers as dense columns and weight, and tokens as sparse columns;
/// the layout fixes their kinds.
Status check_kinds(const ColumnChoice& choice) {
  const auto wrong = [](const char* key, std::size_t column, const char* kind) {
    return fail(Code::kInvalid, std::string(key) + ": column \"" + criteo_column_name(column) +
                                    "\" of a criteo_tsv file is " + kind);
  };
  for (const std::size_t column : choice.dense) {
    if (column == 0 || column > CriteoRow::kInts) {
      return wrong("columns.dense", column, "not dense; the dense ones are I1 to I13");
    }
  }
  for (const std::size_t column : choice.sparse) {
    if (column <= CriteoRow::kInts) {
      return wrong("columns.sparse", column, "not sparse; the sparse ones are C1 to C26");
    }
  }
  if (choice.weight && *choice.weight > CriteoRow::kInts) {
    return wrong("columns.weight", *choice.weight, "no number; the numbers are I1 to I13");
  }
  if (choice.label != 0)
    return wrong("columns.label", choice.label, "not the label; that is \"label\"");
  return {};
}

}  // namespace

Result<std::unique_ptr<TextFormat>> open_criteo_tsv(const DatasetSpec& dataset,
                                                    const ColumnSpec& columns, CpuLevel level) {
  ColumnSpec wanted = columns;
  if (wanted.label.empty()) wanted.label = "label";
  if (wanted.dense.empty() && wanted.sparse.empty()) {
    wanted.dense = {"I*"};
    wanted.sparse = {"C*"};
  }
  auto choice = choose_columns(wanted, column_names());
  if (!choice) return pass(choice);
  if (auto status = check_kinds(*choice); !status) return pass(status);
  return std::make_unique<CriteoTsv>(std::move(*choice), dataset.max_row_bytes, level);
}

}  // namespace forebay

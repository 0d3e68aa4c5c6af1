#include "actors/format/criteo/criteo_tsv.h"

#include <cstring>
#include <string_view>

#include "actors/format/column_fill.h"
#include "actors/format/criteo/criteo_decoder.h"
#include "actors/format/criteo/criteo_row.h"
#include "actors/format/criteo/line_scanner.h"

namespace forebay {
namespace {

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
    std::size_t rows = 0;
    for (const BlockRef& block : raw.blocks) rows += block.rows;
    ColumnFill fill(shape(rows, options.keep_origins), pool);
    Decoded decoded;
    CriteoDecoder(raw, options, choice_, kernel_, fill).run(decoded);
    decoded.columns = fill.finish();
    return decoded;
  }

  std::size_t decoded_bytes(std::size_t rows, std::size_t) const override {
    const auto largest = shape(rows, true);
    return largest.dense_bytes() + largest.sparse_bytes();
  }

 private:
  ColumnFill::Shape shape(std::size_t rows, bool origins) const {
    return {.rows = rows,
            .dense = choice_.dense.size(),
            .sparse = choice_.sparse.size(),
            .origins = origins};
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

/// Checks that `choice` uses integers as dense and tokens as sparse columns; the layout fixes their
/// kinds.
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

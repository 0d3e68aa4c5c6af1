#include "actors/format/criteo_tsv.h"

#include <cstring>
#include <string_view>

#include "actors/format/block_cursor.h"
#include "actors/format/column_fill.h"
#include "actors/format/criteo_row.h"
#include "actors/format/line_scanner.h"

namespace forebay {
namespace {

/// One call of `decode`: walks the split row by row.
class CriteoDecoder {
 public:
  CriteoDecoder(const RawSplit& raw, const DecodeOptions& options, const ColumnChoice& choice,
                ColumnFill& fill)
      : text_(raw.bytes.as<const char>(), raw.bytes.size()),
        options_(options),
        choice_(choice),
        fill_(fill),
        cursor_(raw) {}

  void run(Decoded& decoded) {
    while (at_ < text_.size()) {
      if (rows_seen_ == fill_.capacity()) {
        decoded.bad.push_back(
            cursor_.bad_row(at_, 0, "more rows than were indexed; the file changed"));
        return;
      }
      one_row(decoded);
    }
  }

 private:
  void one_row(Decoded& decoded) {
    const std::size_t end = std::min(text_.find('\n', at_), text_.size());
    const std::string_view line = text_.substr(at_, end - at_);
    std::string reason = row_.parse(line);
    cursor_.seek(at_);
    if (!reason.empty()) {
      decoded.bad.push_back(cursor_.bad_row(at_, line.size(), std::move(reason)));
    } else if (!options_.filter.keeps(cursor_.file(), cursor_.offset(at_))) {
      ++decoded.filtered;
    } else {
      append();
    }
    at_ = end + 1;
    ++rows_seen_;
  }

  void append() {
    const std::size_t row = fill_.rows++;
    fill_.labels[row] = row_.label;
    for (std::size_t i = 0; i < choice_.dense.size(); ++i) {
      fill_.dense[i][row] = row_.ints[choice_.dense[i] - 1];
    }
    for (std::size_t i = 0; i < choice_.sparse.size(); ++i) {
      const std::size_t token = choice_.sparse[i] - 1 - CriteoRow::kInts;
      SparseFill& column = fill_.sparse[i];
      column.values[column.count] = row_.tokens[token];
      column.count += row_.present >> token & 1;
      column.end_row(row);
    }
    if (fill_.origins != nullptr) {
      fill_.origins[row] = RowOrigin::of(cursor_.file(), cursor_.offset(at_));
    }
  }

  const std::string_view text_;
  const DecodeOptions& options_;
  const ColumnChoice& choice_;
  ColumnFill& fill_;
  BlockCursor cursor_;
  CriteoRow row_;
  std::size_t at_ = 0;
  std::size_t rows_seen_ = 0;
};

class CriteoTsv final : public Format {
 public:
  CriteoTsv(ColumnChoice choice, std::uint64_t max_row_bytes)
      : choice_(std::move(choice)), max_row_bytes_(max_row_bytes) {}

  const Schema& schema() const override { return choice_.schema; }
  std::unique_ptr<RowScanner> scanner() const override {
    return std::make_unique<LineScanner>(max_row_bytes_);
  }
  Status accepts(std::span<const char>) const override { return {}; }

  Decoded decode(const RawSplit& raw, const DecodeOptions& options,
                 BufferPool& pool) const override {
    std::size_t rows = 0;
    for (const BlockRef& block : raw.blocks) rows += block.rows;
    ColumnFill fill(shape(rows, options.keep_origins), pool);
    Decoded decoded;
    CriteoDecoder(raw, options, choice_, fill).run(decoded);
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
};

std::vector<std::string> column_names() {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < CriteoRow::kFields; ++i) names.push_back(criteo_column_name(i));
  return names;
}

/// Integers are dense, tokens are sparse: the layout says which is which.
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

Result<std::unique_ptr<Format>> open_criteo_tsv(const DatasetSpec& dataset,
                                                const ColumnSpec& columns) {
  ColumnSpec wanted = columns;
  if (wanted.label.empty()) wanted.label = "label";
  if (wanted.dense.empty() && wanted.sparse.empty()) {
    wanted.dense = {"I*"};
    wanted.sparse = {"C*"};
  }
  auto choice = choose_columns(wanted, column_names());
  if (!choice) return pass(choice);
  if (auto status = check_kinds(*choice); !status) return pass(status);
  return std::make_unique<CriteoTsv>(std::move(*choice), dataset.max_row_bytes);
}

}  // namespace forebay

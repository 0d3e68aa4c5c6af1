#include "actors/format/csv/csv_decoder.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "actors/format/column_fill.h"
#include "actors/format/csv/csv_row.h"
#include "actors/format/csv/decimal.h"
#include "actors/format/csv/repeated_fields.h"
#include "actors/format/csv/text_label.h"
#include "actors/format/raw_split.h"
#include "actors/format/row_values.h"
#include "core/base/text/text.h"
#include "core/data/column_set.h"

namespace forebay {
namespace {

/// Returns `text` without blanks around it; a line end in quotes is part of the field.
std::string_view without_blanks(std::string_view text) {
  return trimmed(text, [](char letter) { return letter == ' ' || letter == '\t'; });
}

ColumnFill::Shape fill_shape(const CsvLayout& layout, std::size_t rows, bool origins) {
  const ColumnChoice& choice = layout.choice;
  return {.rows = rows,
          .dense = choice.dense.size(),
          .sparse = layout.list_delimiter.empty() ? choice.sparse.size() : 0,
          .origins = origins,
          .weights = choice.weight.has_value(),
          .extras = choice.extra.size()};
}

/// One call of decode_csv: walks the split block by block, row by row.
class CsvDecoder {
 public:
  CsvDecoder(const RawSplit& raw, const CsvLayout& layout, const DecodeOptions& options,
             BufferPool& pool)
      : raw_(raw),
        text_(raw.bytes.as<const char>(), raw.bytes.size()),
        layout_(layout),
        options_(options),
        fill_(fill_shape(layout, Extent::of(raw.blocks).rows, options.keep_origins), pool),
        cursor_(raw),
        row_(layout.delimiter, layout.names.size()),
        repeated_(layout.choice, text_) {
    if (!layout.list_delimiter.empty()) {
      lists_.emplace(layout.choice.sparse.size(), fill_.capacity(), raw.bytes.size(), pool);
    }
  }

  Decoded run(BufferPool& pool) {
    std::size_t begin = 0;
    for (const std::size_t size : raw_.sizes) {
      if (!decoded_.miscounted) decode_block(begin, begin + size);
      begin += size;
    }
    if (rows_seen_ < fill_.capacity()) {
      decoded_.miscounted = cursor_.bad_row(begin, 0, "fewer rows than were indexed");
    }
    decoded_.columns = fill_.finish();
    if (lists_) lists_->finish(decoded_.columns, pool);
    decoded_.stored = repeated_.take_stored();
    return std::move(decoded_);
  }

 private:
  void decode_block(std::size_t at, std::size_t end) {
    while (at < end) {
      const std::string_view rest = text_.substr(at, end - at);
      if (const std::size_t blank = CsvRow::blank_line(rest)) {
        at += blank;
        continue;
      }
      if (rows_seen_ == fill_.capacity()) {
        decoded_.miscounted = cursor_.bad_row(at, 0, "more rows than were indexed");
        return;
      }
      const std::size_t bytes = row_.read(rest);
      one_row(at, bytes);
      ++rows_seen_;
      at += bytes;
    }
  }

  void one_row(std::size_t at, std::size_t bytes) {
    cursor_.seek(at);
    std::string reason = parse_plain_columns();
    if (!reason.empty()) {
      const std::size_t newline = text_[at + bytes - 1] == '\n' ? 1 : 0;
      decoded_.bad.push_back(cursor_.bad_row(at, bytes - newline, std::move(reason)));
    } else if (!options_.filter.keeps(cursor_.file(), cursor_.offset(at))) {
      ++decoded_.filtered;
    } else {
      const std::size_t row = fill_.rows;
      if (lists_) {
        append_lists();
      } else {
        append_ids(row);
      }
      append_extras(row);
      if (repeated_.any()) repeated_.keep(row_);
      if (fill_.origins != nullptr) {
        fill_.origins[row] = RowOrigin::of(cursor_.file(), cursor_.offset(at));
      }
      ++fill_.rows;
    }
  }

  /// Checks the row and writes its label, weight and dense values behind the last complete row;
  /// they become part of the fill when the row is complete. Returns why the row is damaged; empty
  /// for a sound row.
  std::string parse_plain_columns() {
    if (row_.damage().what != nullptr) {
      return column(row_.damage().field) + ' ' + row_.damage().what;
    }
    if (row_.num_fields() != layout_.names.size()) {
      return std::to_string(row_.num_fields()) + " fields, not " +
             std::to_string(layout_.names.size());
    }
    if (repeated_.any()) repeated_.compare(row_);
    const ColumnChoice& choice = layout_.choice;
    const std::string_view label_text = without_blanks(row_.field(choice.label));
    const std::optional<float> label = label_in(label_text, choice.label_threshold);
    if (!label) {
      return column(choice.label) + ": " + quoted_text(label_text) +
             label_complaint(choice.label_threshold);
    }
    fill_.labels[fill_.rows] = *label;
    if (choice.weight && !read_weight()) {
      return column(*choice.weight) + ": " +
             quoted_text(without_blanks(row_.field(*choice.weight))) + kWeightComplaint;
    }
    for (std::size_t i = 0; i < choice.dense.size(); ++i) {
      if (repeated_.repeats_dense(i)) continue;
      const std::string_view text = without_blanks(row_.field(choice.dense[i]));
      float& value = fill_.dense[i][fill_.rows];
      if (text.empty()) {
        value = missing_value();
      } else if (!read_decimal(text, value)) {
        return column(choice.dense[i]) + ": " + quoted_text(text) + " is not a number";
      }
    }
    return {};
  }

  /// Returns false for a weight that damages the row.
  bool read_weight() {
    float& weight = fill_.weights[fill_.rows];
    return read_decimal(without_blanks(row_.field(*layout_.choice.weight)), weight) &&
           is_weight(weight);
  }

  void append_extras(std::size_t row) {
    for (std::size_t i = 0; i < layout_.choice.extra.size(); ++i) {
      const std::string_view text = row_.field(layout_.choice.extra[i]);
      fill_.extras[i][row] = text.empty() ? 0 : id_of(text);
    }
  }

  void append_ids(std::size_t row) {
    for (std::size_t i = 0; i < layout_.choice.sparse.size(); ++i) {
      const std::string_view text = row_.field(layout_.choice.sparse[i]);
      SparseFill& column = fill_.sparse[i];
      if (!text.empty()) {
        column.values[column.count] =
            repeated_.repeats_sparse(i) ? column.values[column.count - 1] : id_of(text);
        ++column.count;
      }
      column.end_row(row);
    }
  }

  void append_lists() {
    const std::vector<std::size_t>& columns = layout_.choice.sparse;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      std::string_view text = repeated_.repeats_sparse(i) ? "" : row_.field(columns[i]);
      while (!text.empty()) {
        const std::string_view id = text.substr(0, text.find(layout_.list_delimiter[0]));
        if (!id.empty()) lists_->add(id_of(id));
        text.remove_prefix(std::min(text.size(), id.size() + 1));
      }
      lists_->end_list();
    }
  }

  std::string column(std::size_t i) const {
    if (i >= layout_.names.size()) return "field " + std::to_string(i + 1);
    return layout_.names[i].empty() ? "column " + std::to_string(i + 1)
                                    : "column " + layout_.names[i];
  }

  const RawSplit& raw_;
  const std::string_view text_;
  const CsvLayout& layout_;
  const DecodeOptions& options_;
  ColumnFill fill_;
  std::optional<IdLists> lists_;  // Replaces fill_'s sparse columns when fields are lists.
  BlockCursor cursor_;
  CsvRow row_;
  RepeatedFields repeated_;
  std::size_t rows_seen_ = 0;
  Decoded decoded_;
};

}  // namespace

Decoded decode_csv(const RawSplit& raw, const CsvLayout& layout, const DecodeOptions& options,
                   BufferPool& pool) {
  return CsvDecoder(raw, layout, options, pool).run(pool);
}

std::size_t decoded_csv_bytes(const CsvLayout& layout, std::size_t rows, std::size_t raw_bytes) {
  const bool lists = !layout.list_delimiter.empty();
  const std::size_t sparse = layout.choice.sparse.size();
  const ColumnFill::Shape shape = fill_shape(layout, rows, true);
  return shape.dense_bytes() + shape.sparse_bytes() +
         (lists ? IdLists::bytes(sparse, rows, raw_bytes) : 0);
}

}  // namespace forebay

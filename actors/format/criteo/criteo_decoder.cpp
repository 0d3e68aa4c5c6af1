#include "actors/format/criteo/criteo_decoder.h"

#include <algorithm>
#include <bit>
#include <string>
#include <string_view>
#include <utility>

#include "actors/format/criteo/criteo_row.h"
#include "actors/format/raw_split.h"
#include "actors/format/row_values.h"
#include "core/data/column_set.h"

namespace forebay {
namespace {

/// A kernel counts bytes in 32 bits.
constexpr std::size_t kKernelReach = std::size_t{1} << 30;
/// If the kernel decodes fewer than this many rows of a group, the next rows are decoded one by
/// one.
constexpr std::size_t kFewRows = 4;
constexpr std::size_t kWhile = 2 * CriteoGroup::kRows;

std::uint32_t first_bits(std::size_t count) {
  return count >= 32 ? ~0U : (std::uint32_t{1} << count) - 1;
}

/// One call of decode_criteo.
class CriteoDecoder {
 public:
  CriteoDecoder(const RawSplit& raw, const DecodeOptions& options, const ColumnChoice& choice,
                const CriteoKernel& kernel, ColumnFill& fill)
      : text_(raw.bytes.as<const char>(), raw.bytes.size()),
        options_(options),
        choice_(choice),
        kernel_(kernel),
        fill_(fill),
        by_row_(choice.label_threshold || choice.weight || !choice.extra.empty()),
        cursor_(raw) {
    target_.labels = fill.labels;
    for (std::size_t i = 0; i < choice.dense.size(); ++i) {
      target_.ints[choice.dense[i] - 1] = fill.dense[i];
    }
    for (std::size_t i = 0; i < choice.sparse.size(); ++i) {
      target_.tokens[choice.sparse[i] - 1 - CriteoRow::kInts] = &fill.sparse[i];
    }
  }

  Decoded run() {
    while (at_ < text_.size()) {
      if (rows_seen_ == fill_.capacity()) {
        decoded_.miscounted = cursor_.bad_row(at_, 0, "more rows than were indexed");
        break;
      }
      if (by_row_) {
        decode_row();
      } else if (one_by_one_ > 0) {
        --one_by_one_;
        decode_row();
      } else {
        decode_group();
      }
    }
    if (rows_seen_ < fill_.capacity()) {
      decoded_.miscounted = cursor_.bad_row(at_, 0, "fewer rows than were indexed");
    }
    decoded_.columns = fill_.finish();
    return std::move(decoded_);
  }

 private:
  void decode_group() {
    const char* const text = text_.data() + at_;
    kernel_.find(text, std::min(text_.size() - at_, kKernelReach), group_);
    group_.rows = std::min(group_.rows, fill_.capacity() - rows_seen_);
    const std::size_t found = group_.rows;
    const std::uint32_t picked = pick(found);
    const std::size_t done = found == 0 ? 0 : kernel_.decode(text, group_, picked, target_);
    append_origins(done, picked);
    fill_.rows = target_.rows;
    decoded_.filtered += static_cast<std::size_t>(std::popcount(~picked & first_bits(done)));
    at_ += group_.row_begin(done);
    rows_seen_ += done;
    if (done < CriteoGroup::kRows) one_by_one_ = done < kFewRows ? kWhile : 1;
  }

  /// Bit i: the filter keeps row i of the group.
  std::uint32_t pick(std::size_t rows) const {
    if (options_.filter.keeps_all()) return ~0U;
    std::uint32_t picked = 0;
    BlockCursor ahead = cursor_;  // The kernel may not take all of these rows.
    for (std::size_t i = 0; i < rows; ++i) {
      const std::size_t at = at_ + group_.row_begin(i);
      ahead.seek(at);
      const bool keep = options_.filter.keeps(ahead.file(), ahead.offset(at));
      picked |= std::uint32_t{keep} << i;
    }
    return picked;
  }

  void append_origins(std::size_t rows, std::uint32_t picked) {
    if (fill_.origins == nullptr) return;
    std::size_t row = fill_.rows;
    for (std::size_t i = 0; i < rows; ++i) {
      if ((picked >> i & 1) == 0) continue;
      const std::size_t at = at_ + group_.row_begin(i);
      cursor_.seek(at);
      fill_.origins[row++] = RowOrigin::of(cursor_.file(), cursor_.offset(at));
    }
  }

  void decode_row() {
    const std::size_t end = std::min(text_.find('\n', at_), text_.size());
    const std::string_view line = text_.substr(at_, end - at_);
    std::string reason = row_.parse(line, choice_.label_threshold);
    if (reason.empty()) reason = weight_problem();
    cursor_.seek(at_);
    if (!reason.empty()) {
      decoded_.bad.push_back(cursor_.bad_row(at_, line.size(), std::move(reason)));
    } else if (!options_.filter.keeps(cursor_.file(), cursor_.offset(at_))) {
      ++decoded_.filtered;
    } else {
      append_row();
    }
    at_ = std::min(end + 1, text_.size());
    ++rows_seen_;
  }

  /// Why the row's weight damages it; empty for a sound row, and without weights.
  std::string weight_problem() const {
    if (!choice_.weight || is_weight(row_.ints[*choice_.weight - 1])) return {};
    const std::size_t column = *choice_.weight;
    const bool empty = is_missing(row_.ints[column - 1]);
    const std::string text = empty ? "" : std::to_string(row_.integers[column - 1]);
    return "column " + criteo_column_name(column) + ": " + quoted_text(text) + kWeightComplaint;
  }

  std::int64_t extra_value(std::size_t column) const {
    if (column <= CriteoRow::kInts) return row_.integers[column - 1];
    return row_.tokens[column - 1 - CriteoRow::kInts];
  }

  void append_row() {
    const std::size_t row = fill_.rows++;
    target_.rows = fill_.rows;
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
    if (choice_.weight) fill_.weights[row] = row_.ints[*choice_.weight - 1];
    for (std::size_t i = 0; i < choice_.extra.size(); ++i) {
      fill_.extras[i][row] = extra_value(choice_.extra[i]);
    }
    if (fill_.origins != nullptr) {
      fill_.origins[row] = RowOrigin::of(cursor_.file(), cursor_.offset(at_));
    }
  }

  const std::string_view text_;
  const DecodeOptions& options_;
  const ColumnChoice& choice_;
  const CriteoKernel& kernel_;
  ColumnFill& fill_;
  const bool by_row_;  // The kernels know labels of 0 and 1, dense and sparse columns alone.
  CriteoTarget target_;
  BlockCursor cursor_;
  CriteoGroup group_;
  CriteoRow row_;
  std::size_t at_ = 0;          // Of the row to decode next.
  std::size_t rows_seen_ = 0;   // Never above the fill's capacity.
  std::size_t one_by_one_ = 0;  // Rows to decode without calling the kernel.
  Decoded decoded_;
};

}  // namespace

Decoded decode_criteo(const RawSplit& raw, const DecodeOptions& options, const ColumnChoice& choice,
                      const CriteoKernel& kernel, ColumnFill& fill) {
  return CriteoDecoder(raw, options, choice, kernel, fill).run();
}

}  // namespace forebay

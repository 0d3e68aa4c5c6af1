#include "actors/format/csv/csv.h"

#include <algorithm>
#include <string_view>

#include "actors/format/column_choice.h"
#include "actors/format/csv/csv_decoder.h"
#include "actors/format/csv/csv_row.h"
#include "actors/format/raw_split.h"
#include "core/data/buffer_pool.h"

namespace forebay {
namespace {

/// Reads the first record of a file as the names of its columns.
Result<std::vector<std::string>> first_record(std::span<const char> head, char delimiter) {
  // CsvRow reads in steps, so the text is padded with bytes that it may read.
  std::string padded(head.begin(), head.end());
  const std::size_t size = padded.size();
  padded.append(CsvBytes::kStep, '\0');
  std::string_view text(padded.data(), size);
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  while (const std::size_t blank = CsvRow::blank_line(text)) text.remove_prefix(blank);
  if (text.empty() || text == "\r") return std::vector<std::string>{};
  CsvRow row(delimiter, text.size() + 1);
  row.read(text);
  if (row.damage().what != nullptr) {
    return fail(Code::kInvalid, "the first row, column " + std::to_string(row.damage().field + 1) +
                                    ", " + row.damage().what);
  }
  std::vector<std::string> names;
  for (std::size_t i = 0; i < row.num_fields(); ++i) names.emplace_back(row.field(i));
  return names;
}

Status check_settings(const DatasetSpec::Csv& csv) {
  const auto usable = [](char letter) {
    return letter == '\t' || (letter >= ' ' && letter < 0x7f && letter != '"');
  };
  if (!usable(csv.delimiter)) {
    return fail(
        Code::kInvalid,
        "dataset.csv.delimiter: it must be a printable ASCII character but the quote, or a tab");
  }
  if (csv.list_delimiter.empty()) return {};
  if (csv.list_delimiter.size() != 1 || !usable(csv.list_delimiter[0]) ||
      csv.list_delimiter[0] == csv.delimiter) {
    return fail(Code::kInvalid,
                "dataset.csv.list_delimiter: it must be one character other than the delimiter");
  }
  return {};
}

/// An id of a list in text usually has at least five digits, and a delimiter.
constexpr std::uint64_t kUsualIdBytes = 6;

class Csv final : public TextFormat {
 public:
  Csv(const DatasetSpec& dataset, ColumnChoice choice, std::vector<std::string> names)
      : scan_{.delimiter = dataset.csv.delimiter,
              .header = dataset.csv.header,
              .max_row_bytes = dataset.max_row_bytes},
        layout_{.delimiter = dataset.csv.delimiter,
                .list_delimiter = dataset.csv.list_delimiter,
                .names = std::move(names),
                .choice = std::move(choice)} {}

  const Schema& schema() const override { return layout_.choice.schema; }

  std::unique_ptr<RowScanner> scanner() const override {
    return std::make_unique<CsvScanner>(scan_);
  }

  Status accepts(std::span<const char> head) const override {
    if (!scan_.header) return {};
    const auto names = first_record(head, scan_.delimiter);
    if (!names) return fail(Code::kInvalid, "header: " + names.error().message);
    if (names->empty() || *names == layout_.names) return {};
    const auto [ours, theirs] =
        std::mismatch(layout_.names.begin(), layout_.names.end(), names->begin(), names->end());
    const auto word = [](const std::vector<std::string>& all, auto at) {
      return at == all.end() ? std::string("missing") : quoted_text(*at);
    };
    return fail(Code::kInvalid,
                "its header differs from that of the dataset's first file: column " +
                    std::to_string(ours - layout_.names.begin() + 1) + " is " +
                    word(*names, theirs) + ", not " + word(layout_.names, ours));
  }

  std::string index_settings() const override {
    return std::to_string(scan_.max_row_bytes) + '\n' + scan_.delimiter +
           (scan_.header ? 'h' : '-');
  }

  Decoded decode(const RawSplit& raw, const DecodeOptions& options,
                 BufferPool& pool) const override {
    return decode_csv(raw, layout_, options, pool);
  }

  bool may_have_lists(std::size_t) const override { return !layout_.list_delimiter.empty(); }

  std::uint64_t list_ids(const Extent& extent) const override {
    if (layout_.list_delimiter.empty()) return 0;
    return std::max(extent.bytes / kUsualIdBytes, extent.rows * layout_.choice.sparse.size());
  }

  std::size_t decoded_bytes(const Extent& extent) const override {
    return decoded_csv_bytes(layout_, extent.rows, extent.bytes);
  }

 private:
  const CsvScanner::Options scan_;
  const CsvLayout layout_;
};

}  // namespace

Result<std::unique_ptr<TextFormat>> open_csv(const DatasetSpec& dataset, const ColumnSpec& columns,
                                             std::span<const char> head) {
  if (auto status = check_settings(dataset.csv); !status) return pass(status);
  auto names = first_record(head, dataset.csv.delimiter);
  if (!names)
    return fail(Code::kInvalid,
                "dataset: the first file cannot be read as CSV: " + names.error().message);
  if (names->empty())
    return fail(Code::kInvalid, "dataset: the first file is empty; it must hold CSV rows");
  if (!dataset.csv.header) {
    for (std::size_t i = 0; i < names->size(); ++i) {
      (*names)[i] = std::string("c").append(std::to_string(i));
    }
  }
  auto choice = choose_columns(columns, *names);
  if (!choice) return pass(choice);
  return std::make_unique<Csv>(dataset, std::move(*choice), std::move(*names));
}

}  // namespace forebay

#include "tools/inspect/table_guess.h"

#include <algorithm>
#include <functional>
#include <set>

#include "actors/format/csv/csv_row.h"
#include "actors/format/csv/decimal.h"

namespace forebay {
namespace {

constexpr std::size_t kMostColumns = 10'000;
constexpr std::size_t kRowsForShape = 100;
constexpr double kEnoughAgree = 0.9;
constexpr double kEnoughBelowHeader = 0.7;  // so that a damaged file is shown
using Values = ColumnGuess::Values;

/// Calls `look` for each complete row until it returns false.
void each_row(std::string_view text, char delimiter, WholeText whole,
              const std::function<bool(const CsvRow&)>& look) {
  CsvRow row(delimiter, kMostColumns);
  while (!text.empty()) {
    if (const std::size_t blank = CsvRow::blank_line(text); blank > 0) {
      text.remove_prefix(blank);
      continue;
    }
    const std::size_t size = row.read(text);
    const bool cut = size == text.size() && whole == WholeText::kNo;
    if (cut || !look(row)) return;
    text.remove_prefix(size);
  }
}

bool is_number(std::string_view text) {
  float ignored = 0;
  return read_decimal(text, ignored);
}

/// Returns whether the first row is a header: no field is a number and no name occurs twice (the
/// name of an index column may be missing).
bool is_header(const CsvRow& row) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < row.num_fields(); ++i) {
    const std::string_view name = row.field(i);
    if (is_number(name) || (!name.empty() && !names.insert(name).second)) return false;
  }
  return !names.empty();
}

/// Returns the number of fields per row if it is at least 2 and nearly all of the first rows have
/// it (most of them, below a header); otherwise 0.
std::size_t width_with(std::string_view text, char delimiter, WholeText whole) {
  std::size_t width = 0;
  std::size_t rows = 0;
  std::size_t agree = 0;
  double enough = kEnoughAgree;
  each_row(text, delimiter, whole, [&](const CsvRow& row) {
    if (rows == 0) {
      width = row.num_fields();
      if (is_header(row)) enough = kEnoughBelowHeader;
    }
    agree += row.num_fields() == width && row.damage().what == nullptr ? 1 : 0;
    return ++rows < kRowsForShape;
  });
  const bool sound = rows >= 2 && width >= 2 && width <= kMostColumns &&
                     static_cast<double>(agree) >= enough * static_cast<double>(rows);
  return sound ? width : 0;
}

bool is_whole(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

Values values_of(std::string_view text) {
  if (text == "0" || text == "1" || text == "0.0" || text == "1.0") return Values::kBinary;
  if (is_whole(text)) return Values::kWhole;
  return is_number(text) ? Values::kNumber : Values::kText;
}

class Columns {
 public:
  explicit Columns(TableGuess& table)
      : table_(table), seen_(table.columns.size()), last_(table.columns.size()) {}

  void add(const CsvRow& row) {
    for (std::size_t i = 0; i < table_.columns.size(); ++i) add(i, row.field(i));
  }

 private:
  void add(std::size_t i, std::string_view value) {
    ColumnGuess& column = table_.columns[i];
    const bool first = column.repeats.rows++ == 0;
    if (first || last_[i] != value) ++column.repeats.different;
    last_[i] = value;
    if (value.empty()) {
      ++column.empty;
      return;
    }
    if (column.example.empty()) column.example = value;
    column.values = std::max(column.values, values_of(value));
    std::set<std::string, std::less<>>& seen = seen_[i];
    if (seen.size() < ColumnGuess::kMostDistinct && !seen.contains(value)) seen.emplace(value);
    column.distinct = seen.size();
  }

  TableGuess& table_;
  std::vector<std::set<std::string, std::less<>>> seen_;
  std::vector<std::string> last_;
};

void name_columns(TableGuess& table, const CsvRow& first, std::size_t width) {
  table.header = is_header(first);
  for (std::size_t i = 0; i < width; ++i) {
    table.columns.push_back(
        {.name = table.header ? std::string(first.field(i)) : "c" + std::to_string(i)});
  }
}

std::string lower(std::string_view text) {
  std::string low(text);
  for (char& c : low) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return low;
}

}  // namespace

std::string ColumnGuess::use() const {
  const std::string low = lower(name);
  switch (values) {
    case Values::kNone:
      return "empty";
    case Values::kBinary:
      for (const char* usual : {"click", "label", "target", "y", "clicked"}) {
        if (low == usual) return "label";
      }
      return "label, dense or sparse";
    case Values::kWhole:
      return low.ends_with("id") ? "sparse" : "dense or sparse";
    case Values::kNumber:
      return "dense";
    case Values::kText:
      return "sparse";
  }
  return {};
}

std::optional<TableGuess> guess_table(std::string_view text, WholeText whole) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  std::size_t width = 0;
  TableGuess table;
  for (const char delimiter : {',', '\t', ';', '|'}) {
    const std::size_t with = width_with(text, delimiter, whole);
    if (with > width) {
      width = with;
      table.delimiter = delimiter;
    }
  }
  if (width == 0) return std::nullopt;
  std::optional<Columns> columns;
  each_row(text, table.delimiter, whole, [&](const CsvRow& row) {
    if (!columns) {
      name_columns(table, row, width);
      columns.emplace(table);
      if (table.header) return true;
    }
    ++table.rows;
    if (row.num_fields() == width && row.damage().what == nullptr) columns->add(row);
    return true;
  });
  return table;
}

}  // namespace forebay

#include <algorithm>
#include <string_view>

#include "actors/format/criteo/criteo_row.h"
#include "core/base/enum_names.h"
#include "core/base/text/printable.h"
#include "core/base/text/text.h"
#include "engine/job/quantity.h"
#include "tools/inspect/inspect.h"
#include "tools/inspect/table_guess.h"
#include "tools/inspect/text_table.h"

namespace forebay {
namespace {

constexpr std::size_t kRowsShown = 3;

constexpr EnumName<Codec> kCodecs[] = {
    {"plain", Codec::kPlain}, {"gzip", Codec::kGzip}, {"zstd", Codec::kZstd}};

/// Returns a title such as `Criteo TSV (gzip), about 3,000 rows, 700 KiB`.
std::string title_of(const FileSample& sample, const std::string& what, std::uint64_t rows) {
  const std::string packed =
      sample.codec == Codec::kPlain ? "" : " (" + std::string(name_in(kCodecs, sample.codec)) + ")";
  return what + packed + (sample.whole ? ", " : ", about ") + format_count(rows) + " rows, " +
         format_size(sample.stored_bytes);
}

JsonObject json_of(const FileSample& sample, const char* kind, std::uint64_t rows) {
  return JsonObject()
      .add("path", sample.path)
      .add("kind", kind)
      .add("codec", name_in(kCodecs, sample.codec))
      .add("stored_bytes", sample.stored_bytes)
      .add("rows", rows)
      .add("rows_estimated", !sample.whole);
}

void show_first_rows(FileReport& report, std::string_view text) {
  std::vector<std::string> rows;
  while (rows.size() < kRowsShown && !text.empty()) {
    rows.push_back(printable(take_until(text, '\n'), kMostShown));
  }
  report.lines.emplace_back("first rows:");
  for (const std::string& row : rows) report.lines.push_back("  " + row);
  report.json.add("first_rows", rows);
}

struct CriteoCount {
  std::uint64_t rows = 0;
  std::uint64_t damaged = 0;
  std::uint64_t clicks = 0;
  std::string first_damage;  ///< `line 3: …`
};

CriteoCount count_criteo(const FileSample& sample) {
  std::string_view text = sample.text();
  if (!sample.whole) text = text.substr(0, text.rfind('\n') + 1);
  CriteoCount count;
  CriteoRow row;
  while (!text.empty()) {
    const std::string why = row.parse(take_until(text, '\n'));
    ++count.rows;
    if (why.empty()) {
      count.clicks += row.label > 0 ? 1 : 0;
    } else if (++count.damaged == 1) {
      count.first_damage = "line " + std::to_string(count.rows) + ": " + printable(why, kMostShown);
    }
  }
  return count;
}

std::string shown(char delimiter) { return delimiter == '\t' ? "\\t" : std::string(1, delimiter); }

void show_columns(FileReport& report, const TableGuess& table) {
  std::vector<std::vector<std::string>> rows = {
      {"column", "looks like", "distinct", "in a row", "example"}};
  std::vector<JsonObject> columns;
  for (const ColumnGuess& column : table.columns) {
    const bool many = column.distinct == ColumnGuess::kMostDistinct;
    rows.push_back({printable(column.name, kMostShown), column.use(),
                    (many ? "≥ " : "") + format_count(column.distinct),
                    format_number(column.repeats.in_a_row(), 1), printable(column.example, 40)});
    columns.push_back(JsonObject()
                          .add("name", column.name)
                          .add("looks_like", column.use())
                          .add("distinct", column.distinct)
                          .add("empty", column.empty)
                          .add("in_a_row", column.repeats.in_a_row())
                          .add("example", column.example));
  }
  for (std::string& line : align_columns(rows)) report.lines.push_back("  " + std::move(line));
  report.json.add("columns", columns);
}

}  // namespace

std::optional<FileReport> report_criteo(const FileSample& sample) {
  const CriteoCount count = count_criteo(sample);
  if (count.rows == 0 || count.damaged * 2 > count.rows) return std::nullopt;
  const std::uint64_t rows = sample.scaled(count.rows);
  FileReport report{.title = title_of(sample, "Criteo TSV", rows),
                    .json = json_of(sample, "criteo_tsv", rows)};
  const std::uint64_t sound = count.rows - count.damaged;
  const double rate = static_cast<double>(count.clicks) / static_cast<double>(sound);
  const std::string where =
      sample.whole ? "of all rows " : "of the first " + format_count(count.rows) + " rows ";
  report.lines.emplace_back(
      "40 columns: label, I1 to I13 (dense), C1 to C26 (sparse); format = \"criteo_tsv\"");
  report.lines.push_back(where + format_count(count.clicks) + " have label 1, " +
                         format_count(count.damaged) + " are damaged" +
                         (count.damaged > 0 ? " (" + count.first_damage + ")" : ""));
  std::vector<JsonObject> columns;
  for (std::size_t i = 0; i < CriteoRow::kFields; ++i) {
    const char* use = i == 0 ? "label" : i <= CriteoRow::kInts ? "dense" : "sparse";
    columns.push_back(JsonObject().add("name", criteo_column_name(i)).add("looks_like", use));
  }
  report.json.add("sample_rows", count.rows)
      .add("damaged_rows", count.damaged)
      .add("label_rate", rate)
      .add("columns", columns);
  show_first_rows(report, sample.text());
  return report;
}

std::optional<FileReport> report_table(const FileSample& sample) {
  if (sample.text().find('\0') != std::string_view::npos) return std::nullopt;
  const auto table = guess_table(sample.text(), sample.whole ? WholeText::kYes : WholeText::kNo);
  if (!table) return std::nullopt;
  const bool dump = sample.text().starts_with("batch\tlabel");
  const std::uint64_t rows = sample.scaled(table->rows);
  FileReport report{
      .title = title_of(sample, dump ? "what a trainer saw (ingest --dump)" : "CSV", rows),
      .json = json_of(sample, dump ? "dump" : "csv", rows)};
  report.json.add("delimiter", std::string(1, table->delimiter))
      .add("header", table->header)
      .add("sample_rows", table->rows);
  report.lines.push_back(std::to_string(table->columns.size()) + " columns, " +
                         (table->header ? "named by a header" : "no header") + ", delimiter \"" +
                         shown(table->delimiter) + "\"" + (dump ? "" : "; format = \"csv\""));
  show_columns(report, *table);
  show_first_rows(report, sample.text());
  return report;
}

}  // namespace forebay

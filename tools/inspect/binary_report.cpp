#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "actors/format/npy/arrays.h"
#include "actors/format/npy/repeat_sample.h"
#include "actors/format/parquet/footer.h"
#include "actors/format/parquet/repeat_sample.h"
#include "actors/input/file_system.h"
#include "core/base/text/counted.h"
#include "core/base/text/printable.h"
#include "core/data/buffer_pool.h"
#include "engine/job/quantity.h"
#include "tools/inspect/inspect.h"
#include "tools/inspect/parquet_layout.h"
#include "tools/inspect/text_table.h"

namespace forebay {
namespace {

constexpr std::size_t kSampleMemory = std::size_t{512} << 20;

// A column over all row groups.
struct ColumnSum {
  std::uint64_t bytes = 0;
  std::uint64_t unpacked = 0;
  std::uint64_t values = 0;
  std::uint32_t encodings = 0;
  bool indexed = true;
  std::vector<std::string> codecs;
};

std::string codec_name(const parquet::Chunk& chunk) {
  if (chunk.unread == parquet::Unread::kCodec) return "codec " + std::to_string(chunk.codec_number);
  return chunk.unread == parquet::Unread::kNo ? std::string(parquet::name_of(chunk.codec))
                                              : "unknown";
}

ColumnSum sum_of(const parquet::Footer& footer, std::size_t leaf) {
  ColumnSum sum;
  for (const parquet::Group& group : footer.groups) {
    const parquet::Chunk& chunk = group.chunks[leaf];
    sum.bytes += chunk.bytes;
    sum.unpacked += chunk.uncompressed_bytes;
    sum.values += chunk.values;
    sum.encodings |= chunk.encodings;
    sum.indexed = sum.indexed && chunk.index_bytes > 0;
    const std::string codec = codec_name(chunk);
    if (std::ranges::find(sum.codecs, codec) == sum.codecs.end()) sum.codecs.push_back(codec);
  }
  return sum;
}

std::string joined_by_comma(const std::vector<std::string>& texts) {
  std::string joined;
  for (const std::string& text : texts) joined += (joined.empty() ? "" : ", ") + text;
  return joined;
}

void show_leaves(FileReport& report, const parquet::Footer& footer,
                 const std::vector<RepeatSample>& repeats) {
  std::vector<std::vector<std::string>> rows = {
      {"column", "type", "encodings", "codec", "bytes", "unpacked", "in a row", "page index"}};
  std::vector<JsonObject> columns;
  for (std::size_t i = 0; i < footer.leaves.size(); ++i) {
    const parquet::Leaf& leaf = footer.leaves[i];
    const ColumnSum sum = sum_of(footer, i);
    const auto encodings = encoding_names(sum.encodings);
    rows.push_back({printable(leaf.name, kMostShown), printable(leaf.type, kMostShown),
                    joined_by_comma(encodings), joined_by_comma(sum.codecs), format_size(sum.bytes),
                    format_size(sum.unpacked),
                    repeats[i].rows == 0 ? "-" : format_number(repeats[i].in_a_row(), 1),
                    sum.indexed ? "yes" : "no"});
    columns.push_back(JsonObject()
                          .add("name", leaf.name)
                          .add("type", leaf.type)
                          .add("readable", why_unread(footer, i).empty())
                          .add("encodings", encodings)
                          .add("codecs", sum.codecs)
                          .add("bytes", sum.bytes)
                          .add("uncompressed_bytes", sum.unpacked)
                          .add("values", sum.values)
                          .add("in_a_row", repeats[i].in_a_row())
                          .add("page_index", sum.indexed));
  }
  for (std::string& line : align_columns(rows)) report.lines.push_back("  " + std::move(line));
  report.json.add("columns", columns);
}

Result<FileReport> report_parquet(const InputFile& file) {
  auto footer = parquet::read_footer(file);
  if (!footer) return pass(footer);
  MemoryBudget budget(kSampleMemory);
  BufferPool pool(budget);
  auto repeats = parquet::sample_repeats(file, *footer, pool);
  if (!repeats) return pass(repeats);
  std::vector<std::size_t> all(footer->leaves.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  ParquetLayouts layouts;
  layouts.add(*footer, all);
  const ParquetLayout layout = layouts.sum();
  FileReport report{
      .title = "Parquet, " + format_count(footer->rows) + " rows, " + format_size(file.size()),
      .json = JsonObject()
                  .add("path", file.path())
                  .add("kind", "parquet")
                  .add("stored_bytes", file.size())
                  .add("rows", footer->rows)
                  .add("writer", footer->writer)};
  const std::string writer =
      footer->writer.empty() ? "" : "; written by " + printable(footer->writer, kMostShown);
  report.lines.push_back(std::to_string(footer->leaves.size()) + " columns, " +
                         describe_groups(layout) + writer + "; format = \"parquet\"");
  show_leaves(report, *footer, *repeats);
  const auto problems = problems_of(layout);
  if (problems.empty()) report.lines.emplace_back("its layout suits training");
  for (const LayoutProblem& problem : problems) {
    report.lines.push_back("for training: " + problem.what + "; " + problem.advice);
  }
  report.json.add("layout", to_json(layout));
  return report;
}

std::vector<double> in_a_row(const std::vector<RepeatSample>& repeats) {
  std::vector<double> each;
  each.reserve(repeats.size());
  for (const RepeatSample& column : repeats) each.push_back(column.in_a_row());
  return each;
}

std::string range_of(const std::vector<double>& numbers) {
  if (numbers.empty()) return "-";
  const auto [least, most] = std::ranges::minmax(numbers);
  const std::string first = format_number(least, 1);
  const std::string last = format_number(most, 1);
  return first == last ? first : first + " to " + last;
}

Result<FileReport> report_arrays(const InputFile& file, const char* kind) {
  auto arrays = npy::read_arrays(file);
  if (!arrays) return pass(arrays);
  std::uint64_t rows = 0;
  for (const npy::Array& array : *arrays) rows = std::max(rows, array.header.rows);
  FileReport report{.title = "NumPy " + std::string(kind) + ", " +
                             format_counted(arrays->size(), "array") + ", " + format_count(rows) +
                             " rows, " + format_size(file.size()),
                    .json = JsonObject()
                                .add("path", file.path())
                                .add("kind", kind)
                                .add("stored_bytes", file.size())
                                .add("rows", rows)};
  std::vector<std::vector<std::string>> table = {
      {"array", "type", "rows", "columns", "order", "in a row"}};
  std::vector<JsonObject> list;
  for (const npy::Array& array : *arrays) {
    const npy::ArrayHeader& header = array.header;
    auto repeats = npy::sample_repeats(file, array);
    if (!repeats) return pass(repeats);
    const std::vector<double> runs = in_a_row(*repeats);
    const char* order = header.by_column ? "Fortran" : "C";
    const std::string key = array.key.empty() ? "-" : printable(array.key, kMostShown);
    table.push_back({key, header.type.name(), format_count(header.rows),
                     format_count(header.columns), order, range_of(runs)});
    list.push_back(JsonObject()
                       .add("key", array.key)
                       .add("type", header.type.name())
                       .add("rows", header.rows)
                       .add("columns", header.columns)
                       .add("order", order)
                       .add("in_a_row", runs));
  }
  for (std::string& line : align_columns(table)) report.lines.push_back("  " + std::move(line));
  report.lines.emplace_back(
      "format = \"npy\" reads P_dense.npy, P_sparse.npy (or P_sparse_multi_hot.npz) and "
      "P_labels.npy beside each other");
  report.json.add("arrays", list);
  return report;
}

}  // namespace

std::optional<Result<FileReport>> report_binary(const std::string& path) {
  const FileSystems systems = file_systems_to_inspect();
  auto opened = systems.of(path)->open(path);
  if (!opened) {
    // A store that does not answer would not answer the next question, either.
    if (opened.error().code == Code::kTimeout) return pass(opened);
    return std::nullopt;
  }
  const InputFile& file = **opened;
  std::array<char, 6> bytes{};
  auto got = file.read_at(0, bytes);
  if (!got) return std::nullopt;
  const std::string_view start(bytes.data(), *got);
  if (start.starts_with("PAR1") || start.starts_with("PARE")) return report_parquet(file);
  if (npy::is_npy(start)) return report_arrays(file, "npy");
  if (npy::is_zip(start) && path.ends_with(".npz")) return report_arrays(file, "npz");
  return std::nullopt;
}

}  // namespace forebay

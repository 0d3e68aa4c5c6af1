#include "tools/inspect/parquet_layout.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "core/base/text/counted.h"
#include "core/base/text/printable.h"
#include "engine/job/quantity.h"
#include "tools/inspect/inspect.h"

namespace forebay {
namespace {

// A grain aims at 1 MiB of wanted bytes; a group of more is cut only with a page index.
constexpr std::uint64_t kFatGroup = std::uint64_t{16} << 20;
constexpr std::uint64_t kFewRows = 1024;
// Rows are mixed over at most so many places of a dataset at once.
constexpr std::uint64_t kStrata = 64;
constexpr const char* kConvert =
    "`forebay convert JOB --out DIR` writes row groups of 8 to 16 thousand rows with a page index";

// The names of parquet.thrift, by number; 1 was never used.
constexpr std::array<std::string_view, 10> kEncodings = {"PLAIN",
                                                         "",
                                                         "PLAIN_DICTIONARY",
                                                         "RLE",
                                                         "BIT_PACKED",
                                                         "DELTA_BINARY_PACKED",
                                                         "DELTA_LENGTH_BYTE_ARRAY",
                                                         "DELTA_BYTE_ARRAY",
                                                         "RLE_DICTIONARY",
                                                         "BYTE_STREAM_SPLIT"};

bool is_slow(parquet::Codec codec) {
  return codec == parquet::Codec::kGzip || codec == parquet::Codec::kBrotli;
}

std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 5;
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kMost); ++i) {
    text += (i == 0 ? "" : ", ") + names[i];
  }
  return names.size() > kMost ? text + " and " + std::to_string(names.size() - kMost) + " more"
                              : text;
}

bool has_page_index(const ParquetLayout& layout) {
  return layout.chunks > 0 && layout.indexed_chunks == layout.chunks;
}

}  // namespace

std::string why_unread(const parquet::Footer& footer, std::size_t leaf) {
  if (footer.leaves[leaf].meaning == parquet::Meaning::kOther) return footer.leaves[leaf].type;
  for (const parquet::Group& group : footer.groups) {
    if (auto why = parquet::why_unread(group.chunks[leaf]); !why.empty()) return why;
  }
  return "";
}

void ParquetLayouts::add(const parquet::Footer& footer, const std::vector<std::size_t>& wanted) {
  if (++sum_.files == 1) {
    sum_.columns = footer.leaves.size();
    sum_.wanted_columns = wanted.size();
    for (std::size_t i = 0; i < footer.leaves.size(); ++i) {
      const parquet::Leaf& leaf = footer.leaves[i];
      const std::string why = why_unread(footer, i);
      if (!why.empty()) sum_.unread.push_back(printable(leaf.name, kMostShown) + " (" + why + ")");
    }
  }
  sum_.rows += footer.rows;
  for (const parquet::Group& group : footer.groups) {
    group_rows_.push_back(group.rows);
    for (const parquet::Chunk& chunk : group.chunks) sum_.bytes += chunk.bytes;
    std::uint64_t unpacked = 0;
    for (const std::size_t leaf : wanted) {
      const parquet::Chunk& chunk = group.chunks[leaf];
      sum_.wanted_bytes += chunk.bytes;
      sum_.indexed_chunks += chunk.index_bytes > 0 ? 1 : 0;
      sum_.slow_codec = sum_.slow_codec || is_slow(chunk.codec);
      unpacked += std::max(chunk.bytes, chunk.uncompressed_bytes);
    }
    sum_.chunks += wanted.size();
    sum_.group_bytes = std::max(sum_.group_bytes, unpacked);
  }
}

ParquetLayout ParquetLayouts::sum() const {
  ParquetLayout layout = sum_;
  layout.groups = group_rows_.size();
  if (group_rows_.empty()) return layout;
  std::vector<std::uint64_t> rows = group_rows_;
  std::ranges::sort(rows);
  layout.least_rows = rows.front();
  layout.usual_rows = rows[rows.size() / 2];
  layout.most_rows = rows.back();
  return layout;
}

std::vector<LayoutProblem> problems_of(const ParquetLayout& layout) {
  std::vector<LayoutProblem> problems;
  if (!has_page_index(layout) && layout.group_bytes > kFatGroup) {
    problems.push_back(
        {"row groups take up to " + format_size(layout.group_bytes) +
             " unpacked and have no page index, so each is read and mixed as a whole",
         kConvert});
  }
  if (layout.groups > kStrata && layout.usual_rows < kFewRows) {
    problems.push_back({"row groups of " + format_count(layout.usual_rows) +
                            " rows are small: reading them takes many small reads",
                        kConvert});
  }
  const bool is_large = layout.rows > kStrata * kFewRows;
  if (is_large && layout.groups < kStrata && !has_page_index(layout)) {
    problems.push_back({format_count(layout.groups) +
                            " row groups without a page index are few places to mix rows from",
                        kConvert});
  }
  if (layout.slow_codec) {
    problems.push_back({"gzip and brotli are slow to unpack", "write it with zstd or snappy"});
  }
  if (!layout.unread.empty()) {
    problems.push_back(
        {"some columns cannot be read: " + listed(layout.unread), "leave them out of [columns]"});
  }
  return problems;
}

std::string describe_groups(const ParquetLayout& layout) {
  const bool same = layout.least_rows == layout.most_rows;
  const std::string rows =
      same ? format_count(layout.most_rows)
           : format_count(layout.least_rows) + " to " + format_count(layout.most_rows);
  const char* index = layout.indexed_chunks == 0 ? "no page index"
                      : has_page_index(layout)   ? "a page index"
                                                 : "a page index for some columns";
  return format_counted(layout.groups, "row group") + " of " + rows + " rows, " + index;
}

JsonObject to_json(const ParquetLayout& layout) {
  const auto problem = [](const LayoutProblem& one) {
    return JsonObject().add("what", one.what).add("advice", one.advice);
  };
  return JsonObject()
      .add("files", layout.files)
      .add("rows", layout.rows)
      .add("row_groups", layout.groups)
      .add("rows_per_group", layout.usual_rows)
      .add("fewest_rows_per_group", layout.least_rows)
      .add("most_rows_per_group", layout.most_rows)
      .add("columns", layout.columns)
      .add("wanted_columns", layout.wanted_columns)
      .add("page_bytes", layout.bytes)
      .add("wanted_bytes", layout.wanted_bytes)
      .add("group_bytes", layout.group_bytes)
      .add("page_index", has_page_index(layout))
      .add("problems", problems_of(layout), problem);
}

std::vector<std::string> encoding_names(std::uint32_t encodings) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < 32; ++i) {
    if ((encodings >> i & 1) == 0) continue;
    const bool known = i < kEncodings.size() && !kEncodings[i].empty();
    names.push_back(known ? std::string(kEncodings[i]) : "encoding " + std::to_string(i));
  }
  return names;
}

std::vector<std::size_t> leaves_named(const parquet::Footer& footer,
                                      const std::vector<std::string>& columns) {
  const auto number_of = [&footer](std::string_view name) {
    const auto found = std::ranges::find(footer.leaves, name, &parquet::Leaf::name);
    return static_cast<std::size_t>(found - footer.leaves.begin());
  };
  std::vector<std::size_t> leaves;
  for (const std::string& column : columns) {
    std::size_t leaf = number_of(column);
    if (leaf == footer.leaves.size()) leaf = number_of(column.substr(0, column.rfind('.')));
    if (leaf < footer.leaves.size()) leaves.push_back(leaf);
  }
  std::ranges::sort(leaves);
  leaves.erase(std::unique(leaves.begin(), leaves.end()), leaves.end());
  return leaves;
}

}  // namespace forebay

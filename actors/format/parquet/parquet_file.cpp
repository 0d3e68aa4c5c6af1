#include "actors/format/parquet/parquet_file.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "actors/format/column_fill.h"
#include "actors/format/parquet/grain_cut.h"
#include "actors/format/parquet/grain_head.h"
#include "actors/format/raw_split.h"

namespace forebay::parquet {
namespace {

constexpr std::uint64_t kMostIndexBytes = std::uint64_t{256} << 20;  // of a file
constexpr std::uint64_t kMostGrainRows = std::numeric_limits<std::int32_t>::max() - 1;

/// The wanted columns of a row group that has rows.
struct WantedGroup {
  std::uint64_t number = 0;
  std::uint64_t rows = 0;
  std::vector<ColumnPages> columns;   ///< In the order of WantedColumns::leaves.
  std::vector<std::size_t> in_file;   ///< Their numbers in the order of their bytes.
  std::vector<std::uint64_t> begins;  ///< Of its grains; the first 0.
};

/// A grain: some rows of a group.
struct Grain {
  const WantedGroup* group = nullptr;
  std::uint64_t first_row = 0;
  std::uint64_t rows = 0;
};

/// The columns of a file as the job stores them.
struct FileLeaves {
  std::vector<Leaf> leaves;  ///< In the order of WantedColumns::leaves.
  std::size_t dense = 0;     ///< Columns of the job.
  std::size_t sparse = 0;    ///< Sparse columns without lists.
  bool weights = false;
  std::size_t extras = 0;
};

/// The share of a column's values that some rows of a group have: that of the rows, or that of the
/// pages' bytes if it is larger, since long lists take more bytes.
double share_of(const ColumnPages& column, const Grain& grain) {
  const double rows = static_cast<double>(grain.rows) / static_cast<double>(grain.group->rows);
  if (column.pages.empty()) return rows;
  const PageSpan span = pages_of(column, grain.first_row, grain.first_row + grain.rows);
  std::uint64_t all = 0;
  std::uint64_t read = 0;
  for (std::size_t i = 0; i < column.pages.size(); ++i) {
    all += column.pages[i].bytes;
    if (i >= span.first && i < span.end) read += column.pages[i].bytes;
  }
  return std::max(rows,
                  static_cast<double>(read) / static_cast<double>(std::max<std::uint64_t>(all, 1)));
}

/// At most so many values of a list column are in a grain. In a part of a group that is an
/// estimate, twice its share: no metadata bounds the values of a page. The decoder refuses a grain
/// that has more, since its memory is reserved by this.
std::uint64_t most_values(const ColumnPages& column, const Grain& grain) {
  const std::uint64_t values = column.chunk.values;
  const std::uint64_t all = values - (grain.group->rows - grain.rows);  // each other row has one
  if (grain.rows == grain.group->rows) return all;
  const double twice = 2.0 * static_cast<double>(values) * share_of(column, grain) + 1024;
  return std::min(all, static_cast<std::uint64_t>(twice));
}

/// The most bytes that the rows of a grain take as columns.
std::uint64_t decoded_bytes(const FileLeaves& file, const Grain& grain) {
  const ColumnFill::Shape shape{.rows = grain.rows,
                                .dense = file.dense,
                                .sparse = file.sparse,
                                .origins = true,
                                .weights = file.weights,
                                .extras = file.extras};
  std::uint64_t bytes = shape.dense_bytes() + shape.sparse_bytes();
  for (std::size_t i = 0; i < file.leaves.size(); ++i) {
    const Leaf& leaf = file.leaves[i];
    if (!leaf.is_list() || leaf.list_size > 0) continue;
    bytes += list_column_bytes(grain.rows, most_values(grain.group->columns[i], grain));
  }
  return bytes;
}

class ParquetFile final : public UnitFile {
 public:
  ParquetFile(FileLeaves leaves, std::vector<WantedGroup> groups, const Digest& content)
      : leaves_(std::move(leaves)), groups_(std::move(groups)), content_(content) {
    for (const WantedGroup& group : groups_) {
      for (std::size_t i = 0; i < group.begins.size(); ++i) {
        const std::uint64_t end = i + 1 < group.begins.size() ? group.begins[i + 1] : group.rows;
        grains_.push_back({&group, group.begins[i], end - group.begins[i]});
      }
    }
  }

  std::vector<Unit> units() const override {
    std::vector<Unit> units;
    units.reserve(grains_.size());
    for (std::size_t i = 0; i < grains_.size(); ++i) {
      const Grain& grain = grains_[i];
      units.push_back({.bytes = read_of(i).bytes(),
                       .decoded = decoded_bytes(leaves_, grain),
                       .first_row = 0,
                       .rows = static_cast<std::uint32_t>(grain.rows)});
    }
    return units;
  }

  Digest content() const override { return content_; }

  UnitRead read_of(std::uint64_t unit) const override {
    const Grain& grain = grains_[unit];
    UnitRead read;
    GrainHead head{.group = grain.group->number,
                   .first_row = grain.first_row,
                   .rows = grain.rows,
                   .leaves = std::vector<GrainLeaf>(leaves_.leaves.size())};
    std::uint64_t begin = 0;
    for (const std::size_t column : grain.group->in_file) {
      GrainLeaf& leaf = head.leaves[column];
      leaf.store(leaves_.leaves[column]);
      leaf.begin = begin;
      add_column(grain, grain.group->columns[column], leaf, read.ranges);
      begin += leaf.bytes;
    }
    read.head = head.to_bytes();
    return read;
  }

 private:
  /// Neighbours that touch are one range; whether a gap is read along is the file system's affair.
  static void add_range(std::vector<FileRange>& ranges, std::uint64_t offset, std::uint64_t bytes,
                        GrainLeaf& leaf) {
    leaf.bytes += bytes;
    if (bytes == 0) return;
    if (!ranges.empty() && ranges.back().offset + ranges.back().bytes == offset)
      ranges.back().bytes += bytes;
    else
      ranges.push_back({offset, bytes});
  }

  static void add_column(const Grain& grain, const ColumnPages& column, GrainLeaf& leaf,
                         std::vector<FileRange>& ranges) {
    const Chunk& chunk = column.chunk;
    leaf.codec = chunk.codec;
    leaf.values = chunk.values;
    leaf.page_bytes = chunk.page_bytes();
    if (column.pages.empty()) return add_range(ranges, chunk.offset, chunk.bytes, leaf);
    add_range(ranges, chunk.offset, column.dictionary_bytes(), leaf);
    const PageSpan span = pages_of(column, grain.first_row, grain.first_row + grain.rows);
    const std::uint64_t end =
        span.end < column.pages.size() ? column.pages[span.end].first_row : grain.group->rows;
    leaf.is_indexed = true;
    leaf.skipped = static_cast<std::uint32_t>(grain.first_row - column.pages[span.first].first_row);
    leaf.behind = static_cast<std::uint32_t>(end - (grain.first_row + grain.rows));
    for (std::size_t i = span.first; i < span.end; ++i)
      add_range(ranges, column.pages[i].offset, column.pages[i].bytes, leaf);
  }

  const FileLeaves leaves_;
  const std::vector<WantedGroup> groups_;
  const Digest content_;
  std::vector<Grain> grains_;
};

/// Makes the groups of a file from its footer.
class GroupMaker {
 public:
  GroupMaker(const InputFile& file, Footer footer, const WantedColumns& wanted)
      : file_(file), footer_(std::move(footer)), wanted_(wanted), content_(footer_.digest) {}

  Result<std::unique_ptr<UnitFile>> open() {
    auto places = locate_columns(wanted_, footer_.leaves);
    if (!places) return fail(places.error().code, file_.path() + ": " + places.error().message);
    for (std::size_t i = 0; i < places->size(); ++i) {
      Leaf& leaf = leaves_.leaves.emplace_back(footer_.leaves[(*places)[i]]);
      if (wanted_.leaves[i].use == Use::kSparse) leaf.list_size = 0;  // a list of ids like others
    }
    leaves_.dense = wanted_.dense.size();
    leaves_.weights = wanted_.weight.has_value();
    leaves_.extras = wanted_.extra.size();
    leaves_.sparse = static_cast<std::size_t>(std::ranges::count_if(
        wanted_.sparse, [this](std::size_t leaf) { return !leaves_.leaves[leaf].is_list(); }));
    for (std::size_t i = 0; i < footer_.groups.size(); ++i) {
      if (auto status = add_group(i, *places); !status) return pass(status);
    }
    if (auto status = cut_groups(); !status) return pass(status);
    return std::unique_ptr<UnitFile>(
        std::make_unique<ParquetFile>(std::move(leaves_), std::move(groups_), content_));
  }

 private:
  tl::unexpected<Error> corrupt(const WantedGroup& group, const std::string& what) const {
    return fail(Code::kCorrupt,
                file_.path() + ": row group " + std::to_string(group.number) + what);
  }

  tl::unexpected<Error> corrupt(const WantedGroup& group, std::size_t leaf,
                                const std::string& what) const {
    return corrupt(group, ", column " + quoted_text(wanted_.leaves[leaf].name) + what);
  }

  Status add_group(std::size_t number, const std::vector<std::size_t>& places) {
    const Group& from = footer_.groups[number];
    if (from.rows == 0) return {};
    WantedGroup group{
        .number = number, .rows = from.rows, .columns = {}, .in_file = {}, .begins = {0}};
    std::vector<Chunk> chunks;
    chunks.reserve(places.size());
    for (const std::size_t place : places) {
      const Chunk& chunk = from.chunks[place];
      if (chunk.unread != Unread::kNo)
        return corrupt(group, chunks.size(), " " + why_unread(chunk));
      chunks.push_back(chunk);
    }
    if (overlap(chunks)) return corrupt(group, ": two columns share bytes");
    for (const Chunk& chunk : chunks) group.columns.push_back({.chunk = chunk, .pages = {}});
    group.in_file.resize(places.size());
    std::iota(group.in_file.begin(), group.in_file.end(), std::size_t{0});
    std::ranges::sort(group.in_file, {},
                      [&group](std::size_t column) { return group.columns[column].chunk.offset; });
    groups_.push_back(std::move(group));
    return {};
  }

  GroupSize size_of(const WantedGroup& group) const {
    return {.rows = group.rows, .decoded = decoded_bytes(leaves_, {&group, 0, group.rows})};
  }

  /// Cuts the groups that are large enough and whose wanted columns all have an offset index.
  Status cut_groups() {
    std::vector<WantedGroup*> large;
    for (WantedGroup& group : groups_) {
      const bool indexed = std::ranges::all_of(
          group.columns, [](const ColumnPages& column) { return column.chunk.index_bytes > 0; });
      if (indexed && wants_cut(size_of(group), group.columns)) large.push_back(&group);
    }
    if (auto status = read_indexes(large); !status) return status;
    for (WantedGroup* group : large) {
      group->begins = cut_group(size_of(*group), group->columns);
      if (group->begins.size() > 1) continue;
      for (ColumnPages& column : group->columns) column.pages.clear();
    }
    return check_sizes();
  }

  Status check_sizes() const {
    for (const WantedGroup& group : groups_) {
      for (std::size_t i = 0; i < group.begins.size(); ++i) {
        const std::uint64_t end = i + 1 < group.begins.size() ? group.begins[i + 1] : group.rows;
        if (end - group.begins[i] <= kMostGrainRows) continue;
        return fail(Code::kInvalid, file_.path() + ": row group " + std::to_string(group.number) +
                                        " has " + std::to_string(group.rows) +
                                        " rows, which cannot be read at once; write smaller ones");
      }
    }
    return {};
  }

  /// A column whose offset index is to be read.
  struct Indexed {
    const WantedGroup* group;
    std::size_t leaf;
    ColumnPages* column;
  };

  /// Reads the offset indexes of all columns of `groups` in one go.
  Status read_indexes(const std::vector<WantedGroup*>& groups) {
    std::vector<Indexed> columns;
    for (WantedGroup* group : groups) {
      for (std::size_t leaf = 0; leaf < group->columns.size(); ++leaf)
        columns.push_back({group, leaf, &group->columns[leaf]});
    }
    if (columns.empty()) return {};
    std::ranges::sort(columns, {}, [](const Indexed& at) { return at.column->chunk.index_offset; });
    std::uint64_t bytes = 0;
    std::uint64_t end = 0;
    for (const Indexed& indexed : columns) {
      const Chunk& chunk = indexed.column->chunk;
      bytes += chunk.index_bytes;
      if (chunk.index_offset < end || bytes > kMostIndexBytes)
        return fail(Code::kCorrupt, file_.path() + ": its offset indexes overlap or are too large");
      end = chunk.index_offset + chunk.index_bytes;
    }
    std::vector<char> indexes(bytes);
    std::vector<ReadRange> ranges;
    std::span<char> left = indexes;
    for (const Indexed& indexed : columns) {
      const Chunk& chunk = indexed.column->chunk;
      ranges.push_back({chunk.index_offset, left.first(chunk.index_bytes)});
      left = left.subspan(chunk.index_bytes);
    }
    if (auto status = file_.begin_read(ranges)->wait(); !status) return status;
    content_ = content_.then(Digest::of(indexes.data(), indexes.size()));
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (auto status = parse_index(columns[i], ranges[i].out); !status) return status;
    }
    return {};
  }

  Status parse_index(const Indexed& indexed, std::span<const char> bytes) const {
    auto pages = read_offset_index(bytes, indexed.column->chunk, indexed.group->rows);
    if (!pages) return corrupt(*indexed.group, indexed.leaf, ": " + pages.error().message);
    indexed.column->pages = std::move(*pages);
    return {};
  }

  const InputFile& file_;
  const Footer footer_;
  const WantedColumns& wanted_;
  FileLeaves leaves_;
  std::vector<WantedGroup> groups_;
  Digest content_;
};

}  // namespace

Result<std::unique_ptr<UnitFile>> open_parquet_file(const InputFile& file, Footer footer,
                                                    const WantedColumns& wanted) {
  return GroupMaker(file, std::move(footer), wanted).open();
}

}  // namespace forebay::parquet

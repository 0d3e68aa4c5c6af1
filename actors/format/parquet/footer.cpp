#include "actors/format/parquet/footer.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>

#include "actors/format/parquet/arrow_schema.h"
#include "actors/format/parquet/thrift_structs.h"

namespace forebay::parquet {
namespace {

constexpr std::uint64_t kTail = 8;  // the footer's size and the magic bytes
constexpr std::uint64_t kMostFooter = std::uint64_t{256} << 20;
constexpr std::uint64_t kFirstRead = std::uint64_t{64} << 10;  // most footers fit into one read
constexpr std::uint64_t kMostRows = std::uint64_t{1} << 40;

constexpr std::uint32_t kDictionaries = 1U << 2 | 1U << 8;  // PLAIN_DICTIONARY, RLE_DICTIONARY

/// A bit for each encoding.
std::uint32_t bits_of(const std::vector<std::int32_t>& encodings) {
  std::uint32_t bits = 0;
  for (const std::int32_t encoding : encodings) {
    if (encoding >= 0 && encoding < 32) bits |= std::uint32_t{1} << encoding;
  }
  return bits;
}

/// Returns the bytes of a file's footer, or why they cannot be read.
Result<std::vector<char>> footer_bytes(const InputFile& file) {
  const std::string& path = file.path();
  if (file.size() < kTail + 4) {
    return fail(Code::kInvalid, path + ": not a Parquet file: it has only " +
                                    std::to_string(file.size()) + " bytes");
  }
  std::vector<char> tail(std::min(file.size(), kFirstRead));
  if (auto status = file.read(file.size() - tail.size(), tail); !status) return pass(status);
  const std::string_view magic(tail.data() + tail.size() - 4, 4);
  if (magic == "PARE")
    return fail(Code::kInvalid, path + ": its footer is encrypted, which this version cannot read");
  if (magic != "PAR1")
    return fail(Code::kInvalid, path + ": not a Parquet file: it does not end in PAR1");
  std::uint32_t size = 0;
  std::memcpy(&size, tail.data() + tail.size() - kTail, sizeof(size));
  if (size > file.size() - kTail - 4 || size > kMostFooter) {
    return fail(Code::kCorrupt, path + ": says that its footer has " + std::to_string(size) +
                                    " bytes, in a file of " + std::to_string(file.size()));
  }
  if (size + kTail <= tail.size()) {
    tail.resize(tail.size() - kTail);
    tail.erase(tail.begin(), tail.end() - static_cast<std::ptrdiff_t>(size));
    return tail;
  }
  std::vector<char> bytes(size);
  if (auto status = file.read(file.size() - kTail - size, bytes); !status) return pass(status);
  return bytes;
}

/// Turns the metadata into checked numbers. Messages say where, without the path.
class Checked {
 public:
  Checked(const FileMetaData& meta, std::uint64_t end_of_pages) : meta_(meta), end_(end_of_pages) {}

  Result<Footer> footer() {
    auto leaves = leaves_of(meta_.schema);
    if (!leaves) return pass(leaves);
    Footer footer;
    footer.leaves = std::move(*leaves);
    footer.writer = meta_.created_by.value_or("");
    size_lists(footer.leaves);
    for (const RowGroup& row_group : meta_.row_groups) {
      where_ = "row group " + std::to_string(footer.groups.size());
      auto group = group_of(row_group, footer.leaves);
      if (!group) return pass(group);
      footer.rows += group->rows;
      footer.groups.push_back(std::move(*group));
    }
    if (meta_.rows < 0 || footer.rows != static_cast<std::uint64_t>(meta_.rows)) {
      return fail(Code::kCorrupt, "its row groups have " + std::to_string(footer.rows) +
                                      " rows, and the file says " + std::to_string(meta_.rows));
    }
    return footer;
  }

 private:
  /// Marks the lists of which the writer's own schema says that they have a fixed size.
  void size_lists(std::vector<Leaf>& leaves) const {
    if (!meta_.key_values) return;
    for (const KeyValue& pair : *meta_.key_values) {
      if (pair.key != "ARROW:schema" || !pair.value) continue;
      const auto sizes = fixed_lists_of(*pair.value);
      for (Leaf& leaf : leaves) {
        const auto found = sizes.find(leaf.name);
        if (found != sizes.end() && leaf.is_list()) leaf.list_size = found->second;
      }
    }
  }

  tl::unexpected<Error> corrupt(const std::string& what) const {
    return fail(Code::kCorrupt, where_ + what);
  }

  Result<Group> group_of(const RowGroup& row_group, const std::vector<Leaf>& leaves) {
    if (row_group.rows < 0 || static_cast<std::uint64_t>(row_group.rows) > kMostRows) {
      return corrupt(" has " + std::to_string(row_group.rows) + " rows");
    }
    if (row_group.columns.size() != leaves.size()) {
      return corrupt(" has " + std::to_string(row_group.columns.size()) +
                     " columns, and the schema has " + std::to_string(leaves.size()));
    }
    Group group;
    group.rows = static_cast<std::uint64_t>(row_group.rows);
    group.chunks.reserve(leaves.size());
    const std::string before = where_;
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      where_ = before + ", column \"" + leaves[i].name + "\"";
      auto chunk = chunk_of(row_group.columns[i], leaves[i], group.rows);
      if (!chunk) return pass(chunk);
      group.chunks.push_back(*chunk);
    }
    return group;
  }

  Result<Chunk> chunk_of(const ColumnChunk& column, const Leaf& leaf, std::uint64_t rows) const {
    if (column.file_path && !column.file_path->empty()) return Chunk{.unread = Unread::kElsewhere};
    if (column.encryption) return Chunk{.unread = Unread::kEncrypted};
    if (!column.meta_data) return corrupt(" has no metadata");
    const ColumnMetaData& meta = *column.meta_data;
    if (leaf.meaning != Meaning::kOther && meta.type != static_cast<std::int32_t>(leaf.physical)) {
      return corrupt(" has another type than the schema says");
    }
    const auto codec = codec_of(meta.codec);
    // Some writers give 0 for a dictionary that is not there.
    std::int64_t offset = meta.data_page_offset;
    const bool names_dictionary = meta.dictionary_page_offset.value_or(0) > 0;
    if (names_dictionary) offset = std::min(offset, *meta.dictionary_page_offset);
    if (!inside(offset, meta.compressed_bytes))
      return corrupt(" has its pages outside of the file");
    if (meta.num_values < 0 || static_cast<std::uint64_t>(meta.num_values) < rows ||
        (!leaf.is_list() && static_cast<std::uint64_t>(meta.num_values) != rows)) {
      return corrupt(" has " + std::to_string(meta.num_values) + " values in " +
                     std::to_string(rows) + " rows");
    }
    Chunk chunk{.offset = static_cast<std::uint64_t>(offset),
                .bytes = static_cast<std::uint64_t>(meta.compressed_bytes),
                .uncompressed_bytes =
                    static_cast<std::uint64_t>(std::max<std::int64_t>(meta.uncompressed_bytes, 0)),
                .values = static_cast<std::uint64_t>(meta.num_values),
                .codec = codec.value_or(Codec::kNone),
                .unread = codec ? Unread::kNo : Unread::kCodec,
                .codec_number = codec ? 0 : meta.codec};
    chunk.encodings = bits_of(meta.encodings);
    // A dictionary that is not named may be what data_page_offset leads to.
    const bool may_be_dictionary = !names_dictionary && (chunk.encodings & kDictionaries) != 0;
    if (!may_be_dictionary && meta.data_page_offset > 0) {
      chunk.data_offset = static_cast<std::uint64_t>(meta.data_page_offset);
    }
    const std::int64_t index_bytes = column.offset_index_bytes.value_or(0);
    if (column.offset_index_offset && index_bytes > 0) {
      if (!inside(*column.offset_index_offset, index_bytes))
        return corrupt(" has its offset index outside of the file");
      chunk.index_offset = static_cast<std::uint64_t>(*column.offset_index_offset);
      chunk.index_bytes = static_cast<std::uint32_t>(index_bytes);
    }
    return chunk;
  }

  bool inside(std::int64_t offset, std::int64_t bytes) const {
    const auto end = static_cast<std::int64_t>(end_);
    return offset >= 0 && bytes >= 0 && offset <= end && bytes <= end - offset;
  }

  const FileMetaData& meta_;
  const std::uint64_t end_;
  std::string where_;
};

}  // namespace

std::string why_unread(const Chunk& chunk) {
  switch (chunk.unread) {
    case Unread::kElsewhere:
      return "lies in another file";
    case Unread::kEncrypted:
      return "is encrypted, which this version cannot read";
    case Unread::kCodec:
      return "is compressed by codec " + std::to_string(chunk.codec_number) +
             ", which this version lacks";
    case Unread::kNo:
      break;
  }
  return "";
}

bool overlap(std::vector<Chunk> chunks) {
  std::ranges::sort(chunks, {}, &Chunk::offset);
  const auto share = [](const Chunk& one, const Chunk& next) {
    return next.offset - one.offset < one.bytes;
  };
  return std::ranges::adjacent_find(chunks, share) != chunks.end();
}

Result<Footer> read_footer(const InputFile& file) {
  auto bytes = footer_bytes(file);
  if (!bytes) return pass(bytes);
  FileMetaData meta;
  ThriftReader reader(*bytes);
  if (!reader.read(meta))
    return fail(Code::kCorrupt, file.path() + ": its footer is damaged: " + reader.problem());
  if (meta.encryption)
    return fail(Code::kInvalid, file.path() + ": it is encrypted, which this version cannot read");
  auto footer = Checked(meta, file.size() - kTail - bytes->size()).footer();
  if (!footer) return fail(footer.error().code, file.path() + ": " + footer.error().message);
  footer->digest = Digest::of(bytes->data(), bytes->size());
  return footer;
}

}  // namespace forebay::parquet

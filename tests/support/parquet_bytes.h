#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <zlib.h>

namespace forebay::test {

/// Writes Thrift's compact protocol.
class ThriftWriter {
 public:
  ThriftWriter& number(int id, std::int64_t value, int type = 5) {  // 5: i32, 6: i64
    header(id, type);
    return varint(static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63));
  }
  ThriftWriter& wide(int id, std::int64_t value) { return number(id, value, 6); }
  ThriftWriter& text(int id, const std::string& value) {
    header(id, 8);
    varint(value.size());
    out_ += value;
    return *this;
  }
  /// Adds a struct that another writer has ended.
  ThriftWriter& inner(int id, const ThriftWriter& value) {
    header(id, 12);
    out_ += value.out_ + '\0';
    return *this;
  }
  ThriftWriter& inners(int id, const std::vector<ThriftWriter>& values) {
    list(id, 12, values.size());
    for (const ThriftWriter& value : values) out_ += value.out_ + '\0';
    return *this;
  }
  ThriftWriter& texts(int id, const std::vector<std::string>& values) {
    list(id, 8, values.size());
    for (const std::string& value : values) {
      varint(value.size());
      out_ += value;
    }
    return *this;
  }
  ThriftWriter& numbers(int id, const std::vector<int>& values) {
    list(id, 5, values.size());
    for (const int value : values) varint(static_cast<std::uint64_t>(value) * 2);
    return *this;
  }
  std::string ended() const { return out_ + '\0'; }

 private:
  void header(int id, int type) {
    out_ += static_cast<char>((id - last_) << 4 | type);
    last_ = id;
  }
  void list(int id, int element, std::size_t count) {
    header(id, 9);
    out_ += static_cast<char>((count < 15 ? count : 15) << 4 | static_cast<unsigned>(element));
    if (count >= 15) varint(count);
  }
  ThriftWriter& varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) out_ += static_cast<char>(value | 0x80);
    out_ += static_cast<char>(value);
    return *this;
  }

  std::string out_;
  int last_ = 0;
};

/// A column of int64, each row with one value.
struct ParquetColumn {
  std::string name;
  std::vector<std::int64_t> values;
  bool dictionary = false;
  std::size_t page_rows = 0;  ///< Rows of a page; 0: those of the group.
  int codec = 0;              ///< What the footer says; nothing is compressed.
  std::string path = {};      ///< Another file in which the footer says that it lies.
  int index_shift = 0;        ///< Its offset index says so many rows too many before each page.
};

/// Makes small Parquet files of required int64 columns: PLAIN or RLE_DICTIONARY, pages of version 1
/// with checksums, not compressed.
class ParquetBytes {
 public:
  struct Options {
    std::size_t group_rows = 16;
    bool offset_index = true;
    std::string key = {};  ///< A pair of the file's metadata.
    std::string value = {};
  };

  static std::string file_of(const std::vector<ParquetColumn>& columns, const Options& options) {
    ParquetBytes writer;
    const std::size_t rows = columns.front().values.size();
    for (std::size_t first = 0; first < rows; first += options.group_rows)
      writer.add_group(columns, first, std::min(options.group_rows, rows - first));
    if (options.offset_index) writer.add_indexes();
    ThriftWriter footer;
    footer.number(1, 1).inners(2, schema(columns)).wide(3, static_cast<std::int64_t>(rows));
    footer.inners(4, writer.groups());
    if (!options.key.empty())
      footer.inners(5, {ThriftWriter().text(1, options.key).text(2, options.value)});
    return with_footer(writer.out_, footer.ended());
  }

  static std::string with_footer(const std::string& pages, const std::string& footer) {
    const auto size = static_cast<std::uint32_t>(footer.size());
    std::string bytes(sizeof(size), '\0');
    std::memcpy(bytes.data(), &size, sizeof(size));
    return pages + footer + bytes + "PAR1";
  }

 private:
  struct Page {
    std::size_t offset;
    std::size_t bytes;
    std::size_t first_row;
  };
  struct Chunk {
    std::string name;
    std::size_t rows = 0;
    std::size_t begin = 0;
    std::size_t end = 0;
    bool dictionary = false;
    int codec = 0;
    std::string path;
    std::vector<Page> pages;
    std::size_t index_offset = 0;
    std::size_t index_bytes = 0;
  };
  struct Group {
    std::size_t rows = 0;
    std::vector<Chunk> chunks;
  };

  static std::vector<ThriftWriter> schema(const std::vector<ParquetColumn>& columns) {
    std::vector<ThriftWriter> elements;
    elements.push_back(
        ThriftWriter().text(4, "schema").number(5, static_cast<std::int64_t>(columns.size())));
    for (const ParquetColumn& column : columns)
      elements.push_back(ThriftWriter().number(1, 2).number(3, 0).text(4, column.name));
    return elements;
  }

  void add_group(const std::vector<ParquetColumn>& columns, std::size_t first, std::size_t rows) {
    Group& group = groups_.emplace_back();
    group.rows = rows;
    for (const ParquetColumn& column : columns) {
      Chunk& chunk = group.chunks.emplace_back();
      chunk.name = column.name;
      chunk.rows = rows;
      chunk.begin = out_.size();
      chunk.dictionary = column.dictionary;
      chunk.codec = column.codec;
      chunk.path = column.path;
      std::map<std::int64_t, std::uint32_t> known;
      const auto begin = column.values.begin() + static_cast<std::ptrdiff_t>(first);
      const std::vector values(begin, begin + static_cast<std::ptrdiff_t>(rows));
      if (column.dictionary) add_dictionary(values, known);
      const std::size_t step = column.page_rows == 0 ? rows : column.page_rows;
      for (std::size_t row = 0; row < rows; row += step) {
        const std::vector some(
            values.begin() + static_cast<std::ptrdiff_t>(row),
            values.begin() + static_cast<std::ptrdiff_t>(std::min(rows, row + step)));
        const std::size_t at = out_.size();
        add_page(some, column.dictionary ? &known : nullptr);
        const auto said = static_cast<std::ptrdiff_t>(row) + (row > 0 ? column.index_shift : 0);
        chunk.pages.push_back({at, out_.size() - at, static_cast<std::size_t>(said)});
      }
      chunk.end = out_.size();
    }
  }

  static std::string plain(const std::vector<std::int64_t>& values) {
    std::string bytes(values.size() * sizeof(std::int64_t), '\0');
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
  }

  void add_dictionary(const std::vector<std::int64_t>& values,
                      std::map<std::int64_t, std::uint32_t>& known) {
    for (const std::int64_t value : values) known.emplace(value, 0);
    std::vector<std::int64_t> entries;
    for (auto& [value, index] : known) {
      index = static_cast<std::uint32_t>(entries.size());
      entries.push_back(value);
    }
    add(2, plain(entries), 7,
        ThriftWriter().number(1, static_cast<std::int64_t>(entries.size())).number(2, 0));
  }

  /// Indices of 32 bits in one packed run.
  static std::string indices(const std::vector<std::int64_t>& values,
                             const std::map<std::int64_t, std::uint32_t>& known) {
    const std::size_t groups = (values.size() + 7) / 8;
    std::string bytes = "\x20";
    std::size_t header = groups << 1 | 1;
    for (; header >= 0x80; header >>= 7) bytes += static_cast<char>(header | 0x80);
    bytes += static_cast<char>(header);
    for (std::size_t i = 0; i < groups * 8; ++i) {
      const std::uint32_t index = i < values.size() ? known.at(values[i]) : 0;
      bytes.append(reinterpret_cast<const char*>(&index), sizeof(index));
    }
    return bytes;
  }

  void add_page(const std::vector<std::int64_t>& values,
                const std::map<std::int64_t, std::uint32_t>* known) {
    ThriftWriter data;
    data.number(1, static_cast<std::int64_t>(values.size())).number(2, known != nullptr ? 8 : 0);
    data.number(3, 3).number(4, 3);
    add(0, known != nullptr ? indices(values, *known) : plain(values), 5, data);
  }

  void add(int type, const std::string& body, int field, const ThriftWriter& part) {
    const auto sum = static_cast<std::int32_t>(
        ::crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size())));
    const auto size = static_cast<std::int64_t>(body.size());
    ThriftWriter header;
    header.number(1, type).number(2, size).number(3, size).number(4, sum).inner(field, part);
    out_ += header.ended() + body;
  }

  void add_indexes() {
    for (Group& group : groups_) {
      for (Chunk& chunk : group.chunks) {
        std::vector<ThriftWriter> pages;
        for (const Page& page : chunk.pages) {
          pages.push_back(ThriftWriter()
                              .wide(1, static_cast<std::int64_t>(page.offset))
                              .number(2, static_cast<std::int64_t>(page.bytes))
                              .wide(3, static_cast<std::int64_t>(page.first_row)));
        }
        const std::string index = ThriftWriter().inners(1, pages).ended();
        chunk.index_offset = out_.size();
        chunk.index_bytes = index.size();
        out_ += index;
      }
    }
  }

  std::vector<ThriftWriter> groups() const {
    std::vector<ThriftWriter> groups;
    for (const Group& group : groups_) {
      std::vector<ThriftWriter> chunks;
      std::int64_t bytes = 0;
      for (const Chunk& chunk : group.chunks) {
        const auto size = static_cast<std::int64_t>(chunk.end - chunk.begin);
        bytes += size;
        ThriftWriter meta;
        meta.number(1, 2).numbers(2, {0}).texts(3, {chunk.name}).number(4, chunk.codec);
        meta.wide(5, static_cast<std::int64_t>(chunk.rows)).wide(6, size).wide(7, size);
        meta.wide(9, static_cast<std::int64_t>(chunk.pages.front().offset));
        if (chunk.dictionary) meta.wide(11, static_cast<std::int64_t>(chunk.begin));
        ThriftWriter column;
        if (!chunk.path.empty()) column.text(1, chunk.path);
        column.wide(2, 0).inner(3, meta);
        if (chunk.index_bytes > 0) {
          column.wide(4, static_cast<std::int64_t>(chunk.index_offset))
              .number(5, static_cast<std::int64_t>(chunk.index_bytes));
        }
        chunks.push_back(column);
      }
      groups.push_back(ThriftWriter().inners(1, chunks).wide(2, bytes).wide(
          3, static_cast<std::int64_t>(group.rows)));
    }
    return groups;
  }

  std::string out_ = "PAR1";
  std::vector<Group> groups_;
};

}  // namespace forebay::test

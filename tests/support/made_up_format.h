#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "actors/format/column_choice.h"
#include "actors/format/column_fill.h"
#include "actors/format/formats.h"
#include "core/base/crc32c.h"

namespace forebay::test {

/// The rows of a made-up file: the names of its columns, and one number a column in each row.
struct MadeUpRows {
  std::vector<std::string> names;
  std::vector<std::vector<std::int64_t>> rows;
};

/// A made-up format: binary, in row groups that are its units, each with its columns one after the
/// other. Numbers have 8 bytes, little-endian. The number of a dense column is its value, that of a
/// sparse column its id; a label other than 0 or 1 makes a row damaged.
///
///   per group, per column: its numbers · footer · CRC-32C of the footer · its size · "MADE-UP1"
///   footer: number of columns; per column: length of its name, name; number of groups; per group:
///   offset, rows, CRC-32C of each column
class MadeUpFormat final : public UnitFormat {
 public:
  static constexpr const char* kName = "made_up";
  static constexpr std::uint64_t kMostFooter = 1 << 20;  ///< Bytes.
  static constexpr std::size_t kTail = 24;               ///< Bytes after the footer.

  /// Returns the row of the table of formats.
  static FormatEntry entry() { return {.name = kName, .open_text = {}, .open_units = open_format}; }

  /// Returns the content of a file of `table`, with `group_rows` rows in a group.
  static std::string file_of(const MadeUpRows& table, std::size_t group_rows) {
    std::string groups;
    std::string listed;
    std::uint64_t count = 0;
    for (std::size_t first = 0; first < table.rows.size(); first += group_rows, ++count) {
      const std::size_t rows = std::min(group_rows, table.rows.size() - first);
      listed += word(groups.size()) + word(rows);
      for (std::size_t column = 0; column < table.names.size(); ++column) {
        std::string numbers;
        for (std::size_t row = 0; row < rows; ++row) {
          numbers += word(static_cast<std::uint64_t>(table.rows[first + row][column]));
        }
        listed += word(crc32c(numbers));
        groups += numbers;
      }
    }
    std::string footer = word(table.names.size());
    for (const std::string& name : table.names) footer += word(name.size()) + name;
    return with_footer(groups, footer + word(count) + listed);
  }

  /// Returns `groups` with a footer and its tail, whatever the footer says.
  static std::string with_footer(const std::string& groups, const std::string& footer) {
    return groups + footer + word(crc32c(footer)) + word(footer.size()) + kMagic;
  }
  static std::string word(std::uint64_t value) {
    const auto bytes = std::bit_cast<std::array<char, kWord>>(value);
    return {bytes.begin(), bytes.end()};
  }

  const Schema& schema() const override { return choice_.schema; }

  std::string index_settings() const override {
    std::string text;
    for (const std::size_t column : wanted_) text += names_[column] + '\n';
    return text;
  }

  Result<std::unique_ptr<UnitFile>> open(const InputFile& file) const override {
    auto footer = read_footer(file);
    if (!footer) return pass(footer);
    std::vector<std::size_t> columns;
    for (const std::size_t column : wanted_) {
      const auto found = std::ranges::find(footer->names, names_[column]);
      if (found == footer->names.end()) {
        return fail(Code::kInvalid, file.path() + " has no column \"" + names_[column] + "\"");
      }
      columns.push_back(static_cast<std::size_t>(found - footer->names.begin()));
    }
    return std::make_unique<File>(std::move(*footer), std::move(columns));
  }

  Decoded decode(const RawSplit& raw, const DecodeOptions& options,
                 BufferPool& pool) const override {
    std::size_t rows = 0;
    for (const BlockRef& block : raw.blocks) rows += block.rows;
    ColumnFill fill(shape(rows, options.keep_origins), pool);
    Decoded decoded;
    const char* at = raw.bytes.as<const char>();
    for (std::size_t i = 0; i < raw.blocks.size(); ++i) {
      const BlockRef& block = raw.blocks[i];
      if (raw.sizes[i] != bytes_of(block.rows + 1, wanted_.size())) {
        decoded.miscounted = bad_row(block, 0, "fewer rows than were indexed");
        return decoded;
      }
      const char* checks = at;
      at += wanted_.size() * kWord;
      decoded.damaged = damage(block, checks, at);
      if (decoded.damaged) return decoded;
      for (std::size_t row = 0; row < block.rows; ++row) {
        decode_row(block, at, row, options.filter, fill, decoded);
      }
      at += bytes_of(block.rows, wanted_.size());
    }
    decoded.columns = fill.finish();
    return decoded;
  }

 private:
  static constexpr std::size_t kWord = 8;
  static constexpr const char* kMagic = "MADE-UP1";

  struct Group {
    std::uint64_t offset = 0;
    std::uint32_t rows = 0;
    std::vector<std::uint64_t> checks;
  };
  struct Footer {
    std::vector<std::string> names;
    std::vector<Group> groups;
    Digest digest;
  };

  // Reads zeros past the end; sound() returns false from then on.
  class Words {
   public:
    explicit Words(std::string_view in) : in_(in) {}
    std::uint64_t next() {
      std::uint64_t value = 0;
      std::memcpy(&value, text(kWord).data(), sound_ ? kWord : 0);
      return value;
    }
    std::string_view text(std::uint64_t size) {
      sound_ = sound_ && size <= in_.size();
      const std::string_view taken = in_.substr(0, sound_ ? size : 0);
      in_.remove_prefix(taken.size());
      return taken;
    }
    // Returns the number of entries that follow, each of at least `least` bytes.
    std::uint64_t count(std::size_t least) {
      const std::uint64_t value = next();
      sound_ = sound_ && value <= in_.size() / least;
      return sound_ ? value : 0;
    }
    bool ended() const { return sound_ && in_.empty(); }
    bool sound() const { return sound_; }

   private:
    std::string_view in_;
    bool sound_ = true;
  };

  class File final : public UnitFile {
   public:
    File(Footer footer, std::vector<std::size_t> columns)
        : footer_(std::move(footer)), columns_(std::move(columns)) {}

    std::vector<Unit> units() const override {
      std::vector<Unit> units;
      for (const Group& group : footer_.groups) {
        units.push_back({.bytes = bytes_of(group.rows + 1, columns_.size()),
                         .decoded = decoded_bytes(group.rows, columns_.size()),
                         .rows = group.rows});
      }
      return units;
    }
    Digest content() const override { return footer_.digest; }

    UnitRead read_of(std::uint64_t unit) const override {
      const Group& group = footer_.groups[unit];
      const std::size_t bytes = bytes_of(group.rows, 1);
      UnitRead read;
      for (const std::size_t column : columns_) {
        const auto check = word(group.checks[column]);
        read.head.insert(read.head.end(), check.begin(), check.end());
      }
      // The wanted columns may lie in the file in another order, and each range is one of them.
      for (const std::size_t column : columns_) {
        read.ranges.push_back({group.offset + column * bytes, bytes});
      }
      return read;
    }

   private:
    const Footer footer_;
    const std::vector<std::size_t> columns_;
  };

  MadeUpFormat(ColumnChoice choice, std::vector<std::string> names)
      : choice_(std::move(choice)), names_(std::move(names)), wanted_{choice_.label} {
    wanted_.insert(wanted_.end(), choice_.dense.begin(), choice_.dense.end());
    wanted_.insert(wanted_.end(), choice_.sparse.begin(), choice_.sparse.end());
  }

  static Result<std::unique_ptr<UnitFormat>> open_format(const DatasetSpec&,
                                                         const ColumnSpec& columns,
                                                         const InputFile& first, const NextFile&) {
    auto footer = read_footer(first);
    if (!footer) return pass(footer);
    auto choice = choose_columns(columns, footer->names);
    if (!choice) return pass(choice);
    return std::unique_ptr<UnitFormat>(
        new MadeUpFormat(std::move(*choice), std::move(footer->names)));  // NOLINT: private.
  }

  static Result<Footer> read_footer(const InputFile& file) {
    const auto damaged = [&file](const char* what) {
      return fail(Code::kCorrupt, file.path() + " is no made-up file: " + what);
    };
    std::array<char, kTail> tail{};
    if (file.size() < tail.size()) return damaged("it is too short");
    const std::uint64_t end = file.size() - tail.size();
    if (auto status = file.read(end, tail); !status) return pass(status);
    Words words({tail.data(), tail.size()});
    const std::uint64_t check = words.next();
    const std::uint64_t size = words.next();
    if (words.text(kWord) != kMagic) return damaged("its last bytes are others");
    if (size > kMostFooter || size > end) return damaged("its footer is too long");
    std::string text(size, '\0');
    if (auto status = file.read(end - size, text); !status) return pass(status);
    if (crc32c(text) != check) return damaged("the checksum of its footer is wrong");
    Footer footer;
    if (!parse(text, end - size, footer)) return damaged("its footer is damaged");
    footer.digest = Digest::of(text.data(), text.size());
    return footer;
  }

  static bool parse(std::string_view text, std::uint64_t groups_end, Footer& footer) {
    Words words(text);
    for (std::uint64_t left = words.count(kWord); left > 0; --left) {
      footer.names.emplace_back(words.text(words.next()));
    }
    const std::size_t columns = footer.names.size();
    for (std::uint64_t left = words.count((2 + columns) * kWord); left > 0; --left) {
      Group group{.offset = words.next(), .rows = 0, .checks = {}};
      const std::uint64_t rows = words.next();
      for (std::size_t i = 0; i < columns; ++i) group.checks.push_back(words.next());
      if (columns == 0 || rows > groups_end / kWord / columns) return false;
      if (group.offset > groups_end - bytes_of(rows, columns)) return false;
      group.rows = static_cast<std::uint32_t>(rows);
      if (group.rows != rows) return false;
      footer.groups.push_back(std::move(group));
    }
    return words.ended();
  }

  static std::size_t bytes_of(std::uint64_t rows, std::size_t columns) {
    return rows * columns * kWord;
  }

  // More than any choice of the columns takes: each has at most an id and an offset a row.
  static std::size_t decoded_bytes(std::uint64_t rows, std::size_t columns) {
    const ColumnFill::Shape shape{
        .rows = rows, .dense = columns, .sparse = columns, .origins = true};
    return shape.dense_bytes() + shape.sparse_bytes();
  }

  // Returns the first column of a group whose checksum is not that of its content.
  std::optional<BadRow> damage(const BlockRef& block, const char* checks, const char* at) const {
    const std::size_t bytes = bytes_of(block.rows, 1);
    for (std::size_t i = 0; i < wanted_.size(); ++i, at += bytes) {
      std::uint64_t check = 0;
      std::memcpy(&check, checks + i * kWord, kWord);
      if (crc32c({at, bytes}) == check) continue;
      return bad_row(
          block, 0, "column \"" + names_[wanted_[i]] + "\": its checksum differs from its content");
    }
    return std::nullopt;
  }

  ColumnFill::Shape shape(std::size_t rows, bool origins) const {
    return {.rows = rows,
            .dense = choice_.dense.size(),
            .sparse = choice_.sparse.size(),
            .origins = origins};
  }

  static BadRow bad_row(const BlockRef& block, std::uint64_t row, std::string reason) {
    return {.file = block.file,
            .offset = block.offset + row,
            .line = row,
            .reason = std::move(reason),
            .text = {},
            .group = block.line};
  }

  void decode_row(const BlockRef& block, const char* at, std::size_t row, const RowFilter& filter,
                  ColumnFill& fill, Decoded& decoded) const {
    const auto number = [&](std::size_t column) {
      std::int64_t value = 0;
      std::memcpy(&value, at + (column * block.rows + row) * kWord, kWord);
      return value;
    };
    const std::int64_t label = number(0);
    if (label != 0 && label != 1) {
      decoded.bad.push_back(
          bad_row(block, row, "label: " + std::to_string(label) + " is not 0 or 1"));
      return;
    }
    if (!filter.keeps(block.file, block.offset + row)) {
      ++decoded.filtered;
      return;
    }
    const std::size_t to = fill.rows++;
    fill.labels[to] = static_cast<float>(label);
    for (std::size_t i = 0; i < fill.dense.size(); ++i) {
      fill.dense[i][to] = static_cast<float>(number(1 + i));
    }
    for (std::size_t i = 0; i < fill.sparse.size(); ++i) {
      SparseFill& column = fill.sparse[i];
      column.values[column.count++] = number(1 + fill.dense.size() + i);
      column.end_row(to);
    }
    if (fill.origins != nullptr) {
      fill.origins[to] = RowOrigin::of(block.file, block.offset + row);
    }
  }

  const ColumnChoice choice_;
  const std::vector<std::string> names_;  // of the first file's columns
  std::vector<std::size_t> wanted_;       // label, dense, sparse: indices into names_
};

}  // namespace forebay::test

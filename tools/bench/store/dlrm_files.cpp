#include "tools/bench/store/dlrm_files.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <fstream>
#include <span>
#include <utility>

#include "actors/format/parquet/footer.h"
#include "actors/input/local_file_system.h"
#include "actors/output/chunk_encoder.h"
#include "actors/output/footer_writer.h"
#include "core/base/random.h"

namespace forebay {
namespace {

using parquet::EncodedGroup;
using parquet::OutputColumn;
using Type = OutputColumn::Type;

constexpr std::size_t kGroupRows = 6144;
constexpr const char* kLabel = "label";

struct DlrmColumn {
  OutputColumn column;
  std::uint64_t values = 0;  ///< An integer is below; 0: a float.
  bool wanted = false;
};

/// Columns that take so many bytes a row in a file, and how many of them are wanted.
struct Width {
  Type type;
  std::uint64_t values;
  std::size_t columns;
  std::size_t wanted;
};
// 1, 2, 4 and 8 bytes: the first are in dictionaries, the second are packed by zstd.
constexpr std::array kWidths = {Width{Type::kInt32, 200, 48, 4},
                                Width{Type::kInt32, std::uint64_t{1} << 16, 48, 4},
                                Width{Type::kFloat, 0, 54, 26}, Width{Type::kDouble, 0, 50, 6}};

template <class Item>
void mix(std::vector<Item>& items, Random& random) {
  for (std::size_t i = items.size(); i > 1; --i) {
    std::swap(items[i - 1], items[random.next() % i]);
  }
}

std::vector<DlrmColumn> dlrm_columns() {
  std::vector<DlrmColumn> columns;
  for (const Width& width : kWidths) {
    for (std::size_t i = 0; i < width.columns; ++i) {
      columns.push_back(
          {.column = {"", width.type}, .values = width.values, .wanted = i < width.wanted});
    }
  }
  Random random(1);
  mix(columns, random);
  columns.insert(columns.begin(), {.column = {kLabel, Type::kInt32}, .values = 2, .wanted = true});
  for (std::size_t i = 1; i < columns.size(); ++i) {
    columns[i].column.name = "f" + std::to_string(i);
  }
  return columns;
}

template <class Word, class Make>
void add_chunk(const DlrmColumn& column, parquet::ChunkEncoder& encoder, EncodedGroup& group,
               const Make& make) {
  std::vector<Word> words(kGroupRows);
  std::ranges::generate(words, make);
  encoder.add(column.column, {}, std::span<const Word>(words), group);
}

EncodedGroup dlrm_group(const std::vector<DlrmColumn>& columns, std::uint64_t seed) {
  Random random(seed);
  parquet::ChunkEncoder encoder;
  EncodedGroup group;
  group.rows = kGroupRows;
  for (const DlrmColumn& column : columns) {
    if (column.column.type == Type::kDouble) {
      add_chunk<std::uint64_t>(column, encoder, group, [&random] {
        return std::bit_cast<std::uint64_t>(random.uniform());
      });
    } else if (column.values == 0) {
      add_chunk<std::uint32_t>(column, encoder, group, [&random] {
        return std::bit_cast<std::uint32_t>(static_cast<float>(random.uniform()));
      });
    } else {
      add_chunk<std::uint32_t>(column, encoder, group, [&random, &column] {
        return static_cast<std::uint32_t>(random.next() % column.values);
      });
    }
  }
  return group;
}

Status write_file(const std::string& path, const std::vector<DlrmColumn>& columns,
                  const std::vector<EncodedGroup>& groups, std::size_t count) {
  std::vector<OutputColumn> output;
  output.reserve(columns.size());
  for (const DlrmColumn& column : columns) output.push_back(column.column);
  parquet::FooterWriter footer(output);
  std::ofstream out(path, std::ios::binary);
  out << parquet::kMagic;
  std::uint64_t offset = parquet::kMagic.size();
  for (std::size_t i = 0; i < count; ++i) {
    const EncodedGroup& group = groups[i % groups.size()];
    out << group.bytes;
    footer.add(group, offset);
    offset += group.bytes.size();
  }
  out << footer.finish(offset);
  out.close();
  if (out) return {};
  return fail(Code::kUnavailable, path + " cannot be written; free some space in TMPDIR");
}

/// Adds the places of the wanted chunks of a file.
Status add_groups(const std::string& path, const std::vector<DlrmColumn>& columns,
                  DlrmFiles& files) {
  auto file = open_local_file(path);
  if (!file) return pass(file);
  auto footer = parquet::read_footer(**file);
  if (!footer) return pass(footer);
  for (const parquet::Group& group : footer->groups) {
    std::vector<Wanted>& wanted = files.groups.emplace_back();
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (!columns[i].wanted) continue;
      wanted.push_back({.offset = group.chunks[i].offset, .bytes = group.chunks[i].bytes});
    }
  }
  files.rows += footer->rows;
  return {};
}

}  // namespace

std::uint64_t DlrmFiles::wanted_bytes() const {
  std::uint64_t bytes = 0;
  for (const std::vector<Wanted>& group : groups) {
    for (const Wanted& chunk : group) bytes += chunk.bytes;
  }
  return bytes;
}

Result<DlrmFiles> write_dlrm_files(const std::string& folder, std::uint64_t rows) {
  constexpr std::size_t kFiles = 4;
  constexpr std::size_t kGroups = 4;  // again and again
  const std::vector<DlrmColumn> columns = dlrm_columns();
  DlrmFiles files;
  for (const DlrmColumn& column : columns) {
    if (!column.wanted || column.column.name == kLabel) continue;
    (column.values == 0 ? files.dense : files.sparse).push_back(column.column.name);
  }
  std::vector<EncodedGroup> groups;
  for (std::size_t i = 0; i < kGroups; ++i) groups.push_back(dlrm_group(columns, i));
  for (std::size_t i = 0; i < kFiles; ++i) {
    const std::string path = folder + '/' + std::to_string(i) + ".parquet";
    const std::size_t count = rows / kGroupRows / kFiles + 1;
    if (auto status = write_file(path, columns, groups, count); !status) return pass(status);
    if (auto status = add_groups(path, columns, files); !status) return pass(status);
  }
  return files;
}

}  // namespace forebay

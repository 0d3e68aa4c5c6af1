#include "actors/stage/changed_block.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/base/printable.h"

namespace forebay {
namespace {

RawSplit split_of(const BlockRef& block, std::span<const char> bytes, BufferPool& pool) {
  RawSplit raw;
  raw.bytes = pool.take(bytes.size() + 1);
  std::copy(bytes.begin(), bytes.end(), raw.bytes.as<char>());
  const bool ended = !bytes.empty() && bytes.back() == '\n';
  if (!ended) raw.bytes.as<char>()[bytes.size()] = '\n';
  raw.bytes.shrink(bytes.size() + (ended ? 0 : 1));
  raw.blocks = {block};
  raw.sizes = {raw.bytes.size()};
  return raw;
}

std::string place_of(const BadRow& row) {
  return "line " + std::to_string(row.line) + " (byte " + std::to_string(row.offset) + ")";
}

/// Returns "line 7 (byte 810) and 2 more rows are damaged: …; ", or an empty text if every row can
/// be read.
std::string unreadable(const Format& format, const RawSplit& raw, BufferPool& pool) {
  Decoded decoded = format.decode(raw, {}, pool);
  std::vector<BadRow> rows = std::move(decoded.bad);
  if (rows.empty() && decoded.miscounted) rows.push_back(*decoded.miscounted);
  if (rows.empty()) return {};
  const std::size_t more = rows.size() - 1;
  return place_of(rows.front()) +
         (more == 0
              ? " is"
              : " and " + std::to_string(more) + (more == 1 ? " more row are" : " more rows are")) +
         " damaged: " + printable_field(rows.front().reason) + "; ";
}

/// Describes the block by its rows and bytes in the index.
std::string rows_of(const BlockRef& block) {
  const std::string bytes = " (bytes " + std::to_string(block.offset) + " to " +
                            std::to_string(block.offset + block.bytes - 1) + ")";
  const std::string line = std::to_string(block.line);
  return block.rows == 1 ? "the row at line " + line + bytes + " is not as it was indexed"
                         : "the " + std::to_string(block.rows) + " rows from line " + line + " on" +
                               bytes + " are not as they were indexed";
}

}  // namespace

Error changed_block(const Dataset& dataset, const BlockRef& block, std::span<const char> bytes,
                    const std::string& read_from, BufferPool& pool) {
  const std::string& path = dataset.files()[block.file].path;
  const bool is_copy = read_from != path;
  return {Code::kCorrupt,
          path + ": " + unreadable(dataset.format(), split_of(block, bytes, pool), pool) +
              rows_of(block) +
              (is_copy ? " in the decompressed copy " + read_from + "; remove it and run again"
                       : ", though the file's size and time are; restore the file, or touch it to "
                         "have it indexed again")};
}

Error miscounted_split(const Dataset& dataset, const BadRow& where) {
  return {Code::kCorrupt, dataset.files()[where.file].path + ": " + place_of(where) + ": " +
                              where.reason +
                              "; remove the folder index in the job's run.dir and run again"};
}

}  // namespace forebay

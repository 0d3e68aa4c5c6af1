#include "actors/source/row_counts.h"

#include <cstring>
#include <numeric>
#include <string_view>
#include <utility>

#include "core/base/check.h"
#include "core/base/whole_file.h"

namespace forebay {
namespace {

// The file: this line, the counts as 4 bytes each (least byte first), the digest of all before it
// and of the key in hex.
constexpr std::string_view kFirstLine = "forebay row counts 1\n";
constexpr std::size_t kHexBytes = 32;

std::string digest_of(std::string_view text, const Digest& key) {
  const std::string of_key = key.hex();
  return Digest::of_parts({{text.data(), text.size()}, {of_key.data(), of_key.size()}}).hex();
}

}  // namespace

RowCounts::RowCounts(const Dataset& dataset, std::vector<std::uint32_t> of_blocks)
    : dataset_(&dataset),
      of_blocks_(std::move(of_blocks)),
      total_(std::accumulate(of_blocks_.begin(), of_blocks_.end(), std::uint64_t{0})) {
  FOREBAY_CHECK(of_blocks_.size() == dataset.num_blocks());
}

Status RowCounts::save(const std::string& path, const Digest& key) const {
  std::string text(kFirstLine);
  for (const std::uint32_t rows : of_blocks_) {
    for (unsigned shift = 0; shift < 32; shift += 8) {
      text.push_back(static_cast<char>(rows >> shift & 0xff));
    }
  }
  return replace_whole(path, text + digest_of(text, key), Sync::kNo);
}

Result<RowCounts> RowCounts::load(const std::string& path, const Digest& key,
                                  const Dataset& dataset) {
  const std::size_t bytes = kFirstLine.size() + 4 * dataset.num_blocks() + kHexBytes;
  auto text = read_whole(path, bytes);
  if (!text) return pass(text);
  const auto damaged = [&] { return fail(Code::kCorrupt, path + ": damaged counts of rows"); };
  if (text->size() != bytes || !text->starts_with(kFirstLine)) return damaged();
  const std::string_view before(text->data(), bytes - kHexBytes);
  if (text->substr(before.size()) != digest_of(before, key)) return damaged();
  std::vector<std::uint32_t> counts;
  counts.reserve(dataset.num_blocks());
  for (std::size_t i = 0; i < dataset.num_blocks(); ++i) {
    std::uint32_t rows = 0;
    for (std::size_t byte = 0; byte < 4; ++byte) {
      const auto value = static_cast<unsigned char>(before[kFirstLine.size() + 4 * i + byte]);
      rows |= std::uint32_t{value} << (8 * byte);
    }
    if (rows > dataset.block(i).rows) return damaged();
    counts.push_back(rows);
  }
  return RowCounts(dataset, std::move(counts));
}

}  // namespace forebay

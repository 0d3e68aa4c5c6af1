#include "actors/source/text_blocks.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <vector>

#include "actors/source/index/index_cache.h"
#include "core/base/crc32c.h"
#include "core/base/text/counted.h"
#include "core/base/text/printable.h"
#include "core/data/buffer_pool.h"

namespace forebay {
namespace {

constexpr int kStaysCold = 64;           // number of reads with hints after a read that had to wait
constexpr std::size_t kSkip = 64 << 10;  // bytes decoded and dropped at a time before an offset
constexpr RestartPoint kStart{};

// Ends the last row of a file with a newline, and returns the block's bytes with it.
std::size_t end_row(std::span<char> out, std::uint64_t bytes) {
  if (bytes == 0 || out[bytes - 1] == '\n') return bytes;
  out[bytes] = '\n';
  return bytes + 1;
}

// Returns "line 7 (byte 810) and 2 more rows are damaged: …; ", or an empty text if every row of
// the block can be read.
std::string unreadable(const Format& format, const BlockRef& block, std::span<const char> bytes) {
  MemoryBudget budget(std::numeric_limits<std::size_t>::max());
  BufferPool pool(budget);
  RawSplit raw{.bytes = pool.take(block.loaded_bytes()), .blocks = {block}, .sizes = {}};
  const std::span<char> copy(raw.bytes.as<char>(), block.loaded_bytes());
  std::ranges::copy(bytes, copy.begin());
  raw.sizes = {end_row(copy, block.bytes)};
  raw.bytes.shrink(raw.sizes.front());
  const Decoded decoded = format.decode(raw, {}, pool);
  std::vector<BadRow> rows = decoded.bad;
  if (rows.empty() && decoded.miscounted) rows.push_back(*decoded.miscounted);
  if (rows.empty()) return {};
  const std::size_t more = rows.size() - 1;
  return place_of(rows.front()) +
         (more == 0 ? " is" : " and " + format_counted(more, "more row are", "more rows are")) +
         " damaged: " + printable_message(rows.front().reason) + "; ";
}

// Describes the block by its rows and bytes in the index.
std::string rows_of(const BlockRef& block) {
  const std::string bytes = " (bytes " + std::to_string(block.offset) + " to " +
                            std::to_string(block.offset + block.bytes - 1) + ")";
  const std::string line = std::to_string(block.line);
  return block.rows == 1 ? "the row at line " + line + bytes + " is not as it was indexed"
                         : "the " + std::to_string(block.rows) + " rows from line " + line + " on" +
                               bytes + " are not as they were indexed";
}

}  // namespace

Status PlainSource::read(std::uint64_t offset, std::span<char> out) {
  if (auto status = file_->check(indexed_); !status) return status;
  const std::size_t ready = file_->read_ready(offset, out);
  if (ready == out.size()) {
    if (cold_reads_ > 0) --cold_reads_;
    return {};
  }
  cold_reads_ = kStaysCold;
  return file_->read(offset + ready, out.subspan(ready));
}

std::unique_ptr<PendingRead> PlainSource::begin(std::uint64_t offset, std::span<char> out) {
  if (!file_->is_remote()) return nullptr;
  return file_->begin_read({{offset, out}});
}

void PlainSource::prepare(std::span<const BlockRef> blocks) {
  if (cold_reads_ == 0) return;
  for (const BlockRef& block : blocks) file_->will_read(block.offset, block.bytes);
}

Status RestartSource::read(std::uint64_t offset, std::span<char> out) {
  if (auto status = file_->check(index_.stamp); !status) return status;
  auto status = go_to(offset);
  if (status) status = fill(out);
  if (!status || reads_ == Reads::kAnywhere || position_ >= index_.bytes) stream_.reset();
  return status;
}

const RestartPoint& RestartSource::point_before(std::uint64_t offset) const {
  const auto after =
      std::upper_bound(index_.points.begin(), index_.points.end(), offset,
                       [](std::uint64_t value, const RestartPoint& p) { return value < p.out; });
  return after == index_.points.begin() ? kStart : *std::prev(after);
}

Status RestartSource::go_to(std::uint64_t offset) {
  const RestartPoint& point = point_before(offset);
  if (stream_ == nullptr || position_ > offset || position_ < point.out) {
    auto restart = read_restart(*index_file_, point);
    if (!restart) return pass(restart);
    auto stream = open_stream(*file_, index_.codec, *restart, nullptr);
    if (!stream) return pass(stream);
    stream_ = std::move(*stream);
    position_ = point.out;
  }
  std::vector<char> skipped(std::min<std::uint64_t>(kSkip, offset - position_));
  while (position_ < offset) {
    const auto step = std::min<std::uint64_t>(skipped.size(), offset - position_);
    if (auto status = fill(std::span(skipped).first(step)); !status) return status;
  }
  return {};
}

Status RestartSource::fill(std::span<char> out) {
  auto got = stream_->next(out);
  if (!got) return pass(got);
  position_ += *got;
  if (*got < out.size()) return changed_since_indexed(path());
  return {};
}

Result<std::size_t> TextBlocks::load(const BlockRef& block, std::span<char> out) {
  const auto bytes = out.first(block.bytes);
  if (auto status = content_->read(block.offset, bytes); !status) return pass(status);
  if (crc32c(bytes, block.check_before) == block.check_after) return end_row(out, block.bytes);
  // If a program is writing to the file right now, the file's time has changed, and that error
  // explains more.
  if (auto status = content_->read(block.offset, {}); !status) return pass(status);
  return tl::unexpected(changed(block, bytes));
}

// A block on its way from a store. The store itself notices that a file has another version.
class TextBlocks::Pending final : public PendingBlock {
 public:
  Pending(const TextBlocks& source, const BlockRef& block, std::span<char> out,
          std::unique_ptr<PendingRead> read)
      : source_(source), block_(block), out_(out), read_(std::move(read)) {}

  Result<std::size_t> finish() override {
    if (auto status = read_->wait(); !status) return pass(status);
    const auto bytes = out_.first(block_.bytes);
    if (crc32c(bytes, block_.check_before) == block_.check_after) {
      return end_row(out_, block_.bytes);
    }
    return tl::unexpected(source_.changed(block_, bytes));
  }

 private:
  const TextBlocks& source_;
  const BlockRef block_;
  const std::span<char> out_;
  const std::unique_ptr<PendingRead> read_;
};

std::unique_ptr<PendingBlock> TextBlocks::begin(const BlockRef& block, std::span<char> out) {
  auto read = content_->begin(block.offset, out.first(block.bytes));
  if (read == nullptr) return nullptr;
  return std::make_unique<Pending>(*this, block, out, std::move(read));
}

Error TextBlocks::changed(const BlockRef& block, std::span<const char> bytes) const {
  const std::string& path = dataset_.files()[block.file].path;
  const bool is_copy = content_->path() != path;
  return {
      Code::kCorrupt,
      path + ": " + unreadable(dataset_.format(), block, bytes) + rows_of(block) +
          (is_copy ? " in the decompressed copy " + content_->path() + "; remove it and run again"
                   : ", though the file's size and time are; restore the file, or touch it to "
                     "have it indexed again")};
}

}  // namespace forebay

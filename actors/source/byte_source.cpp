#include "actors/source/byte_source.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "actors/source/index/index_cache.h"

namespace forebay {
namespace {

constexpr int kStaysCold = 64;           // number of reads with hints after a read that had to wait
constexpr std::size_t kSkip = 64 << 10;  // bytes decoded and dropped at a time before an offset
constexpr RestartPoint kStart{};

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

}  // namespace forebay

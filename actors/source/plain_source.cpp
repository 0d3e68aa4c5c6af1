#include "actors/source/plain_source.h"

namespace forebay {
namespace {

constexpr int kStaysCold = 64;  // number of reads with hints after a read that had to wait

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

}  // namespace forebay

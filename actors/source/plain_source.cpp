#include "actors/source/plain_source.h"

#include <fcntl.h>
#include <sys/uio.h>

namespace forebay {
namespace {

constexpr int kStaysCold = 64;  // reads after one that had to wait

// Reads what is in the page cache already; the rest comes the ordinary way.
std::size_t read_cached(int descriptor, std::uint64_t offset, std::span<char> out) {
  const iovec piece{.iov_base = out.data(), .iov_len = out.size()};
  const ssize_t got = ::preadv2(descriptor, &piece, 1, static_cast<off_t>(offset), RWF_NOWAIT);
  return got < 0 ? 0 : static_cast<std::size_t>(got);
}

}  // namespace

Status PlainSource::read(std::uint64_t offset, std::span<char> out) {
  if (auto status = file_.check(indexed_); !status) return status;
  const std::size_t cached = read_cached(file_.descriptor(), offset, out);
  if (cached == out.size()) {
    if (cold_reads_ > 0) --cold_reads_;
    return {};
  }
  cold_reads_ = kStaysCold;
  return file_.read(offset + cached, out.subspan(cached));
}

void PlainSource::prepare(std::span<const BlockRef> blocks) {
  if (cold_reads_ == 0) return;
  for (const BlockRef& block : blocks) {
    ::posix_fadvise(file_.descriptor(), static_cast<off_t>(block.offset),
                    static_cast<off_t>(block.bytes), POSIX_FADV_WILLNEED);
  }
}

}  // namespace forebay

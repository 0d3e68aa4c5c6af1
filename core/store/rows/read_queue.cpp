#include "core/store/rows/read_queue.h"

#include <linux/aio_abi.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "core/base/all_bytes.h"
#include "core/base/thread/parallel.h"

namespace forebay {
namespace {

constexpr std::size_t kThreads = 24;
constexpr std::size_t kAtOnce = 32;  // Pages to receive before asking the kernel for more.

}  // namespace

std::int64_t read_piece(PageLocation place, char* to, std::size_t size) {
  const auto into = std::as_writable_bytes(std::span(to, size));
  const ssize_t read = read_all_at(place.file, into, place.offset);
  return read < 0 ? -errno : read;
}

ReadQueue::ReadQueue(std::size_t page_bytes, Way way)
    : page_bytes_(page_bytes), memory_(kDepth * page_bytes) {
  aio_context_t context = 0;
  if (way == Way::kBest && syscall(SYS_io_setup, kDepth, &context) == 0) context_ = context;
}

ReadQueue::~ReadQueue() {
  if (context_ != 0) syscall(SYS_io_destroy, context_);
}

/// One call of read(): the progress through its pages, and the free slots.
struct ReadQueue::Running {
  ReadQueue& queue;
  std::span<const PageLocation> places;
  const ReadCallback& on_read;
  std::size_t next = 0;  // index of the next place
  std::size_t under_way = 0;
  std::size_t num_free = 0;
  std::array<std::uint8_t, kDepth> free;
  std::array<std::size_t, kDepth> index;  // index of the place, by slot

  Running(ReadQueue& to, std::span<const PageLocation> all, const ReadCallback& callee)
      : queue(to), places(all), on_read(callee) {
    for (std::size_t slot = 0; slot < kDepth; ++slot) give(slot);
  }

  void give(std::size_t slot) { free[num_free++] = static_cast<std::uint8_t>(slot); }

  /// Submits as many reads as there are free slots. Reads the pages that the kernel refuses now
  /// itself.
  void ask() {
    std::array<iocb, kDepth> requests;
    std::array<iocb*, kDepth> asked;
    std::size_t count = 0;
    for (; num_free > 0 && next < places.size(); ++next, ++count) {
      const std::size_t slot = free[--num_free];
      index[slot] = next;
      requests[count] = {};
      requests[count].aio_data = slot;
      requests[count].aio_fildes = static_cast<std::uint32_t>(places[next].file);
      requests[count].aio_lio_opcode = IOCB_CMD_PREAD;
      requests[count].aio_buf = reinterpret_cast<std::uint64_t>(queue.page(slot));
      requests[count].aio_nbytes = queue.page_bytes_;
      requests[count].aio_offset = static_cast<std::int64_t>(places[next].offset);
      asked[count] = &requests[count];
    }
    std::size_t taken = 0;
    while (taken < count) {
      const long more = syscall(SYS_io_submit, queue.context_, count - taken, asked.data() + taken);
      if (more > 0) {
        taken += static_cast<std::size_t>(more);
        under_way += static_cast<std::size_t>(more);
      } else if (more == 0 || errno != EINTR) {
        const std::size_t slot = asked[taken++]->aio_data;
        finish(slot, read_piece(places[index[slot]], queue.page(slot), queue.page_bytes_));
      }
    }
  }

  void finish(std::size_t slot, std::int64_t read) {
    on_read(index[slot], read, queue.page(slot));
    give(slot);
  }

  void wait() {
    std::array<io_event, kDepth> events;
    const std::size_t least = std::min(under_way, kAtOnce);
    const long count =
        syscall(SYS_io_getevents, queue.context_, least, under_way, events.data(), nullptr);
    for (long i = 0; i < count; ++i) {
      const io_event& event = events[static_cast<std::size_t>(i)];
      --under_way;
      finish(event.data, event.res);
    }
  }
};

void ReadQueue::read(std::span<const PageLocation> places, const ReadCallback& on_read) {
  if (context_ == 0) return read_by_threads(places, on_read);
  Running running(*this, places, on_read);
  while (running.next < places.size() || running.under_way > 0) {
    running.ask();
    if (running.under_way > 0) running.wait();
  }
}

void ReadQueue::read_by_threads(std::span<const PageLocation> places, const ReadCallback& on_read) {
  const std::size_t threads = std::min(kThreads, places.size());
  for_each_in_parallel(threads, static_cast<int>(threads), [&](std::size_t thread) {
    for (std::size_t index = thread; index < places.size(); index += threads) {
      const std::int64_t read = read_piece(places[index], page(thread), page_bytes_);
      on_read(index, read, page(thread));
    }
  });
}

}  // namespace forebay

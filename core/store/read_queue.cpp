#include "core/store/read_queue.h"

#include <linux/aio_abi.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace forebay {

std::int64_t read_piece(int file, const FilePiece& piece) {
  while (true) {
    const ssize_t read = pread(file, piece.to, piece.size, static_cast<off_t>(piece.offset));
    if (read >= 0) return read;
    if (errno != EINTR) return -errno;
  }
}

std::unique_ptr<ReadQueue> ReadQueue::make() {
  aio_context_t context = 0;
  if (syscall(SYS_io_setup, kMost, &context) != 0) return nullptr;
  return std::unique_ptr<ReadQueue>(new ReadQueue(context));
}

ReadQueue::~ReadQueue() { syscall(SYS_io_destroy, context_); }

void ReadQueue::read(int file, std::span<FilePiece> pieces) {
  while (!pieces.empty()) {
    const std::size_t count = std::min(pieces.size(), kMost);
    read_some(file, pieces.first(count));
    pieces = pieces.subspan(count);
  }
}

void ReadQueue::read_some(int file, std::span<FilePiece> pieces) {
  std::array<iocb, kMost> requests = {};
  std::array<iocb*, kMost> places;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    requests[i].aio_data = i;
    requests[i].aio_fildes = static_cast<std::uint32_t>(file);
    requests[i].aio_lio_opcode = IOCB_CMD_PREAD;
    requests[i].aio_buf = reinterpret_cast<std::uint64_t>(pieces[i].to);
    requests[i].aio_nbytes = pieces[i].size;
    requests[i].aio_offset = static_cast<std::int64_t>(pieces[i].offset);
    places[i] = &requests[i];
  }
  std::size_t asked = 0;
  while (asked < pieces.size()) {
    const long taken =
        syscall(SYS_io_submit, context_, pieces.size() - asked, places.data() + asked);
    if (taken > 0) {
      asked += static_cast<std::size_t>(taken);
    } else if (taken == 0 || errno != EINTR) {
      break;
    }
  }
  std::array<io_event, kMost> events;
  for (std::size_t came = 0; came < asked;) {
    const long count =
        syscall(SYS_io_getevents, context_, asked - came, asked - came, events.data(), nullptr);
    for (long i = 0; i < count; ++i) {
      const io_event& event = events[static_cast<std::size_t>(i)];
      pieces[event.data].read = event.res;
    }
    if (count > 0) came += static_cast<std::size_t>(count);
  }
  // What the kernel would not take.
  for (FilePiece& piece : pieces.subspan(asked)) piece.read = read_piece(file, piece);
}

void ReadQueues::read(int file, std::span<FilePiece> pieces) {
  std::unique_ptr<ReadQueue> queue;
  {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      queue = std::move(free_.back());
      free_.pop_back();
    }
  }
  if (queue == nullptr) queue = ReadQueue::make();
  if (queue == nullptr) {
    for (FilePiece& piece : pieces) piece.read = read_piece(file, piece);
    return;
  }
  queue->read(file, pieces);
  const std::lock_guard lock(mutex_);
  free_.push_back(std::move(queue));
}

}  // namespace forebay

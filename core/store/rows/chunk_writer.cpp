#include "core/store/rows/chunk_writer.h"

#include <cerrno>
#include <cstring>
#include <span>
#include <utility>

#include "core/base/all_bytes.h"
#include "core/base/thread/start_thread.h"

namespace forebay {

ChunkWriter::ChunkWriter(const RowLogPlan& plan, std::string folder, std::function<void()> wrote)
    : plan_(plan), folder_(std::move(folder)), wrote_(std::move(wrote)) {
  for (std::size_t i = 0; i < RowLogPlan::kChunks; ++i) {
    free_.push_back(std::make_unique<Chunk>(plan_.chunk_bytes()));
  }
  thread_ = start_thread("writing rows to the disk", [this] { run(); });
}

ChunkWriter::~ChunkWriter() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

std::unique_ptr<Chunk> ChunkWriter::take() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !free_.empty() || !status_; });
  if (!status_) return nullptr;
  auto chunk = std::move(free_.back());
  free_.pop_back();
  return chunk;
}

void ChunkWriter::give_back(std::unique_ptr<Chunk> chunk) {
  const std::lock_guard lock(mutex_);
  chunk->segment.reset();
  chunk->pages = 0;
  free_.push_back(std::move(chunk));
  changed_.notify_all();
}

void ChunkWriter::write(std::unique_ptr<Chunk> chunk) {
  const std::lock_guard lock(mutex_);
  waiting_.push_back({.chunk = std::move(chunk), .segment = nullptr, .numbers = {}});
  changed_.notify_all();
}

void ChunkWriter::finish(SegmentIndex::Segment segment, std::vector<std::uint64_t> numbers) {
  const std::lock_guard lock(mutex_);
  waiting_.push_back(
      {.chunk = nullptr, .segment = std::move(segment), .numbers = std::move(numbers)});
  changed_.notify_all();
}

bool ChunkWriter::visit(const OpenSegment& segment, std::uint64_t page,
                        const std::function<void(char*)>& visit) const {
  const std::lock_guard lock(mutex_);
  for (const Work& work : waiting_) {
    if (work.chunk == nullptr || work.chunk->segment.get() != &segment) continue;
    const std::uint64_t first = work.chunk->first_page;
    if (page < first || page >= first + work.chunk->pages) continue;
    visit(work.chunk->memory.data() + (page - first) * plan_.shape.page_bytes);
    return true;
  }
  return false;
}

Status ChunkWriter::drain() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return waiting_.empty() || !status_; });
  return status_;
}

Status ChunkWriter::status() const {
  const std::lock_guard lock(mutex_);
  return status_;
}

void ChunkWriter::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stop_ || (!waiting_.empty() && status_); });
    if (stop_) return;
    const Work& work = waiting_.front();
    lock.unlock();
    Status written = write_now(work);
    lock.lock();
    const bool tells = !written || work.chunk == nullptr;
    status_ = std::move(written);
    if (status_) {
      if (auto chunk = std::move(waiting_.front().chunk); chunk != nullptr) {
        chunk->segment->written += chunk->pages;
        chunk->segment.reset();
        chunk->pages = 0;
        free_.push_back(std::move(chunk));
      } else {
        waiting_.front().segment->whole = true;
      }
      waiting_.pop_front();
    }
    changed_.notify_all();
    if (!tells) continue;
    lock.unlock();
    wrote_();
    lock.lock();
  }
}

/// Needs no lock: other threads only read the chunk meanwhile, and not its checksums.
Status ChunkWriter::write_now(const Work& work) const {
  const std::size_t page_bytes = plan_.shape.page_bytes;
  if (work.chunk == nullptr) {
    const RowSegment segment{work.segment->sequence, work.numbers};
    const DirectMemory footer = segment.footer(plan_.shape);
    return put(*work.segment, work.segment->pages * page_bytes, footer.data(), footer.size());
  }
  const Chunk& chunk = *work.chunk;
  for (std::uint64_t page = 0; page < chunk.pages; ++page) {
    RowPage(plan_.shape, chunk.memory.data() + page * page_bytes)
        .seal(RowSegment::where(chunk.segment->sequence, chunk.first_page + page));
  }
  return put(*chunk.segment, chunk.first_page * page_bytes, chunk.memory.data(),
             chunk.pages * page_bytes);
}

Status ChunkWriter::put(const OpenSegment& segment, std::uint64_t offset, const char* from,
                        std::size_t size) const {
  const auto bytes = std::as_bytes(std::span(from, size));
  if (write_all_at(segment.file.number(), bytes, offset)) return {};
  return fail(Code::kUnavailable, "the tables' folder " + folder_ + " cannot be written to (" +
                                      std::strerror(errno) +
                                      "); free some of its disk, or set run.dir to a larger one");
}

}  // namespace forebay

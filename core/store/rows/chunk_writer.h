#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "core/base/result.h"
#include "core/store/rows/segment_index.h"

namespace forebay {

/// Consecutive pages of a segment that are filled in memory and then written at once.
struct Chunk {
  explicit Chunk(std::size_t bytes) : memory(bytes) {}

  DirectMemory memory;
  SegmentIndex::Segment segment;
  std::uint64_t first_page = 0;
  std::uint64_t pages = 0;
};

/// Writes chunks to their segments on a thread of its own, in the order in which they were handed
/// in. Thread-safe. After a failure it writes nothing more; pages handed in can still be read here.
class ChunkWriter {
 public:
  /// The writer's thread calls `wrote` when a segment is complete, and after a failure.
  ChunkWriter(const RowLogPlan& plan, std::string folder, std::function<void()> wrote);
  ~ChunkWriter();
  ChunkWriter(const ChunkWriter&) = delete;
  ChunkWriter& operator=(const ChunkWriter&) = delete;

  /// Blocks for an empty chunk; null after a failure.
  std::unique_ptr<Chunk> take();
  void give_back(std::unique_ptr<Chunk> chunk);

  void write(std::unique_ptr<Chunk> chunk);
  /// Writes the footer of a segment after its last chunk, which completes the segment.
  void finish(SegmentIndex::Segment segment, std::vector<std::uint64_t> numbers);

  /// Calls `visit` with a page that was handed in and is not on disk yet; returns false if it is on
  /// disk.
  bool visit(const OpenSegment& segment, std::uint64_t page,
             const std::function<void(char* page)>& visit) const;

  /// Blocks until everything handed in is on disk, or writing has failed.
  Status drain();
  Status status() const;

 private:
  /// A chunk to write, or the footer of a segment.
  struct Work {
    std::unique_ptr<Chunk> chunk;
    SegmentIndex::Segment segment;
    std::vector<std::uint64_t> numbers;
  };

  void run();
  Status write_now(const Work& work) const;
  Status put(const OpenSegment& segment, std::uint64_t offset, const char* from,
             std::size_t size) const;

  const RowLogPlan plan_;
  const std::string folder_;
  const std::function<void()> wrote_;

  mutable std::mutex mutex_;  ///< Guards all members below.
  std::condition_variable changed_;
  std::vector<std::unique_ptr<Chunk>> free_;
  std::deque<Work> waiting_;  ///< The first one is being written.
  Status status_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace forebay

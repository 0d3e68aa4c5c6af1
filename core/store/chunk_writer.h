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
#include "core/store/segment_index.h"

namespace forebay {

/// Pages of a segment, one after another, that are filled and then written at once.
struct Chunk {
  explicit Chunk(std::size_t bytes) : memory(bytes) {}

  DirectMemory memory;
  SegmentIndex::Segment segment;
  std::uint64_t first_page = 0;
  std::uint64_t pages = 0;
};

/// Writes chunks to their segments in the order in which they were handed in, on a thread of its
/// own. Any thread may call it at any time. After a failure nothing is written any more; what was
/// handed in can still be read here.
class ChunkWriter {
 public:
  /// `wrote` is called by its thread when a segment is whole, and after a failure.
  ChunkWriter(const RowLogPlan& plan, std::string folder, std::function<void()> wrote);
  ~ChunkWriter();
  ChunkWriter(const ChunkWriter&) = delete;
  ChunkWriter& operator=(const ChunkWriter&) = delete;

  /// An empty chunk, waited for; null after a failure.
  std::unique_ptr<Chunk> take();
  void give_back(std::unique_ptr<Chunk> chunk);

  void write(std::unique_ptr<Chunk> chunk);
  /// Behind its last chunk: the footer, which makes the segment whole.
  void finish(SegmentIndex::Segment segment, std::vector<std::uint64_t> numbers);

  /// Calls `visit` with a page that was handed in and is not on the disk yet; false: it is there.
  bool visit(const OpenSegment& segment, std::uint64_t page,
             const std::function<void(char* page)>& visit) const;

  /// Returns when all that was handed in is on the disk, or cannot be.
  Status drain();
  Status status() const;

 private:
  /// A chunk, or the footer of a segment.
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

  mutable std::mutex mutex_;  ///< Of all below.
  std::condition_variable changed_;
  std::vector<std::unique_ptr<Chunk>> free_;
  std::deque<Work> waiting_;  ///< The first is being written.
  Status status_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace forebay

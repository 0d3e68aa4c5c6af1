#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <span>

#include "core/base/direct_file.h"

namespace forebay {

/// A few large blocks of memory between a thread that fills them and one that empties them, so that
/// a disk works while the next block is made ready, or used.
///
/// Blocks begin at whole pages, as reading and writing past the page cache asks for.
class BlockRing {
 public:
  static constexpr std::size_t kBlockBytes = std::size_t{2} << 20;
  static constexpr std::size_t kBlocks = 4;
  /// What a ring takes.
  static constexpr std::size_t kBytes = kBlocks * kBlockBytes + kDirectPage;

  BlockRing();

  /// The next block to fill; waits until one is empty. An empty span once the ring is closed.
  std::span<std::byte> to_fill();
  void filled(std::size_t bytes);
  /// Nothing more will be filled.
  void end();

  /// What was filled next; waits for it. An empty span at the end, or once the ring is closed.
  std::span<const std::byte> to_empty();
  void emptied();

  /// Either side gives up: nobody waits any more.
  void close();

 private:
  std::span<std::byte> block(std::size_t number);

  const std::unique_ptr<std::byte[]> memory_;
  std::array<std::size_t, kBlocks> bytes_{};  // in filled blocks
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t filled_ = 0;   // blocks, since the beginning
  std::size_t emptied_ = 0;  // likewise
  bool ended_ = false;
  bool closed_ = false;
};

}  // namespace forebay

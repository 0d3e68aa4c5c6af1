#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <span>

#include "core/base/open_files.h"

namespace forebay {

/// A few large blocks of memory between a thread that fills them and one that empties them, so that
/// a disk works while the next block is filled or used.
///
/// Blocks are page-aligned, as direct I/O requires.
class BlockRing {
 public:
  static constexpr std::size_t kBlockBytes = std::size_t{2} << 20;
  static constexpr std::size_t kBlocks = 4;
  /// Bytes of a ring.
  static constexpr std::size_t kBytes = kBlocks * kBlockBytes + kDirectPage;

  BlockRing();

  /// Returns the next block to fill; blocks until one is empty. An empty span once the ring is
  /// closed.
  std::span<std::byte> to_fill();
  void filled(std::size_t bytes);
  /// Ends the filling: no further block will be filled.
  void end();

  /// Returns the next filled block; blocks until there is one. An empty span at the end, or once
  /// the ring is closed.
  std::span<const std::byte> to_empty();
  void emptied();

  /// Called by either side to cancel: no call blocks any more.
  void close();

 private:
  std::span<std::byte> block(std::size_t number);

  const std::unique_ptr<std::byte[]> memory_;
  std::array<std::size_t, kBlocks> bytes_{};  // of filled blocks
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t filled_ = 0;   // number of blocks since the begin
  std::size_t emptied_ = 0;  // number of blocks since the begin
  bool ended_ = false;
  bool closed_ = false;
};

}  // namespace forebay

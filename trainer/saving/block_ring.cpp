#include "trainer/saving/block_ring.h"

namespace forebay {

BlockRing::BlockRing() : memory_(std::make_unique_for_overwrite<std::byte[]>(kBytes)) {}

std::span<std::byte> BlockRing::block(std::size_t number) {
  void* begin = memory_.get();
  std::size_t space = kBytes;
  std::align(kDirectPage, kBlocks * kBlockBytes, begin, space);
  return {static_cast<std::byte*>(begin) + number % kBlocks * kBlockBytes, kBlockBytes};
}

std::span<std::byte> BlockRing::to_fill() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return closed_ || filled_ - emptied_ < kBlocks; });
  return closed_ ? std::span<std::byte>() : block(filled_);
}

void BlockRing::filled(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  bytes_[filled_ % kBlocks] = bytes;
  ++filled_;
  changed_.notify_one();
}

void BlockRing::end() {
  const std::lock_guard lock(mutex_);
  ended_ = true;
  changed_.notify_one();
}

std::span<const std::byte> BlockRing::to_empty() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return closed_ || ended_ || filled_ > emptied_; });
  if (closed_ || filled_ == emptied_) return {};
  return block(emptied_).first(bytes_[emptied_ % kBlocks]);
}

void BlockRing::emptied() {
  const std::lock_guard lock(mutex_);
  ++emptied_;
  changed_.notify_one();
}

void BlockRing::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  changed_.notify_all();
}

}  // namespace forebay

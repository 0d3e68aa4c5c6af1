#include "trainer/saving/block_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/base/all_bytes.h"
#include "core/base/thread/start_thread.h"

namespace forebay {

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

Result<std::unique_ptr<BlockFileWriter>> BlockFileWriter::create(const std::string& path) {
  Descriptor file = open_direct(path, O_WRONLY | O_CREAT | O_EXCL);
  if (!file) return file_error(path, "be created");
  try {
    return std::unique_ptr<BlockFileWriter>(new BlockFileWriter(path, std::move(file)));
  } catch (const NoThread& none) {
    return fail(Code::kUnavailable, path + ": " + none.what());
  }
}

BlockFileWriter::BlockFileWriter(std::string path, Descriptor file)
    : path_(std::move(path)), file_(std::move(file)) {
  thread_ = std::make_unique<Thread>(Thread::Options{.name = "disk writer"}, [this] { run(); });
}

BlockFileWriter::~BlockFileWriter() {
  ring_.close();
  thread_.reset();
}

void BlockFileWriter::run() {
  for (auto block = ring_.to_empty(); !block.empty(); block = ring_.to_empty()) {
    write_block(block);
    if (!written_) return ring_.close();
    ring_.emptied();
  }
}

// The last block is written up to a whole page, including the bytes behind it in the ring; the file
// is truncated later.
void BlockFileWriter::write_block(std::span<const std::byte> block) {
  const std::span<const std::byte> pages(block.data(), whole_pages(block.size()));
  if (!write_all_at(file_.number(), pages, offset_)) written_ = file_error(path_, "be written");
  offset_ += pages.size();
}

Result<std::span<std::byte>> BlockFileWriter::room() {
  if (block_.empty()) {
    block_ = ring_.to_fill();
    if (block_.empty()) return tl::unexpected<Error>(written_.error());
  }
  return block_.subspan(used_);
}

void BlockFileWriter::wrote(std::size_t bytes) {
  used_ += bytes;
  bytes_ += bytes;
  if (used_ < block_.size()) return;
  digest_.add(block_.data(), used_);
  ring_.filled(used_);
  block_ = {};
  used_ = 0;
}

Status BlockFileWriter::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    auto to = room();
    if (!to) return pass(to);
    const std::size_t part = std::min(to->size(), bytes.size());
    std::memcpy(to->data(), bytes.data(), part);
    wrote(part);
    bytes = bytes.subspan(part);
  }
  return {};
}

Result<FileDigest> BlockFileWriter::finish() {
  if (used_ > 0) {
    digest_.add(block_.data(), used_);
    std::memset(block_.data() + used_, 0, whole_pages(used_) - used_);
    ring_.filled(used_);
  }
  ring_.end();
  thread_.reset();
  if (!written_) return tl::unexpected<Error>(written_.error());
  if (::ftruncate(file_.number(), static_cast<off_t>(bytes_)) != 0)
    return file_error(path_, "be cut");
  if (::fsync(file_.number()) != 0) return file_error(path_, "be synced");
  return FileDigest{bytes_, digest_.finish()};
}

Result<std::unique_ptr<BlockFileReader>> BlockFileReader::open(const std::string& path) {
  Descriptor file = open_direct(path, O_RDONLY);
  if (!file) return reading_error(path, "be opened");
  try {
    return std::unique_ptr<BlockFileReader>(new BlockFileReader(path, std::move(file)));
  } catch (const NoThread& none) {
    return fail(Code::kUnavailable, path + ": " + none.what());
  }
}

BlockFileReader::BlockFileReader(std::string path, Descriptor file)
    : path_(std::move(path)), file_(std::move(file)) {
  thread_ = std::make_unique<Thread>(Thread::Options{.name = "disk reader"}, [this] { run(); });
}

BlockFileReader::~BlockFileReader() {
  ring_.close();
  thread_.reset();
}

void BlockFileReader::run() {
  std::uint64_t offset = 0;
  for (auto block = ring_.to_fill(); !block.empty(); block = ring_.to_fill()) {
    const ssize_t got =
        ::pread(file_.number(), block.data(), block.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) read_ = reading_error(path_, "be read");
    if (got <= 0) return ring_.end();
    offset += static_cast<std::uint64_t>(got);
    ring_.filled(static_cast<std::size_t>(got));
    // After a partial page only the end can follow, and a read at an unaligned offset may fail.
    if (static_cast<std::size_t>(got) % kDirectPage != 0) return ring_.end();
  }
}

/// Returns false at the end.
Result<bool> BlockFileReader::next_block() {
  if (has_block_) ring_.emptied();
  block_ = ring_.to_empty();
  has_block_ = !block_.empty();
  if (!has_block_ && !read_) return tl::unexpected<Error>(read_.error());
  digest_.add(block_.data(), block_.size());
  return has_block_;
}

/// Calls `take` with the next bytes, part after part.
template <class Take>
Status BlockFileReader::advance(std::uint64_t bytes, const Take& take) {
  while (bytes > 0) {
    if (block_.empty()) {
      auto more = next_block();
      if (!more) return pass(more);
      if (!*more) return fail(Code::kCorrupt, path_ + ": ends before its values do");
    }
    const auto part = block_.first(std::min<std::uint64_t>(bytes, block_.size()));
    take(part);
    block_ = block_.subspan(part.size());
    position_ += part.size();
    bytes -= part.size();
  }
  return {};
}

Status BlockFileReader::read(std::span<std::byte> to) {
  return advance(to.size(), [&](std::span<const std::byte> part) {
    std::memcpy(to.data(), part.data(), part.size());
    to = to.subspan(part.size());
  });
}

Status BlockFileReader::skip_to(std::uint64_t position) {
  return advance(position - position_, [](std::span<const std::byte>) {});
}

Result<FileDigest> BlockFileReader::finish() {
  bool more = true;
  while (more) {
    position_ += block_.size();
    auto next = next_block();
    if (!next) return pass(next);
    more = *next;
  }
  return FileDigest{position_, digest_.finish()};
}

}  // namespace forebay

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "actors/format/format.h"
#include "actors/format/raw_split.h"
#include "actors/input/file_system.h"
#include "actors/source/dataset.h"
#include "actors/source/index/file_index.h"
#include "actors/source/stored/byte_stream.h"
#include "core/base/result.h"

namespace forebay {

/// Reads byte ranges of one file's decompressed content. Belongs to one load actor and has its own
/// descriptor and inflate state; not thread-safe.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// Fills `out` from `offset`. Errors are kCorrupt or kUnavailable and name the file and offset. A
  /// file whose stamp differs from the indexed one is kCorrupt, and the message says so.
  virtual Status read(std::uint64_t offset, std::span<char> out) = 0;
  /// Returns the path of the file it reads: the dataset's file or a decompressed copy.
  virtual const std::string& path() const = 0;
  /// Begins to fill `out`, if the bytes are in a store; else returns null. Like
  /// BlockSource::begin().
  virtual std::unique_ptr<PendingRead> begin(std::uint64_t /*offset*/, std::span<char> /*out*/) {
    return nullptr;
  }
  /// Like BlockSource::prepare().
  virtual void prepare(std::span<const BlockRef> blocks) { static_cast<void>(blocks); }
};

/// Reads a plain file at any offset. While reads have to wait, prepare() passes the next blocks to
/// InputFile::will_read().
class PlainSource final : public ByteSource {
 public:
  PlainSource(std::unique_ptr<const InputFile> file, FileStamp indexed)
      : file_(std::move(file)), indexed_(indexed) {}

  Status read(std::uint64_t offset, std::span<char> out) override;
  const std::string& path() const override { return file_->path(); }
  std::unique_ptr<PendingRead> begin(std::uint64_t offset, std::span<char> out) override;
  void prepare(std::span<const BlockRef> blocks) override;

 private:
  std::unique_ptr<const InputFile> file_;
  FileStamp indexed_;
  int cold_reads_ = 1;  // number of coming reads that are assumed to wait
};

/// Reads a compressed file at any offset: decodes from the last restart point before the offset, or
/// continues from the end of the last read when that is nearer.
///
/// Keeps the decoder between reads only with Reads::kInOrder: a decoder takes up to 8 MiB, and
/// there is one source per file.
class RestartSource final : public ByteSource {
 public:
  enum class Reads : std::uint8_t { kInOrder, kAnywhere };

  /// `index` must outlive the source.
  RestartSource(std::unique_ptr<const InputFile> file, std::unique_ptr<const InputFile> index_file,
                const FileIndex& index, Reads reads)
      : file_(std::move(file)), index_file_(std::move(index_file)), index_(index), reads_(reads) {}

  Status read(std::uint64_t offset, std::span<char> out) override;
  const std::string& path() const override { return file_->path(); }

 private:
  const RestartPoint& point_before(std::uint64_t offset) const;
  Status go_to(std::uint64_t offset);
  Status fill(std::span<char> out);

  std::unique_ptr<const InputFile> file_;
  std::unique_ptr<const InputFile> index_file_;
  const FileIndex& index_;
  Reads reads_;
  std::unique_ptr<ByteStream> stream_;
  std::uint64_t position_ = 0;  // of stream_, in the decompressed content
};

/// Loads the blocks of a text file and compares their CRC-32C with the index, while the bytes are
/// in the cache: a disk or a copying program may change the bytes and keep size and time.
///
/// The error for other bytes (kCorrupt) names the file, the block's rows and bytes, and the first
/// row in it that cannot be read now, if there is one; the original content of the rows is not
/// known.
class TextBlocks final : public BlockSource {
 public:
  /// `dataset` must outlive the source.
  TextBlocks(const Dataset& dataset, std::unique_ptr<ByteSource> content)
      : dataset_(dataset), content_(std::move(content)) {}

  Result<std::size_t> load(const BlockRef& block, std::span<char> out) override;
  std::unique_ptr<PendingBlock> begin(const BlockRef& block, std::span<char> out) override;
  void prepare(std::span<const BlockRef> blocks) override { content_->prepare(blocks); }

 private:
  class Pending;

  Error changed(const BlockRef& block, std::span<const char> bytes) const;

  const Dataset& dataset_;
  std::unique_ptr<ByteSource> content_;
};

}  // namespace forebay

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "actors/input/file_system.h"
#include "actors/source/byte_source.h"
#include "core/base/result.h"

namespace forebay {

/// Reads a plain file at any offset. While reads have to wait, prepare() passes the next blocks to
/// InputFile::will_read().
class PlainSource final : public ByteSource {
 public:
  PlainSource(std::unique_ptr<const InputFile> file, FileStamp indexed)
      : file_(std::move(file)), indexed_(indexed) {}

  Status read(std::uint64_t offset, std::span<char> out) override;
  const std::string& path() const override { return file_->path(); }
  void prepare(std::span<const BlockRef> blocks) override;

 private:
  std::unique_ptr<const InputFile> file_;
  FileStamp indexed_;
  int cold_reads_ = 1;  // number of coming reads that are assumed to wait
};

}  // namespace forebay

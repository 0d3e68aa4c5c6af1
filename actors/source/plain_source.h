#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include "actors/source/block_source.h"
#include "actors/source/input_file.h"
#include "core/base/result.h"

namespace forebay {

/// Reads a plain file at any offset. While what it reads is not in the page cache it asks the
/// kernel to read ahead the blocks it is told of.
class PlainSource final : public BlockSource {
 public:
  PlainSource(InputFile file, FileStamp indexed) : file_(std::move(file)), indexed_(indexed) {}

  Status read(std::uint64_t offset, std::span<char> out) override;
  const std::string& path() const override { return file_.path(); }
  void prepare(std::span<const BlockRef> blocks) override;

 private:
  InputFile file_;
  FileStamp indexed_;
  int cold_reads_ = 1;  // how many of the next reads are taken to wait for the disk
};

}  // namespace forebay

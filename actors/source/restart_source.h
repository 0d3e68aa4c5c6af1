#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "actors/input/file_system.h"
#include "actors/source/byte_source.h"
#include "actors/source/index/file_index.h"
#include "actors/source/stored/byte_stream.h"
#include "core/base/result.h"

namespace forebay {

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

}  // namespace forebay

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "actors/input/file_system.h"

namespace forebay {

/// Several files that are read as one: the bytes of each part follow those of the part before. A
/// dataset whose rows lie in files beside each other lists each group of them as one such file.
class JoinedFile final : public InputFile {
 public:
  /// Joins at least one part. `named` gives the path, name and key of the whole; its stamp is
  /// replaced by one of all parts.
  JoinedFile(FileInfo named, std::vector<std::unique_ptr<const InputFile>> parts);

  std::size_t num_parts() const { return parts_.size(); }
  const InputFile& part(std::size_t i) const { return *parts_[i]; }
  /// Returns the offset of the part's first byte.
  std::uint64_t start(std::size_t i) const { return starts_[i]; }

  /// Checks each part against its stamp of when it was opened; the error names the part.
  Status check(const FileStamp& indexed) const override;
  Result<std::size_t> read_at(std::uint64_t offset, std::span<char> out) const override;
  bool is_remote() const override { return parts_.front()->is_remote(); }
  /// Begins one read for each part that has some of the bytes.
  std::unique_ptr<PendingRead> begin_read(std::vector<ReadRange> ranges) const override;
  void will_read(std::uint64_t offset, std::uint64_t bytes) const override;
  void will_read_through() const override;

 private:
  std::size_t part_of(std::uint64_t offset) const;

  const std::vector<std::unique_ptr<const InputFile>> parts_;
  std::vector<std::uint64_t> starts_;  // of the parts
};

}  // namespace forebay

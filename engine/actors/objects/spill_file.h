#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "core/base/descriptor.h"
#include "core/base/result.h"

namespace forebay {

/// Bytes on a disk that belong to this process: a file without a name, which goes with the process,
/// however that ends.
///
/// Created at the first write. Space that is freed goes back to the disk. Belongs to one thread.
class SpillFile {
 public:
  /// `folder`: "" is the one for temporary files. Takes at most `limit` bytes.
  SpillFile(std::string folder, std::uint64_t limit) : folder_(std::move(folder)), limit_(limit) {}

  /// Returns where the bytes are. kOverloaded: the limit is reached or the disk is full;
  /// kUnavailable: the disk refuses them.
  Result<std::uint64_t> write(std::span<const std::byte> bytes);
  Status read(std::uint64_t offset, std::span<std::byte> into) const;
  void free(std::uint64_t offset, std::uint64_t size);

  std::uint64_t used() const { return used_; }
  std::uint64_t limit() const { return limit_; }

 private:
  Status open();

  const std::string folder_;
  const std::uint64_t limit_;
  std::uint64_t used_ = 0;
  std::uint64_t end_ = 0;  // where the next bytes go; freed space is not used again
  Descriptor file_;
};

}  // namespace forebay

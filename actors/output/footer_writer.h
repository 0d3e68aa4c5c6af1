#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "actors/format/parquet/thrift_structs.h"
#include "actors/output/chunk_encoder.h"

namespace forebay::parquet {

/// The first bytes of a file; its last bytes are the same.
inline constexpr std::string_view kMagic = "PAR1";

/// Collects the row groups of a file and writes what follows them: the offset indexes and the
/// footer. A value.
class FooterWriter {
 public:
  explicit FooterWriter(const std::vector<OutputColumn>& columns);

  /// Adds the next row group, whose bytes begin at `offset` of the file.
  void add(EncodedGroup group, std::uint64_t offset);

  /// Returns the rest of a file that has `offset` bytes so far.
  std::string finish(std::uint64_t offset);

 private:
  FileMetaData file_;
  std::vector<PageLocation> pages_;  // one a chunk, in the order of the file
};

}  // namespace forebay::parquet

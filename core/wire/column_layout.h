#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "core/base/result.h"
#include "core/data/narrow_ids.h"
#include "core/wire/compression.h"

namespace forebay {

/// How one sparse feature stands in the data.
struct IdsLayout {
  std::uint64_t count = 0;        ///< Of all rows.
  IdWidth width = IdWidth::k8;    ///< Bytes an id.
  std::uint32_t each = 1;         ///< Ids in every row, where no lengths are sent.
  std::uint8_t length_bytes = 0;  ///< Bytes a length: 1, 2 or 4; 0: none are sent.
  static auto fields(auto& self) {
    return std::tie(self.count, self.width, self.each, self.length_bytes);
  }
};

/// The first frame of packed columns: what stands in the second. Fields are append-only.
struct ColumnLayout {
  static constexpr std::uint32_t kVersion = 1;
  /// Where each column begins is a multiple of this; the bytes before it are 0.
  static constexpr std::size_t kAlignment = 8;
  /// Rows, and ids of a feature, are at most this many: offsets have 32 bits.
  static constexpr std::uint64_t kMost = 0x7fffffff;

  std::uint32_t version = kVersion;
  std::uint64_t rows = 0;
  std::uint32_t dense = 0;  ///< Features.
  std::vector<IdsLayout> sparse;
  Compression compression = Compression::kNone;
  std::optional<std::uint64_t> checksum;  ///< Lower half of XXH3-128 of the second frame as sent.
  std::vector<std::byte> extra;

  static std::uint64_t checksum_of(std::span<const std::byte> data);

  static auto fields(auto& self) {
    return std::tie(self.version, self.rows, self.dense, self.sparse, self.compression,
                    self.checksum, self.extra);
  }
};

/// Where the columns begin in the data, which follows from the layout.
struct ColumnLocations {
  struct Ids {
    std::size_t lengths = 0;
    std::size_t values = 0;
  };
  std::size_t labels = 0;
  std::vector<std::size_t> dense;
  std::vector<Ids> sparse;
  std::size_t bytes = 0;  ///< Of all.

  /// Of a layout that `check` found to be sound, or that we made.
  static ColumnLocations of(const ColumnLayout& layout);
};

/// Whether the numbers of a layout from outside fit each other; kCorrupt says which do not.
Status check(const ColumnLayout& layout);

}  // namespace forebay

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "core/base/result.h"
#include "core/data/column_set.h"
#include "core/wire/compression.h"

namespace forebay {

/// How one sparse feature is stored in the data.
struct IdsLayout {
  std::uint64_t count = 0;        ///< Ids in all rows.
  IdWidth width = IdWidth::k8;    ///< Bytes of an id.
  std::uint32_t each = 1;         ///< Ids in every row, when no lengths are sent.
  std::uint8_t length_bytes = 0;  ///< Bytes of a length: 1, 2 or 4; 0: no lengths are sent.
  static auto fields(auto& self) {
    return std::tie(self.count, self.width, self.each, self.length_bytes);
  }
};

/// The first frame of packed columns, which describes the second frame. Fields are append-only.
struct ColumnLayout {
  static constexpr std::uint32_t kVersion = 1;
  /// Each column begins at a multiple of this; the padding before it is 0.
  static constexpr std::size_t kAlignment = 8;
  /// The maximum number of rows, and of ids of a feature: offsets have 32 bits.
  static constexpr std::uint64_t kMost = 0x7fffffff;

  std::uint32_t version = kVersion;
  std::uint64_t rows = 0;
  std::uint32_t dense = 0;  ///< Number of features.
  std::vector<IdsLayout> sparse;
  Compression compression = Compression::kNone;
  std::optional<std::uint64_t> checksum;  ///< Lower half of XXH3-128 of the second frame as sent.
  std::vector<std::byte> extra;
  bool weights = false;
  std::uint32_t extras = 0;  ///< Number of extra columns.
  /// Number of groups of repeated columns: each has a column of indices here, and its rows in two
  /// frames behind these.
  std::uint32_t groups = 0;
  bool labels = true;  ///< False for the rows of a group.

  static std::uint64_t checksum_of(std::span<const std::byte> data);

  static auto fields(auto& self) {
    return std::tie(self.version, self.rows, self.dense, self.sparse, self.compression,
                    self.checksum, self.extra, self.weights, self.extras, self.groups, self.labels);
  }
};

/// The offsets of the columns in the data; they follow from the layout.
struct ColumnLocations {
  struct Ids {
    std::size_t lengths = 0;
    std::size_t values = 0;
  };
  std::size_t labels = 0;
  std::vector<std::size_t> dense;
  std::vector<Ids> sparse;
  std::size_t weights = 0;
  std::vector<std::size_t> extras;
  std::vector<std::size_t> groups;
  std::size_t bytes = 0;  ///< In total.

  /// `layout` must have passed `check`, or come from this process.
  static ColumnLocations of(const ColumnLayout& layout);
};

/// Checks that the numbers of a received layout are consistent; kCorrupt names the first that is
/// not.
Status check(const ColumnLayout& layout);

}  // namespace forebay

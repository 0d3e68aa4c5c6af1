#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "actors/format/format.h"
#include "actors/format/npy/arrays.h"
#include "actors/format/npy/trio_files.h"
#include "core/data/digest.h"

namespace forebay::npy {

/// One column of a trio: `items` neighbouring columns of one of its arrays.
struct TrioColumn {
  std::size_t array = 0;
  std::uint32_t first = 0;
  std::uint32_t items = 1;
};

/// The headers of a trio's files. All arrays have equally many rows.
struct Trio {
  std::string path;           ///< Of its sparse file.
  std::vector<Array> arrays;  ///< Labels, dense, sparse; `values` counts in the JoinedFile.
  std::uint64_t rows = 0;
  std::uint32_t dense = 0;   ///< Number of columns I1….
  std::uint32_t sparse = 0;  ///< Number of columns C1….
  bool multi_hot = false;    ///< An array each sparse column, in the order of arrays.
  Digest digest;             ///< Of all headers and sizes.

  /// Returns `label`, I1… and C1….
  std::vector<std::string> names() const;
  /// Returns the column of this number in names(), if there is one.
  std::optional<TrioColumn> column(std::size_t number) const;
  const ElementType& type(const TrioColumn& of) const { return arrays[of.array].header.type; }
};

/// Reads the headers of a trio, given as its JoinedFile. kInvalid: arrays of other shapes or of
/// unequal lengths; kCorrupt: damage. Messages begin with the path of the file in question.
Result<Trio> read_trio(const InputFile& file);

}  // namespace forebay::npy

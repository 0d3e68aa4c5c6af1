#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/data/batch.h"
#include "core/data/schema.h"

namespace forebay::npy {

/// Bytes of every header that header() returns.
inline constexpr std::size_t kHeaderBytes = 128;

/// Returns the header of a matrix of `rows` by `columns` in C order as numpy.save writes it: NPY
/// version 1, `type` such as "<f4".
std::string header(const std::string& type, std::uint64_t rows, std::uint64_t columns);

/// The rows of a batch as they lie in two of the three files of MLPerf's and TorchRec's layout.
struct Rows {
  std::string labels;  ///< int32 [rows, 1]
  std::string sparse;  ///< int32 [rows, sparse]; wider ids wrap around, a row without an id has 0.
};

/// The rows lie in the memory of `used`, as far as that suffices. kInvalid names the column of
/// which a row has more than one id, and what to do.
Result<Rows> encode(const Batch& batch, const Schema& schema, Rows used = {});

/// Returns the rows in the third file, float32 [rows, dense]: a view into the batch.
std::string_view dense_bytes(const Batch& batch);

}  // namespace forebay::npy

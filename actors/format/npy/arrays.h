#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "actors/format/npy/npy_header.h"
#include "actors/input/file_system.h"
#include "core/base/result.h"

namespace forebay::npy {

/// An array in a `.npy` or `.npz` file. Its values lie in the file: all numbers are checked.
struct Array {
  std::string key;  ///< Of a `.npz`: its name without `.npy`; of a `.npy`: "".
  ArrayHeader header;
  std::uint64_t values = 0;  ///< The offset of its first value.
};

/// Whether a file that begins with these bytes (4 are enough) is a zip archive, as `.npz` is.
bool is_zip(std::string_view start);

/// Whether a file that begins with these bytes (6 are enough) is a `.npy`.
bool is_npy(std::string_view start);

/// Reads the headers of all arrays of a file: one of a `.npy`, in a few reads all of a `.npz`, in
/// the order of its directory. kCorrupt for damage, kInvalid for unsupported arrays; messages begin
/// with the path and name the array.
Result<std::vector<Array>> read_arrays(const InputFile& file);

}  // namespace forebay::npy

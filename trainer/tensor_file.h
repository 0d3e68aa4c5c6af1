#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"
#include "trainer/durable_file.h"
#include "trainer/model.h"

namespace forebay {

/// Tensors in the safetensors format, which other tools read: eight bytes with the length of a
/// JSON header (little-endian), the header ({"name": {"dtype": "F32", "shape": […],
/// "data_offsets": [begin, end]}, …}), then the values. Written and read in place, tensor by
/// tensor; takes no further memory.

/// Writes `tensors` to a new file and syncs it.
Result<DurableFile::Written> write_tensors(const std::string& path,
                                           const std::vector<StateTensor>& tensors);

/// Fills `tensors` from a file that `write_tensors` wrote with the same names and shapes; refuses
/// one with others, before it changes any value.
Status read_tensors(const std::string& path, const std::vector<StateTensor>& tensors);

}  // namespace forebay

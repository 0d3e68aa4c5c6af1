#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "trainer/saving/block_file.h"
#include "trainer/saving/durable_file.h"
#include "trainer/state/snapshot.h"

namespace forebay {

/// Tensors in the safetensors format, which other tools read: eight bytes with the length of a
/// JSON header (little-endian), the header ({"name": {"dtype": "F32", "shape": […],
/// "data_offsets": [begin, end]}, …}), then the values, tensor by tensor.

/// Creates a file of tensors and writes its header; the caller writes the values, from the first
/// tensor's first byte to the last tensor's last.
Result<std::unique_ptr<BlockFileWriter>> create_tensor_file(
    const std::string& path, const std::vector<StateTensor>& tensors);

/// Reads a file of tensors from its begin to its end.
class TensorFile {
 public:
  /// Returns an error for an invalid header, or one that does not fit the file's size. The tensors
  /// get `part`, and are ordered by the location of their values.
  static Result<TensorFile> open(const std::string& path, StateTensor::Part part);

  const std::string& path() const { return path_; }
  const std::vector<StateTensor>& tensors() const { return tensors_; }
  /// Reads in ascending order of (index, offset); starts again from the begin after finish() and
  /// rewind().
  Status read(std::size_t index, std::uint64_t offset, std::span<std::byte> to);

  /// Reads the rest; returns the file's size and digest, and closes the file.
  Result<FileDigest> finish();
  void rewind() { file_.reset(); }

 private:
  explicit TensorFile(std::string path) : path_(std::move(path)) {}
  Status read_header(StateTensor::Part part);
  Status damaged() const {
    return fail(Code::kCorrupt, path_ + ": is no safetensors file, or a damaged one");
  }
  /// Opens the file for reading, unless it is open.
  Status start();

  std::string path_;
  std::unique_ptr<BlockFileReader> file_;  // from the first read on
  std::vector<StateTensor> tensors_;
  std::vector<std::uint64_t> begins_;  // in the file
};

}  // namespace forebay

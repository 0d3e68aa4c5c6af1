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

/// Writes a new file of tensors, from the first tensor's first byte to the last tensor's last.
class TensorFileWriter {
 public:
  static Result<TensorFileWriter> create(const std::string& path,
                                         const std::vector<StateTensor>& tensors);

  /// Memory for the next values, at least a byte; wrote() says how many bytes were filled.
  Result<std::span<std::byte>> room() { return file_->room(); }
  void wrote(std::size_t bytes) { file_->wrote(bytes); }

  /// Returns after the file has reached the disk.
  Result<DurableFile::Written> finish() { return file_->finish(); }

 private:
  explicit TensorFileWriter(std::unique_ptr<BlockFileWriter> file) : file_(std::move(file)) {}

  std::unique_ptr<BlockFileWriter> file_;
};

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
  Result<DurableFile::Written> finish();
  void rewind() { file_.reset(); }

 private:
  explicit TensorFile(std::string path) : path_(std::move(path)) {}
  Status read_header(StateTensor::Part part);
  Status damaged() const;
  Status start();

  std::string path_;
  std::unique_ptr<BlockFileReader> file_;  // from the first read on
  std::vector<StateTensor> tensors_;
  std::vector<std::uint64_t> begins_;  // in the file
};

}  // namespace forebay

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "trainer/durable_file.h"
#include "trainer/saving/block_file.h"
#include "trainer/snapshot.h"

namespace forebay {

/// Tensors in the safetensors format, which other tools read: eight bytes with the length of a
/// JSON header (little-endian), the header ({"name": {"dtype": "F32", "shape": […],
/// "data_offsets": [begin, end]}, …}), then the values, tensor by tensor.

/// Writes a new file of tensors, from the first's first byte to the last's last.
class TensorFileWriter {
 public:
  static Result<TensorFileWriter> create(const std::string& path,
                                         const std::vector<StateTensor>& tensors);

  /// Where the next values go, at least a byte; wrote() says how many were put there.
  Result<std::span<std::byte>> room() { return file_->room(); }
  void wrote(std::size_t bytes) { file_->wrote(bytes); }

  /// Reaches the disk before it returns.
  Result<DurableFile::Written> finish() { return file_->finish(); }

 private:
  explicit TensorFileWriter(std::unique_ptr<BlockFileWriter> file) : file_(std::move(file)) {}

  std::unique_ptr<BlockFileWriter> file_;
};

/// A file of tensors that is read from its beginning to its end.
class TensorFile {
 public:
  /// Refuses a header that is no such, or that does not fit the file's size. The tensors get
  /// `part`, and stand in the order of their values.
  static Result<TensorFile> open(const std::string& path, StateTensor::Part part);

  const std::string& path() const { return path_; }
  const std::vector<StateTensor>& tensors() const { return tensors_; }
  /// In ascending order of (index, offset), from the beginning again after finish() and rewind().
  Status read(std::size_t index, std::uint64_t offset, std::span<std::byte> to);

  /// Reads what is left: how many bytes the file has, and their digest. It is closed then.
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

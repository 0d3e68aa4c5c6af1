#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "trainer/saving/manifest.h"
#include "trainer/saving/tensor_file.h"
#include "trainer/state/snapshot.h"

namespace forebay {

/// Checks that each file in the manifest exists and has its size; the error names the first that
/// does not.
Status check_sizes(const std::string& folder, const Manifest& manifest);

/// Reads a file of `folder` and checks its bytes against the manifest.
Status check_digest(const std::string& folder, const std::string& name, const Manifest::File& file);

/// The state in a checkpoint's folder. Checks data as it is read; only finish() confirms that all
/// of it was intact.
class FolderSource final : public StateSource {
 public:
  static Result<FolderSource> open(const std::string& folder, Manifest manifest);

  const std::vector<StateTensor>& tensors() const override { return tensors_; }
  Status read(std::size_t index, std::uint64_t offset, std::span<std::byte> to) override;
  /// Checks the files' bytes first.
  Result<std::string> files_folder() override;

  /// Ends reading; returns kCorrupt, with the name of the file, if its bytes have changed.
  Status finish();

 private:
  FolderSource(std::string folder, Manifest manifest, std::vector<TensorFile> files);
  Status turn_to(std::size_t file);
  Status finish_file(std::size_t file);

  std::string folder_;
  Manifest manifest_;
  std::vector<TensorFile> files_;
  std::vector<bool> finished_;          // files whose bytes were checked
  std::optional<std::size_t> current_;  // the file that is being read
  std::vector<StateTensor> tensors_;
  std::vector<std::pair<std::size_t, std::size_t>> places_;  // file, index of the tensor in it
};

}  // namespace forebay

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "trainer/saving/checkpoint.h"
#include "trainer/saving/tensor_file.h"
#include "trainer/state/snapshot.h"

namespace forebay {

/// Receives the number of bytes of tensors written, every few megabytes; returns false to cancel.
using GoOn = std::function<bool(std::uint64_t)>;

/// Writes a checkpoint into `folder`, which must exist and be empty:
///
///   model.safetensors, optimizer.safetensors, tables.safetensors   the tensors of each part
///   tables/…                                                       the state's links
///   …                                                              `texts`, by their names
///   manifest.json                                                  what all of those are
///
/// Everything has reached the disk when it returns. Takes BlockRing::kBytes. Leaves its files in
/// place after an error. Returns kTimeout if cancelled. `previous` is the previous checkpoint's:
/// links that both share need not be read again.
Result<Manifest> write_folder(const std::string& folder, StateSource& state,
                              const std::map<std::string, std::string>& texts,
                              const Manifest& previous = {}, const GoOn& go_on = {});

/// The file of the tensors of a part.
std::string tensor_file_of(StateTensor::Part part);
/// The folder of links in a checkpoint's folder, and whether a file, named relative to the
/// checkpoint's folder, is one of them.
inline constexpr const char* kLinkFolder = "tables";
bool is_link(const std::string& name);
inline constexpr const char* kManifestFile = "manifest.json";

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

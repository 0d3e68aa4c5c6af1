#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "core/base/result.h"
#include "trainer/saving/manifest.h"
#include "trainer/state/snapshot.h"

namespace forebay {

/// Options for writing a checkpoint's folder.
struct FolderWriting {
  /// The previous checkpoint: links that both share need not be read again.
  Manifest previous = {};
  /// Receives the number of bytes of tensors written, every few megabytes; returns false to cancel.
  std::function<bool(std::uint64_t)> go_on = {};
};

/// Writes a checkpoint into `folder`, which must exist and be empty:
///
///   model.safetensors, optimizer.safetensors, tables.safetensors   the tensors of each part
///   tables/…                                                       the state's links
///   …                                                              `texts`, by their names
///   manifest.json                                                  what all of those are
///
/// Everything has reached the disk when it returns. Takes BlockRing::kBytes. Leaves its files in
/// place after an error. Returns kTimeout if cancelled.
Result<Manifest> write_folder(const std::string& folder, StateSource& state,
                              const std::map<std::string, std::string>& texts,
                              const FolderWriting& writing);

/// The file of the tensors of a part.
std::string tensor_file_of(StateTensor::Part part);
/// The folder of links in a checkpoint's folder, and whether a file, named relative to the
/// checkpoint's folder, is one of them.
inline constexpr const char* kLinkFolder = "tables";
bool is_link(const std::string& name);
inline constexpr const char* kManifestFile = "manifest.json";

}  // namespace forebay

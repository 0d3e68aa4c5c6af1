#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "core/base/result.h"
#include "trainer/saving/manifest.h"
#include "trainer/snapshot.h"

namespace forebay {

/// How a checkpoint's folder is written.
struct FolderWriting {
  /// The one before it: what links it shares with this one need not be read again.
  Manifest previous = {};
  /// Told how many bytes of tensors are written, every few megabytes; false: give up.
  std::function<bool(std::uint64_t)> go_on = {};
};

/// Writes a checkpoint into `folder`, which is there and empty:
///
///   model.safetensors, optimizer.safetensors, tables.safetensors   the tensors of each part
///   tables/…                                                       the state's links
///   …                                                              `texts`, by their names
///   manifest.json                                                  what all of those are
///
/// All of it has reached the disk when it returns. Takes BlockRing::kBytes. Nothing is removed
/// where it fails. Gives up with kTimeout.
Result<Manifest> write_folder(const std::string& folder, StateSource& state,
                              const std::map<std::string, std::string>& texts,
                              const FolderWriting& writing);

/// The file of the tensors of a part.
std::string tensor_file_of(StateTensor::Part part);
/// The folder below a checkpoint's that links are in, and whether a file of it, by its name there,
/// is one of them.
inline constexpr const char* kLinkFolder = "tables";
bool is_link(const std::string& name);
inline constexpr const char* kManifestFile = "manifest.json";

}  // namespace forebay

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>

#include "actors/format/format.h"
#include "actors/input/file_system.h"
#include "actors/source/index/file_index.h"
#include "core/base/result.h"
#include "core/runtime/synchronized.h"

namespace forebay {

/// The most units of one file; the limit bounds the memory of an index.
inline constexpr std::size_t kMostUnits = std::size_t{1} << 20;

/// Makes the index of a file whose format has units of its own, from its metadata. kCorrupt, naming
/// the file, for units whose numbers cannot be right. Leaves path, settings and agreement unset.
Result<FileIndex> index_units(const InputFile& file, const UnitFormat& format);
/// The same, from metadata that were read.
Result<FileIndex> index_units(const InputFile& file, const UnitFile& metadata);

/// The metadata of a dataset's files that were read, so that the load actors of a run read those of
/// most files once. Any thread.
class UnitFiles {
 public:
  /// Units of all files whose metadata are kept: some MiB.
  static constexpr std::size_t kMostKept = std::size_t{1} << 13;

  /// Returns the metadata of file number `number`. kCorrupt when they are not those of `index`.
  Result<std::shared_ptr<const UnitFile>> open(std::uint32_t number, const InputFile& file,
                                               const UnitFormat& format,
                                               const FileIndex& index) const;
  /// Keeps the metadata of file number `number`, which has so many units, if they fit.
  void keep(std::uint32_t number, std::shared_ptr<const UnitFile> metadata,
            std::size_t units) const;

 private:
  const Synchronized<> serial_{};
  mutable std::map<std::uint32_t, std::shared_ptr<const UnitFile>> kept_;  // under serial_
  mutable std::size_t units_ = 0;                                          // of those; the same
};

/// Returns what loads the units of a file. kCorrupt for a unit that is not as in the index.
std::unique_ptr<BlockSource> load_units(std::unique_ptr<const InputFile> file,
                                        std::shared_ptr<const UnitFile> units,
                                        const FileStamp& indexed);

}  // namespace forebay

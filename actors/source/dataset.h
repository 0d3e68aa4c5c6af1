#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "actors/format/format.h"
#include "actors/format/formats.h"
#include "actors/input/file_system.h"
#include "actors/pipeline_spec.h"
#include "core/base/result.h"
#include "core/data/digest.h"

namespace forebay {

/// How open_dataset() opens a dataset, and where it keeps the index.
struct DatasetOptions {
  std::string base_dir;  ///< Folder that relative paths start from.
  std::string
      run_dir;  ///< `.forebay`; the index is cached in `run_dir/index`, spill in `run_dir/spill`.
  std::uint64_t spill_limit = 0;  ///< `run.spill`: bytes of decompressed copies allowed.
  bool random_access = true;      ///< Blocks will be read out of order (any shuffle).
  int threads = 1;                ///< Threads for indexing.
  std::function<void(const std::string& line)> announce;  ///< Shows a line to the user (spill).
  std::function<void(std::uint64_t done, std::uint64_t total)>
      progress;  ///< Bytes read so far; called by any thread.
  std::function<bool()>
      stopped;  ///< Called between pieces; true ends indexing with kUnavailable "stopped".
  std::string index_from = {};  ///< Another run's index folder, for files missing from ours.
  /// Memory that decoders of compressed files may take while whole files are read.
  std::uint64_t unpack_bytes = std::numeric_limits<std::uint64_t>::max();
  FileSystems file_systems = {};  ///< The file systems that hold the dataset's files.
  Formats formats = {};           ///< The formats that `dataset.format` may name.
};

/// One indexed file of a dataset.
struct DatasetFile {
  std::string path;         ///< The path the file was opened with.
  std::string name;         ///< Relative to the dataset's common folder, without `.gz`/`.zst`.
  std::uint64_t bytes = 0;  ///< Decompressed.
  std::uint64_t rows = 0;
  Digest content;  ///< XXH3-128 of the decompressed bytes; for units, UnitFile::content().
};

/// An indexed dataset: its files, cut into blocks of whole rows, and readers for them.
///
/// Immutable; any thread may read it. Block boundaries, the fingerprint and therefore the order
/// depend only on relative names and on the decompressed content, or on the files' sizes and
/// metadata if the format has units of its own; not on paths, mtimes or codecs.
class Dataset {
 public:
  virtual ~Dataset() = default;
  virtual const Format& format() const = 0;
  virtual const std::vector<DatasetFile>& files() const = 0;
  virtual std::size_t num_blocks() const = 0;
  virtual BlockRef block(std::size_t i) const = 0;  ///< In file order, then row order.
  virtual std::uint64_t rows() const = 0;
  /// Returns the bytes of all blocks when they are loaded: of text, its decompressed bytes.
  virtual std::uint64_t bytes() const = 0;
  virtual Digest fingerprint() const = 0;
  /// Whether the blocks are grains: each is read on its own and takes about a MiB, so a split mixes
  /// as many of them as `order.shuffle_memory` holds, and is made in parts (design/grains.md).
  virtual bool in_grains() const { return false; }
  /// Whether files are in a store, so that their blocks should be begun long before they are
  /// loaded.
  virtual bool is_remote() const { return false; }
  /// Returns a reader of file number `file`, for use by one thread.
  virtual Result<std::unique_ptr<BlockSource>> open(std::uint32_t file) const = 0;
};

/// Expands the paths, indexes the files without a valid cached index, and returns the dataset.
/// kInvalid or kNotFound for an error that the user must correct before the job can start (exit 2):
/// a path or glob that matches nothing, an unreadable file, no rows at all, a wrong column.
/// kCorrupt for damaged content (a truncated gzip, a row longer than the limit); kOverloaded when
/// `run.spill` or `unpack_bytes` is too small.
Result<std::unique_ptr<Dataset>> open_dataset(const DatasetSpec& spec, const ColumnSpec& columns,
                                              const DatasetOptions& options);

}  // namespace forebay

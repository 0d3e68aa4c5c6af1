#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "actors/dataset_spec.h"
#include "actors/format/format.h"
#include "actors/format/raw_split.h"
#include "actors/input/file_systems.h"
#include "actors/source/block_source.h"
#include "core/base/result.h"
#include "core/data/digest.h"

namespace forebay {

/// How a dataset is opened and where its index is kept.
struct DatasetOptions {
  std::string base_dir;  ///< What relative paths are relative to.
  std::string
      run_dir;  ///< `.forebay`; the index is cached in `run_dir/index`, spill in `run_dir/spill`.
  std::uint64_t spill_limit = 0;  ///< `run.spill`: bytes that may be written decompressed.
  bool random_access = true;      ///< Blocks will be read out of order (any shuffle).
  int threads = 1;                ///< For indexing.
  std::function<void(const std::string& line)> announce;  ///< Things to tell the user (spill).
  std::function<void(std::uint64_t done, std::uint64_t total)>
      progress;  ///< Bytes read so far; any thread.
  std::function<bool()>
      stopped;  ///< Asked between pieces; true ends indexing with kUnavailable "stopped".
  std::string index_from = {};  ///< Another run's index folder, read where ours has nothing.
  /// Memory that decoders of compressed files may take while whole files are read.
  std::uint64_t unpack_bytes = std::numeric_limits<std::uint64_t>::max();
  FileSystems file_systems = {};  ///< Where the dataset's files are listed and read.
};

/// One file of a dataset, indexed.
struct DatasetFile {
  std::string path;         ///< As opened.
  std::string name;         ///< Relative to the dataset's common folder, `.gz`/`.zst` taken off.
  std::uint64_t bytes = 0;  ///< Decompressed.
  std::uint64_t rows = 0;
  Digest content;  ///< XXH3-128 of the decompressed bytes.
};

/// A dataset, indexed: its files cut into blocks of whole rows, and a way to read them.
///
/// Immutable; any thread may read it. Block boundaries, the fingerprint and so the order depend
/// on the (decompressed) content and relative names alone, never on paths, mtimes or codecs.
class Dataset {
 public:
  virtual ~Dataset() = default;
  virtual const Format& format() const = 0;
  virtual const std::vector<DatasetFile>& files() const = 0;
  virtual std::size_t num_blocks() const = 0;
  virtual BlockRef block(std::size_t i) const = 0;  ///< In file order, then offset order.
  virtual std::uint64_t rows() const = 0;
  virtual std::uint64_t bytes() const = 0;  ///< Decompressed.
  virtual Digest fingerprint() const = 0;
  /// A reader for file number `file`, for one thread.
  virtual Result<std::unique_ptr<BlockSource>> open(std::uint32_t file) const = 0;
};

/// Expands the paths, indexes what the cache does not know, and gives the dataset. kInvalid or
/// kNotFound for what a user has to mend before anything can start (exit 2): a path or glob that
/// matches nothing, an unreadable file, no rows at all, a wrong column; kCorrupt for damaged
/// content (a truncated gzip, a row longer than the limit); kOverloaded when `run.spill` or
/// `unpack_bytes` is too small.
Result<std::unique_ptr<Dataset>> open_dataset(const DatasetSpec& spec, const ColumnSpec& columns,
                                              const DatasetOptions& options);

}  // namespace forebay

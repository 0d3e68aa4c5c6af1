#include "actors/source/indexing.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "actors/source/index/block_builder.h"
#include "actors/source/index/index_cache.h"
#include "actors/source/index/index_pass.h"
#include "actors/source/unit_blocks.h"
#include "core/base/text/counted.h"
#include "core/base/thread/parallel.h"
#include "core/base/thread/shared_count.h"

namespace forebay {
namespace {

// The cache keeps blocks of this slot size, or smaller for small files. A dataset of other files
// may need finer slots than this one; with fine blocks in the cache it rarely reads the file again.
constexpr std::uint64_t kCachedSlot = 4 << 10;

class Indexing {
 public:
  Indexing(std::vector<IndexedFile>& files, const IndexingTask& task)
      : files_(files), task_(task), content_bytes_(plain_bytes(files)) {}

  // Returns the index at `path` if it describes this file's current content and was made with this
  // job's settings.
  std::optional<FileIndex> cached(const IndexedFile& file, const std::string& path) {
    auto index = read_index(path);
    if (!index && index.error().code == Code::kInvalid) ++of_other_version_;
    if (!index && index.error().code == Code::kCorrupt) ++damaged_;
    const bool fits = index && index->path == file.listed.absolute &&
                      index->stamp == file.listed.stamp && index->codec == file.listed.codec &&
                      index->settings == task_.settings;
    if (!fits) return std::nullopt;
    return std::move(*index);
  }

  void take_cached() {
    for (std::size_t i = 0; i < files_.size(); ++i) {
      IndexedFile& file = files_[i];
      auto index = cached(file, file.index_path);
      if (!index && !file.other_index_path.empty()) {
        index = cached(file, file.other_index_path);
        if (index) std::swap(file.index_path, file.other_index_path);
      }
      if (index) {
        file.index = std::move(*index);
        if (file.index.codec != Codec::kPlain) content_bytes_.add(file.index.bytes);
        file.index.coarsen(least_slot());
        if (file.index.agreement != task_.agreement) unchecked_.push_back(i);
      } else {
        missing_.push_back(i);
        unchecked_.push_back(i);
      }
    }
  }

  // Announces that text in stores is read through, which can take long and cost money.
  void announce_remote_text() const {
    if (task_.format.text() == nullptr || !task_.options.announce) return;
    std::uint64_t files = 0;
    std::uint64_t bytes = 0;
    for (const std::size_t i : missing_) {
      if (!files_[i].listed.file_system->is_remote()) continue;
      ++files;
      bytes += files_[i].listed.stamp.bytes;
    }
    if (files == 0) return;
    task_.options.announce("indexing " + format_counted(files, "file") + " in a store: all of " +
                           size_text(bytes) + " are read once; later runs take the index of " +
                           task_.options.run_dir + "/index");
  }

  // Checks all files before the first one is indexed, so that a wrong header shows at once. Only
  // text has heads; metadata are checked when they are read.
  Status check_heads() {
    if (task_.format.text() == nullptr) return {};
    for (const std::size_t i : unchecked_) {
      const ListedFile& listed = files_[i].listed;
      auto head = read_head(listed, task_.head_bytes);
      if (!head) return pass(head);
      if (head->empty()) continue;
      if (auto status = task_.format.text()->accepts(*head); !status) {
        return fail(status.error().code, listed.path + ": " + status.error().message);
      }
    }
    return {};
  }

  bool done() const { return missing_.empty(); }

  Status read_missing() {
    for (const std::size_t i : missing_) stored_bytes_to_read_ += files_[i].listed.stamp.bytes;
    announce_copies();
    std::vector<Status> ends(missing_.size());
    std::vector<const ListedFile*> files;
    for (const std::size_t i : missing_) files.push_back(&files_[i].listed);
    room_ = UnpackRoom::divide(task_.options.unpack_bytes, task_.options.threads, files);
    for_each_in_parallel(missing_.size(), threads(), [&](std::size_t i) {
      if (failures_.get() == 0) ends[i] = read_one(files_[missing_[i]]);
      if (!ends[i]) failures_.add(1);
    });
    return first_failure(ends);
  }

  void find_too_coarse(std::uint64_t slot) {
    missing_.clear();
    for (std::size_t i = 0; i < files_.size(); ++i) {
      if (files_[i].index.slot_bytes <= slot) continue;
      missing_.push_back(i);
      files_[i].index_path =
          index_path(task_.options.run_dir + "/index", files_[i].listed.absolute);
    }
  }

  // Announces unusable indexes in one line; files without an index or with new content do not
  // count.
  void say_what_is_made_anew() const {
    const std::size_t all = of_other_version_ + damaged_;
    if (all == 0 || missing_.empty() || !task_.options.announce) return;
    const char* why = damaged_ == 0            ? "of another version"
                      : of_other_version_ == 0 ? "damaged"
                                               : "of another version or damaged";
    task_.options.announce(task_.options.run_dir +
                           "/index: " + format_counted(all, "index is ", "indexes are ") + why +
                           "; its files are indexed anew");
  }

 private:
  std::uint64_t plain_bytes(const std::vector<IndexedFile>& files) {
    std::uint64_t bytes = 0;
    for (const IndexedFile& file : files) {
      if (file.listed.codec == Codec::kPlain) bytes += file.listed.stamp.bytes;
    }
    return bytes;
  }

  std::uint64_t least_slot() const { return slot_rule::slot_for(content_bytes_.get()); }

  // Reading metadata is mostly waiting for a store.
  int threads() const {
    const bool waits =
        task_.format.units() != nullptr && files_.front().listed.file_system->is_remote();
    return waits ? std::max(room_.streams, kRemoteFilesAtOnce) : room_.streams;
  }

  Status read_one(IndexedFile& file) {
    auto stored = file.listed.open_unchanged();
    if (!stored) return pass(stored);
    auto writer = IndexWriter::create(file.index_path);
    if (!writer) return pass(writer);
    auto index = task_.format.units() != nullptr ? read_metadata(file, **stored)
                                                 : read_text(file, **stored, *writer);
    if (!index) return pass(index);
    const bool known = file.listed.codec == Codec::kPlain || !file.index.path.empty();
    if (!known) content_bytes_.add(index->bytes);
    index->path = file.listed.absolute;
    index->settings = task_.settings;
    index->agreement = task_.agreement;
    index->coarsen(std::min(least_slot(), kCachedSlot));
    if (auto status = writer->finish(*index); !status) return status;
    index->coarsen(least_slot());
    file.index = std::move(*index);
    return {};
  }

  PassWatch watch() {
    const DatasetOptions& options = task_.options;
    return {.stopped =
                [this, &options] {
                  return failures_.get() > 0 || (options.stopped && options.stopped());
                },
            .progress =
                [this, &options](std::uint64_t more) {
                  const std::uint64_t read = stored_bytes_read_.add(more);
                  if (options.progress) options.progress(read, stored_bytes_to_read_);
                },
            .copy = {},
            .room = room_};
  }

  Result<FileIndex> read_text(const IndexedFile& file, const InputFile& stored,
                              IndexWriter& writer) {
    std::optional<SpillCopy> copy = begin_copy(file);
    PassWatch onlookers = watch();
    onlookers.copy = [&copy](std::span<const char> content) {
      if (copy && !copy->write(content)) copy.reset();
    };
    auto index = index_file(stored, file.listed.codec, *task_.format.text(), writer, onlookers);
    if (index && copy && !copy->commit()) copy.reset();
    return index;
  }

  Result<FileIndex> read_metadata(IndexedFile& file, const InputFile& stored) {
    const PassWatch onlookers = watch();
    if (onlookers.stopped()) return tl::unexpected(stopped());
    auto opened = task_.format.units()->open(stored);
    if (!opened) return pass(opened);
    auto index = index_units(stored, **opened);
    if (!index) return index;
    onlookers.progress(stored.size());
    // Those of a local file are read again, so that a change under the same stamp is found.
    if (stored.is_remote() && kept_units_.add(index->units.size()) <= UnitFiles::kMostKept) {
      file.metadata = std::move(*opened);
    }
    return index;
  }

  // Starts a decompressed copy of the file if one is useful. A copy without enough space is
  // abandoned; spill_files() writes it later if it is required.
  std::optional<SpillCopy> begin_copy(const IndexedFile& file) {
    if (task_.spill == nullptr || file.listed.codec == Codec::kPlain) return {};
    const std::string path = task_.spill->path_of(file.listed);
    if (!file.index.path.empty() && SpillFolder::holds(path, file.index.bytes)) return {};
    auto copy = SpillCopy::begin(*task_.spill, path, SpillNeed::kOptional);
    if (!copy) return {};
    return std::move(*copy);
  }

  void announce_copies() const {
    const auto packed = std::count_if(missing_.begin(), missing_.end(), [this](std::size_t i) {
      return files_[i].listed.codec != Codec::kPlain;
    });
    if (task_.spill == nullptr || packed == 0 || !task_.options.announce) return;
    task_.options.announce(
        "writing " + format_counted(static_cast<std::uint64_t>(packed), "compressed file") +
        " decompressed to " + task_.spill->path() +
        " while indexing, to read out of order (run.spill = " + size_text(task_.spill->limit()) +
        ")");
  }

  // Returns the first failure in file order. Prefers real failures to stopped(): a failure stops
  // the reading of all other files.
  Status first_failure(std::vector<Status>& ends) const {
    Status found;
    for (Status& end : ends) {
      if (end) continue;
      if (end.error() != stopped()) return end;
      found = end;
    }
    return found;
  }

  std::vector<IndexedFile>& files_;
  const IndexingTask& task_;
  std::vector<std::size_t> missing_;
  std::size_t of_other_version_ = 0;  // number of cached indexes
  std::size_t damaged_ = 0;
  std::vector<std::size_t> unchecked_;  // files not yet known to fit the format
  SharedCount content_bytes_;           // lower bound of the dataset's decompressed size
  SharedCount stored_bytes_read_;
  SharedCount failures_;
  SharedCount kept_units_;
  std::uint64_t stored_bytes_to_read_ = 0;
  UnpackRoom room_;
};

}  // namespace

Status index_files(std::vector<IndexedFile>& files, const IndexingTask& task) {
  Indexing indexing(files, task);
  indexing.take_cached();
  indexing.say_what_is_made_anew();
  indexing.announce_remote_text();
  if (auto status = indexing.check_heads(); !status) return status;
  do {
    if (auto status = indexing.read_missing(); !status) return status;
    indexing.find_too_coarse(settle_slot(files));
  } while (!indexing.done());
  return {};
}

std::uint64_t settle_slot(std::vector<IndexedFile>& files) {
  std::uint64_t bytes = 0;
  std::uint64_t rows = 0;
  std::uint64_t slot = 0;
  for (const IndexedFile& file : files) {
    bytes += file.index.bytes;
    rows += file.index.rows;
    // A file comes with slots above kBySize only because of its own number of blocks, or because
    // this function gave them to the same files before; every dataset that contains it has slots at
    // least this coarse.
    if (file.index.slot_bytes > slot_rule::kBySize) slot = std::max(slot, file.index.slot_bytes);
  }
  slot = std::max(slot, slot_rule::slot_for(bytes, rows));
  while (true) {
    std::size_t blocks = 0;
    for (IndexedFile& file : files) {
      file.index.coarsen(slot);
      blocks += file.index.blocks.size();
    }
    if (blocks <= slot_rule::kMostBlocks || slot >= slot_rule::kCoarsest) return slot;
    slot *= 2;
  }
}

}  // namespace forebay

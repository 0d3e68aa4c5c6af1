#include "actors/source/spilling.h"

#include <cstddef>
#include <string>

#include "actors/source/index/index_pass.h"
#include "core/base/thread/parallel.h"
#include "core/base/thread/shared_count.h"

namespace forebay {
namespace {

bool is_packed(const IndexedFile& file) { return file.index.codec != Codec::kPlain; }

bool needs_copy(const IndexedFile& file) {
  return is_packed(file) && file.index.longest_span() > kLongestSpan;
}

std::uint64_t bytes_of(const std::vector<IndexedFile*>& files) {
  std::uint64_t bytes = 0;
  for (const IndexedFile* file : files) bytes += file->index.bytes;
  return bytes;
}

// Returns "day_0.tsv.zst", or "day_0.tsv.zst and 3 more".
std::string names_of(const std::vector<IndexedFile*>& files) {
  const std::string& first = files.front()->listed.path;
  if (files.size() == 1) return first;
  return first + " and " + std::to_string(files.size() - 1) + " more";
}

class Spilling {
 public:
  Spilling(std::vector<IndexedFile>& files, SpillFolder& folder, const DatasetOptions& options)
      : files_(files), folder_(folder), options_(options) {}

  void adopt() {
    for (IndexedFile& file : files_) {
      const std::string path = folder_.path_of(file.listed);
      if (is_packed(file) && SpillFolder::holds(path, file.index.bytes)) file.spill_path = path;
    }
  }

  Status copy_required() {
    std::vector<IndexedFile*> required;
    for (IndexedFile& file : files_) {
      if (needs_copy(file) && file.spill_path.empty()) required.push_back(&file);
    }
    if (required.empty()) return {};
    const std::uint64_t bytes = bytes_of(required);
    if (auto status = make_room(bytes, required); !status) return status;
    announce(names_of(required) + (required.size() == 1 ? " has" : " have") +
             " no restart points: writing " + size_text(bytes) + " decompressed to " +
             folder_.path());
    return copy(required, SpillNeed::kRequired);
  }

  Status copy_optional() {
    std::vector<IndexedFile*> optional_files;
    std::vector<IndexedFile*> left;
    std::uint64_t bytes = 0;
    for (IndexedFile& file : files_) {
      if (!is_packed(file) || !file.spill_path.empty()) continue;
      const bool fits = folder_.used() + bytes + file.index.bytes <= folder_.limit();
      (fits ? optional_files : left).push_back(&file);
      if (fits) bytes += file.index.bytes;
    }
    if (!optional_files.empty()) {
      announce("writing " + size_text(bytes) + " decompressed to " + folder_.path() +
               ", to read it out of order: " + names_of(optional_files));
      if (auto status = copy(optional_files, SpillNeed::kOptional); !status) return status;
    }
    for (IndexedFile* file : optional_files) {
      if (file->spill_path.empty()) left.push_back(file);
    }
    if (!left.empty()) {
      announce(names_of(left) + " must be inflated again and again when rows are shuffled: " +
               size_text(bytes_of(left)) + " decompressed find no room beside what run.spill = " +
               size_text(folder_.limit()) + " and the disk hold; unpack or raise it to be faster");
    }
    return {};
  }

 private:
  // Removes optional copies until the required ones fit within the limit. Fails if they still do
  // not.
  Status make_room(std::uint64_t bytes, const std::vector<IndexedFile*>& wanting) {
    for (IndexedFile& file : files_) {
      if (folder_.used() + bytes <= folder_.limit()) break;
      if (file.spill_path.empty() || needs_copy(file)) continue;
      folder_.remove(file.spill_path, file.index.bytes);
      file.spill_path.clear();
    }
    if (folder_.used() + bytes <= folder_.limit()) return check_disk(bytes, wanting);
    return fail(Code::kOverloaded,
                "run.spill = " + size_text(folder_.limit()) + " is too small: " +
                    names_of(wanting) + (wanting.size() == 1 ? " has" : " have") +
                    " no restart points and must be written decompressed; set run.spill to " +
                    size_text(folder_.used() + bytes) + " or more, or pack with pzstd or gzip");
  }

  Status check_disk(std::uint64_t bytes, const std::vector<IndexedFile*>& wanting) const {
    auto status = folder_.check_disk(bytes, SpillNeed::kRequired);
    if (status) return status;
    return fail(Code::kOverloaded, status.error().message + "; " + names_of(wanting) +
                                       " must have " + size_text(bytes) + " there, decompressed");
  }

  Status copy(const std::vector<IndexedFile*>& files, SpillNeed need) {
    SharedCount read;
    std::uint64_t to_read = 0;
    for (const IndexedFile* file : files) to_read += file->listed.stamp.bytes;
    std::vector<Status> ends(files.size());
    std::vector<const ListedFile*> listed;
    listed.reserve(files.size());
    for (const IndexedFile* file : files) listed.push_back(&file->listed);
    room_ = UnpackRoom::divide(options_.unpack_bytes, options_.threads, listed);
    for_each_in_parallel(files.size(), room_.streams, [&](std::size_t i) {
      ends[i] = copy_one(*files[i], need, read, to_read);
    });
    for (Status& end : ends) {
      const bool no_room =
          !end && need == SpillNeed::kOptional && end.error().code == Code::kOverloaded;
      if (!end && !no_room) return end;
    }
    return {};
  }

  Status copy_one(IndexedFile& file, SpillNeed need, SharedCount& read, std::uint64_t to_read) {
    const std::string path = folder_.path_of(file.listed);
    auto stored = file.listed.open_unchanged();
    if (!stored) return pass(stored);
    auto copy = SpillCopy::begin(folder_, path, need);
    if (!copy) return pass(copy);
    const PassWatch watch{.stopped = options_.stopped,
                          .progress =
                              [&](std::uint64_t more) {
                                const std::uint64_t done = read.add(more);
                                if (options_.progress) options_.progress(done, to_read);
                              },
                          .copy = {},
                          .room = room_};
    const auto write = [&copy](std::span<const char> piece) { return copy->write(piece); };
    if (auto status = read_through(**stored, file.listed.codec, nullptr, watch, write); !status) {
      return status;
    }
    if (auto status = copy->commit(); !status) return status;
    file.spill_path = path;
    return {};
  }

  void announce(const std::string& line) const {
    if (options_.announce) options_.announce(line);
  }

  std::vector<IndexedFile>& files_;
  SpillFolder& folder_;
  const DatasetOptions& options_;
  UnpackRoom room_;
};

}  // namespace

Status spill_files(std::vector<IndexedFile>& files, SpillFolder& folder,
                   const DatasetOptions& options) {
  Spilling spilling(files, folder, options);
  spilling.adopt();
  if (auto status = spilling.copy_required(); !status) return status;
  return options.random_access ? spilling.copy_optional() : Status{};
}

}  // namespace forebay

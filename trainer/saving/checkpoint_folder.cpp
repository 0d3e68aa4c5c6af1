#include "trainer/saving/checkpoint_folder.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>

#include "trainer/saving/block_file.h"
#include "trainer/saving/durable_file.h"

namespace forebay {
namespace {

namespace fs = std::filesystem;

Status note(Manifest& manifest, const std::string& name, Result<FileDigest> written) {
  if (!written) return pass(written);
  manifest.files[name] = {.bytes = written->bytes, .digest = written->digest.hex()};
  return {};
}

/// Writes one checkpoint.
class FolderWriter {
 public:
  FolderWriter(const std::string& folder, StateSource& state, const Manifest& previous,
               const GoOn& go_on)
      : folder_(folder), state_(state), previous_(previous), go_on_(go_on) {}

  Status write_tensors() {
    const auto& tensors = state_.tensors();
    if (!std::ranges::is_sorted(tensors, {}, &StateTensor::part)) {
      return fail(Code::kInvalid, "the tensors of the model's state are not in the order of parts");
    }
    for (const StateTensor::Part part : StateTensor::kParts) {
      if (auto written = write_part(part); !written) return written;
    }
    return {};
  }

  Status write_links() {
    const fs::path below = folder_ / kLinkFolder;
    if (auto linked = state_.link_files(below.string()); !linked) return linked;
    std::error_code error;
    if (!fs::exists(below, error)) return {};
    for (const auto& entry : fs::recursive_directory_iterator(below, error)) {
      const std::string path = entry.path().string();
      auto noted = entry.is_directory() ? sync_to_disk(path) : note_link(path);
      if (!noted) return noted;
    }
    if (error) return fail(Code::kUnavailable, below.string() + ": " + error.message());
    return sync_to_disk(below.string());
  }

  Status write_text(const std::string& name, const std::string& text) {
    const fs::path path = folder_ / name;
    std::error_code error;
    fs::create_directories(path.parent_path(), error);
    auto file = BlockFileWriter::create(path.string());
    if (!file) return pass(file);
    if (auto written = (*file)->write(std::as_bytes(std::span(text))); !written) return written;
    if (auto noted = note(manifest_, name, (*file)->finish()); !noted) return noted;
    return sync_to_disk(path.parent_path().string());
  }

  Result<Manifest> finish() {
    const Manifest all = manifest_;
    if (auto written = write_text(kManifestFile, to_json(all)); !written) return pass(written);
    return all;
  }

 private:
  Status write_part(StateTensor::Part part) {
    const auto& tensors = state_.tensors();
    std::vector<StateTensor> own;
    std::ranges::copy_if(tensors, std::back_inserter(own),
                         [&](const StateTensor& tensor) { return tensor.part == part; });
    const std::string name = tensor_file_of(part);
    auto writer = create_tensor_file((folder_ / name).string(), own);
    if (!writer) return pass(writer);
    for (std::size_t index = 0; index < tensors.size(); ++index) {
      if (tensors[index].part != part) continue;
      if (auto written = write_tensor(**writer, index); !written) return written;
    }
    return note(manifest_, name, (*writer)->finish());
  }

  Status write_tensor(BlockFileWriter& writer, std::size_t index) {
    const std::uint64_t bytes = state_.tensors()[index].bytes();
    for (std::uint64_t at = 0; at < bytes;) {
      if (go_on_ && !go_on_(written_)) {
        return fail(Code::kTimeout,
                    folder_.string() + ": given up, as there is no time left for it");
      }
      auto room = writer.room();
      if (!room) return pass(room);
      const auto next = room->first(std::min<std::uint64_t>(room->size(), bytes - at));
      if (auto read = state_.read(index, at, next); !read) return read;
      writer.wrote(next.size());
      at += next.size();
      written_ += next.size();
    }
    return {};
  }

  Status note_link(const std::string& path) {
    struct stat about = {};
    if (::stat(path.c_str(), &about) != 0) {
      return fail(Code::kUnavailable, path + ": cannot be looked at");
    }
    const std::string name = path.substr(folder_.string().size() + 1);
    const auto bytes = static_cast<std::uint64_t>(about.st_size);
    const auto known = previous_.files.find(name);
    if (known != previous_.files.end() && known->second.bytes == bytes &&
        known->second.inode == about.st_ino) {
      manifest_.files[name] = known->second;
      return {};
    }
    if (auto synced = sync_to_disk(path); !synced) return synced;
    auto file = BlockFileReader::open(path);
    if (!file) return pass(file);
    if (auto noted = note(manifest_, name, (*file)->finish()); !noted) return noted;
    manifest_.files[name].inode = about.st_ino;
    return {};
  }

  const fs::path folder_;
  StateSource& state_;
  const Manifest& previous_;
  const GoOn& go_on_;
  Manifest manifest_;
  std::uint64_t written_ = 0;
};

Status compare(const std::string& path, const FileDigest& read, const Manifest::File& file) {
  if (read.bytes == file.bytes && read.digest.hex() == file.digest) return {};
  return fail(Code::kCorrupt, path + " is damaged: its bytes have changed");
}

}  // namespace

std::string tensor_file_of(StateTensor::Part part) {
  constexpr std::array kNames = {"model", "optimizer", "tables"};
  return std::string(kNames[static_cast<std::size_t>(part)]) + ".safetensors";
}

bool is_link(const std::string& name) { return name.starts_with(std::string(kLinkFolder) + "/"); }

Result<Manifest> write_folder(const std::string& folder, StateSource& state,
                              const std::map<std::string, std::string>& texts,
                              const Manifest& previous, const GoOn& go_on) {
  FolderWriter writer(folder, state, previous, go_on);
  auto done = writer.write_tensors();
  if (done) done = writer.write_links();
  for (const auto& [name, text] : texts) {
    if (done) done = writer.write_text(name, text);
  }
  if (!done) return pass(done);
  return writer.finish();
}

Status check_sizes(const std::string& folder, const Manifest& manifest) {
  for (const auto& [name, file] : manifest.files) {
    const std::string path = (fs::path(folder) / name).string();
    struct stat about = {};
    if (::stat(path.c_str(), &about) != 0) return reading_error(path, "be found");
    if (static_cast<std::uint64_t>(about.st_size) != file.bytes) {
      return fail(Code::kCorrupt, path + " has " + std::to_string(about.st_size) + " bytes, not " +
                                      std::to_string(file.bytes));
    }
  }
  return {};
}

Status check_digest(const std::string& folder, const std::string& name,
                    const Manifest::File& file) {
  const std::string path = (fs::path(folder) / name).string();
  auto reader = BlockFileReader::open(path);
  if (!reader) return pass(reader);
  auto read = (*reader)->finish();
  if (!read) return pass(read);
  return compare(path, *read, file);
}

Result<FolderSource> FolderSource::open(const std::string& folder, Manifest manifest) {
  std::vector<TensorFile> files;
  for (const StateTensor::Part part : StateTensor::kParts) {
    auto file = TensorFile::open((fs::path(folder) / tensor_file_of(part)).string(), part);
    if (!file) return pass(file);
    files.push_back(std::move(*file));
  }
  return FolderSource(folder, std::move(manifest), std::move(files));
}

FolderSource::FolderSource(std::string folder, Manifest manifest, std::vector<TensorFile> files)
    : folder_(std::move(folder)),
      manifest_(std::move(manifest)),
      files_(std::move(files)),
      finished_(files_.size()) {
  for (std::size_t file = 0; file < files_.size(); ++file) {
    for (std::size_t index = 0; index < files_[file].tensors().size(); ++index) {
      tensors_.push_back(files_[file].tensors()[index]);
      places_.emplace_back(file, index);
    }
  }
}

// Only one file is read at a time: the previous one is read to its end and checked.
Status FolderSource::read(std::size_t index, std::uint64_t offset, std::span<std::byte> to) {
  const auto [file, place] = places_[index];
  if (current_ && *current_ != file) {
    if (auto finished = finish_file(*current_); !finished) return finished;
  }
  current_ = file;
  return files_[file].read(place, offset, to);
}

Status FolderSource::finish_file(std::size_t file) {
  if (finished_[file]) {
    files_[file].rewind();
    return {};
  }
  auto read = files_[file].finish();
  if (!read) return pass(read);
  finished_[file] = true;
  const std::string& path = files_[file].path();
  const auto listed = manifest_.files.find(fs::path(path).filename().string());
  if (listed == manifest_.files.end()) {
    return fail(Code::kCorrupt, path + " is not in the manifest");
  }
  return compare(path, *read, listed->second);
}

Result<std::string> FolderSource::files_folder() {
  std::string found;
  for (const auto& [name, file] : manifest_.files) {
    if (!is_link(name)) continue;
    if (auto checked = check_digest(folder_, name, file); !checked) return pass(checked);
    found = (fs::path(folder_) / kLinkFolder).string();
  }
  return found;
}

Status FolderSource::finish() {
  for (std::size_t file = 0; file < files_.size(); ++file) {
    if (auto finished = finish_file(file); !finished) return finished;
  }
  return {};
}

}  // namespace forebay

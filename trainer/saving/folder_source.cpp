#include "trainer/saving/folder_source.h"

#include <sys/stat.h>

#include <filesystem>

#include "trainer/saving/block_file.h"
#include "trainer/saving/folder_writer.h"

namespace forebay {
namespace {

namespace fs = std::filesystem;

Status compare(const std::string& path, const FileDigest& read, const Manifest::File& file) {
  if (read.bytes == file.bytes && read.digest.hex() == file.digest) return {};
  return fail(Code::kCorrupt, path + " is damaged: its bytes have changed");
}

}  // namespace

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

Status FolderSource::read(std::size_t index, std::uint64_t offset, std::span<std::byte> to) {
  const auto [file, place] = places_[index];
  if (auto turned = turn_to(file); !turned) return turned;
  return files_[file].read(place, offset, to);
}

/// Turns to the next file. Only one file is read at a time: the previous one is read to its end and
/// checked.
Status FolderSource::turn_to(std::size_t file) {
  if (current_ == file) return {};
  if (current_) {
    if (auto finished = finish_file(*current_); !finished) return finished;
  }
  current_ = file;
  return {};
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

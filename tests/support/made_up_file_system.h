#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "actors/input/local_file_system.h"

namespace forebay::test {

/// Serves the files of one folder under the names "made-up://NAME", and counts reads, and how often
/// a file was opened without its stamp. May say that the folder is in a store.
class MadeUpFileSystem final : public FileSystem {
 public:
  static constexpr const char* kPrefix = "made-up://";

  enum class Where : std::uint8_t { kHere, kStore };

  explicit MadeUpFileSystem(std::string folder, Where where = Where::kHere)
      : folder_(std::move(folder)), is_remote_(where == Where::kStore) {}

  std::uint64_t reads() const { return *reads_; }
  std::uint64_t opens() const { return opens_; }
  bool is_remote() const override { return is_remote_; }

  Result<std::vector<FileInfo>> list(const std::string& pattern) const override {
    auto files = local_.list(local_path(pattern));
    if (!files) return renamed(files.error());
    for (FileInfo& file : *files) file = renamed(file);
    return files;
  }
  Result<FileInfo> stat(const std::string& path) const override {
    auto file = local_.stat(local_path(path));
    if (!file) return renamed(file.error());
    return renamed(*file);
  }
  Result<std::unique_ptr<const InputFile>> open(const std::string& path) const override {
    ++opens_;
    return open_listed(path, {});
  }
  Result<std::unique_ptr<const InputFile>> open_listed(const std::string& path,
                                                       const FileStamp& /*stamp*/) const override {
    auto file = local_.open(local_path(path));
    if (!file) return renamed(file.error());
    FileInfo info = renamed((*file)->info());
    return std::make_unique<const File>(std::move(info), std::move(*file), reads_, is_remote_);
  }
  std::vector<std::string> local_paths(const std::string& pattern) const override {
    return local_.local_paths(local_path(pattern));
  }

 private:
  class File final : public InputFile {
   public:
    File(FileInfo info, std::unique_ptr<const InputFile> local,
         std::shared_ptr<std::atomic<std::uint64_t>> reads, bool is_remote)
        : InputFile(std::move(info)),
          local_(std::move(local)),
          reads_(std::move(reads)),
          is_remote_(is_remote) {}

    bool is_remote() const override { return is_remote_; }

    Status check(const FileStamp& indexed) const override {
      return local_->check(indexed) ? Status{} : Status(changed_since_indexed(path()));
    }
    Result<std::size_t> read_at(std::uint64_t offset, std::span<char> out) const override {
      ++*reads_;
      return local_->read_at(offset, out);
    }

   private:
    std::unique_ptr<const InputFile> local_;
    std::shared_ptr<std::atomic<std::uint64_t>> reads_;
    const bool is_remote_;
  };

  std::string local_path(const std::string& path) const {
    return folder_ + "/" + path.substr(std::string(kPrefix).size());
  }
  std::string made_up(const std::string& path) const {
    return kPrefix + path.substr(folder_.size() + 1);
  }
  tl::unexpected<Error> renamed(const Error& local) const {
    return fail(local.code, made_up(local.message));
  }
  FileInfo renamed(const FileInfo& local) const {
    const std::string path = made_up(local.path);
    return {.path = path, .absolute = path, .key = local.key, .stamp = local.stamp};
  }

  std::string folder_;
  const bool is_remote_;
  LocalFileSystem local_;
  mutable std::atomic<std::uint64_t> opens_{0};
  std::shared_ptr<std::atomic<std::uint64_t>> reads_ =
      std::make_shared<std::atomic<std::uint64_t>>(0);
};

}  // namespace forebay::test

#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fnmatch.h>

#include "actors/input/file_system.h"

namespace forebay::test {

/// Files in memory that behave like objects in a store: a write creates a new version, and an open
/// file reads the version it was opened with, or fails. Any thread may call any function.
class MemoryFileSystem final : public FileSystem {
 public:
  void write(const std::string& path, std::string content) {
    const std::lock_guard lock(objects_->mutex);
    objects_->of[path] = {.content = std::make_shared<const std::string>(std::move(content)),
                          .version = ++objects_->last_version};
  }
  void remove(const std::string& path) {
    const std::lock_guard lock(objects_->mutex);
    objects_->of.erase(path);
  }
  void forbid(const std::string& path) {
    const std::lock_guard lock(objects_->mutex);
    objects_->of[path].forbidden = true;
  }

  Result<std::vector<FileInfo>> list(const std::string& pattern) const override {
    if (auto file = stat(pattern)) return std::vector{*file};
    const std::lock_guard lock(objects_->mutex);
    std::vector<FileInfo> files;
    for (const auto& [path, object] : objects_->of) {
      if (::fnmatch(pattern.c_str(), path.c_str(), FNM_PATHNAME | FNM_PERIOD) != 0) continue;
      files.push_back(info_of(path, object));
    }
    return files;
  }

  Result<FileInfo> stat(const std::string& path) const override {
    const auto object = objects_->find(path);
    if (!object) return fail(Code::kNotFound, path + " cannot be read: no such object");
    return info_of(path, *object);
  }

  Result<std::unique_ptr<const InputFile>> open(const std::string& path) const override {
    auto object = objects_->find(path);
    if (!object) return fail(Code::kNotFound, path + " cannot be read: no such object");
    if (object->forbidden) return fail(Code::kInvalid, path + " cannot be read: access denied");
    return std::make_unique<const File>(info_of(path, *object), std::move(*object), objects_);
  }

 private:
  struct Object {
    std::shared_ptr<const std::string> content;
    std::int64_t version = 0;
    bool forbidden = false;
  };
  struct Objects {
    std::mutex mutex;
    std::map<std::string, Object> of;
    std::int64_t last_version = 0;

    std::optional<Object> find(const std::string& path) {
      const std::lock_guard lock(mutex);
      const auto found = of.find(path);
      return found == of.end() ? std::nullopt : std::optional(found->second);
    }
  };

  static FileInfo info_of(const std::string& path, const Object& object) {
    return {.path = path,
            .absolute = path,
            .key = path,
            .stamp = {.bytes = object.content->size(), .version = object.version}};
  }

  class File final : public InputFile {
   public:
    File(FileInfo info, Object object, std::shared_ptr<Objects> objects)
        : InputFile(std::move(info)), object_(std::move(object)), objects_(std::move(objects)) {}

    Status check(const FileStamp& indexed) const override {
      if (stamp() != indexed) return changed_since_indexed(path());
      return {};
    }
    Result<std::size_t> read_at(std::uint64_t offset, std::span<char> out) const override {
      const auto now = objects_->find(path());
      if (!now || now->version != object_.version) return changed_since_indexed(path());
      const std::string& content = *object_.content;
      const auto begin = static_cast<std::size_t>(std::min<std::uint64_t>(offset, content.size()));
      return content.copy(out.data(), out.size(), begin);
    }

   private:
    Object object_;
    std::shared_ptr<Objects> objects_;
  };

  std::shared_ptr<Objects> objects_ = std::make_shared<Objects>();
};

}  // namespace forebay::test

#include "actors/format/npy/trio_files.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "actors/input/joined_file.h"

namespace forebay::npy {
namespace {

constexpr std::string_view kDenseName = "_dense.npy";
constexpr std::string_view kSparseName = "_sparse.npy";
constexpr std::string_view kMultiHotName = "_sparse_multi_hot.npz";
constexpr std::string_view kLabelsName = "_labels.npy";
constexpr std::array kNames = {kDenseName, kSparseName, kMultiHotName, kLabelsName};
constexpr const char* kTrio =
    "P_dense.npy, P_sparse.npy (or P_sparse_multi_hot.npz) and P_labels.npy";

/// One file of a trio.
struct Member {
  std::string trio;  // `P` with its folders
  std::string_view name;

  bool is_sparse() const { return name == kSparseName || name == kMultiHotName; }
};

std::optional<Member> member_of(const std::string& path) {
  for (const std::string_view name : kNames) {
    if (path.ends_with(name)) return Member{path.substr(0, path.size() - name.size()), name};
  }
  return std::nullopt;
}

std::string joined(const std::string& trio, std::string_view name) {
  return trio + std::string(name);
}

class Trios final : public FileSystem {
 public:
  explicit Trios(std::shared_ptr<const FileSystem> stored) : stored_(std::move(stored)) {}

  Result<std::vector<FileInfo>> list(const std::string& pattern) const override {
    auto matching = stored_->list(pattern);
    if (!matching) return pass(matching);
    std::map<std::string, std::set<std::string_view>> found;  // the sparse files of each trio
    for (const FileInfo& file : *matching) {
      const auto member = member_of(file.path);
      if (!member) return not_of_a_trio(file.path);
      auto& sparse = found[member->trio];
      if (member->is_sparse()) sparse.insert(member->name);
    }
    std::vector<FileInfo> trios;
    for (const auto& [trio, sparse] : found) {
      auto info =
          sparse.size() == 1 ? stored_->stat(joined(trio, *sparse.begin())) : sparse_of(trio);
      if (!info) return pass(info);
      trios.push_back(std::move(*info));
    }
    return trios;
  }

  Result<FileInfo> stat(const std::string& path) const override {
    auto file = open(path);
    if (!file) return pass(file);
    return (*file)->info();
  }

  Result<std::unique_ptr<const InputFile>> open(const std::string& path) const override {
    const auto member = member_of(path);
    if (!member) return not_of_a_trio(path);
    auto named = member->is_sparse() ? stored_->stat(path) : sparse_of(member->trio);
    if (!named) return pass(named);
    std::vector<std::unique_ptr<const InputFile>> parts;
    for (const std::string& part :
         {joined(member->trio, kDenseName), named->path, joined(member->trio, kLabelsName)}) {
      auto file = stored_->open(part);
      if (!file) return lacking(file.error(), named->path);
      parts.push_back(std::move(*file));
    }
    return std::make_unique<const JoinedFile>(std::move(*named), std::move(parts));
  }

  bool is_remote() const override { return stored_->is_remote(); }

  std::vector<std::string> local_paths(const std::string& pattern) const override {
    std::vector<std::string> paths;
    for (const std::string& path : stored_->local_paths(pattern)) {
      paths.push_back(path);
      const auto member = member_of(path);
      if (!member) continue;
      for (const std::string_view name : kNames) {
        if (name == member->name) continue;
        const auto others = stored_->local_paths(joined(member->trio, name));
        paths.insert(paths.end(), others.begin(), others.end());
      }
    }
    return paths;
  }

 private:
  static tl::unexpected<Error> not_of_a_trio(const std::string& path) {
    return fail(Code::kInvalid, path + " is no file of the format npy, whose rows are in " + kTrio +
                                    "; name these files alone, as in P_*.np?");
  }

  static tl::unexpected<Error> lacking(const Error& error, const std::string& trio) {
    if (error.code != Code::kNotFound) return tl::unexpected(error);
    return fail(Code::kNotFound, error.message + "; the rows of " + trio + " are in " + kTrio +
                                     " beside each other");
  }

  Result<FileInfo> sparse_of(const std::string& trio) const {
    auto one = stored_->stat(joined(trio, kSparseName));
    if (!one && one.error().code != Code::kNotFound) return one;
    auto many = stored_->stat(joined(trio, kMultiHotName));
    if (!many && many.error().code != Code::kNotFound) return many;
    if (one && many) {
      return fail(Code::kInvalid, one->path + " and " + many->path +
                                      " are both there; name in dataset.paths the one to read");
    }
    if (!one && !many) return lacking(one.error(), trio);
    return one ? one : many;
  }

  const std::shared_ptr<const FileSystem> stored_;
};

}  // namespace

std::shared_ptr<const FileSystem> trios_in(std::shared_ptr<const FileSystem> stored) {
  return std::make_shared<const Trios>(std::move(stored));
}

}  // namespace forebay::npy

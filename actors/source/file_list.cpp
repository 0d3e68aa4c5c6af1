#include "actors/source/file_list.h"

#include <glob.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <map>
#include <tuple>
#include <utility>

#include "core/base/file_identity.h"

namespace forebay {
namespace {

namespace fs = std::filesystem;

bool exists(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0;
}

tl::unexpected<Error> matches_nothing(const std::string& path, const std::string& base_dir) {
  const bool is_glob = path.find_first_of("*?[") != std::string::npos;
  return fail(Code::kNotFound, "dataset.paths: " + path +
                                   (is_glob ? " matches no file" : ": no such file") +
                                   " (looked for " + (fs::path(base_dir) / path).string() + ")");
}

struct OpenedFile {
  ListedFile file;
  FileIdentity identity;
};

Result<OpenedFile> look_at(const std::string& path) {
  auto file = InputFile::open(path);
  if (!file) return pass(file);
  std::array<char, 8> head{};
  auto got = file->read_some(0, head);
  if (!got) return pass(got);
  auto codec = detect_codec(path, std::span(head).first(*got));
  if (!codec) return pass(codec);
  if (*codec == Codec::kPlain && file->stamp().bytes > kMostFileBytes) {
    return fail(Code::kInvalid, path + " is larger than 1 TiB; split it into several files");
  }
  const auto identity = identity_of(file->descriptor());
  if (!identity) return fail(Code::kInvalid, system_refusal(path, "cannot be read"));
  return OpenedFile{.file = {.path = path,
                             .absolute = fs::absolute(path).lexically_normal().string(),
                             .name = {},
                             .codec = *codec,
                             .stamp = file->stamp()},
                    .identity = *identity};
}

// Names relative to the deepest folder that holds all files.
void name_files(std::vector<ListedFile>& files) {
  if (files.empty()) return;
  fs::path shared = fs::path(files.front().absolute).parent_path();
  for (const ListedFile& file : files) {
    const fs::path folder = fs::path(file.absolute).parent_path();
    const auto ends = std::mismatch(shared.begin(), shared.end(), folder.begin(), folder.end());
    fs::path both;
    for (auto part = shared.begin(); part != ends.first; ++part) both /= *part;
    shared = both;
  }
  for (ListedFile& file : files) {
    file.name = without_codec_suffix(fs::path(file.absolute).lexically_relative(shared).string());
  }
}

tl::unexpected<Error> comes_twice(const ListedFile& file, const std::string& before) {
  const std::string rows = "; its rows would count twice";
  if (file.absolute == before) {
    return fail(Code::kInvalid, "dataset.paths names " + file.path + " twice" + rows);
  }
  return fail(Code::kInvalid, "dataset.paths names one file twice, as " + before + " and as " +
                                  file.path + " (a link)" + rows);
}

}  // namespace

std::vector<std::string> matching_paths(const std::string& path, const std::string& base_dir) {
  const std::string pattern = (fs::path(base_dir) / path).string();
  if (exists(pattern)) return {pattern};
  glob_t found{};
  const int code = ::glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found);
  std::vector<std::string> paths(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  ::globfree(&found);
  if (code != 0) return {};
  std::sort(paths.begin(), paths.end(), [](const std::string& a, const std::string& b) {
    return std::tuple(without_codec_suffix(a), a) < std::tuple(without_codec_suffix(b), b);
  });
  return paths;
}

Result<std::vector<ListedFile>> list_files(const std::vector<std::string>& paths,
                                           const std::string& base_dir) {
  if (paths.empty()) return fail(Code::kInvalid, "dataset.paths names no file");
  std::vector<ListedFile> files;
  std::map<FileIdentity, std::string> seen;
  for (const std::string& path : paths) {
    const std::vector<std::string> matching = matching_paths(path, base_dir);
    if (matching.empty()) return matches_nothing(path, base_dir);
    for (const std::string& one : matching) {
      auto opened = look_at(one);
      if (!opened) return pass(opened);
      const auto [before, is_new] = seen.emplace(opened->identity, opened->file.absolute);
      if (!is_new) return comes_twice(opened->file, before->second);
      files.push_back(std::move(opened->file));
    }
  }
  name_files(files);
  return files;
}

}  // namespace forebay

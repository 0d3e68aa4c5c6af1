#include "actors/source/file_list.h"

#include <glob.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <set>
#include <tuple>
#include <utility>

namespace forebay {
namespace {

namespace fs = std::filesystem;

bool exists(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0;
}

Result<std::vector<std::string>> expand(const std::string& pattern, const std::string& shown) {
  if (exists(pattern)) return std::vector<std::string>{pattern};
  glob_t found{};
  const int code = ::glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found);
  std::vector<std::string> paths(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  ::globfree(&found);
  if (code != 0 || paths.empty()) {
    const bool is_glob = pattern.find_first_of("*?[") != std::string::npos;
    return fail(Code::kNotFound, "dataset.paths: " + shown +
                                     (is_glob ? " matches no file" : ": no such file") +
                                     " (looked for " + pattern + ")");
  }
  std::sort(paths.begin(), paths.end(), [](const std::string& a, const std::string& b) {
    return std::tuple(without_codec_suffix(a), a) < std::tuple(without_codec_suffix(b), b);
  });
  return paths;
}

Result<ListedFile> look_at(const std::string& path) {
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
  return ListedFile{.path = path,
                    .absolute = fs::absolute(path).lexically_normal().string(),
                    .name = {},
                    .codec = *codec,
                    .stamp = file->stamp()};
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

}  // namespace

Result<std::vector<ListedFile>> list_files(const std::vector<std::string>& paths,
                                           const std::string& base_dir) {
  if (paths.empty()) return fail(Code::kInvalid, "dataset.paths names no file");
  std::vector<ListedFile> files;
  std::set<std::string> seen;
  for (const std::string& path : paths) {
    auto expanded = expand((fs::path(base_dir) / path).string(), path);
    if (!expanded) return pass(expanded);
    for (const std::string& one : *expanded) {
      auto file = look_at(one);
      if (!file) return pass(file);
      if (!seen.insert(file->absolute).second) {
        return fail(Code::kInvalid,
                    "dataset.paths names " + one + " twice; its rows would count twice");
      }
      files.push_back(std::move(*file));
    }
  }
  name_files(files);
  return files;
}

}  // namespace forebay

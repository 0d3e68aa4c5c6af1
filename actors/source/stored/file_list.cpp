#include "actors/source/stored/file_list.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <map>
#include <string_view>
#include <utility>

#include "actors/source/stored/byte_stream.h"
#include "core/base/thread/parallel.h"

namespace forebay {
namespace {

using namespace std::literals;

struct Foreign {
  std::string_view magic;
  std::string_view name;
};
constexpr std::array kForeign = {
    Foreign{"\xfd"
            "7zXZ\0"sv,
            "xz"},
    Foreign{"BZh91AY&"sv, "bzip2"},
    Foreign{"PK\3\4"sv, "zip"},
    Foreign{"PAR1"sv, "Parquet"},
    Foreign{"\x04\x22\x4d\x18"sv, "lz4"},
};

bool is_zstd(std::string_view head) {
  // RFC 8878: a frame, or a skippable frame (0x184D2A50 … 0x184D2A5F).
  return head.starts_with("\x28\xb5\x2f\xfd"sv) ||
         (head.size() >= 4 && (head[0] & 0xf0) == 0x50 && head.substr(1, 3) == "\x2a\x4d\x18"sv);
}

namespace fs = std::filesystem;

constexpr std::uint64_t kHeadPiece = 1 << 20;  // read at a time; `bytes` may be very large

tl::unexpected<Error> matches_nothing(const std::string& path, const std::string& full_path) {
  const bool is_address = path.find("://") != std::string::npos && !path.starts_with("file://");
  if (is_address && path != full_path) {  // taken for a path of this machine
    return fail(Code::kNotFound, "dataset.paths: " + path +
                                     ": unknown kind of address; give a path, or an address that "
                                     "begins with file://, s3://, http:// or https://");
  }
  const bool is_glob = path.find_first_of("*?[") != std::string::npos;
  return fail(Code::kNotFound, "dataset.paths: " + path +
                                   (is_glob ? " matches no file" : ": no such file") +
                                   " (looked for " + full_path + ")");
}

// Identifies a file: its file system, and its FileInfo::key there.
using FileKey = std::pair<const FileSystem*, std::string>;

struct OpenedFile {
  ListedFile file;
  FileKey key;
};

Result<Codec> codec_of(const InputFile& file, Packing packing) {
  if (packing != Packing::kByContent) return Codec::kPlain;
  std::array<char, 8> head{};
  auto got = file.read_at(0, head);
  if (!got) return pass(got);
  return detect_codec(file.path(), std::span(head).first(*got));
}

Result<OpenedFile> look_at(const FileInfo& listed,
                           const std::shared_ptr<const FileSystem>& file_system, Packing packing) {
  const std::string& path = listed.path;
  auto opened = file_system->open_listed(path, listed.stamp);
  if (!opened) return pass(opened);
  const InputFile& file = **opened;
  auto codec = codec_of(file, packing);
  if (!codec) return pass(codec);
  if (*codec == Codec::kPlain && file.size() > kMostFileBytes) {
    return fail(Code::kInvalid, path + " is larger than 1 TiB; split it into several files");
  }
  return OpenedFile{.file = {.path = path,
                             .absolute = file.info().absolute,
                             .name = {},
                             .codec = *codec,
                             .stamp = file.stamp(),
                             .file_system = file_system},
                    .key = {file_system.get(), file.info().key}};
}

// A store answers many requests as fast as one.
std::vector<Result<OpenedFile>> look_at_all(const std::vector<FileInfo>& files,
                                            const std::shared_ptr<const FileSystem>& file_system,
                                            Packing packing) {
  const int threads = file_system->is_remote() ? kRemoteFilesAtOnce : 1;
  std::vector<Result<OpenedFile>> opened(files.size(), OpenedFile{});
  for_each_in_parallel(files.size(), threads,
                       [&](std::size_t i) { opened[i] = look_at(files[i], file_system, packing); });
  return opened;
}

// Returns a path as if the file were not compressed.
std::string plain_path(const std::string& path, Packing packing) {
  return packing == Packing::kByContent ? without_codec_suffix(path) : path;
}

// Names the files relative to the deepest folder that contains all of them.
void name_files(std::vector<ListedFile>& files, Packing packing) {
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
    // Files of two stores have no common folder.
    const fs::path absolute = file.absolute;
    const fs::path name = shared.empty() ? absolute : absolute.lexically_relative(shared);
    file.name = plain_path(name.string(), packing);
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

Result<Codec> detect_codec(const std::string& path, std::span<const char> head) {
  const std::string_view bytes(head.data(), head.size());
  const Codec codec = bytes.starts_with("\x1f\x8b"sv) ? Codec::kGzip
                      : is_zstd(bytes)                ? Codec::kZstd
                                                      : Codec::kPlain;
  if (path.ends_with(".gz") && codec != Codec::kGzip) {
    return fail(Code::kInvalid, path + " is named .gz but holds no gzip data; rename or repack it");
  }
  if (path.ends_with(".zst") && codec != Codec::kZstd) {
    return fail(Code::kInvalid,
                path + " is named .zst but holds no zstd data; rename or repack it");
  }
  for (const Foreign& foreign : kForeign) {
    if (bytes.starts_with(foreign.magic)) {
      return fail(Code::kInvalid,
                  path + " holds " + std::string(foreign.name) +
                      " data, which is not read; unpack it (gzip and zstd are read)");
    }
  }
  return codec;
}

std::string without_codec_suffix(const std::string& path) {
  for (const std::string_view suffix : {".gz"sv, ".zst"sv}) {
    if (path.ends_with(suffix)) return path.substr(0, path.size() - suffix.size());
  }
  return path;
}

Result<std::unique_ptr<const InputFile>> ListedFile::open_unchanged() const {
  auto file = file_system->open_listed(path, stamp);
  if (!file) return pass(file);
  if (auto status = (*file)->check(stamp); !status) return pass(status);
  return file;
}

Result<std::vector<ListedFile>> list_files(const std::vector<std::string>& paths,
                                           const std::string& base_dir, const FileSystems& systems,
                                           Packing packing) {
  if (paths.empty()) return fail(Code::kInvalid, "dataset.paths names no file");
  std::vector<ListedFile> files;
  std::map<FileKey, std::string> seen;
  for (const std::string& path : paths) {
    const std::string pattern = systems.pattern(path, base_dir);
    const std::shared_ptr<const FileSystem>& file_system = systems.of(pattern);
    auto matching = file_system->list(pattern);
    if (!matching) return pass(matching);
    if (matching->empty()) return matches_nothing(path, systems.full_path(path, base_dir));
    std::ranges::sort(*matching, {}, [packing](const FileInfo& file) {
      return std::pair(plain_path(file.path, packing), file.path);
    });
    for (Result<OpenedFile>& opened : look_at_all(*matching, file_system, packing)) {
      if (!opened) return pass(opened);
      const auto [before, is_new] = seen.emplace(opened->key, opened->file.absolute);
      if (!is_new && packing == Packing::kGrouped) continue;
      if (!is_new) return comes_twice(opened->file, before->second);
      files.push_back(std::move(opened->file));
    }
  }
  name_files(files, packing);
  return files;
}

Result<std::vector<char>> read_head(const ListedFile& listed, std::uint64_t bytes) {
  auto file = listed.open();
  if (!file) return pass(file);
  auto stream = open_stream(**file, listed.codec, {}, nullptr);
  if (!stream) return pass(stream);
  if (listed.codec == Codec::kPlain) bytes = std::min(bytes, listed.stamp.bytes);
  std::vector<char> head;
  while (head.size() < bytes) {
    const std::size_t size = head.size();
    const auto piece = static_cast<std::size_t>(std::min<std::uint64_t>(kHeadPiece, bytes - size));
    head.resize(size + piece);
    auto got = (*stream)->next(std::span(head).subspan(size));
    if (!got) return pass(got);
    head.resize(size + *got);
    if (*got < piece) break;
  }
  return head;
}

}  // namespace forebay

#include "actors/source/index/index_cache.h"

#include <array>
#include <bit>
#include <utility>

#include <zstd.h>

#include "actors/input/local_file_system.h"

namespace forebay {
namespace {

constexpr std::size_t kWindow = 32 << 10;
constexpr std::uint64_t kMostIndex = 1 << 30;  // bytes
constexpr std::uint64_t kHead = 24;            // bytes that check_index_head() reads

std::uint64_t hash_of(std::span<const char> bytes) {
  return Digest::of(bytes.data(), bytes.size()).low;
}

}  // namespace

std::string index_path(const std::string& folder, const std::string& absolute) {
  return folder + "/" + Digest::of(absolute.data(), absolute.size()).hex().substr(0, 16) + ".idx";
}

Result<FileIndex> read_index(const std::string& path) {
  const auto damaged = [&] { return fail(Code::kCorrupt, path + ": a damaged index"); };
  auto opened = open_local_file(path);
  if (!opened && opened.error().code == Code::kNotFound) return pass(opened);
  if (!opened) return damaged();
  const InputFile& file = **opened;
  std::array<char, 8> tail{};
  if (file.size() < kHead + tail.size()) return damaged();
  const std::uint64_t end = file.size() - tail.size();
  if (!file.read(end, tail)) return damaged();
  const auto begin = std::bit_cast<std::uint64_t>(tail);
  if (begin > end - kHead || end - begin > kMostIndex) return damaged();
  // Check the head before allocating memory for the whole index.
  std::array<char, kHead> head{};
  if (!file.read(begin, head)) return damaged();
  if (auto status = check_index_head(head); !status) {
    return fail(status.error().code, path + ": " + status.error().message);
  }
  std::vector<char> bytes(end - begin);
  if (!file.read(begin, bytes)) return damaged();
  auto index = parse_index(bytes);
  if (!index) return damaged();
  for (const RestartPoint& point : index->points) {
    if (point.window_at > begin || point.window_bytes > begin - point.window_at) return damaged();
  }
  return index;
}

Result<Restart> read_restart(const InputFile& index_file, const RestartPoint& point) {
  Restart restart{.point = point, .window = {}};
  if (point.window_bytes == 0) return restart;
  std::vector<char> packed(point.window_bytes);
  if (auto status = index_file.read(point.window_at, packed); !status) return pass(status);
  restart.window.resize(kWindow);
  const std::size_t size =
      ZSTD_decompress(restart.window.data(), kWindow, packed.data(), packed.size());
  if (hash_of(packed) != point.window_hash || ZSTD_isError(size) != 0) {
    return fail(Code::kCorrupt, index_file.path() + " is damaged; remove it and run again");
  }
  restart.window.resize(size);
  return restart;
}

Result<IndexWriter> IndexWriter::create(const std::string& path) {
  auto file = PartialFile::create(path);
  if (!file) return pass(file);
  return IndexWriter(std::move(*file));
}

Status IndexWriter::add(const RestartPoint& point, std::span<const char> window) {
  points_.push_back(point);
  if (window.empty()) return {};
  std::vector<char> packed(ZSTD_compressBound(window.size()));
  const std::size_t size =
      ZSTD_compress(packed.data(), packed.size(), window.data(), window.size(), 1);
  if (ZSTD_isError(size) != 0) return fail(Code::kUnavailable, ZSTD_getErrorName(size));
  packed.resize(size);
  points_.back().window_at = file_.written();
  points_.back().window_bytes = static_cast<std::uint32_t>(size);
  points_.back().window_hash = hash_of(packed);
  return file_.write(packed);
}

Status IndexWriter::finish(const FileIndex& index) {
  const auto begin = std::bit_cast<std::array<char, 8>>(file_.written());
  if (auto status = file_.write(encode_index(index)); !status) return status;
  if (auto status = file_.write(begin); !status) return status;
  return file_.commit();
}

}  // namespace forebay

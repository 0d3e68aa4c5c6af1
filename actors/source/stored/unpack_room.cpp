#include "actors/source/stored/unpack_room.h"

#include <algorithm>
#include <array>

#include "actors/source/stored/zstd_frame.h"

namespace forebay {
namespace {

/// Windows up to this size are common; the memory that every run leaves free suffices for them.
constexpr std::uint64_t kUsualWindow = std::uint64_t{8} << 20;

std::uint64_t wanted_by(const ListedFile& listed) {
  if (listed.codec != Codec::kZstd) return 0;
  const auto file = listed.open();
  if (!file) return 0;
  std::array<char, ZstdFrame::kMostHeaderBytes> head{};
  const auto got = (*file)->read_at(0, head);
  if (!got) return 0;
  const auto frame = ZstdFrame::read(std::span<const char>(head).first(*got));
  return frame ? frame->memory() : 0;
}

}  // namespace

UnpackRoom UnpackRoom::divide(std::uint64_t bytes, int threads,
                              const std::vector<const ListedFile*>& files) {
  std::uint64_t widest = 0;
  for (const ListedFile* file : files) widest = std::max(widest, wanted_by(*file));
  const auto most = static_cast<std::uint64_t>(std::max(threads, 1));
  std::uint64_t streams = most;
  if (widest > kUsualWindow) streams = std::clamp<std::uint64_t>(bytes / widest, 1, most);
  return {.bytes = std::max(bytes / streams, kUsualWindow), .streams = static_cast<int>(streams)};
}

}  // namespace forebay

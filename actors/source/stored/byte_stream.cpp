#include "actors/source/stored/byte_stream.h"

#include <algorithm>
#include <array>

#include "actors/source/stored/gzip_stream.h"
#include "actors/source/stored/zstd_stream.h"

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

class PlainStream final : public ByteStream {
 public:
  PlainStream(const InputFile& file, std::uint64_t offset) : file_(file), offset_(offset) {
    file.will_read_through();
  }

  Result<std::size_t> next(std::span<char> out) override {
    auto got = file_.read_at(offset_, out);
    if (got) offset_ += *got;
    return got;
  }
  std::uint64_t consumed() const override { return offset_; }

 private:
  const InputFile& file_;
  std::uint64_t offset_;
};

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

Result<std::unique_ptr<ByteStream>> open_stream(const InputFile& file, Codec codec,
                                                const Restart& start, RestartLog* log,
                                                const UnpackRoom& room) {
  switch (codec) {
    case Codec::kGzip:
      return GzipStream::open(file, start, log);
    case Codec::kZstd:
      return std::unique_ptr<ByteStream>(
          std::make_unique<ZstdStream>(file, start.point, log, room));
    case Codec::kPlain:
      break;
  }
  return std::unique_ptr<ByteStream>(std::make_unique<PlainStream>(file, start.point.out));
}

}  // namespace forebay

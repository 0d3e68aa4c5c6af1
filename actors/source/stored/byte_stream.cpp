#include "actors/source/stored/byte_stream.h"

#include "actors/source/stored/gzip_stream.h"
#include "actors/source/stored/zstd_stream.h"

namespace forebay {
namespace {

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

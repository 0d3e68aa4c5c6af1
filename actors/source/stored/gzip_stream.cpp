#include "actors/source/stored/gzip_stream.h"

#include <algorithm>
#include <array>

#include "core/base/check.h"

namespace forebay {
namespace {

constexpr int kGzipWindow = 15 + 16;  // zlib: the largest window, with gzip's header and trailer
constexpr int kRawWindow = -15;       // the same without header and trailer
constexpr char kGzipMagic = 0x1f;     // a member's first byte
constexpr std::size_t kTrailer = 8;   // CRC-32 and size
constexpr std::size_t kMostAtOnce = 1 << 30;

const Bytef* bytes(const char* data) { return reinterpret_cast<const Bytef*>(data); }

}  // namespace

GzipStream::GzipStream(const InputFile& file, const RestartPoint& start, RestartLog* log)
    : stored_(file, start.in), log_(log), position_(start.out), last_point_(start.out) {
  FOREBAY_CHECK(inflateInit2(&inflater_, kGzipWindow) == Z_OK);
}

GzipStream::~GzipStream() { inflateEnd(&inflater_); }

Result<std::unique_ptr<ByteStream>> GzipStream::open(const InputFile& file, const Restart& start,
                                                     RestartLog* log) {
  auto stream = std::make_unique<GzipStream>(file, start.point, log);
  if (start.point.kind == RestartPoint::Kind::kInside) {
    if (auto status = stream->resume(start); !status) return pass(status);
  }
  return std::unique_ptr<ByteStream>(std::move(stream));
}

Status GzipStream::resume(const Restart& start) {
  place_ = Place::kInside;
  raw_ = true;
  first_member_ = false;
  inflateReset2(&inflater_, kRawWindow);
  if (start.point.bits > 0) {
    std::array<char, 1> last{};
    if (auto status = stored_.file().read(start.point.in - 1, last); !status) return status;
    const int value = static_cast<unsigned char>(last[0]) >> (8 - start.point.bits);
    if (inflatePrime(&inflater_, start.point.bits, value) != Z_OK) {
      return stored_.damaged("its restart point makes no sense");
    }
  }
  if (!start.window.empty() &&
      inflateSetDictionary(&inflater_, bytes(start.window.data()),
                           static_cast<uInt>(start.window.size())) != Z_OK) {
    return stored_.damaged("its restart point makes no sense");
  }
  return {};
}

Result<std::size_t> GzipStream::next(std::span<char> out) {
  std::size_t filled = 0;
  while (filled < out.size()) {
    if (place_ == Place::kBetween) {
      if (auto status = enter_member(); !status) return pass(status);
    }
    if (place_ == Place::kEnd) break;
    auto made = inflate_some(out.subspan(filled));
    if (!made) return pass(made);
    filled += *made;
  }
  return filled;
}

Status GzipStream::enter_member() {
  while (true) {
    auto input = stored_.peek();
    if (!input) return pass(input);
    if (input->empty()) {
      if (first_member_ || trailer_ > 0) return stored_.damaged("it ends too early");
      place_ = Place::kEnd;
      return {};
    }
    const std::size_t skipped = std::min(trailer_, input->size());
    stored_.take(skipped);
    trailer_ -= skipped;
    if (skipped < input->size()) break;
  }
  if (!first_member_ && stored_.peek()->front() != kGzipMagic) return skip_padding();
  if (log_ != nullptr && position_ - last_point_ >= kSpacing) {
    last_point_ = position_;
    const RestartPoint point{.out = position_, .in = stored_.offset()};
    if (auto status = log_->add(point, {}); !status) return status;
  }
  inflateReset2(&inflater_, kGzipWindow);
  place_ = Place::kInside;
  raw_ = false;
  return {};
}

Status GzipStream::skip_padding() {
  while (true) {
    auto input = stored_.peek();
    if (!input) return pass(input);
    if (input->empty()) break;
    const auto other = std::find_if(input->begin(), input->end(), [](char c) { return c != 0; });
    stored_.take(static_cast<std::size_t>(other - input->begin()));
    if (other != input->end()) return stored_.damaged("after its gzip data comes something else");
  }
  place_ = Place::kEnd;
  return {};
}

Result<std::size_t> GzipStream::inflate_some(std::span<char> out) {
  auto input = stored_.peek();
  if (!input) return pass(input);
  if (input->empty()) return stored_.damaged("it ends too early");
  const std::size_t room = std::min(out.size(), kMostAtOnce);
  inflater_.next_in = bytes(input->data());
  inflater_.avail_in = static_cast<uInt>(input->size());
  inflater_.next_out = reinterpret_cast<Bytef*>(out.data());
  inflater_.avail_out = static_cast<uInt>(room);
  // Z_BLOCK stops at the end of each deflate block, where a restart point is possible.
  const int code = inflate(&inflater_, log_ == nullptr ? Z_NO_FLUSH : Z_BLOCK);
  stored_.take(input->size() - inflater_.avail_in);
  const std::size_t made = room - inflater_.avail_out;
  position_ += made;
  switch (code) {
    case Z_STREAM_END:
      place_ = Place::kBetween;
      first_member_ = false;
      trailer_ = raw_ ? kTrailer : 0;
      break;
    case Z_OK:
    case Z_BUF_ERROR:  // No progress was possible with this input: more will come.
      if (auto status = log_boundary(); !status) return pass(status);
      break;
    default:
      return stored_.damaged(inflater_.msg == nullptr ? "not gzip data" : inflater_.msg);
  }
  return made;
}

Status GzipStream::log_boundary() {
  constexpr int kAtBoundary = 128;
  constexpr int kInLastBlock = 64;
  constexpr int kUnusedBits = 7;
  const int state = inflater_.data_type;
  if (log_ == nullptr || position_ - last_point_ < kSpacing) return {};
  if ((state & kAtBoundary) == 0 || (state & kInLastBlock) != 0) return {};
  std::array<Bytef, 32 << 10> window;
  uInt size = 0;
  inflateGetDictionary(&inflater_, window.data(), &size);
  last_point_ = position_;
  const RestartPoint point{.out = position_,
                           .in = stored_.offset(),
                           .kind = RestartPoint::Kind::kInside,
                           .bits = static_cast<std::uint8_t>(state & kUnusedBits)};
  return log_->add(point, {reinterpret_cast<const char*>(window.data()), size});
}

}  // namespace forebay

#include "actors/source/stored/zstd_stream.h"

#include <array>
#include <string>

#include <zstd_errors.h>

#include "core/base/check.h"
#include "core/base/text/mib.h"

namespace forebay {
namespace {

constexpr std::uint32_t kZstdMagic = 0xFD2FB528;

/// Reads little-endian numbers from a header; zeros past its end.
class Header {
 public:
  explicit Header(std::span<const char> bytes) : bytes_(bytes) {}

  std::uint64_t take(std::size_t size) {
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < size; ++i) {
      if (at_ + i < bytes_.size()) {
        number |= std::uint64_t{static_cast<unsigned char>(bytes_[at_ + i])} << (8 * i);
      }
    }
    at_ += size;
    return number;
  }
  bool was_whole() const { return at_ <= bytes_.size(); }

 private:
  const std::span<const char> bytes_;
  std::size_t at_ = 0;
};

std::uint64_t window_of(std::uint64_t descriptor) {
  const std::uint64_t base = std::uint64_t{1} << (10 + (descriptor >> 3));
  return base + base / 8 * (descriptor & 7);
}

constexpr int kMostWindowLog = 31;  // zstd's own limit

}  // namespace

std::optional<ZstdFrame> ZstdFrame::read(std::span<const char> head) {
  static constexpr std::array<std::size_t, 4> kDictionaryBytes = {0, 1, 2, 4};
  static constexpr std::array<std::size_t, 4> kContentBytes = {0, 2, 4, 8};
  Header header(head);
  if (header.take(4) != kZstdMagic) return std::nullopt;
  const std::uint64_t flags = header.take(1);
  const bool one_segment = (flags & 0x20) != 0;
  ZstdFrame frame;
  if (!one_segment) frame.window = window_of(header.take(1));
  header.take(kDictionaryBytes[flags & 3]);
  std::size_t size = kContentBytes[flags >> 6];
  if (size == 0 && one_segment) size = 1;
  if (size > 0) frame.content = header.take(size) + (size == 2 ? 256 : 0);
  if (one_segment) frame.window = frame.content;
  if (!header.was_whole()) return std::nullopt;
  return frame;
}

ZstdStream::ZstdStream(const InputFile& file, const RestartPoint& start, RestartLog* log,
                       const UnpackRoom& room)
    : stored_(file, start.in),
      log_(log),
      context_(ZSTD_createDCtx()),
      room_(room),
      position_(start.out),
      last_point_(start.out) {
  FOREBAY_CHECK(context_ != nullptr);
  ZSTD_DCtx_setParameter(context_.get(), ZSTD_d_windowLogMax, kMostWindowLog);
}

Result<std::size_t> ZstdStream::next(std::span<char> out) {
  ZSTD_outBuffer output{.dst = out.data(), .size = out.size(), .pos = 0};
  while (output.pos < output.size) {
    auto stored = stored_.peek();
    if (!stored) return pass(stored);
    if (between_frames_) {
      if (stored->empty()) break;
      if (auto status = begin_frame(); !status) return pass(status);
    }
    ZSTD_inBuffer input{.src = stored->data(), .size = stored->size(), .pos = 0};
    const std::size_t before = output.pos;
    const std::size_t wanted = ZSTD_decompressStream(context_.get(), &output, &input);
    stored_.take(input.pos);
    if (ZSTD_isError(wanted) != 0) return refused(wanted);
    const std::size_t made = output.pos - before;
    if (made == 0 && stored->empty() && wanted != 0) return stored_.damaged("it ends too early");
    position_ += made;
    frame_bytes_ += made;
    if (auto status = check_room(); !status) return pass(status);
    between_frames_ = wanted == 0;
  }
  return output.pos;
}

Status ZstdStream::begin_frame() {
  frame_at_ = stored_.offset();
  frame_bytes_ = 0;
  fits_ = false;
  if (log_ == nullptr || position_ - last_point_ < kSpacing) return {};
  last_point_ = position_;
  return log_->add({.out = position_, .in = frame_at_}, {});
}

std::optional<ZstdFrame> ZstdStream::frame() const {
  std::array<char, ZstdFrame::kMostHeaderBytes> head{};
  const auto got = stored_.file().read_at(frame_at_, head);
  return got ? ZstdFrame::read(std::span<const char>(head).first(*got)) : std::nullopt;
}

// A window takes memory only for content written to it: a frame that declares 2 GiB and contains
// 10 MiB takes 10 MiB. The header is therefore read only after a frame produced more bytes than
// room_ allows.
Status ZstdStream::check_room() {
  if (fits_ || frame_bytes_ <= room_.bytes) return {};
  const auto header = frame();
  fits_ = header && header->window <= room_.bytes;
  if (fits_ || !header) return {};
  const std::uint64_t window = header->memory();
  const std::uint64_t more =
      (window - std::min(window, room_.bytes)) * static_cast<std::uint64_t>(room_.streams);
  return fail(Code::kOverloaded,
              stored_.file().path() + " keeps " + in_mib(window) +
                  " in memory while it is unpacked (a zstd window as zstd --long packs it, in the "
                  "frame at byte " +
                  std::to_string(frame_at_) + "), and the memory limit leaves " +
                  in_mib(room_.bytes) + ": raise pipeline.memory by " + in_mib(more) +
                  ", or pack the file anew with zstd --long=23");
}

tl::unexpected<Error> ZstdStream::refused(std::size_t outcome) const {
  const ZSTD_ErrorCode code = ZSTD_getErrorCode(outcome);
  const bool too_wide = code == ZSTD_error_frameParameter_windowTooLarge;
  if (!too_wide && code != ZSTD_error_memory_allocation) {
    return stored_.damaged(ZSTD_getErrorName(outcome));
  }
  const auto header = frame();
  return fail(Code::kOverloaded, stored_.file().path() + ": the frame at byte " +
                                     std::to_string(frame_at_) + " has a zstd window of " +
                                     in_mib(header ? header->window : 0) +
                                     (too_wide ? ", and zstd unpacks 2048 MiB at most"
                                               : ", and the system has no memory for it") +
                                     "; pack the file anew with zstd --long=23");
}

}  // namespace forebay

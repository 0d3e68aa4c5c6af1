#include "actors/source/zstd_stream.h"

#include "core/base/check.h"

namespace forebay {

ZstdStream::ZstdStream(const InputFile& file, const RestartPoint& start, RestartLog* log)
    : stored_(file, start.in),
      log_(log),
      context_(ZSTD_createDCtx()),
      position_(start.out),
      last_point_(start.out) {
  FOREBAY_CHECK(context_ != nullptr);
}

Result<std::size_t> ZstdStream::next(std::span<char> out) {
  ZSTD_outBuffer output{.dst = out.data(), .size = out.size(), .pos = 0};
  while (output.pos < output.size) {
    auto stored = stored_.peek();
    if (!stored) return pass(stored);
    if (between_frames_) {
      if (stored->empty()) break;
      if (auto status = log_frame(); !status) return pass(status);
    }
    ZSTD_inBuffer input{.src = stored->data(), .size = stored->size(), .pos = 0};
    const std::size_t before = output.pos;
    const std::size_t wanted = ZSTD_decompressStream(context_.get(), &output, &input);
    stored_.take(input.pos);
    if (ZSTD_isError(wanted) != 0) return stored_.damaged(ZSTD_getErrorName(wanted));
    const std::size_t made = output.pos - before;
    if (made == 0 && stored->empty() && wanted != 0) return stored_.damaged("it ends too early");
    position_ += made;
    between_frames_ = wanted == 0;
  }
  return output.pos;
}

Status ZstdStream::log_frame() {
  if (log_ == nullptr || position_ - last_point_ < kSpacing) return {};
  last_point_ = position_;
  return log_->add({.out = position_, .in = stored_.offset()}, {});
}

}  // namespace forebay

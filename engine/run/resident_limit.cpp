#include "engine/run/resident_limit.h"

#include <algorithm>

namespace forebay {
namespace {

/// Fluctuation of the kernel's figure while splits are made and freed.
constexpr std::uint64_t kWobble = std::uint64_t{8} << 20;

}  // namespace

std::uint64_t ResidentLimit::allowed(const Look& now) {
  if (now.resident <= now.limit) {
    beside_.reset();
  } else if (now.limit < limit_) {
    const std::uint64_t beside = now.resident > now.accounted ? now.resident - now.accounted : 0;
    beside_ = std::max(beside_.value_or(0), beside);
  }
  limit_ = now.limit;
  return beside_ ? std::max(now.limit, now.accounted + *beside_ + kWobble) : now.limit;
}

ResidentLimit::Verdict ResidentLimit::look(const Look& now) {
  if (now.resident <= allowed(now)) {
    since_.reset();
    return Verdict::kWithin;
  }
  if (!since_) {
    since_ = now.at;
    return Verdict::kSuspect;
  }
  return now.at - *since_ < kConfirm ? Verdict::kWithin : Verdict::kOver;
}

}  // namespace forebay

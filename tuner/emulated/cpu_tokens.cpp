#include "tuner/emulated/cpu_tokens.h"

#include <algorithm>
#include <limits>

#include "core/base/check.h"

namespace forebay::tuner {

CpuTokens::CpuTokens(double cpus, std::size_t stages)
    : cpus_(cpus), wanting_(stages, 0), used_(stages, 0) {}

double CpuTokens::share() const {
  const auto wanting = static_cast<double>(queue_.size());
  return wanting <= cpus_ ? 1 : cpus_ / wanting;
}

void CpuTokens::add(WorkItem& work, double seconds) {
  queue_.push({shared_ + seconds, &work});
  ++wanting_[work.stage];
}

double CpuTokens::next_end() const {
  if (queue_.empty()) return std::numeric_limits<double>::infinity();
  return now_ + std::max(0.0, queue_.top().end - shared_) / share();
}

void CpuTokens::advance(double now) {
  FOREBAY_CHECK(now >= now_);
  const double each = (now - now_) * share();
  for (std::size_t i = 0; i < used_.size(); ++i) {
    used_[i] += each * static_cast<double>(wanting_[i]);
  }
  shared_ += each;
  now_ = now;
}

WorkItem& CpuTokens::pop() {
  WorkItem& work = *queue_.top().work;
  queue_.pop();
  --wanting_[work.stage];
  return work;
}

}  // namespace forebay::tuner

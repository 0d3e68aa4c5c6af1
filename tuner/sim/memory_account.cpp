#include "tuner/sim/memory_account.h"

#include <algorithm>
#include <limits>

namespace forebay::tuner {

MemoryAccount::MemoryAccount(std::uint64_t base_bytes, std::uint64_t limit)
    : used_(base_bytes),
      peak_(base_bytes),
      peak_ever_(base_bytes),
      enforced_(limit),
      declared_{{.from = 0, .limit = limit}} {
  check();
}

void MemoryAccount::set_limit(double now, std::uint64_t limit) {
  declared_.push_back({.from = now, .limit = limit});
  enforced_ = std::max(enforced_, limit);
  check();
}

double MemoryAccount::next_change() const {
  return declared_.size() < 2 ? std::numeric_limits<double>::infinity()
                              : declared_[1].from + kGraceSeconds;
}

bool MemoryAccount::enforce(double now, std::uint64_t leaving) {
  while (next_change() <= now) declared_.pop_front();
  const std::uint64_t before = enforced_;
  enforced_ = 0;
  for (const Declared& declared : declared_) enforced_ = std::max(enforced_, declared.limit);
  const bool lowered = enforced_ < before;
  if (lowered) exempt_ = leaving;
  check();
  return lowered;
}

void MemoryAccount::give_exempt(std::uint64_t bytes) {
  exempt_ -= bytes;
  check();
}

void MemoryAccount::restart_peak() {
  peak_ever_ = peak_ever();
  peak_ = used_;
  check();
}

void MemoryAccount::check() {
  peak_ = std::max(peak_, used_);
  watched_ = std::min(peak_, enforced_ + exempt_);
  exceeded_ = exceeded_ || used_ > enforced_ + exempt_;
}

}  // namespace forebay::tuner

#include "tuner/cluster/thread_count.h"

namespace forebay::tuner {
namespace {

constexpr int kApart = 3;  // intervals after which the model's own number counts

/// Windows are intervals, of two seconds as a rule: a trial takes as long as one of workers.
ThreadSearch::Options options_of(const ThreadsSeen& seen) {
  return {.start = static_cast<int>(seen.now),
          .most = static_cast<int>(seen.most),
          .settle = 2,
          .windows = 3,
          .rest = 30,
          .most_rest = 240};
}

const char* finding(const ThreadTrial& trial) {
  if (trial.tried > trial.before) return trial.kept ? "more train more" : "more train no more";
  return trial.kept ? "fewer train more" : "fewer train no more";
}

}  // namespace

void ThreadCount::begin(const ThreadsSeen& seen) {
  search_.emplace(options_of(seen));
  most_ = seen.most;
  apart_ = 0;
  why_ = "as it began";
}

void ThreadCount::judge(double value) {
  const int before = search_->threads();
  if (const auto trial = search_->add(value)) {
    kept_ = trial->kept;
    why_ = finding(*trial);
  } else if (search_->tries() && search_->threads() != before) {
    why_ = search_->threads() > before ? "tries more" : "tries fewer";
  }
}

std::uint32_t ThreadCount::decide(const ThreadsSeen& seen) {
  kept_ = false;
  if (seen.now == 0 || seen.most < 2) {
    search_.reset();
    return 0;
  }
  const bool apart = search_ && static_cast<int>(seen.now) != search_->threads();
  apart_ = apart ? apart_ + 1 : 0;
  if (!search_ || most_ != seen.most || apart_ >= kApart) begin(seen);
  search_->allow(seen.fed ? static_cast<int>(most_) : search_->settled());
  if (!seen.quiet) {
    if (tries()) why_ = "a trial was given up: nodes changed";
    search_->interrupt();
  } else if (!apart && seen.value > 0) {
    judge(seen.value);
  }
  return static_cast<std::uint32_t>(search_->threads());
}

}  // namespace forebay::tuner

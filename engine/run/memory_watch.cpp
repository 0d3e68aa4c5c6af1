#include "engine/run/memory_watch.h"

#include <algorithm>
#include <utility>

#include <malloc.h>

#include "core/base/clock.h"
#include "engine/job/quantity.h"

namespace forebay {
namespace {

/// Fluctuation of the kernel's figure while splits are made and freed.
constexpr std::uint64_t kWobble = std::uint64_t{8} << 20;
constexpr std::chrono::milliseconds kMemoryPeriod{50};
/// Sampled calls in a period: above the first number, fewer calls are sampled; below the second,
/// more.
constexpr std::uint64_t kManyLooks = 25;
constexpr std::uint64_t kFewLooks = 10;
constexpr unsigned kRarest = 16;
/// The cost of a sample is the square of the number of functions.
constexpr std::size_t kMostFunctions = 64;

/// Solves matrix × x = right for a symmetric, positive definite matrix, stored row by row, by
/// Gauss-Jordan elimination.
std::vector<double> solve(std::vector<double> matrix, std::vector<double> right) {
  const std::size_t n = right.size();
  for (std::size_t pivot = 0; pivot < n; ++pivot) {
    const double divisor = matrix[pivot * n + pivot];
    for (std::size_t row = 0; row < n; ++row) {
      if (row == pivot) continue;
      const double factor = matrix[row * n + pivot] / divisor;
      for (std::size_t i = pivot; i < n; ++i) matrix[row * n + i] -= factor * matrix[pivot * n + i];
      right[row] -= factor * right[pivot];
    }
  }
  for (std::size_t row = 0; row < n; ++row) right[row] /= matrix[row * n + row];
  return right;
}

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
constinit thread_local std::uint64_t draws = 0;

/// Returns true for one of 2^rarity calls of this thread, at random, so that no pattern of calls is
/// missed.
bool drawn(unsigned rarity) {
  draws = draws * 6364136223846793005U + 1442695040888963407U;
  return rarity == 0 || draws >> (64 - kRarest) << (64 - rarity) == 0;
}

}  // namespace

void GrowthAttribution::make_room(std::size_t number) {
  const std::size_t before = size();
  if (number < before) return;
  threads_.resize(number + 1);
  seen_.resize(number + 1);
  std::vector<double> grown(size() * size());
  for (std::size_t a = 0; a < before; ++a) {
    std::copy_n(overlaps_.begin() + static_cast<std::ptrdiff_t>(a * before), before,
                grown.begin() + static_cast<std::ptrdiff_t>(a * size()));
  }
  overlaps_ = std::move(grown);
}

void GrowthAttribution::note(Time at, std::int64_t bytes) {
  if (at_) {
    const double seconds = in_seconds(at - *at_);
    const auto growth = static_cast<double>(bytes - bytes_);
    for (std::size_t a = 0; a < size(); ++a) {
      if (threads_[a] == 0) continue;
      seen_[a] += threads_[a] * growth;
      for (std::size_t b = 0; b < size(); ++b) overlap(a, b) += threads_[a] * threads_[b] * seconds;
    }
  }
  at_ = at;
  bytes_ = bytes;
}

void GrowthAttribution::enter(std::size_t number, Time at, std::int64_t bytes) {
  note(at, bytes);
  make_room(number + 1);
  ++threads_[number + 1];
}

void GrowthAttribution::leave(std::size_t number, Time at, std::int64_t bytes) {
  note(at, bytes);
  --threads_[number + 1];
}

// A small ridge on the diagonal separates the rates of two functions that always ran together. The
// ridge of everything else is larger: at the start, buffers are allocated and counted within a
// millisecond or two. A rate fitted over so short a time would leave a negative rest for a long
// call that follows.
std::vector<double> GrowthAttribution::growth() const {
  constexpr double kRidge = 1e-6;
  constexpr double kSecondsWithoutGrowth = 1;
  std::vector<double> matrix = overlaps_;
  matrix[0] += kSecondsWithoutGrowth;
  for (std::size_t a = 0; a < size(); ++a) {
    double& own = matrix[a * size() + a];
    own += kRidge * own + 1e-9;
  }
  const std::vector<double> rates = solve(std::move(matrix), seen_);
  std::vector<double> growth;
  for (std::size_t a = 1; a < size(); ++a) growth.push_back(rates[a] * overlaps_[a]);
  return growth;
}

std::optional<std::size_t> GrowthAttribution::likely() const {
  const std::vector<double> all = growth();
  const auto most = std::max_element(all.begin(), all.end());
  if (most == all.end() || !(*most > 0)) return std::nullopt;
  return static_cast<std::size_t>(most - all.begin());
}

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

MemoryWatch::MemoryWatch(std::function<std::uint64_t()> accounted,
                         std::function<std::uint64_t()> children)
    : accounted_(std::move(accounted)), children_(std::move(children)) {
  begin_observing();
}

MemoryWatch::~MemoryWatch() {
  stop();
  end_observing();
}

void MemoryWatch::watch(Options options) {
  options_ = std::move(options);
  ticker_.emplace(kMemoryPeriod, [this] { look(); });
}

void MemoryWatch::stop() { ticker_.reset(); }

// Memory that the heap keeps free does not count. Otherwise a function that allocates much
// temporarily would seem to keep what another function keeps, in memory that the first one freed.
std::int64_t MemoryWatch::beside_the_account() const {
  return static_cast<std::int64_t>(gauge_.bytes()) -
         static_cast<std::int64_t>(accounted_() + free_heap_bytes());
}

bool MemoryWatch::entered(const UserCode& code) {
  if (code.number() >= kMostFunctions) return false;
  if (!drawn(sampling_.load(std::memory_order_relaxed))) return false;
  attributing_([&] {
    growth_.enter(code.number(), clock_.now(), beside_the_account());
    ++looks_;
  });
  return true;
}

void MemoryWatch::left(const UserCode& code) {
  attributing_([&] { growth_.leave(code.number(), clock_.now(), beside_the_account()); });
}

void MemoryWatch::settle_sampling() {
  const unsigned now = sampling_.load(std::memory_order_relaxed);
  if (looks_ > kManyLooks && now < kRarest) sampling_ = now + 1;
  if (looks_ < kFewLooks && now > 0) sampling_ = now - 1;
  looks_ = 0;
}

void MemoryWatch::look() {
  attributing_([this] {
    growth_.note(clock_.now(), beside_the_account());
    settle_sampling();
  });
  const std::uint64_t children = children_ ? children_() : 0;
  peak_of_children_ = std::max<std::uint64_t>(peak_of_children_, children);
  const ResidentLimit::Look now{.at = clock_.now(),
                                .resident = gauge_.bytes() + children,
                                .limit = options_.limit(),
                                .accounted = accounted_() + children};
  switch (limit_.look(now)) {
    case ResidentLimit::Verdict::kWithin:
      return;
    case ResidentLimit::Verdict::kSuspect:
      ::malloc_trim(0);
      return;
    case ResidentLimit::Verdict::kOver:
      if (!std::exchange(failed_, true)) options_.fail(describe(now.resident, now.limit));
  }
}

std::string MemoryWatch::describe(std::uint64_t resident, std::uint64_t limit) const {
  const std::optional<std::size_t> most = attributing_([this] { return growth_.likely(); });
  std::string loaded;
  std::string likely;
  for (const UserCode* code = UserCode::first(); code != nullptr; code = code->next()) {
    if (!code->loaded()) continue;
    loaded.append(loaded.empty() ? "" : ", ").append(code->name());
    if (most == code->number()) likely = code->name();
  }
  return describe_growth(options_.key, resident, limit, loaded, likely);
}

std::string describe_growth(const char* key, std::uint64_t resident, std::uint64_t limit,
                            const std::string& loaded, const std::string& likely) {
  std::string text = std::string(key) + ": " + format_size(resident) +
                     " are resident, over the limit of " + format_size(limit);
  if (loaded.empty()) return text + "; raise it";
  if (!likely.empty()) {
    text += "; likely cause: " + likely + ", whose calls coincide with most of the growth";
  }
  return text + "; user functions loaded: " + loaded +
         "; a function must free what it takes, or the limit must leave room for it";
}

}  // namespace forebay

#include "engine/run/memory_watch.h"

#include <utility>

#include <malloc.h>

#include "engine/job/quantity.h"

namespace forebay {
namespace {

constexpr std::chrono::milliseconds kMemoryPeriod{50};
/// Sampled calls in a period: above the first number, fewer calls are sampled; below the second,
/// more.
constexpr std::uint64_t kManyLooks = 25;
constexpr std::uint64_t kFewLooks = 10;
constexpr unsigned kRarest = 16;
/// The cost of a sample is the square of the number of functions.
constexpr std::size_t kMostFunctions = 64;

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
constinit thread_local std::uint64_t draws = 0;

/// Returns true for one of 2^rarity calls of this thread, at random, so that no pattern of calls is
/// missed.
bool drawn(unsigned rarity) {
  draws = draws * 6364136223846793005U + 1442695040888963407U;
  return rarity == 0 || draws >> (64 - kRarest) << (64 - rarity) == 0;
}

}  // namespace

MemoryWatch::MemoryWatch(std::function<std::uint64_t()> accounted)
    : accounted_(std::move(accounted)) {
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
  const ResidentLimit::Look now{.at = clock_.now(),
                                .resident = gauge_.bytes(),
                                .limit = options_.limit(),
                                .accounted = accounted_()};
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

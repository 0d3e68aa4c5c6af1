#include "actors/input/store/transfer/store_client.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include <curl/curl.h>

#include "actors/input/store/transfer/transfer_loop.h"

namespace forebay {
namespace {

// How long a begun read waits for neighbours; small beside a store's first byte.
constexpr std::chrono::nanoseconds kGatherTime = std::chrono::milliseconds(1);
constexpr std::chrono::nanoseconds kLookForStop = std::chrono::milliseconds(100);

tl::unexpected<Error> stopped_error() { return fail(Code::kUnavailable, "stopped"); }

/// OpenSSL writes to connections that the store has closed; that is an error here, not a signal.
void block_pipe_signal() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGPIPE);
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

/// A result that one thread waits for and another one brings.
struct Answer {
  std::mutex mutex;
  std::condition_variable brought;
  std::optional<Result<Reply>> reply;  // under mutex
};

/// Initialises libcurl, once in a process; libcurl counts the calls and locks them itself.
class CurlInUse {
 public:
  CurlInUse() { curl_global_init(CURL_GLOBAL_DEFAULT); }
  ~CurlInUse() { curl_global_cleanup(); }
  CurlInUse(const CurlInUse&) = delete;
  CurlInUse& operator=(const CurlInUse&) = delete;
};

}  // namespace

/// How much of a read is still missing.
class StoreClient::Progress {
 public:
  explicit Progress(std::uint64_t bytes) : missing_(bytes) {}

  void add(std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    missing_ -= std::min(missing_, bytes);
    if (missing_ == 0) changed_.notify_all();
  }
  void fail_with(const Error& error) {
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = error;
    changed_.notify_all();
  }
  bool ended() {
    const std::lock_guard lock(mutex_);
    return missing_ == 0;
  }

  // A stop waits a while for the bytes, since an orderly end needs the split that they are for.
  Status wait(const std::function<bool()>& stopped) {
    constexpr int kLooks = 20;
    std::unique_lock lock(mutex_);
    const auto ready = [this] { return missing_ == 0 || error_.has_value(); };
    for (int looks = 0; !changed_.wait_for(lock, kLookForStop, ready);) {
      lock.unlock();
      if (stopped && stopped() && ++looks >= kLooks) return stopped_error();
      lock.lock();
    }
    if (error_) return tl::unexpected<Error>(*error_);
    return {};
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t missing_;  // under mutex_, as below
  std::optional<Error> error_;
};

class StoreClient::Pending final : public PendingRead {
 public:
  Pending(std::shared_ptr<StoreClient> client, std::shared_ptr<Progress> progress)
      : client_(std::move(client)), progress_(std::move(progress)) {}
  ~Pending() override {
    if (!progress_->ended()) client_->forget(progress_);
  }
  Status wait() override { return progress_->wait(client_->options_.stopped); }

 private:
  std::shared_ptr<StoreClient> client_;
  std::shared_ptr<Progress> progress_;
};

StoreClient::StoreClient(StoreClientOptions options)
    : options_(std::move(options)), rule_(rule_for(options_.storage)) {}

StoreClient::~StoreClient() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    if (loop_) loop_->wake();
  }
  thread_.reset();
}

void StoreClient::announce_doubt(const std::string& path, const std::string& doubt) {
  if (!options_.announce || doubt_announced_.exchange(true)) return;
  options_.announce(path + ": the server " + doubt +
                    "; replace no file during a run (said of the first such file alone)");
}

bool StoreClient::take_read_ahead(std::uint64_t bytes) {
  if (read_ahead_.fetch_add(bytes) + bytes <= options_.read_ahead_bytes) return true;
  read_ahead_ -= bytes;
  return false;
}

void StoreClient::post(Post post) {
  const std::lock_guard lock(mutex_);
  posts_.push_back(std::move(post));
  if (!thread_) {
    static const CurlInUse in_use;
    TransferOptions limits{.connections = options_.storage.connections,
                           .timeout = options_.storage.timeout,
                           .give_up_after = options_.storage.give_up_after,
                           .ca_bundle = options_.ca_bundle,
                           .announce = options_.announce};
    if (options_.counts) {
      limits.count = [counts = options_.counts](std::size_t requests, std::size_t bytes) {
        counts->add(requests, bytes);
      };
    }
    loop_ = std::make_unique<TransferLoop>(limits, clock_);
    thread_.emplace(Thread::Options{.name = "store"}, [this] { run(); });
  }
  loop_->wake();
}

void StoreClient::run() {
  block_pipe_signal();
  constexpr std::chrono::nanoseconds kLong = std::chrono::hours(1);
  while (true) {
    std::vector<Post> posts;
    {
      const std::lock_guard lock(mutex_);
      if (stopping_) return;
      posts.swap(posts_);
    }
    for (const Post& each : posts) each();
    const auto now = clock_.now();
    plan_due(now);
    loop_->turn(gathered_.empty() ? kLong : next_plan(now));
  }
}

Result<Reply> StoreClient::call(const std::shared_ptr<const Target>& target, const Call& call) {
  const auto answer = std::make_shared<Answer>();
  post([this, answer, target, call] {
    auto fetch = std::make_unique<Fetch>(target, call.method, std::nullopt);
    fetch->more_headers = call.headers;
    fetch->needs_head_only = call.needs_head_only;
    fetch->urgent = true;
    fetch->done = [answer](Result<Reply> reply) {
      const std::lock_guard lock(answer->mutex);
      answer->reply = std::move(reply);
      answer->brought.notify_all();
    };
    loop_->add(std::move(fetch));
  });
  std::unique_lock lock(answer->mutex);
  while (!answer->brought.wait_for(lock, kLookForStop, [&] { return answer->reply.has_value(); })) {
    lock.unlock();
    if (options_.stopped && options_.stopped()) return stopped_error();
    lock.lock();
  }
  return std::move(*answer->reply);
}

std::unique_ptr<PendingRead> StoreClient::read(const std::shared_ptr<const Target>& target,
                                               const StoredVersion& version,
                                               const std::vector<ReadRange>& ranges, Haste haste) {
  Gathered begun{.target = target, .version = version, .wanted = {}, .owners = {}};
  begun.urgent = haste == Haste::kWaitedFor;
  std::uint64_t bytes = 0;
  bool outside = false;
  for (const ReadRange& range : ranges) {
    outside =
        outside || range.offset > version.bytes || range.out.size() > version.bytes - range.offset;
    bytes += range.out.size();
  }
  const auto progress = std::make_shared<Progress>(bytes);
  begun.owners.push_back(progress);
  for (const ReadRange& range : ranges) {
    begun.wanted.push_back({.offset = range.offset,
                            .bytes = range.out.size(),
                            .out = range.out.data(),
                            .owner = progress.get()});
  }
  if (outside) {
    progress->fail_with(changed_since_indexed(target->path).value());
  } else if (bytes > 0) {
    post([this, begun = std::move(begun)] { gather(begun); });
  }
  return std::make_unique<Pending>(shared_from_this(), progress);
}

/// Adds a read to those of its file that have not been planned yet.
void StoreClient::gather(Gathered more) {
  const auto same = std::ranges::find_if(
      gathered_, [&more](const Gathered& one) { return one.target == more.target && !one.urgent; });
  if (more.urgent || same == gathered_.end()) {
    more.due = clock_.now() + (more.urgent ? std::chrono::nanoseconds(0) : kGatherTime);
    gathered_.push_back(std::move(more));
    return;
  }
  same->wanted.insert(same->wanted.end(), more.wanted.begin(), more.wanted.end());
  same->owners.push_back(std::move(more.owners.front()));
}

std::chrono::nanoseconds StoreClient::next_plan(std::chrono::nanoseconds now) const {
  auto due = gathered_.front().due;
  for (const Gathered& one : gathered_) due = std::min(due, one.due);
  return due - now;
}

void StoreClient::plan_due(std::chrono::nanoseconds now) {
  for (Gathered& one : gathered_) {
    if (one.due <= now) plan(one);
  }
  std::erase_if(gathered_, [now](const Gathered& one) { return one.due <= now; });
}

void StoreClient::plan(Gathered& gathered) {
  // The captured list keeps alive what the pieces' owners point to.
  const auto owners =
      std::make_shared<const std::vector<std::shared_ptr<Progress>>>(std::move(gathered.owners));
  std::vector<PlannedRange> ranges = plan_ranges(std::move(gathered.wanted), rule_);
  if (gathered.urgent) std::ranges::reverse(ranges);  // each goes to the front of the queue
  for (PlannedRange& range : ranges) {
    auto pieces = range.wanted;
    auto fetch = std::make_unique<Fetch>(gathered.target, "GET",
                                         RangeOf{std::move(range), gathered.version});
    fetch->urgent = gathered.urgent;
    fetch->done = [owners, pieces = std::move(pieces)](const Result<Reply>& reply) {
      for (const Wanted& piece : pieces) {
        auto& owner = *static_cast<Progress*>(piece.owner);
        reply ? owner.add(piece.bytes) : owner.fail_with(reply.error());
      }
    };
    loop_->add(std::move(fetch));
  }
}

/// Returns when nothing is written to the memory of this read any more.
void StoreClient::forget(const std::shared_ptr<Progress>& progress) {
  const auto forgotten = std::make_shared<Answer>();
  post([this, progress, forgotten] {
    const void* const owner = progress.get();
    for (Gathered& one : gathered_) {
      std::erase_if(one.wanted, [owner](const Wanted& piece) { return piece.owner == owner; });
    }
    loop_->drop([owner](Fetch& fetch) {
      if (!fetch.is_range()) return false;
      bool wanted = false;
      for (Wanted& piece : fetch.range().wanted) {
        if (piece.owner == owner) piece.out = nullptr;
        wanted = wanted || piece.out != nullptr;
      }
      return !wanted;
    });
    const std::lock_guard lock(forgotten->mutex);
    forgotten->reply = Reply{};
    forgotten->brought.notify_all();
  });
  std::unique_lock lock(forgotten->mutex);
  forgotten->brought.wait(lock, [&forgotten] { return forgotten->reply.has_value(); });
}

}  // namespace forebay

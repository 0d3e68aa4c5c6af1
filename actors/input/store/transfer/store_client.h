#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "actors/input/file_system.h"
#include "actors/input/store/storage_spec.h"
#include "actors/input/store/transfer/fetch.h"
#include "actors/input/store/transfer/target.h"
#include "core/base/clock.h"
#include "core/base/result.h"
#include "core/base/thread/start_thread.h"

namespace forebay {

class TransferLoop;

/// What a StoreClient is made with.
struct StoreClientOptions {
  StorageSpec storage = {};
  std::shared_ptr<IoCounts> counts = {};  ///< Where requests and bytes are counted, if anywhere.
  /// Tells a person that a store does not answer; called by any thread.
  std::function<void(const std::string&)> announce = {};
  /// Called several times a second by who waits; true ends the wait with kUnavailable.
  std::function<bool()> stopped = {};
  /// What all files together may read ahead of what was asked for.
  std::uint64_t read_ahead_bytes = std::uint64_t{64} << 20;
  /// A file with the certificates that https trusts; "": the system's.
  std::string ca_bundle = {};
};

/// Asks stores for bytes, many requests at a time from one thread of its own, which begins with the
/// first request. Any thread may call any function.
///
/// Bytes of a read go straight to the reader's memory: the client keeps none but what libcurl
/// receives into. Reads that begin within a millisecond are planned together, so that neighbours
/// share requests.
class StoreClient : public std::enable_shared_from_this<StoreClient> {
 public:
  explicit StoreClient(StoreClientOptions options);
  ~StoreClient();
  StoreClient(const StoreClient&) = delete;
  StoreClient& operator=(const StoreClient&) = delete;

  struct Call {
    std::string method = "GET";
    Headers headers = {};
    bool needs_head_only = false;
  };
  /// Sends one request and waits for the answer: one of 200 to 299, and any answer to HEAD.
  Result<Reply> call(const std::shared_ptr<const Target>& target, const Call& call);

  enum class Haste : std::uint8_t { kNone, kWaitedFor };
  /// Begins to fill `ranges` of a version of a file.
  std::unique_ptr<PendingRead> read(const std::shared_ptr<const Target>& target,
                                    const StoredVersion& version,
                                    const std::vector<ReadRange>& ranges, Haste haste);

  const StoreClientOptions& options() const { return options_; }
  /// Announces, for the first file of such a server alone, that changes of `path` may go unnoticed:
  /// `doubt` says why.
  void announce_doubt(const std::string& path, const std::string& doubt);
  /// Takes `bytes` of what may be read ahead; false: so many are not left.
  bool take_read_ahead(std::uint64_t bytes);
  void give_read_ahead(std::uint64_t bytes) { read_ahead_ -= bytes; }

 private:
  class Progress;
  class Pending;
  struct Gathered {
    std::shared_ptr<const Target> target;
    StoredVersion version;
    std::vector<Wanted> wanted;
    std::vector<std::shared_ptr<Progress>> owners;
    std::chrono::nanoseconds due{0};
    bool urgent = false;
  };
  using Post = std::function<void()>;

  void post(Post post);
  void run();
  void gather(Gathered more);
  void plan_due(std::chrono::nanoseconds now);
  void plan(Gathered& gathered);
  void forget(const std::shared_ptr<Progress>& progress);
  std::chrono::nanoseconds next_plan(std::chrono::nanoseconds now) const;

  const StoreClientOptions options_;
  const RangeRule rule_;
  SystemClock clock_;
  std::atomic<std::uint64_t> read_ahead_{0};
  std::atomic<bool> doubt_announced_{false};
  std::unique_ptr<TransferLoop> loop_;
  std::vector<Gathered> gathered_;  // belongs to the thread
  std::mutex mutex_;
  std::vector<Post> posts_;  // under mutex_, as all below
  bool stopping_ = false;
  std::optional<Thread> thread_;
};

}  // namespace forebay

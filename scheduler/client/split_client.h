#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/data/batch.h"
#include "core/runtime/actor.h"
#include "scheduler/client/wanted_splits.h"
#include "scheduler/cluster_status.h"
#include "scheduler/protocol.h"
#include "scheduler/range_set.h"

namespace forebay::scheduler {

/// Owner → split client: begin: open the job at the head. Sent once, right after the spawn.
struct BeginSplitClient {
  static constexpr std::string_view kTag = "feed.begin/1";
};

/// Split client → itself, once a `period`.
struct SplitClientTick {
  static constexpr std::string_view kTag = "feed.tick/1";
};

/// Split client → itself: report what was gathered.
struct ReportGathered {
  static constexpr std::string_view kTag = "feed.report/1";
};

/// Pipeline → split client: these splits may be made; the window has space for them.
struct IssueSplits {
  static constexpr std::string_view kTag = "feed.issue/1";
  std::vector<std::uint64_t> splits;
};

/// Pipeline → split client: the trainer has all batches up to this position, which is the position
/// after the last batch it took.
struct Trained {
  static constexpr std::string_view kTag = "feed.consumed/1";
  Position position;
};

/// Pipeline → split client: the job is over. The split client informs the head, calls `on_closed`
/// and ends.
struct EndJob {
  static constexpr std::string_view kTag = "feed.end/1";
  std::string error;  ///< Empty: the job succeeded.
};

/// Receives the splits that arrive at a split client: the path into the trainer's reorder buffer.
class ArrivalSink {
 public:
  virtual ~ArrivalSink() = default;

  /// Takes a split that a worker delivered; its memory was reserved when the split was issued.
  /// Called on the split client's thread, once for each split; must not block. Returns false if
  /// this node has made the split itself already. Returns an error if the bytes are not such a
  /// split; it is then made again.
  virtual Result<bool> arrived(std::uint64_t split, const std::string& worker, Frames frames) = 0;

  /// Called with what a worker's process has used for the job so far, when a split of it
  /// arrived; on the split client's thread.
  virtual void has_used(const std::string& /*worker*/, std::uint64_t /*pid*/,
                        const JobUse& /*so_far*/) {}
};

struct SplitClientOptions {
  JobShare job;
  Position start;       ///< Where the run resumes.
  std::string address;  ///< The split client's address for workers; empty: the head's address.
  std::uint32_t min_workers = 0;  ///< Minimum workers of the job.
  std::chrono::nanoseconds period = std::chrono::milliseconds(250);
  std::chrono::nanoseconds reconnect = std::chrono::milliseconds(500);  ///< While not connected.
  std::chrono::nanoseconds ask_timeout = std::chrono::seconds(2);
  /// A split that was requested and does not arrive within this time is requested from another
  /// worker.
  std::chrono::nanoseconds pull_timeout = std::chrono::seconds(10);
  /// Called with a sentence for each event. On the split client's thread, as is on_closed.
  std::function<void(const std::string&)> say;
  std::function<void()> on_closed;
};

/// The trainer's client of the cluster: tracks which splits are wanted, which workers have them,
/// and which have arrived.
///
/// Owns the accounting of splits that are issued and not yet handed to the trainer; the bytes go
/// directly to the sink. Passes each split to the sink once, even if several workers deliver it or
/// one delivers it repeatedly. While the head is unreachable it keeps the accounting and
/// reconnects, then sends the head all of it. What it tells head and workers of issued and arrived
/// splits it gathers for a moment while they have enough to do. After a quiet period it asks the
/// head whether it still knows the session: a late message of a dead trainer may have replaced the
/// session, and the head would wait for that trainer. Any thread may send IssueSplits, Trained,
/// EndJob and QuerySplitClient. `finder` and `sink` are called on the actor's thread and must
/// outlive it. Its mailbox must have space for the window of splits: deliveries wait in it.
class SplitClient final
    : public ActorOf<SplitClient, Ready, Deliver, HandedOn, BeginSplitClient, SplitClientTick,
                     ReportGathered, IssueSplits, Trained, EndJob, QuerySplitClient,
                     Answered<OpenJob>, Answered<Issue>, Answered<Arrived>, Answered<Finished>,
                     Answered<CloseJob>, Down> {
 public:
  using Time = std::chrono::nanoseconds;

  SplitClient(SplitClientOptions options, HeadFinder& finder, ArrivalSink& sink);

  Status on(const Ready& ready, Context& context);
  Status on(Deliver&& deliver, Context& context);
  Status on(const HandedOn& handed, Context& context);
  Status on(const BeginSplitClient& begin, Context& context);
  Status on(const SplitClientTick& tick, Context& context);
  Status on(const ReportGathered& report, Context& context);
  Status on(const IssueSplits& issue, Context& context);
  Status on(const Trained& trained, Context& context);
  Status on(const EndJob& end, Context& context);
  Result<SplitClientStatus> on(const QuerySplitClient& query, Context& context);
  Status on(const Answered<OpenJob>& answer, Context& context);
  Status on(const Answered<Issue>& answer, Context& context);
  Status on(const Answered<Arrived>& answer, Context& context);
  Status on(const Answered<Finished>& answer, Context& context);
  Status on(const Answered<CloseJob>& answer, Context& context);
  Status on(const Down& down, Context& context);

 private:
  using Split = WantedSplits::Split;

  /// The split of a job with this fingerprint, if it is this job's and has not arrived; else null.
  Split* missing(std::uint64_t split, const std::string& fingerprint);
  void pull(std::uint64_t split, Context& context);
  void arrived(std::uint64_t split, Context& context);
  void refuse(const Deliver& deliver, const Error& why, Context& context);
  void gather(bool enough, Context& context);
  void report(Context& context);
  void forget(std::uint64_t split, Context& context);
  void retry_late_pulls(Context& context);
  void watch_holder(const HolderRef& holder, Context& context);

  void open(Context& context);
  void reconnect(const Error& why, Context& context);
  bool is_current(std::uint64_t token) const { return open_ && token == opening_; }
  template <class Word>
  void tell_head(Word word, bool& on_its_way, Context& context);
  template <class Word>
  Status heard(const Answered<Word>& answer, bool& on_its_way, Context& context);
  void send_issued(Context& context);
  void ask_for_session(Context& context);
  void send_arrived(Context& context);
  void send_finished(Context& context);
  void close(Context& context);
  void finish_closing(Context& context);
  void say(const std::string& sentence) const;

  const SplitClientOptions options_;
  HeadFinder& finder_;
  ArrivalSink& sink_;
  HeadRef head_;
  WantedSplits wanted_;
  RangeSet finished_;
  std::set<ActorId> watched_;

  bool open_ = false;          // The head has opened the job.
  bool asking_ = false;        // The head was asked to open the job.
  std::uint64_t opening_ = 0;  // Counts the requests to open; answers to earlier ones are stale.
  std::uint64_t session_ = 0;
  Time next_reconnect_ = {};
  Time gone_since_ = {};  // While not open.
  std::string why_not_open_;
  std::vector<std::uint64_t> to_issue_;  // Not yet reported to the head, as those below.
  std::vector<std::uint64_t> to_arrive_;
  /// Splits that have arrived, for the workers that hold them.
  std::map<ActorId, std::pair<HolderRef, std::vector<std::uint64_t>>> to_drop_;
  bool will_report_ = false;  // ReportGathered is on its way.
  bool finished_changed_ = false;
  bool issuing_ = false;  // An ask is in flight, as those below.
  bool arriving_ = false;
  bool finishing_ = false;
  std::optional<std::string> ending_;  // The error of EndJob, once received.
  bool closing_ = false;
  Time close_by_ = {};
  Time heard_ = {};  // When the head last confirmed this session.

  std::uint64_t duplicates_ = 0;  // Splits that came and were not wanted.
  std::uint64_t bytes_received_ = 0;
  std::string last_bad_;  // The last delivery that the sink could not read, and its time.
  Time bad_at_ = {};
};

}  // namespace forebay::scheduler

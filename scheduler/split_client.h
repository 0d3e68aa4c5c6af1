#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/data/batch.h"
#include "core/runtime/actor.h"
#include "scheduler/arrival_sink.h"
#include "scheduler/cluster_status.h"
#include "scheduler/finders.h"
#include "scheduler/protocol.h"
#include "scheduler/range_set.h"

namespace forebay::scheduler {

/// Owner → split client: begin: open the job at the head. Once, right after it was spawned.
struct BeginSplitClient {
  static constexpr std::string_view kTag = "feed.begin/1";
};

/// Split client → itself, every `period`.
struct SplitClientTick {
  static constexpr std::string_view kTag = "feed.tick/1";
};

/// Pipeline → split client: these may be made; the window has room for them.
struct IssueSplits {
  static constexpr std::string_view kTag = "feed.issue/1";
  std::vector<std::uint64_t> splits;
};

/// Pipeline → split client: the trainer has everything up to here (the position after a batch that
/// it took).
struct Trained {
  static constexpr std::string_view kTag = "feed.consumed/1";
  Position position;
};

/// Pipeline → split client: the job is over; the split client tells the head, then `on_closed`, and
/// ends.
struct EndJob {
  static constexpr std::string_view kTag = "feed.end/1";
  std::string error;  ///< Empty: it ended well.
};

struct SplitClientOptions {
  JobShare job;
  Position start;  ///< Where the run resumes.
  std::string
      address;  ///< Where workers reach this split client; empty: where they reach the head.
  std::uint32_t min_workers = 0;  ///< Of the job.
  std::chrono::nanoseconds period = std::chrono::milliseconds(250);
  std::chrono::nanoseconds reconnect = std::chrono::milliseconds(500);  ///< While the head is gone.
  std::chrono::nanoseconds ask_timeout = std::chrono::seconds(2);
  /// A split that was asked for and has not come in this time is asked for elsewhere.
  std::chrono::nanoseconds pull_timeout = std::chrono::seconds(10);
  /// Told, in a sentence, what happens. On the split client's thread, as on_closed.
  std::function<void(const std::string&)> say;
  std::function<void()> on_closed;
};

/// The trainer's end of the cluster: which splits are wanted, who has them, what has come.
///
/// Owns the accounting of splits that are issued and not yet handed to the trainer; the bytes go
/// straight to the sink. Each split goes there once, whoever delivers it and however often. While
/// the head is gone it keeps all that and reconnects; the head that comes back is told everything.
/// A head that was told nothing for a while is asked whether it still knows the session: words of a
/// trainer that has died may have come to it late, and it would wait for that one. Any thread may
/// send IssueSplits, Trained, EndJob and QuerySplitClient; `finder` and `sink` are called on the
/// actor's thread and outlive it. Give its mailbox room for the window: deliveries wait in it.
class SplitClient final
    : public ActorOf<SplitClient, Ready, Deliver, HandedOn, BeginSplitClient, SplitClientTick,
                     IssueSplits, Trained, EndJob, QuerySplitClient, Answered<OpenJob>,
                     Answered<Issue>, Answered<Arrived>, Answered<Finished>, Answered<CloseJob>,
                     Down> {
 public:
  using Time = std::chrono::nanoseconds;

  SplitClient(SplitClientOptions options, HeadFinder& finder, ArrivalSink& sink);

  Status on(const Ready& ready, Context& context);
  Status on(Deliver&& deliver, Context& context);
  Status on(const HandedOn& handed, Context& context);
  Status on(const BeginSplitClient& begin, Context& context);
  Status on(const SplitClientTick& tick, Context& context);
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
  /// A split that was issued and has not been handed to the trainer.
  struct Split {
    enum class State : std::uint8_t { kIssued, kPulling, kArrived };
    State state = State::kIssued;
    Time since = {};                      // In this state.
    std::vector<HolderRef> holders = {};  // Who says to have it; the first one is pulled from.
  };
  using Splits = std::map<std::uint64_t, Split>;

  void pull(Splits::iterator split, Context& context);
  void arrived(Splits::iterator split, Context& context);
  Splits::iterator forget(Splits::iterator split, Context& context);
  bool is_late(const Split& split, Time now) const;
  std::string what_is_late(Time now) const;
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
  Splits splits_;
  std::size_t missing_ = 0;  // Of `splits_`, those that have not arrived.
  Time silent_since_ = {};   // While some are missing: since when none has come.
  RangeSet finished_;
  std::set<ActorId> watched_;

  bool open_ = false;          // The head has the job.
  bool asking_ = false;        // It was asked to open it.
  std::uint64_t opening_ = 0;  // Counts the times it was asked; answers to earlier ones are stale.
  std::uint64_t session_ = 0;
  Time next_reconnect_ = {};
  Time gone_since_ = {};  // While not open.
  std::string why_not_open_;
  std::vector<std::uint64_t> to_issue_;  // Not yet told to the head, as those below.
  std::vector<std::uint64_t> to_arrive_;
  bool finished_changed_ = false;
  bool issuing_ = false;  // An ask is on its way, as those below.
  bool arriving_ = false;
  bool finishing_ = false;
  std::optional<std::string> ending_;  // EndJob came, with this error.
  bool closing_ = false;
  Time close_by_ = {};
  Time heard_ = {};  // When the head last said that it knows this session.

  std::uint64_t duplicates_ = 0;
  std::uint64_t bytes_received_ = 0;
  std::string last_bad_;  // The last delivery that the sink could not read, and when it came.
  Time bad_at_ = {};
};

}  // namespace forebay::scheduler

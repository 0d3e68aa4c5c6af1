#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "core/runtime/actor_ref.h"
#include "core/runtime/message.h"
#include "core/wire/frame.h"

namespace forebay::scheduler {

/// What head, feed and workers tell each other (DESIGN.md, "Many machines"). Every message here
/// can travel. Fields are append-only: a message that must change otherwise gets the next version.
/// `incarnation` names one membership of a worker: an older one's messages are not acted on.

/// The version of this protocol; nodes of another one are refused on joining.
inline constexpr std::uint32_t kProtocol = 1;

/// What head and feed are published as (core/node/node.h).
inline constexpr std::string_view kHeadName = "head";
inline constexpr std::string_view kFeedName = "feed";

/// Numbers of splits `first` … `last` (both included), counted over all epochs.
struct SplitRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  static auto fields(auto& self) { return std::tie(self.first, self.last); }
  friend bool operator==(const SplitRange&, const SplitRange&) = default;
};

/// Head → worker: make these splits; yours until the lease ends, which your heartbeat prolongs.
struct Lease {
  static constexpr std::string_view kTag = "cluster.lease/1";
  std::uint64_t incarnation = 0;
  std::vector<std::uint64_t> splits;
  static auto fields(auto& self) { return std::tie(self.incarnation, self.splits); }
};

/// Head → worker: these are not wanted of you any more (they arrived from elsewhere).
struct Revoke {
  static constexpr std::string_view kTag = "cluster.revoke/1";
  std::uint64_t incarnation = 0;
  std::vector<std::uint64_t> splits;
  static auto fields(auto& self) { return std::tie(self.incarnation, self.splits); }
};

/// Head → worker: the job is over. `error` is empty when it ended well.
struct JobEnded {
  static constexpr std::string_view kTag = "cluster.job_ended/1";
  std::string job;
  std::string error;
  static auto fields(auto& self) { return std::tie(self.job, self.error); }
};

/// Head → worker: your membership has ended; join again, or, when `final`, go.
struct Dismissed {
  static constexpr std::string_view kTag = "cluster.dismissed/1";
  std::uint64_t incarnation = 0;
  bool final = false;
  std::string reason;
  static auto fields(auto& self) { return std::tie(self.incarnation, self.final, self.reason); }
};

/// Feed → worker: send me this split, I have room for it.
struct Pull {
  static constexpr std::string_view kTag = "cluster.pull/1";
  std::uint64_t split = 0;
  static auto fields(auto& self) { return std::tie(self.split); }
};

/// Feed → worker: drop this split, it has arrived from elsewhere.
struct Drop {
  static constexpr std::string_view kTag = "cluster.drop/1";
  std::uint64_t split = 0;
  static auto fields(auto& self) { return std::tie(self.split); }
};

/// A job as its trainer describes it; `text` is opaque to the head.
struct JobShare {
  std::string id;           ///< Unique among the runs of all jobs.
  std::string text;         ///< What a worker needs to open it (tools/cluster/job_text.h).
  std::string fingerprint;  ///< Of dataset, order and operators: what a worker must agree on.
  std::uint64_t splits_per_epoch = 0;
  std::uint64_t epochs = 0;
  static auto fields(auto& self) {
    return std::tie(self.id, self.text, self.fingerprint, self.splits_per_epoch, self.epochs);
  }
  friend bool operator==(const JobShare&, const JobShare&) = default;
};

/// Head → worker: there is a job now, or its trainer has come back at another place.
struct JobOffer {
  static constexpr std::string_view kTag = "cluster.job_offer/1";
  std::uint64_t incarnation = 0;
  JobShare job;
  std::string feed_address;  ///< As in Welcome.
  static auto fields(auto& self) { return std::tie(self.incarnation, self.job, self.feed_address); }
};

using WorkerRef = ActorRef<Lease, Revoke, JobEnded, Dismissed, JobOffer>;
using HolderRef = ActorRef<Pull, Drop>;

/// Head → worker: you are a member.
struct Welcome {
  std::uint64_t incarnation = 0;
  JobShare job;                    ///< Its id is empty while there is none; JobOffer comes then.
  std::string feed_address;        ///< Where the feed listens; empty: at the head's own address.
  std::uint64_t heartbeat_ns = 0;  ///< How often the head wants to hear at least; 0: not told.
  static auto fields(auto& self) {
    return std::tie(self.incarnation, self.job, self.feed_address, self.heartbeat_ns);
  }
};

/// Worker → head: take me in. Refused with kInvalid when the versions differ, and says how.
struct Join {
  static constexpr std::string_view kTag = "cluster.join/1";
  using Reply = Welcome;
  std::uint32_t protocol = kProtocol;
  std::string version;    ///< Of the program.
  std::string operators;  ///< Digest of the operators it knows.
  std::string name;
  std::string host;
  std::uint64_t pid = 0;
  double cpus = 0;
  std::uint64_t memory_bytes = 0;
  std::vector<std::uint64_t> holds;  ///< Splits that it has in hand from an earlier membership.
  WorkerRef worker;
  static auto fields(auto& self) {
    return std::tie(self.protocol, self.version, self.operators, self.name, self.host, self.pid,
                    self.cpus, self.memory_bytes, self.holds, self.worker);
  }
};

/// Worker → head: I have opened the job and found this; lease me splits. An error says by name what
/// differs, and the worker is not leased anything.
struct Prepared {
  static constexpr std::string_view kTag = "cluster.prepared/1";
  std::uint64_t incarnation = 0;
  std::string fingerprint;
  static auto fields(auto& self) { return std::tie(self.incarnation, self.fingerprint); }
};

/// Worker → head, several times a second: I live, hold these, and want so many in hand.
/// Sent with `ask`: kNotFound says that the membership has ended.
struct Heartbeat {
  static constexpr std::string_view kTag = "cluster.heartbeat/1";
  std::uint64_t incarnation = 0;
  std::uint32_t slots = 0;           ///< Splits that it wants in hand, those it holds included.
  std::vector<std::uint64_t> holds;  ///< Leased and not yet delivered; prolongs these leases.
  std::uint64_t splits_done = 0;     ///< Since it joined.
  double busy_cpus = 0;              ///< Mean since the last heartbeat.
  std::uint64_t memory_bytes = 0;    ///< Resident.
  static auto fields(auto& self) {
    return std::tie(self.incarnation, self.slots, self.holds, self.splits_done, self.busy_cpus,
                    self.memory_bytes);
  }
};

/// Worker → head: I shall not make these; issue them elsewhere.
struct GiveBack {
  static constexpr std::string_view kTag = "cluster.give_back/1";
  std::uint64_t incarnation = 0;
  std::vector<std::uint64_t> splits;
  std::string error;  ///< Why, when making them failed: such a worker is leased nothing any more.
  static auto fields(auto& self) { return std::tie(self.incarnation, self.splits, self.error); }
};

/// Worker → head: I go in good order; answered when my leases are free.
struct Leave {
  static constexpr std::string_view kTag = "cluster.leave/1";
  std::uint64_t incarnation = 0;
  static auto fields(auto& self) { return std::tie(self.incarnation); }
};

/// Worker → feed: I have this split, so many bytes of it. Answered with Pull or Drop.
struct Ready {
  static constexpr std::string_view kTag = "cluster.ready/1";
  std::uint64_t split = 0;
  std::uint64_t bytes = 0;
  HolderRef holder;
  bool sent = false;  ///< It was pulled already and is on its way; this only asks what came of it.
  static auto fields(auto& self) {
    return std::tie(self.split, self.bytes, self.holder, self.sent);
  }
};

/// Worker → feed: the split, as frames that core/wire/column_frames.h reads.
struct Deliver {
  static constexpr std::string_view kTag = "cluster.deliver/1";
  std::uint64_t split = 0;
  std::string worker;  ///< Its name.
  Frames frames;
  static auto fields(auto& self) { return std::tie(self.split, self.worker, self.frames); }
};
inline std::size_t bytes_of(const Deliver& deliver) {
  return sizeof(deliver) + forebay::bytes_of(deliver.frames);
}

/// Head → feed: who came and went.
struct MemberChanged {
  static constexpr std::string_view kTag = "cluster.member_changed/1";
  enum class What : std::uint8_t { kJoined, kPrepared, kLeft, kLost, kRefused };
  std::string name;
  std::uint64_t incarnation = 0;
  What what = What::kJoined;
  std::string reason;
  double cpus = 0;
  std::uint64_t memory_bytes = 0;
  static auto fields(auto& self) {
    return std::tie(self.name, self.incarnation, self.what, self.reason, self.cpus,
                    self.memory_bytes);
  }
};

/// Worker → feed of the same process: this split went from the pools straight to the batcher.
struct HandedOn {
  static constexpr std::string_view kTag = "cluster.handed_on/1";
  std::uint64_t split = 0;
  static auto fields(auto& self) { return std::tie(self.split); }
};

using FeedRef = ActorRef<MemberChanged, Ready, Deliver, HandedOn>;

/// Head → feed: the job is yours, and the store cut to your position.
struct JobOpened {
  std::uint64_t session = 0;  ///< Names this opening; an older one's messages are refused.
  static auto fields(auto& self) { return std::tie(self.session); }
};

/// Feed → head: this is the job; all below `finished_below`, and those of `finished`, were handed
/// to the trainer. The store is cut back to that before anything is leased. `issued` and `arrived`:
/// what a feed that lives on after its head died has had leased already; `arrived` are among
/// `issued`. kOverloaded: the trainer of another job lives.
struct OpenJob {
  static constexpr std::string_view kTag = "cluster.open_job/1";
  using Reply = JobOpened;
  JobShare job;
  std::uint64_t finished_below = 0;
  std::vector<SplitRange> finished;
  std::vector<SplitRange> issued;
  std::vector<std::uint64_t> arrived;
  std::string feed_address;
  FeedRef feed;
  static auto fields(auto& self) {
    return std::tie(self.job, self.finished_below, self.finished, self.issued, self.arrived,
                    self.feed_address, self.feed);
  }
};

/// Feed → head: these splits may be leased now: the trainer's node has room for them.
struct Issue {
  static constexpr std::string_view kTag = "cluster.issue/1";
  std::vector<std::uint64_t> splits;
  std::uint64_t session = 0;
  static auto fields(auto& self) { return std::tie(self.splits, self.session); }
};

/// Feed → head: these splits are here; their leases end.
struct Arrived {
  static constexpr std::string_view kTag = "cluster.arrived/1";
  std::vector<std::uint64_t> splits;
  std::uint64_t session = 0;
  static auto fields(auto& self) { return std::tie(self.splits, self.session); }
};

/// Feed → head: handed to the trainer. Answered when it is on disk.
struct Finished {
  static constexpr std::string_view kTag = "cluster.finished/1";
  std::uint64_t below = 0;         ///< All of them,
  std::vector<SplitRange> ranges;  ///< and these above.
  std::uint64_t session = 0;
  static auto fields(auto& self) { return std::tie(self.below, self.ranges, self.session); }
};

/// Feed → head: the job is over.
struct CloseJob {
  static constexpr std::string_view kTag = "cluster.close_job/1";
  std::string job;
  std::string error;
  std::uint64_t session = 0;
  static auto fields(auto& self) { return std::tie(self.job, self.error, self.session); }
};

using HeadRef = ActorRef<Join, Prepared, Heartbeat, GiveBack, Leave, OpenJob, Issue, Arrived,
                         Finished, CloseJob>;

}  // namespace forebay::scheduler

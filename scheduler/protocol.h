#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "core/runtime/actor_ref.h"
#include "core/runtime/message.h"
#include "core/wire/frame.h"
#include "scheduler/job_use.h"

/// The messages between head, split client and workers (design/cluster.md). All of them
/// can be sent between processes. Fields are append-only: any other change of a message requires
/// the next version in its tag.

namespace forebay::scheduler {

/// A job as described by its trainer; `text` is opaque to the head.
struct JobShare {
  std::string id;           ///< Unique among the runs of all jobs.
  std::string text;         ///< What a worker needs to open the job (engine/cluster/worker_job.h).
  std::string fingerprint;  ///< Of dataset, order and operators; a worker's must be equal.
  std::uint64_t splits_per_epoch = 0;
  std::uint64_t epochs = 0;
  std::string folder = {};  ///< The run's folder on the trainer; one run at a time holds it.
  /// Over all epochs.
  std::uint64_t num_splits() const { return splits_per_epoch * epochs; }
  /// Whether `next` is a later run of the same job, which finds this one's trainer dead.
  bool goes_on_as(const JobShare& next) const {
    return folder == next.folder && fingerprint == next.fingerprint;
  }
  static auto fields(auto& self) {
    return std::tie(self.id, self.text, self.fingerprint, self.splits_per_epoch, self.epochs,
                    self.folder);
  }
  friend bool operator==(const JobShare&, const JobShare&) = default;
};

/// The splits `first` to `last`, both included, counted over all epochs.
struct SplitRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  static auto fields(auto& self) { return std::tie(self.first, self.last); }
  friend bool operator==(const SplitRange&, const SplitRange&) = default;
};

// Messages between the head and the workers: membership, leases and progress. `incarnation`
// identifies one membership of a worker; messages of an earlier one are ignored.

/// The version of the protocol; a node with another version is refused when it joins.
inline constexpr std::uint32_t kProtocol = 5;

/// Head → worker: make these splits; the lease lasts until its deadline, which a heartbeat extends.
struct Lease {
  static constexpr std::string_view kTag = "cluster.lease/1";
  std::uint64_t incarnation = 0;
  std::vector<std::uint64_t> splits;
  /// Those of `splits` that another worker may have made: these are announced before they are sent.
  std::vector<std::uint64_t> again = {};
  static auto fields(auto& self) { return std::tie(self.incarnation, self.splits, self.again); }
};

/// Head → worker: drop these splits; they have arrived from another worker.
struct Revoke {
  static constexpr std::string_view kTag = "cluster.revoke/1";
  std::uint64_t incarnation = 0;
  std::vector<std::uint64_t> splits;
  static auto fields(auto& self) { return std::tie(self.incarnation, self.splits); }
};

/// Head → worker: the job is over. `error` is empty if it succeeded.
struct JobEnded {
  static constexpr std::string_view kTag = "cluster.job_ended/1";
  std::string job;
  std::string error;
  static auto fields(auto& self) { return std::tie(self.job, self.error); }
};

/// Head → worker: your membership has ended; join again.
struct Evicted {
  static constexpr std::string_view kTag = "cluster.dismissed/1";
  std::uint64_t incarnation = 0;
  std::string reason;
  static auto fields(auto& self) { return std::tie(self.incarnation, self.reason); }
};

/// Head → worker: a job has been opened, or its trainer has returned at another address.
struct JobOffer {
  static constexpr std::string_view kTag = "cluster.job_offer/1";
  std::uint64_t incarnation = 0;
  JobShare job;
  std::string split_client_address;  ///< As in Accepted.
  static auto fields(auto& self) {
    return std::tie(self.incarnation, self.job, self.split_client_address);
  }
};

using WorkerRef = ActorRef<Lease, Revoke, JobEnded, Evicted, JobOffer>;

/// Head → worker: you are a member.
struct Accepted {
  std::uint64_t incarnation = 0;
  JobShare job;  ///< Its id is empty while there is no job; a JobOffer follows later.
  std::string split_client_address;  ///< The client's address; empty: the head's address.
  std::uint64_t heartbeat_ns = 0;    ///< Longest interval that the head accepts; 0: not given.
  static auto fields(auto& self) {
    return std::tie(self.incarnation, self.job, self.split_client_address, self.heartbeat_ns);
  }
};

/// Whether `name` is valid for a node. A name appears on screens, in metrics and in file paths, so
/// it is one line of 1 to 128 bytes without `/` or control characters, and not `.` or `..`.
inline bool is_node_name(std::string_view name) {
  constexpr std::size_t kMostBytes = 128;
  if (name.empty() || name.size() > kMostBytes || name == "." || name == "..") return false;
  return std::none_of(name.begin(), name.end(),
                      [](unsigned char c) { return c < 32 || c == 127 || c == '/'; });
}

/// Worker → head: join. Refused with kInvalid, which names the difference, if the versions differ.
struct Join {
  static constexpr std::string_view kTag = "cluster.join/1";
  using Reply = Accepted;
  std::uint32_t protocol = kProtocol;
  std::string version;    ///< Version of the program.
  std::string operators;  ///< Digest of the operators that the worker supports.
  std::string name;
  std::string host;
  std::uint64_t pid = 0;
  double cpus = 0;
  std::uint64_t memory_bytes = 0;
  std::vector<std::uint64_t> holds;  ///< Splits held since an earlier membership.
  WorkerRef worker;
  /// The id of the job that it works for since an earlier membership, or can work for alone, or
  /// empty; a JobEnded follows if that job is over.
  std::string job = {};
  static auto fields(auto& self) {
    return std::tie(self.protocol, self.version, self.operators, self.name, self.host, self.pid,
                    self.cpus, self.memory_bytes, self.holds, self.worker, self.job);
  }
};

/// Worker → head: the job is open here with this fingerprint; ready for leases. An error names the
/// difference, and the worker is leased no splits.
struct Prepared {
  static constexpr std::string_view kTag = "cluster.prepared/1";
  std::uint64_t incarnation = 0;
  std::string fingerprint;
  static auto fields(auto& self) { return std::tie(self.incarnation, self.fingerprint); }
};

/// Worker → head, several times a second: the splits it holds and the number it wants. Sent with
/// `ask`: kNotFound means that the membership has ended.
struct Heartbeat {
  static constexpr std::string_view kTag = "cluster.heartbeat/1";
  std::uint64_t incarnation = 0;
  std::uint32_t slots = 0;  ///< Splits that it wants to hold at a time, including current ones.
  std::vector<std::uint64_t> holds;  ///< Leased and not yet delivered; extends these leases.
  std::uint64_t splits_done = 0;     ///< Since it joined.
  double busy_cpus = 0;              ///< Mean since the last heartbeat.
  std::uint64_t memory_bytes = 0;    ///< Resident.
  JobUse use = {};                   ///< For the open job.
  double could_make = 0;             ///< Splits per second with enough leases; 0: not known.
  double busy = 1;  ///< The share of time in which it had as much work as it takes.
  double cpus = 0;  ///< That it may use now; 0: as when it joined. The same for the memory.
  std::uint64_t memory_limit = 0;
  static auto fields(auto& self) {
    return std::tie(self.incarnation, self.slots, self.holds, self.splits_done, self.busy_cpus,
                    self.memory_bytes, self.use, self.could_make, self.busy, self.cpus,
                    self.memory_limit);
  }
};

/// Worker → head: this worker will not make these splits; lease them to others.
struct GiveBack {
  static constexpr std::string_view kTag = "cluster.give_back/1";
  std::uint64_t incarnation = 0;
  std::vector<std::uint64_t> splits;
  /// Why making them failed, if it did; the worker is then leased no more splits.
  std::string error;
  static auto fields(auto& self) { return std::tie(self.incarnation, self.splits, self.error); }
};

/// Worker → head: leaves in an orderly way. Answered when its leases are free.
struct Leave {
  static constexpr std::string_view kTag = "cluster.leave/1";
  std::uint64_t incarnation = 0;
  static auto fields(auto& self) { return std::tie(self.incarnation); }
};

// Messages between workers and the split client: announcements of splits, and the splits
// themselves.

/// Split client → worker: send this split; the client has space for it.
struct Pull {
  static constexpr std::string_view kTag = "cluster.pull/1";
  std::uint64_t split = 0;
  static auto fields(auto& self) { return std::tie(self.split); }
};

/// Split client → worker: drop these splits; they have arrived.
struct Drop {
  static constexpr std::string_view kTag = "cluster.drop/2";
  std::vector<std::uint64_t> splits;
  static auto fields(auto& self) { return std::tie(self.splits); }
};

using HolderRef = ActorRef<Pull, Drop>;

/// Worker → split client: announces a split of `bytes` bytes. The client answers with Pull or Drop.
struct Ready {
  static constexpr std::string_view kTag = "cluster.ready/1";
  std::uint64_t split = 0;
  std::uint64_t bytes = 0;
  HolderRef holder;
  bool sent = false;  ///< The split was sent to this client; this only asks whether it arrived.
  /// Of the job that the split belongs to: another trainer may listen where an earlier one did.
  std::string fingerprint = {};
  static auto fields(auto& self) {
    return std::tie(self.split, self.bytes, self.holder, self.sent, self.fingerprint);
  }
};

/// Worker → split client: the split, as frames for core/wire/column_frames.h. Sent as soon as it is
/// made if no other worker has had it, else when it is pulled.
struct Deliver {
  static constexpr std::string_view kTag = "cluster.deliver/1";
  std::uint64_t split = 0;
  std::string worker;  ///< The worker's name.
  Frames frames;
  std::uint64_t pid = 0;         ///< The worker's process.
  JobUse use = {};               ///< For the open job so far.
  HolderRef holder = {};         ///< The worker keeps the split until Drop.
  std::uint64_t left = 0;        ///< Splits that the worker still makes, or that wait to be sent.
  std::string fingerprint = {};  ///< As in Ready.
  static auto fields(auto& self) {
    return std::tie(self.split, self.worker, self.frames, self.pid, self.use, self.holder,
                    self.left, self.fingerprint);
  }
};
inline std::size_t bytes_of(const Deliver& deliver) {
  return sizeof(deliver) + forebay::bytes_of(deliver.frames);
}

/// Worker → split client of the same process: the pools have passed this split directly to the
/// reorder buffer.
struct HandedOn {
  static constexpr std::string_view kTag = "cluster.handed_on/1";
  std::uint64_t split = 0;
  static auto fields(auto& self) { return std::tie(self.split); }
};

using SplitClientRef = ActorRef<Ready, Deliver, HandedOn>;

// Messages from the split client to the head: the job, and which splits may be leased, have
// arrived, or were handed to the trainer.

/// Head → split client: the job is open, and the store is cut back to your position.
struct JobOpened {
  std::uint64_t session = 0;  ///< Identifies this opening; messages of an earlier one are refused.
  static auto fields(auto& self) { return std::tie(self.session); }
};

/// Split client → head: opens this job. All splits below `finished_below` and those in `finished`
/// were handed to the trainer; the head cuts its store back to that before it leases anything.
/// `issued` and `arrived`, a subset of it, are the splits that a split client had issued to an
/// earlier head that died. Refused with kOverloaded while the trainer of another job lives or may
/// come back.
struct OpenJob {
  static constexpr std::string_view kTag = "cluster.open_job/1";
  using Reply = JobOpened;
  JobShare job;
  std::uint64_t finished_below = 0;
  std::vector<SplitRange> finished;
  std::vector<SplitRange> issued;
  std::vector<std::uint64_t> arrived;
  std::string split_client_address;
  SplitClientRef split_client;
  std::uint32_t min_workers = 0;  ///< No leases before so many have been ready at once.
  static auto fields(auto& self) {
    return std::tie(self.job, self.finished_below, self.finished, self.issued, self.arrived,
                    self.split_client_address, self.split_client, self.min_workers);
  }
};

/// Split client → head: these splits may be leased now; the trainer's node has space for them.
struct Issue {
  static constexpr std::string_view kTag = "cluster.issue/1";
  std::vector<std::uint64_t> splits;
  std::uint64_t session = 0;
  static auto fields(auto& self) { return std::tie(self.splits, self.session); }
};

/// Split client → head: these splits have arrived; their leases end.
struct Arrived {
  static constexpr std::string_view kTag = "cluster.arrived/1";
  std::vector<std::uint64_t> splits;
  std::uint64_t session = 0;
  static auto fields(auto& self) { return std::tie(self.splits, self.session); }
};

/// Split client → head: these splits were handed to the trainer. Answered when that is on disk.
struct Finished {
  static constexpr std::string_view kTag = "cluster.finished/1";
  std::uint64_t below = 0;         ///< All splits below this,
  std::vector<SplitRange> ranges;  ///< and these above it.
  std::uint64_t session = 0;
  static auto fields(auto& self) { return std::tie(self.below, self.ranges, self.session); }
};

/// Split client → head: the job is over.
struct CloseJob {
  static constexpr std::string_view kTag = "cluster.close_job/1";
  std::string job;
  std::string error;
  std::uint64_t session = 0;
  static auto fields(auto& self) { return std::tie(self.job, self.error, self.session); }
};

/// The names under which head and split client are published (core/node/node.h).
inline constexpr std::string_view kHeadName = "head";
inline constexpr std::string_view kSplitClientName = "feed";

using HeadRef = ActorRef<Join, Prepared, Heartbeat, GiveBack, Leave, OpenJob, Issue, Arrived,
                         Finished, CloseJob>;

/// Finds the head. Called repeatedly while the head does not answer, so it must not block.
class HeadFinder {
 public:
  virtual ~HeadFinder() = default;
  /// A ref to the head; an empty ref while the head cannot be reached.
  virtual HeadRef head() = 0;
};

/// Finds a job's split client.
class SplitClientFinder {
 public:
  virtual ~SplitClientFinder() = default;
  /// The split client at `address`, as given by Accepted and JobOffer (empty: the head's address);
  /// an empty ref while it cannot be reached. Must not block.
  virtual SplitClientRef split_client(const std::string& address) = 0;
};

}  // namespace forebay::scheduler

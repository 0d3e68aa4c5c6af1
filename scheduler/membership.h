#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "core/runtime/actor_ref.h"
#include "core/runtime/message.h"
#include "scheduler/job_share.h"

namespace forebay::scheduler {

/// Messages between the head and the workers: membership, leases and progress. `incarnation`
/// identifies one membership of a worker; messages of an earlier one are ignored.

/// The version of the protocol; a node with another version is refused when it joins.
inline constexpr std::uint32_t kProtocol = 1;

/// Head → worker: make these splits; the lease lasts until its deadline, which a heartbeat extends.
struct Lease {
  static constexpr std::string_view kTag = "cluster.lease/1";
  std::uint64_t incarnation = 0;
  std::vector<std::uint64_t> splits;
  static auto fields(auto& self) { return std::tie(self.incarnation, self.splits); }
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
  static auto fields(auto& self) {
    return std::tie(self.protocol, self.version, self.operators, self.name, self.host, self.pid,
                    self.cpus, self.memory_bytes, self.holds, self.worker);
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
  static auto fields(auto& self) {
    return std::tie(self.incarnation, self.slots, self.holds, self.splits_done, self.busy_cpus,
                    self.memory_bytes);
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

}  // namespace forebay::scheduler

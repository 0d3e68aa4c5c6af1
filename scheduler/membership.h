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

/// Head and workers: who is there, what each makes. `incarnation` names one membership of a worker:
/// an earlier one's messages are not acted on.

/// The version of the protocol; nodes of another one are refused on joining.
inline constexpr std::uint32_t kProtocol = 1;

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

/// Head → worker: your membership has ended; join again.
struct Evicted {
  static constexpr std::string_view kTag = "cluster.dismissed/1";
  std::uint64_t incarnation = 0;
  std::string reason;
  static auto fields(auto& self) { return std::tie(self.incarnation, self.reason); }
};

/// Head → worker: there is a job now, or its trainer has come back at another place.
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
  JobShare job;                      ///< Its id is empty while there is none; JobOffer comes then.
  std::string split_client_address;  ///< Where it listens; empty: at the head's address.
  std::uint64_t heartbeat_ns = 0;    ///< How often the head wants to hear at least; 0: not told.
  static auto fields(auto& self) {
    return std::tie(self.incarnation, self.job, self.split_client_address, self.heartbeat_ns);
  }
};

/// Worker → head: take me in. Refused with kInvalid when the versions differ, and says how.
struct Join {
  static constexpr std::string_view kTag = "cluster.join/1";
  using Reply = Accepted;
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

}  // namespace forebay::scheduler

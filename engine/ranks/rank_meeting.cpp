#include "engine/ranks/rank_meeting.h"

#include <cerrno>
#include <chrono>
#include <functional>
#include <future>
#include <utility>

#include "core/base/thread/start_thread.h"
#include "core/data/digest.h"
#include "core/net/host_port.h"
#include "core/runtime/synchronized.h"
#include "engine/cluster/head_location.h"
#include "engine/job/quantity.h"
#include "trainer/module.h"

namespace forebay {
namespace {

/// kInvalid: another process listens at MASTER_PORT on this machine already.
Status check_port_is_free(std::uint16_t port) {
  // Opening the store reports all other errors.
  if (try_port(port) != EADDRINUSE) return {};
  return fail(Code::kInvalid,
              "MASTER_PORT " + std::to_string(port) +
                  " is in use on this machine, and rank 0 has to listen there: end "
                  "a process that is left of an earlier start, or choose another port");
}

using namespace std::chrono_literals;

constexpr auto kMeetingLook = 50ms;
/// Timeout of a connection to the store's port: more than any network needs.
constexpr auto kConnect = 2s;
/// The key of rank 0's address in the store.
constexpr const char* kLeader = "leader";

using Store = std::shared_ptr<RankStore>;
using GivenUp = std::function<Status()>;

std::string device_of(const JobSpec& job, const RankEnvironment& environment) {
  const std::string& device = job.trainer.device;
  return device == "cuda" ? device + ':' + std::to_string(environment.local_rank) : device;
}

CollectiveSpec spec_of(const JobSpec& job, const RankEnvironment& environment) {
  const auto timeout =
      std::chrono::duration_cast<std::chrono::milliseconds>(job.trainer.rank_timeout);
  return environment.meeting(timeout, device_of(job, environment));
}

/// Runs `work` on its own thread, since libtorch cannot cancel its waits. Stops waiting for it once
/// `given_up` fails.
template <class Work>
auto apart(Work work, const GivenUp& given_up) -> decltype(work()) {
  std::packaged_task<decltype(work())()> task(std::move(work));
  auto done = task.get_future();
  start_thread("meeting the other ranks", std::move(task)).detach();
  while (done.wait_for(kMeetingLook) != std::future_status::ready) {
    if (auto still = given_up(); !still) return pass(still);
  }
  return done.get();
}

Status check_stop(const std::atomic<bool>& stop) {
  if (!stop) return {};
  return fail(Code::kUnavailable, "the ranks have not met: a stop was asked for");
}

/// Connects this rank to all others. `node`, its leader or follower, knows when a rank is lost.
template <class Node>
Result<std::unique_ptr<Collective>> connect(const Store& store, Node& node,
                                            const std::atomic<bool>& stop) {
  auto ranks = apart([store] { return store->connect(); },
                     [&] {
                       auto still = check_stop(stop);
                       return still ? node.check_ranks() : still;
                     });
  if (ranks || stop) return ranks;
  return tl::unexpected<Error>(node.explain(std::move(ranks.error())));
}

/// Where a rank searches for rank 0, and until when.
struct Search {
  Search(const TrainerEntry& with, CollectiveSpec where) : trainer(with), spec(std::move(where)) {}
  const TrainerEntry& trainer;
  const CollectiveSpec spec;
  Synchronized<bool> over;

  /// Waits a little; returns whether to search again.
  bool goes_on() {
    return !over.wait(
        kMeetingLook, [](bool is_over) { return is_over; }, [](bool) {});
  }
};

struct Found {
  Store store;
  std::string address;
};

/// Searches for rank 0's store, then for its address in the store, until both are found or the
/// search is over. The error names the missing one.
Result<Found> look_for_leader(Search& search) {
  const CollectiveSpec& spec = search.spec;
  const auto not_found = [] { return fail(Code::kTimeout, "the search is over"); };
  // libtorch would retry without a way to cancel it, and log each try.
  while (!is_listened_at(spec.host, spec.port, kConnect)) {
    if (!search.goes_on()) return not_found();
  }
  auto store = search.trainer.open_rank_store(spec);
  if (!store) return pass(store);
  do {
    auto address = (*store)->find(kLeader);
    if (!address) return pass(address);
    if (*address) return Found{std::move(*store), std::move(**address)};
  } while (search.goes_on());
  return not_found();
}

Result<Found> find_leader(const TrainerEntry& trainer, const CollectiveSpec& spec,
                          const std::atomic<bool>& stop) {
  auto search = std::make_shared<Search>(trainer, spec);
  const std::string place = spec.host + ":" + std::to_string(spec.port);
  const auto until = std::chrono::steady_clock::now() + spec.timeout;
  const auto given_up = [&]() -> Status {
    if (auto still = check_stop(stop); !still) return still;
    if (std::chrono::steady_clock::now() < until) return {};
    return fail(Code::kTimeout, "rank 0 does not come to " + place + " within " +
                                    format_duration(spec.timeout) +
                                    " (trainer.rank_timeout); look at what it says where it runs, "
                                    "and start all ranks again");
  };
  auto found = apart([search] { return look_for_leader(*search); }, given_up);
  search->over.change([](bool& over) { over = true; });
  if (found || !given_up() || stop) return found;
  // libtorch's own message is about its sockets.
  return fail(Code::kUnavailable, "rank 0 was lost: the store of the ranks at " + place +
                                      " went away before all ranks had met; start all ranks again");
}

/// Returns rank 0's address as ranks on other machines reach it.
std::string reached_from_here(const std::string& address, const std::string& host) {
  const std::string any = "0.0.0.0:";
  return address.starts_with(any) ? host + ':' + address.substr(any.size()) : address;
}

}  // namespace

Status check_ranks(const JobSpec& job, const RankEnvironment& environment) {
  const auto ranks = static_cast<std::uint64_t>(environment.size);
  if (job.order.batch_size % ranks != 0) {
    return fail(Code::kInvalid, "order.batch_size is " + std::to_string(job.order.batch_size) +
                                    ", which the " + std::to_string(ranks) +
                                    " ranks (WORLD_SIZE) do not divide; every rank takes an equal "
                                    "share of each batch");
  }
  const TrainerSpec::Placement placement = job.trainer.tables.placement;
  const bool cuts =
      placement == TrainerSpec::Placement::kRow || placement == TrainerSpec::Placement::kReplicated;
  if (cuts && job.trainer.tables.storage == TrainerSpec::Storage::kHashed) {
    return fail(Code::kInvalid,
                "trainer.tables.placement must be auto or table with trainer.tables.storage = "
                "\"hashed\": one rank counts all the ids of a table");
  }
  return {};
}

std::string listen_address(const RankEnvironment& environment) {
  const bool here = environment.one_machine || environment.host_is_local();
  return here ? "127.0.0.1:0" : "0.0.0.0:0";
}

std::string alike(const JobSpec& job) {
  std::string text = job.source.text;
  for (const std::string& set : job.source.sets) text.append("\n--set ").append(set);
  return program_version() + ' ' + Digest::of(text.data(), text.size()).hex();
}

Result<std::unique_ptr<Collective>> meet_followers(const JobSpec& job,
                                                   const RankEnvironment& environment,
                                                   RankLeader& leader,
                                                   const std::atomic<bool>& stop) {
  auto trainer = open_trainer();
  if (!trainer) return pass(trainer);
  const CollectiveSpec spec = spec_of(job, environment);
  if (spec.opens_store) {
    if (auto free = check_port_is_free(spec.port); !free) return pass(free);
  }
  const auto open = [trainer = *trainer, spec, address = leader.address()]() -> Result<Store> {
    auto store = trainer->open_rank_store(spec);
    if (!store) return pass(store);
    if (auto put = (*store)->put(kLeader, address); !put) return pass(put);
    return Store(std::move(*store));
  };
  auto store = apart(open, [&] { return check_stop(stop); });
  if (!store) return pass(store);
  if (auto here = leader.wait_for_ranks(stop); !here) return pass(here);
  leader.command({.kind = RankCommand::Kind::kMeet});
  return connect(*store, leader, stop);
}

Result<MetLeader> meet_leader(const JobSpec& job, const RankEnvironment& environment,
                              RankOptions options, const Clock& clock,
                              const std::atomic<bool>& stop) {
  auto trainer = open_trainer();
  if (!trainer) return pass(trainer);
  auto found = find_leader(**trainer, spec_of(job, environment), stop);
  if (!found) return pass(found);
  options.address = reached_from_here(found->address, environment.host);
  auto leader = RankFollower::open(options, clock);
  if (!leader) return pass(leader);
  if (auto here = (*leader)->wait_to_meet(); !here) return pass(here);
  auto ranks = connect(found->store, **leader, stop);
  if (!ranks) return pass(ranks);
  return MetLeader{std::move(*ranks), std::move(*leader)};
}

}  // namespace forebay

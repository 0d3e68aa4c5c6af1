#include "tools/ranks/rank_meeting.h"

#include <chrono>
#include <future>
#include <thread>
#include <utility>

#include "core/data/digest.h"
#include "tools/cluster/this_node.h"
#include "trainer/module.h"

namespace forebay {
namespace {

constexpr std::chrono::milliseconds kLook{50};

/// What has to be the same on all ranks, in one line.
std::string alike(const JobSpec& job) {
  std::string text = job.source.text;
  for (const std::string& set : job.source.sets) text.append("\n--set ").append(set);
  return program_version() + ' ' + Digest::of(text.data(), text.size()).hex();
}

std::string device_of(const JobSpec& job, const RankEnvironment& environment) {
  const std::string& device = job.trainer.device;
  return device == "cuda" ? device + ':' + std::to_string(environment.local_rank) : device;
}

/// Waits until all are there, or until `stop` is set: libtorch itself has no way to end the wait.
Result<std::unique_ptr<Collective>> meet(const TrainerModule& module, const CollectiveSpec& spec,
                                         const std::atomic<bool>& stop) {
  using Met = Result<std::unique_ptr<Collective>>;
  std::packaged_task<Met()> task([module, spec] { return module.make_collective(spec); });
  auto met = task.get_future();
  std::thread(std::move(task)).detach();
  while (met.wait_for(kLook) != std::future_status::ready) {
    if (stop) return fail(Code::kUnavailable, "the ranks have not met: a stop was asked for");
  }
  return met.get();
}

/// Who says something else than rank 0.
Status check_alike(const std::vector<std::string>& said) {
  const auto first_line = [](const std::string& text) { return text.substr(0, text.find('\n')); };
  for (std::size_t rank = 1; rank < said.size(); ++rank) {
    if (first_line(said[rank]) == first_line(said[0])) continue;
    return fail(Code::kInvalid, "rank " + std::to_string(rank) +
                                    " has another job file, other --set or another version of "
                                    "forebay than rank 0; start all ranks with the same");
  }
  return {};
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

Result<RankMeeting> meet_ranks(const JobSpec& job, const RankEnvironment& environment,
                               const std::string& address, const std::atomic<bool>& stop) {
  auto module = TrainerModule::open();
  if (!module) return pass(module);
  const auto timeout =
      std::chrono::duration_cast<std::chrono::milliseconds>(job.trainer.rank_timeout);
  auto ranks = meet(*module, environment.meeting(timeout, device_of(job, environment)), stop);
  if (!ranks) return pass(ranks);
  auto said = all_gather(**ranks, alike(job) + '\n' + address);
  if (!said) return pass(said);
  if (auto same = check_alike(*said); !same) return pass(same);
  RankMeeting met{std::move(*ranks), said->front()};
  met.address.erase(0, met.address.find('\n') + 1);
  if (const std::string any = "0.0.0.0:"; met.address.starts_with(any)) {
    met.address = environment.host + ':' + met.address.substr(any.size());
  }
  return met;
}

}  // namespace forebay

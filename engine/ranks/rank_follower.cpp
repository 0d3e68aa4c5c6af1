#include "engine/ranks/rank_follower.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "engine/job/quantity.h"
#include "engine/ranks/remote_state.h"

namespace forebay {
namespace {

using namespace std::chrono_literals;

/// Longer than rank 0 needs to detect a loss and to report it.
constexpr auto kUntilExplained = 8s;
constexpr auto kFollowerLook = 100ms;

Error said_by_rank_0(const Error& error) { return {error.code, "rank 0: " + error.message}; }

bool are_within(const std::vector<FeatureGroup>& groups, std::size_t dense, std::size_t sparse) {
  return std::ranges::all_of(groups, [&](const FeatureGroup& group) {
    return std::ranges::all_of(group.dense, [&](std::size_t at) { return at < dense; }) &&
           std::ranges::all_of(group.sparse, [&](std::size_t at) { return at < sparse; });
  });
}

}  // namespace

RankFollower::RankFollower(RankOptions options)
    : options_(std::move(options)),
      budget_(~std::size_t{0}),
      received_(~std::size_t{0}),
      buffers_(budget_) {}

Result<std::unique_ptr<RankFollower>> RankFollower::open(const RankOptions& options,
                                                         const Clock& clock) {
  auto made = std::unique_ptr<RankFollower>(  // NOLINT: the constructor is private.
      new RankFollower(options));
  auto net = open_network(options, made->received_, clock);
  if (!net) return pass(net);
  made->net_ = std::move(*net);
  const RankMailbox::Parts parts{made->options_, made->inbox_, made->served_, made->buffers_};
  const auto mailbox =
      made->net_->actors().spawn({.name = "rank", .mailbox_bytes = kNetMailbox},
                                 [parts] { return std::make_unique<RankMailbox>(parts); });
  made->net_->node().publish(std::string(kRankName), RankRef(mailbox));
  made->net_->node().subscribe(mailbox);
  if (auto status = made->net_->connect(options.address); !status) return pass(status);
  return made;
}

// The inbox is emptied between the end of the actors, which fill it, and that of the network, which
// its unanswered commands refer to.
void RankFollower::close() {
  if (net_ == nullptr) return;
  net_->stop();
  served_.take_back();
  net_->end();
  inbox_.change([](RankInbox& inbox) { inbox = {}; });
  answer_.reset();
  net_.reset();
}

template <class Ready, class Visitor>
Status RankFollower::wait(std::chrono::nanoseconds most, const Ready& ready, const Visitor& take) {
  std::string broken;
  const auto over = [&](const RankInbox& inbox) { return ready(inbox) || !inbox.broken.empty(); };
  const auto got = [&](RankInbox& inbox) {
    if (ready(inbox)) return take(inbox);
    broken = inbox.broken;
  };
  for (std::chrono::nanoseconds waited{0}; waited < most; waited += kFollowerLook) {
    if (inbox_.wait(kFollowerLook, over, got)) {
      return broken.empty() ? Status() : Status(fail(Code::kUnavailable, broken));
    }
    pass_stop_on();
  }
  return fail(Code::kTimeout, "rank 0 says nothing");
}

Status RankFollower::wait_for_command(std::chrono::nanoseconds most, RankCommand& command) {
  return wait(
      most, [](const RankInbox& inbox) { return !inbox.orders.empty(); },
      [&](RankInbox& inbox) {
        command = std::move(inbox.orders.front().command);
        answer_ = std::move(inbox.orders.front().answer);
        inbox.orders.pop_front();
      });
}

template <Message M>
void RankFollower::tell(M message) {
  const LeaderRef leader = inbox_.change([](const RankInbox& inbox) { return inbox.leader; });
  static_cast<void>(leader.tell(std::move(message)));  // A lost rank 0 gets nothing.
}

void RankFollower::answer(RankDone done) {
  if (const auto replier = std::exchange(answer_, nullptr)) replier->answer(std::move(done));
}

void RankFollower::pass_stop_on() {
  const int signal = options_.stop_signal ? options_.stop_signal() : 0;
  if (signal == 0 || std::exchange(told_stop_, true)) return;
  tell(RankStop{signal});
}

Status RankFollower::wait_to_meet() {
  RankCommand command;
  // Rank 0 started to wait before this rank, and times out sooner.
  for (std::chrono::nanoseconds waited{0}; waited < options_.timeout + kUntilExplained;
       waited += kFollowerLook) {
    auto got = wait_for_command(kFollowerLook, command);
    if (got) return meets(command);
    if (got.error().code != Code::kTimeout) return got;
    if (told_stop_) return fail(Code::kUnavailable, "the ranks have not met: a stop was asked for");
    const bool is_connected =
        inbox_.change([](const RankInbox& inbox) { return inbox.is_connected; });
    if (waited >= options_.timeout && !is_connected) break;
  }
  return fail(Code::kTimeout, "rank 0 does not answer at " + options_.address + " within " +
                                  format_duration(options_.timeout) +
                                  " (trainer.rank_timeout); is the port open, and are "
                                  "cluster.keys the same on both machines?");
}

Status RankFollower::meets(const RankCommand& command) const {
  if (command.kind == RankCommand::Kind::kMeet) return {};
  if (command.number != 0 && options_.on_stop) options_.on_stop(static_cast<int>(command.number));
  if (command.ended) return fail(Code::kUnavailable, "rank 0 ended before all ranks had met");
  return tl::unexpected<Error>(said_by_rank_0(command.ended.error()));
}

std::string RankFollower::why_it_ends() {
  return inbox_.change([](const RankInbox& inbox) { return inbox.broken; });
}

Status RankFollower::check_ranks() {
  const std::string why = why_it_ends();
  return why.empty() ? Status() : Status(fail(Code::kUnavailable, why));
}

Status RankFollower::wait_for_acceptance() {
  RankCommand command;
  if (auto came = wait_for_command(std::chrono::hours(24), command); !came) return came;
  if (!command.ended) return tl::unexpected<Error>(said_by_rank_0(command.ended.error()));
  if (command.kind != RankCommand::Kind::kAccept) {
    return fail(Code::kUnavailable, "rank 0: rank 0 ended before it began");
  }
  RankSchema& accepted = command.schema;
  const std::size_t features = accepted.sparse.size();
  if (features != accepted.bounds.size() || features != accepted.ids.size()) {
    return fail(Code::kCorrupt, "rank 0 names features without bounds");
  }
  if (!are_within(accepted.repeated, accepted.dense.size(), features)) {
    return fail(Code::kCorrupt, "rank 0 names groups of features that are not there");
  }
  schema_.repeated = std::move(accepted.repeated);
  most_ids_ = {.all = accepted.all_ids, .of_feature = std::move(accepted.ids)};
  schema_.dense = std::move(accepted.dense);
  schema_.weight = accepted.weight;
  for (std::size_t i = 0; i < accepted.sparse.size(); ++i) {
    schema_.sparse.push_back({std::move(accepted.sparse[i]), accepted.bounds[i]});
  }
  return {};
}

std::unique_ptr<StateSource> RankFollower::state(const RankCommand& command) {
  return std::make_unique<RemoteState>("rank 0", command.tensors, command.from);
}

Result<RankCommand> RankFollower::next_command() {
  pass_stop_on();
  RankCommand command;
  // Rank 0 may wait for data without a limit.
  if (auto came = wait_for_command(std::chrono::hours(24 * 365), command); !came) return pass(came);
  return command;
}

Result<std::shared_ptr<const Batch>> RankFollower::slice(std::uint64_t number) {
  BatchSlice slice;
  const auto ready = [&](const RankInbox& inbox) { return inbox.slices.contains(number); };
  auto came = wait(options_.timeout, ready, [&](RankInbox& inbox) {
    slice = std::move(inbox.slices.extract(number).mapped());
  });
  if (!came) return pass(came);
  tell(RankCredit{1});
  return unpack_slice(slice,
                      {.rows = options_.batch_size,
                       .dense_features = schema_.dense.size(),
                       .sparse_features = schema_.sparse.size(),
                       .weighted = schema_.weight},
                      buffers_);
}

void RankFollower::tell_ids(const RankInbox::OnIds& to) {
  inbox_.change([&](RankInbox& inbox) {
    for (auto& ids : inbox.early_ids) to(std::move(ids));
    inbox.early_ids.clear();
    inbox.on_ids = to;
  });
}

Status RankFollower::wait_for_ids(std::uint64_t number) {
  return wait(
      options_.timeout, [&](const RankInbox& inbox) { return inbox.ids_until > number; },
      [](RankInbox&) {});
}

void RankFollower::give(Result<std::unique_ptr<StateSource>> snapshot) {
  if (!snapshot) return answer({.done = pass(snapshot)});
  RankDone taken{.tensors = (*snapshot)->tensors()};
  taken.from = served_.serve(net_->actors(), std::move(*snapshot));
  answer(std::move(taken));
}

void RankFollower::breaks(Collective& ranks) {
  const std::string why = inbox_.change([&](RankInbox& inbox) {
    inbox.ranks = &ranks;
    return inbox.broken;
  });
  if (!why.empty()) ranks.abandon(why);
}

void RankFollower::failed(const Error& why) {
  if (why_it_ends().empty()) tell(RankFailed{why});
}

Error RankFollower::explain(Error error) {
  if (error.code != Code::kUnavailable && error.code != Code::kTimeout) return error;
  Result<void> ended;
  const auto over = [](const RankInbox& inbox) {
    return !inbox.orders.empty() && inbox.orders.back().command.kind == RankCommand::Kind::kEnd;
  };
  auto told = wait(kUntilExplained, over,
                   [&](const RankInbox& inbox) { ended = inbox.orders.back().command.ended; });
  if (!told && told.error().code == Code::kUnavailable) return told.error();
  if (!told || ended) return error;
  return said_by_rank_0(ended.error());
}

}  // namespace forebay

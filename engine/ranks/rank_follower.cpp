#include "engine/ranks/rank_follower.h"

#include <utility>
#include <variant>

#include "engine/job/quantity.h"

namespace forebay {
namespace {

using namespace std::chrono_literals;

/// Longer than rank 0 needs to detect a loss and to report it.
constexpr auto kUntilExplained = 8s;
constexpr auto kFollowerLook = 100ms;

}  // namespace

RankFollower::RankFollower(RankOptions options)
    : options_(std::move(options)),
      budget_(~std::size_t{0}),
      received_(~std::size_t{0}),
      buffers_(budget_),
      state_("rank 0", [this](const RankMessage& message) { return link_->send(0, message); }) {}

Result<std::unique_ptr<RankFollower>> RankFollower::open(const RankOptions& options,
                                                         const Clock& clock) {
  auto follower = std::unique_ptr<RankFollower>(  // NOLINT: the constructor is private.
      new RankFollower(options));
  auto link = RankLink::make(options, *follower, clock, &follower->received_);
  if (!link) return pass(link);
  follower->link_ = std::move(*link);
  if (auto status = follower->link_->connect(options.address); !status) return pass(status);
  return follower;
}

RankFollower::~RankFollower() {
  close();
  inbox_.change([](Inbox& inbox) { inbox.slices.clear(); });
}

void RankFollower::close() {
  if (link_) link_->stop();
  state_.serve(nullptr);
}

template <class Ready, class Visitor>
Status RankFollower::wait(std::chrono::nanoseconds most, const Ready& ready, const Visitor& take) {
  std::string broken;
  const auto over = [&](const Inbox& inbox) { return ready(inbox) || !inbox.broken.empty(); };
  const auto got = [&](Inbox& inbox) {
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

void RankFollower::pass_stop_on() {
  const int signal = options_.stop_signal ? options_.stop_signal() : 0;
  if (signal == 0 || std::exchange(told_stop_, true)) return;
  static_cast<void>(link_->send(0, RankStop{signal}));
}

Status RankFollower::wait_to_meet() {
  const auto came = [](const Inbox& inbox) { return !inbox.commands.empty(); };
  RankCommand command;
  // Rank 0 started to wait before this rank, and times out sooner.
  for (std::chrono::nanoseconds waited{0}; waited < options_.timeout + kUntilExplained;
       waited += kFollowerLook) {
    auto got = wait(kFollowerLook, came, [&](Inbox& inbox) {
      command = std::move(inbox.commands.front());
      inbox.commands.pop_front();
    });
    if (got) return meets(command);
    if (got.error().code != Code::kTimeout) return got;
    if (told_stop_) return fail(Code::kUnavailable, "the ranks have not met: a stop was asked for");
    if (waited >= options_.timeout && !link_->wait_for_all({})) break;
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
  return fail(command.ended.error().code, "rank 0: " + command.ended.error().message);
}

Status RankFollower::check_ranks() {
  return inbox_.change([](const Inbox& inbox) -> Status {
    if (inbox.broken.empty()) return {};
    return fail(Code::kUnavailable, inbox.broken);
  });
}

Status RankFollower::wait_for_acceptance() {
  RankAccepted accepted;
  Result<void> ended;
  const auto ready = [](const Inbox& inbox) { return inbox.accepted || !inbox.commands.empty(); };
  auto came = wait(std::chrono::hours(24), ready, [&](Inbox& inbox) {
    if (inbox.accepted) {
      accepted = std::move(*inbox.accepted);
    } else {
      ended = std::move(inbox.commands.front().ended);
      if (ended) ended = fail(Code::kUnavailable, "rank 0 ended before it began");
    }
  });
  if (!came) return came;
  if (!ended) return fail(ended.error().code, "rank 0: " + ended.error().message);
  if (accepted.sparse.size() != accepted.bounds.size()) {
    return fail(Code::kCorrupt, "rank 0 names features without bounds");
  }
  schema_.dense = std::move(accepted.dense);
  schema_.weight = accepted.weight;
  for (std::size_t i = 0; i < accepted.sparse.size(); ++i) {
    schema_.sparse.push_back({std::move(accepted.sparse[i]), accepted.bounds[i]});
  }
  return {};
}

std::unique_ptr<StateSource> RankFollower::state(const RankCommand& command) {
  return std::make_unique<RemoteState>(command.tensors, state_);
}

void RankFollower::ready(const Status& done) { static_cast<void>(link_->send(0, RankReady{done})); }

Result<RankCommand> RankFollower::next_command() {
  pass_stop_on();
  RankCommand command;
  const auto ready = [](const Inbox& inbox) { return !inbox.commands.empty(); };
  // Rank 0 may wait for data without a limit.
  auto came = wait(std::chrono::hours(24 * 365), ready, [&](Inbox& inbox) {
    command = std::move(inbox.commands.front());
    inbox.commands.pop_front();
  });
  if (!came) return pass(came);
  return command;
}

Result<std::shared_ptr<const Batch>> RankFollower::slice(std::uint64_t number) {
  BatchSlice slice;
  const auto ready = [&](const Inbox& inbox) { return inbox.slices.contains(number); };
  auto came = wait(options_.timeout, ready,
                   [&](Inbox& inbox) { slice = std::move(inbox.slices.extract(number).mapped()); });
  if (!came) return pass(came);
  static_cast<void>(link_->send(0, RankCredit{1}));
  return unpack_slice(slice,
                      {.rows = options_.batch_size,
                       .dense_features = schema_.dense.size(),
                       .sparse_features = schema_.sparse.size(),
                       .weighted = schema_.weight},
                      buffers_);
}

void RankFollower::tell_ids(const OnIds& to) {
  inbox_.change([&](Inbox& inbox) {
    for (auto& ids : inbox.early_ids) to(std::move(ids));
    inbox.early_ids.clear();
    inbox.on_ids = to;
  });
}

Status RankFollower::wait_for_ids(std::uint64_t number) {
  return wait(
      options_.timeout, [&](const Inbox& inbox) { return inbox.ids_until > number; },
      [](Inbox&) {});
}

void RankFollower::on_ids(const BatchIds& ids) {
  const std::size_t features = inbox_.change([](const Inbox& inbox) { return inbox.features; });
  auto batch = unpack_ids(ids, options_.batch_size, features, buffers_);
  if (!batch) return break_off(batch.error().message);
  pass_on(std::move(*batch));
  inbox_.change([&](Inbox& inbox) { inbox.ids_until = ids.number + 1; });
}

// Called without the lock: a model that cancels prefetches may wait for those in progress.
void RankFollower::pass_on(std::shared_ptr<const Batch> ids) {
  const OnIds to = inbox_.change([&](Inbox& inbox) {
    if (!inbox.on_ids) inbox.early_ids.push_back(ids);
    return inbox.on_ids;
  });
  if (to) to(std::move(ids));
}

void RankFollower::give(Result<std::unique_ptr<StateSource>> snapshot) {
  RankState state;
  if (snapshot) {
    state.tensors = (*snapshot)->tensors();
    state_.serve(std::move(*snapshot));
  } else {
    state.tensors = pass(snapshot);
  }
  static_cast<void>(link_->send(0, state));
}

void RankFollower::breaks(Collective& ranks) {
  const std::string broken = inbox_.change([&](Inbox& inbox) {
    inbox.ranks = &ranks;
    return inbox.broken;
  });
  if (!broken.empty()) ranks.abandon(broken);
}

void RankFollower::break_off(const std::string& why) {
  Collective* ranks = inbox_.change([&](Inbox& inbox) {
    if (inbox.broken.empty()) inbox.broken = why;
    return inbox.ranks;
  });
  if (ranks != nullptr) ranks->abandon(why);
}

void RankFollower::failed(const Error& why) {
  const bool all_end = inbox_.change([](const Inbox& inbox) { return !inbox.broken.empty(); });
  if (all_end) return;
  static_cast<void>(link_->send(0, RankFailed{fail(why.code, why.message)}));
}

Error RankFollower::explain(Error error) {
  if (error.code != Code::kUnavailable && error.code != Code::kTimeout) return error;
  Result<void> ended;
  const auto over = [](const Inbox& inbox) {
    return !inbox.commands.empty() && inbox.commands.back().kind == RankCommand::Kind::kEnd;
  };
  auto told =
      wait(kUntilExplained, over, [&](const Inbox& inbox) { ended = inbox.commands.back().ended; });
  if (!told && told.error().code == Code::kUnavailable) return told.error();
  if (!told || ended) return error;
  return {ended.error().code, "rank 0: " + ended.error().message};
}

void RankFollower::on_message(int, RankMessage message) {
  if (auto* slice = std::get_if<BatchSlice>(&message)) {
    return inbox_.change([&](Inbox& inbox) {
      const std::uint64_t number = slice->number;
      inbox.slices.insert_or_assign(number, std::move(*slice));
    });
  }
  if (auto* command = std::get_if<RankCommand>(&message)) {
    const Status ended = command->ended;
    inbox_.change([&](Inbox& inbox) {
      inbox.over = command->kind == RankCommand::Kind::kEnd;
      inbox.commands.push_back(std::move(*command));
    });
    return ended ? void() : break_off(ended.error().message);
  }
  if (auto* accepted = std::get_if<RankAccepted>(&message)) {
    return inbox_.change([&](Inbox& inbox) {
      inbox.features = accepted->sparse.size();
      inbox.accepted = std::move(*accepted);
    });
  }
  if (auto* ids = std::get_if<BatchIds>(&message)) return on_ids(*ids);
  if (std::holds_alternative<ForgetIds>(message)) return pass_on(nullptr);
  if (auto* read = std::get_if<ReadState>(&message)) return state_.on(*read);
  if (auto* bytes = std::get_if<StateBytes>(&message)) return state_.on(std::move(*bytes));
  if (auto* drop = std::get_if<DropState>(&message)) return state_.on(*drop);
}

void RankFollower::on_lost(int, const std::string& why) {
  const bool is_over = inbox_.change([](const Inbox& inbox) { return inbox.over; });
  if (!is_over) break_off("rank 0 was lost (" + (why.empty() ? "gone" : why) + ")");
  state_.lose(why);
}

}  // namespace forebay

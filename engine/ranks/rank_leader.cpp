#include "engine/ranks/rank_leader.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "engine/job/quantity.h"
#include "trainer/ranks/placement.h"

namespace forebay {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kAhead = 1;
/// Longer than the transport's heartbeats need to detect a silent rank.
constexpr auto kUntilLost = 6s;
constexpr auto kLeaderLook = 50ms;
/// Ranks usually start within this time of each other; until then nothing is reported.
constexpr auto kUsualDelay = 1s;

std::string name_of(int rank) { return "rank " + std::to_string(rank); }

std::string did_not_come(const std::string& ranks, std::chrono::nanoseconds timeout) {
  return ranks + " does not come within " + format_duration(timeout) +
         " (trainer.rank_timeout); look at what it says where it runs, and start all ranks again";
}

}  // namespace

std::string RankLeader::Peers::lost() const {
  std::string names;
  for (std::size_t rank = 1; rank < by_rank.size(); ++rank) {
    if (!by_rank[rank].lost) continue;
    names.append(names.empty() ? "" : ", ").append(name_of(static_cast<int>(rank)));
    const Peer& peer = by_rank[rank];
    names.append(peer.failed ? " failed: " : " was lost (").append(peer.why);
    if (!peer.failed) names.append(")");
  }
  return names;
}

std::string RankLeader::Peers::not_here() const {
  std::string names;
  for (std::size_t rank = 1; rank < by_rank.size(); ++rank) {
    if (by_rank[rank].here) continue;
    names.append(names.empty() ? "" : ", ").append(name_of(static_cast<int>(rank)));
  }
  return names;
}

std::string RankLeader::Peers::different() const {
  for (std::size_t rank = 1; rank < by_rank.size(); ++rank) {
    if (by_rank[rank].differs) return name_of(static_cast<int>(rank));
  }
  return "";
}

const char* RankLeader::Peers::what_to_do() const {
  if (meeting) return " before all ranks had met; start all ranks again";
  return "; go on from the last checkpoint with --resume, with as many ranks as there are";
}

RankLeader::RankLeader(RankOptions options)
    : options_(std::move(options)),
      budget_(~std::size_t{0}),
      received_(~std::size_t{0}),
      buffers_(budget_) {
  const auto size = static_cast<std::size_t>(options_.size);
  peers_.change([&](Peers& peers) { peers.by_rank.resize(size); });
  states_.resize(size);
  for (int rank = 1; rank < options_.size; ++rank) {
    states_[static_cast<std::size_t>(rank)] = std::make_unique<StatePeer>(
        name_of(rank),
        [this, rank](const RankMessage& message) { return link_->send(rank, message); });
  }
}

Result<std::unique_ptr<RankLeader>> RankLeader::open(const RankOptions& options,
                                                     const Clock& clock) {
  auto leader = std::unique_ptr<RankLeader>(  // NOLINT: the constructor is private.
      new RankLeader(options));
  auto link = RankLink::make(options, *leader, clock, &leader->received_);
  if (!link) return pass(link);
  leader->link_ = std::move(*link);
  auto address = leader->link_->listen(options.address);
  if (!address) return pass(address);
  leader->address_ = std::move(*address);
  return leader;
}

RankLeader::~RankLeader() {
  end(fail(Code::kUnavailable, "rank 0 ended"));
  link_->stop();
}

Status RankLeader::wait_for_ranks(const std::atomic<bool>& stop) {
  peers_.change([](Peers& peers) { peers.meeting = true; });
  std::string said;
  for (std::chrono::nanoseconds waited{0}; waited < options_.timeout; waited += kLeaderLook) {
    if (stop) return fail(Code::kUnavailable, "the ranks have not met: a stop was asked for");
    const auto enough = [](const Peers& peers) {
      return !peers.lost().empty() || peers.not_here().empty();
    };
    if (peers_.wait(kLeaderLook, enough, [](Peers&) {})) break;
    const std::string missing = peers_.change([](const Peers& peers) { return peers.not_here(); });
    if (waited < kUsualDelay || missing == said || missing.empty() || !options_.say) continue;
    options_.say("rank 0 waits for " + missing);
    said = missing;
  }
  if (auto still = check_ranks(); !still) return still;
  return peers_.change([&](const Peers& peers) -> Status {
    if (const std::string missing = peers.not_here(); !missing.empty()) {
      return fail(Code::kTimeout, did_not_come(missing, options_.timeout));
    }
    const std::string other = peers.different();
    if (other.empty()) return {};
    return fail(Code::kInvalid, other +
                                    " has another job file, other --set or another version of "
                                    "forebay than rank 0; start all ranks with the same");
  });
}

Status RankLeader::check_ranks() {
  return peers_.change([](const Peers& peers) -> Status {
    if (peers.lost().empty()) return {};
    return fail(Code::kUnavailable, peers.lost() + peers.what_to_do());
  });
}

Status RankLeader::accept(const Schema& schema) {
  if (auto here = link_->wait_for_all(options_.timeout); !here) return here;
  RankAccepted accepted;
  accepted.dense = schema.dense;
  accepted.weight = schema.weight;
  for (const SparseFeature& feature : schema.sparse) {
    accepted.sparse.push_back(feature.name);
    accepted.bounds.push_back(feature.bound);
  }
  tell_all(accepted);
  return {};
}

Status RankLeader::restore(const OpenState& open) {
  RankCommand command{.kind = RankCommand::Kind::kRestore};
  for (std::size_t rank = 1; rank < states_.size(); ++rank) {
    auto source = open();
    if (!source) return pass(source);
    command.tensors = (*source)->tensors();
    states_[rank]->serve(std::move(*source));
  }
  tell_all(command);
  return {};
}

template <class Answer>
Result<std::vector<Answer>> RankLeader::wait_for(std::optional<Answer> Peer::*member,
                                                 std::chrono::nanoseconds most) {
  std::vector<Answer> answers;
  std::string lost;
  const auto all = [&](const Peers& peers) {
    const auto others = std::span(peers.by_rank).subspan(1);
    return !peers.lost().empty() || std::ranges::all_of(others, [&](const Peer& peer) {
      return (peer.*member).has_value();
    });
  };
  const bool came = peers_.wait(most, all, [&](Peers& peers) {
    lost = peers.lost();
    for (Peer& peer : std::span(peers.by_rank).subspan(1)) {
      if (lost.empty()) answers.push_back(std::move(*(peer.*member)));
      (peer.*member).reset();
    }
  });
  if (!came) return fail(Code::kTimeout, "not every rank answered in time");
  if (!lost.empty()) return fail(Code::kUnavailable, lost);
  return answers;
}

Status RankLeader::wait_until_ready() {
  // Reading a large checkpoint may take long; heartbeats detect a lost rank meanwhile.
  auto ready = wait_for(&Peer::ready, std::chrono::hours(24));
  if (!ready) return pass(ready);
  for (std::size_t rank = 1; rank <= ready->size(); ++rank) {
    Result<void>& made = (*ready)[rank - 1];
    if (!made) {
      return fail(made.error().code, name_of(static_cast<int>(rank)) + ": " + made.error().message);
    }
  }
  for (const auto& state : std::span(states_).subspan(1)) state->serve(nullptr);
  return {};
}

Result<std::shared_ptr<const Batch>> RankLeader::next() {
  while (own_.size() <= kAhead && !reached_end_ && failed_) failed_ = pull();
  if (own_.empty()) {
    if (!failed_) return fail(failed_.error().code, failed_.error().message);
    return std::shared_ptr<const Batch>();
  }
  auto batch = std::move(own_.front());
  own_.pop_front();
  return batch;
}

Status RankLeader::pull() {
  auto batch = batches_->next();
  if (!batch) return pass(batch);
  reached_end_ = *batch == nullptr;
  if (!reached_end_) deal(**batch);
  return {};
}

void RankLeader::deal(const Batch& batch) {
  for (int rank = 0; rank < options_.size; ++rank) {
    const auto [first, end] = rows_of_rank(batch.rows, rank, options_.size);
    auto slice = slice_rows(batch, first, end, buffers_);
    if (rank == 0) {
      own_.push_back(std::move(slice));
      continue;
    }
    peers_.change([&](Peers& peers) {
      Peer& peer = peers.by_rank[static_cast<std::size_t>(rank)];
      if (peer.credits == 0) return peer.waiting.push_back(packed_slice(slice));
      --peer.credits;
      // A lost rank gets nothing; the step reports the loss.
      static_cast<void>(link_->send(rank, packed_slice(slice)));
    });
  }
}

void RankLeader::on_credit(int rank, std::uint64_t slices) {
  peers_.change([&](Peers& peers) {
    Peer& peer = peers.by_rank[static_cast<std::size_t>(rank)];
    peer.credits += std::min<std::uint64_t>(slices, 1024);
    while (peer.credits > 0 && !peer.waiting.empty()) {
      --peer.credits;
      static_cast<void>(link_->send(rank, std::move(peer.waiting.front())));
      peer.waiting.pop_front();
    }
  });
}

void RankLeader::tell_ids(int rank, const Batch& ids) {
  static_cast<void>(link_->send(rank, packed_ids(copy_ids(ids, buffers_))));
}

void RankLeader::tell_all(const RankMessage& message) {
  for (int rank = 1; rank < options_.size; ++rank) static_cast<void>(link_->send(rank, message));
}

Result<std::vector<std::unique_ptr<StateSource>>> RankLeader::snapshots() {
  command({.kind = RankCommand::Kind::kSnapshot});
  auto states = wait_for(&Peer::state, options_.timeout);
  if (!states) return pass(states);
  std::vector<std::unique_ptr<StateSource>> sources;
  for (std::size_t i = 0; i < states->size(); ++i) {
    auto& tensors = (*states)[i];
    if (!tensors) return pass(tensors);
    sources.push_back(std::make_unique<RemoteState>(std::move(*tensors), *states_[i + 1]));
  }
  return sources;
}

Error RankLeader::explain(Error error) {
  if (error.code != Code::kUnavailable && error.code != Code::kTimeout) return error;
  std::string lost;
  const bool known = peers_.wait(
      kUntilLost, [](const Peers& peers) { return !peers.lost().empty(); },
      [&](const Peers& peers) { lost = peers.lost() + peers.what_to_do(); });
  if (!known) return error;
  return {Code::kUnavailable, lost};
}

void RankLeader::breaks(Collective& ranks) {
  const bool lost = peers_.change([&](Peers& peers) {
    peers.ranks = &ranks;
    peers.meeting = false;
    return !peers.lost().empty();
  });
  if (lost) break_off();
}

// Called without the lock of peers_, since sending does not need it.
void RankLeader::break_off() {
  Collective* ranks = nullptr;
  std::string what_to_do;
  const std::string lost = peers_.change([&](const Peers& peers) {
    ranks = peers.ended ? nullptr : peers.ranks;
    what_to_do = peers.what_to_do();
    return peers.lost();
  });
  if (ranks == nullptr) return;
  command({.kind = RankCommand::Kind::kEnd, .ended = fail(Code::kUnavailable, lost + what_to_do)});
  ranks->abandon(lost);
}

void RankLeader::end(const Status& how, int signal) {
  if (peers_.change([](Peers& peers) { return std::exchange(peers.ended, true); })) return;
  command({.kind = RankCommand::Kind::kEnd,
           .number = static_cast<std::uint64_t>(signal),
           .ended = how});
  const auto all_gone = [](const Peers& peers) {
    return std::ranges::all_of(std::span(peers.by_rank).subspan(1),
                               [](const Peer& peer) { return peer.lost || !peer.here; });
  };
  static_cast<void>(peers_.wait(2s, all_gone, [](Peers&) {}));
}

void RankLeader::on_hello(int rank, const RankHello& hello) {
  peers_.change([&](Peers& peers) {
    Peer& peer = peers.by_rank[static_cast<std::size_t>(rank)];
    peer.here = true;
    peer.differs = hello.alike != options_.alike;
  });
}

void RankLeader::on_message(int rank, RankMessage message) {
  const auto index = static_cast<std::size_t>(rank);
  const auto keep = [&](auto Peer::*member, auto answer) {
    peers_.change([&](Peers& peers) { peers.by_rank[index].*member = std::move(answer); });
  };
  if (auto* credit = std::get_if<RankCredit>(&message)) return on_credit(rank, credit->slices);
  if (auto* ready = std::get_if<RankReady>(&message)) return keep(&Peer::ready, ready->made);
  if (auto* state = std::get_if<RankState>(&message)) return keep(&Peer::state, state->tensors);
  if (auto* read = std::get_if<ReadState>(&message)) return states_[index]->on(*read);
  if (auto* bytes = std::get_if<StateBytes>(&message)) return states_[index]->on(std::move(*bytes));
  if (auto* drop = std::get_if<DropState>(&message)) return states_[index]->on(*drop);
  if (auto* failed = std::get_if<RankFailed>(&message)) {
    return failed->why ? void() : on_failed(rank, failed->why.error());
  }
  if (auto* stop = std::get_if<RankStop>(&message); stop != nullptr && options_.on_stop) {
    options_.on_stop(stop->signal);
  }
}

void RankLeader::on_failed(int rank, const Error& why) {
  peers_.change([&](Peers& peers) {
    Peer& peer = peers.by_rank[static_cast<std::size_t>(rank)];
    peer.lost = peer.failed = true;
    peer.why = why.message;
    peer.waiting.clear();
  });
  break_off();
}

void RankLeader::on_lost(int rank, const std::string& why) {
  peers_.change([&](Peers& peers) {
    Peer& peer = peers.by_rank[static_cast<std::size_t>(rank)];
    peer.lost = true;
    if (!peer.failed) peer.why = why;
    peer.waiting.clear();
  });
  states_[static_cast<std::size_t>(rank)]->lose(why);
  break_off();
}

}  // namespace forebay

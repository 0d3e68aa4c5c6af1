#include "engine/ranks/rank_group.h"

#include "core/runtime/ask.h"
#include "engine/job/quantity.h"

namespace forebay {
namespace {

using namespace std::chrono_literals;

/// Longer than the transport's heartbeats need to detect a silent rank.
constexpr auto kUntilLost = 6s;
constexpr auto kLeaderLook = 50ms;
/// The wait for an answer is bounded, not the question.
constexpr auto kAnyTime = 24h;
/// Ranks usually start within this time of each other; until then nothing is reported.
constexpr auto kUsualDelay = 1s;

}  // namespace

std::string name_of_rank(int rank) { return "rank " + std::to_string(rank); }

template <class Describe>
std::string RankGroup::Peers::list(const Describe& describe) const {
  std::string text;
  for (std::size_t rank = 1; rank < by_rank.size(); ++rank) {
    const std::string each = describe(name_of_rank(static_cast<int>(rank)), by_rank[rank]);
    if (!each.empty()) text.append(text.empty() ? "" : ", ").append(each);
  }
  return text;
}

std::string RankGroup::Peers::lost() const {
  return list([](const std::string& name, const Peer& peer) {
    if (!peer.lost) return std::string();
    return peer.failed ? name + " failed: " + peer.why : name + " was lost (" + peer.why + ")";
  });
}

std::string RankGroup::Peers::not_here() const {
  return list([](const std::string& name, const Peer& peer) { return peer.here ? "" : name; });
}

std::string RankGroup::Peers::different() const {
  return list([](const std::string& name, const Peer& peer) { return peer.differs ? name : ""; });
}

bool RankGroup::Peers::all_done() const {
  return std::ranges::all_of(others(), [](const Peer& peer) { return peer.done.has_value(); });
}

const char* RankGroup::Peers::what_to_do() const {
  if (meeting) return " before all ranks had met; start all ranks again";
  return "; go on from the last checkpoint with --resume, with as many ranks as there are";
}

RankGroup::RankGroup(const RankOptions& options)
    : options_(options), served_(by_rank(options.size)) {
  peers_.change([&](Peers& peers) { peers.by_rank.resize(served_.size()); });
}

RankRef RankGroup::ref_of(int rank) const {
  return peers_.change([&](const Peers& peers) { return peers.by_rank[by_rank(rank)].ref; });
}

// A rank connects once: a second rank of the same number belongs to another start.
Status RankGroup::come(const RankHello& hello, const RankRef& rank) {
  const bool ours = hello.group == options_.group && hello.rank > 0 && hello.rank < served_.size();
  if (!ours) return fail(Code::kInvalid, "no rank of this run");
  const std::string number = std::to_string(hello.rank);
  return peers_.change([&](Peers& peers) -> Status {
    Peer& peer = peers.by_rank[hello.rank];
    if (peer.lost) return fail(Code::kUnavailable, "rank " + number + " was lost");
    if (peer.here) {
      return fail(Code::kInvalid,
                  "rank " + number + " is here already; two processes have RANK=" + number);
    }
    peer.ref = rank;
    peer.here = true;
    peer.differs = hello.alike != options_.alike;
    return {};
  });
}

void RankGroup::send(int rank, BatchSlice slice) {
  peers_.change([&](Peers& peers) {
    Peer& peer = peers.by_rank[by_rank(rank)];
    if (peer.credits == 0) return peer.waiting.push_back(std::move(slice));
    --peer.credits;
    static_cast<void>(peer.ref.tell(std::move(slice)));
  });
}

void RankGroup::add_credits(int rank, std::uint64_t slices) {
  peers_.change([&](Peers& peers) {
    Peer& peer = peers.by_rank[by_rank(rank)];
    peer.credits += std::min<std::uint64_t>(slices, 1024);
    while (peer.credits > 0 && !peer.waiting.empty()) {
      --peer.credits;
      static_cast<void>(peer.ref.tell(std::move(peer.waiting.front())));
      peer.waiting.pop_front();
    }
  });
}

void RankGroup::ask_all(const std::function<RankCommand(int rank)>& command_for) {
  const std::uint64_t question = peers_.change([](Peers& peers) {
    for (Peer& peer : peers.by_rank) peer.done.reset();
    return ++peers.questions;
  });
  for (int rank = 1; rank < size(); ++rank) {
    ask_and_deliver(ref_of(rank), command_for(rank), kAnyTime,
                    [this, rank, question](Result<RankDone> answer) {
                      keep_answer(rank, question, std::move(answer));
                    });
  }
}

// A rank that is lost gives no answer: lose() ends the wait for it.
void RankGroup::keep_answer(int rank, std::uint64_t question, Result<RankDone> answer) {
  if (!answer && answer.error().code == Code::kUnavailable) return;
  peers_.change([&](Peers& peers) {
    if (peers.questions == question) peers.by_rank[by_rank(rank)].done = std::move(answer);
  });
}

Result<std::vector<RankDone>> RankGroup::wait_until_done(std::chrono::nanoseconds most) {
  std::vector<RankDone> all;
  Status failed;
  const auto over = [](const Peers& peers) { return peers.any_lost() || peers.all_done(); };
  const bool came = peers_.wait(most, over, [&](Peers& peers) {
    if (peers.any_lost()) failed = fail(Code::kUnavailable, peers.lost());
    for (int rank = 1; rank < size() && failed; ++rank) {
      Result<RankDone>& answer = *peers.by_rank[by_rank(rank)].done;
      const Status done = answer ? answer->done : Status(pass(answer));
      if (done) {
        all.push_back(std::move(*answer));
      } else {
        failed = fail(done.error().code, name_of_rank(rank) + ": " + done.error().message);
      }
    }
  });
  if (!came) return fail(Code::kTimeout, "not every rank answered in time");
  if (!failed) return pass(failed);
  return all;
}

void RankGroup::failed(int rank, const std::string& why) {
  peers_.change([&](Peers& peers) {
    Peer& peer = peers.by_rank[by_rank(rank)];
    peer.lost = peer.failed = true;
    peer.why = why;
    peer.waiting.clear();
  });
  break_off();
}

void RankGroup::lose(int rank, const std::string& why) {
  peers_.change([&](Peers& peers) {
    Peer& peer = peers.by_rank[by_rank(rank)];
    peer.lost = true;
    if (!peer.failed) peer.why = why;
    peer.waiting.clear();
  });
  served(rank).lose();
  break_off();
}

void RankGroup::breaks(Collective& ranks) {
  const bool lost = peers_.change([&](Peers& peers) {
    peers.ranks = &ranks;
    peers.meeting = false;
    return peers.any_lost();
  });
  if (lost) break_off();
}

// Called without the lock of peers_, since sending does not need it.
void RankGroup::break_off() {
  Collective* ranks = nullptr;
  std::string what_to_do;
  const std::string lost = peers_.change([&](const Peers& peers) {
    ranks = peers.ended ? nullptr : peers.ranks;
    what_to_do = peers.what_to_do();
    return peers.lost();
  });
  if (ranks == nullptr) return;
  tell_all(RankCommand{.kind = RankCommand::Kind::kEnd,
                       .ended = fail(Code::kUnavailable, lost + what_to_do)});
  ranks->abandon(lost);
}

Status RankGroup::check_ranks() const {
  return peers_.change([](const Peers& peers) -> Status {
    if (!peers.any_lost()) return {};
    return fail(Code::kUnavailable, peers.lost() + peers.what_to_do());
  });
}

Error RankGroup::explain(Error error) const {
  if (error.code != Code::kUnavailable && error.code != Code::kTimeout) return error;
  const bool known = peers_.wait(
      kUntilLost, [](const Peers& peers) { return peers.any_lost(); }, [](Peers&) {});
  return known ? check_ranks().error() : error;
}

Status RankGroup::wait_for_ranks(const std::atomic<bool>& stop) {
  std::string said;
  for (std::chrono::nanoseconds waited{0}; waited < options_.timeout; waited += kLeaderLook) {
    if (stop) {
      return fail(Code::kUnavailable, "the ranks have not met: a stop was asked for");
    }
    const auto enough = [](const Peers& peers) { return peers.any_lost() || peers.all_here(); };
    if (peers_.wait(kLeaderLook, enough, [](Peers&) {})) break;
    const std::string missing = peers_.change([](const Peers& peers) { return peers.not_here(); });
    if (waited < kUsualDelay || missing == said || missing.empty() || !options_.say) continue;
    options_.say("rank 0 waits for " + missing);
    said = missing;
  }
  if (auto still = check_ranks(); !still) return still;
  return peers_.change([&](const Peers& peers) -> Status {
    if (const std::string missing = peers.not_here(); !missing.empty()) {
      return fail(Code::kTimeout, missing + " does not come within " +
                                      format_duration(options_.timeout) +
                                      " (trainer.rank_timeout); look at what it says where it "
                                      "runs, and start all ranks again");
    }
    const std::string other = peers.different();
    if (other.empty()) return {};
    return fail(Code::kInvalid, other +
                                    " has another job file, other --set or another version of "
                                    "forebay than rank 0; start all ranks with the same");
  });
}

void RankGroup::end(const Status& how, int signal) {
  if (peers_.change([](Peers& peers) { return std::exchange(peers.ended, true); })) return;
  tell_all(RankCommand{
      .kind = RankCommand::Kind::kEnd, .number = static_cast<std::uint64_t>(signal), .ended = how});
  const auto all_gone = [](const Peers& peers) {
    return std::ranges::all_of(peers.others(),
                               [](const Peer& peer) { return peer.lost || !peer.here; });
  };
  static_cast<void>(peers_.wait(2s, all_gone, [](Peers&) {}));
}

}  // namespace forebay

#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/runtime/synchronized.h"
#include "engine/ranks/rank_messages.h"
#include "engine/ranks/rank_options.h"
#include "engine/ranks/remote_state.h"
#include "trainer/collective.h"

namespace forebay {

/// "rank 2".
std::string name_of_rank(int rank);

/// The other ranks as rank 0 knows them: which have connected, which are lost and why, and the
/// slices that wait for each. Sends all messages to them. Thread-safe: their sessions
/// (RankSession) report to it, the model's thread sends and waits.
class RankGroup {
 public:
  /// `options` outlive it.
  explicit RankGroup(const RankOptions& options);

  /// A rank has connected. The error says why its session must end: it is not of this group, or is
  /// here already.
  Status come(const RankHello& hello, const RankRef& rank);
  /// The rank has room for more slices.
  void add_credits(int rank, std::uint64_t slices);
  /// The rank ends with an error, or its session is over. Informs the other ranks and aborts
  /// waiting operations (breaks()).
  void failed(int rank, const std::string& why);
  void lose(int rank, const std::string& why);

  /// As RankLeader's functions of these names.
  Status wait_for_ranks(const std::atomic<bool>& stop);
  Status check_ranks() const;
  Error explain(Error error) const;
  void breaks(Collective& ranks);
  void end(const Status& how, int signal);

  /// Sends a rank its slice; keeps it while the rank has no credits.
  void send(int rank, BatchSlice slice);
  /// A lost rank gets nothing; the step reports the loss.
  template <Message M>
  void tell(int rank, M message) const {
    static_cast<void>(ref_of(rank).tell(std::move(message)));
  }
  template <Message M>
  void tell_all(const M& message) const {
    for (int rank = 1; rank < size(); ++rank) tell(rank, M(message));
  }

  /// Asks every rank to execute a command; wait_until_done() waits for the answers.
  void ask_all(const std::function<RankCommand(int rank)>& command_for);
  /// Returns what the ranks from 1 on answered. Fails with the reason of the first rank that
  /// failed, and if a rank is lost (kUnavailable) or does not answer (kTimeout).
  Result<std::vector<RankDone>> wait_until_done(std::chrono::nanoseconds most);

  /// The state that a rank reads from rank 0.
  ServedState& served(int rank) { return served_[by_rank(rank)]; }
  int size() const { return options_.size; }

 private:
  struct Peer {
    RankRef ref;
    bool here = false;  // has connected; may be lost since
    bool differs = false;
    bool lost = false;
    bool failed = false;  // and reported why
    std::string why;
    std::uint64_t credits = RankCredit::kAtFirst;
    std::deque<BatchSlice> waiting;
    std::optional<Result<RankDone>> done;  // the answer to the last question
  };
  struct Peers {
    std::vector<Peer> by_rank;    // the entry of rank 0 is unused
    Collective* ranks = nullptr;  // aborted when a rank is lost
    bool meeting = true;          // until breaks(): all have met
    bool ended = false;           // a rank that disconnects afterwards is not lost
    std::uint64_t questions = 0;  // asked of all ranks

    std::span<const Peer> others() const { return std::span(by_rank).subspan(1); }
    bool any_lost() const { return std::ranges::any_of(others(), &Peer::lost); }
    bool all_here() const { return std::ranges::all_of(others(), &Peer::here); }
    bool all_done() const;
    /// What `describe(name, peer)` returns for each rank, without empty texts.
    template <class Describe>
    std::string list(const Describe& describe) const;
    std::string lost() const;  // which and why; "": none
    std::string not_here() const;
    std::string different() const;
    const char* what_to_do() const;
  };

  static std::size_t by_rank(int rank) { return static_cast<std::size_t>(rank); }
  RankRef ref_of(int rank) const;
  void keep_answer(int rank, std::uint64_t question, Result<RankDone> answer);
  void break_off();

  const RankOptions& options_;
  mutable Synchronized<Peers> peers_;
  std::vector<ServedState> served_;  // the entry of rank 0 is unused
};

}  // namespace forebay

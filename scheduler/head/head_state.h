#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

#include "core/base/result.h"
#include "scheduler/protocol.h"
#include "scheduler/range_set.h"

namespace forebay::scheduler {

/// A trainer opened its job at this position; it replaces all that the head recorded about the
/// job's splits before.
struct JobOpening {
  JobShare job;
  std::uint64_t session = 0;
  std::uint64_t finished_below = 0;
  std::vector<SplitRange> finished;
  static auto fields(auto& self) {
    return std::tie(self.job, self.session, self.finished_below, self.finished);
  }
};

/// These splits were handed to the trainer.
struct SplitsFinished {
  std::uint64_t session = 0;
  std::uint64_t below = 0;
  std::vector<SplitRange> ranges;
  static auto fields(auto& self) { return std::tie(self.session, self.below, self.ranges); }
};

struct JobClosing {
  std::uint64_t session = 0;
  static auto fields(auto& self) { return std::tie(self.session); }
};

struct NodeJoined {
  std::uint64_t incarnation = 0;
  std::string name;
  std::string host;
  static auto fields(auto& self) { return std::tie(self.incarnation, self.name, self.host); }
  bool operator==(const NodeJoined&) const = default;
};

struct NodeLeft {
  std::uint64_t incarnation = 0;
  static auto fields(auto& self) { return std::tie(self.incarnation); }
};

/// State that a tuner learned, for the next run; `text` is opaque.
struct LearnedStateSaved {
  std::string key;
  std::string text;
  static auto fields(auto& self) { return std::tie(self.key, self.text); }
};

/// The persistent state of a head: the sum of every event applied so far.
///
/// Changes only through `apply`, which refuses an inconsistent event and then changes nothing. A
/// value; Journaled<HeadState> stores it.
class HeadState {
 public:
  using Event =
      std::variant<JobOpening, SplitsFinished, JobClosing, NodeJoined, NodeLeft, LearnedStateSaved>;
  using Node = NodeJoined;

  Status apply(const Event& event);

  /// The open job, or the last one; its id is empty before the first job.
  const JobShare& job() const { return job_; }
  bool job_is_open() const { return open_; }
  std::uint64_t session() const { return session_; }
  std::uint64_t num_splits() const { return job_.num_splits(); }
  /// The epoch of the lowest unfinished split.
  std::uint64_t epoch() const;
  const RangeSet& finished() const { return finished_; }

  /// Members by incarnation.
  const std::map<std::uint64_t, Node>& nodes() const { return nodes_; }
  std::uint64_t last_incarnation() const { return last_incarnation_; }
  /// What tuners have learned, by key; at most so many.
  static constexpr std::size_t kMostLearnedStates = 256;
  const std::map<std::string, std::string>& learned_state() const { return learned_state_; }

  std::string encode() const;
  static Result<HeadState> decode(std::string_view bytes);
  static std::string encode_event(const Event& event);
  static Result<Event> decode_event(std::string_view bytes);

  bool operator==(const HeadState&) const = default;

 private:
  Status apply_one(const JobOpening& event);
  Status apply_one(const SplitsFinished& event);
  Status apply_one(const JobClosing& event);
  Status apply_one(const NodeJoined& event);
  Status apply_one(const NodeLeft& event);
  Status apply_one(const LearnedStateSaved& event);

  JobShare job_;
  bool open_ = false;
  std::uint64_t session_ = 0;
  RangeSet finished_;
  std::map<std::uint64_t, Node> nodes_;
  std::uint64_t last_incarnation_ = 0;
  std::map<std::string, std::string> learned_state_;
};

}  // namespace forebay::scheduler

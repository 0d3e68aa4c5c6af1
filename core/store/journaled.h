#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/store/store.h"

namespace forebay {
namespace journal {

/// The keys and records of a Journaled<State> in its store (core/store/README.md has the format).

inline constexpr const char* kSnapshotKey = "snapshot";

/// Keys sort by their number.
std::string event_key(std::uint64_t number);

/// Prefixes `bytes` with a checksum over them and `number`.
std::string with_checksum(std::uint64_t number, std::string_view bytes);

struct Snapshot {
  std::uint64_t last = 0;  ///< Number of the last event that it includes; 0: there is no snapshot.
  std::string state;
};

std::string snapshot_record(std::uint64_t last, std::string_view state);

/// Returns kCorrupt if there is a snapshot with a wrong checksum.
Result<Snapshot> read_snapshot(const Store& store);

/// Passes the events after `last` to `apply`, in order. At the first event that is missing, damaged
/// or refused, stops and erases it and all later ones. Returns the reason, or an empty string.
Result<std::string> replay(Store& store, std::uint64_t last,
                           const std::function<Status(std::string_view)>& apply);

}  // namespace journal

/// A state that changes only through `apply`, and that can be encoded and decoded, as can its
/// events. A refused event changes nothing; the same events give the same state.
template <class S>
concept JournaledState = std::default_initializable<S> && std::movable<S> &&
    requires(S state, const S& fixed, const typename S::Event& event, std::string_view bytes) {
  { state.apply(event) } -> std::same_as<Status>;
  { fixed.encode() } -> std::same_as<std::string>;
  { S::decode(bytes) } -> std::same_as<Result<S>>;
  { S::encode_event(event) } -> std::same_as<std::string>;
  { S::decode_event(bytes) } -> std::same_as<Result<typename S::Event>>;
};

/// Keeps a State across crashes: each event is on disk, synced, before anyone acts on it.
///
/// `record` queues an event; `flush` applies and writes all queued events with one sync and then
/// calls their callbacks. There is no other way to change the state. When the store refuses a
/// group, the state is read back from the store: readers never see a state that is not on disk.
/// Belongs to one thread; the store must outlive it.
template <JournaledState State>
class Journaled {
 public:
  using Event = typename State::Event;
  /// Called with the result of an event: applied and on disk, or the error of the state or of the
  /// store.
  using Then = std::function<void(const Status&)>;

  struct Options {
    std::size_t snapshot_every = 4096;  ///< Events.
  };

  /// The result of reading the store.
  struct Recovery {
    std::uint64_t snapshot = 0;  ///< Number of the last event that it includes; 0: no snapshot.
    std::uint64_t events = 0;    ///< Events applied after the snapshot.
    std::string cut;             ///< Why the tail was cut off; empty: the tail was complete.
  };

  /// Reads the state back: the snapshot and the events after it, up to the first that is torn,
  /// damaged, missing or refused. Erases that event and all later ones.
  static Result<Journaled> open(Store& store, const Options& options = {}) {
    Journaled journaled(store, options);
    if (auto status = journaled.recover(); !status) return pass(status);
    return journaled;
  }

  const State& state() const { return state_; }
  const Recovery& recovery() const { return recovery_; }

  void record(const Event& event, Then then = {}) { waiting_.emplace_back(event, std::move(then)); }

  /// Writes all queued events. Returns an error of the store only; an error of the state goes only
  /// to the callback of the refused event.
  Status flush() {
    if (waiting_.empty() && !must_recover_) return {};
    std::vector<Waiting> group = std::exchange(waiting_, {});
    Status stored = must_recover_ ? recover() : Status();
    std::vector<Status> results(group.size(), stored);
    if (stored) {
      stored = write(group, results);
      if (!stored) {
        must_recover_ = true;
        static_cast<void>(recover());  // If this fails, the next flush retries.
        results.assign(group.size(), stored);
      }
    }
    for (std::size_t i = 0; i < group.size(); ++i) {
      if (group[i].then) group[i].then(results[i]);
    }
    return stored;
  }

  /// Records one event and flushes it with all queued ones.
  Status commit(const Event& event) {
    Status result;
    record(event, [&result](const Status& status) { result = status; });
    static_cast<void>(flush());  // The event's result includes this error.
    return result;
  }

 private:
  struct Waiting {
    Waiting(const Event& what, Then&& told) : event(what), then(std::move(told)) {}
    Event event;
    Then then;
  };

  Journaled(Store& store, const Options& options) : store_(&store), options_(options) {}

  Status write(std::vector<Waiting>& group, std::vector<Status>& results) {
    StoreBatch batch;
    std::uint64_t last = last_;
    for (std::size_t i = 0; i < group.size(); ++i) {
      results[i] = state_.apply(group[i].event);
      if (!results[i]) continue;
      ++last;
      batch.put(journal::event_key(last),
                journal::with_checksum(last, State::encode_event(group[i].event)));
    }
    if (last == last_) return {};
    std::uint64_t snapshot = snapshot_;
    if (last - snapshot_ >= options_.snapshot_every) {
      batch.put(journal::kSnapshotKey, journal::snapshot_record(last, state_.encode()));
      for (std::uint64_t event = snapshot_ + 1; event <= last; ++event) {
        batch.erase(journal::event_key(event));
      }
      snapshot = last;
    }
    Status stored = store_->write(batch);
    if (!stored) return stored;
    last_ = last;
    snapshot_ = snapshot;
    return {};
  }

  Status recover() {
    state_ = State();
    recovery_ = {};
    auto snapshot = journal::read_snapshot(*store_);
    if (!snapshot) return pass(snapshot);
    if (snapshot->last > 0) {
      auto state = State::decode(snapshot->state);
      if (!state) return pass(state);
      state_ = std::move(*state);
    }
    last_ = snapshot_ = recovery_.snapshot = snapshot->last;
    auto cut = journal::replay(*store_, snapshot->last, [this](std::string_view bytes) -> Status {
      auto event = State::decode_event(bytes);
      if (!event) return pass(event);
      if (auto status = state_.apply(*event); !status) return status;
      ++last_;
      ++recovery_.events;
      return {};
    });
    if (!cut) return pass(cut);
    recovery_.cut = std::move(*cut);
    must_recover_ = false;
    return {};
  }

  Store* store_;
  Options options_;
  State state_;
  Recovery recovery_;
  std::uint64_t last_ = 0;      // Number of the last event on disk.
  std::uint64_t snapshot_ = 0;  // Number of the last event in the snapshot.
  bool must_recover_ = false;   // The state may differ from the store's content.
  std::vector<Waiting> waiting_;
};

}  // namespace forebay

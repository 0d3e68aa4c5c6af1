#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/runtime/actor.h"
#include "core/runtime/actor_host.h"
#include "core/runtime/synchronized.h"
#include "engine/ranks/rank_messages.h"
#include "trainer/state/snapshot.h"

namespace forebay {

/// Reads one state for another rank. Owns the source, and opens `released` once it is gone.
class StateServer final : public ActorOf<StateServer, ReadState> {
 public:
  StateServer(std::unique_ptr<StateSource> source, std::shared_ptr<Latch> released)
      : source_(std::move(source)), released_(std::move(released)) {}
  ~StateServer() override;
  StateServer(const StateServer&) = delete;
  StateServer& operator=(const StateServer&) = delete;

  Result<StateBytes> on(const ReadState& read, Context&);

 private:
  std::unique_ptr<StateSource> source_;
  const std::shared_ptr<Latch> released_;
};

/// Lets one other rank read a state: a snapshot that is written into rank 0's checkpoint, or a
/// checkpoint that the rank restores.
///
/// The state belongs to an actor with a thread of its own, since a read may take long. It is
/// released when the other rank stops that actor or is lost, or when it is taken back. Thread-safe;
/// one thread serves and takes back.
class ServedState {
 public:
  ~ServedState() { take_back(); }

  /// Takes back the state before, and returns the actor that reads `source`. After lose() the
  /// source is released at once.
  StateRef serve(ActorSystem& actors, std::unique_ptr<StateSource> source);
  /// Releases the state; waits for a read in progress.
  void take_back();
  /// Handles the loss of the other rank. A step may be blocked until the state that it was reading
  /// is released.
  void lose();

 private:
  struct Served {
    StateRef server;
    std::shared_ptr<Latch> released;  // null: nothing is served
    bool lost = false;
  };
  Synchronized<Served> served_;
};

/// The state of another rank, read by asking the actor that owns it (ServedState). Its destructor
/// stops that actor. The network must outlive it.
///
/// A read has no timeout: heartbeats show that the other rank is lost, which ends the read.
class RemoteState final : public StateSource {
 public:
  /// `what` names the other rank: "rank 2".
  RemoteState(std::string what, std::vector<StateTensor> tensors, StateRef from)
      : what_(std::move(what)), tensors_(std::move(tensors)), from_(std::move(from)) {}
  ~RemoteState() override { from_.stop(); }
  RemoteState(const RemoteState&) = delete;
  RemoteState& operator=(const RemoteState&) = delete;

  const std::vector<StateTensor>& tensors() const override { return tensors_; }
  Status read(std::size_t index, std::uint64_t offset, std::span<std::byte> to) override;
  void give_up() override;

 private:
  Status read_piece(std::size_t index, std::uint64_t offset, std::span<std::byte> to);
  /// Nothing after give_up().
  std::optional<Result<StateBytes>> ask_for(const ReadState& piece);

  struct Mail {
    std::optional<Result<StateBytes>> answer;
    bool given_up = false;
  };

  const std::string what_;
  const std::vector<StateTensor> tensors_;
  const StateRef from_;
  const std::shared_ptr<Synchronized<Mail>> mail_ = std::make_shared<Synchronized<Mail>>();
};

}  // namespace forebay

#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/data/buffer_pool.h"
#include "core/runtime/synchronized.h"
#include "engine/ranks/rank_messages.h"
#include "trainer/state/snapshot.h"

namespace forebay {

/// Reads the state of another rank, and serves a state to it: a snapshot that is written into rank
/// 0's checkpoint, or a checkpoint that a rank restores.
///
/// Owns the served source and, while there is one, a thread that answers: a read may take longer
/// than the transport's thread may be blocked. One thread reads at a time, another one serves.
class StatePeer {
 public:
  using Send = std::function<Status(const RankMessage&)>;
  /// `what` names the other rank: "rank 2".
  StatePeer(std::string what, Send send) : what_(std::move(what)), send_(std::move(send)) {}
  ~StatePeer() { serve(nullptr); }

  /// Lets the other rank read `source` from now on, until that rank drops it; null ends serving.
  /// Waits for a read in progress.
  void serve(std::unique_ptr<StateSource> source);

  /// Starts to read a state of the other rank; resets give_up().
  void begin();
  /// Reads bytes of the state. Has no timeout; heartbeats detect that the other rank is lost.
  Status read(std::size_t index, std::uint64_t offset, std::span<std::byte> to);
  /// As StateSource::give_up. Any thread.
  void give_up();
  /// Tells the other rank that its state is not read any more.
  void drop();

  /// Handle messages of the other rank, on the transport's thread.
  void on(const ReadState& read);
  void on(StateBytes bytes);
  void on(const DropState&);
  /// Handles the loss of the other rank: ends waits for it and releases the state that it was
  /// reading. A step may be blocked until that state has been read.
  void lose(const std::string& why);

 private:
  Status read_piece(std::size_t index, std::uint64_t offset, std::span<std::byte> to);

  struct Mail {
    std::uint64_t asked = 0;  // number of the last request
    std::optional<StateBytes> answer;
    bool given_up = false;
    std::string lost;  // the reason; "": not lost
  };
  struct Asked {
    std::deque<ReadState> reads;
    bool over = false;
    bool lost = false;
  };
  void answer(StateSource& source);

  const std::string what_;
  const Send send_;
  Synchronized<Mail> mail_;
  Synchronized<Asked> asked_;
  std::thread server_;  // owns the served source
};

/// The state of the other rank. The peer outlives it.
class RemoteState final : public StateSource {
 public:
  RemoteState(std::vector<StateTensor> tensors, StatePeer& peer)
      : tensors_(std::move(tensors)), peer_(peer) {
    peer_.begin();
  }
  ~RemoteState() override { peer_.drop(); }
  RemoteState(const RemoteState&) = delete;
  RemoteState& operator=(const RemoteState&) = delete;

  const std::vector<StateTensor>& tensors() const override { return tensors_; }
  Status read(std::size_t index, std::uint64_t offset, std::span<std::byte> to) override {
    return peer_.read(index, offset, to);
  }
  void give_up() override { peer_.give_up(); }

 private:
  const std::vector<StateTensor> tensors_;
  StatePeer& peer_;
};

}  // namespace forebay

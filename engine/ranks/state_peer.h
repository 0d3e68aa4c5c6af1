#pragma once

#include <chrono>
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
#include "trainer/snapshot.h"

namespace forebay {

/// One rank as another one reads its state, or has its own read: a snapshot that is written into
/// rank 0's checkpoint, a checkpoint that a rank goes on from.
///
/// Owns what is served and, while something is, a thread that answers: reading may take longer than
/// the transport's may be held up. One thread reads at a time, another one serves.
class StatePeer {
 public:
  using Send = std::function<Status(const RankMessage&)>;
  /// `what` names the other rank: "rank 2".
  StatePeer(std::string what, Send send) : what_(std::move(what)), send_(std::move(send)) {}
  ~StatePeer() { serve(nullptr); }
  StatePeer(const StatePeer&) = delete;
  StatePeer& operator=(const StatePeer&) = delete;

  /// From now on the other side may read `source`, until it drops it; null: no more. Waits for
  /// the piece that is being read.
  void serve(std::unique_ptr<StateSource> source);

  /// A state of the other side's is to be read.
  void begin();
  /// Reads it. However long the other side takes: whether it lives, its heartbeats tell.
  Status read(std::size_t index, std::uint64_t offset, std::span<std::byte> to);
  /// As StateSource::give_up. Any thread.
  void give_up();
  /// It is not read any more.
  void drop();

  /// What came from the other side, on the transport's thread.
  void on(const ReadState& read);
  void on(StateBytes bytes);
  void on(const DropState&);
  /// Whoever waits for it waits no longer, and what it read is let go: a step may be waiting for
  /// room that only reading makes.
  void lose(const std::string& why);

 private:
  Status read_piece(std::size_t index, std::uint64_t offset, std::span<std::byte> to);

  struct Mail {
    std::uint64_t asked = 0;  // the number of the last question
    std::optional<StateBytes> answer;
    bool given_up = false;
    std::string lost;  // why; "": it is not
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
  std::thread server_;  // owns what is served
};

/// The other side's state. The peer outlives it.
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

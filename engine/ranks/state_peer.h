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
#include "trainer/model.h"
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

/// The states of all ranks as the state of one model. The dense part is rank 0's, since it is equal
/// on all ranks; each table is its owner's, or the concatenation of the parts that ranks own.
/// Values that belong to all tables together ("tables.steps") are taken from the first rank that
/// has them: all ranks count the same steps. There are no linked files: tiered tables are merged as
/// full tensors (whole_tables). The order of the tensors does not depend on the number of ranks: by
/// part, the dense ones, then the tables by number.
class MergedState final : public StateSource {
 public:
  explicit MergedState(std::vector<std::unique_ptr<StateSource>> ranks);

  const std::vector<StateTensor>& tensors() const override { return tensors_; }
  Status read(std::size_t index, std::uint64_t offset, std::span<std::byte> to) override;
  void give_up() override;

 private:
  /// Rows of a tensor from `first` on, owned by one rank.
  struct Piece {
    std::int64_t first = 0;
    std::size_t rank = 0;
    std::size_t index = 0;
  };
  void add(const StateTensor& tensor, const Piece& piece);

  const std::vector<std::unique_ptr<StateSource>> ranks_;
  std::vector<StateTensor> tensors_;
  std::vector<std::vector<Piece>> pieces_;  // sorted by first row
};

/// The tensors of a state, or rows of them, that one rank's model has, in the state's order.
class PartOfState final : public StateSource {
 public:
  /// `whole` outlives it. Tensors of `wanted` that `whole` lacks are left out; the model reports
  /// them when it restores.
  PartOfState(StateSource& whole, const std::vector<StateTensor>& wanted);

  const std::vector<StateTensor>& tensors() const override { return tensors_; }
  Status read(std::size_t index, std::uint64_t offset, std::span<std::byte> to) override {
    return whole_.read(locations_[index].index, locations_[index].offset + offset, to);
  }

 private:
  struct Location {
    std::size_t index = 0;
    std::uint64_t offset = 0;
  };

  StateSource& whole_;
  std::vector<StateTensor> tensors_;
  std::vector<Location> locations_;
};

/// Restores the part of `whole` that `model` has.
Status restore_part(StateSource& whole, Model& model);

/// A state shared by several readers on any threads; each reader holds one SharedState.
class SharedState final : public StateSource {
 public:
  explicit SharedState(std::shared_ptr<StateSource> whole) : whole_(std::move(whole)) {}

  const std::vector<StateTensor>& tensors() const override { return whole_->tensors(); }
  Status read(std::size_t index, std::uint64_t offset, std::span<std::byte> to) override {
    return whole_->read(index, offset, to);
  }

 private:
  const std::shared_ptr<StateSource> whole_;
};

}  // namespace forebay

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "core/data/schema.h"
#include "core/runtime/actor_ref.h"
#include "core/wire/codec.h"
#include "core/wire/frame.h"
#include "engine/ranks/batch_slice.h"
#include "trainer/state/snapshot.h"

/// The messages between ranks, beside those of batch_slice.h. All ranks run the same version of
/// forebay, so no message has an older form.

namespace forebay {

template <>
struct WireField<StateTensor> {
  static void write(Encoder& encoder, const StateTensor& tensor) {
    write_fields(encoder, std::tie(tensor.name, tensor.part, tensor.type, tensor.shape));
  }
  static bool read(Decoder& decoder, StateTensor& tensor) {
    return read_fields(decoder, std::tie(tensor.name, tensor.part, tensor.type, tensor.shape)) &&
           (tensor.type <= ElementType::kU64 || decoder.refuse("has an unknown type")) &&
           (tensor.part <= StateTensor::Part::kTables || decoder.refuse("has an unknown part")) &&
           (tensor.is_sound() || decoder.refuse("has extents that are no sizes"));
  }
};

template <>
struct WireField<FeatureGroup> {
  static void write(Encoder& encoder, const FeatureGroup& group) {
    write_fields(encoder, std::tie(group.dense, group.sparse));
  }
  static bool read(Decoder& decoder, FeatureGroup& group) {
    return read_fields(decoder, std::tie(group.dense, group.sparse));
  }
};

// Any rank → any rank.

/// Bytes of a state, in one frame; or why its owner cannot read them.
struct StateBytes {
  Result<void> read;
  Frames frames;
  static auto fields(auto& self) { return std::tie(self.read, self.frames); }
};

/// Asks for bytes of a tensor.
struct ReadState {
  using Reply = StateBytes;
  static constexpr std::string_view kTag = "ranks.read_state/1";
  static constexpr std::uint64_t kMostBytes = std::uint64_t{4} << 20;
  std::uint64_t index = 0;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  static auto fields(auto& self) { return std::tie(self.index, self.offset, self.bytes); }
};

/// The actor that owns a state (StateServer); its reader stops it.
using StateRef = ActorRef<ReadState>;

// Rank → rank 0.

/// There is room for so many more slices.
struct RankCredit {
  static constexpr std::string_view kTag = "ranks.credit/1";
  static constexpr std::uint64_t kAtFirst = 2;  ///< Credits before the first such message.
  std::uint64_t slices = 0;
  static auto fields(auto& self) { return std::tie(self.slices); }
};

/// A stop of all ranks was requested.
struct RankStop {
  static constexpr std::string_view kTag = "ranks.stop/1";
  std::int32_t signal = 0;
  static auto fields(auto& self) { return std::tie(self.signal); }
};

/// The rank ends with this error.
struct RankFailed {
  static constexpr std::string_view kTag = "ranks.failed/1";
  Error why;
  static auto fields(auto& self) { return std::tie(self.why); }
};

/// Rank 0's actor for one rank (RankSession).
using LeaderRef = ActorRef<RankCredit, RankStop, RankFailed>;

// Rank 0 → rank; BatchSlice and BatchIds, too.

/// A rank's number; `group` identifies the start that the rank belongs to, `alike` must be equal on
/// all ranks.
struct RankHello {
  std::uint64_t rank = 0;
  std::string group;
  std::string alike;
  static auto fields(auto& self) { return std::tie(self.rank, self.group, self.alike); }
};

/// The first message of a session: asks for the rank's hello. `leader` receives its messages.
struct RankCall {
  using Reply = RankHello;
  static constexpr std::string_view kTag = "ranks.call/1";
  LeaderRef leader;
  static auto fields(auto& self) { return std::tie(self.leader); }
};

/// Drop ids of batches that will not be trained. Has a frame because BatchIds have one: a message
/// without frames may overtake them.
struct ForgetIds {
  static constexpr std::string_view kTag = "ranks.forget_ids/1";
  Frames frames;
  static auto fields(auto& self) { return std::tie(self.frames); }
};

/// The schema of the batches, and bounds of their ids.
struct RankSchema {
  std::vector<std::string> dense;
  std::vector<std::string> sparse;
  std::vector<std::int64_t> bounds;  ///< Of each sparse feature.
  bool weight = false;               ///< Whether rows have weights.
  std::uint64_t all_ids = 0;         ///< MostIds of the batches.
  std::vector<std::uint64_t> ids;    ///< Of each sparse feature.
  std::vector<FeatureGroup> repeated;
  static auto fields(auto& self) {
    return std::tie(self.dense, self.sparse, self.bounds, self.weight, self.all_ids, self.ids,
                    self.repeated);
  }
};

/// The result of a command; and of kSnapshot the tensors, and the actor that reads them.
struct RankDone {
  Result<void> done = {};
  std::vector<StateTensor> tensors = {};
  StateRef from = {};
  static auto fields(auto& self) { return std::tie(self.done, self.tensors, self.from); }
};

/// The next command for all ranks. Commands are executed one by one; where rank 0 asks, the rank
/// answers after it.
struct RankCommand {
  using Reply = RankDone;
  static constexpr std::string_view kTag = "ranks.command/1";
  enum class Kind : std::uint8_t {
    /// All ranks have connected to rank 0: connect to all others. The first command of all.
    kMeet,
    kAccept,    ///< Make the model for batches of this schema. Asked.
    kStep,      ///< Train on the slice of batch `number`.
    kScore,     ///< Rank 0 scores rows of its own; take part.
    kSnapshot,  ///< Take a snapshot and let rank 0 read it. Asked.
    kRestore,   ///< Restore the model's part of these tensors, which `from` reads. Asked.
    kEnd,       ///< The run is over; `ended` is the result.
  };
  Kind kind = Kind::kStep;
  std::uint64_t number = 0;  ///< Of kEnd: the signal that requested the stop, or 0.
  bool has_ids = false;      ///< Of kStep: each rank was sent BatchIds of the batch.
  Result<void> ended = {};
  RankSchema schema = {};
  std::vector<StateTensor> tensors = {};
  StateRef from = {};
  static auto fields(auto& self) {
    return std::tie(self.kind, self.number, self.has_ids, self.ended, self.schema, self.tensors,
                    self.from);
  }
};

/// A rank's actor (RankMailbox), which rank 0 finds by this name.
inline constexpr std::string_view kRankName = "rank";
using RankRef = ActorRef<RankCall, RankCommand, BatchSlice, BatchIds, ForgetIds>;

}  // namespace forebay

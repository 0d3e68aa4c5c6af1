#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "core/wire/codec.h"
#include "core/wire/frame.h"
#include "engine/ranks/batch_slice.h"
#include "trainer/state/snapshot.h"

namespace forebay {

/// Rank → rank 0: the first message. `group` identifies the start that the rank belongs to, `alike`
/// must be equal on all ranks.
struct RankHello {
  std::uint64_t rank = 0;
  std::string group;
  std::string alike;
  static auto fields(auto& self) { return std::tie(self.rank, self.group, self.alike); }
};

/// Rank 0 → rank: the schema of the batches.
struct RankAccepted {
  std::vector<std::string> dense;
  std::vector<std::string> sparse;
  std::vector<std::int64_t> bounds;  ///< Of each sparse feature.
  bool weight = false;               ///< Whether rows have weights.
  static auto fields(auto& self) {
    return std::tie(self.dense, self.sparse, self.bounds, self.weight);
  }
};

/// Rank → rank 0: the model is made or restored; or the reason why not.
struct RankReady {
  Result<void> made;
  static auto fields(auto& self) { return std::tie(self.made); }
};

/// Rank → rank 0: there is room for so many more slices.
struct RankCredit {
  static constexpr std::uint64_t kAtFirst = 2;  ///< Credits before the first such message.
  std::uint64_t slices = 0;
  static auto fields(auto& self) { return std::tie(self.slices); }
};

/// Rank → rank 0: a stop of all ranks was requested.
struct RankStop {
  std::int32_t signal = 0;
  static auto fields(auto& self) { return std::tie(self.signal); }
};

/// Rank 0 → rank: drop ids of batches that will not be trained.
struct ForgetIds {
  std::uint64_t unused = 0;
  static auto fields(auto& self) { return std::tie(self.unused); }
};

/// Rank 0 → rank: the next command for all ranks. Commands are executed one by one.
struct RankCommand {
  enum class Kind : std::uint8_t {
    kStep,      ///< Train on the slice of batch `number`.
    kScore,     ///< Rank 0 scores rows of its own; take part.
    kSnapshot,  ///< Take a snapshot and let rank 0 read it.
    kRestore,   ///< Restore these tensors from the state that rank 0 lets all ranks read.
    kEnd,       ///< The run is over; `ended` is the result.
    /// All ranks have connected to rank 0: connect to all others. The first command of all.
    kMeet,
  };
  Kind kind = Kind::kStep;
  std::uint64_t number = 0;
  Result<void> ended = {};
  std::vector<StateTensor> tensors = {};
  bool has_ids = false;  ///< Of kStep: each rank was sent BatchIds of the batch.
  static auto fields(auto& self) {
    return std::tie(self.kind, self.number, self.ended, self.tensors, self.has_ids);
  }
};

/// Rank → rank 0: the tensors of the snapshot that was taken.
struct RankState {
  Result<std::vector<StateTensor>> tensors;
  static auto fields(auto& self) { return std::tie(self.tensors); }
};

/// Reader → owner of a state, on any two ranks: asks for these bytes.
struct ReadState {
  std::uint64_t index = 0;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::uint64_t number = 0;  ///< Number of the request.
  static auto fields(auto& self) {
    return std::tie(self.index, self.offset, self.bytes, self.number);
  }
};

/// Owner → reader: the bytes, in one frame.
struct StateBytes {
  Result<void> read;
  Frames frames;
  /// Number of the request: a reader that gave up ignores a late answer.
  std::uint64_t number = 0;
  static auto fields(auto& self) { return std::tie(self.read, self.frames, self.number); }
};

/// Reader → owner: the state is not needed any more.
struct DropState {
  std::uint64_t unused = 0;
  static auto fields(auto& self) { return std::tie(self.unused); }
};

/// Rank → rank 0: the rank ends with this error.
struct RankFailed {
  Result<void> why;
  static auto fields(auto& self) { return std::tie(self.why); }
};

/// All messages between ranks. The index of a type in this list is the first byte of its messages.
using RankMessage =
    std::variant<RankHello, RankAccepted, RankReady, RankCredit, RankStop, BatchSlice, RankCommand,
                 RankState, ReadState, StateBytes, DropState, RankFailed, BatchIds, ForgetIds>;

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

}  // namespace forebay

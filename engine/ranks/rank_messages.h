#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

#include "core/data/schema.h"
#include "core/wire/codec.h"
#include "core/wire/frame.h"
#include "engine/ranks/batch_slice.h"
#include "trainer/snapshot.h"

namespace forebay {

/// Rank → rank 0: here I am; `group` is the start that I belong to, `alike` what has to be the same
/// on all ranks.
struct RankHello {
  std::uint64_t rank = 0;
  std::string group;
  std::string alike;
  static auto fields(auto& self) { return std::tie(self.rank, self.group, self.alike); }
};

/// Rank 0 → rank: what batches will be like.
struct RankAccepted {
  std::vector<std::string> dense;
  std::vector<std::string> sparse;
  std::vector<std::int64_t> bounds;  ///< Per sparse feature.
  static auto fields(auto& self) { return std::tie(self.dense, self.sparse, self.bounds); }
};

/// Rank → rank 0: my model stands, or went on from a state; or why not.
struct RankReady {
  Result<void> made;
  static auto fields(auto& self) { return std::tie(self.made); }
};

/// Rank → rank 0: I have room for so many more slices.
struct RankCredit {
  static constexpr std::uint64_t kAtFirst = 2;  ///< Without any such message.
  std::uint64_t slices = 0;
  static auto fields(auto& self) { return std::tie(self.slices); }
};

/// Rank → rank 0: somebody wants all of us to stop.
struct RankStop {
  std::int32_t signal = 0;
  static auto fields(auto& self) { return std::tie(self.signal); }
};

/// Rank 0 → rank: ids that were told and not trained on yet never will be.
struct ForgetIds {
  std::uint64_t unused = 0;
  static auto fields(auto& self) { return std::tie(self.unused); }
};

/// Rank 0 → rank: what all do next. Orders are carried out one by one.
struct RankCommand {
  enum class Kind : std::uint8_t {
    kStep,      ///< Train on the slice of batch `number`.
    kScore,     ///< Rank 0 scores rows of its own; take part.
    kSnapshot,  ///< Take one, and let rank 0 read it.
    kRestore,   ///< Go on from the state of these tensors, which rank 0 lets all read.
    kEnd,       ///< The run is over; `ended` says how.
    kMeet,      ///< All ranks are here: each connects to all others. Before every other order.
  };
  Kind kind = Kind::kStep;
  std::uint64_t number = 0;
  Result<void> ended;
  std::vector<StateTensor> tensors = {};
  bool has_ids = false;  ///< Of kStep: each rank was sent BatchIds of it.
  static auto fields(auto& self) {
    return std::tie(self.kind, self.number, self.ended, self.tensors, self.has_ids);
  }
};

/// Rank → rank 0: the snapshot I took.
struct RankState {
  Result<std::vector<StateTensor>> tensors;
  static auto fields(auto& self) { return std::tie(self.tensors); }
};

/// Reader → owner of a state, whichever has which rank: give me these bytes.
struct ReadState {
  std::uint64_t index = 0;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::uint64_t number = 0;  ///< Of the question.
  static auto fields(auto& self) {
    return std::tie(self.index, self.offset, self.bytes, self.number);
  }
};

/// Owner → reader: here they are, in one frame.
struct StateBytes {
  Result<void> read;
  Frames frames;
  std::uint64_t number = 0;  ///< Of the question: who gave up waiting takes no late answer.
  static auto fields(auto& self) { return std::tie(self.read, self.frames, self.number); }
};

/// Reader → owner: I have what I wanted.
struct DropState {
  std::uint64_t unused = 0;
  static auto fields(auto& self) { return std::tie(self.unused); }
};

/// Rank → rank 0: this went wrong here, and I end.
struct RankFailed {
  Result<void> why;
  static auto fields(auto& self) { return std::tie(self.why); }
};

/// What ranks tell each other; its place in the list is the message's first byte.
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

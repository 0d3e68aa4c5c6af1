#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/base/check.h"
#include "core/data/batch_lists.h"
#include "engine/ranks/rank_messages.h"

namespace {

using namespace forebay;  // NOLINT(google-build-using-namespace)

/// A copy in memory of its own, so that the sanitizer sees an access outside; aligned or not.
Frame frame_of(std::span<const std::byte> bytes, bool aligned) {
  const std::size_t shift = aligned ? 0 : 1;
  const auto held = std::make_shared<std::vector<std::byte>>(shift + bytes.size());
  std::ranges::copy(bytes, held->begin() + static_cast<std::ptrdiff_t>(shift));
  return {held, held->data() + shift, bytes.size()};
}

std::string encoded(const auto& message, Frames& frames) {
  WireBuffer buffer;
  encode_value(message, buffer);
  frames = std::move(buffer.frames);
  return {reinterpret_cast<const char*>(buffer.bytes().data()), buffer.bytes().size()};
}

/// A slice's columns point into memory that the slice owns.
void check_slice(const BatchSlice& slice) {
  MemoryBudget budget(std::size_t{1} << 30);
  BufferPool pool(budget);
  const SliceLimits limits{.rows = 1000,
                           .dense_features = std::min<std::size_t>(slice.dense_features, 50),
                           .sparse_features = std::min<std::size_t>(slice.sparse_features, 50),
                           .weighted = slice.weighted};
  const auto batch = unpack_slice(slice, limits, pool);
  if (!batch) {
    FOREBAY_CHECK(batch.error().code == Code::kCorrupt);
    return;
  }
  const Batch& rows = **batch;
  const BatchLists lists(rows);
  FOREBAY_CHECK(lists.first_id(lists.features()) == rows.num_ids);
  for (std::size_t feature = 0; feature < lists.features(); ++feature) {
    for (std::size_t row = 0; row < rows.rows; ++row) {
      FOREBAY_CHECK(lists.number(feature, row) < lists.count(feature));
    }
  }
  const auto again = slice_rows(rows, 0, rows.rows, pool);
  FOREBAY_CHECK(std::equal(rows.ids, rows.ids + rows.num_ids, again->ids));
  FOREBAY_CHECK((again->weights != nullptr) == slice.weighted);
  if (slice.weighted && rows.rows > 0) {
    FOREBAY_CHECK(std::memcmp(rows.weights, again->weights, rows.rows * sizeof(float)) == 0);
  }
  FOREBAY_CHECK(packed_slice(again).num_ids == slice.num_ids);
}

void check_tensors_of(const std::vector<StateTensor>& tensors) {
  for (const StateTensor& tensor : tensors) {
    const auto differs = check_tensors({tensor}, {});
    FOREBAY_CHECK(!differs && tensor.is_sound());
  }
}

template <class Message>
void check(std::span<const std::byte> head, Frames frames) {
  const auto message = decode_value<Message>("a rank", head, frames);
  if (!message) {
    FOREBAY_CHECK(message.error().code == Code::kCorrupt);
    return;
  }
  if constexpr (std::is_same_v<Message, BatchSlice>) check_slice(*message);
  if constexpr (requires { message->tensors; }) check_tensors_of(message->tensors);
  Frames sent;
  const std::string once = encoded(*message, sent);
  Frames unused;
  const auto back = decode_value<Message>("a rank", std::as_bytes(std::span(once)), sent);
  FOREBAY_CHECK(back && encoded(*back, unused) == once);
}

/// All messages between ranks, and all answers.
using Messages = std::tuple<RankCredit, RankStop, RankFailed, RankHello, RankCall, RankCommand,
                            RankDone, BatchSlice, BatchIds, ForgetIds, ReadState, StateBytes>;

template <std::size_t... Kind>
void check_kind(std::size_t kind, std::span<const std::byte> head, const Frames& frames,
                std::index_sequence<Kind...>) {
  ((kind == Kind ? check<std::tuple_element_t<Kind, Messages>>(head, frames) : void()), ...);
}

}  // namespace

/// The input: the kind of message (a byte), the length of its head (a byte), the head, and one
/// frame. An accepted message reads back the same, and is safe to use.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  constexpr std::size_t kKinds = std::tuple_size_v<Messages>;
  const std::span<const std::byte> input(reinterpret_cast<const std::byte*>(data) + 2, size - 2);
  const auto head = input.first(std::min<std::size_t>(data[1], input.size()));
  const Frames frames{frame_of(input.subspan(head.size()), data[0] < 128)};
  check_kind(data[0] % 128 % kKinds, head, frames, std::make_index_sequence<kKinds>());
  check_kind(data[0] % 128 % kKinds, head, {}, std::make_index_sequence<kKinds>());
  return 0;
}

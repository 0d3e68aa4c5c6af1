#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/base/result.h"
#include "trainer/state/copy_before_change.h"

namespace forebay {

/// The type of a tensor's values; little-endian on the disk.
enum class ElementType : std::uint8_t { kF32, kF64, kI32, kI64, kU8, kU32, kU64 };

std::size_t size_of(ElementType type);
/// The name in safetensors: "F32".
std::string_view name_of(ElementType type);

/// Describes one named tensor of a model's state, row-major, without its location.
struct StateTensor {
  enum class Part : std::uint8_t {
    kWeights,    ///< Needed for predictions.
    kOptimizer,  ///< Needed for training only.
    kTables,     ///< State of tables beside or instead of weights: keys, counts, rows of several.
  };
  /// All parts, in the order in which a state lists its tensors.
  static constexpr std::array kParts = {Part::kWeights, Part::kOptimizer, Part::kTables};

  std::string name = {};  ///< Such as "bottom.0.weight", "table.3"; unique in its part.
  Part part = Part::kWeights;
  ElementType type = ElementType::kF32;
  std::vector<std::int64_t> shape = {};

  std::uint64_t bytes() const;
  /// Whether the extents are valid sizes and bytes() does not overflow; for tensors read from
  /// files.
  bool is_sound() const;
  bool operator==(const StateTensor&) const = default;
};

/// A tensor of slot metadata: `size` values.
template <class T>
StateTensor metadata_tensor(const std::string& name, std::size_t size) {
  static_assert(std::is_same_v<T, std::int64_t> || std::is_same_v<T, std::uint64_t> ||
                std::is_same_v<T, std::uint8_t>);
  constexpr bool kBytes = std::is_same_v<T, std::uint8_t>;
  constexpr auto kWords = std::is_signed_v<T> ? ElementType::kI64 : ElementType::kU64;
  return {.name = name,
          .part = StateTensor::Part::kTables,
          .type = kBytes ? ElementType::kU8 : kWords,
          .shape = {static_cast<std::int64_t>(size)}};
}

/// The whole state of a model at one moment: a live model's snapshot, or a checkpoint.
///
/// Belongs to one thread at a time, which need not be the model's: the model may train meanwhile.
class StateSource {
 public:
  virtual ~StateSource() = default;

  /// In an order that depends on the model alone: weights, then the optimizer's tensors, then those
  /// of tables.
  virtual const std::vector<StateTensor>& tensors() const = 0;

  /// Reads bytes [offset, offset + to.size()) of a tensor. Parts may come in any order; within a
  /// part, reads ascend by (index, offset), and restart from its begin after another part was read.
  /// Each byte is read at most once; bytes that are skipped are released.
  virtual Status read(std::size_t index, std::uint64_t offset, std::span<std::byte> to) = 0;

  /// Makes current and later reads that would have to wait fail soon with kTimeout. Any thread.
  virtual void give_up() {}

  /// Puts the state's files that are on the disk already into `folder`, as hard links if it is on
  /// the same file system; creates the folder if there are any files. They are never changed
  /// afterwards.
  virtual Status link_files(const std::string& /*folder*/) { return {}; }

  /// The folder with those files, to be read and not changed while this object lives; empty if
  /// there are no files.
  virtual Result<std::string> files_folder() { return std::string(); }
};

/// Rows of a tensor that are read at a time.
inline constexpr std::size_t kRowsAtOnce = 4096;

/// Receives the values of consecutive rows, from row `first` on.
using TakeRows = std::function<Status(std::size_t first, std::span<const float> values)>;

/// Reads a tensor of floats, [rows, width], kRowsAtOnce rows at a time.
Status read_rows(StateSource& state, std::size_t index, const TakeRows& take);

/// Names the first difference between the state of a model and the state offered to it. The
/// order does not matter.
Status check_tensors(const std::vector<StateTensor>& wanted,
                     const std::vector<StateTensor>& offered);

/// A tensor whose values are contiguous in memory.
struct MemoryTensor {
  StateTensor tensor;
  std::span<std::byte> memory;
  CopyBeforeChange* guard = nullptr;  ///< Of this memory; null: small, copied at once.
};

/// Describes `values` as writable bytes.
MemoryTensor in_memory(StateTensor tensor, std::span<float> values,
                       CopyBeforeChange* guard = nullptr);

/// Takes a snapshot of a model whose state is in memory; the model outlives it. Call it between two
/// steps; tensors in any order. Fails while another snapshot of a guarded tensor exists.
Result<std::unique_ptr<StateSource>> snapshot_of_memory(std::vector<MemoryTensor> tensors);

/// The descriptions of the tensors, without their memory.
std::vector<StateTensor> tensors_of(const std::vector<MemoryTensor>& tensors);

/// Fills `tensors` from `from`, which must have the same tensors; otherwise changes nothing. Call
/// it between two steps, while no snapshot exists.
Status restore_memory(StateSource& from, const std::vector<MemoryTensor>& tensors);

}  // namespace forebay

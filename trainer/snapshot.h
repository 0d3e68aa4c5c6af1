#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace forebay {

/// The type of a tensor's values; little-endian on the disk.
enum class ElementType : std::uint8_t { kF32, kF64, kI32, kI64, kU8, kU32, kU64 };

std::size_t size_of(ElementType type);
/// As safetensors has it: "F32".
std::string_view name_of(ElementType type);

/// One named tensor of a model's state, row-major: what it is, not where.
struct StateTensor {
  enum class Part : std::uint8_t {
    kWeights,    ///< What a prediction needs.
    kOptimizer,  ///< What only training needs.
    kTables,     ///< What tables keep beside or instead of weights: keys, counts, rows of several.
  };
  /// All of them, in the order in which a state lists its tensors.
  static constexpr std::array kParts = {Part::kWeights, Part::kOptimizer, Part::kTables};

  std::string name = {};  ///< Such as "bottom.0.weight", "table.3"; unique in its part.
  Part part = Part::kWeights;
  ElementType type = ElementType::kF32;
  std::vector<std::int64_t> shape = {};

  std::uint64_t bytes() const;
  /// Whether the extents are sizes and bytes() is a number: asked of what comes from outside.
  bool is_sound() const;
  bool operator==(const StateTensor&) const = default;
};

/// The whole state of a model at one moment: a live model's snapshot, or a checkpoint.
///
/// Belongs to one thread at a time, which need not be the model's: that one may train on.
class StateSource {
 public:
  virtual ~StateSource() = default;

  /// In an order that depends on the model alone: weights, then what is the optimizer's, then
  /// tables.
  virtual const std::vector<StateTensor>& tensors() const = 0;

  /// Reads bytes [offset, offset + to.size()) of a tensor. Parts in any order, within one in
  /// ascending order of (index, offset), from its beginning again after another part was read; each
  /// byte at most once; what is left out is let go.
  virtual Status read(std::size_t index, std::uint64_t offset, std::span<std::byte> to) = 0;

  /// What is being read, and whatever is read from now on, fails soon with kTimeout where it would
  /// have to be waited for. Any thread.
  virtual void give_up() {}

  /// Puts the files of the state that lie on the disk already into `folder`, as hard links where it
  /// is of the same file system; makes the folder when there are any. They are never changed after.
  virtual Status link_files(const std::string& folder);

  /// The folder that those files lie in, to be read and not changed while this lives; empty where
  /// there are none.
  virtual Result<std::string> files_folder();
};

/// Names the first difference between the state a model has and the state that is offered to it; a
/// wanted extent of -1 takes any. The order does not matter.
Status check_tensors(const std::vector<StateTensor>& wanted,
                     const std::vector<StateTensor>& offered);

}  // namespace forebay

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>

namespace forebay::python {

/// The element types that batches have, by the letter of Python's `struct` module.
enum class Element : char {
  kFloat32 = 'f',
  kFloat64 = 'd',
  kInt32 = 'i',
  kInt64 = 'q',
  kByte = 'B'
};

std::size_t size_of(Element element);

/// A read-only view of a batch's memory, which lives as long as one view of it does.
///
/// Every consumer (the buffer protocol, `__array_interface__`, DLPack) gets the same pointer. A
/// value; what it shows never changes, unless a consumer writes through DLPack.
class Array {
 public:
  using Dimensions = std::vector<std::int64_t>;

  /// `data` points to the first element, in memory that `owner` keeps. Rows follow one another.
  Array(std::shared_ptr<const void> owner, const void* data, Element element, Dimensions shape);
  /// The same, with strides in elements.
  Array(std::shared_ptr<const void> owner, const void* data, Element element, Dimensions shape,
        Dimensions strides);

  const void* data() const { return data_; }
  Element element() const { return element_; }
  const Dimensions& shape() const { return shape_; }
  const Dimensions& strides() const { return strides_; }
  std::int64_t size() const;
  const std::shared_ptr<const void>& owner() const { return owner_; }

  /// The same elements in memory of their own, without gaps.
  Array copy() const;

 private:
  std::shared_ptr<const void> owner_;
  const void* data_;
  Element element_;
  Dimensions shape_;
  Dimensions strides_;
};

/// What `__dlpack__` is asked for, as in the array API standard.
struct DlpackRequest {
  std::optional<std::pair<std::int64_t, std::int64_t>> max_version;
  std::optional<std::pair<std::int64_t, std::int64_t>> device;
  std::optional<bool> copy;
};

/// Returns a capsule that keeps the memory until its consumer ends it, on any thread. Throws
/// BufferError for another device than the CPU.
nanobind::object to_dlpack(const Array& array, const DlpackRequest& request);

/// Adds the class `Array` to the module.
void bind_array(nanobind::module_& module);

}  // namespace forebay::python

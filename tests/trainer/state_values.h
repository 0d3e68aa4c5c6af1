#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/base/check.h"
#include "trainer/model.h"

namespace forebay::test {

/// A tensor of a model's state, with a copy of its values; integers are copied as floats, which can
/// be compared but not read.
struct TensorValues {
  StateTensor tensor;
  std::vector<float> values;

  bool operator==(const TensorValues&) const = default;
};

/// Reads tensors from beginning to end.
inline std::vector<TensorValues> read_all(StateSource& source) {
  std::vector<TensorValues> all;
  for (std::size_t index = 0; index < source.tensors().size(); ++index) {
    TensorValues next{source.tensors()[index], {}};
    next.values.resize(next.tensor.bytes() / sizeof(float));
    const auto read = source.read(index, 0, std::as_writable_bytes(std::span(next.values)));
    FOREBAY_CHECK(read.has_value());
    all.push_back(std::move(next));
  }
  return all;
}

inline std::vector<TensorValues> state_of(Model& model) {
  return read_all(*model.snapshot().value());
}

}  // namespace forebay::test

#include "trainer/state/memory_source.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/base/check.h"

namespace forebay {

MemoryTensor in_memory(StateTensor tensor, std::span<float> values, CopyBeforeChange* guard) {
  return {std::move(tensor), std::as_writable_bytes(values), guard};
}

Result<std::unique_ptr<StateSource>> MemorySource::take(std::vector<MemoryTensor> tensors) {
  const bool taken = std::ranges::any_of(tensors, [](const MemoryTensor& tensor) {
    return tensor.guard != nullptr && tensor.guard->alive();
  });
  if (taken) return fail(Code::kInvalid, "a snapshot of this model is being read already");
  std::ranges::stable_sort(tensors, {}, [](const MemoryTensor& each) { return each.tensor.part; });
  return std::unique_ptr<StateSource>(new MemorySource(tensors));
}

MemorySource::MemorySource(const std::vector<MemoryTensor>& tensors) {
  tensors_.reserve(tensors.size());
  locations_.resize(tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const MemoryTensor& tensor = tensors[i];
    FOREBAY_CHECK(tensor.memory.size() == tensor.tensor.bytes());
    tensors_.push_back(tensor.tensor);
    if (tensor.guard == nullptr) {
      locations_[i].copy.assign(tensor.memory.begin(), tensor.memory.end());
    } else {
      locations_[i].guard = tensor.guard;
      tensor.guard->begin();
    }
  }
}

MemorySource::~MemorySource() {
  for (const Location& place : locations_) {
    if (place.guard != nullptr) place.guard->end();
  }
}

Status MemorySource::read(std::size_t index, std::uint64_t offset, std::span<std::byte> to) {
  Location& place = locations_[index];
  if (place.guard != nullptr) {
    place.guard->read(offset, to);
  } else {
    FOREBAY_CHECK(offset + to.size() <= place.copy.size());
    std::memcpy(to.data(), place.copy.data() + offset, to.size());
  }
  return {};
}

std::vector<StateTensor> tensors_of(const std::vector<MemoryTensor>& tensors) {
  std::vector<StateTensor> wanted;
  wanted.reserve(tensors.size());
  for (const MemoryTensor& tensor : tensors) wanted.push_back(tensor.tensor);
  return wanted;
}

Status restore_memory(StateSource& from, const std::vector<MemoryTensor>& tensors) {
  if (auto same = check_tensors(tensors_of(tensors), from.tensors()); !same) return same;
  const std::vector<StateTensor>& offered = from.tensors();
  for (std::size_t i = 0; i < offered.size(); ++i) {
    const auto place = std::ranges::find(tensors, offered[i], &MemoryTensor::tensor);
    FOREBAY_CHECK(place->guard == nullptr || !place->guard->alive());
    if (auto read = from.read(i, 0, place->memory); !read) return read;
  }
  return {};
}

}  // namespace forebay

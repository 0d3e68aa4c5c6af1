#include "trainer/state/snapshot.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/base/check.h"

namespace forebay {
namespace {

struct Element {
  std::string_view name;
  std::size_t size;
};

constexpr std::array<Element, 7> kElements = {
    {{"F32", 4}, {"F64", 8}, {"I32", 4}, {"I64", 8}, {"U8", 1}, {"U32", 4}, {"U64", 8}}};

const Element& element(ElementType type) { return kElements[static_cast<std::size_t>(type)]; }

std::string describe(const StateTensor& tensor) {
  std::string text = tensor.shape.empty() ? "one" : "";
  for (const std::int64_t extent : tensor.shape) {
    if (!text.empty()) text += " x ";
    text += std::to_string(extent);
  }
  return text.append(" ").append(name_of(tensor.type));
}

std::string title_of(const StateTensor& tensor) {
  constexpr std::array<std::string_view, 3> kOf = {"", " of the optimizer", " of the tables"};
  return tensor.name + std::string(kOf[static_cast<std::size_t>(tensor.part)]);
}

const StateTensor* find(const std::vector<StateTensor>& tensors, const StateTensor& like) {
  const auto same = std::ranges::find_if(tensors, [&](const StateTensor& tensor) {
    return tensor.part == like.part && tensor.name == like.name;
  });
  return same == tensors.end() ? nullptr : &*same;
}

class MemorySource final : public StateSource {
 public:
  explicit MemorySource(const std::vector<MemoryTensor>& tensors) {
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

  ~MemorySource() override {
    for (const Location& place : locations_) {
      if (place.guard != nullptr) place.guard->end();
    }
  }

  MemorySource(const MemorySource&) = delete;
  MemorySource& operator=(const MemorySource&) = delete;

  const std::vector<StateTensor>& tensors() const override { return tensors_; }

  Status read(std::size_t index, std::uint64_t offset, std::span<std::byte> to) override {
    Location& place = locations_[index];
    if (place.guard != nullptr) {
      place.guard->read(offset, to);
    } else {
      FOREBAY_CHECK(offset + to.size() <= place.copy.size());
      std::memcpy(to.data(), place.copy.data() + offset, to.size());
    }
    return {};
  }

 private:
  struct Location {
    CopyBeforeChange* guard = nullptr;
    std::vector<std::byte> copy;  // without a guard
  };

  std::vector<StateTensor> tensors_;
  std::vector<Location> locations_;
};

}  // namespace

std::size_t size_of(ElementType type) { return element(type).size; }

std::string_view name_of(ElementType type) { return element(type).name; }

std::uint64_t StateTensor::bytes() const {
  std::uint64_t bytes = size_of(type);
  for (const std::int64_t extent : shape) bytes *= static_cast<std::uint64_t>(extent);
  return bytes;
}

bool StateTensor::is_sound() const {
  std::uint64_t bytes = size_of(type);
  for (const std::int64_t extent : shape) {
    if (extent < 0) return false;
    if (__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(extent), &bytes)) return false;
  }
  return true;
}

Status read_rows(StateSource& state, std::size_t index, const TakeRows& take) {
  const auto rows = static_cast<std::size_t>(state.tensors()[index].shape[0]);
  const auto width = static_cast<std::size_t>(state.tensors()[index].shape[1]);
  std::vector<float> values(std::min(rows, kRowsAtOnce) * width);
  for (std::size_t first = 0; first < rows; first += kRowsAtOnce) {
    const auto some = std::span(values).first(std::min(kRowsAtOnce, rows - first) * width);
    auto done = state.read(index, first * width * sizeof(float), std::as_writable_bytes(some));
    if (done) done = take(first, some);
    if (!done) return done;
  }
  return {};
}

Status check_tensors(const std::vector<StateTensor>& wanted,
                     const std::vector<StateTensor>& offered) {
  for (const StateTensor& tensor : wanted) {
    const StateTensor* other = find(offered, tensor);
    if (other == nullptr) return fail(Code::kInvalid, title_of(tensor) + " is not in it");
    if (tensor.type != other->type || tensor.shape != other->shape) {
      return fail(Code::kInvalid, title_of(tensor) + " is " + describe(*other) + " in it and " +
                                      describe(tensor) + " in this model");
    }
  }
  for (const StateTensor& tensor : offered) {
    if (find(wanted, tensor) == nullptr) {
      return fail(Code::kInvalid, "it has " + title_of(tensor) + ", which this model has not");
    }
  }
  return {};
}

MemoryTensor in_memory(StateTensor tensor, std::span<float> values, CopyBeforeChange* guard) {
  return {std::move(tensor), std::as_writable_bytes(values), guard};
}

Result<std::unique_ptr<StateSource>> snapshot_of_memory(std::vector<MemoryTensor> tensors) {
  const bool taken = std::ranges::any_of(tensors, [](const MemoryTensor& tensor) {
    return tensor.guard != nullptr && tensor.guard->alive();
  });
  if (taken) return fail(Code::kInvalid, "a snapshot of this model is being read already");
  std::ranges::stable_sort(tensors, {}, [](const MemoryTensor& each) { return each.tensor.part; });
  return std::make_unique<MemorySource>(tensors);
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

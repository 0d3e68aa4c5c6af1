#include "trainer/embedding/row_arena.h"

namespace forebay {
namespace {

std::unique_ptr<CopyBeforeChange> guard(const Pages& pages, std::size_t width, CopyRoom& room) {
  if (width == 0) return nullptr;
  const std::span<const std::byte> memory(pages.as<std::byte>(), pages.size());
  return std::make_unique<CopyBeforeChange>(memory, width * sizeof(float), room);
}

}  // namespace

RowArena::RowArena(std::size_t slots, std::size_t width, std::size_t state_width, CopyRoom& room)
    : slots_(slots),
      width_(width),
      state_width_(state_width),
      weights_(slots * width * sizeof(float)),
      state_(slots * state_width * sizeof(float)),
      weights_guard_(guard(weights_, width, room)),
      state_guard_(guard(state_, state_width, room)) {}

void append_arena(const RowArena& arena, const std::string& name,
                  std::vector<MemoryTensor>& tensors) {
  const auto append = [&](StateTensor::Part part, float* values, std::size_t width,
                          CopyBeforeChange* guard) {
    if (width == 0) return;
    StateTensor tensor{.name = name, .part = part};
    tensor.shape = {static_cast<std::int64_t>(arena.slots()), static_cast<std::int64_t>(width)};
    tensors.push_back(in_memory(std::move(tensor), {values, arena.slots() * width}, guard));
  };
  append(StateTensor::Part::kWeights, arena.weights(), arena.width(), &arena.weights_guard());
  append(StateTensor::Part::kOptimizer, arena.state(), arena.state_width(), arena.state_guard());
}

}  // namespace forebay

#include "trainer/embedding/pages.h"

#include <sys/mman.h>

#include <utility>

#include "core/base/check.h"

namespace forebay {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;

std::unique_ptr<CopyBeforeChange> guard(const Pages& pages, std::size_t width, CopyRoom& room) {
  if (width == 0) return nullptr;
  const std::span<const std::byte> memory(pages.as<std::byte>(), pages.size());
  return std::make_unique<CopyBeforeChange>(memory, width * sizeof(float), room);
}

}  // namespace

Pages::Pages(std::size_t bytes) : size_(bytes) {
  if (bytes == 0) return;
  data_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
               -1, 0);
  FOREBAY_CHECK(data_ != MAP_FAILED);
  if (bytes >= 4 * kHugePage) madvise(data_, bytes, MADV_HUGEPAGE);
}

Pages::~Pages() {
  if (data_ != nullptr) munmap(data_, size_);
}

void Pages::clear() {
  if (data_ != nullptr) FOREBAY_CHECK(madvise(data_, size_, MADV_DONTNEED) == 0);
}

void Pages::swap(Pages& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
}

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

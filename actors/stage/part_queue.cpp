#include "actors/stage/part_queue.h"

#include <algorithm>
#include <utility>

namespace forebay {

std::vector<Split> PartQueue::add(std::shared_ptr<SplitAssembly> split) {
  return serial_([&] {
    const std::uint64_t number = split->id().number;
    waiting_.insert_or_assign(number, Waiting{.split = std::move(split)});
    return give_out();
  });
}

std::vector<Split> PartQueue::returned(const SplitId& part) {
  return serial_([&] {
    const auto found = waiting_.find(part.number);
    if (found == waiting_.end()) return std::vector<Split>();
    budget_.give(part.cost);
    --found->second.out;
    if (found->second.split == nullptr && found->second.out == 0) waiting_.erase(found);
    return give_out();
  });
}

std::vector<Split> PartQueue::give_out() {
  std::vector<Split> parts;
  bool full = false;
  for (auto& [number, waiting] : waiting_) {
    while (waiting.split != nullptr) {
      const std::uint64_t cost = cost_of(*waiting.split, waiting.next);
      if (full || !budget_.try_take(cost)) {
        full = true;
        if (waiting.out > 0) break;
        budget_.take(cost);
      }
      Split part = SplitAssembly::part(waiting.split, waiting.next);
      part.id.cost = cost;
      parts.push_back(std::move(part));
      ++waiting.out;
      if (++waiting.next == waiting.split->parts()) waiting.split.reset();
    }
  }
  return parts;
}

std::uint64_t PartQueue::cost_of(const SplitAssembly& split, std::size_t part) const {
  const std::uint64_t bytes = split.bytes_of(part);
  return pool_bytes(std::max<std::uint64_t>(bytes, plan_.peak_bytes(split.rows_of(part), bytes)));
}

}  // namespace forebay

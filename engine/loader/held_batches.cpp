#include "engine/loader/held_batches.h"

#include <utility>

namespace forebay {

/// A batch that the program holds and the memory that it refers to; the batch is destroyed first.
class HeldBatches::Held {
 public:
  Held(std::shared_ptr<HeldBatches> all, std::shared_ptr<const void> memory,
       std::shared_ptr<const Batch> batch)
      : all_(std::move(all)), memory_(std::move(memory)), batch_(std::move(batch)) {
    ++all_->count_;
    all_->bytes_ += batch_->bytes();
  }
  ~Held() {
    --all_->count_;
    all_->bytes_ -= batch_->bytes();
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

  const Batch* batch() const { return batch_.get(); }

 private:
  const std::shared_ptr<HeldBatches> all_;
  const std::shared_ptr<const void> memory_;
  const std::shared_ptr<const Batch> batch_;
};

std::shared_ptr<const Batch> HeldBatches::hold(const std::shared_ptr<HeldBatches>& all,
                                               std::shared_ptr<const void> memory,
                                               std::shared_ptr<const Batch> batch) {
  auto held = std::make_shared<const Held>(all, std::move(memory), std::move(batch));
  const Batch* const shown = held->batch();
  return {std::move(held), shown};
}

}  // namespace forebay

#include "engine/convert/encode_pool.h"

#include <chrono>
#include <utility>

namespace forebay {

class EncodePool::Worker final : public PoolWorker<Task> {
 public:
  Worker(std::unique_ptr<RowEncoder> encoder, Synchronized<std::vector<EncodedRows>>& used)
      : encoder_(std::move(encoder)), used_(used) {}

  Status on(Task&& task, PoolContext&) override {
    EncodedRows used = used_.change([](auto& all) {
      EncodedRows last;
      if (!all.empty()) {
        last = std::move(all.back());
        all.pop_back();
      }
      return last;
    });
    auto rows = encoder_->encode(std::move(task.batch), std::move(used));
    task.slot->change([&](auto& result) { result.emplace(std::move(rows)); });
    return {};
  }

 private:
  std::unique_ptr<RowEncoder> encoder_;
  Synchronized<std::vector<EncodedRows>>& used_;
};

EncodePool::EncodePool(const OutputKind& kind, std::size_t threads, const Clock& clock)
    : threads_(threads),
      pool_({.name = "encode",
             .mailbox_bytes = most_held(threads),
             .factory = [this, &kind] { return std::make_unique<Worker>(kind.encoder(), used_); },
             .on_failure = [this](const Error& error) { failing_([&] { failed_ = error; }); }},
            clock) {
  pool_.grow(threads);
}

void EncodePool::give(std::shared_ptr<const Batch> batch) {
  auto slot = std::make_shared<Slot>();
  waiting_.push_back(slot);
  pool_.offer(Task{std::move(batch), std::move(slot), given_++}, 1);
}

void EncodePool::recycle(EncodedRows rows) {
  used_.change([&](auto& all) { all.push_back(std::move(rows)); });
}

// A worker that threw leaves its slot empty, so the wait looks for a failure now and then.
Result<EncodedRows> EncodePool::take() {
  constexpr std::chrono::milliseconds kLook{200};
  const std::shared_ptr<Slot> slot = std::move(waiting_.front());
  waiting_.pop_front();
  Result<EncodedRows> rows = EncodedRows{};
  while (!slot->wait(
      kLook, [](const auto& result) { return result.has_value(); },
      [&](auto& result) { rows = std::move(*result); })) {
    if (auto error = failing_([this] { return failed_; })) return tl::unexpected<Error>(*error);
  }
  return rows;
}

}  // namespace forebay

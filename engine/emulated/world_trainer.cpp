#include "engine/emulated/world_trainer.h"

#include <utility>
#include <vector>

#include "engine/cluster/head_node.h"
#include "engine/cluster/split_client.h"
#include "engine/emulated/split_frame.h"

namespace forebay {
namespace {

constexpr const char* kLoopback = "127.0.0.1:0";
constexpr const char* kJob = "emulated";
constexpr std::uint64_t kManySplits = std::uint64_t{1} << 32U;
constexpr double kNeverTwice = 1e9;

scheduler::HeadOptions patient_head() {
  scheduler::HeadOptions options;
  options.lease = std::chrono::minutes(10);
  options.lost_after = 240;
  options.straggler = {.times_usual = kNeverTwice, .at_least = std::chrono::hours(24)};
  return options;
}

}  // namespace

Result<std::unique_ptr<WorldTrainer>> WorldTrainer::make(Options options, const Clock& clock) {
  auto trainer =
      std::unique_ptr<WorldTrainer>(new WorldTrainer(std::move(options), clock));  // NOLINT
  auto net = NetworkEndpoint::make({}, clock);
  if (!net) return pass(net);
  trainer->net_ = std::move(*net);
  auto head = start_head(*trainer->net_, trainer->store_, patient_head());
  if (!head) return pass(head);
  trainer->head_ = *head;
  trainer->start_split_client();
  auto address = trainer->net_->listen(kLoopback);
  if (!address) return pass(address);
  trainer->address_ = *address;
  return trainer;
}

void WorldTrainer::start_split_client() {
  scheduler::SplitClientOptions options;
  options.job = {
      .id = kJob, .text = "", .fingerprint = kJob, .splits_per_epoch = kManySplits, .epochs = 1};
  split_client_ = host_split_client(*net_, options, *this, *this);
  if (options_.ordered) issue(options_.prefetch, 0);
  static_cast<void>(split_client_.tell(scheduler::BeginSplitClient{}));  // The mailbox is empty.
}

void WorldTrainer::issue(std::uint64_t end, double at) {
  scheduler::IssueSplits issue;
  serial_([&] {
    for (; next_ < end; ++next_) {
      issue.splits.push_back(next_);
      if (options_.ordered) issued_at_[next_] = at;
    }
  });
  if (issue.splits.empty()) return;
  static_cast<void>(split_client_.tell(std::move(issue)));  // Fails if the client has ended.
}

void WorldTrainer::issue_more() {
  if (options_.ordered) return;
  const std::uint64_t window = options_.window();
  issue(serial_([&] { return arrived_ + window; }), 0);
}

std::uint32_t WorldTrainer::issued() const {
  return serial_([this] { return static_cast<std::uint32_t>(issued_at_.size()); });
}

double WorldTrainer::issued_at(std::uint64_t number) const {
  return serial_([&] {
    const auto found = issued_at_.find(number);
    return found == issued_at_.end() ? 0.0 : found->second;
  });
}

void WorldTrainer::own_split_arrived(std::uint64_t /*number*/) {
  serial_([this] { ++arrived_; });
  issue_more();
}

Result<bool> WorldTrainer::arrived(std::uint64_t split, const std::string&, Frames frames) {
  auto made = split_of(split, frames, options_.nodes);
  if (!made) return pass(made);
  options_.on_arrival(*made);
  serial_([this] { ++arrived_; });
  issue_more();
  return true;
}

void WorldTrainer::taken(std::uint64_t number, double at, std::uint32_t prefetch) {
  serial_([&] {
    taken_.add(number, number);
    issued_at_.erase(number);
  });
  if (options_.ordered) issue(number + 1 + prefetch, at);
}

void WorldTrainer::report() {
  Position position;
  const bool is_new = serial_([&] {
    position.split = taken_.lowest_missing();
    return std::exchange(reported_, position.split) < position.split;
  });
  if (is_new) static_cast<void>(split_client_.tell(scheduler::Trained{position}));
}

}  // namespace forebay

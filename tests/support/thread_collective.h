#pragma once

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/base/check.h"
#include "trainer/collective.h"

namespace forebay::test {

/// Ranks that are threads of one process: each thread has its own Collective of these.
///
/// The last rank to join an operation does it for all, adding up in the order of the ranks. When
/// the Collective of a rank is destroyed, the rank is lost: ranks that wait for it get the error at
/// once.
class ThreadCollective final : public Collective {
 public:
  static std::vector<std::unique_ptr<Collective>> make(
      int size, std::chrono::milliseconds timeout = std::chrono::seconds(60)) {
    auto meeting = std::make_shared<Meeting>(size, timeout);
    std::vector<std::unique_ptr<Collective>> ranks;
    for (int rank = 0; rank < size; ++rank) {
      ranks.push_back(std::unique_ptr<Collective>(new ThreadCollective(meeting, rank)));
    }
    return ranks;
  }

  ~ThreadCollective() override {
    const std::lock_guard lock(meeting_->mutex);
    meeting_->left[static_cast<std::size_t>(rank_)] = true;
    meeting_->changed.notify_all();
  }

  int rank() const override { return rank_; }
  int size() const override { return meeting_->size; }

  Handle start_all_reduce(std::span<float> values) override {
    return begin({.kind = Kind::kSum, .values = values});
  }
  Handle start_all_to_all(const Exchange& exchange) override {
    return begin({.kind = Kind::kExchange,
                  .send = exchange.send,
                  .receive = exchange.receive,
                  .send_bytes = {exchange.send_bytes.begin(), exchange.send_bytes.end()},
                  .receive_bytes = {exchange.receive_bytes.begin(), exchange.receive_bytes.end()}});
  }
  Status broadcast(std::span<std::byte> bytes, int root) override {
    return begin({.kind = Kind::kBroadcast, .receive = bytes, .root = root})->wait();
  }
  void abandon(const std::string& why) override {
    const std::lock_guard lock(meeting_->mutex);
    meeting_->abandoned[static_cast<std::size_t>(rank_)] = why;
    meeting_->changed.notify_all();
  }

 private:
  enum class Kind { kSum, kExchange, kBroadcast };

  /// One rank's part of an operation.
  struct Part {
    Kind kind = Kind::kSum;
    std::span<float> values = {};
    std::span<const std::byte> send = {};
    std::span<std::byte> receive = {};
    std::vector<std::size_t> send_bytes = {};
    std::vector<std::size_t> receive_bytes = {};
    int root = 0;
    bool here = false;
  };
  struct Operation {
    std::vector<Part> parts;
    int missing = 0;
    bool done = false;
  };

  struct Meeting {
    Meeting(int ranks, std::chrono::milliseconds most)
        : size(ranks),
          timeout(most),
          left(static_cast<std::size_t>(ranks)),
          abandoned(static_cast<std::size_t>(ranks)) {}
    const int size;
    const std::chrono::milliseconds timeout;
    std::mutex mutex;
    std::condition_variable changed;
    std::map<std::uint64_t, std::shared_ptr<Operation>> operations;  // under mutex, as all below
    std::vector<bool> left;
    std::vector<std::string> abandoned;  // by rank: the reason; "": not abandoned
  };

  class Waiting final : public Pending {
   public:
    Waiting(std::shared_ptr<Meeting> meeting, std::shared_ptr<Operation> operation, int rank)
        : meeting_(std::move(meeting)), operation_(std::move(operation)), rank_(rank) {}
    ~Waiting() override {
      if (operation_) static_cast<void>(wait());
    }
    Status wait() override {
      const auto operation = std::exchange(operation_, nullptr);
      std::unique_lock lock(meeting_->mutex);
      std::string lost;
      const std::string& abandoned = meeting_->abandoned[static_cast<std::size_t>(rank_)];
      const bool over = meeting_->changed.wait_for(lock, meeting_->timeout, [&] {
        lost = missing(*operation, Missing::kGone);
        return operation->done || !lost.empty() || !abandoned.empty();
      });
      if (operation->done) return {};
      if (!abandoned.empty()) return fail(Code::kUnavailable, abandoned);
      if (over) return fail(Code::kUnavailable, lost + " was lost");
      return fail(Code::kTimeout, missing(*operation, Missing::kAny) + " did not answer");
    }

   private:
    enum class Missing { kAny, kGone };
    std::string missing(const Operation& operation, Missing which) const {
      std::string names;
      for (std::size_t rank = 0; rank < operation.parts.size(); ++rank) {
        if (operation.parts[rank].here) continue;
        if (which == Missing::kGone && !meeting_->left[rank]) continue;
        names += (names.empty() ? "rank " : ", rank ") + std::to_string(rank);
      }
      return names;
    }

    const std::shared_ptr<Meeting> meeting_;
    std::shared_ptr<Operation> operation_;
    const int rank_;
  };

  ThreadCollective(std::shared_ptr<Meeting> meeting, int rank)
      : meeting_(std::move(meeting)), rank_(rank) {}

  Handle begin(Part part) {
    const std::lock_guard lock(meeting_->mutex);
    const std::uint64_t number = next_++;
    auto& operation = meeting_->operations[number];
    if (operation == nullptr) {
      operation = std::make_shared<Operation>();
      operation->parts.resize(static_cast<std::size_t>(meeting_->size));
      operation->missing = meeting_->size;
    }
    part.here = true;
    operation->parts[static_cast<std::size_t>(rank_)] = std::move(part);
    const auto kept = operation;
    if (--kept->missing == 0) {
      carry_out(kept->parts);
      kept->done = true;
      meeting_->operations.erase(number);
      meeting_->changed.notify_all();
    }
    return std::make_unique<Waiting>(meeting_, kept, rank_);
  }

  static void carry_out(std::vector<Part>& parts) {
    for (const Part& part : parts) FOREBAY_CHECK(part.kind == parts[0].kind);
    switch (parts[0].kind) {
      case Kind::kSum:
        return add_up(parts);
      case Kind::kExchange:
        return exchange(parts);
      case Kind::kBroadcast: {
        const auto from = parts[static_cast<std::size_t>(parts[0].root)].receive;
        for (Part& part : parts) std::memmove(part.receive.data(), from.data(), from.size());
      }
    }
  }

  static void add_up(std::vector<Part>& parts) {
    std::vector<float> sum(parts[0].values.begin(), parts[0].values.end());
    for (std::size_t rank = 1; rank < parts.size(); ++rank) {
      FOREBAY_CHECK(parts[rank].values.size() == sum.size());
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += parts[rank].values[i];
    }
    for (Part& part : parts) std::copy(sum.begin(), sum.end(), part.values.begin());
  }

  static void exchange(std::vector<Part>& parts) {
    std::vector<std::size_t> sent(parts.size());
    for (std::size_t to = 0; to < parts.size(); ++to) {
      std::size_t at = 0;
      for (std::size_t from = 0; from < parts.size(); ++from) {
        const std::size_t bytes = parts[from].send_bytes[to];
        FOREBAY_CHECK(bytes == parts[to].receive_bytes[from]);
        if (bytes > 0) {
          std::memcpy(parts[to].receive.data() + at, parts[from].send.data() + sent[from], bytes);
        }
        sent[from] += bytes;
        at += bytes;
      }
    }
  }

  const std::shared_ptr<Meeting> meeting_;
  const int rank_;
  std::uint64_t next_ = 0;
};

}  // namespace forebay::test

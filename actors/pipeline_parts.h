#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "actors/pipeline.h"
#include "actors/split_issuer.h"
#include "core/data/memory_budget.h"
#include "core/runtime/pool/byte_queue.h"
#include "core/runtime/stage_pool.h"
#include "core/runtime/synchronized.h"

namespace forebay {

/// The parts of a pipeline and the flow of its splits and memory: the issuer gives the stages as
/// many splits as fit the window, the stages offer finished splits to the batch pool, and that
/// pool's one actor fills the queue of batches and reports which splits are used up.
struct Pipeline::Parts final : StageOwner, IssuedSplits {
  explicit Parts(Options given);
  ~Parts() override;
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;

  class BatchWorker;

  StagePool<Split>::Options batch_options();
  StagePools::Options stage_options();
  void issue(Split split) override;
  Status put(Split&& split, PoolContext& context) override;
  void failed(const Error& error) override { batches.fail(error); }
  bool has_room_for(std::uint64_t threads) const override;
  void resized() override { settle(); }
  void stop();
  void settle();
  void divide_room();

  Options options;
  EpochOrder order;
  Sizing sizing;
  MemoryBudget window;
  ByteQueue<std::shared_ptr<const Batch>> batches;
  SplitIssuer issuer;
  Synchronized<> settlements;
  std::atomic<std::uint64_t> room;
  std::atomic<std::uint64_t> prefetch;  // wanted
  std::atomic<std::uint64_t> elsewhere{0};
  ExpectedSplits expected;  // with a dispatch
  SplitHistory history;
  std::atomic<std::uint64_t> lowest_missing{0};
  std::atomic<bool> ended{false};
  Position end;  // written before `ended` is set

  StagePool<Split> batch;
  StagePools stages;
};

}  // namespace forebay

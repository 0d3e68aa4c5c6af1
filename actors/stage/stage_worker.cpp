#include "actors/stage/stage_worker.h"

#include <utility>

#include "actors/stage/load_split.h"
#include "actors/stage/permute.h"
#include "core/base/check.h"

namespace forebay {
namespace {

class Load final : public StageWorker {
 public:
  explicit Load(const StageInputs& inputs) : reader_(inputs.dataset, inputs.buffers) {}

  Status run(Split& split) override {
    auto raw = reader_.read(std::move(split.raw.blocks));
    if (!raw) return pass(raw);
    split.raw = std::move(*raw);
    return {};
  }

 private:
  SplitReader reader_;
};

class Decode final : public StageWorker {
 public:
  explicit Decode(const StageInputs& inputs) : inputs_(inputs) {}

  Status run(Split& split) override {
    Decoded decoded = inputs_.dataset.format().decode(split.raw, inputs_.decode, inputs_.buffers);
    if (decoded.miscounted) {
      return tl::unexpected<Error>(miscounted_split(inputs_.dataset, *decoded.miscounted));
    }
    split.raw = {};
    split.columns = std::move(decoded.columns);
    split.bad = std::move(decoded.bad);
    split.filtered = decoded.filtered;
    return {};
  }

 private:
  const StageInputs& inputs_;
};

class Shuffle final : public StageWorker {
 public:
  explicit Shuffle(const StageInputs& inputs) : inputs_(inputs) {}

  Status run(Split& split) override {
    if (inputs_.permutes_rows) {
      split.columns = permute_rows(split.columns, split.id.row_key, inputs_.buffers);
    }
    return {};
  }

 private:
  const StageInputs& inputs_;
};

class Transform final : public StageWorker {
 public:
  Transform(const StageInfo& stage, const TransformPlan& plan, const TransformContext& context)
      : stage_(stage), plan_(plan), context_(context) {}

  Status run(Split& split) override { return plan_.run(stage_, split.columns, context_); }

 private:
  const StageInfo& stage_;
  const TransformPlan& plan_;
  const TransformContext& context_;
};

}  // namespace

std::unique_ptr<StageWorker> make_stage_worker(const StageInfo& stage, const StageInputs& inputs,
                                               const TransformContext& transform) {
  switch (stage.kind) {
    case StageInfo::Kind::kLoad:
      return std::make_unique<Load>(inputs);
    case StageInfo::Kind::kDecode:
      return std::make_unique<Decode>(inputs);
    case StageInfo::Kind::kShuffle:
      return std::make_unique<Shuffle>(inputs);
    case StageInfo::Kind::kTransform:
      return std::make_unique<Transform>(stage, inputs.plan, transform);
  }
  FOREBAY_CHECK(false);
}

}  // namespace forebay

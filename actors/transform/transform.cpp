#include "actors/transform/transform.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "actors/operator_table.h"
#include "actors/transform/column_chain.h"
#include "actors/transform/kernel_choice.h"
#include "actors/transform/op_table.h"
#include "actors/transform/order/operator_order.h"
#include "actors/transform/planned.h"
#include "actors/transform/slot_groups.h"
#include "core/base/check.h"
#include "core/base/clock.h"
#include "core/data/digest.h"
#include "core/data/repeated_columns.h"

namespace forebay {
namespace {

/// One split of so many is measured, operator by operator: that takes about 1 µs an operator.
constexpr std::uint64_t kMeasureEvery = 16;

/// Every operator, in the order in which users see them.
const std::vector<OpEntry>& op_table() {
  static const std::vector<OpEntry> table = [] {
    std::vector<OpEntry> all;
    for (const auto& ops : {dense_ops(), any_ops(), id_ops(), list_ops(), similarity_ops(),
                            row_ops(), udf_ops(), python_ops()}) {
      all.insert(all.end(), ops.begin(), ops.end());
    }
    return all;
  }();
  return table;
}

/// Adds the memory of a column that becomes plain.
void bound_plain(ColumnRef column, SizeBound& size) {
  if (column.kind == ColumnKind::kDense) return size.hold_dense();
  const ColumnTarget target{column.index, column.index, false};
  size.hold_copies({&target, 1}, 0);
}

/// Follows the ids of a split through the steps. `lists` says which decoded columns may have more
/// than one id in a row.
void bound_ids(const auto& steps, const std::vector<bool>& lists, SizeBound& size) {
  size.follow_cuts();
  for (std::size_t i = 0; i < lists.size(); ++i) {
    if (!lists[i]) size.hold_single(i);
  }
  for (const auto& planned : steps) planned.step->bound(size);
}

const OpEntry* find_op(OpRequest& request) {
  std::vector<std::string> names;
  for (const OpEntry& entry : op_table()) {
    if (entry.description.name == request.spec().op) return &entry;
    names.push_back(entry.description.name);
  }
  request.refuse("op", "unknown operator" + did_you_mean(request.spec().op, names));
  return nullptr;
}

void check_param_names(OpRequest& request, const OpEntry& entry) {
  for (const auto& [key, value] : request.spec().params) {
    if (std::find(entry.params.begin(), entry.params.end(), key) != entry.params.end()) continue;
    std::vector<std::string> names = entry.params;
    names.insert(names.end(), {"op", "columns", "stage"});  // keys of every operator
    request.refuse(key, "unknown parameter" + did_you_mean(key, names));
  }
}

/// Checks one operator against the columns before it, and changes `slots` as it will.
Result<Steps> make_steps(std::size_t number, const TransformSpec& spec, ColumnSlots& slots) {
  OpRequest request(number, spec);
  Steps steps;
  const OpEntry* entry = find_op(request);
  if (entry != nullptr) check_param_names(request, *entry);
  if (!request.refused()) {
    OpInput input{request, ColumnBinder(request, slots)};
    steps = entry->make(input);
  }
  if (request.refused()) {
    Status refused = request.status();
    return pass(refused);
  }
  return steps;
}

/// Leaves out how a function in Python is found and what it may take: only what it is belongs to
/// the state.
TransformSpec identity_of(TransformSpec spec) {
  if (spec.op != kPythonOp) return spec;
  for (const char* key : {"path", "interpreter", "pickled", "max_ids"}) spec.params.erase(key);
  return spec;
}

/// Builds a text that differs whenever two operator lists differ.
class SpecText {
 public:
  void add(const std::string& text) { text_ += std::to_string(text.size()) + ':' + text; }
  void add(bool value) { text_ += value ? "t" : "f"; }
  void add(std::int64_t value) { text_ += 'i' + std::to_string(value) + ';'; }
  void add(double value) {
    text_ += 'd' + std::to_string(std::bit_cast<std::uint64_t>(value)) + ';';
  }
  template <class T>
  void add(const std::vector<T>& list) {
    text_ += '[' + std::to_string(list.size()) + ' ';
    for (const T& value : list) add(value);
  }
  void add(const TransformSpec& whole) {
    const TransformSpec spec = identity_of(whole);
    add(spec.op);
    add(spec.columns);
    text_ += std::to_string(spec.params.size()) + '{';
    for (const auto& [key, value] : spec.params) {
      add(key);
      if (key == "library") {  // excluded: a job may be moved together with its library
        if (const auto* path = std::get_if<std::string>(&value)) {
          add(path->substr(path->rfind('/') + 1));
          continue;
        }
      }
      std::visit([this](const auto& held) { add(held); }, value);
    }
  }

  std::uint64_t fingerprint() const { return Digest::of(text_.data(), text_.size()).low; }

 private:
  std::string text_;
};

}  // namespace

TransformPlan::TransformPlan() = default;
TransformPlan::TransformPlan(TransformPlan&&) noexcept = default;
TransformPlan& TransformPlan::operator=(TransformPlan&&) noexcept = default;
TransformPlan::~TransformPlan() = default;

Result<TransformPlan> TransformPlan::compile(const std::vector<TransformSpec>& specs,
                                             const Schema& input, const Options& options) {
  TransformPlan plan;
  auto kernels = choose_kernels();
  if (!kernels) return pass(kernels);
  auto stages = stages_of(specs);
  if (!stages) return pass(stages);
  plan.stages_ = std::move(*stages);
  plan.kernels_ = *kernels;
  plan.input_ = input;
  ColumnSlots slots(input);
  auto steps = bind(specs, slots, plan);
  if (!steps) return pass(steps);
  plan.output_ = slots.live_schema();
  plan.all_ = slots.columns();
  plan.live_dense_ = slots.live_slots(ColumnKind::kDense);
  plan.live_sparse_ = slots.live_slots(ColumnKind::kSparse);
  if (options.missing == Missing::kZero) plan.add_zeros(options.optimize, *steps);
  plan.place(std::move(*steps), options.optimize);
  plan.place_repeated();
  return plan;
}

Result<std::vector<TransformPlan::Written>> TransformPlan::bind(
    const std::vector<TransformSpec>& specs, ColumnSlots& slots, TransformPlan& plan) {
  std::vector<Written> bound;
  SpecText text;
  for (std::size_t op = 0; op < specs.size(); ++op) {
    auto steps = make_steps(op + 1, specs[op], slots);
    if (!steps) return pass(steps);
    for (StepPtr& step : *steps) bound.push_back({op, std::move(step)});
    plan.names_.push_back(OpRequest(op + 1, specs[op]).label());
    plan.ops_.push_back(specs[op].op);
    text.add(specs[op]);
  }
  plan.fingerprint_ = text.fingerprint();
  return bound;
}

void TransformPlan::add_zeros(bool prune, std::vector<Written>& steps) const {
  std::vector<bool> may_miss(all_.dense.size(), true);
  for (const Written& written : steps) {
    const StepFacts facts = written.step->facts();
    const bool keeps = std::ranges::any_of(facts.reads, [&](ColumnRef column) {
      return column.kind == ColumnKind::kDense && may_miss[column.index];
    });
    for (const ColumnRef column : facts.writes) {
      if (column.kind != ColumnKind::kDense) continue;
      may_miss[column.index] = facts.missing == StepFacts::Missing::kMade ||
                               (facts.missing == StepFacts::Missing::kKept && keeps);
    }
  }
  std::vector<ColumnTarget> targets;
  for (const std::size_t slot : live_dense_) {
    if (!prune || may_miss[slot]) targets.push_back({slot, slot, false});
  }
  const auto zero = [](const Kernels& kernels, float* values, std::size_t count) {
    kernels.fill(values, count, 0.0F);
  };
  Steps zeros;
  add_value_steps<float>(zeros, targets, zero, 0.2, StepFacts::Missing::kNone);
  for (StepPtr& step : zeros) steps.push_back({std::nullopt, std::move(step)});
}

void TransformPlan::place(std::vector<Written> steps, bool optimize) {
  begins_.assign(ops_.size() + 1, 0);
  std::size_t next = 0;
  for (const StageInfo& stage : stages_) {
    if (stage.kind != StageInfo::Kind::kTransform) continue;
    begins_[stage.first_op] = steps_.size();
    const bool is_last = stage.end_op == ops_.size();
    std::vector<Written> own;
    for (; next < steps.size() && (is_last || *steps[next].op < stage.end_op); ++next) {
      own.push_back(std::move(steps[next]));
    }
    place_stage(std::move(own), optimize);
  }
}

void TransformPlan::place_stage(std::vector<Written> steps, bool optimize) {
  std::vector<StepFacts> facts;
  facts.reserve(steps.size());
  for (const Written& written : steps) facts.push_back(written.step->facts());
  std::vector<std::size_t> order(steps.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (optimize) order = order_of(facts);
  for (std::size_t i = 0; i < order.size();) {
    const ColumnRef column =
        facts[order[i]].writes.empty() ? ColumnRef() : facts[order[i]].writes.front();
    Planned planned;
    Steps together;
    do {
      Written& written = steps[order[i]];
      planned.parts.push_back({written.op, facts[order[i]].cost});
      together.push_back(std::move(written.step));
      ++i;
    } while (optimize && i < order.size() && chains_over(*together.front(), column) &&
             chains_over(*steps[order[i]].step, column));
    planned.step = together.size() == 1 ? std::move(together.front())
                                        : std::make_unique<ColumnChain>(std::move(together));
    steps_.push_back(std::move(planned));
  }
}

bool TransformPlan::needs_origins() const {
  return std::any_of(steps_.begin(), steps_.end(),
                     [](const Planned& planned) { return planned.step->needs_origins(); });
}

bool TransformPlan::samples() const {
  return std::any_of(steps_.begin(), steps_.end(),
                     [](const Planned& planned) { return planned.step->samples(); });
}

Status TransformPlan::run_step(const Planned& planned, StepRun& run) const {
  auto status = planned.step->run(run);
  if (status) return {};
  const std::size_t op = *planned.parts.front().op;
  return fail(status.error().code,
              operator_table(op) + " (" + ops_[op] + "): " + status.error().message);
}

Status TransformPlan::sample(ColumnSet& columns, const TransformContext& context) const {
  StepRun run{columns, context, kernels_};
  for (const Planned& planned : steps_) {
    if (!planned.step->samples()) continue;
    if (auto status = run_step(planned, run); !status) return status;
  }
  return {};
}

bool TransformPlan::measures_this_run() const {
  return runs_->fetch_add(1, std::memory_order_relaxed) % kMeasureEvery == 0 ||
         measures_all_->load(std::memory_order_relaxed);
}

Status TransformPlan::run(ColumnSet& columns, const TransformContext& context) const {
  return run({.name = {}, .first_op = 0, .end_op = ops_.size()}, columns, context);
}

Status TransformPlan::run(const StageInfo& stage, ColumnSet& columns,
                          const TransformContext& context) const {
  if (stage.first_op == 0) {
    FOREBAY_CHECK(columns.dense.size() == input_.dense.size());
    FOREBAY_CHECK(columns.sparse.size() == input_.sparse.size());
    columns.dense.resize(all_.dense.size(), nullptr);
    columns.sparse.resize(all_.sparse.size());
  }
  StepRun run{columns, context, kernels_};
  const auto [begin, end] = steps_of(stage);
  const bool measured = measures_this_run();
  for (std::size_t i = begin; i < end; ++i) {
    if (steps_[i].place.group) continue;
    if (run.is_cancelled()) return run.cancelled();
    for (const PlainColumn& plain : steps_[i].place.plain) make_plain(plain, run);
    auto status = run_metered(steps_[i], run, measured, columns.rows);
    if (!status) return status;
  }
  if (stage.end_op == ops_.size()) keep_live(columns);
  return {};
}

std::pair<std::size_t, std::size_t> TransformPlan::steps_of(const StageInfo& stage) const {
  return {stage.first_op == 0 ? 0 : begins_[stage.first_op],
          stage.end_op == ops_.size() ? steps_.size() : begins_[stage.end_op]};
}

void TransformPlan::keep_live(ColumnSet& columns) const {
  for (std::size_t i = 0; i < live_dense_.size(); ++i) {
    columns.dense[i] = columns.dense[live_dense_[i]];
  }
  for (std::size_t i = 0; i < live_sparse_.size(); ++i) {
    columns.sparse[i] = columns.sparse[live_sparse_[i]];
  }
  columns.dense.resize(live_dense_.size());
  columns.sparse.resize(live_sparse_.size());
  for (std::size_t group = has_output_.size(); group > 0; --group) {
    if (!has_output_[group - 1]) release_group(columns, group - 1);
  }
}

Status TransformPlan::set_cost(std::size_t number, double microseconds) {
  const auto refuse = [&](const std::string& what) {
    return fail(Code::kInvalid, "transform." + std::to_string(number) + ": " + what);
  };
  if (number >= ops_.size()) {
    return refuse("no such operator; the job has " + std::to_string(ops_.size()) +
                  ", counted from 0");
  }
  if (!(microseconds >= 0 && microseconds <= 1e6)) {
    return refuse("microseconds must be a number from 0 to 1000000");
  }
  for (const Planned& planned : steps_) {
    const bool is_own = planned.parts.front().op == number;
    if (is_own && planned.step->set_cost(microseconds)) return {};
  }
  return refuse("its cost cannot be set; that of a spin can");
}

std::uint64_t TransformPlan::actor_bytes(const StageInfo& stage) const {
  std::uint64_t bytes = 0;
  if (stage.kind != StageInfo::Kind::kTransform) return bytes;
  const auto [begin, end] = steps_of(stage);
  for (std::size_t i = begin; i < end; ++i) bytes += steps_[i].step->actor_bytes();
  return bytes;
}

std::uint64_t TransformPlan::child_bytes() const {
  std::uint64_t bytes = 0;
  for (const Planned& planned : steps_) bytes += planned.step->child_bytes();
  return bytes;
}

std::size_t TransformPlan::peak_bytes(std::size_t rows, std::size_t decoded_bytes) const {
  SizeBound size(rows, decoded_bytes, input_.sparse.size(), all_.sparse.size());
  for (const Planned& planned : steps_) {
    for (const PlainColumn& plain : planned.place.plain) bound_plain(plain.column, size);
    planned.step->bound(size);
  }
  return size.peak();
}

MostIds TransformPlan::most_ids(std::size_t rows, const std::vector<bool>& lists,
                                std::size_t list_ids) const {
  SizeBound size(rows, list_ids * sizeof(std::int64_t), input_.sparse.size(), all_.sparse.size());
  bound_ids(steps_, lists, size);
  MostIds most{.all = size.ids(live_sparse_)};
  for (const std::size_t slot : live_sparse_) most.of_feature.push_back(size.ids({&slot, 1}));
  return most;
}

std::vector<bool> TransformPlan::lists(const std::vector<bool>& input) const {
  SizeBound size(1, 0, input_.sparse.size(), all_.sparse.size());
  bound_ids(steps_, input, size);
  std::vector<bool> lists;
  for (const std::size_t slot : live_sparse_) lists.push_back(size.longest(slot) > 1);
  return lists;
}

const std::vector<OpDescription>& describe_ops() {
  static const std::vector<OpDescription> lines = [] {
    std::vector<OpDescription> all;
    for (const OpEntry& entry : op_table()) all.push_back(entry.description);
    return all;
  }();
  return lines;
}

}  // namespace forebay

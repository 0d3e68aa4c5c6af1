#include "actors/transform/transform.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "actors/transform/kernel_choice.h"
#include "actors/transform/op_table.h"
#include "core/base/check.h"
#include "core/base/clock.h"
#include "core/data/digest.h"

namespace forebay {
namespace {

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
    if (std::find(entry.params.begin(), entry.params.end(), key) == entry.params.end()) {
      request.refuse(key, "unknown parameter" + did_you_mean(key, entry.params));
    }
  }
}

/// Checks one operator against `schema`, the schema before it, and changes `schema` to the one
/// after it.
Result<StepPtr> make_step(std::size_t number, const TransformSpec& spec, Schema& schema) {
  OpRequest request(number, spec);
  StepPtr step;
  const OpEntry* entry = find_op(request);
  if (entry != nullptr) check_param_names(request, *entry);
  if (!request.refused()) {
    OpInput input{request, ColumnBinder(request, schema)};
    step = entry->make(input);
  }
  if (request.refused()) {
    Status refused = request.status();
    return pass(refused);
  }
  return step;
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
                                             const Schema& input, Missing missing) {
  TransformPlan plan;
  plan.missing_ = missing;
  auto kernels = choose_kernels();
  if (!kernels) return pass(kernels);
  auto stages = stages_of(specs);
  if (!stages) return pass(stages);
  plan.stages_ = std::move(*stages);
  plan.kernels_ = *kernels;
  plan.input_dense_ = input.dense.size();
  plan.input_sparse_ = input.sparse.size();
  plan.output_ = input;
  SpecText text;
  for (const TransformSpec& spec : specs) {
    auto step = make_step(plan.steps_.size() + 1, spec, plan.output_);
    if (!step) return pass(step);
    plan.steps_.push_back(std::move(*step));
    plan.names_.push_back(OpRequest(plan.steps_.size(), spec).name());
    text.add(spec);
  }
  plan.measured_->operators = std::vector<Measured::Sum>(plan.steps_.size());
  plan.fingerprint_ = text.fingerprint();
  return plan;
}

bool TransformPlan::needs_origins() const {
  return std::any_of(steps_.begin(), steps_.end(),
                     [](const auto& step) { return step->needs_origins(); });
}

bool TransformPlan::samples() const {
  return std::any_of(steps_.begin(), steps_.end(),
                     [](const auto& step) { return step->samples(); });
}

Status TransformPlan::sample(ColumnSet& columns, const TransformContext& context) const {
  StepRun run{columns, context, kernels_};
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    if (!steps_[i]->samples()) continue;
    if (auto status = steps_[i]->run(run); !status) {
      return fail(status.error().code, names_[i] + ": " + status.error().message);
    }
  }
  return {};
}

Status TransformPlan::run(ColumnSet& columns, const TransformContext& context) const {
  return run({.name = {}, .first_op = 0, .end_op = steps_.size()}, columns, context);
}

Status TransformPlan::run(const StageInfo& stage, ColumnSet& columns,
                          const TransformContext& context) const {
  const bool first = stage.first_op == 0;
  FOREBAY_CHECK(!first || columns.dense.size() == input_dense_);
  FOREBAY_CHECK(!first || columns.sparse.size() == input_sparse_);
  StepRun run{columns, context, kernels_};
  for (std::size_t i = stage.first_op; i < stage.end_op; ++i) {
    if (auto status = run_step(i, run); !status) {
      return fail(status.error().code, names_[i] + ": " + status.error().message);
    }
  }
  if (stage.end_op < steps_.size() || missing_ == Missing::kKept) return {};
  for (float* values : columns.dense) kernels_.fill(values, columns.rows, 0.0F);
  return {};
}

Status TransformPlan::run_step(std::size_t number, StepRun& run) const {
  if (!measured_->on.load(std::memory_order_relaxed)) return steps_[number]->run(run);
  const SystemClock clock;
  const auto began = clock.now();
  const auto cpu = thread_cpu_time();
  Status status = steps_[number]->run(run);
  Measured::Sum& sum = measured_->operators[number];
  sum.cpu_ns.fetch_add((thread_cpu_time() - cpu).count(), std::memory_order_relaxed);
  sum.time_ns.fetch_add((clock.now() - began).count(), std::memory_order_relaxed);
  return status;
}

std::vector<TransformPlan::OperatorTime> TransformPlan::operator_times() const {
  std::vector<OperatorTime> times;
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const Measured::Sum& sum = measured_->operators[i];
    times.push_back({.name = names_[i],
                     .number = i,
                     .time = std::chrono::nanoseconds(sum.time_ns.load(std::memory_order_relaxed)),
                     .cpu = std::chrono::nanoseconds(sum.cpu_ns.load(std::memory_order_relaxed))});
  }
  return times;
}

Status TransformPlan::set_cost(std::size_t number, double microseconds) {
  const auto refuse = [&](const std::string& what) {
    return fail(Code::kInvalid, "transform." + std::to_string(number) + ": " + what);
  };
  if (number >= steps_.size()) {
    return refuse("no such operator; the job has " + std::to_string(steps_.size()) +
                  ", counted from 0");
  }
  if (!(microseconds >= 0 && microseconds <= 1e6)) {
    return refuse("microseconds must be a number from 0 to 1000000");
  }
  if (!steps_[number]->set_cost(microseconds)) {
    return refuse("its cost cannot be set; that of a spin can");
  }
  return {};
}

std::uint64_t TransformPlan::actor_bytes(const StageInfo& stage) const {
  std::uint64_t bytes = 0;
  for (std::size_t i = stage.first_op; i < stage.end_op; ++i) bytes += steps_[i]->actor_bytes();
  return bytes;
}

std::uint64_t TransformPlan::child_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& step : steps_) bytes += step->child_bytes();
  return bytes;
}

std::size_t TransformPlan::peak_bytes(std::size_t rows, std::size_t decoded_bytes) const {
  SizeBound size(rows, decoded_bytes, input_sparse_);
  for (const auto& step : steps_) step->bound(size);
  return size.peak();
}

// Follows one row through the steps, with one id in each column, or with many where a column may
// have them.
std::vector<bool> TransformPlan::lists(const std::vector<bool>& input) const {
  constexpr std::size_t kMany = 1000;
  const bool any = std::find(input.begin(), input.end(), true) != input.end();
  SizeBound size(1, (any ? kMany : 1) * sizeof(std::int64_t), input_sparse_);
  for (const auto& step : steps_) step->bound(size);
  std::vector<bool> lists;
  for (std::size_t index = 0; index < output_.sparse.size(); ++index) {
    lists.push_back(size.may_be_list(index, input));
  }
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

#include "actors/transform/transform.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "actors/transform/kernel_choice.h"
#include "actors/transform/op_table.h"
#include "core/base/check.h"
#include "core/data/digest.h"

namespace forebay {

struct TransformPlan::State {
  std::vector<std::unique_ptr<Step>> steps;
  std::vector<std::string> names;  // of the steps: "transform 1 (log1p)"
  std::size_t input_dense = 0;
  std::size_t input_sparse = 0;
  StageList stages;
  Schema output;
  Kernels kernels;
  std::uint64_t fingerprint = 0;
};

namespace {

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
Result<std::unique_ptr<TransformPlan::Step>> make_step(std::size_t number,
                                                       const TransformSpec& spec, Schema& schema) {
  OpRequest request(number, spec);
  std::unique_ptr<TransformPlan::Step> step;
  const OpEntry* entry = find_op(request);
  if (entry != nullptr) check_param_names(request, *entry);
  if (!request.refused()) {
    OpInput input{ParamReader(request), ColumnBinder(request, schema)};
    step = entry->make(input);
  }
  if (request.refused()) {
    Status refused = request.status();
    return pass(refused);
  }
  return step;
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
  void add(const TransformSpec& spec) {
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

TransformPlan::TransformPlan() : state_(std::make_unique<State>()) {}
TransformPlan::TransformPlan(TransformPlan&&) noexcept = default;
TransformPlan& TransformPlan::operator=(TransformPlan&&) noexcept = default;
TransformPlan::~TransformPlan() = default;

Result<TransformPlan> TransformPlan::compile(const std::vector<TransformSpec>& specs,
                                             const Schema& input) {
  TransformPlan plan;
  State& state = *plan.state_;
  auto kernels = choose_kernels();
  if (!kernels) return pass(kernels);
  auto stages = stages_of(specs);
  if (!stages) return pass(stages);
  state.stages = std::move(*stages);
  state.kernels = *kernels;
  state.input_dense = input.dense.size();
  state.input_sparse = input.sparse.size();
  state.output = input;
  SpecText text;
  for (const TransformSpec& spec : specs) {
    auto step = make_step(state.steps.size() + 1, spec, state.output);
    if (!step) return pass(step);
    state.steps.push_back(std::move(*step));
    state.names.push_back(OpRequest(state.steps.size(), spec).name());
    text.add(spec);
  }
  state.fingerprint = text.fingerprint();
  return plan;
}

const Schema& TransformPlan::output() const { return state_->output; }

const StageList& TransformPlan::stages() const { return state_->stages; }

bool TransformPlan::needs_origins() const {
  return std::any_of(state_->steps.begin(), state_->steps.end(),
                     [](const auto& step) { return step->needs_origins(); });
}

Status TransformPlan::run(ColumnSet& columns, const TransformContext& context) const {
  return run({.name = {}, .first_op = 0, .end_op = state_->steps.size()}, columns, context);
}

Status TransformPlan::run(const StageInfo& stage, ColumnSet& columns,
                          const TransformContext& context) const {
  const bool first = stage.first_op == 0;
  FOREBAY_CHECK(!first || columns.dense.size() == state_->input_dense);
  FOREBAY_CHECK(!first || columns.sparse.size() == state_->input_sparse);
  StepRun run{columns, context, state_->kernels};
  for (std::size_t i = stage.first_op; i < stage.end_op; ++i) {
    if (auto status = state_->steps[i]->run(run); !status) {
      return fail(status.error().code, state_->names[i] + ": " + status.error().message);
    }
  }
  if (stage.end_op < state_->steps.size()) return {};
  for (float* values : columns.dense) state_->kernels.fill(values, columns.rows, 0.0F);
  return {};
}

Status TransformPlan::set_cost(std::size_t number, double microseconds) {
  const auto refuse = [&](const std::string& what) {
    return fail(Code::kInvalid, "transform." + std::to_string(number) + ": " + what);
  };
  if (number >= state_->steps.size()) {
    return refuse("no such operator; the job has " + std::to_string(state_->steps.size()) +
                  ", counted from 0");
  }
  if (!(microseconds >= 0 && microseconds <= 1e6)) {
    return refuse("microseconds must be a number from 0 to 1000000");
  }
  if (!state_->steps[number]->set_cost(microseconds)) {
    return refuse("its cost cannot be set; that of a spin can");
  }
  return {};
}

std::size_t TransformPlan::peak_bytes(std::size_t rows, std::size_t decoded_bytes) const {
  SizeBound size(rows, decoded_bytes, state_->input_sparse);
  for (const auto& step : state_->steps) step->bound(size);
  return size.peak();
}

std::uint64_t TransformPlan::fingerprint() const { return state_->fingerprint; }

}  // namespace forebay

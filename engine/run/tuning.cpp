#include "engine/run/tuning.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "core/base/clock.h"
#include "engine/run/policy_checkpoint.h"
#include "tuner/cuts/learned_misfit.h"
#include "tuner/fused_stages.h"

namespace forebay {
namespace {

void append(std::string& words, const std::string& more) {
  words += (words.empty() ? "" : ", ") + more;
}

void append_change(std::string& words, const std::string& name, std::uint32_t from,
                   std::uint32_t to) {
  if (from == to) return;
  append(words, name + " " + std::to_string(from) + " -> " + std::to_string(to));
}

std::string listed(const std::vector<tuner::GroupActors>& groups) {
  std::string words;
  for (const auto& [name, actors] : groups) append(words, name + " " + std::to_string(actors));
  return words;
}

/// Uses the model's plan alone; reads no weights file.
constexpr const char* kFallback = "intune:no-network";
/// Policy of a job that names none.
constexpr const char* kUsual = "intune";

bool is_known(const std::string& policy) {
  const auto all = tuner::policies();
  return std::any_of(all.begin(), all.end(),
                     [&](const tuner::PolicyInfo& info) { return info.name == policy; });
}

/// A node of a cluster keeps the job's cuts: the central tuner compares its groups with others'.
Cuts cuts_of(const JobRun& run, const std::string& policy, const Tuning::Hooks& hooks) {
  const bool searches = policy == kUsual || policy.starts_with("intune:");
  return run.chooses_groups() && searches && !hooks.make ? Cuts::kOfTuner : Cuts::kOfJob;
}

/// Describes what a decision changes: `transform 1 -> 3, prefetch 4 -> 6`, `no change`.
std::string describe_change(const tuner::Decision& decision,
                            const tuner::PipelineDescription& description) {
  std::string words;
  const auto before = tuner::groups_of(description, decision.seen.allocation());
  const auto after = tuner::groups_of(description, decision.applied);
  if (std::ranges::equal(before, after, {}, &tuner::GroupActors::name, &tuner::GroupActors::name)) {
    for (std::size_t i = 0; i < after.size(); ++i) {
      append_change(words, after[i].name, before[i].actors, after[i].actors);
    }
  } else {
    words = listed(before) + " -> " + listed(after);
  }
  append_change(words, "prefetch", decision.seen.prefetch, decision.applied.prefetch);
  return words.empty() ? "no change" : words;
}

}  // namespace

std::string describe(const tuner::Decision& decision,
                     const tuner::PipelineDescription& description) {
  std::string words = describe_change(decision, description);
  if (!decision.proposal.reason.empty()) words += ": " + decision.proposal.reason;
  return words;
}

JsonObject decision_json(const tuner::Decision& decision,
                         const tuner::PipelineDescription& description) {
  return JsonObject()
      .add("number", decision.number)
      .add("policy", decision.policy)
      .add("what", describe_change(decision, description))
      .add("why", decision.proposal.reason)
      .add("predicted", decision.proposal.expected_splits_per_second)
      .add("predicted_before", decision.expected_before)
      .add("measured", decision.measured)
      .add("guarded", decision.guarded)
      .add("fault", decision.fault);
}

std::string describe(const tuner::Allocation& allocation,
                     const tuner::PipelineDescription& description) {
  return listed(tuner::groups_of(description, allocation)) + ", prefetch " +
         std::to_string(allocation.prefetch);
}

std::string decision_log_path(const std::string& run_dir, int back) {
  return run_dir + "/decisions" + (back == 0 ? "" : "." + std::to_string(back)) + ".jsonl";
}

Status Tuning::check(const JobSpec& job) {
  const std::string& policy = job.tuner.policy;
  if (policy == kUsual || (is_known(policy) && policy != "oracle")) return {};
  tuner::PolicyContext context;
  context.description.stages.resize(1);
  auto made = tuner::make_policy(policy, context);
  return made ? Status{} : fail(Code::kInvalid, "tuner.policy: " + made.error().message);
}

Tuning::Tuning(JobRun& run, const JobSpec& job, const CpuLimit& cpus, const std::string& command,
               Hooks hooks)
    : run_(run),
      job_(job),
      cpus_(cpus),
      command_(command),
      hooks_(std::move(hooks)),
      tuned_pipeline_(run, job, cpus, machine_limits, cuts_of(run, job.tuner.policy, hooks_)),
      mode_(tuner::mode_named(job.tuner.mode)) {
  const tuner::CurrentState now = tuned_pipeline_.current();
  start_ = {now.actors, now.prefetch};
  tuned_pipeline_.report_to([this](const std::string& line) { note(line); });
  actors_.emplace(ActorSystem::Options{.executor = {.name = "tuning", .threads = 1}}, run.clock());
  const auto period = std::chrono::duration_cast<tuner::TunerActor::Time>(job.tuner.period);
  tuner_ = tuner::start_tuner(*actors_, {.make_tuner = [this] { return make_tuner(); },
                                         .period = std::max(period, tuner::TunerActor::kStep)});
  auto control = ControlServer::open(
      job.run.dir,
      [this](const std::string& key, const std::string& value) { return set(key, value); },
      {.status = [this] { return seen(queries_.status); },
       .trace = [this] { return seen(queries_.trace); }});
  if (control) {
    control_ = std::move(*control);
  } else {
    note("forebay set will not reach this run: " + control.error().message);
  }
}

Tuning::~Tuning() { end(); }

void Tuning::end() {
  control_.reset();
  actors_.reset();
}

void Tuning::take_threads(SetThreads set_threads) {
  turning_([&] { set_threads_ = std::move(set_threads); });
}

void Tuning::show(ControlServer::Queries queries) {
  looking_([&] { queries_ = std::move(queries); });
}

std::string Tuning::seen(const ControlServer::Query& look) const {
  return looking_([&]() -> std::string { return look ? look() : "{}"; });
}

tuner::PolicyContext Tuning::context() const {
  tuner::PolicyContext context;
  context.description = tuned_pipeline_.description();
  context.limits = tuned_pipeline_.limits();
  context.seed = job_.order.seed;
  context.fixed = start_;
  context.reward = tuner::reward_mode(job_.tuner.reward);
  return context;
}

std::unique_ptr<tuner::Policy> Tuning::fallback_policy() {
  auto made = tuner::make_policy(kFallback, context());
  return made ? std::move(*made) : nullptr;
}

std::unique_ptr<tuner::Policy> Tuning::make_policy() {
  if (hooks_.make) {
    if (auto given = hooks_.make(context())) return given;
  }
  auto made = tuner::make_policy(job_.tuner.policy, context());
  if (!made) {
    note("tuner.policy " + job_.tuner.policy + ": " + made.error().message + "; " + kFallback +
         " decides");
    return fallback_policy();
  }
  const std::string path = job_.run.dir + "/tuner/" + job_.tuner.policy + "-" + name_of_work(run_);
  auto kept =
      std::make_unique<PolicyCheckpoint>(std::move(*made), path, [this](const std::string& why) {
        note("what the tuner learns is not kept for the next run: " + why);
      });
  const auto learned_state = read_learned_state(path);
  if (learned_state && kept->restore(*learned_state)) {
    header_.restored = *learned_state;
  } else if (learned_state || learned_state.error().code != Code::kNotFound) {
    note("the tuner learns anew, without what it learned in earlier runs: " +
         (learned_state
              ? path + " " + tuner::describe_misfit(*learned_state, tuned_pipeline_.description())
              : learned_state.error().message));
  }
  return kept;
}

std::unique_ptr<tuner::Tuner> Tuning::make_tuner() {
  header_ = {.policy = "",
             .command = command_,
             .seed = job_.order.seed,
             .description = tuned_pipeline_.description(),
             .limits = tuned_pipeline_.limits(),
             .start = start_,
             .weights = "",
             .reward = job_.tuner.reward,
             .restored = ""};
  std::unique_ptr<tuner::Policy> policy = make_policy();
  header_.policy = policy->name();
  return std::make_unique<tuner::Tuner>(tuner::Tuner::Options{
      .tuned_pipeline = tuned_pipeline_,
      .clock = run_.clock(),
      .policy = std::move(policy),
      .fallback = fallback_policy(),
      .mode = tuner::mode_named(job_.tuner.mode),
      .on_decision = [this](const tuner::Decision& decision) { on_decision(decision); }});
}

void Tuning::note(const std::string& line) {
  said_([&] { notes_.push_back(line); });
}

std::vector<std::string> Tuning::take_notes() {
  return said_([this] { return std::exchange(notes_, {}); });
}

std::string Tuning::last_decision() const {
  return said_([this]() -> std::string { return last_decision_; });
}

void Tuning::on_decision(const tuner::Decision& decision) {
  decisions_ = decision.number;
  if (!decision.fault.empty()) note("tuner: " + decision.fault);
  log(decision);
  cpu_seconds_ = in_seconds(thread_cpu_time());
  said_([&] { last_decision_ = describe(decision, header_.description); });
  if (hooks_.on_decision) hooks_.on_decision(decision_json(decision, header_.description));
}

// The file is created at the first decision, so that a run without decisions keeps the last run's
// file.
void Tuning::log(const tuner::Decision& decision) {
  if (log_failed_) return;
  Status status;
  if (!log_) {
    std::error_code ignored;
    for (int back = kDecisionLogsKept - 1; back > 0; --back) {
      std::filesystem::rename(decision_log_path(job_.run.dir, back - 1),
                              decision_log_path(job_.run.dir, back), ignored);
    }
    auto made = tuner::DecisionLogWriter::create(decision_log_path(job_.run.dir, 0), header_);
    if (made) {
      log_ = std::move(*made);
    } else {
      status = pass(made);
    }
  }
  if (log_) status = log_->add(decision);
  if (status) return;
  log_failed_ = true;
  note("decisions are not logged any more: " + status.error().message);
}

}  // namespace forebay

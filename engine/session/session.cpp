#include "engine/session/session.h"

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include "core/base/clock.h"
#include "engine/metrics/status_report.h"
#include "engine/plan/plan_report.h"
#include "engine/process/memory_use.h"
#include "engine/trace/run_trace.h"

namespace forebay {
namespace {

CpuLimit limit_of(const Session::Options& options) {
  return options.threads ? CpuLimit(options.threads) : CpuLimit(options.first_process);
}

double seconds_since_1970() {
  return in_seconds(std::chrono::system_clock::now().time_since_epoch());
}

std::vector<std::string> stage_names(const TransformPlan& plan) {
  std::vector<std::string> names;
  for (const StageInfo& stage : plan.stages()) names.push_back(stage.name);
  return names;
}

}  // namespace

Session::Session(const JobSpec& job, Options options, RunDir held)
    : job_(job),
      options_(std::move(options)),
      held_(std::move(held)),
      cpus_(limit_of(options_)),
      recorder_({.path = job.run.dir + "/" + kRecordName,
                 .command = options_.command,
                 .job = job.path,
                 .began = seconds_since_1970(),
                 .clock = clock_}) {}

// The pipeline is closed before the cluster's node is destroyed: its stages call the node, and its
// splits lie in messages whose bytes the node counts.
Session::~Session() {
  end("the trainer stopped");
  finish(how_ended(), error_);
  watch_.reset();
  tuning_.reset();
  if (run_) run_->close();
}

Result<std::unique_ptr<Session>> Session::open(const JobSpec& job, Options options) {
  auto held = RunDir::hold(job.run.dir);
  if (!held) return pass(held);
  if (auto status = Tuning::check(job); !status) return pass(status);
  auto session = std::unique_ptr<Session>(  // NOLINT: the constructor is private.
      new Session(job, std::move(options), std::move(*held)));
  if (auto status = session->cpus_.set(job.pipeline.cpus); !status) return pass(status);
  const RunEvents& events = session->options_.events;
  if (auto status = session->open_dashboard(); !status) return pass(status);
  RunRecorder& recorder = session->recorder_;
  auto cluster = TrainerNode::open(job, session->options_.command, [&](const std::string& line) {
    recorder.warn("cluster: " + line);
    events.announce("cluster: " + line);
  });
  if (!cluster) return pass(cluster);
  session->cluster_ = std::move(*cluster);
  return session;
}

// The address may hold a token: it is for the user, not for the log.
Status Session::open_dashboard() {
  if (job_.run.dashboard.empty()) return {};
  const char* token = std::getenv(kTokenVariable);
  auto opened = Dashboard::open(job_.run.dashboard, token == nullptr ? "" : token, recorder_);
  if (!opened) return pass(opened);
  dashboard_ = std::move(*opened);
  options_.events.announce(dashboard_->announcement());
  return {};
}

Status Session::open_run() {
  auto hooks = options_.events.hooks();
  if (!options_.index_of.empty()) hooks.index_from = options_.index_of + "/index";
  hooks.share = options_.share;
  hooks.lists_once = options_.lists_once;
  auto run = JobRun::open(job_, JobRun::Rows::kTraining, hooks);
  if (!run) return pass(run);
  run_ = std::move(*run);
  return {};
}

Status Session::resume(const LoaderState& saved, const std::string& where) {
  if (auto resumed = run_->resume(saved); !resumed) return resumed;
  const std::string note = note_of_version(saved, where);
  if (!note.empty()) options_.events.announce(note);
  return {};
}

Status Session::start(std::uint64_t taken, std::uint64_t max_batches) {
  const auto sharing = cluster_ ? cluster_->sharing() : JobRun::Sharing{};
  // With a thread group, the thread that starts the others is a different one than in open().
  if (options_.threads) {
    if (auto status = cpus_.set(job_.pipeline.cpus); !status) return status;
  }
  cpu_seconds_at_start_ = process_cpu_seconds();
  energy_.emplace(
      EnergyMeter::Sources{.gpu = options_.command == "train" && runs_on_gpu(job_.trainer)});
  if (auto started = run_->start(taken, max_batches, sharing); !started) return started;
  if (cluster_) {
    if (auto begun = cluster_->begin(*run_); !begun) return begun;
  }
  Tuning::Hooks hooks{.on_decision = [this](const JsonObject& what) { recorder_.decided(what); }};
  if (cluster_) {
    hooks.make = [this](const auto& context) { return cluster_->central_policy(context); };
  }
  tuning_.emplace(*run_, job_, cpus_, options_.command, std::move(hooks));
  if (cluster_) cluster_->follow_limits([this] { return tuning_->limits(); });
  RunWatch::Options watching{.run = *run_,
                             .job = job_,
                             .name = options_.command,
                             .events = options_.events,
                             .tuning = &*tuning_,
                             .recorder = &recorder_};
  if (cluster_) watching.cluster = [this] { return cluster_->status(); };
  watch_ = std::make_unique<RunWatch>(std::move(watching));
  recorder_.observe([this] { return figures(); });
  answer_queries();
  return {};
}

// Answers `forebay status`, `top` and `trace` in the job's folder, and Prometheus, until end().
void Session::answer_queries() {
  tuning_->show({.status = [this] { return recorder_.status(); },
                 .trace =
                     [this] {
                       return history_text({.now = run_->clock().now(),
                                            .stages = stage_names(run_->plan()),
                                            .splits = run_->pipeline().history()});
                     }});
  if (job_.cluster.metrics.empty()) return;
  auto server = MetricsServer::open("cluster.metrics", job_.cluster.metrics,
                                    [this] { return metrics_of(figures()); });
  if (!server) {
    const std::string line =
        "warning: " + server.error().message + "; this run goes on without metrics";
    recorder_.warn(line);
    return watch_->note(line);
  }
  metrics_ = std::move(*server);
  watch_->note("metrics: " + metrics_->url());
}

RunFigures Session::figures() const {
  const MeteredSource& source = run_->source();
  RunFigures figures;
  figures.command = options_.command;
  figures.elapsed = run_->clock().now() - run_->started();
  figures.rows = source.rows();
  figures.batches = source.batches();
  figures.steps = source.steps();
  figures.waited = source.waited();
  figures.worked = source.worked();
  figures.memory_bytes = run_->used_bytes();
  figures.memory_limit = tuning_->limits().memory_bytes;
  figures.memory_before = run_->resident_before();
  figures.buffer_bytes = run_->buffer_bytes();
  figures.cpus = static_cast<std::uint64_t>(tuning_->limits().cpus);
  figures.cpu_seconds = process_cpu_seconds() - cpu_seconds_at_start_;
  figures.bad_rows = run_->bad_rows();
  figures.bad_rows_allowed = job_.dataset.bad_rows;
  figures.decisions = tuning_->decisions();
  figures.tuner_cpu_seconds = tuning_->cpu_seconds();
  figures.last_decision = tuning_->last_decision();
  figures.pipeline = run_->pipeline().stats();
  figures.requests = run_->io_counts().requests();
  figures.bytes_read = run_->io_counts().bytes();
  figures.energy = energy_used(figures.cpu_seconds);
  if (cluster_) figures.cluster = cluster_->status();
  figures.learning = recorder_.learning();
  if (options_.command == "train") {
    const auto& tables = job_.trainer.tables;
    figures.table_storage = name_in<TrainerSpec::Storage>(kStorageNames, tables.storage);
    const bool tiered = tables.storage == TrainerSpec::Storage::kTiered;
    figures.table_memory = tiered ? tables.memory_bytes : 0;
  }
  Verdict verdict = recorder_.verdict();
  figures.limit = name_of(verdict.limit);
  figures.verdict = std::move(verdict.sentence);
  figures.gain = verdict.gain;
  return figures;
}

EnergyUse Session::energy_used(double cpu_seconds) const {
  const EnergyUse own = energy_->used(cpu_seconds);
  if (!cluster_) return own;
  std::vector<WorkerEnergy> workers;
  for (const auto& [node, use] : cluster_->use_by_node()) {
    workers.push_back({.joules = use.joules, .counted = use.counted, .machine = use.machine});
  }
  return with_workers(own, machine_, workers);
}

void Session::end_stream() {
  elapsed_ = run_->clock().now() - run_->started();
  cpu_seconds_ = process_cpu_seconds() - cpu_seconds_at_start_;
  energy_->stop();
  stats_ = run_->pipeline().stats();
}

// The tuner ends first, since it may have last messages; the cluster ends before the pipeline, to
// which it delivers splits.
void Session::end(const std::string& error) {
  recorder_.rest();
  if (!ended_) error_ = error;
  ended_ = true;
  if (tuning_) tuning_->end();
  if (tuning_) tuning_->show({});
  keep_plan();
  metrics_.reset();
  if (watch_) watch_->end();
  if (cluster_) cluster_->end(error);
}

// Only a look at the plan needs the costs: the run goes on without them.
void Session::keep_plan() const {
  if (watch_ == nullptr) return;
  const std::string path = plan_costs_path(job_.run.dir);
  if (auto kept = keep_plan_costs(path, run_->plan()); !kept) watch_->note(kept.error().message);
}

std::string_view Session::how_ended() const {
  if (options_.events.stop_requested()) return "stopped";
  return error_.empty() ? "done" : "failed";
}

void Session::finish(std::string_view how, const std::string& error) {
  recorder_.end(how, error);
  dashboard_.reset();
}

RunOutcome Session::outcome(const Position& position, std::chrono::nanoseconds waited) const {
  RunOutcome outcome;
  outcome.rows = position.rows - run_->begin().rows;
  outcome.batches = position.batches - run_->begin().batches;
  outcome.seconds = in_seconds(elapsed_);
  if (outcome.seconds > 0) {
    outcome.starved_ratio = std::min(1.0, in_seconds(waited) / outcome.seconds);
    outcome.cpus_busy = cpu_seconds_ / outcome.seconds;
  }
  outcome.cpu_seconds = cpu_seconds_;
  outcome.energy = energy_used(cpu_seconds_);
  outcome.cpus = static_cast<int>(tuning_->limits().cpus);
  outcome.prices = job_.prices;
  count_reads(outcome);
  outcome.strata = run_->pipeline().strata();
  outcome.bad_rows = position.bad_rows;
  outcome.rows_held_out = position.held_out;
  outcome.epochs = position.epoch;
  // A state of ranks lacks the digest of the batches before it.
  outcome.order_digest = position.of_ranks ? "" : position.digest.hex();
  outcome.peak_memory_bytes = peak_resident_bytes() + run_->memory_watch().peak_of_children();
  const PipelineStats stats = run_->pipeline().stats();
  outcome.allocation = allocation_of(stats);
  outcome.fused = stats.fused;
  outcome.plan = plan_json(run_->plan());
  outcome.prefetch = stats.prefetch_budget;
  if (outcome.bad_rows > 0) outcome.quarantine = run_->quarantine_path();
  outcome.decisions = tuning_->decisions();
  outcome.tuner_cpu_seconds = tuning_->cpu_seconds();
  outcome.last_decision = tuning_->last_decision();
  outcome.memory_limit = tuning_->limits().memory_bytes;
  outcome.stats = stats_;
  outcome.dedup_ratio = repeat_ratio(stats_.repeats);
  if (cluster_) {
    outcome.rows_by_node = cluster_->rows_by_node(position);
    outcome.address = cluster_->join_address();
  }
  return outcome;
}

void Session::count_reads(RunOutcome& outcome) const {
  outcome.requests = run_->io_counts().requests();
  outcome.bytes_read = run_->io_counts().bytes();
  outcome.asked_by_node.clear();
  if (!cluster_) return;
  for (const auto& [node, use] : cluster_->use_by_node()) {
    outcome.requests += use.requests;
    outcome.bytes_read += use.bytes;
    outcome.asked_by_node[node] = {.requests = use.requests, .bytes = use.bytes};
  }
}

}  // namespace forebay

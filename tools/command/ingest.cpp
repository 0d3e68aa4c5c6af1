#include <charconv>
#include <cstdio>
#include <limits>
#include <optional>

#include "engine/cluster/trainer_node.h"
#include "engine/outputs/job_files.h"
#include "engine/process/cpu_limit.h"
#include "engine/process/memory_use.h"
#include "engine/process/output_path.h"
#include "engine/process/run_dir.h"
#include "engine/process/stop_request.h"
#include "engine/report/json_object.h"
#include "engine/run/dump_file.h"
#include "engine/run/job_run.h"
#include "engine/run/run_outcome.h"
#include "engine/run/run_screen.h"
#include "engine/run/state_file.h"
#include "engine/run/tuning.h"
#include "tools/command/commands.h"
#include "tools/command/job_arguments.h"

namespace forebay {
namespace {

Result<std::uint64_t> max_batches(const Invocation& invocation) {
  const std::string text = invocation.value("--max-batches");
  if (text.empty()) return std::numeric_limits<std::uint64_t>::max();
  std::uint64_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) {
    return fail(Code::kInvalid, "--max-batches " + text + ": wants a number of batches");
  }
  return number;
}

std::vector<Output> outputs_of(const Invocation& invocation, const JobSpec& job) {
  std::vector<Output> outputs = outputs_of(job, "ingest");
  if (const std::string to = invocation.value("--dump"); !to.empty()) {
    outputs.push_back({.name = "--dump", .path = to});
  }
  if (const std::string to = invocation.value("--state"); !to.empty()) {
    // The state that a run begins from may be replaced by the one it ends with.
    outputs.push_back(
        {.name = "--state", .path = to, .aside = kStateAside, .replaces = "--resume"});
  }
  return outputs;
}

Inputs inputs_of(const Invocation& invocation, const JobSpec& job) {
  Inputs inputs = inputs_of(job);
  inputs.add_file("--resume", invocation.value("--resume"));
  return inputs;
}

/// One ingest, from its arguments to its outcome.
class Ingest {
 public:
  Ingest(const Invocation& invocation, const JobSpec& job) : invocation_(invocation), job_(job) {}

  Exit run();

 private:
  Status prepare();
  Status pull();
  Exit finish(RunScreen& screen, Tuning& tuning, const Status& pulled);

  const Invocation& invocation_;
  const JobSpec& job_;
  std::unique_ptr<JobRun> run_;
  std::unique_ptr<TrainerNode> cluster_;  // absent when the job has none; goes before the run
  std::optional<DumpFile> dump_;
};

Status Ingest::prepare() {
  auto batches = max_batches(invocation_);
  if (!batches) return pass(batches);
  if (const std::string to = invocation_.value("--state"); !to.empty()) {
    if (auto status = check_output_path("--state", to); !status) return status;
  }
  auto run = JobRun::open(job_, JobRun::Rows::kTraining, RunScreen::opening());
  if (!run) return pass(run);
  run_ = std::move(*run);
  if (const std::string from = invocation_.value("--resume"); !from.empty()) {
    auto saved = read_state_file(from);
    if (!saved) return pass(saved);
    if (auto status = run_->resume(*saved); !status) return status;
    const std::string note = note_of_version(*saved, "--resume " + from);
    if (!note.empty()) RunScreen::opening().announce(note);
  }
  if (const std::string to = invocation_.value("--dump"); !to.empty()) {
    auto dump = DumpFile::create(to, run_->schema());
    if (!dump) return pass(dump);
    dump_ = std::move(*dump);
  }
  const auto sharing = cluster_ ? cluster_->sharing() : JobRun::Sharing{};
  if (auto status = run_->start(resident_bytes(), *batches, sharing); !status) return status;
  return cluster_ ? cluster_->begin(*run_) : Status{};
}

Status Ingest::pull() {
  while (true) {
    auto batch = run_->source().next();
    if (!batch) return pass(batch);
    if (*batch == nullptr) break;
    if (dump_) {
      if (auto status = dump_->write(**batch); !status) return status;
    }
  }
  return dump_ ? dump_->finish() : Status{};
}

Exit Ingest::run() {
  const auto guarded = guard_inputs(inputs_of(invocation_, job_), outputs_of(invocation_, job_));
  if (!guarded) return Exit::refused(guarded.error());
  auto held = RunDir::hold(job_.run.dir);
  if (!held) return Exit::refused(held.error());
  if (auto status = Tuning::check(job_); !status) return Exit::refused(status.error());
  const CpuLimit cpus;
  if (auto status = cpus.set(job_.pipeline.cpus); !status) return Exit::refused(status.error());
  auto cluster = TrainerNode::open(job_, "ingest", say_of_cluster);
  if (!cluster) return Exit::refused(cluster.error());
  cluster_ = std::move(*cluster);
  if (auto status = prepare(); !status) {
    return StopRequest::requested() ? Exit::stopped(StopRequest::signal())
                                    : Exit::refused(status.error());
  }
  Tuning tuning(*run_, job_, cpus, "ingest");
  RunScreen::Cluster members;
  if (cluster_) members = [this] { return cluster_->status(); };
  RunScreen screen(*run_, job_, "ingest", &tuning, std::move(members));
  const Status pulled = pull();
  screen.stream_ended();
  return finish(screen, tuning, pulled);
}

Exit Ingest::finish(RunScreen& screen, Tuning& tuning, const Status& pulled) {
  tuning.end();
  screen.end();
  if (cluster_) cluster_->end(pulled ? "" : pulled.error().message);
  if (!pulled) return leave(Exit::failed(pulled.error()));
  const Position& position = run_->source().position();
  if (const std::string to = invocation_.value("--state"); !to.empty()) {
    if (auto status = write_state_file(to, run_->state(position)); !status) {
      return leave(Exit::failed(status.error()));
    }
  }
  RunOutcome outcome = outcome_of(*run_, position, screen.elapsed(), run_->source().waited());
  outcome.decisions = tuning.decisions();
  if (cluster_) {
    outcome.rows_by_node = cluster_->rows_by_node(position);
    outcome.address = cluster_->address();
  }
  outcome.tuner_cpu_seconds = tuning.cpu_seconds();
  if (invocation_.has("--json")) {
    print_json(to_json(outcome));
  } else {
    std::fputs(screen.summary(outcome).c_str(), stdout);
    std::printf("order digest %s\n", outcome.order_digest.c_str());
  }
  return StopRequest::requested() ? leave(Exit::stopped(StopRequest::signal())) : Exit::done();
}

}  // namespace

Exit run_ingest(const Invocation& invocation) {
  auto job = open_job(invocation);
  if (!job) return Exit::refused(job.error());
  return Ingest(invocation, *job).run();
}

}  // namespace forebay

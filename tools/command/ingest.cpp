#include <cstdio>
#include <limits>
#include <memory>
#include <optional>

#include "core/base/whole_file.h"
#include "engine/outputs/job_files.h"
#include "engine/process/memory_use.h"
#include "engine/run/run_outcome.h"
#include "engine/session/session.h"
#include "tools/command/commands.h"
#include "tools/command/dump_file.h"
#include "tools/process/paths.h"
#include "tools/process/process_end.h"
#include "tools/process/standard_streams.h"
#include "tools/terminal/summary.h"
#include "tools/terminal/terminal_events.h"

namespace forebay {
namespace {

std::vector<Output> outputs_of(const Invocation& invocation, const JobSpec& job) {
  std::vector<Output> outputs = outputs_of(job, "ingest");
  if (const std::string to = invocation.value("--dump"); !to.empty()) {
    outputs.push_back({.name = "--dump", .path = to});
  }
  if (const std::string to = invocation.value("--state"); !to.empty()) {
    // A run's final state may replace the state that it starts from.
    outputs.push_back({.name = "--state", .path = to, .aside = kAside, .replaces = "--resume"});
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
  Exit finish(const Status& pulled);
  void print(const Position& position) const;

  const Invocation& invocation_;
  const JobSpec& job_;
  std::unique_ptr<Session> session_;
  std::optional<DumpFile> dump_;
};

/// Opens a file for --dump. A FIFO opens when it has a reader: a signal ends the process meanwhile.
Result<DumpFile> open_dump(const std::string& path, const Schema& schema) {
  const StopRequest::AtOnce waiting;
  return DumpFile::create(path, schema);
}

Status Ingest::prepare() {
  constexpr std::uint64_t kAll = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t batches = kAll;
  auto read = OptionReader(invocation_).count("--max-batches", batches, 0, kAll).status();
  if (!read) return read;
  if (const std::string to = invocation_.value("--state"); !to.empty()) {
    if (auto status = check_output_path("--state", to); !status) return status;
  }
  if (auto opened = session_->open_run(); !opened) return opened;
  if (const std::string from = invocation_.value("--resume"); !from.empty()) {
    auto saved = read_state_file(from);
    if (!saved) return pass(saved);
    if (auto status = session_->resume(*saved, "--resume " + from); !status) return status;
  }
  if (const std::string to = invocation_.value("--dump"); !to.empty()) {
    auto dump = open_dump(to, session_->run().schema());
    if (!dump) return pass(dump);
    dump_ = std::move(*dump);
  }
  return session_->start(resident_bytes(), batches);
}

Status Ingest::pull() {
  while (true) {
    auto batch = session_->run().source().next();
    if (!batch) return pass(batch);
    if (*batch == nullptr) break;
    if (dump_) {
      if (auto status = dump_->write(**batch); !status) return status;
    }
  }
  return dump_ ? dump_->finish() : Status{};
}

Exit Ingest::run() {
  const auto guarded =
      guard_inputs(inputs_of(invocation_, job_), outputs_of(invocation_, job_), print_message);
  if (!guarded) return Exit::refused(guarded.error());
  auto session = Session::open(job_, {.command = "ingest",
                                      .events = terminal_events(),
                                      .lists_once = invocation_.value("--dump").empty()});
  if (!session) return Exit::refused(session.error());
  session_ = std::move(*session);
  if (auto status = prepare(); !status) {
    return StopRequest::requested() ? Exit::stopped(StopRequest::signal())
                                    : Exit::unprepared(status.error());
  }
  const Status pulled = pull();
  session_->end_stream();
  return finish(pulled);
}

Exit Ingest::finish(const Status& pulled) {
  session_->end(pulled ? "" : pulled.error().message);
  const char* how = StopRequest::requested() ? "stopped" : "done";
  session_->finish(pulled ? how : "failed", pulled ? "" : pulled.error().message);
  if (!pulled) leave(Exit::failed(pulled.error()));
  const JobRun& run = session_->run();
  const Position& position = run.source().position();
  if (const std::string to = invocation_.value("--state"); !to.empty()) {
    if (auto status = write_state_file(to, run.state(position)); !status) {
      leave(Exit::failed(status.error()));
    }
  }
  print(position);
  if (StopRequest::requested()) leave(Exit::stopped(StopRequest::signal()));
  return Exit::done();
}

void Ingest::print(const Position& position) const {
  const RunOutcome outcome = session_->outcome(position, session_->run().source().waited());
  if (invocation_.has("--json")) return print_json(to_json(outcome));
  std::fputs(summary_of(outcome, job_, SummaryView::Consumer::kNobody).c_str(), stdout);
  std::printf("order digest %s\n", outcome.order_digest.c_str());
}

}  // namespace

Exit run_ingest(const Invocation& invocation) {
  auto job = open_job(invocation);
  if (!job) return Exit::refused(job.error());
  return Ingest(invocation, *job).run();
}

}  // namespace forebay

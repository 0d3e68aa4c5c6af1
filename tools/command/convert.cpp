#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "core/base/clock.h"
#include "core/base/text/counted.h"
#include "core/base/text/printable.h"
#include "engine/convert/conversion.h"
#include "engine/job/quantity.h"
#include "engine/outputs/job_files.h"
#include "engine/process/memory_use.h"
#include "tools/command/commands.h"
#include "tools/process/process_end.h"
#include "tools/process/standard_streams.h"
#include "tools/terminal/progress.h"
#include "tools/terminal/terminal_events.h"

namespace forebay {
namespace {

Result<ConvertSpec> read_convert_spec(const Invocation& invocation) {
  ConvertSpec spec;
  spec.out = invocation.value("--out");
  if (spec.out.empty()) {
    return fail(Code::kInvalid, "convert needs --out DIR; see forebay convert --help");
  }
  const auto kind_of = [](const std::string& text) -> std::optional<ConvertSpec::To> {
    if (text == "parquet") return ConvertSpec::To::kParquet;
    if (text == "npy") return ConvertSpec::To::kNpy;
    return std::nullopt;
  };
  auto read = OptionReader(invocation).value("--to", spec.to, "parquet or npy", kind_of).status();
  if (!read) return pass(read);
  spec.raw = invocation.has("--raw");
  spec.sort = invocation.value("--sort");
  spec.resume = invocation.has("--resume");
  return spec;
}

/// Shows how far the conversion is, on stderr.
class ConvertProgress {
 public:
  explicit ConvertProgress(std::uint64_t memory_limit) : memory_limit_(memory_limit) {}

  void show(std::uint64_t rows, std::uint64_t all) {
    if (!line_.is_due()) return;
    const auto now = clock_.now();
    ProgressView view;
    view.rows = rows;
    view.rows_wanted = all;
    view.rows_per_second = static_cast<double>(rows - shown_rows_) / in_seconds(now - shown_at_);
    view.memory_bytes = resident_bytes();
    view.memory_limit = memory_limit_;
    line_.show(format_progress(view));
    shown_at_ = now;
    shown_rows_ = rows;
  }

 private:
  const SystemClock clock_;
  const std::uint64_t memory_limit_;
  StatusLine line_;
  std::chrono::nanoseconds shown_at_ = clock_.now();
  std::uint64_t shown_rows_ = 0;
};

JsonObject to_json(const ConvertOutcome& outcome) {
  return JsonObject()
      .add("rows", outcome.rows)
      .add("bytes", outcome.bytes)
      .add("files", outcome.files)
      .add("seconds", outcome.seconds)
      .add("bad_rows", outcome.bad_rows)
      .add("quarantine", outcome.quarantine)
      .add("peak_memory_bytes", peak_resident_bytes());
}

void print_text(const ConvertOutcome& outcome, const std::string& out) {
  std::printf("%s, %s, %s in %s, %.3f s\n", format_counted(outcome.rows, "row").c_str(),
              format_size(outcome.bytes).c_str(), format_counted(outcome.files, "file").c_str(),
              printable_message(out).c_str(), outcome.seconds);
  if (outcome.bad_rows == 0) return;
  std::printf("left out: %s, see %s\n", format_counted(outcome.bad_rows, "damaged row").c_str(),
              printable_message(outcome.quarantine).c_str());
}

}  // namespace

Exit run_convert(const Invocation& invocation) {
  auto job = open_job(invocation);
  if (!job) return Exit::refused(job.error());
  const auto spec = read_convert_spec(invocation);
  if (!spec) return Exit::refused(spec.error());
  const Inputs inputs = inputs_of(*job);
  std::vector<Output> outputs = outputs_of(*job, "convert");
  outputs.push_back({.name = "--out", .path = spec->out, .kind = Output::Kind::kFolder});
  const auto guarded = guard_inputs(inputs, outputs, print_message);
  if (!guarded) return Exit::refused(guarded.error());
  auto conversion = Conversion::open(*job, *spec, terminal_events(), inputs);
  if (!conversion && StopRequest::requested()) return Exit::stopped(StopRequest::signal());
  if (!conversion) return Exit::unprepared(conversion.error());
  Status done;
  {
    ConvertProgress progress(job->pipeline.memory_bytes);
    done = (*conversion)->run([&](std::uint64_t rows, std::uint64_t all) {
      progress.show(rows, all);
    });
  }
  if (!done) return Exit::failed(done.error());
  if (job->columns.label_threshold) {
    print_message(
        "the new files have the labels 0 and 1: leave columns.label_threshold out of a job over "
        "them");
  }
  const ConvertOutcome outcome = (*conversion)->outcome();
  const Exit printed =
      print_result(invocation, to_json(outcome), [&] { print_text(outcome, spec->out); });
  return StopRequest::requested() ? Exit::stopped(StopRequest::signal()) : printed;
}

}  // namespace forebay

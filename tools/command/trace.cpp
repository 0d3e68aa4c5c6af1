#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>

#include "core/base/whole_file.h"
#include "engine/job/quantity.h"
#include "engine/outputs/outputs.h"
#include "engine/report/json_object.h"
#include "engine/run/control_server.h"
#include "engine/trace/chrome_trace.h"
#include "engine/trace/history_text.h"
#include "tools/command/commands.h"
#include "tools/command/run_folder.h"
#include "tools/process/output_path.h"
#include "tools/process/stop_request.h"
#include "tools/terminal/print_json.h"

namespace forebay {
namespace {

using Time = SplitTimes::Time;

/// Returns the value of `--seconds`; nullopt: everything that the job remembers.
Result<std::optional<Time>> time_of(const Invocation& invocation) {
  const std::string text = invocation.value("--seconds");
  if (!invocation.has("--seconds")) return std::optional<Time>();
  const auto time = parse_duration(text);
  if (!time || *time <= Time(0)) {
    return fail(Code::kInvalid, "--seconds " + text + ": must be a time, such as 10 or 2m");
  }
  return std::optional<Time>(*time);
}

Exit refused_or_failed(const Error& error) {
  return error.code == Code::kNotFound ? Exit::refused(error) : Exit::failed(error);
}

}  // namespace

Exit run_trace(const Invocation& invocation) {
  if (invocation.has("--join")) {
    return Exit::refused(
        "--join: the trainer keeps the trace of all nodes; run this on its node, with --dir");
  }
  const std::string out = invocation.value("--out", "trace.json");
  if (auto status = check_output_path("--out", out); !status) return Exit::refused(status.error());
  const Output output{.name = "--out", .path = out, .aside = kAside};
  if (auto status = check_outputs({output}, {}); !status) return Exit::refused(status.error());
  auto time = time_of(invocation);
  if (!time) return Exit::refused(time.error());
  auto answer = [&] {
    const StopRequest::AtOnce waiting;
    return ask_to_trace(run_folder(invocation));
  }();
  if (!answer) return refused_or_failed(answer.error());
  auto history = parse_history(*answer);
  if (!history) return Exit::failed(history.error());
  std::vector<PastSplit>& splits = history->splits;
  if (*time) {
    std::erase_if(splits, [since = history->now - **time](const PastSplit& split) {
      return split.batch.end < since;
    });
  }
  if (auto status = replace_whole(out, chrome_trace(*history), Sync::kNo); !status) {
    return Exit::failed({status.error().code, "--out " + status.error().message});
  }
  if (invocation.has("--json")) {
    print_json(JsonObject().add("out", out).add("splits", splits.size()));
  } else {
    std::printf("%s: %s splits; open it in ui.perfetto.dev or chrome://tracing\n", out.c_str(),
                format_count(splits.size()).c_str());
  }
  return Exit::done();
}

}  // namespace forebay

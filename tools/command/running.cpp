#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>

#include "core/base/whole_file.h"
#include "engine/cluster/head_node.h"
#include "engine/control/control_client.h"
#include "engine/job/job_document.h"
#include "engine/job/quantity.h"
#include "engine/metrics/status_report.h"
#include "engine/report/json_object.h"
#include "engine/trace/run_trace.h"
#include "tools/command/arguments.h"
#include "tools/command/commands.h"
#include "tools/process/process_end.h"
#include "tools/process/standard_streams.h"
#include "tools/terminal/status_page.h"

namespace forebay {
namespace {

constexpr int kBetweenLooksMs = 1000;
constexpr std::chrono::seconds kPatience(3);  // for a head that does not answer

/// Returns the folder of a running job: the value of `--dir` (default: the current folder), or the
/// `.forebay` in it.
std::string run_folder(const Invocation& invocation) {
  return run_folder_in(invocation.value("--dir", "."));
}

/// Returns the job's or the head's answer in JSON; made from the command line.
using Look = std::function<Result<std::string>()>;

/// Adds users' actors to a head's answer.
void add_actors(const ActorsStatus& actors, JsonObject& json) {
  json.add("actor_nodes", actors.nodes)
      .add("num_actors", actors.actors)
      .add("actors", actors.shown, [](const ActorStatus& actor) {
        return JsonObject()
            .add("name", actor.name)
            .add("type", actor.type)
            .add("node", actor.node)
            .add("state", actor.state)
            .add("restarts", actor.moves)
            .add("crashes", actor.use.crashes)
            .add("busy", actor.use.busy)
            .add("waiting_bytes", actor.use.waiting_bytes);
      });
}

Result<Look> look_of(const Invocation& invocation) {
  const std::string address = invocation.value("--join");
  if (!invocation.has("--join")) {
    if (invocation.has("--keys")) return fail(Code::kInvalid, "--keys: goes with --join only");
    return Look([folder = run_folder(invocation)] { return ask_to_look(folder); });
  }
  if (invocation.has("--dir")) {
    return fail(Code::kInvalid, "--join, --dir: give one of them, a head's address or a folder");
  }
  auto head = HeadLook::open(address, invocation.value("--keys"));
  if (!head) return pass(head);
  return Look([head = std::shared_ptr<HeadLook>(std::move(*head))]() -> Result<std::string> {
    auto cluster = head->look(kPatience);
    if (!cluster) return pass(cluster);
    auto actors = head->actors(kPatience);
    if (!actors) return pass(actors);
    JsonObject json = status_of(*cluster);
    add_actors(*actors, json);
    return json.text();
  });
}

// A stopped or stuck job answers late or never.
Result<std::string> look_once(const Look& look) {
  const StopRequest::AtOnce waiting;
  return look();
}

/// The exit of a command that found no running job; `options` are those that name another one.
Exit not_answered(const Error& error, const std::string& options) {
  if (error.code != Code::kNotFound) return Exit::of(error, Code::kNotFound);
  return Exit::refused(error.message + "; go to the job's folder, or give " + options);
}

constexpr const char* kByFolder = "--dir";
constexpr const char* kByFolderOrAddress = "--dir or --join";

using Time = SplitTimes::Time;

std::optional<Time> positive_time(const std::string& text) {
  const auto time = parse_duration(text);
  return time && *time > Time(0) ? time : std::nullopt;
}

}  // namespace

Exit run_set(const Invocation& invocation) {
  const std::string& assignment = invocation.arguments.front();
  const auto [name, value] = split_assignment(assignment);
  if (name.empty()) {
    return Exit::refused("set " + assignment + ": must be KEY=VALUE, as in pipeline.cpus=2");
  }
  const std::string key(name);
  const StopRequest::AtOnce waiting;
  auto done = ask_to_set(run_folder(invocation), key, std::string(value));
  if (!done && done.error().code == Code::kNotFound) return not_answered(done.error(), kByFolder);
  if (!done) return Exit::of(done.error(), Code::kInvalid);
  return print_result(invocation, JsonObject().add("key", key).add("done", *done),
                      [&] { print_line(*done); });
}

Exit run_status(const Invocation& invocation) {
  auto look = look_of(invocation);
  if (!look) return Exit::refused(look.error());
  auto now = look_once(*look);
  if (!now) return not_answered(now.error(), kByFolderOrAddress);
  if (invocation.has("--json")) {
    std::printf("%s\n", now->c_str());
    return Exit::done();
  }
  auto page = status_page("", *now);
  if (!page) return Exit::failed(page.error());
  std::fputs(page->c_str(), stdout);
  return Exit::done();
}

Exit run_top(const Invocation& invocation) {
  auto look = look_of(invocation);
  if (!look) return Exit::refused(look.error());
  const bool on_terminal = ::isatty(STDOUT_FILENO) == 1;
  std::string before;
  while (!StopRequest::requested()) {
    auto now = look_once(*look);
    // A job that answered before and does not answer now has ended.
    if (!now) return before.empty() ? not_answered(now.error(), kByFolderOrAddress) : Exit::done();
    auto page = status_page(before, *now);
    if (!page) return Exit::failed(page.error());
    std::printf("%s%s%s", on_terminal ? "\033[H\033[2J" : "", page->c_str(),
                on_terminal ? "" : "\n");
    std::fflush(stdout);
    before = std::move(*now);
    // The pause between two queries; a signal ends it.
    ::poll(nullptr, 0, kBetweenLooksMs);
  }
  return Exit::stopped(StopRequest::signal());
}

Exit run_trace(const Invocation& invocation) {
  if (invocation.has("--join")) {
    return Exit::refused(
        "--join: the trainer keeps the trace of all nodes; run this on its node, with --dir");
  }
  const std::string out = invocation.value("--out", "trace.json");
  if (auto status = check_out_file(out, "a trace", is_chrome_trace); !status)
    return Exit::refused(status.error());
  std::optional<Time> time;  // nullopt: everything that the job remembers
  OptionReader read(invocation);
  read.value("--seconds", time, "a time, such as 10 or 2m", positive_time);
  if (!read.status()) return Exit::refused(read.status().error());
  auto answer = [&] {
    const StopRequest::AtOnce waiting;
    return ask_to_trace(run_folder(invocation));
  }();
  if (!answer) return not_answered(answer.error(), kByFolder);
  auto history = parse_history(*answer);
  if (!history) return Exit::failed(history.error());
  std::vector<PastSplit>& splits = history->splits;
  if (time) {
    std::erase_if(splits, [since = history->now - *time](const PastSplit& split) {
      return split.batch.end < since;
    });
  }
  if (auto status = replace_whole(out, chrome_trace(*history), Sync::kNo); !status) {
    return Exit::failed({status.error().code, "--out " + status.error().message});
  }
  return print_result(invocation, JsonObject().add("out", out).add("splits", splits.size()), [&] {
    std::printf("%s: %s splits; open it in ui.perfetto.dev or chrome://tracing\n", out.c_str(),
                format_count(splits.size()).c_str());
  });
}

}  // namespace forebay

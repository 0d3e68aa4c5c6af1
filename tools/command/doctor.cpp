#include <cstdio>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "core/base/clock.h"
#include "engine/report/json_object.h"
#include "tools/command/commands.h"
#include "tools/doctor/checks.h"
#include "tools/doctor/store_checks.h"
#include "tools/process/process_end.h"
#include "tools/process/standard_streams.h"
#include "tools/terminal/terminal_events.h"

namespace forebay {
namespace {

void append(std::vector<Finding>& checks, std::vector<Finding> more) {
  checks.insert(checks.end(), std::make_move_iterator(more.begin()),
                std::make_move_iterator(more.end()));
}

Training training_of(const std::optional<JobSpec>& job) {
  if (!job) return Training::kMaybe;
  return learns(job->trainer.model) ? Training::kWanted : Training::kNo;
}

void print_checks(const std::vector<Finding>& checks, const Figures& figures, bool as_json) {
  std::vector<JsonObject> list;
  for (const Finding& check : checks) {
    list.push_back(to_json(check));
    if (!as_json) std::printf("%s\n", to_line(check).c_str());
  }
  if (!as_json) return;
  JsonObject json;
  json.add("checks", list);
  if (!figures.stores.empty()) json.add("stores", figures.stores);
  if (figures.layout) json.add("layout", *figures.layout);
  print_json(json);
}

Exit exit_of(const std::vector<Finding>& checks) {
  return {count_bad(checks) > 0 ? Exit::kFailed : Exit::kDone, ""};
}

// A file needs no run, so the machine is not looked at.
Exit look_at_file(const std::string& path, bool as_json) {
  const LayoutChecks layout = check_parquet_file(path, FileSystems());
  print_checks(layout.findings, {.layout = layout.json}, as_json);
  return exit_of(layout.findings);
}

/// Refuses a path that cannot be opened by what is wrong with it, unless it may name a job file: by
/// its ending, or as the folder of one.
Status check_opens(const std::string& path) {
  std::error_code ignored;
  if (path.ends_with(".toml") || std::filesystem::is_directory(path, ignored)) return {};
  const FileSystems systems;
  auto file = systems.of(path)->open(path);
  return file ? Status{} : pass(file);
}

/// Returns the settings for a path in a store: the environment's, and `--set storage.…`.
Result<JobSpec> storage_of(const Invocation& invocation) {
  return open_job(invocation, "[trainer]\nmodel = \"none\"\n[dataset]\npaths = [\"data\"]\n");
}

/// Checks what is behind a path in a store and, if it is a Parquet file, how that lies.
Exit look_at_store(const Invocation& invocation) {
  const std::string& path = invocation.arguments.front();
  auto settings = storage_of(invocation);
  if (!settings) return Exit::refused(settings.error());
  const JobRun::Hooks hooks = terminal_events().hooks();
  StoreChecks store = check_store(path, settings->storage, settings->pipeline.cpus, hooks);
  Figures figures{.stores = std::move(store.json)};
  std::vector<Finding> checks = std::move(store.findings);
  if (store.object == path) {
    const FileSystems systems = dataset_options(*settings, hooks).file_systems;
    if (is_parquet(path, systems)) {
      LayoutChecks layout = check_parquet_file(path, systems);
      append(checks, std::move(layout.findings));
      figures.layout = std::move(layout.json);
    }
  }
  if (StopRequest::requested()) return Exit::stopped(StopRequest::signal());
  print_checks(checks, figures, invocation.has("--json"));
  return exit_of(checks);
}

}  // namespace

Exit run_doctor(const Invocation& invocation) {
  const bool as_json = invocation.has("--json");
  if (!invocation.arguments.empty()) {
    const std::string path = FileSystems().full_path(invocation.arguments.front(), "");
    if (is_in_store(path)) return look_at_store(invocation);
    if (auto opens = check_opens(path); !opens) return Exit::refused(opens.error());
    if (is_parquet(path, FileSystems())) return look_at_file(path, as_json);
  }
  std::vector<Finding> checks;
  Figures figures;
  std::optional<JobSpec> job;
  if (!invocation.arguments.empty()) {
    auto opened = open_job(invocation);
    if (!opened) return Exit::refused(opened.error());
    job = std::move(*opened);
    checks.push_back(Finding::ok("job", job->path));
  }
  append(checks, check_machine(job));
  const Training training = training_of(job);
  const auto probe = training == Training::kNo
                         ? Result<TorchProbe>(fail(Code::kNotFound, "not looked for"))
                         : probe_torch();
  append(checks, check_torch(probe, training));
  if (job) {
    const bool learns = training == Training::kWanted && probe;
    append(checks, check_job(*job, learns ? std::optional(*probe) : std::nullopt,
                             terminal_events().hooks(), figures));
  }
  if (StopRequest::requested()) return Exit::stopped(StopRequest::signal());
  print_checks(checks, figures, as_json);
  return exit_of(checks);
}

}  // namespace forebay

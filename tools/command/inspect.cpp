#include "tools/inspect/inspect.h"

#include <cstdio>
#include <vector>

#include "engine/report/json_object.h"
#include "tools/command/commands.h"
#include "tools/process/process_end.h"
#include "tools/process/standard_streams.h"

namespace forebay {
namespace {

void print_report(const std::string& path, const FileReport& report) {
  print_line(path + ": " + report.title);
  for (const std::string& line : report.lines) print_line("  " + line);
}

/// Reports on every file that it can; the command ends with the error of the first one that it
/// cannot.
Exit inspect_files(const Invocation& invocation, std::vector<JsonObject>& files) {
  const StopRequest::AtOnce waiting;  // for a store
  Exit exit = Exit::done();
  for (const std::string& path : invocation.arguments) {
    auto report = inspect_path(path);
    if (!report) {
      if (exit.status != Exit::kDone) continue;
      const Code code = report.error().code;
      const bool failed = code == Code::kCorrupt || code == Code::kTimeout;
      exit = failed ? Exit::failed(report.error()) : Exit::refused(report.error());
      continue;
    }
    if (!invocation.has("--json")) print_report(path, *report);
    files.push_back(std::move(report->json));
  }
  return exit;
}

}  // namespace

Exit run_inspect(const Invocation& invocation) {
  const bool ops = invocation.has("--ops");
  if (invocation.arguments.empty() && !ops) {
    return Exit::refused("inspect needs a file, or --ops; see forebay inspect --help");
  }
  std::vector<JsonObject> files;
  Exit exit = inspect_files(invocation, files);
  if (invocation.has("--json")) {
    if (exit.status != Exit::kDone) return exit;
    JsonObject json;
    if (!files.empty()) json.add("files", files);
    if (ops) json.add("ops", op_objects());
    print_json(json);
    return exit;
  }
  if (ops) {
    for (const std::string& line : op_lines()) std::printf("%s\n", line.c_str());
  }
  return exit;
}

}  // namespace forebay

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/whole_file.h"
#include "engine/dashboard/page.h"
#include "engine/history/run_recorder.h"
#include "engine/job/quantity.h"
#include "engine/report/json_object.h"
#include "tools/command/arguments.h"
#include "tools/command/commands.h"
#include "tools/process/process_end.h"

namespace forebay {
namespace {

constexpr std::size_t kMostRuns = 2;

bool is_page(std::string_view head) { return head.starts_with("<!doctype html>"); }

Result<std::vector<std::string>> records_of(const std::vector<std::string>& folders) {
  std::vector<std::string> records;
  for (const std::string& folder : folders) {
    auto record = read_record(run_folder_in(folder));
    if (!record) return pass(record);
    records.push_back(std::move(*record));
  }
  return records;
}

}  // namespace

Exit run_report(const Invocation& invocation) {
  const auto& folders = invocation.arguments;
  if (folders.empty() || folders.size() > kMostRuns) {
    return Exit::refused("report: name the folder of one run, or of two to compare");
  }
  const std::string out = invocation.value("--out", "run.html");
  if (auto status = check_out_file(out, "a report", is_page); !status)
    return Exit::refused(status.error());
  auto records = records_of(folders);
  if (!records) return Exit::refused(records.error());
  const std::string page = report_html(*records);
  if (auto status = replace_whole(out, page, Sync::kNo); !status) {
    return Exit::failed({status.error().code, "--out " + status.error().message});
  }
  const auto json = JsonObject().add("output", out).add("bytes", page.size());
  return print_result(invocation, json, [&] {
    std::printf("%s: %s; any browser opens it\n", out.c_str(), format_size(page.size()).c_str());
  });
}

}  // namespace forebay
